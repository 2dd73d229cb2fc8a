import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evalkit import Allowed, Created, Task, grade
from evalkit.process import (
    Action,
    Rule,
    at_least,
    at_most,
    call_f1,
    efficiency,
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


def call(tool: str, /, **arguments: Any) -> Action:
    return Action(tool, arguments)


def refused(tool: str, /, **arguments: Any) -> Action:
    return Action(tool, arguments, error="refused")


def broken_at(rule: Rule, *actions: Action) -> list[int | None]:
    return [violation.index for violation in rule.check(actions)]


FIND, CONFIRM, REFUND = call("find"), call("confirm", order="W1"), call("refund", order="W1")

# Each rule, a trajectory that breaks it, the actions that do, and one that it must let pass.
RULES: dict[str, tuple[Rule, Sequence[Action], list[int | None], Sequence[Action]]] = {
    "never a tool": (never("delete"), [FIND, call("delete", id=1)], [1], [FIND, REFUND]),
    "never a tool, even in vain": (never("delete"), [refused("delete", id=1)], [0], [FIND]),
    "never certain arguments": (
        never(call("edit", table="orders")),
        [call("edit", table="notes"), call("edit", table="orders", id=3)],
        [1],
        [call("edit", table="notes"), call("read", table="orders")],
    ),
    "never what a function says": (
        never(lambda a: a.arguments.get("cents", 0) > 100),
        [call("refund", cents=100), call("refund", cents=101)],
        [1],
        [call("refund", cents=100), FIND],
    ),
    "at most once": (
        at_most("refund", 1),
        [REFUND, FIND, REFUND, REFUND],
        [2, 3],
        [refused("refund", order="W1"), REFUND],
    ),
    "at least once": (at_least("confirm"), [refused("confirm"), FIND], [None], [CONFIRM, CONFIRM]),
    "a step budget": (step_budget(2), [FIND, refused("find"), FIND, FIND], [2, 3], [FIND, FIND]),
    "a confirmation first": (
        in_order("confirm", "refund"),
        [REFUND, CONFIRM, REFUND],
        [0],
        [CONFIRM, REFUND, REFUND],
    ),
    "a confirmation that was refused": (
        in_order("confirm", "refund"),
        [refused("confirm", order="W1"), refused("refund", order="W1")],
        [1],
        [FIND],
    ),
    "a confirmation of the same order": (
        in_order("confirm", "refund", matching=["order"]),
        [CONFIRM, call("refund", order="W2"), call("refund"), call("refund", order=True)],
        [1, 2, 3],
        [CONFIRM, call("confirm", order="W2"), call("refund", order="W2", cents=5), REFUND],
    ),
    "a confirmation of nothing in particular": (
        in_order("confirm", "refund", matching=["order"]),
        [call("confirm"), call("refund")],
        [1],
        [call("confirm")],
    ),
    "an order of three": (
        in_order("find", "confirm", "refund"),
        [CONFIRM, REFUND],
        [0],
        [FIND, CONFIRM, FIND, REFUND],
    ),
    "an order with its middle left out": (
        in_order("find", "confirm", "refund"),
        [FIND, REFUND],
        [1],
        [FIND],
    ),
    "no secret in a text": (
        no_argument(r"sk-\w+"),
        [FIND, call("log", text="the key is sk-123")],
        [1],
        [call("log", text="the key is secret"), Action("log", {}, result="sk-123")],
    ),
    "no secret at any depth": (
        no_argument(r"\b4111\d*"),
        [
            call("send", body={"lines": ["paid", {"card": 4111111111111111}]}),
            call("send", body=[{"41112222": None}]),
            call("send", body=("a", b"4111")),
            call("send", **{"": "4111"}),
            refused("send", body="4111"),
        ],
        [0, 1, 2, 3, 4],
        [call("send", body={"lines": ["paid", {"card": 94111}]})],
    ),
    "no text that is wholly the secret": (
        no_argument(r"^4\n11$"),
        [call("send", body=("a", {"b": "4\n11"})), call("send", body={"4\n11": 0})],
        [0, 1],
        [call("send", body="14\n11")],
    ),
    "no secret in some tools": (
        no_argument("hunter2", "log"),
        [call("login", password="hunter2"), call("log", text="hunter2")],
        [1],
        [call("login", password="hunter2")],
    ),
    "only these records read": (
        only("read", call("read", table="customers", id="C3"), call("read", table="orders")),
        [call("read", table="customers", id="C4"), call("read", table="customers"), call("read")],
        [0, 1, 2],
        [call("read", table="customers", id="C3"), call("read", table="orders", id="W9"), FIND],
    ),
    "no record at all": (only("read"), [call("read", id=1)], [0], [FIND]),
    "1 is not True": (
        never(call("set", n=1)),
        [call("set", n=1)],
        [0],
        [call("set", n=True), call("set", n=1.0), call("set", n="1")],
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_names_the_actions_that_break_it_and_lets_the_others_pass(name: str) -> None:
    rule, bad, indices, good = RULES[name]
    assert broken_at(rule, *bad) == indices
    assert broken_at(rule, *good) == []
    verdict = process_verdict(bad, [rule])
    assert verdict.status == "fail"
    assert len(verdict.of_kind("broken")) == len(indices)
    for violation in rule.check(bad):
        assert violation.action is (None if violation.index is None else bad[violation.index])
        assert violation.why


def test_the_explanation_of_a_leak_does_not_leak_it() -> None:
    verdict = process_verdict([call("log", text="sk-123")], [no_argument(r"sk-\d+")])
    assert verdict.status == "fail"
    assert "sk-123" not in str(verdict) + verdict._repr_html_()
    assert "in 'text'" in str(verdict)


def test_refunding_exactly_once_is_two_rules() -> None:
    once = [at_most("refund", 1), at_least("refund", 1)]
    assert process_verdict([FIND, REFUND], once).passed
    assert process_verdict([FIND, REFUND, REFUND], once).status == "fail"
    assert process_verdict([FIND], once).status == "fail"


def test_an_extra_destructive_call_is_seen_beside_all_the_expected_ones() -> None:
    done = [FIND, call("delete_user"), REFUND]
    expected = [FIND, REFUND]
    assert len(matched_calls(expected, done)) == len(expected)
    assert call_f1(expected, done) == 0.8
    assert process_verdict(done, [never("delete_user")]).status == "fail"


# --- the verdict --------------------------------------------------------------------------


def test_no_rules_are_no_pass() -> None:
    verdict = process_verdict([REFUND], [])
    assert verdict.status == "not evaluated"
    assert not verdict
    assert verdict.notes == ("no rule was given",)


def test_rules_that_never_came_into_play_are_shown_and_are_no_pass() -> None:
    rule = in_order("confirm", "refund", "mail")
    verdict = process_verdict([CONFIRM, FIND], [rule])
    assert verdict.status == "not evaluated"
    assert [f.expected for f in verdict.vacuous] == [rule.name]
    assert process_verdict([CONFIRM, refused("refund")], [rule]).passed
    assert process_verdict([CONFIRM, FIND], [rule, never("refund")]).passed


def test_a_verdict_lists_every_rule_once_kept_or_each_violation() -> None:
    done = [call("delete"), REFUND, call("delete")]
    rules = [never("delete"), at_most("refund", 1), in_order("find", "mail")]
    found = [(f.kind, f.place) for f in process_verdict(done, rules).findings]
    assert found == [
        ("broken", "action 0, delete"),
        ("broken", "action 2, delete"),
        ("met", "-"),
        ("vacuous", "-"),
    ]


def test_a_rule_that_raises_on_an_odd_argument_is_broken_not_escaped() -> None:
    over = never(lambda a: a.arguments["cents"] > 100)
    verdict = process_verdict([call("refund", cents=None)], [over])
    assert verdict.status == "fail"
    assert "TypeError" in str(verdict)
    assert process_verdict([call("set", n={1})], [never(call("set", n=[1]))]).passed
    assert process_verdict([call("set", n={1})], [never(call("set", n={1}))]).status == "fail"


def test_a_log_of_dicts_is_refused() -> None:
    with pytest.raises(ValueError, match="is no Action; write Action"):
        process_verdict([{"tool": "find"}], [never("find")])  # type: ignore[list-item]


def test_what_an_agent_writes_is_escaped_in_html() -> None:
    html = process_verdict([call("<b>")], [only("<b>", call("<b>", x=1))])._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_rules_and_violations_are_values() -> None:
    rule = never("delete")
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.name = "other"  # type: ignore[misc]
    assert dataclasses.replace(rule, name="hands off").check([call("delete")])[0].index == 0
    assert rule.check([call("delete")]) == rule.check([call("delete")])


def test_a_readers_own_rule_is_one_more() -> None:
    def hasty(t: Sequence[Action]) -> list[tuple[int, str]]:
        return [(i, "twice in a row") for i in range(1, len(t)) if t[i].tool == t[i - 1].tool]

    assert broken_at(Rule("not twice in a row", hasty), FIND, FIND, REFUND) == [1]


# --- damage done and undone ---------------------------------------------------------------

ORDERS = {"orders": {"W1": {"status": "open"}, "W2": {"status": "open"}}, "log": {}}
CANCEL_W1 = Task(
    required={"orders/W1/status": "cancelled"},
    created=[Created("log", text="done", free=["at"])],
    allowed=[Allowed("log/*", only="added")],
)


def writes(action: Action) -> dict:
    key = tuple(action.arguments["path"].split("/"))
    return {key: action.arguments.get("value", MISSING)}


def write(path: str, value: Any = MISSING) -> Action:
    return Action("write", {"path": path} | ({} if value is MISSING else {"value": value}))


def undone(done: list[Action], task: Task | None = None) -> list[int | None]:
    rule = no_damage_undone(replayed(ORDERS, done, writes), task)
    return [violation.index for violation in rule.check(done)]


UNDONE = {
    "a field": ([write("orders/W2/status", "cancelled"), write("orders/W2/status", "open")], [0]),
    "a field, in two steps": (
        [write("orders/W2/status", x) for x in ("lost", "cancelled", "open")],
        [0],
    ),
    "a field, twice": (
        [write("orders/W2/status", x) for x in ("lost", "open", "lost", "open")],
        [0, 2],
    ),
    "a field, and then damaged for good": (
        [write("orders/W2/status", x) for x in ("lost", "open", "lost")],
        [0],
    ),
    "a row that was removed": (
        [write("orders/W2"), call("write", path="orders/W2", value={"status": "open"})],
        [0],
    ),
    "a row that was added": ([write("orders/W3", {"status": "new"}), write("orders/W3")], [0]),
    "a removed row that came back changed": (
        [write("orders/W2"), write("orders/W2", {"status": "cancelled"})],
        [0],
    ),
}


@pytest.mark.parametrize("name", UNDONE)
def test_damage_that_is_put_back_is_seen_on_the_way(name: str) -> None:
    done, indices = UNDONE[name]
    assert undone(done) == indices


@pytest.mark.parametrize(
    "done",
    [
        [],
        [write("orders/W1/status", "cancelled")],
        [write("orders/W1/status", "lost"), write("orders/W1/status", "cancelled")],
        [write("orders/W2/status", "lost"), write("orders/W2")],  # the end state shows it
        [Action("write", {"path": "orders/W2"}, error="refused")],
    ],
)
def test_what_the_end_state_shows_is_no_damage_undone(done: list[Action]) -> None:
    assert undone(done) == []


def test_the_end_state_passes_what_the_rule_catches() -> None:
    done = [
        write("orders/W2/status", "cancelled"),
        write("orders/W1/status", "cancelled"),
        write("log/1", {"text": "done", "at": 1}),
        write("orders/W2/status", "open"),
    ]
    states = replayed(ORDERS, done, writes)
    assert grade(states[0], states[-1], CANCEL_W1).passed
    verdict = process_verdict(done, [no_damage_undone(states, CANCEL_W1)])
    assert [f.place for f in verdict.of_kind("broken")] == ["action 0, write"]
    assert "which action 3 put back" in str(verdict)


def test_what_a_task_requires_or_allows_may_be_put_back() -> None:
    back = [write("orders/W1/status", "lost"), write("orders/W1/status", "open")]
    lock = [write("log/9", {"text": "lock"}), write("log/9")]
    assert undone(back + lock) == [0, 2]
    assert undone(back + lock, CANCEL_W1) == []


def test_states_must_be_one_more_than_actions() -> None:
    rule = no_damage_undone([ORDERS, ORDERS])
    assert rule.check([FIND]) == ()
    assert "2 states for 2 actions" in rule.check([FIND, FIND])[0].why


def test_replaying_leaves_the_start_alone() -> None:
    states = replayed(ORDERS, [write("orders/W2"), write("orders/W1/status", "lost")], writes)
    assert [len(s["orders"]) for s in states] == [2, 1, 1]
    assert ORDERS["orders"]["W1"] == {"status": "open"}


# --- expected calls -----------------------------------------------------------------------


def test_a_perfect_pairing_is_found_where_a_greedy_one_fails() -> None:
    made = [call("pay", a=1, b=5), call("pay", a=1)]
    expected = [call("pay", a=1), call("pay", a=1, b=5)]
    assert matched_calls(expected, made) == {0: 1, 1: 0}
    assert matched_calls(expected, made, exact=True) == {0: 1, 1: 0}
    assert call_f1(expected, made) == 1


def test_the_pairing_is_the_largest_there_is() -> None:
    arguments = [{"a": 1}, {"b": 2}, {"c": 3}]
    made = [Action("f", arguments[0] | arguments[1] | arguments[2])]
    made += [Action("f", arguments[0] | arguments[1]), Action("f", arguments[0])]
    assert len(matched_calls([Action("f", a) for a in arguments], made)) == 3


@pytest.mark.parametrize(
    ("expected", "made", "at_least_these", "exactly_these"),
    [
        ({"order_id": "#W1", "reason": "x"}, {"order_id": "#W1"}, 0, 0),
        ({"order_id": "#W1", "reason": "x"}, {}, 0, 0),
        ({"n": 1}, {"n": True}, 0, 0),
        ({"n": 1}, {"n": 1.0}, 0, 0),
        ({"n": 1}, {"n": "1"}, 0, 0),
        ({"n": [1, {"a": None}]}, {"n": [1, {"a": None}]}, 1, 1),
        ({"n": [1, {"a": None}]}, {"n": [True, {"a": None}]}, 0, 0),
        ({"n": None}, {}, 0, 0),
        ({"n": 1}, {"n": 1, "m": 2}, 1, 0),
        ({}, {"n": 1}, 1, 0),
    ],
)
def test_arguments_are_compared_by_those_expected_and_by_type(
    expected: dict, made: dict, at_least_these: int, exactly_these: int
) -> None:
    wanted, done = [Action("f", expected)], [Action("f", made)]
    assert len(matched_calls(wanted, done)) == at_least_these
    assert len(matched_calls(wanted, done, exact=True)) == exactly_these
    assert matched_calls(wanted, [Action("g", made)]) == {}


def test_f1_counts_what_is_missing_and_what_is_too_much() -> None:
    assert call_f1([FIND, REFUND], [FIND]) == pytest.approx(2 / 3)
    assert call_f1([FIND], [FIND, FIND, FIND]) == 0.5
    assert call_f1([], [FIND]) == call_f1([FIND], []) == 0
    assert math.isnan(call_f1([], []))


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        expected = [call("f", n=int(n)) for n in rng.integers(0, 3, 4)]
        made = [call("f", n=int(n)) for n in rng.integers(0, 3, 5)]
        matched = len(matched_calls(expected, made))
        precision, recall = matched / 5, matched / 4
        mean = 2 * precision * recall / (precision + recall) if matched else 0
        assert call_f1(expected, made) == pytest.approx(mean)


def test_efficiency_is_expected_calls_over_calls_made() -> None:
    assert efficiency([FIND, REFUND], [FIND] * 4) == 0.5
    assert efficiency([FIND, REFUND], [FIND]) == 2
    assert math.isnan(efficiency([FIND], []))


def test_one_text_is_no_list_of_arguments() -> None:
    with pytest.raises(ValueError, match=r"write matching=\['visit'\]"):
        in_order("confirm", "move", matching="visit")
