"""A plain table of trials: CSV, JSON Lines or Parquet, with columns task, trial and success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalkit.logs import (
    NO_ARROW,
    UNREADABLE,
    Duplicates,
    LogError,
    PathLike,
    csv_rows,
    field,
    judged,
    opened,
    printable_json,
    trials,
    unreadable,
)
from evalkit.strict import TextError, utf8
from evalkit.values import show

#: What a cell of text says of success, or of an infra failure.
WORDS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
MARK = b"\xef\xbb\xbf"  # some editors begin a text with it
#: Our name of a column to the name that it has in a file.
Names = Mapping[str, str]
#: The columns of a CSV table that hold numbers; all others hold text.
NUMBERS = ("steps", "cost", "credit", "points", "total", "allowed_share", "attempts", "max_steps")


def read_table(
    path: PathLike,
    *,
    task: str = "task",
    trial: str = "trial",
    success: str = "success",
    infra: str = "infra",
    steps: str = "steps",
    cost: str = "cost",
    duplicates: Duplicates = "error",
) -> pd.DataFrame:
    """One row for each trial in a table with the columns ``task``, ``trial`` and ``success``.

    Parameters
    ----------
    path
        A CSV or JSON Lines file, packed or not, or Parquet, which needs PyArrow.
    task, trial, success, infra, steps, cost
        The columns that hold each. Success is true, false, 1, 0, or blank where the trial was not
        evaluated. Infra is true where the environment failed. The last three may be missing
        under the names they have by default. All further columns are kept.
    duplicates : {"error", "drop"}
        As `evalkit.trials.trials_table` takes it.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says.

    Raises
    ------
    LogError
        If the file is cut off or of another format, a row lacks a task or a trial, a value is of
        the wrong type, or a trial occurs twice.
    """
    columns = {"task": task, "trial": trial, "success": success}
    columns |= {"infra": infra, "steps": steps, "cost": cost}
    rows = [_row(where, row) for where, row in _places(path, columns)]
    return trials(rows, path, duplicates)


def _places(path: PathLike, columns: Names) -> list[tuple[str, Mapping[str, Any]]]:
    """Each row under our names, with the file and the line, or row, where it stands."""
    try:
        with opened(path) as file:
            start = file.read(4)
            lines = [start, *file] if start.removeprefix(MARK)[:1] == b"{" else []
        table = _parquet(path) if start == b"PAR1" else []
    except ImportError:
        raise LogError(f"{path}: {NO_ARROW}") from None
    except UNREADABLE as error:
        raise unreadable(path, error) from None
    if start == b"PAR1":
        return [(at, _renamed(at, row, columns)) for at, row in table]
    if not lines:
        rows = csv_rows(path)
        return [(at, _cells(at, _renamed(at, row, columns))) for at, row in rows]
    places = [(f"{path}, line {i}", line) for i, line in enumerate(b"".join(lines).split(b"\n"), 1)]
    objects = ((at, _object(at, line)) for at, line in places if line.strip())
    return [(at, _renamed(at, row, columns)) for at, row in objects]


def _renamed(where: str, row: Mapping[str, Any], columns: Names) -> dict[str, Any]:
    """The row, with our names for the columns that have others."""
    ours = {theirs: name for name, theirs in columns.items() if theirs != name}
    for theirs, name in ours.items():
        if theirs not in row:
            raise LogError(f"{where}: has no column {theirs!r}; it has {', '.join(row)}.")
        if name in row and name not in ours:
            raise LogError(
                f"{where}: has {name!r} beside {theirs!r}; take away which is not meant."
            )
    if len(ours) < sum(theirs != name for name, theirs in columns.items()):
        raise LogError(f"{where}: a column cannot be two things: {', '.join(columns.values())}.")
    return {ours.get(name, name): value for name, value in row.items()}


def _parquet(path: PathLike) -> list[tuple[str, dict[str, Any]]]:
    """The rows as Arrow has them: what pandas wrote beside them of types and index is not read."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            names, rows = file.schema_arrow.names, file.read().to_pylist()
    except (ValueError, pa.ArrowException) as error:
        raise unreadable(path, error) from None
    if len(set(names)) < len(names):
        raise LogError(f"{path}: names a column twice.")
    whole = [{name: None if v != v else v for name, v in row.items()} for row in rows]
    return [(f"{path}, row {i}", row) for i, row in enumerate(whole)]


def _object(where: str, line: bytes) -> Mapping[str, Any]:
    try:
        row = printable_json(utf8(line.removeprefix(MARK)))
    except TextError as error:
        raise LogError(f"{where}: {error}.") from None
    if not isinstance(row, dict):
        raise LogError(f"{where}: {show(row)} is no object.")
    return row


def _cells(where: str, row: Mapping[str, str]) -> dict[str, Any]:
    """The cells of a row of text, as what their columns hold."""
    cells: dict[str, Any] = {name: text if text else None for name, text in row.items()}
    for name, text in row.items():
        try:
            if name in ("success", "infra") and text:
                cells[name] = WORDS[text.strip().lower()]
            elif name in NUMBERS and text:
                cells[name] = float(text)
            elif name == "trial" and text.isdecimal():
                cells[name] = int(text)
        except (KeyError, ValueError):
            wanted = "a number" if name in NUMBERS else "true or false, 1 or 0, or blank"
            raise LogError(f"{where}, {name}: {text!r} is not {wanted}.") from None
    return cells


def _row(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    for name in ("task", "trial", "success"):
        if name not in row:
            raise LogError(f"{where}, {name}: is missing, the row has {', '.join(row)}.")
    for name in ("task", "trial"):
        if not isinstance(row[name], str | int) or isinstance(row[name], bool):
            said = "blank" if row[name] is None else show(row[name])
            raise LogError(f"{where}, {name}: is {said}; expected text or a whole number.")
    infra = row.get("infra", False)
    if infra not in (0, 1):
        raise LogError(f"{where}, infra: is {show(infra)}; expected true or false.")
    score = row["success"]
    if isinstance(score, str):
        raise LogError(f"{where}, success: is {show(score)}; expected true, false or null.")
    steps = field(where, row, "steps", float, optional=True)
    if steps is not None and steps % 1:
        raise LogError(f"{where}, steps: {steps} is no whole number.")
    known = {
        "success": judged(where, "success", score, bool(infra)),
        "infra": bool(infra),
        "steps": None if steps is None else int(steps),
        "cost": field(where, row, "cost", float, optional=True),
    }
    return {**row, **known}
