"""Snapshots of SQLite databases, and the diff of two files inside SQLite."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from evalkit import databases, dbfiles
from evalkit.databases import database_diff, snapshot_database
from evalkit.statediff import state_diff
from evalkit.values import MISSING, StateError


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


def make(path: Path, script: str, *rows: tuple[str, tuple]) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
        for sql, values in rows:
            connection.execute(sql, values)
        connection.commit()
    return path


def listing(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


# --- the shape of a state -----------------------------------------------------------------


def test_the_primary_key_is_the_row_key(db: sqlite3.Connection) -> None:
    db.executescript("""
        CREATE TABLE a (id INTEGER PRIMARY KEY, x);
        CREATE TABLE b (name TEXT PRIMARY KEY, x) WITHOUT ROWID;
        CREATE TABLE c (x, line INT, sku TEXT, PRIMARY KEY (sku, line));
        INSERT INTO a VALUES (7, 1.0); INSERT INTO b VALUES ('tea', x'00');
        INSERT INTO c VALUES (NULL, 3, 'tea');
    """)
    state = snapshot_database(db)
    assert state["a"] == {7: {"id": 7, "x": 1.0}}
    assert type(state["a"][7]["x"]) is float
    assert state["b"] == {"tea": {"name": "tea", "x": b"\0"}}
    assert state["c"] == {("tea", 3): {"x": None, "line": 3, "sku": "tea"}}


def test_a_table_without_a_key_is_a_multiset(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE log (who, n)")
    db.executemany("INSERT INTO log VALUES (?, ?)", [("a", 1), ("b", 2), ("a", 1), ("a", 1.0)])
    before = snapshot_database(db)
    assert sorted(key[-2:] for key in before["log"]) == ["#1", "#1", "#1", "#2"]
    db.execute("DELETE FROM log WHERE rowid = 1")
    after = snapshot_database(db)
    [change] = state_diff(before, after)
    assert (change.before, change.after) == ({"who": "a", "n": 1}, MISSING)
    db.execute("INSERT INTO log VALUES ('a', 1)")  # at the end, under another rowid
    assert not state_diff(before, snapshot_database(db))


def test_rows_with_null_in_their_key_never_vanish(db: sqlite3.Connection) -> None:
    db.executescript("""
        CREATE TABLE a (k TEXT PRIMARY KEY, x);
        CREATE TABLE b (k, l, PRIMARY KEY (k, l));
        INSERT INTO a VALUES (NULL, 1), (NULL, 1), (NULL, 2), ('k', 1);
        INSERT INTO b VALUES (NULL, 1), (NULL, 1), (1, 1);
    """)
    state = snapshot_database(db)
    assert (len(state["a"]), len(state["b"])) == (4, 3)
    assert {"k", (1, 1)} <= {*state["a"], *state["b"]}


@pytest.mark.parametrize("key", ["k TEXT PRIMARY KEY, l, m)", "k, l, m, PRIMARY KEY (k, l))"])
def test_no_row_can_take_the_key_of_a_row_without_one(db: sqlite3.Connection, key: str) -> None:
    db.execute(f"CREATE TABLE a ({key}")
    db.execute("INSERT INTO a VALUES (NULL, '', 1)")
    before = snapshot_database(db)
    [(digest,)] = before["a"]
    for texts in ((digest, ""), (digest.split("#")[0], "1"), ("a", digest), ("", digest)):
        db.execute("INSERT INTO a VALUES (?, ?, 2)", texts)
    after = snapshot_database(db)
    assert after["a"][digest,] == {"k": None, "l": "", "m": 1}
    assert len(state_diff(before, after).added) == len(state_diff(before, after)) == 4


def test_the_schema_is_part_of_the_state(db: sqlite3.Connection) -> None:
    db.executescript("""
        CREATE TABLE orders (id INTEGER PRIMARY KEY, status);
        CREATE INDEX by_status ON orders (status);
        CREATE VIEW open_orders AS SELECT * FROM orders;
    """)
    before = snapshot_database(db)
    assert before["sqlite_schema"]["by_status"] == {
        "type": "index",
        "table": "orders",
        "sql": "CREATE INDEX by_status ON orders (status)",
    }
    db.executescript("""
        DROP INDEX by_status;
        CREATE TRIGGER orders AFTER INSERT ON orders BEGIN DELETE FROM orders; END;
        CREATE TRIGGER open_orders AFTER INSERT ON orders BEGIN DELETE FROM orders; END;
    """)  # a trigger may have the name of a table or a view
    diff = state_diff(before, snapshot_database(db))
    assert list(diff.removed) == [("sqlite_schema", "by_status")]
    assert list(diff.added) == [
        ("sqlite_schema", ("trigger", "open_orders")),
        ("sqlite_schema", ("trigger", "orders")),
    ]


@pytest.mark.parametrize("field", ["user_version", "application_id"])
def test_what_an_application_writes_into_the_header_is_part_of_the_state(
    tmp_path: Path, field: str
) -> None:
    before = make(tmp_path / "before.db", "CREATE TABLE t (x)")
    after = tmp_path / "after.db"
    shutil.copy(before, after)
    with closing(sqlite3.connect(after)) as connection:
        connection.execute(f"PRAGMA {field} = -7")
    [change] = diff_both_ways(before, after)
    assert change.path == ("sqlite_schema", ("header",))
    assert change.after[field] == -7
    assert ("header",) not in snapshot_database(before)["sqlite_schema"]


def test_what_follows_from_rows_and_what_sqlite_counts_is_left_out(db: sqlite3.Connection) -> None:
    db.executescript("""
        CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, x UNIQUE, y AS (x + 1), z AS (x) STORED);
        CREATE VIEW v AS SELECT * FROM a;
        INSERT INTO a (x) VALUES (1), (2);
    """)
    before = snapshot_database(db)
    assert set(before) == {"sqlite_schema", "a"}
    assert set(before["sqlite_schema"]) == {"a", "v"}
    assert before["a"][1] == {"id": 1, "x": 1}
    db.execute("INSERT INTO a (x) VALUES (3)")
    db.execute("DELETE FROM a WHERE x = 3")  # moves the counter in sqlite_sequence
    db.execute("ANALYZE")
    assert not state_diff(before, snapshot_database(db))


TABLE = "CREATE TABLE orders (k TEXT PRIMARY KEY, v); CREATE INDEX by_v ON orders (v)"
WRITE = "UPDATE sqlite_master SET"
HIDDEN = {  # where a name of SQLite's own was put to something else
    "a trigger": [
        "INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_t', 'orders', 0,"
        " 'CREATE TRIGGER sqlite_t AFTER INSERT ON orders BEGIN DELETE FROM orders; END')"
    ],
    "a trigger named like an index": [
        "INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_autoindex_orders_1', 'orders', 0,"
        " 'CREATE TRIGGER sqlite_autoindex_orders_1 AFTER INSERT ON orders BEGIN SELECT 1; END')"
    ],
    "a view": [
        "INSERT INTO sqlite_master VALUES"
        " ('view', 'sqlite_v', 'sqlite_v', 0, 'CREATE VIEW sqlite_v AS SELECT 1')"
    ],
    "an index": [
        "CREATE INDEX x ON orders (v, k)",
        f"{WRITE} name = 'sqlite_x', sql = 'CREATE INDEX sqlite_x ON orders (v, k)'"
        " WHERE name = 'x'",
    ],
    "an index named like one": [
        "CREATE INDEX x ON orders (v, k)",
        f"{WRITE} name = 'sqlite_autoindex_orders_7',"
        " sql = 'CREATE INDEX sqlite_autoindex_orders_7 ON orders (v, k)' WHERE name = 'x'",
    ],
    **{
        f"a table {name}": [
            "CREATE TABLE x (tbl, idx)",
            "INSERT INTO x VALUES (1, 2)",
            f"{WRITE} name = '{name}', tbl_name = '{name}', sql = 'CREATE TABLE {name}(tbl,idx)'"
            " WHERE name = 'x'",
        ]
        for name in ("sqlite_x", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4")
    },
}


def rewritten(path: Path, *statements: str) -> Path:
    """A copy of a database with its schema written to; each statement on a connection of its own.

    A connection goes by the schema that it has read, so that the next one is the first to see it.
    """
    copy = path.with_name("rewritten.db")
    shutil.copy(path, copy)
    for statement in statements:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            try:
                connection.execute(statement)
            except sqlite3.OperationalError as error:
                if "may not be modified" in str(error):
                    pytest.skip("this build of SQLite lets nobody write to its schema")
                raise
    return copy


@pytest.mark.parametrize("kind", HIDDEN)
def test_what_only_has_a_name_of_sqlites_own_is_listed_and_read(tmp_path: Path, kind: str) -> None:
    before = make(tmp_path / "before.db", TABLE)
    after = rewritten(before, *HIDDEN[kind])
    changes = {change.path: change.after for change in diff_both_ways(before, after)}
    [(_, name)] = [path for path in changes if path[0] == "sqlite_schema"]
    assert name.startswith("sqlite_")
    if "table" in kind:
        assert list(changes[name,].values()) == [{"tbl": 1, "idx": 2}]


ODD = {
    "bytes as a name": "name = CAST(name AS BLOB)",
    "bytes as a definition": "sql = CAST(sql AS BLOB)",
    "bytes as a type": "type = CAST(type AS BLOB)",
    "bytes as a table": "tbl_name = CAST(tbl_name AS BLOB)",
    "bytes everywhere": "name = CAST(name AS BLOB), sql = CAST(sql AS BLOB),"
    " tbl_name = CAST(tbl_name AS BLOB), type = CAST(type AS BLOB)",
    "the end of a name": "name = name || char(0) || 'x'",
    "the end of a definition": "sql = sql || char(0) || 'x'",
    "a type in capitals": "type = upper(type)",
    "a comment": "sql = replace(sql, 'CREATE ', 'create/* VIRTUAL */--' || char(10))",
}


@pytest.mark.parametrize("name", ["orders", "by_v"])
@pytest.mark.parametrize("kind", ODD)
def test_an_odd_entry_of_the_schema_is_a_change_and_hides_no_row(
    tmp_path: Path, kind: str, name: str
) -> None:
    before = make(tmp_path / "before.db", f"{TABLE}; INSERT INTO orders VALUES ('a', 1)")
    odd = rewritten(before, f"{WRITE} {ODD[kind]} WHERE name = '{name}'")
    assert {path[0] for path in paths_of(before, odd)} == {"sqlite_schema"}
    added = odd.with_name("added.db")
    shutil.copy(odd, added)
    with closing(sqlite3.connect(added)) as connection:
        connection.execute("INSERT INTO orders VALUES ('b', 1)")
        connection.commit()
    assert paths_of(odd, added) == [("orders", "b")]


def paths_of(before: Path, after: Path) -> list[tuple]:
    return [change.path for change in diff_both_ways(before, after)]


def test_a_second_entry_of_one_name_is_seen_whatever_its_type(tmp_path: Path) -> None:
    before = make(tmp_path / "before.db", TABLE)
    double = (
        "INSERT INTO sqlite_master"
        " SELECT 'index', name, tbl_name, rootpage, NULL FROM sqlite_master WHERE name = 'by_v'"
    )
    assert paths_of(before, rewritten(before, double)) == [("sqlite_schema", ("index", "by_v"))]
    with pytest.raises(
        StateError, match=r"rewritten\.db: sqlite_schema lists 'by_v' more than once"
    ):
        snapshot_database(rewritten(before, double, double))


def test_a_virtual_table_is_never_asked_for_its_rows_however_it_is_written(tmp_path: Path) -> None:
    before = make(
        tmp_path / "before.db",
        "CREATE VIEW endless AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x FROM c)"
        " SELECT x AS rowid, x AS body FROM c;"
        "CREATE VIRTUAL TABLE notes USING fts5(body, content=endless, content_rowid=rowid)",
    )
    spaced = f"{WRITE} sql = replace(sql, 'CREATE ', 'CREATE /* TABLE */ ') WHERE name = 'notes'"
    assert paths_of(before, rewritten(before, spaced)) == [("sqlite_schema", "notes", "sql")]


def test_the_data_of_a_virtual_table_is_seen_in_its_shadow_tables(db: sqlite3.Connection) -> None:
    db.execute("CREATE VIRTUAL TABLE notes USING fts5(body)")
    before = snapshot_database(db)
    assert "notes" not in before
    db.execute("INSERT INTO notes VALUES ('hello')")
    added = state_diff(before, snapshot_database(db)).added
    assert {"id": 1, "c0": "hello"} in added.values()


VALUES = [
    None,
    0,
    1,
    2**63 - 1,
    -(2**63),
    1.0,
    -0.0,
    0.1,
    float("inf"),
    "",
    "1",
    "a\0b",
    "Bob",
    "bob",
    "é€😀",
    b"",
    b"1",
    b"Bob",
]


def test_every_value_comes_back_with_its_type(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    db.executemany("INSERT INTO t VALUES (?, ?)", enumerate(VALUES))
    found = [row["x"] for row in snapshot_database(db)["t"].values()]
    assert list(map(repr, found)) == list(map(repr, VALUES))


def test_text_that_is_not_utf8_is_kept(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)")
    db.execute("INSERT INTO t VALUES (1, CAST(x'61ff' AS TEXT)), (2, CAST(x'61fe' AS TEXT))")
    state = snapshot_database(db)["t"]
    assert [row["x"] for row in state.values()] == ["a\udcff", "a\udcfe"]


def test_rows_stand_in_the_order_of_their_table(db: sqlite3.Connection) -> None:
    db.executescript("""
        CREATE TABLE t (k PRIMARY KEY, g AS (hex(zeroblob(5000))) STORED);
        INSERT INTO t VALUES ('b'), ('a');
    """)
    assert list(snapshot_database(db)["t"]) == ["b", "a"]  # not that of the key's index


def test_odd_names_are_only_names(db: sqlite3.Connection) -> None:
    db.executescript("""
        CREATE TABLE "a""b; DROP" ("x""y" PRIMARY KEY, "select", "a [date]", "'", "é", " ");
        INSERT INTO "a""b; DROP" VALUES (1, 2, 3, 4, 5, 6);
        CREATE TABLE "order" ("rowid", "_rowid_", "oid");
        INSERT INTO "order" VALUES (1, 1, 1), (1, 1, 1);
    """)
    state = snapshot_database(db)
    row = {'x"y': 1, "select": 2, "a [date]": 3, "'": 4, "é": 5, " ": 6}
    assert state['a"b; DROP'] == {1: row}
    assert len(state["order"]) == 2


# --- a connection -------------------------------------------------------------------------


def test_uncommitted_rows_count_and_the_transaction_stays_open(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", "CREATE TABLE t (x PRIMARY KEY)")
    with closing(sqlite3.connect(path)) as own, closing(sqlite3.connect(path)) as other:
        own.execute("INSERT INTO t VALUES (1)")
        assert list(snapshot_database(own)["t"]) == [1]
        assert own.in_transaction
        assert list(snapshot_database(other)["t"]) == []
        assert list(snapshot_database(path)["t"]) == []
        own.rollback()
        assert list(snapshot_database(own)["t"]) == []
        other.execute("INSERT INTO t VALUES (2)")
        other.commit()
        assert list(snapshot_database(own)["t"]) == [2]
        assert not own.in_transaction


def test_how_a_connection_is_set_up_neither_matters_nor_changes() -> None:
    sqlite3.register_converter("doubled", lambda stored: 2 * float(stored))
    flags = sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES
    with closing(sqlite3.connect(":memory:", detect_types=flags)) as db:
        db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, x doubled, "y [doubled]")')
        db.execute("INSERT INTO t VALUES (1, 2, '3')")
        db.execute("CREATE TABLE log (x)")
        db.execute("INSERT INTO log VALUES ('a')")
        plain = snapshot_database(db)
        assert plain["t"] == {1: {"id": 1, "x": 2, "y [doubled]": "3"}}
        db.row_factory = sqlite3.Row
        db.text_factory = bytes
        assert snapshot_database(db) == plain
        assert (db.row_factory, db.text_factory) == (sqlite3.Row, bytes)
        assert next(iter(db.execute("SELECT x FROM t")))["x"] == 4


def test_a_cursor_that_is_being_read_goes_on(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE t (x)")
    db.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(5)])
    db.commit()
    cursor = db.execute("SELECT x FROM t")
    assert next(cursor) == (0,)
    snapshot_database(db)
    assert cursor.fetchall() == [(1,), (2,), (3,), (4,)]


def test_temporary_and_attached_tables_are_left_out(db: sqlite3.Connection) -> None:
    db.executescript("""
        ATTACH ':memory:' AS side; CREATE TABLE side.s (x);
        CREATE TABLE t (x PRIMARY KEY); INSERT INTO t VALUES (1);
        CREATE TEMP TABLE t (x); INSERT INTO temp.t VALUES (2), (3);
    """)
    state = snapshot_database(db)
    assert set(state) == {"sqlite_schema", "t"}
    assert list(state["t"]) == [1]


def test_a_collation_that_only_the_connection_knows_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as db:
        db.create_collation("backwards", lambda a, b: (a < b) - (a > b))
        db.executescript("""
            CREATE TABLE t (k TEXT COLLATE backwards PRIMARY KEY);
            CREATE TABLE u (k TEXT COLLATE backwards); CREATE INDEX by_k ON u (k);
            INSERT INTO t VALUES ('a'), ('b'); INSERT INTO u VALUES ('a');
        """)
        assert set(snapshot_database(db)["t"]) == {"a", "b"}
    after = shutil.copy(path, tmp_path / "b.db")
    assert diff_both_ways(path, after, inside=False) == []


# --- files that are in use ----------------------------------------------------------------


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_snapshot_is_one_moment_while_others_write(tmp_path: Path, mode: str) -> None:
    path = make(
        tmp_path / "bank.db",
        f"PRAGMA journal_mode = {mode}; CREATE TABLE a (id INTEGER PRIMARY KEY, money);"
        "CREATE TABLE b (id INTEGER PRIMARY KEY, money);"
        "INSERT INTO a VALUES (1, 1000); INSERT INTO b VALUES (1, 0);",
    )
    stop = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(path, timeout=30)) as db:
            while not stop.wait(0.01):  # without a pause it would starve every reader
                db.execute("UPDATE a SET money = money - 1")
                db.execute("UPDATE b SET money = money + 1")
                db.commit()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        moments: set[int] = set()
        while len(moments) < 20 and writer.is_alive():
            state = snapshot_database(path)
            assert state["a"][1]["money"] + state["b"][1]["money"] == 1000
            moments.add(state["b"][1]["money"])
    finally:
        stop.set()
        writer.join()
    assert len(moments) == 20


def test_rows_that_are_only_in_the_wal_file_are_read(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", "PRAGMA journal_mode = wal; CREATE TABLE t (x PRIMARY KEY)")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO t VALUES (1)")
        writer.commit()
        writer.execute("INSERT INTO t VALUES (2)")
        assert list(snapshot_database(path)["t"]) == [1]
        assert writer.in_transaction
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for file in (path, Path(f"{path}-wal")):
            shutil.copy(file, crashed)
    before = listing(crashed)
    assert list(snapshot_database(crashed / "a.db")["t"]) == [1]
    assert listing(crashed).items() >= before.items()  # the WAL is left for others to find


@pytest.mark.parametrize("mode", ["wal", "delete", "truncate"])
def test_reading_leaves_no_trace(tmp_path: Path, mode: str) -> None:
    path = make(tmp_path / "a.db", f"PRAGMA journal_mode = {mode}; CREATE TABLE t (x)")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    before, touched = listing(tmp_path), path.stat().st_mtime_ns
    snapshot_database(path)
    database_diff(path, path)
    snapshot_database(link)
    assert listing(tmp_path) == before
    assert path.stat().st_mtime_ns == touched


def test_reading_leaves_this_process_its_locks(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", "CREATE TABLE t (x)")
    lock = f"import sqlite3; sqlite3.connect({str(path)!r}, timeout=0).execute('BEGIN IMMEDIATE')"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        snapshot_database(path)
        outcome = subprocess.run([sys.executable, "-c", lock], capture_output=True, check=False)
    assert b"database is locked" in outcome.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX file system")
@pytest.mark.parametrize("name", ["a?mode=memory.db", "a#b.db", "a%20b.db", "é b.db", "a'b.db"])
def test_a_path_is_only_a_path(tmp_path: Path, name: str) -> None:
    script = "CREATE TABLE t (x PRIMARY KEY); INSERT INTO t VALUES (1)"
    plain = make(tmp_path / "plain.db", script)
    path = shutil.copy(plain, tmp_path / name)
    before = set(listing(tmp_path))
    assert list(snapshot_database(path)["t"]) == [1]
    assert list(snapshot_database(str(path))["t"]) == [1]
    assert not database_diff(plain, path)
    assert set(listing(tmp_path)) == before


def test_a_link_to_a_wal_database_finds_its_wal(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", "PRAGMA journal_mode = wal; CREATE TABLE t (x PRIMARY KEY)")
    (tmp_path / "link.db").symlink_to(path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO t VALUES (1)")
        writer.commit()
        assert list(snapshot_database(tmp_path / "link.db")["t"]) == [1]


# --- bad input ----------------------------------------------------------------------------


def corrupt(path: Path) -> None:
    make(path, "CREATE TABLE t (x)", ("INSERT INTO t VALUES (?)", ("y" * 50_000,)))
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def cut_short(path: Path) -> None:
    make(path, "CREATE TABLE t (x)", ("INSERT INTO t VALUES (?)", ("y" * 50_000,)))
    path.write_bytes(path.read_bytes()[:-20_000])


BROKEN = {
    "missing": lambda path: None,
    "zero-byte": lambda path: path.write_bytes(b""),
    "encrypted": lambda path: path.write_bytes(bytes(range(256)) * 32),
    "corrupt": corrupt,
    "cut short": cut_short,
    "a directory": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_database_is_one_error_that_names_it(tmp_path: Path, kind: str) -> None:
    good = make(tmp_path / "good.db", "CREATE TABLE t (x)")
    path = tmp_path / "store.db"
    BROKEN[kind](path)
    listed = sorted(file.name for file in tmp_path.iterdir())
    for read in (
        lambda: snapshot_database(path),
        lambda: database_diff(path, good),
        lambda: database_diff(good, path),
    ):
        with pytest.raises(StateError) as caught:
            read()
        assert str(caught.value).startswith(f"{path}: ")
    assert sorted(file.name for file in tmp_path.iterdir()) == listed


def test_a_locked_database_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dbfiles, "BUSY_SECONDS", 0.01)
    path = make(tmp_path / "a.db", "CREATE TABLE t (x)")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StateError, match=r"a\.db: .*locked"):
            snapshot_database(path)


def test_a_writer_that_died_half_way_is_never_half_a_state(tmp_path: Path) -> None:
    path = make(
        tmp_path / "a.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, x);",
        ("INSERT INTO t VALUES (1, ?)", ("x" * 100_000,)),
    )
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA cache_size = 1")  # dirty pages reach the file before the commit
        writer.execute("UPDATE t SET x = ?", ["y" * 100_000])
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for file in (path, Path(f"{path}-journal")):
            shutil.copy(file, crashed)
    with pytest.raises(StateError, match=r"a\.db: "):
        snapshot_database(crashed / "a.db")


def test_a_closed_connection_is_an_error() -> None:
    db = sqlite3.connect(":memory:")
    db.close()
    with pytest.raises(StateError, match="the given connection"):
        snapshot_database(db)


LONG = {
    "defaults of text": f"x, y DEFAULT '{'y' * 900_000}'",
    "defaults of bytes": f"x, y DEFAULT x'{'00' * 400_000}'",
    "columns": "x, " + ", ".join(f"c{i}" for i in range(1500)),
}


@pytest.mark.parametrize("kind", LONG)
def test_what_is_next_to_nothing_in_the_file_is_not_loaded_when_it_is_much_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    rows = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5000)"
    before = make(tmp_path / "a.db", f"CREATE TABLE t (x); INSERT INTO t {rows} SELECT x FROM c")
    wide = f"CREATE TABLE t ({LONG[kind]})".replace("'", "''")
    after = rewritten(before, f"{WRITE} sql = '{wide}' WHERE name = 't'")
    monkeypatch.setattr(databases, "MEMORY_BYTES", 2**28)
    assert len(snapshot_database(before)["t"]) == 5000
    for read in (lambda: snapshot_database(after), lambda: database_diff(before, after)):
        with pytest.raises(StateError, match=r"n\.db: its tables would take more than 268435456"):
            read()


# --- two files ----------------------------------------------------------------------------


def diff_both_ways(before: Path, after: Path, *, inside: bool | None = True) -> list[Any]:
    """The changes, which the snapshots must say too; found inside SQLite, if so expected.

    None expects neither: where it depends on the release of SQLite what it holds for damage.
    """
    loaded = state_diff(snapshot_database(before), snapshot_database(after))
    with patch.object(databases, "snapshot_database", wraps=snapshot_database) as load:
        found = database_diff(before, after)
    assert sorted(map(repr, found)) == sorted(map(repr, loaded))
    assert inside is None or load.called is not inside
    return list(found)


CHANGES = {
    "a value": ("k PRIMARY KEY, x)", [(1, 1)], [(1, 2)], 1),
    "a type": ("k PRIMARY KEY, x)", [(1, 1)], [(1, 1.0)], 1),
    "a sign": ("k PRIMARY KEY, x)", [(1, 0.0)], [(1, -0.0)], 1),
    "a sign in a blob": ("k PRIMARY KEY, x BLOB)", [(1, 0.0)], [(1, -0.0)], 1),
    "a sign in any": ("k INT PRIMARY KEY, x ANY) STRICT", [(1, 0.0)], [(1, -0.0)], 1),
    "null": ("k PRIMARY KEY, x)", [(1, None)], [(1, "")], 1),
    "a blob": ("k PRIMARY KEY, x)", [(1, "a")], [(1, b"a")], 1),
    "the end of text": ("k PRIMARY KEY, x)", [(1, "a")], [(1, "a\0b")], 1),
    "case": ("k PRIMARY KEY, x TEXT COLLATE NOCASE)", [(1, "Bob")], [(1, "bob")], 1),
    "blanks": ("k PRIMARY KEY, x TEXT COLLATE RTRIM)", [(1, "Bob")], [(1, "Bob ")], 1),
    "case in a key": ("k TEXT COLLATE NOCASE PRIMARY KEY, x)", [("Bob", 1)], [("bob", 1)], 2),
    "a type in a key": ("k PRIMARY KEY, x)", [(1, 1)], [(1.0, 1)], 2),
    "a sign in a key": ("k PRIMARY KEY, x)", [(0.0, 1)], [(-0.0, 1)], 2),
    "a blob in a key": ("k PRIMARY KEY, x)", [("a", 1)], [(b"a", 1)], 2),
    "half a key": ("k, x, PRIMARY KEY (x, k))", [(1, 1), (1, 2)], [(1, 1), (2, 2)], 2),
    "no rowid": ("k, x, PRIMARY KEY (k, x)) WITHOUT ROWID", [(1, 1)], [(1, 1.0)], 2),
    "null in a key": ("k PRIMARY KEY, x)", [(None, 1)] * 2, [(None, 1)] * 3, 1),
    "one copy less": ("k, x)", [(1, 1)] * 3, [(1, 1)] * 2, 1),
    "one copy more": ("k, x)", [(1, 1), (2, 2)], [(2, 2), (1, 1), (1, 1)], 1),
    "a copy's type": ("k, x)", [(1, 1)] * 3, [(1, 1), (1, 1.0), (1, 1)], 2),
    "only the order": ("k, x)", [(1, 1), (2, 2)], [(2, 2), (1, 1)], 0),
    "nothing": ("k PRIMARY KEY, x)", [(1, None), (2, "a")], [(2, "a"), (1, None)], 0),
    "no free rowid": ("rowid, oid, _rowid_ DEFAULT 1)", [(1, 1)] * 2, [(1, 1)], 1),
    "text that is a number": ("k PRIMARY KEY, x TEXT)", [(1, "1")], [(1, "1.0")], 1),
    "a rowid that follows": ("k, x, rowid AS (1))", [(1, 1)] * 2, [(1, 1)], 1),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_two_files_differ_by(tmp_path: Path, kind: str) -> None:
    columns, *sides, expected = CHANGES[kind]
    paths = []
    for name, rows in zip(("before.db", "after.db"), sides, strict=True):
        first_two = "(rowid, oid)" if columns.startswith("rowid") else "(k, x)"
        inserts = [(f"INSERT INTO t {first_two} VALUES (?, ?)", row) for row in rows]
        paths.append(make(tmp_path / name, f"CREATE TABLE t ({columns}", *inserts))
    assert len(diff_both_ways(*paths)) == expected


def test_text_that_a_column_of_numbers_came_to_hold_is_not_compared_as_a_number(
    tmp_path: Path,
) -> None:
    script = "CREATE TABLE t (k INTEGER PRIMARY KEY, x TEXT); INSERT INTO t VALUES (1, '1')"
    sides = []
    for name, update in (("before.db", "SELECT 1"), ("after.db", "UPDATE t SET x = '1.0'")):
        path = make(tmp_path / f"made_{name}", f"{script}; {update}")
        numeric = f"{WRITE} sql = replace(sql, 'TEXT', 'INTEGER')"
        sides.append(rewritten(path, numeric).rename(tmp_path / name))
    # Newer releases of SQLite say that such text is damage.
    [change] = diff_both_ways(*sides, inside=None)
    assert (change.before, change.after) == ("1", "1.0")


def test_two_files_with_other_tables_and_columns_differ_as_their_snapshots(tmp_path: Path) -> None:
    before = make(
        tmp_path / "before.db",
        "CREATE TABLE gone (x); CREATE TABLE t (k PRIMARY KEY, x); CREATE TABLE Case_ (x);"
        "INSERT INTO t VALUES (1, 1), (2, 2); CREATE VIEW v AS SELECT 1",
    )
    after = make(
        tmp_path / "after.db",
        "CREATE TABLE new (x); CREATE TABLE t (k PRIMARY KEY, x, y); CREATE TABLE case_ (x);"
        "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2); CREATE TABLE v (x)",
    )
    paths = {change.path for change in diff_both_ways(before, after)}
    assert {("gone",), ("new",), ("v",), ("Case_",), ("case_",), ("t", 1, "y")} <= paths


def test_two_files_in_two_encodings_are_loaded(tmp_path: Path) -> None:
    rows = ("INSERT INTO t VALUES (1, ?)", ("é",))
    script = "CREATE TABLE t (k PRIMARY KEY, x)"
    before = make(tmp_path / "before.db", script, rows)
    after = make(tmp_path / "after.db", f"PRAGMA encoding = 'UTF-16'; {script}", rows)
    assert diff_both_ways(before, after, inside=False) == []


def test_a_table_of_very_many_columns_is_loaded(tmp_path: Path) -> None:
    columns = ", ".join(f"c{i}" for i in range(1500))
    script = f"CREATE TABLE t ({columns}); INSERT INTO t (c7) VALUES (1)"
    before = make(tmp_path / "before.db", script)
    after = make(tmp_path / "after.db", script + "; UPDATE t SET c7 = 2")
    assert len(diff_both_ways(before, after, inside=False)) == 2


def test_a_file_that_is_being_written_is_diffed_as_committed(tmp_path: Path) -> None:
    script = "PRAGMA journal_mode = wal; CREATE TABLE t (k PRIMARY KEY, x)"
    before, after = (make(tmp_path / name, script) for name in ("before.db", "after.db"))
    with closing(sqlite3.connect(after)) as writer:
        writer.execute("INSERT INTO t VALUES (1, 1)")
        writer.commit()
        writer.execute("INSERT INTO t VALUES (2, 2)")
        assert [change.path for change in diff_both_ways(before, after)] == [("t", 1)]
