from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalkit import Task, grade, state_diff
from evalkit.audit import audit_grader
from evalkit.forms import canonical
from evalkit.paths import format_path, leaves
from evalkit.values import same
from tests.properties.states import STATES

# An audit asks the grader dozens of times; a few hundred states are enough.
few = settings(max_examples=30, deadline=None)


@few
@given(STATES, STATES, st.integers(0, 9))
def test_the_full_diff_lets_no_mutant_of_any_kind_through(
    before: Any, reference: Any, seed: int
) -> None:
    task = Task.from_goal(before, reference)
    report = audit_grader(lambda b, a: grade(b, a, task), before, reference, rng=seed, per_kind=5)
    assert report.survivors.empty
    assert report.false_alarms.empty
    assert set(report.probes["answer"]) <= {"pass", "fail"}
    assert report.unseen_share() == 0 or not any(leaves(reference))


@few
@given(STATES, STATES)
def test_what_is_called_harm_is_what_differs_from_the_reference(
    before: Any, reference: Any
) -> None:
    # Says the same as the grader of tasks, by another way: whole normal forms compared.
    right = canonical(reference)
    report = audit_grader(lambda _, a: canonical(a) == right, before, reference, per_kind=5)
    assert report.survivors.empty
    assert report.false_alarms.empty


@few
@given(STATES, STATES, st.integers(0, 9))
def test_a_targets_only_grader_lets_through_a_write_beside_its_targets(
    before: Any, reference: Any, seed: int
) -> None:
    kept = {"kept": {1: {"x": 1, "y": "a"}, 2: {"x": 2, "y": "b"}}}
    before, reference = before | kept, reference | kept
    task = Task.from_goal(before, reference)
    assume(task.states_something and not task.unchanged)
    report = audit_grader(
        lambda b, a: not grade(b, a, task).missing, before, reference, rng=seed, per_kind=40
    )
    assert report.escape_rate("write outside scope") > 0
    assert report.escape_rate("reverted requirement") == 0
    assert "an agent that makes every other change too: pass" in report.notes


@few
@given(st.data())
def test_a_field_that_a_grader_overlooks_is_found(data: Any) -> None:
    before, reference = data.draw(STATES), data.draw(STATES)
    places = [place for place in leaves(reference) if place]
    assume(places)
    blind = data.draw(st.sampled_from(places))

    def grader(_: Any, after: Any) -> bool:
        changes = state_diff(reference, after)
        return all(same(list(change.path), list(blind)) for change in changes)

    report = audit_grader(grader, before, reference, per_kind=500)
    unseen = report.probes.query("probe == 'field' & answer == 'pass'")["difference"]
    assert list(unseen) == [format_path(blind)]
    shown = report.survivors["difference"]
    assert shown.str.startswith(f"{format_path(blind)}: ").all()
    assert len(shown) > 0


@few
@given(STATES, STATES, st.integers(0, 9))
def test_an_audit_is_decided_by_its_seed_and_leaves_the_states_as_they_are(
    before: Any, reference: Any, seed: int
) -> None:
    forms = canonical(before), canonical(reference)
    one, two = (
        audit_grader(lambda b, a: len(a) == len(b), before, reference, rng=seed, per_kind=3)
        for _ in range(2)
    )
    assert one.probes.equals(two.probes)
    assert (canonical(before), canonical(reference)) == forms
