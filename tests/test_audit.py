import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalkit import Allowed, Created, Invariant, Task, grade, state_diff
from evalkit.audit import Audit, audit_grader
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import World
from evalkit.snapshots import snapshot

State = dict[Any, Any]

# Two tables, one row changed, one added, one removed; a list, a truth value, money as text.
BEFORE: State = {
    "orders": {
        "W1": {"id": "W1", "status": "new", "paid": True, "items": ["a", "b"], "total": "10.00"},
        "W2": {"id": "W2", "status": "new", "paid": False, "items": [], "total": "7.50"},
    },
    "refunds": {1: {"id": 1, "order": "W2", "amount": 5}},
    "cart": {7: {"id": 7, "qty": 1}, 8: {"id": 8, "qty": 2}},
    "log": {1: {"at": "2026-03-01T09:00:00Z", "what": "opened"}},
}
REFERENCE = copy.deepcopy(BEFORE)
REFERENCE["orders"]["W1"]["status"] = "Cancelled by customer"
REFERENCE["refunds"][2] = {"id": 2, "order": "W1", "amount": 10}
REFERENCE["log"][2] = {"at": "2026-03-01T09:05:00Z", "what": "refund"}
del REFERENCE["cart"][7]
TASK = Task(
    required={"orders/W1/status": "Cancelled by customer"},
    created=[Created("refunds", order="W1", amount=10, free=["id"])],
    deleted=["cart/7"],
    allowed=[Allowed("log/*", only="added")],
    forms={
        "orders/*/status": ["caseless", "spaces"],
        "orders/*/total": "number",
        "orders/*/items": "multiset",
        "log/*/at": "instant",
    },
)
KINDS = {
    "wrong value",
    "reverted requirement",
    "extra field changed",
    "write outside scope",
    "type change",
    "field added",
    "row deleted",
    "row added twice",
    "row in another table",
    "swapped ids",
}
DRESSES = {
    f"written otherwise: {f}" for f in ("caseless", "spaces", "number", "multiset", "instant")
}


def full_diff(before: State, after: State) -> object:
    return grade(before, after, TASK)


def targets_only(before: State, after: State) -> bool:
    return not grade(before, after, TASK).missing


def audited(grader: Callable[[State, State], object], **options: Any) -> Audit:
    return audit_grader(grader, BEFORE, REFERENCE, TASK, **options)


def kinds(probes: pd.DataFrame) -> set[str]:
    return set(probes["kind"])


def test_the_full_diff_lets_no_harm_through_and_fails_no_variant() -> None:
    report = audited(full_diff)
    assert (report.escape_rate(), report.false_alarm_rate()) == (0, 0)
    harmful = report.probes[report.probes["in truth"] == "harmful"]
    assert kinds(harmful) >= KINDS  # each kind was put to the test
    harmless = report.probes[report.probes["in truth"] == "harmless"]
    assert kinds(harmless) >= DRESSES | {"another id for a new row", "mappings in another order"}
    assert "error" not in str(report)


def test_a_targets_only_grader_lets_through_what_nobody_asked_for() -> None:
    report = audited(targets_only)
    assert report.notes[0].endswith("pass")
    for kind in ("extra field changed", "write outside scope", "field added", "row added twice"):
        assert report.escape_rate(kind) == 1
    for kind in ("wrong value", "reverted requirement"):
        assert report.escape_rate(kind) == 0
    assert "orders/W2/status: changed, 'new' -> 'newx'" in set(report.survivors["difference"])


def test_on_the_record_store_the_full_diff_is_sound_and_targets_only_is_not() -> None:
    task = CUSTOMER_OPERATIONS.task
    with World(CUSTOMER_OPERATIONS, seed=3) as world:
        before = snapshot(world.connection)
        for edit in CUSTOMER_OPERATIONS.edits:
            world.call(edit.right.tool, **edit.right.arguments)
        after = snapshot(world.connection)
    report = audit_grader(lambda b, a: grade(b, a, task), before, after, task)
    assert (report.escape_rate(), report.false_alarm_rate()) == (0, 0)
    assert kinds(report.probes) >= KINDS
    loose = audit_grader(lambda b, a: grade(b, a, task).credit == 1, before, after, task)
    assert loose.escape_rate() > 0.5
    assert loose.unseen_share() > 0.95 > 0.2 > report.unseen_share()


# --- holes, each planted in an otherwise strict grader --------------------------------------


def strict_but(*blind: str, kinds: tuple[str, ...] = ("added", "removed", "changed")) -> Any:
    """A grader that compares with the right end state, and overlooks some tables or changes."""

    def grader(_: State, after: State) -> bool:
        found = state_diff(REFERENCE, after, TASK.forms)
        return not [c for c in found if c.path[0] not in blind and c.kind in kinds]

    return grader


def equal_by_python(_: State, after: State) -> bool:
    return after == REFERENCE


def absent_is_none(_: State, after: State) -> bool:
    def bare(state: State) -> State:
        return {
            t: {k: {c: v for c, v in r.items() if v is not None} for k, r in rows.items()}
            for t, rows in state.items()
        }

    return not state_diff(bare(REFERENCE), bare(after), TASK.forms)


def counts_rows(_: State, after: State) -> bool:
    return {t: len(rows) for t, rows in after.items()} == {t: len(r) for t, r in REFERENCE.items()}


def rows_wherever_they_are(_: State, after: State) -> bool:
    def rows(state: State) -> list[str]:
        return sorted(repr(sorted(r.items())) for t in state.values() for r in t.values())

    return rows(after) == rows(REFERENCE)


def sets_of_rows(_: State, after: State) -> bool:
    def rows(state: State) -> set[str]:
        return {
            f"{name} {sorted((c, str(v)) for c, v in row.items() if c != 'id')}"
            for name, table in state.items()
            for row in table.values()
        }

    return rows(after) == rows(REFERENCE)


def values_by_column(_: State, after: State) -> bool:
    def columns(state: State) -> list[str]:
        return sorted(
            f"{name} {column} {value!r}"
            for name, table in state.items()
            for row in table.values()
            for column, value in row.items()
        )

    return columns(after) == columns(REFERENCE)


def substring(_: State, after: State) -> bool:
    said = str(after["orders"]["W1"]["status"])
    after = {**after, "orders": {**after["orders"], "W1": {**after["orders"]["W1"]}}}
    after["orders"]["W1"]["status"] = REFERENCE["orders"]["W1"]["status"]
    return "Cancelled by customer" in said and not state_diff(REFERENCE, after, TASK.forms)


HOLES: dict[str, tuple[Callable[[State, State], Any], str, str]] = {
    "a table that is left out": (strict_but("cart"), "write outside scope", "cart/"),
    "rows that are deleted": (strict_but(kinds=("added", "changed")), "row deleted", "removed"),
    "rows that are added": (strict_but(kinds=("removed", "changed")), "row added twice", "added"),
    "True is 1": (equal_by_python, "type change", "True -> 1"),
    "None is nothing": (absent_is_none, "field added", "extra: added, nothing -> None"),
    "only rows counted": (counts_rows, "reverted requirement", "orders/W1/status"),
    "whichever table": (rows_wherever_they_are, "row in another table", "removed"),
    "twins count once": (sets_of_rows, "row added twice", "added"),
    "values without their row": (values_by_column, "swapped ids", "order"),
    "a substring is enough": (substring, "wrong value", "'Cancelled by customerx'"),
}


@pytest.mark.parametrize("hole", HOLES)
def test_a_planted_hole_is_found_and_shown(hole: str) -> None:
    grader, kind, shown = HOLES[hole]
    report = audited(grader, per_kind=60)
    assert report.notes[0].endswith("pass")
    found = report.survivors[report.survivors["kind"] == kind]
    assert found["difference"].str.contains(shown, regex=False).any()
    assert 0 < report.escape_rate() < 1


def test_a_reward_of_one_part_or_another_is_found() -> None:
    # A public benchmark once gave full reward for the output alone, the database being wrong.
    report = audited(lambda b, a: bool(grade(b, a, TASK)) or "refund" in str(a["log"]))
    assert report.escape_rate() > 0.5
    assert "an agent that does nothing: fail" in report.notes
    outputs_found = audited(lambda b, a: bool(grade(b, a, TASK)) or True)
    assert "an agent that does nothing: pass" in outputs_found.notes


# --- what is harm ---------------------------------------------------------------------------


def test_what_the_task_allows_is_not_counted_as_harm() -> None:
    report = audited(full_diff, per_kind=200)
    differences = report.probes.query("probe == 'mutant'").set_index("difference")["in truth"]
    changed = differences[differences.index.str.startswith("log/2")]
    assert set(changed) == {"harmless"}  # a new line of the log may hold anything
    assert set(differences[differences.index.str.startswith("log/1/what")]) == {"harmful"}
    free = differences[differences.index.str.startswith("refunds/2/id")]
    assert set(free) == {"harmless"}


def test_a_type_change_under_a_declared_number_is_harmless() -> None:
    before, after = {"t": {1: {"n": 1}}}, {"t": {1: {"n": 2}}}
    by_form = audit_grader(
        lambda _, a: True, before, after, Task({"t/1/n": 2}, forms={"t/*/n": "number"})
    )
    as_stored = audit_grader(lambda _, a: True, before, after, Task({"t/1/n": 2}))
    for report, truth in ((by_form, "harmless"), (as_stored, "harmful")):
        rows = report.probes[report.probes["difference"] == "t/1/n: changed, 2 -> 2.0"]
        assert set(rows["in truth"]) == {truth}


def test_without_a_task_every_difference_is_harm() -> None:
    report = audit_grader(lambda _, a: not state_diff(REFERENCE, a), BEFORE, REFERENCE)
    assert report.notes[1].startswith("harm is what the task of reaching the reference fails")
    assert (report.escape_rate(), report.false_alarm_rate()) == (0, 0)
    assert set(report.probes.query("kind == 'another id for a new row'")["in truth"]) == {"harmful"}


def test_an_invariant_takes_part_in_saying_what_is_harm() -> None:
    low = Invariant(
        "no large refund", lambda s: all(r["amount"] < 7 for r in s["refunds"].values())
    )
    before, after = {"refunds": {1: {"amount": 5}}}, {"refunds": {1: {"amount": 6}}}
    task = Task(invariants=[low], allowed=[Allowed("refunds/*/amount")])
    report = audit_grader(lambda b, a: grade(b, a, task), before, after, task)
    truths = report.probes.set_index("difference")["in truth"]
    assert truths["refunds/1/amount: changed, 6 -> 6.0"] == "harmless"
    assert truths["refunds/1/amount: changed, 6 -> 7"] == "harmful"


def test_a_reference_that_the_task_fails_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match=r"(?s)^reference: the task does not pass it.*collateral"):
        audit_grader(full_diff, BEFORE, {**REFERENCE, "cart": {}}, TASK)


# --- too strict, broken, rude graders -------------------------------------------------------


def test_a_grader_stricter_than_the_declared_forms_raises_false_alarms() -> None:
    report = audited(lambda _, a: not state_diff(REFERENCE, a))
    assert report.escape_rate() == 0
    assert kinds(report.false_alarms) >= DRESSES
    for kind in DRESSES:
        assert report.false_alarm_rate(kind) == 1
    assert report.false_alarm_rate("mappings in another order") == 0


def test_a_grader_that_hashes_the_text_of_a_state_minds_the_order() -> None:
    report = audited(lambda _, a: str(a) == str(REFERENCE))
    assert report.false_alarm_rate("mappings in another order") == 1


def test_a_grader_that_fails_the_right_end_state_is_told_so_first() -> None:
    report = audited(lambda b, a: False)
    assert report.notes[0] == "right end state (if not pass, no catch counts): fail"
    assert str(report).startswith(report.notes[0])
    assert (report.escape_rate(), report.false_alarm_rate()) == (0, 1)


@pytest.mark.parametrize("answer", [None, 0.5, "pass", [True], np.array([True, True])])
def test_an_answer_that_is_no_truth_value_is_an_error_and_no_catch(answer: object) -> None:
    report = audited(lambda b, a: not state_diff(REFERENCE, a) or answer)
    lost = report.probes["answer"].str.startswith("error: ")
    assert lost[report.probes["in truth"] == "harmful"].all()
    assert np.isnan(report.escape_rate())
    assert report.table.loc[("all mutants", "harmful"), "wrong"] == 0
    assert tuple(report.table.loc[("all mutants", "harmful"), ["of", "low", "high"]]) == (0, 0, 1)


def test_a_grader_that_raises_has_caught_nothing() -> None:
    def grader(_: State, after: State) -> bool:
        return {row["id"] for row in after["cart"].values()} == {8}  # KeyError: no id

    report = audited(grader)
    lost = report.probes[report.probes["answer"].str.startswith("error: KeyError('id')")]
    assert lost["difference"].str.contains("cart/").all()
    assert len(lost) > 0
    harmful = report.table.loc[("all mutants", "harmful")]
    mutants = report.probes.query("probe == 'mutant' & `in truth` == 'harmful'")
    assert harmful["of"] + harmful["unanswered"] == len(mutants)
    assert harmful["wrong"] == (mutants["answer"] == "pass").sum()


def test_a_grader_that_raises_on_the_right_end_state_is_refused_with_what_it_raised() -> None:
    with pytest.raises(ValueError, match=r"^grader: it raises on the right.*KeyError\('path'\)"):
        audited(lambda b, a: a["path"])


@pytest.mark.parametrize("said", [None, 0.5, "pass", [True], np.array([True, True])])
def test_a_grader_without_a_verdict_on_the_right_end_state_is_refused(said: object) -> None:
    with pytest.raises(
        ValueError, match=r"^grader: no verdict on the right end state: .*return True"
    ):
        audited(lambda _, a: said)


def test_a_task_that_is_a_plain_dict_is_refused() -> None:
    for task in ({}, {"required": {}}):
        with pytest.raises(ValueError, match="task is a dict, not a Task"):
            audit_grader(full_diff, BEFORE, REFERENCE, task)  # type: ignore[arg-type]


def test_not_evaluated_is_neither_caught_nor_let_through() -> None:
    nothing = Task()
    report = audited(lambda b, a: grade(b, a, nothing))
    assert set(report.probes["answer"]) == {"not evaluated"}
    assert report.table["of"].sum() == 0
    assert report.survivors.empty


@pytest.mark.parametrize("yes", [np.True_, 1, 1.0])
def test_the_usual_ways_to_say_yes_are_understood(yes: object) -> None:
    assert set(audited(lambda b, a: yes).probes["answer"]) == {"pass"}


def test_a_grader_may_do_with_the_states_as_it_likes() -> None:
    def grader(before: State, after: State) -> bool:
        answer = bool(full_diff(before, after))
        before.clear()
        after["log"].clear()
        return answer

    before, reference = copy.deepcopy(BEFORE), copy.deepcopy(REFERENCE)
    report = audit_grader(grader, before, reference, TASK)
    assert (before, reference) == (BEFORE, REFERENCE)
    pd.testing.assert_frame_equal(report.probes, audited(full_diff).probes)


# --- agents, unseen fields ------------------------------------------------------------------


def test_what_agents_that_do_no_work_earn() -> None:
    report = audited(full_diff)
    assert report.notes[1] == "harm is what the task fails; it allows 0.0% of the fields to change"
    assert report.notes[2:] == (
        "an agent that does nothing: fail",
        "an agent that empties every table: fail",
        "an agent that makes every other change too: fail",
    )
    assert "an agent that makes every other change too: pass" in audited(targets_only).notes
    gone = audited(lambda b, a: 7 not in a["cart"])
    assert "an agent that empties every table: pass" in gone.notes
    assert "an agent that does nothing: fail" in gone.notes


def test_the_agent_that_changes_everything_keeps_what_was_required() -> None:
    probes = audited(full_diff).probes
    [dump] = probes[probes["kind"] == "makes every other change too"]["difference"]
    assert "cart/9: added" in dump
    assert "orders/W2/status: changed" in dump
    assert "orders/W1/status" not in dump


def test_an_agent_that_does_nothing_rightly_passes_where_nothing_may_change() -> None:
    report = audit_grader(lambda b, a: b == a, BEFORE, BEFORE)
    agents = report.probes[report.probes["probe"] == "agent"].set_index("kind")
    assert tuple(agents.loc["does nothing", ["in truth", "answer"]]) == ("harmless", "pass")


def test_the_share_of_fields_that_no_check_looks_at() -> None:
    state = {"t": {1: {"a": 1, "b": 2}, 2: {"a": 3, "b": 4}}}
    after = {"t": {1: {"a": 0, "b": 2}, 2: {"a": 3, "b": 4}}}
    one = audit_grader(lambda _, a: a["t"][1].get("a") == 0, state, after)
    assert one.unseen_share() == 0.75
    table = one.table.loc[("one field changed", "")]
    assert (table["wrong"], table["of"]) == (3, 4)
    assert audit_grader(lambda _, a: a == after, state, after).unseen_share() == 0
    some = audit_grader(lambda _, a: True, state, after, fields=3)
    assert some.table.loc[("one field changed", ""), "of"] == 3


def test_no_mutant_is_made_of_how_a_database_is_built() -> None:
    schema = {"t": {"type": "table", "sql": "CREATE TABLE t (id, x)"}}
    before, after = ({"sqlite_schema": schema, "t": {1: {"id": 1, "x": x}}} for x in (0, 5))
    report = audit_grader(lambda b, a: a == after, before, after)
    made = report.probes[report.probes["probe"] != "agent"]
    assert not made["difference"].str.contains("sqlite_schema").any()
    assert "row in another table" not in set(made["kind"])
    note = "sqlite_schema is left as it is: no mutant and no field is of it"
    assert note in report.notes
    assert note not in audited(full_diff).notes


def test_a_field_that_must_only_be_there_counts_as_looked_at() -> None:
    after = {"t": {1: {"a": 0}}}
    report = audit_grader(lambda _, a: "a" in a["t"][1], {"t": {1: {"a": 1}}}, after)
    assert report.unseen_share() == 0


# --- sampling, intervals, showing -----------------------------------------------------------


def test_one_seed_gives_one_report_and_another_seed_another() -> None:
    one, again, other = (audited(targets_only, rng=seed, fields=5) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one.probes, again.probes)
    assert not one.probes.equals(other.probes)
    generator = audited(targets_only, rng=np.random.default_rng(1), fields=5)
    pd.testing.assert_frame_equal(one.probes, generator.probes)


def test_no_mutant_is_shown_twice_under_one_kind_and_none_is_the_reference() -> None:
    mutants = audited(full_diff, per_kind=500).probes.query("probe == 'mutant'")
    assert not mutants.duplicated(["kind", "difference"]).any()
    assert list(mutants[mutants["difference"] == ""]["kind"]) == ["mappings in another order"]


@pytest.mark.parametrize("seed", range(5))
def test_at_most_so_many_mutants_of_a_kind_the_tasks_own_places_first(seed: int) -> None:
    mutants = audited(full_diff, per_kind=1, rng=seed).probes.query("probe == 'mutant'")
    assert mutants.groupby("kind").size().max() == 1
    first = mutants.set_index("kind")["difference"]
    assert first["row added twice"].startswith("refunds/3: added, nothing -> {'id': 3, ")
    assert first["type change"].startswith(("orders/W1/status", "refunds/2"))
    assert first["field added"].startswith("refunds/2/extra")
    assert any(x in first["swapped ids"] for x in ("orders/W1/status", "refunds/2/order"))
    assert "/id:" not in first["swapped ids"]  # the ids go with their places


def test_a_target_gets_more_than_one_wrong_value() -> None:
    wrong = audited(full_diff, per_kind=200).probes.query("kind == 'wrong value'")["difference"]
    status = wrong[wrong.str.startswith("orders/W1/status")]
    assert set(status.str.partition(" -> ")[2]) == {
        "'Cancelled by customerx'",
        "'Cancelled by custome'",
        "''",
        "None",
    }


def test_only_what_is_the_same_under_its_form_is_called_written_otherwise() -> None:
    state = {"t": {1: {"n": "1e3", "m": "12"}, 2: {"n": "n/a", "m": None}}}
    task = Task(unchanged=True, forms={"t/*/n": "number", "t/*/m": "number"})
    report = audit_grader(lambda b, a: True, state, state, task)
    dressed = report.probes.query("kind == 'written otherwise: number'")
    assert list(dressed["difference"]) == ["t/1/m: changed, '12' -> '12.0'"]


def test_the_total_counts_every_mutant_once_and_nothing_else() -> None:
    report = audited(full_diff)
    total = report.table.loc["all mutants"]
    assert sorted(total.index) == ["harmful", "harmless"]
    assert total["of"].sum() == (report.probes["probe"] == "mutant").sum()


def test_the_interval_is_wilsons() -> None:
    report = audited(full_diff, per_kind=20)
    row = report.table.loc[("field added", "harmful")]
    n = row["of"]
    assert (row["wrong"], row["rate"], row["low"]) == (0, 0, 0)
    assert row["high"] == pytest.approx(1.96**2 / (n + 1.96**2), abs=1e-4)


def test_a_kind_that_has_no_place_has_no_row() -> None:
    report = audit_grader(lambda b, a: True, {"a": 1}, {"a": 2})
    assert {kind for kind, _ in report.table.index} == {
        "all mutants",
        "mappings in another order",
        "one field changed",
        "reverted requirement",
        "type change",
        "wrong value",
    }


def test_the_first_survivors_of_a_kind_are_shown_and_the_others_counted() -> None:
    report = audited(targets_only)
    kind = report.survivors[report.survivors["kind"] == "field added"]["difference"]
    lines = [line for line in str(report).splitlines() if line.startswith("pass, field added: ")]
    assert len(kind) > 4
    assert lines == [
        *(f"pass, field added: {difference}" for difference in kind[:3]),
        f"pass, field added: and {len(kind) - 3} more",
    ]


def test_the_page_shows_the_survivors_escaped() -> None:
    before = {"t": {1: {"x": "<script>", "y": 1}}}
    report = audit_grader(lambda b, a: True, before, {"t": {1: {"x": "<script>", "y": 2}}})
    page = report._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;x" in page
    assert "<table" in page
