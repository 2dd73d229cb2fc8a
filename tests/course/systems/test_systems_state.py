"""τ-bench, AppWorld and ours: the systems that look at the whole state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalkit.course.systems import SCRIPTS, appworld, play_calls, played
from evalkit.course.systems.appworld import changed_records, no_op_labels, state_tests
from evalkit.course.systems.episode import GOLD, Played
from evalkit.course.systems.ours import full_verdict
from evalkit.course.systems.tau_bench import goal_match
from evalkit.simulate import SCENARIO
from evalkit.simulate.world import Call

GOOD = SCRIPTS["good"]


def with_call(tool: str, /, **arguments: object) -> Played:
    """Return the good episode with one more call at the end."""
    return play_calls((*GOOD, Call(tool, **arguments)), "with one more")


# --- τ-bench


def test_a_gold_action_that_is_refused_is_a_broken_task_and_no_verdict() -> None:
    gold = (*GOLD, Call("cancel_order", order_id="W1002"))
    grade = goal_match(played("good"), gold=gold)
    assert grade.verdict == "not evaluated"
    assert "cancel_order(order_id='W1002') is refused, order W1002 is delivered" in grade.why


def test_another_way_to_the_goal_passes() -> None:
    other = play_calls((*GOOD[:3], *GOOD[:2:-1]), "backwards")
    assert goal_match(other).passed


@pytest.mark.parametrize("stray", SCENARIO.strays, ids=lambda stray: stray.label)
def test_each_stray_write_is_seen(stray: object) -> None:
    call = stray.call  # type: ignore[attr-defined]
    episode = with_call(call.tool, **call.arguments)
    assert episode.trajectory[-1].error is None
    assert goal_match(episode).why == "the database equals the goal"
    assert not state_tests(episode).passed
    assert full_verdict(episode).parts["outcome"] == "fail"


@pytest.mark.parametrize("answer", ["", "142.50", "42", "I refunded it."])
def test_an_output_that_is_not_said_fails_though_the_database_is_right(answer: str) -> None:
    silent = replace(played("good"), answer=answer)
    assert goal_match(silent).parts["the database equals the goal"]
    assert goal_match(silent).why == "the answer holds 42.50"
    assert goal_match(silent, outputs=()).passed


def test_an_answer_of_another_sum_fails_appworld_and_ours() -> None:
    wrong = replace(played("good"), answer="$43.50")
    assert state_tests(wrong).why == "the answer is 42.50"
    assert full_verdict(wrong).parts == {"outcome": "pass", "process": "pass", "answer": "fail"}
    assert full_verdict(wrong).why == "answer: $43.50"


# --- AppWorld


def test_the_test_of_tables_alone_overlooks_a_second_order(monkeypatch: pytest.MonkeyPatch) -> None:
    grade = state_tests(played("collateral"))
    assert grade.parts["what changed is in customers, notes, orders and refunds"]
    weaker = {k: v for k, v in appworld.TESTS.items() if k != grade.why}
    monkeypatch.setattr(appworld, "TESTS", weaker)
    assert state_tests(played("collateral")).passed


def test_the_label_of_a_test_is_what_doing_nothing_earns() -> None:
    labels = no_op_labels()
    assert [name for name, label in labels.items() if label == "no_op_pass"] == [
        "no customer but C3 is updated",
        "no order but W1001 is updated",
        "no record is removed, no old refund or note rewritten",
    ]
    assert not state_tests(play_calls((), "nothing", answer="")).passed


def test_an_old_note_rewritten_a_second_refund_and_a_deleted_row_are_seen() -> None:
    rewritten = with_call("edit_record", table="notes", id=1, column="text", value="x")
    assert state_tests(rewritten).why == "no record is removed, no old refund or note rewritten"
    deleted = with_call("delete_record", table="notes", id=1)
    assert state_tests(deleted).why == "no record is removed, no old refund or note rewritten"
    twice = with_call("issue_refund", order_id="W1005", amount_cents=100)
    assert state_tests(twice).why == "one refund is added"


def test_changed_records_tell_added_from_updated_and_removed() -> None:
    changed = changed_records(with_call("delete_record", table="notes", id=1))
    assert changed["notes"] == {"added": {4}, "removed": {1}, "updated": set()}
    assert changed["customers"] == {"added": set(), "removed": set(), "updated": {"C3"}}
    assert "audit_log" not in changed


# --- ours


def test_what_was_put_back_fails_only_by_the_trajectory() -> None:
    undone = full_verdict(played("undone"))
    assert undone.parts["outcome"] == "pass"
    assert undone.why.startswith("process: notes/4: nothing -> ")
    assert goal_match(played("undone")).passed


def test_an_update_before_any_search_breaks_a_rule() -> None:
    blind = full_verdict(play_calls(GOLD, "blind"))
    assert blind.parts == {"outcome": "pass", "process": "fail", "answer": "pass"}


def test_doing_nothing_fails() -> None:
    grade = full_verdict(play_calls((), "nothing", answer=""))
    assert (str(grade), grade.parts["outcome"]) == ("fail 0.00", "fail")
