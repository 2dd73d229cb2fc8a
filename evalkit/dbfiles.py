"""Opening SQLite databases that an agent may have written: as of one moment, and checked first.

Reading leaves no trace, and nothing that a file can hold keeps it busy for ever.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from evalkit.values import StateError

T = TypeVar("T")

#: How long a database that another connection has locked is waited for.
BUSY_SECONDS = 5.0
#: How long the check of a file may take; one that is made for it never ends.
CHECK_SECONDS = 60.0


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Whatever there is to complain of, as a StateError that names the database."""
    try:
        yield
    except StateError as error:
        raise StateError(f"{name}: {error}") from error
    except (sqlite3.Error, OSError, ValueError, MemoryError) as error:
        late = f", after {CHECK_SECONDS:g} s" if str(error) == "interrupted" else ""
        raise StateError(f"{name}: cannot be read as a SQLite database: {error}{late}") from error


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[sqlite3.Cursor]:
    """A cursor inside one read transaction, deaf to how the connection is set up."""
    text_factory = connection.text_factory
    cursor = sqlite3.Cursor(connection)  # connection.cursor() would bring its row factory
    begun = not connection.in_transaction
    if begun:
        cursor.execute("BEGIN")
    connection.text_factory = plain_text
    try:
        yield cursor
    finally:
        connection.text_factory = text_factory
        if begun and connection.in_transaction:
            cursor.execute("COMMIT")


def plain_text(stored: bytes) -> str:
    """Stored text, also where it is not valid UTF-8."""
    return stored.decode("utf-8", "surrogateescape")


def read_files(paths: Sequence[str | os.PathLike[str]], reader: Callable[..., T]) -> T:
    """What ``reader`` returns on the first file as schema main and the second as other.

    It is given a cursor and the `damage` of each. The files are never opened but by SQLite: on
    Unix, closing a file gives up the locks that this process's own connections hold on it.
    """
    with naming(" and ".join(map(str, paths))):
        files = [Path(os.path.realpath(path)) for path in paths]
        for file in files:
            _check_regular(file)
        resting = [file for file in files if not _beside(file, "-wal").exists()]
        try:
            with closing(
                sqlite3.connect(_uri(files[0], "ro"), uri=True, timeout=BUSY_SECONDS)
            ) as db:
                end = monotonic() + CHECK_SECONDS
                db.set_progress_handler(lambda: monotonic() > end, 100_000)
                for file in files[1:]:
                    db.execute("ATTACH ? AS other", [_uri(file, "ro")])
                with reading(db) as cursor:
                    schemas = ("main", "other")[: len(files)]
                    damaged = [_file_damage(db, cursor, schema) for schema in schemas]
                    db.set_progress_handler(None, 0)
                    return reader(cursor, *damaged)
        finally:
            for file in resting:
                _tidy(file)


def _check_regular(file: Path) -> None:
    """Refuse a fifo in the place of a file, where SQLite would wait for ever, and an empty file."""
    for name in (file, *(_beside(file, end) for end in ("-journal", "-wal", "-shm"))):
        if os.path.lexists(name) and not stat.S_ISREG(name.lstat().st_mode):
            raise StateError(f"{name.name} is not a regular file")
    if not file.stat().st_size:
        raise StateError("is empty, not even a database without tables")


def _uri(file: Path, mode: str) -> str:
    return f"{file.as_uri()}?mode={mode}"


def _beside(file: Path, end: str) -> Path:
    return Path(f"{file}{end}")


def _tidy(file: Path) -> None:
    """Have SQLite remove the empty -wal and -shm files that reading a WAL database leaves.

    The last connection to close removes them, if it may write; any other leaves them alone.
    """
    if _beside(file, "-wal").exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(_uri(file, "rw"), uri=True)) as db:
            db.execute("PRAGMA schema_version")


# --- checking -----------------------------------------------------------------------------


def damage(cursor: sqlite3.Cursor, schema: str, check: str = "integrity_check") -> dict[Any, Any]:
    """What SQLite finds wrong in a database, as one entry of its schema; empty if all is well.

    Raises
    ------
    StateError
        If pages are linked wrongly: that is no state, and reading it might never end.
    """
    pragma = f"PRAGMA {schema}.{check}"
    [first] = cursor.execute(f"{pragma}(1)").fetchone()
    if first == "ok":
        return {}
    if first.startswith("***"):
        raise StateError(f"is corrupt, which VACUUM may mend: {first.splitlines()[-1]}")
    found = [message for (message,) in cursor.execute(f"{pragma}({2**31 - 1})")]
    digest = sha256("\n".join(found).encode("utf-8", "surrogateescape")).hexdigest()
    entry = {"type": "damage", "messages": found[:10], "count": len(found), "sha256": digest}
    return {("damage",): entry}


def _file_damage(db: sqlite3.Connection, cursor: sqlite3.Cursor, schema: str) -> dict[Any, Any]:
    """The same for a file, which may need what only the application's connections have.

    Where a collation or a function is missing, indices cannot be checked, and that is the entry.
    One that says nothing is put in its place for `quick_check`, which has no use for it.
    """
    cursor.execute(f"PRAGMA {schema}.cache_size = -65536")  # in KiB; indices are read at random
    missing: list[str] = []
    while True:
        try:
            found = damage(cursor, schema, "quick_check" if missing else "integrity_check")
            break
        except sqlite3.OperationalError as error:
            what, _, name = str(error).partition(": ")
            if what not in _MISSING or str(error) in missing:
                raise
            missing.append(str(error))
            if what == _MISSING[0]:
                db.create_collation(name, lambda a, b: 0)
            else:
                db.create_function(name.removesuffix("()"), -1, lambda *_: 0, deterministic=True)
    unchecked = {("damage",): {"type": "unchecked", "messages": missing}} if missing else {}
    return unchecked | found


_MISSING = ("no such collation sequence", "no such function", "unknown function")
