"""The diff of two databases against others': ``uv run --all-groups pytest -n0 -s tests/benchmarks``.

Memory is here the most that a process of its own held, over what it held before the diff, as much
of it is SQLite's own.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalkit.databases import database_diff

SIZES = [int(size) for size in os.environ.get("ROWS", "1000 10000 100000").split()]
CHANGED = 5
NOTE = (
    "Ours begins with PRAGMA integrity_check of both files, as a damaged index answers queries\n"
    "wrongly; the peers do not, so the second row gives the check to apsw too. apsw passes over\n"
    "tables without a primary key, and EXCEPT and the merge take 1 for 1.0."
)


def make(path: Path, rows: int, indices: bool) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, user TEXT, status TEXT, total REAL, items)"
        )
        made = ((i, f"user_{i % 999}", "pending", i + 0.5, f"{i} tea") for i in range(rows))
        db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", made)
        if indices:
            db.execute("CREATE INDEX of_user ON orders (user)")
            db.execute("CREATE INDEX of_status ON orders (status, total)")


def by_session(before: str, after: str) -> int:
    """apsw's Session.diff, the changes of which are counted."""
    import apsw

    db = apsw.Connection(after)
    db.execute("ATTACH ? AS other", [before])
    session = apsw.Session(db, "main")
    session.attach()
    session.diff("other", "orders")
    found = sum(1 for _ in apsw.Changeset.iter(session.changeset()))
    session.close()
    db.close()
    return found


def by_session_checked(before: str, after: str) -> int:
    """The same, and the check of both files that ours makes."""
    for path in (before, after):
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return by_session(before, after)


def by_except(before: str, after: str) -> int:
    """The rows of one and not of the other, by SQL; a changed row is there once in each."""
    with closing(sqlite3.connect(before)) as db:
        db.execute("ATTACH ? AS other", [after])
        rows = "SELECT * FROM main.orders EXCEPT SELECT * FROM other.orders"
        return len(db.execute(rows).fetchall())


def by_merge(before: str, after: str) -> int:
    """pandas: an outer merge on all columns."""
    frames = []
    for path in (before, after):
        with closing(sqlite3.connect(path)) as db:
            frames.append(pd.read_sql("SELECT * FROM orders", db))
    merged = frames[0].merge(frames[1], how="outer", indicator=True)
    return int((merged["_merge"] == "left_only").sum())


WORKS: dict[str, Callable[[str, str], Any]] = {
    "evalkit": lambda before, after: len(database_diff(before, after)),
    "apsw, with the check": by_session_checked,
    "apsw": by_session,
    "EXCEPT": by_except,
    "pandas merge": by_merge,
}


def megabytes(name: str, *paths: str) -> float:
    command = [sys.executable, "-m", "tests.benchmarks.test_databases", name, *paths]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(run.stdout)


@pytest.mark.parametrize("indices", [False, True], ids=["no index", "two indices"])
def test_the_diff_of_two_databases(tmp_path: Path, indices: bool) -> None:
    from tests.benchmarks.measure import measured, report

    table = []
    for size in SIZES:
        before, after = (str(tmp_path / f"{side}{size}.db") for side in ("before", "after"))
        make(Path(before), size, indices)
        make(Path(after), size, indices)
        with closing(sqlite3.connect(after)) as db, db:
            every = f"id % {size // CHANGED} = 1"
            db.execute(f"UPDATE orders SET status = 'cancelled' WHERE {every}")
        rows, results = measured(size, {n: partial(w, before, after) for n, w in WORKS.items()})
        assert set(results.values()) == {CHANGED}
        table += [row | {"MB": megabytes(row["work"], before, after)} for row in rows]
    name = "databases_with_two_indices" if indices else "databases_without_an_index"
    report(name, table, x="rows", note=NOTE)


def peak() -> float:
    """The most megabytes that this process held, on Linux; a parent's peak is not in it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return float(status.partition("VmHWM:")[2].split()[0]) / 2**10


if __name__ == "__main__":
    start = peak()
    WORKS[sys.argv[1]](*sys.argv[2:])
    print(peak() - start)
