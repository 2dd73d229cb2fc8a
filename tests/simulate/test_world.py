"""A world: its clock, its trajectory, its reset, and its database in memory or on a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import ToolError, World
from evalkit.snapshots import snapshot


@pytest.fixture
def world() -> Iterator[World]:
    with World(CUSTOMER_OPERATIONS, seed=1) as world:
        yield world


def rows(world: World) -> list[str]:
    return list(world.connection.iterdump())


def test_a_tool_that_fails_half_way_leaves_nothing_behind(world: World) -> None:
    world.connection.execute(
        "CREATE TEMP TRIGGER no_log BEFORE INSERT ON audit_log"
        " BEGIN SELECT RAISE(ABORT, 'log full'); END"
    )
    with pytest.raises(ToolError, match="log full"):
        world.call("cancel_order", order_id="W1001")
    assert world.call("read", table="orders", id="W1001")["status"] == "processing"


def test_a_broken_database_is_not_taken_for_a_refusal(world: World) -> None:
    world.connection.execute("DROP TABLE audit_log")
    with pytest.raises(sqlite3.OperationalError):
        world.call("cancel_order", order_id="W1001")


def test_the_trajectory_holds_results_that_the_agent_cannot_rewrite(world: World) -> None:
    record = world.call("read", table="orders", id="W1001")
    record["status"] = "cancelled"
    (action,) = world.trajectory
    assert action.result["status"] == "processing"
    assert action.error is None


def test_the_clock_is_simulated_and_moves_with_every_call(world: World) -> None:
    times = [world.now()]
    for text in ("a", "b"):
        world.call("search", text=text)
        times.append(world.now())
    assert times == ["2026-03-02T09:00:00Z", "2026-03-02T09:00:30Z", "2026-03-02T09:01:00Z"]


def test_reset_puts_rows_clock_and_trajectory_back(world: World) -> None:
    start = rows(world), world.now()
    scenario = world.scenario
    for call in [*(e.right for e in scenario.edits), *(s.call for s in scenario.strays)]:
        world.call(call.tool, **call.arguments)
    assert rows(world) != start[0]
    world.reset()
    assert (rows(world), world.now()) == start
    assert world.trajectory == ()
    assert world.connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_a_store_on_a_file_is_seen_by_other_connections_and_resets(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with World(CUSTOMER_OPERATIONS, path=path) as world:
        start = snapshot(path)
        world.call("cancel_order", order_id="W1001")
        assert snapshot(path)["orders"]["W1001"]["status"] == "cancelled"
        world.reset()
        assert snapshot(path) == start


def test_a_store_never_overwrites_a_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(ValueError, match=r"notes\.txt exists; name a new file"):
        World(CUSTOMER_OPERATIONS, path=path)
    assert path.read_text() == "mine"
    with pytest.raises(ValueError, match="there is no folder"):
        World(CUSTOMER_OPERATIONS, path=tmp_path / "nowhere" / "store.db")
