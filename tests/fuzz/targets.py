"""What is fuzzed: for each thing that reads the outside, inputs and what it may raise."""

import csv
import importlib.util
import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
from hypothesis import strategies as st

from evalkit import (
    Allowed,
    Between,
    Created,
    Task,
    database_diff,
    dbfiles,
    grade,
    load_task,
    snapshot,
    state_diff,
    task_from_dict,
    task_to_dict,
)
from evalkit.entries import TaskError
from evalkit.logs import LogError
from evalkit.logs.formats import format_of, read_trials
from evalkit.logs.streams import log_frames, streamed_counts
from evalkit.paths import PathError
from evalkit.taskfiles import save_task
from evalkit.trials import counts, trials_table
from evalkit.values import StateError
from tests.fuzz.inputs import ODD, alterations, csv_files, edited, json_files
from tests.logs import (
    test_appworld,
    test_hal,
    test_swe_bench,
    test_tables,
    test_tau2_bench,
    test_tau_bench,
)
from tests.properties.states import SCALARS, STATES, TABLES, VALUES
from tests.properties.test_snapshot_properties import SCRIPT
from tests.test_grading import BEFORE, TASK, done
from tests.test_taskfiles import EVERYTHING


@dataclass(frozen=True)
class Target:
    """Inputs, what is done with one of them in an empty folder, and what that may raise."""

    inputs: st.SearchStrategy
    run: Callable[[Any, Path], object]
    errors: tuple[type[Exception], ...]
    share: int = 10  # of a large budget; the cheap ones get more


def file_target(read: Callable[[Path], object], inputs: Any, *errors: Any, **more: Any) -> Target:
    name = more.pop("name", "file")

    def run(data: bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(data)
        return read(path)

    return Target(inputs, run, errors, **more)


# --- logs ---------------------------------------------------------------------------------

ATTEMPTS: list[dict[str, Any]] = [
    {"task": task, "trial": trial, "attempt": 0, "seed": 7, "tag": "agent success", "kind": None}
    | {"success": True, "infra": False, "verdict": "pass", "steps": 3, "cost": 0.5, "agent": "a"}
    for task in ("a", "b")
    for trial in (0, 1)
]
TAC = [["submission", "task", "total_points", "result_points", "steps", "cost_usd"]]
TAC += [["x", "a", 4, 4, 12, 0.5], ["x", "b", 4, 3, "", ""]]
WEBARENA: list[list[Any]] = [
    ["task_id", "success", "n_steps", "site"],
    [7, 1.0, 3, "map"],
    [8, "", "", "b"],
]
TABLE = list(csv.reader(io.StringIO(test_tables.csv_text(test_tables.ROWS))))
TAU = [test_tau_bench.episode(t, n, 1.0) for t in (0, 1) for n in (0, 1)]
TAU2 = test_tau2_bench.log(*map(test_tau2_bench.simulation, "abcd"))
HAL = [
    test_hal.run(["a"], ["b"], {"a": {"reward": 1.0}, "b": "ERROR: no output"}),
    test_hal.run(["x-1"], ["x-2"], {"resolved_ids": ["x-1"], "error_ids": ["x-2"]}),
]
LOGS: dict[str, Any] = {
    "run-log": json_files([ATTEMPTS], lines=True),
    "table": csv_files([TABLE]) | json_files([test_tables.ROWS], lines=True),
    "tau-bench": json_files([TAU]),
    "tau2-bench": json_files([TAU2]),
    "swe-bench": json_files([test_swe_bench.REPORT]),
    "the-agent-company": csv_files([TAC]),
    "webarena": csv_files([WEBARENA]),
    "hal": json_files(HAL),
    "appworld": json_files([test_appworld.RIGHT]),
}


def read_log(name: str | None) -> Callable[[Path], object]:
    return lambda path: counts(trials_table(read_trials(path, name), infra="infra"))


def stream(path: Path) -> object:
    return streamed_counts(log_frames(path, ["task", "trial", "success", "infra"]), infra="infra")


@cache
def inspect_log(kind: str) -> bytes:
    """A log as Inspect writes it."""
    from inspect_ai.log import write_eval_log

    from tests.logs.test_inspect import log, sample

    with tempfile.TemporaryDirectory() as folder:
        write_eval_log(log(sample("a", 1), sample("a", 2, "I"), epochs=2), f"{folder}/log.{kind}")
        return Path(folder, f"log.{kind}").read_bytes()


@st.composite
def inspect_archives(draw: st.DrawFn) -> bytes:
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(inspect_log("eval"))) as whole,
        zipfile.ZipFile(made, "w") as new,
    ):
        for name in whole.namelist():
            if draw(st.integers(0, 9)):
                part = draw(alterations([json.loads(whole.read(name))]))
                new.writestr(name, edited(json.dumps(part).encode(), draw, most=1))
    return edited(made.getvalue(), draw, most=1)


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("header.json", "{}")
    data = bytearray(edited(made.getvalue(), draw))
    for at in draw(st.lists(st.integers(0, len(data)), max_size=3)):
        data[at : at + 1] = bytes([draw(st.integers(0, 255))])
    return bytes(data)


LOG_TARGETS = {
    f"logs: {name}": file_target(read_log(name), inputs, LogError) for name, inputs in LOGS.items()
}
LOG_TARGETS["logs: format by content"] = file_target(
    format_of, st.one_of(*LOGS.values(), archives()), LogError, share=20
)
LOG_TARGETS["logs: streams"] = file_target(
    stream, json_files([test_tables.ROWS], lines=True), LogError, name="log.jsonl"
)


@cache
def parquet() -> bytes:
    made = io.BytesIO()
    rows = [{"task": t, "trial": n, "success": True, "infra": False} for t in "ab" for n in (0, 1)]
    pd.DataFrame(rows).to_parquet(made, row_group_size=2)
    return made.getvalue()


@st.composite
def changed_bytes(draw: st.DrawFn, whole: Callable[[], bytes]) -> bytes:
    """The same with a few bytes changed, or cut off."""
    data = bytearray(whole())
    for place, byte in draw(
        st.lists(st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)), max_size=4)
    ):
        data[place] = byte
    return bytes(data[: draw(st.integers(0, len(data)) | st.just(len(data)))])


LOG_TARGETS["logs: Parquet"] = file_target(
    lambda path: (read_log("table")(path), stream(path)),
    st.deferred(lambda: changed_bytes(parquet)),
    LogError,
    name="log.parquet",
)
if importlib.util.find_spec("inspect_ai"):
    LOG_TARGETS["logs: inspect"] = file_target(
        read_log("inspect"),
        st.deferred(lambda: json_files([json.loads(inspect_log("json"))])),
        LogError,
        name="log.json",
        share=2,
    )
    LOG_TARGETS["logs: inspect, packed"] = file_target(
        read_log("inspect"), inspect_archives(), LogError, name="log.eval", share=2
    )

# --- task files ---------------------------------------------------------------------------

FILES = [task_to_dict(EVERYTHING), task_to_dict(TASK), {"unchanged": True}]


def task_file(path: Path) -> object:
    """A task that loads is saved, loads again as the same, and grades or is refused."""
    task = load_task(path)
    save_task(task, path)
    assert repr(task_to_dict(load_task(path))) == repr(task_to_dict(task))
    return grade(BEFORE, done(), task)


# --- states -------------------------------------------------------------------------------


class Liar(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("a")


ODDER = [*ODD, Liar("b"), {Liar("b"): 1}, {1, 2}, 1j, object(), b"\xff", (1, [2]), {(1, 2): {}}]
PATTERNS = st.sampled_from(
    ["t", "t/*", "t/a", "t/*/x", "t/1/x", "*/*/*", "u/a/x/b", "t/a/*", ("t", 1), ("u", "1", "y")]
)
FORM = st.sampled_from(
    ["number", "instant", "caseless", "spaces", "sequence", "multiset", "set", "keyed by a"]
)
CONDITIONS = st.sampled_from([None, "instant", "number", Between(0, 9), lambda value: value > 0])
ALLOWED = st.builds(
    lambda path, only, when: Allowed(path, only=only, when=when, whole=True),
    PATTERNS,
    st.sampled_from(["", "added", "removed", "changed"]),
    CONDITIONS,
)
CREATED = st.builds(
    lambda table, columns, free: Created(table, columns={"x": 1} | columns, free=free),
    st.sampled_from(["t", "u"]),
    st.dictionaries(st.sampled_from(["x", "y"]), VALUES, max_size=2),
    st.sampled_from([(), ("z",)]),
)


@st.composite
def episodes(draw: st.DrawFn) -> tuple[Any, Any, dict[str, Any]]:
    """A state before, the same with a few alterations after, and the entries of a task."""
    before = draw(STATES)
    after = draw(alterations([before]) if before else STATES)
    if isinstance(after, dict) and draw(st.integers(0, 3)) == 0:
        after[draw(st.sampled_from(["t", "v", Liar("u")]))] = draw(
            TABLES | st.sampled_from(ODDER) | st.just({"a": {"x": draw(st.sampled_from(ODDER))}})
        )
    entries = {
        "required": draw(st.dictionaries(PATTERNS, VALUES, max_size=2)),
        "created": draw(st.lists(CREATED, max_size=2)),
        "deleted": draw(st.lists(PATTERNS, max_size=1)),
        "allowed": draw(st.lists(ALLOWED, max_size=2)),
        "forms": draw(st.dictionaries(PATTERNS, FORM | st.lists(FORM, max_size=2), max_size=2)),
    }
    return before, after, entries


def judge(episode: tuple[Any, Any, dict[str, Any]], folder: Path) -> None:
    """A verdict that can be shown, and is a pass only where a task is stated."""
    before, after, entries = episode
    verdict = grade(before, after, Task(**entries))
    assert verdict.passed <= bool(verdict.of_kind("met"))
    assert str(verdict)
    assert verdict._repr_html_()


def diff(episode: tuple[Any, Any, dict[str, Any]], folder: Path) -> None:
    before, after, entries = episode
    found = state_diff(before, after, entries["forms"])
    assert str(found)
    assert found._repr_html_()


# --- sources ------------------------------------------------------------------------------

NAMES = st.sampled_from(
    ["a", "b.csv", "c.json", "é", "e\u0301", "\udcff", "A", ".hid", "\u200b", "x\n"]
)
CSV = [[["k", "v"], [1, "a"], [2, "b\n"]]]
CONTENT = st.one_of(json_files([BEFORE, FILES[0]]), csv_files(CSV), st.binary(max_size=9))


def directory(entries: list[tuple[str, str, bytes]], folder: Path) -> object:
    root = folder / "root"
    root.mkdir()
    for name, kind, data in entries:
        path = root / name
        with suppress(OSError):
            if kind == "link":
                path.symlink_to(data.decode("latin-1").replace("\0", "") or ".")
            elif kind == "hard link":
                path.hardlink_to(next(root.iterdir(), root))
            elif kind == "folder":
                path.mkdir(mode=0o700)
                (path / name).write_bytes(data)
            else:
                path.write_bytes(data)
    state = snapshot(root, cells=["*.csv", "*.json"])
    assert len(state) == 1 + len(list(root.iterdir()))
    return state_diff({}, state)._repr_html_()


@cache
def database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        with closing(sqlite3.connect(path)) as db:
            db.executescript(SCRIPT)
        return path.read_bytes()


PLACES = st.integers(0, len(database()) - 1)
BYTES = st.lists(st.tuples(PLACES | st.integers(0, 120), st.integers(0, 255)), max_size=4)


def database_bytes(edits: list[tuple[int, int]], folder: Path) -> None:
    """One answer, whether it is loaded or compared inside SQLite."""
    data = bytearray(database())
    (folder / "before.db").write_bytes(data)
    for place, byte in edits:
        data[place] = byte
    (folder / "after.db").write_bytes(data)
    with patch.object(dbfiles, "CHECK_SECONDS", 2.0):
        state = snapshot(folder / "after.db")
        found = database_diff(folder / "before.db", folder / "after.db")
        before = snapshot(folder / "before.db")
    assert sorted(map(repr, found)) == sorted(map(repr, state_diff(before, state)))


def read_json(path: Path) -> object:
    return snapshot(path)


TARGETS = LOG_TARGETS | {
    "task files": file_target(task_file, json_files(FILES), TaskError, StateError, share=60),
    "tasks of plain data": Target(
        alterations(FILES), lambda spec, _: task_from_dict(spec), (TaskError,), share=200
    ),
    "grade": Target(episodes(), judge, (TaskError, StateError, PathError, ValueError), share=120),
    "diff": Target(episodes(), diff, (StateError, ValueError), share=150),
    "values": Target(
        alterations([BEFORE]) | SCALARS, lambda v, _: snapshot({"t": v}), (StateError,), share=150
    ),
    "a JSON file": file_target(
        read_json, json_files([BEFORE]), StateError, name="a.json", share=100
    ),
    "a CSV file": file_target(read_json, csv_files(CSV), StateError, name="a.csv", share=100),
    "a directory": Target(
        st.lists(
            st.tuples(NAMES, st.sampled_from(["file", "link", "hard link", "folder"]), CONTENT),
            max_size=3,
        ),
        directory,
        (StateError,),
        share=20,
    ),
    "a database": Target(BYTES, database_bytes, (StateError,), share=10),
}
