import copy
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalkit import Allowed, Task, grade, state_diff, task_from_dict, task_to_dict
from evalkit.forms import canonical, declare
from evalkit.paths import find, leaves
from evalkit.values import MISSING, check_value, same
from tests.properties.states import SCALARS, STATES, VALUES, shuffled


@given(VALUES, VALUES)
def test_normal_forms_are_equal_exactly_for_values_that_are_the_same(a: Any, b: Any) -> None:
    assert same(a, b) == (canonical(a) == canonical(b)) == same(b, a)
    assert same(a, check_value(a))


@given(VALUES)
def test_what_is_the_same_as_stored_is_the_same_under_every_form(a: Any) -> None:
    for form in ("number", "instant", "caseless", "spaces", "multiset", "set"):
        forms = declare({"f": form})
        assert canonical(a, ("f",), forms) == canonical(check_value(a), ("f",), forms)


@given(STATES, STATES)
def test_a_diff_is_empty_exactly_if_the_states_are_the_same(before: Any, after: Any) -> None:
    assert bool(state_diff(before, after)) is not same(before, after)
    assert not state_diff(before, copy.deepcopy(before))


@given(STATES, STATES)
def test_applying_a_diff_gives_the_after_state_and_leaves_the_before_state(
    before: Any, after: Any
) -> None:
    kept = copy.deepcopy(before)
    assert same(state_diff(before, after).apply(before), after)
    assert same(before, kept)


@given(STATES, STATES)
def test_a_diff_backwards_swaps_added_and_removed(before: Any, after: Any) -> None:
    there, back = state_diff(before, after), state_diff(after, before)
    normal = {canonical(p) for p in there.added}
    assert normal == {canonical(p) for p in back.removed}
    assert len(there) == len(back)


@given(st.data())
def test_grading_does_not_depend_on_the_order_of_keys(data: Any) -> None:
    before, gold, after = (data.draw(STATES) for _ in range(3))
    task = Task.from_goal(before, gold)
    mixed = [shuffled(s, data.draw) for s in (before, after)]
    one, two = grade(before, after, task), grade(*mixed, task)
    assert one.status == two.status
    assert {(f.kind, f.place) for f in one.findings} == {(f.kind, f.place) for f in two.findings}


@given(STATES, STATES, STATES)
def test_a_task_made_of_a_goal_passes_exactly_the_goal(before: Any, gold: Any, after: Any) -> None:
    task = Task.from_goal(before, gold)
    assert grade(before, gold, task).passed
    assert grade(before, after, task).passed == same(gold, after)


@given(st.data())
def test_any_single_unlisted_change_to_a_passing_state_fails(data: Any) -> None:
    before, gold = data.draw(STATES), data.draw(STATES)
    places = list(leaves(gold))
    place = data.draw(st.sampled_from(places))
    assume(place)
    after = copy.deepcopy(gold)
    node = find(after, place[:-1], MISSING)
    change = data.draw(st.one_of(SCALARS, st.just(MISSING)))
    if change is MISSING:
        del node[place[-1]]
    else:
        assume(not same(node[place[-1]], change))
        node[place[-1]] = change
    verdict = grade(before, after, Task.from_goal(before, gold))
    assert verdict.status == "fail"
    assert verdict.missing or verdict.collateral


@given(STATES, STATES)
def test_only_what_is_allowed_may_differ(before: Any, after: Any) -> None:
    allowed = [Allowed("t/*/x", whole=True), Allowed("u/*", only="added")]
    verdict = grade(before, after, Task(unchanged=True, allowed=allowed))
    for change in state_diff(before, after):
        field = change.path[0] == "t" and len(change.path) >= 3 and change.path[2] == "x"
        new_row = change.path[0] == "u" and len(change.path) == 2 and change.kind == "added"
        if not field and not new_row:
            assert verdict.status == "fail"
            return
    assert verdict.passed


NOISE = {
    "number": lambda v: f"{v}.0" if type(v) is int else v,
    "caseless": lambda v: v.swapcase() if isinstance(v, str) else v,
    "spaces": lambda v: f" {v}\t" if isinstance(v, str) else v,
    "multiset": lambda v: v[::-1] if isinstance(v, list) else v,
    "set": lambda v: v + v[:1] if isinstance(v, list) else v,
}
ASCII = st.text("aBc 9", max_size=4)
FIELD = {
    "number": st.integers(),
    "caseless": ASCII,
    "spaces": ASCII,
    "multiset": st.lists(SCALARS, max_size=4),
    "set": st.lists(SCALARS, max_size=4),
}


@pytest.mark.parametrize("form", NOISE)
@given(data=st.data())
def test_declared_cosmetic_noise_changes_no_verdict(form: str, data: Any) -> None:
    old, new = data.draw(FIELD[form]), data.draw(FIELD[form])
    before, gold = {"t": {"r": {"f": old, "g": 1}}}, {"t": {"r": {"f": new, "g": 2}}}
    noisy = {"t": {"r": {"f": NOISE[form](new), "g": 2}}}
    task = Task.from_goal(before, gold, forms={"t/*/f": form})
    assert grade(before, noisy, task).passed
    noisy["t"]["r"]["g"] = 3
    assert not grade(before, noisy, task).passed


@given(STATES, STATES)
def test_a_task_survives_json(before: Any, gold: Any) -> None:
    task = Task.from_goal(before, gold)
    again = task_from_dict(json.loads(json.dumps(task_to_dict(task))))
    assert grade(before, gold, again).passed
    assert same(dict(again.required), dict(task.required))
