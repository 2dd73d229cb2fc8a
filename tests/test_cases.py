"""Small inputs on which public graders were wrong, each with the right answer.

The inputs are known from public issues and from probes of public graders; each stands here for
its kind, which the other tests cover more widely.
"""

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from evalkit import Allowed, Invariant, Task, TaskError, grade, state_diff
from evalkit.simulate.episodes import gold_state
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import Call, World
from evalkit.snapshots import snapshot

CARDS = [{"payment_id": "g1", "amount": 198}, {"payment_id": "g2", "amount": 129}]
PAY = "reservations/*/payment_history"


def paid(cards: list) -> dict[str, Any]:
    return {"reservations": {"R1": {"payment_history": cards}}}


def test_two_gift_cards_in_another_order_pass_where_order_is_declared_free() -> None:
    gold, after = paid(CARDS), paid(CARDS[::-1])
    assert not state_diff(gold, after, {PAY: "multiset"})
    assert state_diff(gold, after, {PAY: "sequence"})
    assert state_diff(gold, after)


@pytest.mark.parametrize(
    ("gold", "after", "form", "equal"),
    [
        (33.0, 33, "number", True),
        (33.0, 33, None, False),
        ("130.00", "130.0", "number", True),
        ("130.00", "130.0", None, False),
        (True, 1, "number", False),
        (True, 1, None, False),
        (0, None, "number", False),
        (0, None, None, False),
        (1, True, None, False),
        ([2], [2.0], None, False),
        (10**28, 10**28 + 1, "number", False),
        (float("nan"), float("nan"), None, True),
        (datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 12, tzinfo=UTC), "instant", False),
        (datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 12, tzinfo=UTC), None, False),
        ([{"sku": 1}, {"sku": 1}], [{"sku": 1}], "multiset", False),
        (["b1", "b2", "b1"], ["b1", "b2"], "multiset", False),
        ([{"x": 1}], [], None, False),
    ],
)
def test_values_are_one_only_as_stored_or_as_declared(
    gold: object, after: object, form: str | None, equal: bool
) -> None:
    forms = {"t/*/f": form} if form else {}
    diff = state_diff({"t": {"x": {"f": gold}}}, {"t": {"x": {"f": after}}}, forms)
    assert bool(diff) is not equal


def test_an_integer_key_is_not_its_text() -> None:
    assert state_diff({"t": {"1": "a"}}, {"t": {1: "a"}})


def test_a_log_of_reads_inside_the_state_is_left_out_in_words_and_reported() -> None:
    before = {"accounts": {"a": {"v": 0}}, "tool_log": []}
    gold = {"accounts": {"a": {"v": 1}}, "tool_log": []}
    after = {"accounts": {"a": {"v": 1}}, "tool_log": ["get_accounts"]}
    assert grade(before, after, Task.from_goal(before, gold)).status == "fail"
    verdict = grade(
        before, after, Task.from_goal(before, gold, allowed=[Allowed("tool_log", whole=True)])
    )
    assert verdict.passed
    assert [f.place for f in verdict.of_kind("allowed")] == ["tool_log"]


def test_a_goal_that_forgot_its_changes_fails_the_right_agent_and_is_flagged() -> None:
    before = {"orders": {"A": {"status": "delivered"}, "B": {"status": "delivered"}}}
    after = {"orders": {k: {"status": "return requested"} for k in "AB"}}
    verdict = grade(before, after, Task.from_goal(before, before))
    assert verdict.status == "fail"
    assert [f.place for f in verdict.collateral] == ["orders/A/status", "orders/B/status"]
    assert "an agent that does nothing passes" in verdict.notes[0]


def test_a_gold_action_that_raises_breaks_the_task_and_is_never_skipped() -> None:
    ok, raises = Call("cancel_order", order_id="W1001"), Call("cancel_order", order_id="W1002")
    with World(CUSTOMER_OPERATIONS) as world, pytest.raises(TaskError, match="gold action 1"):
        gold_state(world, [ok, raises, Call("cancel_order", order_id="W1004")])


def test_a_task_that_doing_nothing_passes_is_flagged() -> None:
    before = {"orders": {"A": {"status": "delivered"}}}
    assert "does nothing passes" in grade(before, before, Task.from_goal(before, before)).notes[0]


def test_a_setting_that_was_on_already_earns_nothing() -> None:
    state = {"wifi": {"on": True}}
    verdict = grade(state, copy.deepcopy(state), Task(required={"wifi/on": True}))
    assert verdict.status == "not evaluated"
    assert len(verdict.vacuous) == 1


def test_a_state_that_is_corrupt_in_the_goal_too_breaks_an_invariant() -> None:
    before = {"catalogue": {"i2": 155.33}, "item": {"id": "i2", "price": 155.33}}
    gold = {"catalogue": {"i2": 155.33}, "item": {"id": "i2", "price": 268.77}}
    price = Invariant(
        "price as listed", lambda s: s["item"]["price"] == s["catalogue"][s["item"]["id"]]
    )
    assert not state_diff(gold, copy.deepcopy(gold))
    verdict = grade(before, gold, Task.from_goal(before, gold, invariants=[price]))
    assert verdict.status == "fail"
    assert verdict.of_kind("broken")


def test_the_verdict_and_its_explanation_come_from_one_normal_form() -> None:
    gold, after = {"r": {"p": [{"g": 1}, {"g": 2}]}}, {"r": {"p": [{"g": 2}, {"g": 1}]}}
    assert [c.path for c in state_diff(gold, after)] == [("r", "p")]
    assert not state_diff(gold, after, {"r/p": "multiset"})


def test_one_missing_twin_is_named() -> None:
    diff = state_diff({"l": ["b1", "b2", "b1"]}, {"l": ["b1", "b2"]}, {"l": "multiset"})
    assert [c.note for c in diff] == ["removed 'b1'"]


def test_a_task_with_no_check_is_not_evaluated() -> None:
    assert (
        grade({"a": 1}, {"a": 1}, Task(required={}, created=[], deleted=[])).status
        == "not evaluated"
    )


def test_a_delete_in_another_table_fails() -> None:
    before = {"a": {"1": {"x": 1}}, "b": {"1": {"y": 1}}}
    verdict = grade(before, {"a": {"1": {"x": 2}}, "b": {}}, Task(required={"a/1/x": 2}))
    assert verdict.status == "fail"
    assert [f.place for f in verdict.collateral] == ["('b', '1')"]


def test_a_later_change_in_place_cannot_hide() -> None:
    live = {"o": {"items": [1]}}
    before = snapshot(live)
    live["o"]["items"].append(2)
    assert [c.path for c in state_diff(before, snapshot(live))] == [("o", "items")]
