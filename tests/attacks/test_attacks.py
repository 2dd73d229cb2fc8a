"""No attack of the corpus passes; the honest episode does, so that none fails for nothing."""

import copy
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evalkit import Task, TaskError, dbfiles, grade, load_task, snapshot
from evalkit.databases import database_diff
from evalkit.taskfiles import save_task
from evalkit.values import StateError, same
from tests.attacks import databases, directories, states

posix = pytest.mark.skipif(os.name != "posix", reason="needs links and modes as POSIX has them")


def status(before: Any, take: Callable[[], Any], task: Task) -> str:
    """How the grader answers: a verdict, or that the after state can be no state."""
    try:
        return grade(before, take(), task).status
    except StateError:
        return "no state"


# --- states in memory -----------------------------------------------------------------------


def test_the_honest_state_passes() -> None:
    before = snapshot(copy.deepcopy(states.BEFORE))
    assert status(before, lambda: snapshot(states.honest()), states.TASK) == "pass"
    assert status(before, states.honest, states.TASK) == "pass"
    assert status(before, lambda: snapshot(copy.deepcopy(states.BEFORE)), states.TASK) == "fail"


@pytest.mark.parametrize("name", states.ATTACKS)
def test_no_state_passes(name: str) -> None:
    before = snapshot(copy.deepcopy(states.BEFORE))
    attack = states.ATTACKS[name]
    assert status(before, lambda: snapshot(attack(states.honest())), states.TASK) in (
        "fail",
        "no state",
    )


# `grade` takes states, and the bomb is only defused by the copy that a snapshot is.
RAW = [name for name in states.ATTACKS if "data frame" not in name and "a bomb" not in name]


@pytest.mark.parametrize("name", RAW)
def test_no_state_passes_without_a_snapshot_either(name: str) -> None:
    attack = states.ATTACKS[name]
    assert status(states.BEFORE, lambda: attack(states.honest()), states.TASK) in (
        "fail",
        "no state",
    )


# --- databases ------------------------------------------------------------------------------


@pytest.fixture
def before(tmp_path: Path) -> Path:
    path = tmp_path / "before.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(databases.SCHEMA)
    return path


def attacked(before: Path, script: str, mode: str = "delete") -> Path:
    """A copy of the file after the agent's statements, which its own connection ran."""
    after = before.with_name("after.db")
    after.write_bytes(before.read_bytes())
    with closing(sqlite3.connect(after)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.executescript(script)
    return after


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_the_honest_statements_pass(before: Path, mode: str) -> None:
    after = attacked(before, databases.HONEST, mode)
    assert status(snapshot(before), lambda: snapshot(after), databases.TASK) == "pass"


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("name", databases.ATTACKS)
def test_no_statements_pass(before: Path, name: str, mode: str) -> None:
    after = attacked(before, databases.ATTACKS[name], mode)
    start = snapshot(before)
    answer = status(start, lambda: snapshot(after), databases.TASK)
    assert answer in ("fail", "no state")
    if answer == "fail":  # the diff inside SQLite hides nothing either
        assert same(database_diff(before, after).apply(start), snapshot(after))


@pytest.mark.parametrize("name", [n for n in databases.ATTACKS if "never committed" not in n])
def test_the_agents_own_connection_tells_no_other_tale(before: Path, name: str) -> None:
    with closing(sqlite3.connect(before)) as db:
        start = snapshot(db)
        db.executescript(databases.ATTACKS[name])
        assert status(start, lambda: snapshot(db), databases.TASK) in ("fail", "no state")


@posix
def test_a_database_that_is_swapped_while_it_is_read_is_one_or_the_other(
    before: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = attacked(before, "UPDATE orders SET owner = 'eve'; INSERT INTO log VALUES ('eve');")
    swapped = before.with_name("read.db")
    swapped.write_bytes(before.read_bytes())
    sides = [snapshot(before), snapshot(evil)]
    check = dbfiles.damage

    def swap(*arguments: Any) -> Any:
        found = check(*arguments)
        if evil.exists():
            os.replace(evil, swapped)
        return found

    monkeypatch.setattr(dbfiles, "damage", swap)
    assert snapshot(swapped) in sides
    assert not evil.exists()
    assert snapshot(swapped) == sides[1]


# --- directories ----------------------------------------------------------------------------


def taken(folder: Path) -> Any:
    return snapshot(folder, cells=["*.csv", "*.json"])


@posix
def test_the_honest_directory_passes(tmp_path: Path) -> None:
    directories.make(folder := tmp_path / "work")
    start = taken(folder)
    assert status(start, lambda: taken(folder), directories.TASK) == "fail"
    directories.honest(folder)
    assert status(start, lambda: taken(folder), directories.TASK) == "pass"


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="needs a file system that keeps all names")
@pytest.mark.parametrize("name", directories.ATTACKS)
def test_no_directory_passes(tmp_path: Path, name: str) -> None:
    directories.make(folder := tmp_path / "work")
    start = taken(folder)
    directories.ATTACKS[name](folder)
    assert status(start, lambda: taken(folder), directories.TASK) == "fail"


# --- the task itself ------------------------------------------------------------------------


def test_a_task_that_was_loaded_before_does_not_follow_its_file(tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    save_task(databases.TASK, path)
    task = load_task(path)
    path.write_text('{"unchanged": false, "allowed": [{"path": "orders", "whole": true}]}')
    start = {"orders": {"W1": {"status": "new"}}, "refunds": {}, "log": {}}
    assert grade(start, start, task).status == "fail"
    # Loaded afterwards it states nothing, and what states nothing is never passed.
    assert grade(start, start, load_task(path)).status == "not evaluated"


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"required": {"orders/W9/x": 1}}', "\0"])
def test_a_task_file_that_the_agent_spoilt_gives_no_verdict(tmp_path: Path, text: str) -> None:
    path = tmp_path / "task.json"
    path.write_text(text)
    start = {"orders": {"W1": {"status": "new"}}}
    with pytest.raises(TaskError):
        grade(start, start, load_task(path))
