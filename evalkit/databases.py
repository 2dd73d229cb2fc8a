"""SQLite databases: a snapshot of one, and the diff of two files without loading them.

What is left out, because it is not the agent's data: the rows of views and generated columns
(both follow from other rows), SQLite's own tables (``sqlite_sequence``, ``sqlite_stat1``) and
indices, how the file is laid out, and attached or temporary schemas. The data of a virtual table,
such as a full-text index, is in its shadow tables, which are read like any other.

An index is not data either, but a wrong one gives every query that uses it a wrong answer. So
each read begins with ``PRAGMA integrity_check``. On 100,000 rows of five columns it takes about
10 ms, and 35 ms more for each index; loading them takes 160 ms.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from evalkit.dbfiles import damage, naming, plain_text, read_files, reading
from evalkit.statediff import Diff, State, state_diff
from evalkit.values import StateError

Row = tuple[Any, ...]
Entries = dict[Any, dict[str, Any]]

#: How much the tables of a database may take in memory, roughly. Beyond it they are not loaded: a
#: column added with a long default costs the file nothing, and here as much as it is long, per row.
MEMORY_BYTES = 2**33


def snapshot_database(source: sqlite3.Connection | str | os.PathLike[str]) -> State:
    """Every row of a SQLite database, and its schema, as one moment saw them.

    Parameters
    ----------
    source
        A file, opened read-only; others may be writing to it, also in WAL mode. Or an open
        connection: its own view is taken, with rows it has not committed yet, and its
        transaction, row factory, text factory and converters neither matter nor change.

    Returns
    -------
    dict
        ``{table: {row key: {column: value}}}``. The row key is the value of the primary key, a
        tuple if it has several columns. Rows without one are a multiset: their key is a digest of
        the content with ``#1``, ``#2`` for identical rows, or the 1-tuple of it, which no row's
        own key can be, where NULL stands in a primary key.
        Under ``"sqlite_schema"`` stand tables, indices, triggers and views:
        ``{name: {"type": ..., "table": ..., "sql": ...}}``, so that a planted trigger is a change;
        one that has the name of a table is found under ``("trigger", name)``. What SQLite finds
        wrong, such as an index that misses rows, or cannot check, stands under ``("damage",)``,
        and under ``("header",)`` the ``user_version`` and ``application_id``, if one is set.
        Text that is not valid UTF-8 is kept with ``surrogateescape``.

    Raises
    ------
    StateError
        If the database is missing, empty, encrypted, corrupt or locked, or too large to load; the
        message names it.

    Examples
    --------
    >>> db = sqlite3.connect(":memory:")
    >>> _ = db.execute("CREATE TABLE cart (item TEXT PRIMARY KEY, qty INTEGER)")
    >>> _ = db.execute("INSERT INTO cart VALUES ('tea', 2)")
    >>> snapshot_database(db)["cart"]
    {'tea': {'item': 'tea', 'qty': 2}}
    >>> db.close()
    """
    if isinstance(source, sqlite3.Connection):
        with naming("the given connection"), reading(source) as cursor:
            return _state(cursor, damage(cursor, "main"))
    return read_files([source], _state)


def database_diff(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> Diff:
    """The changes between the snapshots of two database files, found inside SQLite.

    They are those of `state_diff`; rows without a key may come in another order. Rows that are
    equal stay in the files: SQLite joins the two by key and hands over only what differs in
    value, in type or in the case of a letter, whatever the columns' collations. A table whose
    definition differs is loaded, and so is all if either database is damaged.

    Parameters
    ----------
    before, after
        Two SQLite files, opened read-only.

    Returns
    -------
    Diff

    Raises
    ------
    StateError
        As `snapshot_database`; the message names the file.

    Examples
    --------
    >>> from contextlib import closing
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name, price in (("before.db", 1), ("after.db", 1.0)):
    ...         with closing(sqlite3.connect(f"{folder}/{name}")) as db:
    ...             _ = db.executescript(f"CREATE TABLE t (x); INSERT INTO t VALUES ({price})")
    ...     print(len(database_diff(f"{folder}/before.db", f"{folder}/after.db")))
    2
    """
    try:
        states = read_files([before, after], _differing_states)
    except StateError:
        # A file is broken, or SQLite cannot compare them: two encodings, a collation that it
        # does not know, more columns than a join may have. Loading each names the file, or works.
        states = snapshot_database(before), snapshot_database(after)
    return state_diff(*states)


# --- reading ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """A table: its stored columns, where in them the key is, and the free names of its rowid.

    ``untyped`` columns (of no type, BLOB or ANY) may hold -0.0, which others store as 0. A short
    row takes about ``row_bytes`` in memory, and may be next to nothing in the file.
    """

    name: str
    columns: tuple[str, ...]
    untyped: frozenset[str]
    key: tuple[int, ...]
    rowid: tuple[str, ...]
    row_bytes: int


def _state(cursor: sqlite3.Cursor, damaged: dict) -> State:
    entries = _schema(cursor, "main")
    header = _header(cursor, "main")
    return {"sqlite_schema": entries | header | damaged} | _loaded(cursor, "main", _tables(entries))


def _header(cursor: sqlite3.Cursor, schema: str) -> Entries:
    """What an application has written into the header of the file, if it has."""
    names = ("user_version", "application_id")
    kept = {n: cursor.execute(f"PRAGMA {schema}.{n}").fetchone()[0] for n in names}
    return {("header",): {"type": "header", **kept}} if any(kept.values()) else {}


#: What SQLite makes by itself, beside indices without a definition.
_OWN = {
    "CREATE TABLE sqlite_sequence(name,seq)",
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat3(tbl,idx,neq,nlt,ndlt,sample)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}


def _schema(cursor: sqlite3.Cursor, schema: str) -> Entries:
    """Tables, indices, views and triggers by name, but for SQLite's own."""
    entries: Entries = {}
    listed = cursor.execute(
        f"SELECT type, name, tbl_name, sql FROM {schema}.sqlite_master"
        " ORDER BY type = 'trigger', type, name"
    )
    for kind, name, table, text in listed:
        automatic = kind == "index" and text is None and str(name).startswith("sqlite_autoindex_")
        if automatic or (kind == "table" and text in _OWN):
            continue
        key = (kind, name) if name in entries else name  # a trigger may share its name
        if key in entries:
            raise StateError(f"sqlite_schema lists {name!r} more than once")
        entries[key] = {"type": kind, "table": table, "sql": text}
    return entries


# Between two words of a definition there may be comments, if somebody wrote it for SQLite.
_GAP = r"(?:\s|--[^\n]*\n|/\*.*?\*/)++"
_IS_TABLE = re.compile(rf"CREATE{_GAP}TABLE\b", re.IGNORECASE | re.DOTALL)


def _tables(entries: Entries) -> dict[str, dict[str, Any]]:
    """The entries of ordinary tables, by the name that SQLite has for them.

    It goes by the definition, whatever type is listed, and reads bytes as text, up to a NUL.
    """
    texts = [(_plain(key), _plain(entry["sql"]), entry) for key, entry in entries.items()]
    return {name: entry for name, text, entry in texts if _IS_TABLE.match(text)}


def _plain(listed: Any) -> str:
    text = plain_text(listed) if isinstance(listed, bytes) else listed
    return text.partition("\0")[0] if isinstance(text, str) else ""


def _table(cursor: sqlite3.Cursor, schema: str, name: str) -> _Table:
    info = cursor.execute(f"PRAGMA {schema}.table_xinfo({_quoted(name)})").fetchall()
    stored = [row for row in info if not row[6]]  # a generated column is "hidden"
    columns = tuple(column for _, column, *_ in stored)
    untyped = frozenset(column for _, column, kind, *_ in stored if _holds_anything(kind))
    key = tuple(i for _, i in sorted((row[5], i) for i, row in enumerate(stored) if row[5]))
    taken = {row[1].lower() for row in info}
    rowid = tuple(name for name in ("rowid", "_rowid_", "oid") if name not in taken)
    row_bytes = 200 + sum(50 + len(default or "") for *_, default, _, _ in stored)
    return _Table(name, columns, untyped, key, rowid, row_bytes)


def _holds_anything(kind: str) -> bool:
    return not kind or "BLOB" in kind.upper() or kind.upper() == "ANY"


def _loaded(cursor: sqlite3.Cursor, schema: str, names: Iterable[str]) -> State:
    tables = [_table(cursor, schema, name) for name in names]
    if sum(t.row_bytes * _count(cursor, schema, t) for t in tables) > MEMORY_BYTES:
        raise StateError(f"its tables would take more than {MEMORY_BYTES} bytes in memory")
    return {t.name: _rows(t, _select(cursor, schema, t), Counter()) for t in tables}


def _count(cursor: sqlite3.Cursor, schema: str, table: _Table) -> int:
    counted = f"SELECT count(*) FROM {schema}.{_quoted(table.name)} NOT INDEXED"
    return int(cursor.execute(counted).fetchone()[0])


def _select(cursor: sqlite3.Cursor, schema: str, table: _Table) -> Iterable[Row]:
    # The + and the alias hide column types and names from the connection's converters; NOT
    # INDEXED reads the table itself, in its order, and needs no collation.
    columns = ", ".join(f"+{_quoted(c)} AS c{i}" for i, c in enumerate(table.columns))
    return cursor.execute(f"SELECT {columns} FROM {schema}.{_quoted(table.name)} NOT INDEXED")


def _rows(table: _Table, found: Iterable[Row], copies: Counter[str]) -> dict[Any, dict[str, Any]]:
    """Rows by key; ``copies`` says how many identical keyless rows were counted before these."""
    rows: dict[Any, dict[str, Any]] = {}
    key_of = itemgetter(*table.key) if table.key else _no_key
    for row in found:
        key = key_of(row)
        if key is None or (type(key) is tuple and None in key) or key in rows:
            # Taken is a key only where the index that should see to it is damaged.
            digest = _digest(row)
            copies[digest] += 1
            key = f"{digest}#{copies[digest]}"
            key = (key,) if table.key else key
        rows[key] = dict(zip(table.columns, row, strict=True))
    return rows


def _no_key(_: Row) -> None:
    return None


def _digest(row: Row) -> str:
    """Sixteen hexadecimal digits of a row's values and their types."""
    return blake2b(ascii(row).encode(), digest_size=8).hexdigest()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- comparing ----------------------------------------------------------------------------


def _differing_states(cursor: sqlite3.Cursor, *damaged: dict) -> tuple[State, State]:
    """The two states without the rows that are equal in both, and so with the same diff."""
    if any(damaged):
        raise StateError("is damaged, or could not be checked")  # loading reads no index
    schemas = _schema(cursor, "main"), _schema(cursor, "other")
    cursor.connection.create_function("signs_differ", 2, _signs_differ)
    mine, theirs = map(_tables, schemas)
    before: State = {}
    after: State = {}
    for name in (name for name in mine if mine[name] == theirs.get(name)):
        table = _table(cursor, "main", name)
        if table.key or table.rowid:
            before[name], after[name] = _differing_rows(cursor, table)
    before |= _loaded(cursor, "main", [name for name in mine if name not in before])
    after |= _loaded(cursor, "other", [name for name in theirs if name not in after])
    headers = _header(cursor, "main"), _header(cursor, "other")
    before = {"sqlite_schema": schemas[0] | headers[0]} | before
    return before, {"sqlite_schema": schemas[1] | headers[1]} | after


def _differing_rows(cursor: sqlite3.Cursor, table: _Table) -> tuple[dict, dict]:
    """The rows of one table that differ, by key, on either side.

    Rows are paired by primary key, or by rowid where there is none, and a pair counts as equal
    only if all its columns are; what is left is compared by `state_diff`, which knows better.
    NULL pairs with nothing, so that rows with NULL in their key are all left.
    """
    name = _quoted(table.name)
    keys = [_quoted(table.columns[i]) for i in table.key] or [table.rowid[0]]
    # The first comparison may use the key's index; the second is blind to its collation.
    pairing = " AND ".join(f"a.{k} = b.{k} AND a.{k} = b.{k} COLLATE BINARY" for k in keys)
    columns = [_quoted(c) for c in table.columns]
    differing = " OR ".join(_differs(_quoted(c), c in table.untyped) for c in table.columns)
    left, right = (", ".join(f"{side}.{c}" for c in columns) for side in "ab")
    unpaired = f"b.{keys[0]} IS NULL"
    before: list[Row] = []
    after: list[Row] = []
    for alone, *values in cursor.execute(
        f"SELECT {unpaired}, {left}, {right} FROM main.{name} AS a NOT INDEXED"
        f" LEFT JOIN other.{name} AS b ON {pairing}"
        f" WHERE {unpaired} OR {differing}"
    ):
        before.append(tuple(values[: len(columns)]))
        if not alone:
            after.append(tuple(values[len(columns) :]))
    # A row has one counterpart at most, so that counts say whether the other file has more.
    paired_off = _count(cursor, "main", table) - (len(before) - len(after))
    if paired_off < _count(cursor, "other", table):
        after += cursor.execute(
            f"SELECT {right} FROM other.{name} AS b NOT INDEXED"
            f" WHERE NOT EXISTS (SELECT 1 FROM main.{name} AS a WHERE {pairing})"
        ).fetchall()
    paired = Counter[str]() if table.key else _other_copies(cursor, table, before, after)
    return _rows(table, before, paired.copy()), _rows(table, after, paired)


def _differs(column: str, untyped: bool) -> str:
    """SQL: whether a column differs, also where SQLite's own comparison holds 1 and 1.0 equal.

    Numbers sort before all text, so ``< ''`` keeps the slower tests for numbers. The plus keeps
    text from being compared as the number that the column's type says it is.
    """
    a, b = f"+a.{column}", f"+b.{column}"
    differs = f"typeof({a}) <> typeof({b})"
    if untyped:
        differs += f" OR ({a} = 0 AND typeof({a}) = 'real' AND signs_differ({a}, {b}))"
    return f"{a} IS NOT {b} COLLATE BINARY OR ({a} < '' AND ({differs}))"


def _signs_differ(a: float, b: float) -> bool:
    return math.copysign(1, a) != math.copysign(1, b)


def _other_copies(
    cursor: sqlite3.Cursor, table: _Table, before: list[Row], after: list[Row]
) -> Counter[str]:
    """How many rows identical to those that are left were paired off, by digest."""
    if not before and not after:
        return Counter()
    wanted = {*before, *after}
    total = Counter(_digest(row) for row in _select(cursor, "main", table) if row in wanted)
    return total - Counter(map(_digest, before))
