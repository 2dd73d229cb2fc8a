"""SQLite databases: a snapshot of one, and the diff of two files without loading them.

What is left out, because it is not the agent's data: the rows of views and generated columns
(both follow from other rows), SQLite's own tables (``sqlite_sequence``, ``sqlite_stat1``), the
file header (``PRAGMA user_version``), and attached or temporary schemas. The data of a virtual
table, such as a full-text index, is in its shadow tables, which are read like any other.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from evalkit.statediff import Diff, State, state_diff
from evalkit.values import StateError

T = TypeVar("T")
Row = tuple[Any, ...]

#: How long a database that another connection has locked is waited for.
BUSY_SECONDS = 5.0


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
        tuple if it has several columns. Rows without one (no primary key, or NULL in it) are a
        multiset: their key is a digest of the content with ``#1``, ``#2`` for identical rows.
        Under ``"sqlite_schema"`` stand tables, indices, triggers and views:
        ``{name: {"type": ..., "table": ..., "sql": ...}}``, so that a planted trigger is a change;
        one that has the name of a table is found under ``("trigger", name)``.
        Text that is not valid UTF-8 is kept with ``surrogateescape``.

    Raises
    ------
    StateError
        If the database is missing, empty, encrypted, corrupt or locked; the message names it.

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
        with _named("the given connection"), _reading(source) as cursor:
            return _state(cursor)
    return _read([source], _state)


def database_diff(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> Diff:
    """The changes between the snapshots of two database files, found inside SQLite.

    They are those of `state_diff`; rows without a key may come in another order. Rows that are
    equal stay in the files: SQLite joins the two by key and hands over only what differs in
    value, in type or in the case of a letter, whatever the columns' collations. A table whose
    definition differs is loaded.

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
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name, price in (("before.db", 1), ("after.db", 1.0)):
    ...         with closing(sqlite3.connect(f"{folder}/{name}")) as db:
    ...             _ = db.executescript(f"CREATE TABLE t (x); INSERT INTO t VALUES ({price})")
    ...     print(len(database_diff(f"{folder}/before.db", f"{folder}/after.db")))
    2
    """
    try:
        states = _read([before, after], _differing_states)
    except StateError:
        # A file is broken, or SQLite cannot compare them: two encodings, a collation that it
        # does not know, more columns than a join may have. Loading each names the file, or works.
        states = snapshot_database(before), snapshot_database(after)
    return state_diff(*states)


# --- opening ------------------------------------------------------------------------------


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Whatever there is to complain of, as a StateError that names the database."""
    try:
        yield
    except StateError as error:
        raise StateError(f"{name}: {error}") from error
    except (sqlite3.Error, OSError, ValueError) as error:
        raise StateError(f"{name}: cannot be read as a SQLite database: {error}") from error


@contextmanager
def _reading(connection: sqlite3.Connection) -> Iterator[sqlite3.Cursor]:
    """A cursor inside one read transaction, deaf to how the connection is set up."""
    text_factory = connection.text_factory
    cursor = sqlite3.Cursor(connection)  # connection.cursor() would bring its row factory
    begun = not connection.in_transaction
    if begun:
        cursor.execute("BEGIN")
    connection.text_factory = _text
    try:
        yield cursor
    finally:
        connection.text_factory = text_factory
        if begun and connection.in_transaction:
            cursor.execute("COMMIT")


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")


def _read(paths: Sequence[str | os.PathLike[str]], reader: Callable[[sqlite3.Cursor], T]) -> T:
    """What ``reader`` returns on the first file as schema main and the second as other.

    The files are never opened but by SQLite: on Unix, closing a file gives up the locks that
    this process's own connections hold on it.
    """
    with _named(" and ".join(map(str, paths))):
        files = [Path(os.path.realpath(path)) for path in paths]
        if not all(file.stat().st_size for file in files):
            raise StateError("is empty, not even a database without tables")
        resting = [file for file in files if not _wal(file).exists()]
        try:
            with closing(
                sqlite3.connect(_uri(files[0], "ro"), uri=True, timeout=BUSY_SECONDS)
            ) as db:
                for file in files[1:]:
                    db.execute("ATTACH ? AS other", [_uri(file, "ro")])
                with _reading(db) as cursor:
                    return reader(cursor)
        finally:
            for file in resting:
                _tidy(file)


def _uri(file: Path, mode: str) -> str:
    return f"{file.as_uri()}?mode={mode}"


def _wal(file: Path) -> Path:
    return Path(f"{file}-wal")


def _tidy(file: Path) -> None:
    """Have SQLite remove the empty -wal and -shm files that reading a WAL database leaves.

    The last connection to close removes them, if it may write; any other leaves them alone.
    """
    if _wal(file).exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(_uri(file, "rw"), uri=True)) as db:
            db.execute("PRAGMA schema_version")


# --- reading ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """A table: its stored columns, where in them the key is, and the free names of its rowid.

    ``untyped`` columns (of no type, BLOB or ANY) may hold -0.0, which others store as 0.
    """

    name: str
    columns: tuple[str, ...]
    untyped: frozenset[str]
    key: tuple[int, ...]
    rowid: tuple[str, ...]


def _state(cursor: sqlite3.Cursor, schema: str = "main") -> State:
    entries = _schema(cursor, schema)
    tables = {name: _load(cursor, schema, name) for name in _table_names(entries)}
    return {"sqlite_schema": entries, **tables}


def _schema(cursor: sqlite3.Cursor, schema: str) -> dict[Any, dict[str, Any]]:
    """Tables, indices, views and triggers by name; SQLite's own are left out."""
    entries: dict[Any, dict[str, Any]] = {}
    listed = cursor.execute(
        f"SELECT type, name, tbl_name, sql FROM {schema}.sqlite_master"
        " ORDER BY type = 'trigger', type, name"
    )
    for kind, name, table, text in listed:
        if not name.lower().startswith("sqlite_"):
            key = ("trigger", name) if name in entries else name  # a trigger may share its name
            entries[key] = {"type": kind, "table": table, "sql": text}
    return entries


def _table_names(entries: dict[Any, dict[str, Any]]) -> list[str]:
    return [
        name
        for name, entry in entries.items()
        if entry["type"] == "table" and not entry["sql"].upper().startswith("CREATE VIRTUAL")
    ]


def _table(cursor: sqlite3.Cursor, schema: str, name: str) -> _Table:
    info = cursor.execute(f"PRAGMA {schema}.table_xinfo({_quoted(name)})").fetchall()
    stored = [row for row in info if not row[6]]  # a generated column is "hidden"
    columns = tuple(column for _, column, *_ in stored)
    untyped = frozenset(column for _, column, kind, *_ in stored if _holds_anything(kind))
    key = tuple(i for _, i in sorted((row[5], i) for i, row in enumerate(stored) if row[5]))
    taken = {row[1].lower() for row in info}
    rowid = tuple(name for name in ("rowid", "_rowid_", "oid") if name not in taken)
    return _Table(name, columns, untyped, key, rowid)


def _holds_anything(kind: str) -> bool:
    return not kind or "BLOB" in kind.upper() or kind.upper() == "ANY"


def _load(cursor: sqlite3.Cursor, schema: str, name: str) -> dict[Any, dict[str, Any]]:
    table = _table(cursor, schema, name)
    return _rows(table, _select(cursor, schema, table), Counter())


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
        if key is None or (type(key) is tuple and None in key):
            digest = _digest(row)
            copies[digest] += 1
            key = f"{digest}#{copies[digest]}"
        if key in rows:
            raise StateError(f"table {table.name} holds two rows with the key {key!r}")
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


def _differing_states(cursor: sqlite3.Cursor) -> tuple[State, State]:
    """The two states without the rows that are equal in both, and so with the same diff."""
    cursor.connection.create_function("signs_differ", 2, _signs_differ)
    schemas = _schema(cursor, "main"), _schema(cursor, "other")
    before: State = {"sqlite_schema": schemas[0]}
    after: State = {"sqlite_schema": schemas[1]}
    for name in _table_names(schemas[0]):
        table = _table(cursor, "main", name)
        if schemas[0][name] == schemas[1].get(name) and (table.key or table.rowid):
            before[name], after[name] = _differing_rows(cursor, table)
        else:
            before[name] = _load(cursor, "main", name)
    for name in _table_names(schemas[1]):
        if name not in after:
            after[name] = _load(cursor, "other", name)
    return before, after


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
    after += cursor.execute(
        f"SELECT {right} FROM other.{name} AS b NOT INDEXED"
        f" WHERE NOT EXISTS (SELECT 1 FROM main.{name} AS a WHERE {pairing})"
    ).fetchall()
    paired = Counter[str]() if table.key else _other_copies(cursor, table, before, after)
    return _rows(table, before, paired.copy()), _rows(table, after, paired)


def _differs(column: str, untyped: bool) -> str:
    """SQL: whether a column differs, also where SQLite's own comparison holds 1 and 1.0 equal.

    Numbers sort before all text, so ``< ''`` keeps the slower tests for numbers.
    """
    a, b = f"a.{column}", f"b.{column}"
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
