"""Laws of the process rules, of credit and of answers; above all, harm never helps."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import Task, grade, state_diff
from evalkit.answers import answer_matches, contains
from evalkit.credit import (
    Checkpoint,
    all_of,
    any_of,
    averages,
    credit,
    half_and_half,
    product_of_parts,
    progress_rate,
    verdict_credit,
)
from evalkit.process import (
    Action,
    at_least,
    at_most,
    call_f1,
    in_order,
    matched_calls,
    never,
    no_argument,
    no_damage_undone,
    only,
    process_verdict,
    replayed,
    step_budget,
)
from evalkit.values import MISSING
from tests.properties.states import STATES, VALUES

TOOLS = st.sampled_from(["find", "confirm", "refund", "log"])
ARGUMENTS = st.dictionaries(st.sampled_from(["order", "text"]), VALUES, max_size=2)
ACTIONS = st.builds(Action, TOOLS, ARGUMENTS, error=st.sampled_from([None, None, "refused"]))
TRAJECTORIES = st.lists(ACTIONS, max_size=6)
# A harmful action that no rule has listed, done or refused, with any arguments.
HARM = st.builds(Action, st.just("wipe"), ARGUMENTS, error=st.sampled_from([None, "refused"]))
matched_calls([], [])  # imports SciPy here, outside the deadline of a property
RULES = [
    never("log"),
    never(Action("refund", {"order": 1})),
    never(lambda action: action.arguments["order"] == 1),
    at_most("refund", 1),
    at_least("confirm", 2),
    in_order("find", "confirm", "refund"),
    in_order("confirm", "refund", matching=["order"]),
    no_argument("1"),
    only("find", Action("find", {"order": 1})),
    step_budget(4),
]


@given(st.data())
def test_adding_a_harmful_action_clears_no_violation(data: Any) -> None:
    done, harm = data.draw(TRAJECTORIES), data.draw(HARM)
    place = data.draw(st.integers(0, len(done)))
    worse = [*done[:place], harm, *done[place:]]
    for rule in RULES:
        assert bool(rule.check(worse)) >= bool(rule.check(done)), rule.name
    assert at_most("refund", 1).check(worse) != () or at_most("refund", 1).check(done) == ()
    before, after = process_verdict(done, RULES), process_verdict(worse, RULES)
    assert not (after.passed and not before.passed)
    assert len(after.of_kind("broken")) >= 1 or not before.of_kind("broken")


@given(TRAJECTORIES, st.lists(st.sampled_from(RULES), max_size=4), st.sampled_from(RULES))
def test_one_more_rule_never_turns_a_fail_into_a_pass(done: Any, rules: Any, more: Any) -> None:
    if process_verdict(done, rules).status == "fail":
        assert process_verdict(done, [*rules, more]).status == "fail"


@given(TRAJECTORIES, st.data())
def test_a_violation_points_at_the_action_it_names(done: Any, data: Any) -> None:
    for rule in RULES:
        for violation in rule.check(done):
            assert violation.index is None or done[violation.index] is violation.action


# --- damage done and undone ---------------------------------------------------------------

FIELDS = st.sampled_from([("t", 1, "x"), ("t", 1, "y"), ("t", 2, "x"), ("u", 1, "x")])
WRITES = st.lists(
    st.builds(lambda path, value: Action("write", {"path": path, "value": value}), FIELDS, VALUES),
    max_size=5,
)
START = {"t": {1: {"x": 0, "y": 0}, 2: {"x": 0}}, "u": {1: {"x": 0}}}


def written(action: Action) -> dict:
    return {action.arguments["path"]: action.arguments["value"]}


def undone(done: list[Action]) -> list[int | None]:
    rule = no_damage_undone(replayed(START, done, written))
    return [violation.index for violation in rule.check(done)]


@given(WRITES)
def test_a_write_is_put_back_exactly_if_a_later_state_has_the_first_value(done: Any) -> None:
    states = replayed(START, done, written)
    changed = [{c.path for c in state_diff(START, state)} for state in states]
    expected = [
        i
        for i, action in enumerate(done)
        for path in [action.arguments["path"]]
        if path in changed[i + 1] - changed[i] and any(path not in c for c in changed[i + 1 :])
    ]
    assert undone(done) == expected


@given(WRITES, WRITES)
def test_later_writes_clear_no_damage_that_was_undone(done: Any, more: Any) -> None:
    assert set(undone(done)) <= set(undone(done + more))


@given(STATES, STATES)
def test_going_there_and_back_is_invisible_to_the_grader_and_seen_by_the_rule(
    start: Any, other: Any
) -> None:
    states = [start, other, copy.deepcopy(start)]
    assert grade(start, states[-1], Task(unchanged=True)).passed
    found = no_damage_undone(states).check([Action("there", {}), Action("back", {})])
    assert bool(found) is bool(state_diff(start, other))


# --- expected calls -----------------------------------------------------------------------

SMALL = st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, True, "1"]), max_size=3)
CALLS = st.lists(st.builds(Action, st.sampled_from(["f", "g"]), SMALL), max_size=5)


def largest(expected: list[Action], made: list[Action], exact: bool) -> int:
    """The size of the largest matching, by trying all."""
    if not expected:
        return 0
    best = largest(expected[1:], made, exact)
    for j, action in enumerate(made):
        if len(matched_calls(expected[:1], [action], exact)) == 1:
            best = max(best, 1 + largest(expected[1:], made[:j] + made[j + 1 :], exact))
    return best


@given(CALLS, CALLS, st.booleans())
def test_no_matching_is_larger(expected: Any, made: Any, exact: bool) -> None:
    pairs = matched_calls(expected, made, exact)
    assert len(pairs) == largest(expected, made, exact)
    assert len(set(pairs.values())) == len(pairs)
    for i, j in pairs.items():
        assert matched_calls([expected[i]], [made[j]], exact) == {0: 0}


@given(CALLS, st.permutations(range(5)))
def test_the_same_calls_in_any_order_have_an_f1_of_one(made: Any, order: Any) -> None:
    mixed = [made[i] for i in order if i < len(made)]
    if made:
        assert call_f1(made, mixed) == call_f1(made, mixed, exact=True) == 1
        assert call_f1(made, [*mixed, Action("wipe", {})]) < 1


# --- credit -------------------------------------------------------------------------------


@given(STATES, STATES, STATES, st.data())
def test_an_unlisted_harmful_change_raises_no_credit(
    before: Any, gold: Any, after: Any, data: Any
) -> None:
    task = Task.from_goal(before, gold)
    verdict = grade(before, after, task)
    weights = {f.place: data.draw(st.sampled_from([0, 1, 2.5])) for f in verdict.missing}
    places = [f.place for f in (*verdict.of_kind("met"), *verdict.missing)]
    groups = {tuple(places[:2]): data.draw(st.sampled_from([0, 1]))} if places else {}
    worse = grade(before, {**copy.deepcopy(after), "wiped": {}}, task)
    credits = [verdict_credit(v, weights, groups) for v in (verdict, worse)]
    assert credits[1].value == credits[0].value or np.isnan([c.value for c in credits]).all()
    assert not credits[1]
    assert not worse.passed


PARTS = "abcd"
DONE = st.sets(st.sampled_from(PARTS))
HISTORIES = st.lists(DONE, min_size=1, max_size=4)


def checkpoints(weights: list[float], needs: list[set[str]]) -> list[Checkpoint]:
    return [
        Checkpoint(name, lambda s, name=name: name in s, w, sorted(n & set(PARTS[:i])))
        for i, (name, w, n) in enumerate(zip(PARTS, weights, needs, strict=True))
    ]


LISTS = st.builds(
    checkpoints,
    st.lists(st.sampled_from([0.5, 1, 3]), min_size=4, max_size=4),
    st.lists(DONE, min_size=4, max_size=4),
)
GROUPS = st.dictionaries(
    st.sampled_from([("a", "b"), ("c", "d"), ("b", "c", "d")]), st.sampled_from([0, 1.5])
)


@given(HISTORIES, LISTS, GROUPS)
def test_credit_lies_below_the_share_of_what_is_done_and_is_one_if_complete(
    history: Any, parts: Any, groups: Any
) -> None:
    found = credit(history, parts, groups)
    total = sum(p.weight for p in parts)
    assert found.value <= sum(p.weight for p in parts if p.name in history[-1]) / total + 1e-12
    assert (found.value == pytest.approx(1)) is bool(found) is all(found.earned.values())
    assert found.of_doing_nothing == credit(history[:1], parts, groups).value


@given(DONE, st.sampled_from(PARTS), LISTS)
def test_undoing_a_part_never_raises_credit_without_penalties(
    done: Any, lost: Any, parts: Any
) -> None:
    groups = {("a", "b"): 0.0, ("c", "d"): 0.0}
    assert credit([done - {lost}], parts, groups).value <= credit([done], parts, groups).value


SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=5)
POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=5)


@given(SCORES)
def test_published_forms_stand_in_their_order(scores: Any) -> None:
    assert product_of_parts(scores) <= min(scores) + 1e-12
    assert all_of(scores) <= any_of(scores) + 1e-12
    assert progress_rate(scores)[-1] == any_of(scores) == max(scores)
    assert (np.diff(progress_rate(scores)) >= 0).all()


@given(POINTS)
def test_half_and_half_never_exceeds_the_share_of_points(points: Any) -> None:
    got, totals = zip(*((p, p + more) for p, more in points), strict=True)
    half = half_and_half(got, totals)
    scored = np.array(totals) > 0
    assert np.isnan(half[~scored]).all()
    assert (half[scored] <= np.array(got)[scored] / np.array(totals)[scored]).all()
    means = averages(got, totals)
    assert means["tasks"] + means["not evaluated"] == len(points)
    if means["tasks"]:
        assert means["complete"] <= means["half and half"] + 1e-12 <= means["macro"] + 2e-12


# --- answers ------------------------------------------------------------------------------


@given(st.integers(-(10**9), 10**9), st.integers(0, 99), st.sampled_from(["", "$", "€"]))
def test_a_number_survives_how_it_is_written(whole: int, cents: int, mark: str) -> None:
    plain = f"{whole}.{cents:02d}"
    for written_so in (f"{mark}{whole:,}.{cents:02d}", f"{plain}0 {mark}", f" {plain}"):
        assert answer_matches(written_so, plain, "number")
    assert not answer_matches(plain, f"{whole + 1}.{cents:02d}", "number")


@given(st.text(), st.text())
def test_text_matches_whole_or_not_at_all(before: str, after: str) -> None:
    assert answer_matches(f"{before}x1{after}", "x1", "text") is (not (before + after).strip())


@given(st.lists(st.sampled_from(["a", "bc", "1,000", "$5", "it's"]), min_size=1), st.data())
def test_what_stands_in_a_text_is_never_absent(words: Any, data: Any) -> None:
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    assert not contains(" ".join(words) + ".", " ".join(words[first:last])).absent


@given(VALUES)
def test_any_answer_gets_a_yes_or_a_no(answer: Any) -> None:
    references = {"number": 1, "text": "1", "identifier": "1", "date": "2026-01-01", "url": "a://b"}
    for kind, reference in references.items():
        assert answer_matches(answer, reference, kind) in (True, False)


def test_missing_is_no_answer() -> None:
    assert not answer_matches(MISSING, "1", "text")
