"""Tools that any record store has, whatever its tables, and the two writes that others are made of.

A scenario brings its own tables and the tools that know their rules. What is here takes a table by
its name: reading, editing and deleting one record, and the line that each write leaves in the log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from evalkit.simulate.world import OPENING, ToolError, World, timestamp


def write_first_rows(
    connection: sqlite3.Connection,
    rng: np.random.Generator,
    inserts: Mapping[str, Sequence[Sequence[Any]]],
) -> None:
    """Insert the rows of each statement, last written between a day and a hundred days before."""
    for sql, rows in inserts.items():
        for row in rows:
            hours = timedelta(hours=int(rng.integers(24, 2400)))
            connection.execute(sql, (*row, timestamp(OPENING - hours)))


Key = str | int
Value = str | int | None

#: The table that every scenario's schema ends with: each write adds a line, and no tool reads it.
AUDIT_LOG = """CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, tool TEXT NOT NULL, record TEXT NOT NULL
) STRICT;
"""


def read(world: World, table: str, id: Key) -> dict[str, Any]:
    """Read one record of any table but the log."""
    known = world.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    if table == "audit_log" or (table,) not in known.fetchall():
        raise ToolError(f"there is no table {table!r} to read or edit")
    found = world.connection.execute(f"SELECT * FROM {table} WHERE id = ?", (id,))
    row = found.fetchone()
    if row is None:
        raise ToolError(f"{table} has no record {id!r}")
    return dict(zip([column[0] for column in found.description], row, strict=True))


# These two can do more than any task here needs. Real systems ship such tools, and much unintended
# damage is done through them.


def edit_record(world: World, table: str, id: Key, column: str, value: Value) -> dict[str, Any]:
    """Set any column of any record."""
    row = read(world, table, id)
    if column not in row or column == "id":
        raise ToolError(f"{table} has no column {column!r} to edit")
    set_field(world, "edit_record", table, id, column, value)
    return read(world, table, id)


def delete_record(world: World, table: str, id: Key) -> dict[str, Any]:
    """Delete any record that no other record refers to."""
    row = read(world, table, id)
    world.connection.execute(f"DELETE FROM {table} WHERE id = ?", (id,))
    _log(world, "delete_record", table, id)
    return row


# What follows is no tool: a scenario's own tools are made of it.


def people(world: World, table: str, text: str) -> list[dict[str, Any]]:
    """The people of a table whose name or email holds the text, whatever its case."""
    found = world.connection.execute(
        f"SELECT id, name FROM {table} WHERE instr(lower(name || ' ' || email), lower(?))"
        " ORDER BY id",
        (text,),
    )
    return [{"id": key, "name": name} for key, name in found]


def set_field(world: World, tool: str, table: str, id: Key, column: str, value: Value) -> None:
    """Write one field of a record that exists, by table and column names known to be real."""
    row = read(world, table, id)
    world.connection.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (value, id))
    if "updated_at" in row and column != "updated_at":
        world.connection.execute(
            f"UPDATE {table} SET updated_at = ? WHERE id = ?", (world.now(), id)
        )
    _log(world, tool, table, id)


def insert(world: World, tool: str, table: str, owner: str, value: str | int) -> dict[str, Any]:
    """Add a row of four columns, ``id``, owner, value and time, and return it."""
    key = world.connection.execute(
        f"INSERT INTO {table} VALUES (NULL, ?, ?, ?)", (owner, value, world.now())
    ).lastrowid
    assert key is not None
    _log(world, tool, table, key)
    return read(world, table, key)


def _log(world: World, tool: str, table: str, id: Key) -> None:
    world.connection.execute(
        "INSERT INTO audit_log VALUES (NULL, ?, ?, ?)", (world.now(), tool, f"{table}/{id}")
    )
