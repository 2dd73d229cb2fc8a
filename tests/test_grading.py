import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit import (
    Allowed,
    Between,
    Created,
    Invariant,
    StateError,
    Task,
    TaskError,
    grade,
)

BEFORE: dict[str, Any] = {
    "orders": {"W1": {"status": "new", "note": ""}, "W2": {"status": "new", "note": ""}},
    "refunds": {1: {"id": 1, "order": "W2", "amount": 5.0, "at": "2026-03-01T09:00:00Z"}},
    "cart": {7: {"qty": 1}, 8: {"qty": 2}},
    "log": {1: {"text": "made"}},
}
TASK = Task(
    required={"orders/W1/status": "cancelled"},
    created=[Created("refunds", order="W1", amount=42.5, free=["id", "at"])],
    deleted=["cart/7"],
    allowed=[Allowed("log/*", only="added"), Allowed("orders/W1/note")],
)


def done(*more: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The state after all that TASK asks for, and after some more."""
    state = copy.deepcopy(BEFORE)
    state["orders"]["W1"]["status"] = "cancelled"
    state["refunds"][2] = {"id": 2, "order": "W1", "amount": 42.5, "at": "2026-03-02T09:00:00Z"}
    del state["cart"][7]
    state["log"][2] = {"text": "cancelled W1"}
    for change in more:
        change(state)
    return state


def places(findings: tuple) -> list[str]:
    return [f.place for f in findings]


def test_an_episode_that_does_the_job_and_nothing_else_passes() -> None:
    verdict = grade(BEFORE, done(), TASK)
    assert verdict.status == "pass"
    assert verdict.passed
    assert bool(verdict) is True
    assert verdict.credit == 1.0


HARM: dict[str, Callable[[dict[str, Any]], object]] = {
    "orders/W2/status": lambda s: s["orders"]["W2"].update(status="cancelled"),
    "orders/W3": lambda s: s["orders"].update(W3={"note": "only an allowed field"}),
    "orders/W2": lambda s: s["orders"].pop("W2"),
    "orders/W1/owner": lambda s: s["orders"]["W1"].update(owner=None),
    "refunds/3": lambda s: s["refunds"].update({3: {**s["refunds"][2], "id": 3}}),
    "refunds/1/amount": lambda s: s["refunds"][1].update(amount=5),
    "refunds/2/by": lambda s: s["refunds"][2].update(by="agent"),
    "cart/8": lambda s: s["cart"].pop(8),
    "log/1/text": lambda s: s["log"][1].update(text="nothing happened"),
    "log/1/more": lambda s: s["log"][1].update(more="a field added to an old row"),
    "log/1": lambda s: s["log"].pop(1),
    "secrets": lambda s: s.update(secrets={}),
}


@pytest.mark.parametrize("place", HARM)
def test_any_single_other_change_fails_and_is_named(place: str) -> None:
    verdict = grade(BEFORE, done(HARM[place]), TASK)
    assert verdict.status == "fail"
    assert places(verdict.collateral) == [place]
    assert verdict.credit == 1.0


UNDONE: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("orders/W1/status", lambda s: s["orders"]["W1"].update(status="Cancelled")),
    ("orders/W1/status", lambda s: s["orders"]["W1"].pop("status")),
    ("refunds: a new row", lambda s: s["refunds"].pop(2)),
    ("refunds: a new row", lambda s: s["refunds"][2].update(amount="42.5")),
    ("refunds: a new row", lambda s: s["refunds"][2].pop("order")),
    ("refunds: a new row", lambda s: s["refunds"].update({2: 42.5})),
    ("cart/7", lambda s: s["cart"].update({7: {"qty": 1}})),
    ("cart/7", lambda s: s["cart"].update({7: None})),
]


@pytest.mark.parametrize(("place", "undo"), UNDONE)
def test_any_single_requirement_unmet_fails_and_is_named(place: str, undo: Any) -> None:
    verdict = grade(BEFORE, done(undo), TASK)
    assert verdict.status == "fail"
    assert places(verdict.missing) == [place]
    assert verdict.credit == pytest.approx(2 / 3)


def test_the_closest_new_row_is_named() -> None:
    verdict = grade(BEFORE, done(lambda s: s["refunds"][2].update(amount=40)), TASK)
    assert verdict.missing[0].found == "refunds/2 comes closest, with amount 40"


def test_rows_and_specifications_match_one_to_one_in_the_best_way() -> None:
    before: dict[str, Any] = {"r": {}}
    wide, narrow = Created("r", a=1), Created("r", a=1, b=2)
    after = {"r": {1: {"a": 1, "b": 2}, 2: {"a": 1}}}
    assert grade(before, after, Task(created=[wide, narrow])).passed
    assert grade(before, after, Task(created=[narrow, wide])).passed
    twice = Task(created=[Created("r", a=1), Created("r", a=1)])
    assert places(grade(before, {"r": {1: {"a": 1}}}, twice).missing) == ["r: a new row"]
    three = {"r": {i: {"a": 1} for i in range(3)}}
    assert places(grade(before, three, twice).collateral) == ["r/2"]


def test_an_allowed_column_of_a_new_row_is_no_collateral() -> None:
    task = Task(created=[Created("r", a=1)], allowed=[Allowed("r/*/at", when="instant")])
    assert grade({"r": {}}, {"r": {1: {"a": 1, "at": "2026-03-01T09:00:00Z"}}}, task).passed
    assert not grade({"r": {}}, {"r": {1: {"a": 1, "at": "drop table"}}}, task).passed


def test_allowed_changes_keep_to_their_limits() -> None:
    day = Between("2026-03-01T00:00:00Z", "2026-03-01T23:59:59Z")
    task = Task(unchanged=True, allowed=[Allowed("t/*/at", only="changed", when=day)])
    before = {"t": {1: {"at": "2026-02-01T00:00:00Z", "x": 1}}}

    def passes(row: dict) -> bool:
        return grade(before, {"t": {1: row}}, task).passed

    assert passes({"at": "2026-03-01T10:00:00Z", "x": 1})
    assert not passes({"at": "2026-03-02T10:00:00Z", "x": 1})
    assert not passes({"at": "tomorrow", "x": 1})
    assert not passes({"at": None, "x": 1})
    assert not passes({"x": 1})
    assert not passes({"at": "2026-03-01T10:00:00Z", "x": 2})


def test_a_condition_that_raises_does_not_hold() -> None:
    task = Task(unchanged=True, allowed=[Allowed("t/1/n", when=lambda v: v > 0)])
    assert grade({"t": {1: {"n": 1}}}, {"t": {1: {"n": 2}}}, task).passed
    assert grade({"t": {1: {"n": 1}}}, {"t": {1: {"n": "2"}}}, task).status == "fail"


def test_a_requirement_that_held_already_earns_nothing() -> None:
    task = Task(required={"orders/W1/status": "new"})
    verdict = grade(BEFORE, BEFORE, task)
    assert verdict.status == "not evaluated"
    assert not verdict
    assert places(verdict.vacuous) == ["orders/W1/status"]
    assert verdict.credit != verdict.credit
    assert "held before" in verdict.notes[0]
    both = Task(required={"orders/W1/status": "new", "orders/W2/status": "paid"})
    state = copy.deepcopy(BEFORE)
    assert grade(BEFORE, state, both).credit == 0.0
    state["orders"]["W2"]["status"] = "paid"
    assert grade(BEFORE, state, both).passed
    state["orders"]["W1"]["status"] = "lost"
    assert grade(BEFORE, state, both).status == "fail"


def test_a_vacuous_task_with_damage_fails() -> None:
    verdict = grade(BEFORE, done(), Task(required={"orders/W2/status": "new"}))
    assert verdict.status == "fail"


def test_a_task_that_states_nothing_is_not_evaluated_whatever_happened() -> None:
    for after in (BEFORE, done()):
        verdict = grade(BEFORE, after, Task())
        assert verdict.status == "not evaluated"
        assert "states nothing" in verdict.notes[0]


def test_nothing_may_change_is_stated_and_then_passes_or_fails() -> None:
    verdict = grade(BEFORE, BEFORE, Task(unchanged=True))
    assert verdict.passed
    assert "an agent that does nothing passes" in verdict.notes[0]
    assert grade(BEFORE, done(), Task(unchanged=True)).status == "fail"


@pytest.mark.parametrize("key", [True, 1.0, "1"])
def test_a_row_moved_to_a_key_of_another_type_is_not_that_row(key: object) -> None:
    before = {"t": {1: {"x": 1}}}
    verdict = grade(before, {"t": {key: {"x": 2}}}, Task(required={"t/1": {"x": 2}}))
    assert verdict.status == "fail"
    assert len(verdict.missing) == len(verdict.collateral) == 1


def test_a_whole_row_can_be_required_and_then_all_of_it_counts() -> None:
    before: dict[str, Any] = {"t": {1: {"x": 1, "y": 1}}}
    task = Task(required={"t/1": {"x": 2, "y": 1}, "t/2": {"x": 3}})
    assert grade(before, {"t": {1: {"x": 2, "y": 1}, 2: {"x": 3}}}, task).passed
    assert not grade(before, {"t": {1: {"x": 2, "y": 1}, 2: {"x": 3, "z": 0}}}, task)
    assert not grade(before, {"t": {1: {"x": 2, "y": 1, "z": 0}, 2: {"x": 3}}}, task)


def test_a_table_dropped_with_the_row_to_delete_is_collateral() -> None:
    verdict = grade(BEFORE, done(lambda s: s.pop("cart")), TASK)
    assert places(verdict.collateral) == ["cart"]


def test_requirements_reach_into_keyed_lists() -> None:
    before = {"order": {"items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 1}]}}
    task = Task(required={"order/items/b/n": 2}, forms={"order/items": "keyed by sku"})
    assert grade(before, {"order": {"items": [{"sku": "b", "n": 2}, {"sku": "a", "n": 1}]}}, task)
    verdict = grade(
        before, {"order": {"items": [{"sku": "b", "n": 2}, {"sku": "b", "n": 2}]}}, task
    )
    assert verdict.status == "fail"


def test_an_invariant_is_checked_on_the_after_state_whatever_the_goal_says() -> None:
    before = {"catalogue": {"i": {"price": 155.33}}, "order": {"i": {"price": 0.0}}}
    gold = {"catalogue": {"i": {"price": 155.33}}, "order": {"i": {"price": 268.77}}}
    rule = Invariant("price is the catalogue's", lambda s: s["order"]["i"] == s["catalogue"]["i"])
    assert grade(before, gold, Task.from_goal(before, gold)).passed
    verdict = grade(before, gold, Task.from_goal(before, gold, invariants=[rule]))
    assert verdict.status == "fail"
    assert places(verdict.of_kind("broken")) == ["price is the catalogue's"]


def test_an_invariant_that_the_after_state_makes_raise_is_broken() -> None:
    task = Task(unchanged=True, invariants=[Invariant("positive", lambda s: s["t"]["n"] > 0)])
    assert grade({"t": {"n": 1}}, {"t": {}}, task).of_kind("broken")


def test_an_invariant_with_a_mistake_in_it_is_an_error_of_the_task() -> None:
    wrong = Invariant("typo", lambda s: s["tt"]["n"] > 0)
    with pytest.raises(TaskError, match="invariant 'typo' raises on the before state too"):
        grade({"t": {"n": 1}}, {"t": {"n": 1}}, Task(invariants=[wrong]))
    forgot = Invariant("forgot", lambda s: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(TaskError, match="returned None"):
        grade({"t": {"n": 1}}, {"t": {"n": 1}}, Task(invariants=[forgot]))


def test_the_verdict_says_how_much_it_does_not_look_at() -> None:
    narrow = Task(unchanged=True, allowed=[Allowed("orders/W1/note")])
    assert grade(BEFORE, BEFORE, narrow).allowed_share == pytest.approx(1 / 11)
    both = Task(unchanged=True, allowed=[Allowed("orders", whole=True), Allowed("orders/*/note")])
    assert grade(BEFORE, BEFORE, both).allowed_share == pytest.approx(4 / 11)
    assert grade(BEFORE, BEFORE, Task(unchanged=True)).allowed_share == 0


def test_bad_input_raises_and_gives_no_verdict() -> None:
    with pytest.raises(StateError, match="after is a NoneType"):
        grade(BEFORE, None, TASK)  # type: ignore[arg-type]
    with pytest.raises(StateError, match="not a supported value"):
        grade(BEFORE, {"orders": {"W1": {1, 2}}}, Task(unchanged=True))
    with pytest.raises(TaskError, match="there is no 'orders'"):
        grade({}, {}, TASK)


def test_a_verdict_explains_itself_and_escapes_what_the_agent_wrote() -> None:
    verdict = grade(BEFORE, done(lambda s: s["orders"]["W2"].update(note="<script>")), TASK)
    html = verdict._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert str(verdict).splitlines()[0].startswith("fail; credit 1.00")
    assert verdict.table["finding"].iloc[0] == "collateral"
    for word in ("orders/W2/note", "no change", "'' -> '<script>'"):
        assert word in str(verdict)


# Found by people who tried to get a bad episode past the grader, or a good one failed.


def passes(before: dict, after: dict, task: Task) -> bool:
    return grade(before, after, task).passed


@pytest.mark.parametrize("key", [True, 1.0, "1"])
def test_a_row_to_delete_is_named_by_its_own_key(key: object) -> None:
    state = {"cart": {1: {"q": 1}}}
    with pytest.raises(TaskError, match="cart has no"):
        grade(state, state, Task(deleted=[("cart", key)]))


def test_a_stated_column_is_found_by_its_own_name() -> None:
    task = Task(created=[Created("t", columns={1: "a"})])
    assert passes({"t": {}}, {"t": {9: {1: "a"}}}, task)
    assert not passes({"t": {}}, {"t": {9: {True: "a"}}}, task)
    assert not passes({"t": {}}, {"t": {9: {1: "a", 2: 0}}}, task)


def test_an_allowed_composite_key_is_typed() -> None:
    task = Task(unchanged=True, allowed=[Allowed(("l", ("W1", 1)))])
    before = {"l": {("W1", 1): {"q": 1}}}
    assert passes(before, {"l": {("W1", 1): {"q": 2}}}, task)
    assert not passes(before, {"l": {("W1", True): {"q": 1}}}, task)


@pytest.mark.parametrize(("key", "twin"), [(7, "7"), (None, "None"), (("W1", 3), "W1,3")])
def test_the_shorthand_of_an_allowed_row_does_not_allow_its_twin(key: Any, twin: str) -> None:
    before = {"t": {key: {"v": "a"}}}
    task = Task(unchanged=True, allowed=[Allowed(f"t/{twin}")])
    assert passes(before, {"t": {key: {"v": "b"}}}, task)
    assert not passes(before, {"t": {key: {"v": "a"}, twin: {"v": "evil"}}}, task)


def test_an_invariant_that_held_already_earns_nothing_either() -> None:
    held = Invariant("one order", lambda s: len(s["o"]) == 1)
    before = {"o": {"W1": {"status": "cancelled"}}}
    task = Task(required={"o/W1/status": "cancelled"}, invariants=[held])
    verdict = grade(before, before, task)
    assert verdict.status == "not evaluated"
    assert "nothing can be earned" in verdict.notes[0]
    alone = grade(before, before, Task(invariants=[held]))
    assert alone.passed
    assert "an agent that does nothing passes" in alone.notes[0]
    mended = Task(invariants=[Invariant("two orders", lambda s: len(s["o"]) == 2)])
    after = {"o": {"W1": {"status": "cancelled"}, "W2": {}}}
    assert grade(before, after, mended).status == "fail"  # the new order is collateral
    assert grade(before, before, mended).status == "fail"


def test_a_whole_row_is_required_but_for_what_is_allowed_below_it() -> None:
    before: dict[str, Any] = {"refunds": {}}
    gold = {"refunds": {"R2": {"amount": 2, "created_at": "2026-01-02T00:00:00"}}}
    task = Task.from_goal(before, gold, allowed=[Allowed("refunds/*/created_at", when="instant")])
    later = {"refunds": {"R2": {"amount": 2, "created_at": "2026-01-02T00:00:05"}}}
    assert passes(before, later, task)
    later["refunds"]["R2"]["created_at"] = "never"
    assert not passes(before, later, task)
    assert not passes(
        before, {"refunds": {"R2": {"amount": 3, "created_at": "2026-01-02T00:00:05"}}}, task
    )
    assert not passes(before, {"refunds": {}}, task)


def test_a_new_row_is_found_by_the_shorthand_whatever_its_key() -> None:
    row = {"v": "x"}
    assert passes({"e": {}}, {"e": {1: row}}, Task(required={"e/1": row}))
    lines = {("W1", 1): row}
    after = {"l": {**lines, ("W1", 2): row}}
    assert passes({"l": lines}, after, Task(required={"l/W1,2": row}))
    assert not passes({"e": {}}, {"e": {1: row, "1": row}}, Task(required={"e/1": row}))


def test_free_columns_of_a_goal_belong_to_a_table_that_exists() -> None:
    before: dict[str, Any] = {"carts": {7: {"items": {}}}}
    gold = {"carts": {7: {"items": {"a": {"id": 1, "n": 1}}}}}
    after = {"carts": {7: {"items": {"b": {"id": 2, "n": 1}}}}}
    assert passes(before, after, Task.from_goal(before, gold, free={"carts/7/items": ["id"]}))
    with pytest.raises(TaskError, match=r"free\['itemz'\]: there is no 'itemz'"):
        Task.from_goal(before, gold, free={"itemz": ["id"]})
    with pytest.raises(TaskError, match="write a list of columns"):
        Task.from_goal(before, gold, free={"carts": "id"})


def test_the_width_of_a_pattern_inside_a_keyed_list_is_seen() -> None:
    forms = {"o/items": "keyed by id"}
    before = {"o": {"items": [{"id": 7, "q": 1}, {"id": 8, "q": 1}]}, "z": 1}
    with pytest.raises(TaskError, match="covers a whole table"):
        grade(before, before, Task(unchanged=True, forms=forms, allowed=[Allowed("o/items/*")]))
    with pytest.raises(TaskError, match="covers a whole table"):
        grade({"audit": {}}, {"audit": {}}, Task(unchanged=True, allowed=[Allowed("audit")]))
    with pytest.raises(TaskError, match="covers a whole table"):
        grade({"o": {1: {"x": 1}, 2: {}}}, {"o": {}}, Task(unchanged=True, allowed=[Allowed("o")]))


def test_a_name_cannot_pass_for_another_line_of_the_verdict() -> None:
    name = "x\nmet  report.txt  no change  done"
    verdict = grade({}, {name: 1, "\udcff": 2}, Task(unchanged=True))
    assert len(str(verdict).splitlines()) == 5
    str(verdict).encode("utf-8")


def test_two_places_have_two_texts() -> None:
    verdict = grade({"t": {7: {}}}, {"t": {"7": {}}}, Task(unchanged=True))
    assert sorted(places(verdict.collateral)) == ["('t', '7')", "t/7"]


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        ({"allowed": [Allowed("orders/*/updatd_at")]}, ["Allowed('orders/*/updatd_at')"]),
        ({"allowed": [Allowed("lgo/*", only="added")]}, ["Allowed('lgo/*')"]),
        ({"forms": {"refunds/*/amuont": "number"}}, ["forms['refunds/*/amuont']"]),
        ({"forms": {("cart", "7", "qty"): "number"}}, ["forms[('cart', '7', 'qty')]"]),
        ({"allowed": [Allowed("log/2/text"), Allowed("orders/W1/note")]}, []),
        ({"forms": {"empty/*/x/y": "number", "orders/W1/tags/3/n": "number"}}, []),
    ],
)
def test_a_pattern_that_names_nothing_is_told(entries: dict[str, Any], named: list[str]) -> None:
    extra = {"empty": {}}
    before, after = BEFORE | extra, done() | extra
    before["orders"] = after["orders"] = {"W1": {"note": "", "tags": [1]}}
    notes = grade(before, after, Task(unchanged=True, **entries)).notes
    told = [note for note in notes if "names nothing in either state" in note]
    assert told == [f"{name} names nothing in either state; is it misspelt?" for name in named]


@pytest.mark.parametrize(
    ("task", "named"),
    [
        (Task({"orders/W1/statsu": "new"}), ["required['orders/W1/statsu']"]),
        (Task({"orders/W3": {"status": "x", "nte": ""}}), ["required['orders/W3'], 'nte'"]),
        (Task({"oders": 1}), ["required['oders']"]),
        (
            Task(created=[Created("refunds", ordr="W1", free=["id", "att"])]),
            ["created[0], 'ordr'", "created[0], 'att'"],
        ),
        # What one row of the table has, or the table is too empty to say, is no misspelling.
        (Task({"orders/W3": {"status": "x"}, "cart/9/qty": 1} | {"log/1/text": "x"}), []),
        (Task(created=[Created("empty", anything=1, free=["id"])]), []),
    ],
)
def test_a_field_that_no_row_has_is_told_and_fails(task: Task, named: list[str]) -> None:
    before = BEFORE | {"empty": {}, "cart": BEFORE["cart"] | {9: {}}}
    verdict = grade(before, before, task)
    assert verdict.status == "fail"
    told = [note for note in verdict.notes if "names nothing in either state" in note]
    assert told == [f"{name} names nothing in either state; is it misspelt?" for name in named]


def test_a_field_that_the_agent_made_is_not_misspelt() -> None:
    after = copy.deepcopy(BEFORE)
    after["orders"]["W1"]["carrier"] = "post"
    verdict = grade(BEFORE, after, Task({"orders/W1/carrier": "post"}))
    assert (verdict.status, verdict.notes) == ("pass", ())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((TASK, BEFORE, BEFORE), "task is a dict, not a Task; give before, after and task in this"),
        ((BEFORE, BEFORE, "x.json"), r"task is a str, .*what load_task\('x.json'\) makes"),
        (("a.db", BEFORE, TASK), r"before is a str, .*take a snapshot\('a.db'\) of it first"),
        ((BEFORE, Path("b.db"), TASK), r"after is a \w*Path, .*take a snapshot\('b.db'\)"),
    ],
)
def test_arguments_of_another_kind_or_order_are_told(arguments: Any, says: str) -> None:
    with pytest.raises((TaskError, StateError), match=says):
        grade(*arguments)


def test_an_agent_cannot_turn_a_failure_into_an_error_of_an_invariant() -> None:
    rule = Invariant("paid", lambda s: s["t"]["paid"] and True)
    task = Task(unchanged=True, allowed=[Allowed("t/paid")], invariants=[rule])
    assert grade({"t": {"paid": 1}}, {"t": {"paid": None}}, task).of_kind("broken")
