"""Properties of snapshots, over many small databases, files and values."""

import csv
import io
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import databases, dbfiles
from evalkit.databases import database_diff, snapshot_database
from evalkit.snapshots import snapshot
from evalkit.statediff import state_diff
from evalkit.values import StateError, same

# Pairs that SQLite, a collation or Python may hold equal: 1 and 1.0, Bob and bob, 'a' and x'61'.
NUMBERS = [0, 1, 2, -(2**63), 2**63 - 1, 0.0, -0.0, 1.0, 2.5, -(2.0**63), 2.0**63, float("inf")]
TEXTS = ["", "0", "1", "1.0", "Bob", "bob", "Bob ", "a\0", "a\0b", "é"]
CELLS = st.sampled_from([None, *NUMBERS, *TEXTS, b"", b"Bob", b"1", b"\xff"])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=6)
DEFINITIONS = [
    "k INTEGER PRIMARY KEY, v, w TEXT)",
    "k PRIMARY KEY, v REAL, w)",
    "k TEXT COLLATE NOCASE PRIMARY KEY, v TEXT COLLATE NOCASE, w NUMERIC)",
    "k TEXT COLLATE NOCASE, v, w, PRIMARY KEY (k COLLATE BINARY))",
    "k, v TEXT COLLATE RTRIM, w BLOB, PRIMARY KEY (k COLLATE NOCASE))",
    "k, v INTEGER, w, PRIMARY KEY (v, k))",
    "k, v, w TEXT COLLATE RTRIM, PRIMARY KEY (w, k)) WITHOUT ROWID",
    "k, v, w)",
    "k COLLATE NOCASE, v, w, rowid AS (1), oid DEFAULT 2)",
    "k, v, w, rowid, _rowid_, oid)",
    "k REAL PRIMARY KEY, v, w, g AS (v || w) STORED)",
    "k ANY PRIMARY KEY, v ANY, w REAL) STRICT",
    "k DATE PRIMARY KEY, v BLOBINT, w ANY)",
]


@st.composite
def row_pairs(draw: st.DrawFn) -> tuple[list, list]:
    """The rows of a table before and after: some kept, some altered in a column, some moved."""
    before = draw(ROWS)
    after = []
    for row in before:
        fate = draw(st.sampled_from(["keep", "keep", "drop", "alter", "double"]))
        if fate == "alter":
            i = draw(st.integers(0, 2))
            row = (*row[:i], draw(CELLS), *row[i + 1 :])
        after += [row] * {"drop": 0, "double": 2}.get(fate, 1)
    return before, draw(st.permutations(after + draw(ROWS)[:2]))


def make(path: Path, tables: dict[str, tuple[str, list]]) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA synchronous = OFF")
        for name, (definition, rows) in tables.items():
            db.execute(f"CREATE TABLE {name} ({definition}")
            for row in rows:
                with suppress(sqlite3.IntegrityError):  # a key that is taken, or of a wrong type
                    db.execute(f"INSERT INTO {name} (k, v, w) VALUES (?, ?, ?)", row)
        db.commit()


def stored(path: Path, tables: dict) -> dict[str, Counter]:
    """What each table holds, as SQLite alone tells it: a multiset of rows, typed by their repr."""
    with closing(sqlite3.connect(path)) as db:
        select = "SELECT k, v, w FROM"
        return {name: Counter(map(repr, db.execute(f"{select} {name}"))) for name in tables}


@settings(deadline=None, max_examples=300)
@given(
    pairs=st.lists(
        st.tuples(st.sampled_from(DEFINITIONS), st.sampled_from(DEFINITIONS), row_pairs()),
        min_size=1,
        max_size=3,
    ),
    altered=st.sampled_from([False, False, False, True]),
)
def test_two_files_differ_as_their_snapshots_do(pairs: list, altered: bool) -> None:
    sides: list[dict] = [{}, {}]
    for i, (definition, other, rows) in enumerate(pairs):
        sides[0][f"t{i}"] = (definition, rows[0])
        sides[1][f"t{i}"] = (other if altered else definition, rows[1])
    with TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("before.db", "after.db")]
        for path, tables in zip(paths, sides, strict=True):
            make(path, tables)
        before, after = map(snapshot_database, paths)
        expected = state_diff(before, after)
        with patch.object(databases, "snapshot_database", side_effect=AssertionError("loaded")):
            found = database_diff(*paths)
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
        assert same(expected.apply(before), after)
        if not altered:
            equal = stored(paths[0], sides[0]) == stored(paths[1], sides[1])
            assert equal == (not found)


def outcome(read: Callable[[], Any]) -> Any:
    """What is read, or None for a StateError; nothing else may be raised."""
    try:
        return read()
    except StateError:
        return None


PAGE = 512
SCRIPT = """
    PRAGMA page_size = 512;
    CREATE TABLE t (k TEXT PRIMARY KEY, v INTEGER NOT NULL, w REAL);
    CREATE TABLE u (k, v); CREATE TABLE w (k, v, PRIMARY KEY (v, k)) WITHOUT ROWID;
    CREATE INDEX by_v ON t (v); CREATE TRIGGER u AFTER INSERT ON u BEGIN DELETE FROM t; END;
    WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 30)
    INSERT INTO t SELECT 'key ' || x, x * x, x / 2.0 FROM c;
    INSERT INTO u SELECT k, v FROM t; INSERT INTO w SELECT k, v FROM t;
"""


@settings(deadline=None, max_examples=150)
@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, 40),
            st.integers(0, 15) | st.integers(0, PAGE - 1),  # a page's head, or anywhere in it
            st.sampled_from([0, 1, 2, 5, 10, 13, 127, 128, 255]) | st.integers(0, 255),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_bytes_a_database_holds_it_is_a_state_or_an_error_and_diffed_as_such(
    edits: list[tuple[int, int, int]],
) -> None:
    with TemporaryDirectory() as folder, patch.object(dbfiles, "CHECK_SECONDS", 5.0):
        before, after = Path(folder, "before.db"), Path(folder, "after.db")
        with closing(sqlite3.connect(before)) as db:
            db.executescript(SCRIPT)
        data = bytearray(before.read_bytes())
        for page, offset, byte in edits:
            data[(page * PAGE + offset) % len(data)] = byte
        after.write_bytes(data)
        state = outcome(lambda: snapshot_database(after))
        found = outcome(lambda: database_diff(before, after))
        assert (state is None) == (found is None)
        if state is not None:
            expected = state_diff(snapshot_database(before), state)
            assert sorted(map(repr, found)) == sorted(map(repr, expected))


CELL = st.sampled_from(["name", "type", "tbl_name", "sql"])
ODD = st.sampled_from(
    [
        "CAST({} AS BLOB)",
        "{} || char(0) || 'x'",
        "upper({})",
        "'sqlite_' || {}",
        "replace({}, ' ', '/**/')",
        *("NULL", "''", "'table'", "'index'", "'sqlite_stat1'", "'sqlite_autoindex_t_1'"),
    ]
)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(CELL, ODD, st.integers(1, 8)), min_size=1, max_size=3))
def test_whatever_is_written_into_the_schema_is_a_change_or_an_error(
    edits: list[tuple[str, str, int]],
) -> None:
    listed = "SELECT type, name, tbl_name, sql FROM sqlite_master"
    with TemporaryDirectory() as folder:
        before, after = Path(folder, "before.db"), Path(folder, "after.db")
        with closing(sqlite3.connect(before)) as db:
            db.executescript(SCRIPT)
        after.write_bytes(before.read_bytes())
        with closing(sqlite3.connect(after)) as db:
            entries = db.execute(listed).fetchall()
            db.execute("PRAGMA writable_schema = ON")
            for cell, odd, row in edits:
                value = odd.format(cell)
                db.execute(f"UPDATE sqlite_master SET {cell} = {value} WHERE rowid = {row}")
            db.commit()
            rewritten = db.execute(listed).fetchall()
        state = outcome(lambda: snapshot_database(after))
        found = outcome(lambda: database_diff(before, after))
        assert (state is None) == (found is None)
        if state is not None:
            expected = state_diff(snapshot_database(before), state)
            assert sorted(map(repr, found)) == sorted(map(repr, expected))
            assert bool(found) <= (entries != rewritten)
            defined = [[entry for entry in side if entry[3]] for side in (entries, rewritten)]
            assert (defined[0] != defined[1]) <= bool(found)


NESTED = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(max_size=3), NESTED, max_size=3)


@given(OBJECTS)
def test_a_json_file_and_its_mapping_have_one_snapshot(value: dict) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "state.json")
        path.write_text(json.dumps(value), encoding="utf-8")
        assert same(snapshot(path), value)
        node = snapshot(folder, cells=["*.json"])["state.json"]
    assert same(node["content"], value)
    assert same(snapshot(value), value)


@given(OBJECTS)
def test_a_snapshot_shares_nothing_that_can_change(value: dict) -> None:
    copied = snapshot(value)
    text = repr(copied)

    def spoil(node: Any) -> None:
        for inner in list(node.values()) if isinstance(node, dict) else list(node):
            if isinstance(inner, dict | list):
                spoil(inner)
        node.clear()

    spoil(value)
    assert repr(copied) == text


@given(
    st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True).flatmap(
        lambda columns: st.tuples(
            st.just(columns),
            st.lists(st.lists(st.text(max_size=4), min_size=len(columns), max_size=len(columns))),
        )
    )
)
def test_every_cell_of_a_csv_file_comes_back(table: tuple[list[str], list[list[str]]]) -> None:
    columns, rows = table
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([columns, *rows])
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_bytes(text.getvalue().encode())
        expected = {i: dict(zip(columns, row, strict=True)) for i, row in enumerate(rows, 1)}
        assert snapshot(path) == expected
        assert snapshot(folder, cells=["*.csv"])["table.csv"]["rows"] == expected


@given(st.binary(max_size=40), st.sampled_from(["csv", "json"]))
def test_whatever_an_agent_writes_a_directory_is_snapshot_and_no_edit_is_lost(
    data: bytes, kind: str
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"x.{kind}")
        path.write_bytes(data)
        node = snapshot(folder, cells=["*"])[path.name]
        assert ("sha256" in node) == ("unreadable" in node)
        path.write_bytes(data + b"\xff")  # no longer UTF-8
        assert "unreadable" in snapshot(folder, cells=["*"])[path.name]
