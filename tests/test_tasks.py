from pathlib import Path

import pytest

from evalkit.snapshots import snapshot
from evalkit.tasks import Allowed, Between, Created, Invariant, Task, TaskError, fit

STATE = {
    "orders": {"W1": {"status": "new", "note": ""}, "W2": {"status": "new", "note": ""}},
    "cart": {7: {"qty": 1}},
    "log": {1: {"text": "made"}},
    "users": {"u": {"cards": {"c1": {"n": 1}, "c2": {"n": 2}}, "name": "Ada"}},
}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"required": {"orders//status": 1}}, r"required\['orders//status'\].*empty segment"),
        ({"required": {"orders/*/status": 1}}, "names one place, so it can hold no '\\*'"),
        (
            {"required": {"orders/W1/status": {1, 2}}},
            r"required\['orders/W1/status'\]: a set is not",
        ),
        ({"deleted": "cart/7"}, "deleted='cart/7': write a list"),
        ({"deleted": ["cart/*"]}, r"deleted\[0\].*can hold no"),
        ({"created": ["refunds"]}, r"created\[0\]: 'refunds' is no Created"),
        ({"allowed": ["log/*"]}, r"allowed\[0\]: 'log/\*' is no Allowed"),
        ({"invariants": [lambda s: True]}, r"invariants\[0\].* is no Invariant"),
        ({"forms": {"orders/*/total": "numeric"}}, r"forms\['orders/\*/total'\]: unknown form"),
        (
            {"unchanged": True, "deleted": ["cart/7"]},
            "nothing may change, yet a change is required",
        ),
        (
            {"required": {"orders/W1/note": "x"}, "allowed": [Allowed("orders/*/note")]},
            r"required\['orders/W1/note'\]: Allowed\('orders/\*/note'\) allows it too",
        ),
        (
            {"deleted": [("cart", 7)], "allowed": [Allowed("cart/7")]},
            r"deleted\[0\]: Allowed\('cart/7'\) allows it too",
        ),
    ],
)
def test_an_impossible_entry_is_named_when_the_task_is_built(entries: dict, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        Task(**entries)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            {"required": {"ordres/W1/status": 1}},
            "there is no 'ordres' .there are: 'orders', 'cart'",
        ),
        ({"required": {"orders/W9/status": 1}}, "orders has no 'W9' .there are: 'W1', 'W2'"),
        ({"required": {"orders/W1/status/x": 1}}, "orders/W1/status is a single value"),
        ({"required": {"cart/7/qty": 1, ("cart", 7, "qty"): 1}}, "cart/7/qty is required twice"),
        ({"deleted": ["cart/8"]}, r"deleted\[0\]: cart has no 8 .there are: 7"),
        ({"deleted": [("cart", "7")]}, r"deleted\[0\]: cart has no '7'"),
        ({"created": [Created("refunds", amount=1)]}, r"created\[0\]: there is no 'refunds'"),
        ({"allowed": [Allowed("log")]}, "covers a whole table"),
        ({"allowed": [Allowed("users/u/cards")]}, "covers a whole table"),
        ({"allowed": [Allowed("users/*/cards/*")]}, "covers a whole table"),
        ({"allowed": [Allowed("users/u/cards/*/*")]}, "covers a whole table"),
    ],
)
def test_a_path_that_leads_nowhere_is_named_with_what_there_is(entries: dict, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        fit(Task(**entries), STATE, STATE)


@pytest.mark.parametrize("path", ["*", "*/*", "*/*/*", "log/*", "log/*/*", ("log", "*")])
def test_a_pattern_over_a_whole_table_must_say_so(path: object) -> None:
    with pytest.raises(TaskError, match="covers a whole table; name the fields"):
        Allowed(path)  # type: ignore[arg-type]
    Allowed(path, whole=True)  # type: ignore[arg-type]
    Allowed(path, only="added")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "allowed",
    [
        Allowed("orders/*/note"),
        Allowed("orders/W1"),
        Allowed("orders/W1/*"),
        Allowed("log", whole=True),
    ],
)
def test_fields_one_row_or_a_table_in_words_may_be_allowed(allowed: Allowed) -> None:
    fit(Task(unchanged=True, allowed=[allowed]), STATE, STATE)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (lambda: Allowed("log/1", only="new"), "only='new'; write 'added', 'removed' or 'changed'"),
        (lambda: Allowed("log/1", when="date"), "when='date'; write 'instant', 'number'"),
        (lambda: Allowed("log/1", when=5), "when=5 is not callable"),
        (lambda: Created("refunds"), "name at least one column"),
        (lambda: Created("refunds", id=1, free=["id"]), "id cannot be both stated and free"),
        (
            lambda: Created("refunds", id=1, free="created_at"),
            r"write a list of columns, \['created_at'\]",
        ),
        (lambda: Created("", id=1), "empty segment"),
        (lambda: Between(1, "2026-03-01T00:00:00"), "give two numbers or instants"),
        (lambda: Between("a", "b"), "give two numbers or instants"),
        (
            lambda: Between("2026-03-01T00:00:00", "2026-03-02T00:00:00Z"),
            "give two numbers or instants",
        ),
    ],
)
def test_an_entry_that_makes_no_sense_says_what_to_write(entry: object, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        entry()  # type: ignore[operator]


@pytest.mark.parametrize("value", [None, True, "5", "soon", [1], float("nan"), b"1"])
def test_nothing_odd_lies_between_two_numbers(value: object) -> None:
    assert not Between(0, 10)(value)
    assert Between(0, 10)(10)
    assert Between(0, 10)(0.5)


def test_a_goal_state_becomes_requirements() -> None:
    before = {"t": {1: {"x": 1, "at": "a"}, 2: {"x": 2, "at": "a"}}, "r": {}}
    gold = {"t": {1: {"x": 5, "at": "b"}}, "r": {9: {"id": 9, "n": 1}}}
    task = Task.from_goal(before, gold, allowed=[Allowed("t/*/at")], free={"r": ["id"]})
    assert task.required == {("t", 1, "x"): 5}
    assert task.deleted == (("t", 2),)
    assert [(c.table, c.columns, c.free) for c in task.created] == [(("r",), {"n": 1}, ("id",))]
    assert not task.unchanged


def test_a_goal_that_equals_the_start_states_that_nothing_changes() -> None:
    assert Task.from_goal(STATE, STATE).unchanged
    numeric = {"t": {1: {"x": 2}}}, {"t": {1: {"x": 2.0}}}
    assert Task.from_goal(*numeric, forms={"t/*/x": "number"}).unchanged
    assert not Task.from_goal(*numeric).unchanged


def test_invariants_are_named() -> None:
    assert Task(invariants=[Invariant("x", lambda s: True)]).states_something
    assert not Task(allowed=[Allowed("orders/*/note")]).states_something


def test_a_message_says_how_what_is_there_is_written(tmp_path: Path) -> None:
    rates = {"rates": {("01", "low"): {"price": 90}}, "beds": {"01": {"kinds": ["twin"]}}}
    with pytest.raises(TaskError, match="with commas, as in '01,low'"):
        fit(Task({"rates/01/low/price": 99}), rates, rates)
    fit(Task({"rates/01,low/price": 99}), rates, rates)
    with pytest.raises(TaskError, match="is a list, compared whole; end the path there"):
        fit(Task({"beds/01/kinds/0": "double"}), rates, rates)
    (tmp_path / "stock.csv").write_text("item,count\nsoap,3\n")
    wanted = Task({"stock.csv/rows/1/count": "2"})
    with pytest.raises(TaskError, match="cells="):
        fit(wanted, snapshot(tmp_path), snapshot(tmp_path))
    read = snapshot(tmp_path, cells=["*.csv"])
    fit(wanted, read, read)


def test_a_key_with_a_slash_is_written_in_a_tuple() -> None:
    state = {"books": {"978-1/2": {"copies": 1}}, "shelves": {"a": {}}}
    with pytest.raises(TaskError, match="write a tuple for a key with a slash"):
        fit(Task({"books/978-1/2/copies": 2}), state, state)
    fit(Task({("books", "978-1/2", "copies"): 2}), state, state)
    with pytest.raises(TaskError, match=r"shelves has no 'b' \(there are: 'a'\)$"):
        fit(Task({"shelves/b/x": 2}), state, state)
