"""Database files that an agent may have written: damaged, endless, or no files at all."""

import os
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evalkit import dbfiles
from evalkit.databases import database_diff, snapshot_database
from evalkit.statediff import state_diff
from evalkit.values import StateError
from tests.test_databases import WRITE, diff_both_ways, make, rewritten

posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX file system")
DAMAGE = ("sqlite_schema", ("damage",))
TABLE = "CREATE TABLE t (k TEXT PRIMARY KEY, v, w NOT NULL); CREATE INDEX by_v ON t (v)"
ROWS = "INSERT INTO t VALUES ('a', 1, 2), ('b', 2, 3), (NULL, 3, 4)"


# --- damage -------------------------------------------------------------------------------


def rebuilt_as(definition: str) -> list[str]:
    """Statements that fill the index by another definition, and then restore its own."""
    own = "CREATE INDEX by_v ON t (v)"
    return [
        f"{WRITE} sql = '{definition}' WHERE name = 'by_v'",
        "REINDEX",
        f"{WRITE} sql = '{own}' WHERE name = 'by_v'",
    ]


DAMAGED = {
    "an index without entries": rebuilt_as("CREATE INDEX by_v ON t (v) WHERE 0"),
    "an index of another column": rebuilt_as("CREATE INDEX by_v ON t (w)"),
    "a NULL where none may be": [
        f"{WRITE} sql = replace(sql, 'w NOT NULL', 'w') WHERE name = 't'",
        "UPDATE t SET w = NULL WHERE v = 2",
        f"{WRITE} sql = replace(sql, 'w)', 'w NOT NULL)') WHERE name = 't'",
    ],
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damage_is_a_change_and_hides_no_other(tmp_path: Path, kind: str) -> None:
    before = make(tmp_path / "before.db", f"{TABLE}; {ROWS}")
    after = rewritten(before, *DAMAGED[kind])
    changes = {change.path: change for change in diff_both_ways(before, after, inside=False)}
    assert set(changes) - {("t", "b", "w")} == {DAMAGE}
    assert changes[DAMAGE].after["messages"]
    assert not diff_both_ways(after, after, inside=False)
    more = tmp_path / "more.db"
    shutil.copy(after, more)
    with closing(sqlite3.connect(more)) as db:
        db.execute("UPDATE t SET w = 5 WHERE +k = 'a'")
        db.commit()
    assert ("t", "a", "w") in {c.path for c in diff_both_ways(after, more, inside=False)}


def test_a_connection_tells_of_damage_as_its_file_does(tmp_path: Path) -> None:
    path = rewritten(
        make(tmp_path / "a.db", f"{TABLE}; {ROWS}"), *DAMAGED["an index without entries"]
    )
    with closing(sqlite3.connect(path)) as db:
        assert snapshot_database(db) == snapshot_database(path)


def test_damage_beyond_the_messages_that_are_shown_is_seen(tmp_path: Path) -> None:
    rows = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 500)"
    script = f"{TABLE}; INSERT INTO t {rows} SELECT x, x, x FROM c"
    before = make(tmp_path / "before.db", script)
    states = []
    for condition in ("v = 498", "v = 499"):
        path = rewritten(before, *rebuilt_as(f"CREATE INDEX by_v ON t (v) WHERE {condition}"))
        states.append(snapshot_database(path))
    entries = [state["sqlite_schema"]["damage",] for state in states]
    assert entries[0]["messages"] == entries[1]["messages"]
    assert [change.path for change in state_diff(*states)] == [(*DAMAGE, "sha256")]


def test_rows_that_a_damaged_index_let_share_a_key_are_all_there(tmp_path: Path) -> None:
    before = make(tmp_path / "before.db", "CREATE TABLE t (k PRIMARY KEY, v)")
    after = rewritten(
        before,
        f"{WRITE} sql = 'CREATE TABLE t (k, v)' WHERE name = 't'",
        "DELETE FROM sqlite_master WHERE type = 'index'",
        "INSERT INTO t VALUES (1, 1), (1.0, 2), (1, 3)",
        f"{WRITE} sql = 'CREATE TABLE t (k PRIMARY KEY, v)' WHERE name = 't'",
        "INSERT INTO sqlite_master VALUES ('index', 'sqlite_autoindex_t_1', 't', 3, NULL)",
    )
    changes = diff_both_ways(before, after, inside=False)
    rows = [change.after for change in changes if change.path[0] == "t"]
    assert sorted(row["v"] for row in rows) == [1, 2, 3]


def wrong_page(path: Path, number: int) -> None:
    """Overwrite a page, counted from 1."""
    data = bytearray(path.read_bytes())
    size = struct.unpack(">H", data[16:18])[0]
    data[(number - 1) * size : number * size] = b"\xff" * size
    path.write_bytes(data)


@pytest.mark.parametrize("page", [2, 3, 4])  # the table, and its two indices
def test_a_page_that_is_no_page_is_an_error_that_names_the_file(tmp_path: Path, page: int) -> None:
    before = make(tmp_path / "before.db", f"{TABLE}; {ROWS}")
    after = tmp_path / "after.db"
    shutil.copy(before, after)
    wrong_page(after, page)
    for read in (lambda: snapshot_database(after), lambda: database_diff(before, after)):
        with pytest.raises(StateError, match=r"^\S*after\.db: is corrupt"):
            read()


# --- what only the application's connections know -------------------------------------------


def application(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    db.create_function("shout", 1, lambda text: f"{text}!", deterministic=True)
    db.create_collation("backwards", lambda a, b: (a < b) - (a > b))
    return db


UNKNOWN = {
    "a collation": ("CREATE INDEX i ON t (k COLLATE backwards)", "no such collation sequence"),
    "a function": ("CREATE INDEX i ON t (shout(k))", "shout"),
    "a function of a column": ("CREATE TABLE u (k, g AS (shout(k)) NOT NULL)", "shout"),
    "two": ("CREATE INDEX i ON t (shout(k)); CREATE INDEX j ON t (k COLLATE backwards)", "no"),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_an_index_that_cannot_be_checked_is_said_and_hides_nothing(
    tmp_path: Path, kind: str
) -> None:
    before, after = (tmp_path / name for name in ("before.db", "after.db"))
    definition, reason = UNKNOWN[kind]
    with closing(application(before)) as db:
        db.executescript(
            f"CREATE TABLE t (k PRIMARY KEY, v); {definition};"
            "INSERT INTO t VALUES ('a', 1), ('b', 1)"
        )
        assert ("damage",) not in snapshot_database(db)["sqlite_schema"]
    shutil.copy(before, after)
    with closing(application(after)) as db:
        db.execute("INSERT INTO t VALUES ('c', 1)")
        db.commit()
    entry = snapshot_database(before)["sqlite_schema"]["damage",]
    assert entry["type"] == "unchecked"
    assert reason in entry["messages"][0]
    assert [change.path for change in diff_both_ways(before, after, inside=False)] == [("t", "c")]


def test_a_function_of_the_application_in_a_check_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(application(path)) as db:
        db.executescript(
            "CREATE TABLE t (k PRIMARY KEY CHECK (shout(k) <> '!'));INSERT INTO t VALUES ('a')"
        )
    assert list(snapshot_database(path)["t"]) == ["a"]
    assert diff_both_ways(path, path) == []


# --- what would never end -------------------------------------------------------------------


@posix
@pytest.mark.parametrize("end", ["", "-journal", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["fifo", "link to a fifo", "dangling link", "directory"])
def test_what_is_no_file_beside_a_database_is_refused(tmp_path: Path, end: str, kind: str) -> None:
    path = make(tmp_path / "a.db", "PRAGMA journal_mode = wal; CREATE TABLE t (x)")
    place = Path(f"{path}{end}")
    place.unlink(missing_ok=True)
    os.mkfifo(tmp_path / "fifo")
    put: dict[str, Any] = {
        "fifo": lambda: os.mkfifo(place),
        "link to a fifo": lambda: place.symlink_to("fifo"),
        "dangling link": lambda: place.symlink_to("nowhere"),
        "directory": place.mkdir,
    }
    put[kind]()
    for read in (lambda: snapshot_database(path), lambda: database_diff(path, path)):
        with pytest.raises(StateError, match=r"a\.db: .*(is not a regular file|No such file)"):
            read()


def interior(size: int, skip: int, child: int) -> bytes:
    """A page of a table's tree, all of whose entries lead to one child."""
    count = (size - skip - 12) // 7  # five bytes an entry, and two that point to it
    starts = [size - 5 * i for i in range(1, count + 1)]
    header = struct.pack(">BHHHBI", 5, 0, count, starts[-1], 0, child)
    pointers = struct.pack(f">{count}H", *starts)
    entries = struct.pack(">IB", child, 1) * count
    return (bytes(skip) + header + pointers).ljust(starts[-1], b"\0") + entries


def tower(path: Path, root: int, leaf: int) -> None:
    """Have ten storeys of such pages, which together hold more rows than can ever be read."""
    data = bytearray(path.read_bytes())
    size = struct.unpack(">H", data[16:18])[0]
    new = range(len(data) // size + 1, len(data) // size + 11)
    data += bytes(size * len(new))
    for page, child in zip([root, *new], [*new, leaf], strict=True):
        skip = 100 if page == 1 else 0  # the header of the file
        start = (page - 1) * size
        data[start + skip : start + size] = interior(size, skip, child)[skip:]
    data[28:32] = struct.pack(">I", len(data) // size)
    path.write_bytes(data)


@pytest.mark.parametrize(("root", "reason"), [(2, "2nd reference to page"), (1, "")])
def test_pages_that_lead_to_one_child_are_never_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: int, reason: str
) -> None:
    monkeypatch.setattr(dbfiles, "CHECK_SECONDS", 0.2)
    script = "PRAGMA page_size = 512; CREATE TABLE t (x); CREATE TABLE u (x);"
    good = make(tmp_path / "good.db", f"{script} INSERT INTO u VALUES (1)")
    path = tmp_path / "a.db"
    shutil.copy(good, path)
    tower(path, root, leaf=3)
    for read in (lambda: snapshot_database(path), lambda: database_diff(good, path)):
        with pytest.raises(StateError, match=rf"a\.db: .*{reason}"):
            read()


def test_a_check_that_takes_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dbfiles, "CHECK_SECONDS", 0.0)
    rows = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50000)"
    path = make(
        tmp_path / "a.db", f"CREATE TABLE t (x PRIMARY KEY); INSERT INTO t {rows} SELECT x FROM c"
    )
    with pytest.raises(StateError, match=r"a\.db: .*interrupted, after 0 s"):
        snapshot_database(path)


@posix
@pytest.mark.parametrize("counted", [True, False])
def test_a_database_that_says_it_is_a_terabyte_is_read_or_refused_at_once(
    tmp_path: Path, counted: bool
) -> None:
    path = make(tmp_path / "a.db", f"{TABLE}; {ROWS}")
    state = snapshot_database(path)
    if not counted:  # the header's own count of pages
        data = path.read_bytes()
        path.write_bytes(data[:28] + bytes(4) + data[32:])
    os.truncate(path, 2**40)
    if counted:
        assert snapshot_database(path) == state
    else:
        with pytest.raises(StateError, match=r"a\.db: is corrupt"):
            snapshot_database(path)


def test_how_a_file_is_checked_leaves_no_trace(tmp_path: Path) -> None:
    path = rewritten(
        make(tmp_path / "a.db", f"{TABLE}; {ROWS}"), *DAMAGED["an index without entries"]
    )
    content = path.read_bytes()
    snapshot_database(path)
    assert path.read_bytes() == content
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.db", "rewritten.db"]
