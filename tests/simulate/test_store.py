"""The customer-operations store: rows, tools and refusals."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from evalkit.simulate.store import CUSTOMER_OPERATIONS, CUSTOMERS, ORDERS
from evalkit.simulate.world import Action, Call, ToolError, World
from evalkit.snapshots import snapshot

EDITS = CUSTOMER_OPERATIONS.edits


@pytest.fixture
def world() -> Iterator[World]:
    with World(CUSTOMER_OPERATIONS, seed=1) as world:
        yield world


def make(world: World, *calls: Call) -> None:
    for call in calls:
        world.call(call.tool, **call.arguments)


def rows(world: World) -> list[str]:
    return list(world.connection.iterdump())


def test_the_same_seed_gives_the_same_rows_and_another_seed_another_crowd() -> None:
    with (
        World(CUSTOMER_OPERATIONS, seed=1) as one,
        World(CUSTOMER_OPERATIONS, seed=1) as same,
        World(CUSTOMER_OPERATIONS, seed=2) as other,
    ):
        assert rows(one) == rows(same)
        assert rows(one) != rows(other)
        for world in (one, other):
            assert snapshot(world.connection)["customers"]["C3"]["name"] == "Ada Okafor"


def test_the_named_records_stand_first_and_the_crowd_follows(world: World) -> None:
    state = snapshot(world.connection)
    assert list(state["customers"]) == [f"C{n}" for n in range(1, 15)]
    assert len(state["orders"]) == 22
    for key, *_, tier in CUSTOMERS:
        assert state["customers"][key]["tier"] == tier
    for key, customer, _, cents, status in ORDERS:
        row = state["orders"][key]
        assert (row["customer_id"], row["total_cents"], row["status"]) == (customer, cents, status)
    assert state["audit_log"] == {}


def test_foreign_keys_are_on(world: World) -> None:
    assert world.connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    with pytest.raises(ToolError, match="FOREIGN KEY"):
        world.call("delete_record", table="customers", id="C3")
    with pytest.raises(sqlite3.IntegrityError):
        world.connection.execute("INSERT INTO notes VALUES (NULL, 'nobody', 'x', 'y')")


def test_every_amount_is_a_whole_number_of_cents(world: World) -> None:
    for table, column in (("orders", "total_cents"), ("refunds", "amount_cents")):
        kinds = world.connection.execute(f"SELECT DISTINCT typeof({column}) FROM {table}")
        assert kinds.fetchall() == [("integer",)]


def test_search_finds_part_of_a_name_or_an_email_in_any_case(world: World) -> None:
    assert world.call("search", text="OKAFOR") == [
        {"id": "C3", "name": "Ada Okafor"},
        {"id": "C4", "name": "Adaeze Okafor"},
    ]
    assert world.call("search", text="o'shea") == [{"id": "C5", "name": "Brendan O'Shea"}]
    assert world.call("search", text="yuki@") == [{"id": "C6", "name": "Yuki Tanabe"}]
    assert world.call("search", text="%") == []


def test_read_gives_a_whole_record(world: World) -> None:
    record = world.call("read", table="orders", id="W1001")
    assert record == snapshot(world.connection)["orders"]["W1001"]


def test_each_writing_tool_leaves_its_change_and_one_line_in_the_audit_log(world: World) -> None:
    before = snapshot(world.connection)
    make(world, *(edit.right for edit in EDITS))
    after = snapshot(world.connection)
    assert after["customers"]["C3"]["address"] == "14 Harbour Lane, Bristol"
    assert after["orders"]["W1001"]["status"] == "cancelled"
    assert after["refunds"][2] == {
        "id": 2,
        "order_id": "W1001",
        "amount_cents": 4250,
        "created_at": "2026-03-02T09:01:30Z",
    }
    assert after["notes"][4]["customer_id"] == "C3"
    assert [(line["tool"], line["record"]) for line in after["audit_log"].values()] == [
        ("update_address", "customers/C3"),
        ("cancel_order", "orders/W1001"),
        ("issue_refund", "refunds/2"),
        ("add_note", "notes/4"),
    ]
    assert after["customers"]["C3"]["updated_at"] == "2026-03-02T09:00:30Z"
    for key in before["customers"].keys() - {"C3"}:
        assert after["customers"][key] == before["customers"][key]


def test_edit_record_sets_one_column_and_says_when(world: World) -> None:
    before = world.call("read", table="customers", id="C5")
    after = world.call("edit_record", table="customers", id="C5", column="tier", value="gold")
    assert after == {**before, "tier": "gold", "updated_at": world.now()}
    note = world.call("edit_record", table="notes", id=1, column="text", value="gone")
    assert note["text"] == "gone"


REFUSED = [
    ("read", {"table": "customers", "id": "C99"}, "customers has no record 'C99'"),
    ("read", {"table": "sqlite_schema", "id": 1}, "no table 'sqlite_schema'"),
    ("read", {"table": "audit_log", "id": 1}, "no table 'audit_log'"),
    ("update_address", {"customer_id": "C99", "address": "x"}, "customers has no record 'C99'"),
    ("update_address", {"customer_id": "C3", "address": "  "}, "the address is empty"),
    ("cancel_order", {"order_id": "W9"}, "orders has no record 'W9'"),
    ("cancel_order", {"order_id": "W1003"}, "order W1003 is shipped"),
    ("issue_refund", {"order_id": "W9", "amount_cents": 1}, "orders has no record 'W9'"),
    ("issue_refund", {"order_id": "W1001", "amount_cents": 4251}, "4250 of its 4250 cents are left"),
    ("issue_refund", {"order_id": "W1002", "amount_cents": 3401}, "3400 of its 3900 cents are left"),
    ("issue_refund", {"order_id": "W1001", "amount_cents": 0}, "0 cents cannot be refunded"),
    ("issue_refund", {"order_id": "W1001", "amount_cents": -5}, "-5 cents cannot be refunded"),
    ("issue_refund", {"order_id": "W1001", "amount_cents": 42.5}, "amount_cents must be int"),
    ("issue_refund", {"order_id": "W1001", "amount_cents": True}, "amount_cents must be int"),
    ("issue_refund", {"order_id": "W1001", "amount_cents": "4250"}, "amount_cents must be int"),
    ("issue_refund", {"order_id": "W1001"}, "missing a required argument: 'amount_cents'"),
    ("issue_refund", {"order_id": "W1001", "amount": 1}, "issue_refund:"),
    ("add_note", {"customer_id": "Ada Okafor", "text": "x"}, "customers has no record"),
    ("add_note", {"customer_id": "C3", "text": ""}, "the note is empty"),
    ("add_note", {"customer_id": "C3", "text": "\ud800"}, "surrogates not allowed"),
    ("edit_record", {"table": "orders", "id": "W1001", "column": "id", "value": "W2"}, "no column"),
    ("edit_record", {"table": "orders", "id": "W1001", "column": "x; --", "value": 1}, "no column"),
    ("edit_record", {"table": "orders", "id": "W1001", "column": "status", "value": "lost"}, "CHECK"),
    ("edit_record", {"table": "orders", "id": "W1001", "column": "item", "value": None}, "NOT NULL"),
    ("edit_record", {"table": "orders", "id": "W1001", "column": "total_cents", "value": "x"}, "TEXT"),
    ("edit_record", {"table": "orders", "id": "W1001", "column": "total_cents", "value": 2**70}, "int"),
    ("delete_record", {"table": "orders", "id": "W1002"}, "FOREIGN KEY"),
    ("drop_table", {"table": "orders"}, "no tool 'drop_table'; the tools are add_note, "),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_a_refused_call_is_recorded_and_changes_nothing(
    world: World, tool: str, arguments: dict[str, object], message: str
) -> None:
    before = rows(world)
    with pytest.raises(ToolError) as refusal:
        world.call(tool, **arguments)
    assert message in str(refusal.value)
    assert rows(world) == before
    assert world.trajectory == (Action(tool, arguments, error=str(refusal.value)),)
