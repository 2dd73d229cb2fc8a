"""The log of a run: one line an attempt, read back, and reduced to one row a trial."""

from __future__ import annotations

import json
import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit.forms import canonical
from evalkit.infra import NOT_RUN
from evalkit.logs import printable_json
from evalkit.values import show

#: One line of a log.
Row = dict[str, Any]

_FIELDS = ("task", "trial", "attempt", "seed", "tag", "kind", "success", "infra", "verdict")
FIELDS = (*_FIELDS, "error", "steps", "cost", "start", "trace")
CONDITIONS = ("agent", "user_model", "user_settings", "max_steps", "environment_version")


class RunError(ValueError):
    """A run, or a log, that cannot be gone on with; the message names the task, or the line."""


def read_log(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Every attempt in a log, one row each.

    Parameters
    ----------
    path
        A JSON Lines file, as `evalkit.runner.run_suite` writes it. A last line that was cut off
        is no attempt yet, and is left out.

    Returns
    -------
    DataFrame
        ``task``, ``trial`` and ``attempt`` (both from 0), ``seed``; ``tag`` and ``kind`` (see
        `evalkit.infra.outcome_tag`), ``success`` (missing where the agent was not judged),
        ``infra``; ``verdict``, ``error``, ``steps``, ``cost``; the digests ``start`` and
        ``trace``; the run's agent, user simulator and other conditions; and any further fields.

    Raises
    ------
    RunError
        If a line is no attempt, or an attempt is there twice; the message names the line.
    """
    return attempts_table(_rows(Path(path)))


def attempts_table(rows: Sequence[Row]) -> pd.DataFrame:
    """Lines of a log as a data frame, described at `read_log`."""
    columns = dict.fromkeys([*FIELDS, *CONDITIONS, *(name for row in rows for name in row)])
    table = pd.DataFrame(list(rows), columns=list(columns))
    whole = dict.fromkeys(("trial", "attempt", "seed", "steps", "max_steps"), "Int64")
    return table.astype(whole | {"success": "boolean", "infra": "boolean", "cost": "float"})


def _rows(path: Path) -> list[Row]:
    found: dict[tuple[Any, ...], Row] = {}
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            row = printable_json(line.decode())
            key = row["task"], row["trial"], row["attempt"]
            wrong = next((name for name in _KINDS if not _fits(name, row.get(name))), "")
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if number == len(lines):
                break  # nothing, or an attempt that was cut off
            raise RunError(f"{path}, line {number}: is no attempt: {error!r}") from None
        if wrong:
            have = show(row.get(wrong))
            raise RunError(f"{path}, line {number}, {wrong}: is of the wrong type: {have}")
        if row.get("infra") and row.get("success"):
            raise RunError(f"{path}, line {number}, success: is true, and so is infra; clear one")
        if key in found:
            raise RunError(f"{path}, line {number}: attempt {key} is there twice; keep one")
        found[key] = row
    return list(found.values())


# What the fields of an attempt hold; all but the first four may be missing or null.
_KINDS: dict[str, tuple[type, ...]] = {
    **{"task": (str,), "trial": (int,), "attempt": (int,), "tag": (str,), "kind": (str,)},
    **{"seed": (int,), "steps": (int,), "max_steps": (int,), "cost": (int, float)},
    **{"success": (bool,), "infra": (bool,), "verdict": (str,), "error": (str, int)},
    **{"start": (str,), "trace": (str,)},
}


def _fits(name: str, value: Any) -> bool:
    if value is None:
        return name not in ("task", "trial", "attempt", "tag")
    kinds = _KINDS[name]
    # A whole number that is no 64-bit one would be another number in most readers, or none.
    least = -(2**63) if name == "cost" else 0
    return type(value) in kinds and (type(value) is not int or least <= value < 2**63)


@contextmanager
def open_log(
    path: str | os.PathLike[str] | None,
) -> Iterator[tuple[list[Row], Callable[[Row], None]]]:
    """What a log holds, and a function that adds a line to it, safe once it returns."""
    if path is None:
        yield [], lambda row: None
        return
    with open(path, "a+b", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise RunError(f"{path}: is no regular file, so a run cannot be gone on with from it")
        file.seek(0)
        content = file.read()
        tail = content.rpartition(b"\n")[2]
        if _is_cut_off(tail):
            file.truncate(len(content) - len(tail))
        else:
            _append(file, b"\n", path)

        def write(row: Row) -> None:
            try:
                line = json.dumps(row, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise RunError(f"{row['task']}: the log takes JSON data only: {error}") from error
            _append(file, line.encode() + b"\n", path)

        yield _rows(Path(path)), write


def _is_cut_off(tail: bytes) -> bool:
    try:
        json.loads(tail)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return True
    except (ValueError, RecursionError):  # whole, but no attempt, as `_rows` will say
        return False
    return False


def _append(file: FileIO, line: bytes, path: str | os.PathLike[str]) -> None:
    """Add a line and see it safe on the disk, or else leave the file as it was."""
    size = file.seek(0, os.SEEK_END)
    try:
        done = 0
        while done < len(line):  # a disk that is nearly full takes a part, and then none
            done += file.write(line[done:])
        os.fsync(file.fileno())
    except OSError as error:
        file.truncate(size)
        raise RunError(
            f"{path}: cannot be written to: {error.strerror}; what it holds is whole, and the same"
            " run goes on from it once there is room"
        ) from error


def trial_rows(attempts: pd.DataFrame, tasks: Sequence[str], planned: int) -> pd.DataFrame:
    """One row for each planned trial: its first attempt that the environment did not fail.

    A later attempt never counts, so that retrying until a pass lifts nothing. The table is ready
    for ``counts(trials_table(table, infra="infra"))``.

    Parameters
    ----------
    attempts : DataFrame
        From `evalkit.runner.run_suite` or `read_log`.
    tasks : sequence of str
        All tasks of the suite, so that one without any attempt does not vanish.
    planned : int
        Trials of each task.

    Returns
    -------
    DataFrame
        The columns of `attempts`, and ``attempts``, how many there are. Where all are infra
        failures, ``infra`` is true; where there is none, the tag is ``not run``. In both cases,
        and where the trial was not evaluated, ``success`` is missing.

    Raises
    ------
    RunError
        If the log holds a trial that was not planned.
    """
    keys = ["task", "trial"]
    plan = pd.MultiIndex.from_product([list(tasks), range(planned)], names=keys)
    order = attempts.sort_values(["infra", "attempt"], kind="stable")
    first = order.drop_duplicates(keys).set_index(keys)
    if len(other := first.index.difference(plan)):
        raise RunError(f"attempts: the log holds trial {other[0]}, which was not planned")
    made = attempts.groupby(keys).size().reindex(plan, fill_value=0)
    table = first.reindex(plan).assign(attempts=made)
    table["tag"] = table["tag"].fillna(NOT_RUN)
    table["infra"] = table["infra"].fillna(False).astype(bool)
    return table.reset_index()


def identical_trials(attempts: pd.DataFrame) -> pd.DataFrame:
    """The judged trials of a task that are alike in every field: their spread says nothing.

    A cache answered, or a seed did not move. Trial, attempt, seed and seconds are not compared.
    Two short successes are alike too where the log has no trace of what was done.

    Parameters
    ----------
    attempts : DataFrame
        Attempts, or trials.

    Returns
    -------
    DataFrame
        One row for each set of two or more: ``task``, the numbers of the ``identical`` trials,
        and ``of`` how many judged trials of the task.
    """
    judged = attempts[attempts["success"].notna()]
    fields = [c for c in judged if c not in ("trial", "attempt", "attempts", "seed", "seconds")]
    alike = defaultdict(list)
    for row in judged.to_dict("records"):
        alike[row["task"], repr([row[name] for name in fields])].append(row["trial"])
    of = judged["task"].value_counts()
    sets = [(task, tuple(same), of[task]) for (task, _), same in alike.items() if len(same) > 1]
    return pd.DataFrame(sets, columns=["task", "identical", "of"])


def check_comparable(a: pd.DataFrame, b: pd.DataFrame) -> None:
    """Refuse to compare two runs that differ in more than the agent.

    Parameters
    ----------
    a, b : DataFrame
        Attempts, or trials.

    Raises
    ------
    RunError
        If the user simulator, its settings, the step budget or the environment's version differ,
        in one of the runs or between them.
    """
    for name in CONDITIONS[1:]:
        columns = [run.loc[run["tag"] != NOT_RUN, name].astype(object) for run in (a, b)]
        values = [v for column in columns for v in column.where(column.notna(), None)]
        if len(distinct := {canonical(value): show(value) for value in values}) > 1:
            found = " and ".join(distinct.values())
            raise RunError(f"{name} differs: {found}; run both agents under one condition")
