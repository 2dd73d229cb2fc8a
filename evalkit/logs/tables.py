"""A plain table of trials: CSV, JSON Lines or Parquet, with columns task, trial and success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalkit.logs import (
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
)
from evalkit.values import show

#: What a cell of text says of success, or of an infra failure.
WORDS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
MARK = b"\xef\xbb\xbf"  # some editors begin a text with it
#: The columns of a CSV table that hold numbers; all others hold text.
NUMBERS = ("steps", "cost", "credit", "points", "total", "allowed_share", "attempts", "max_steps")


def read_table(path: PathLike, *, duplicates: Duplicates = "error") -> pd.DataFrame:
    """One row for each trial in a table with the columns ``task``, ``trial`` and ``success``.

    Parameters
    ----------
    path
        A CSV or JSON Lines file, packed or not, or Parquet, which needs PyArrow. Success is
        true, false, 1, 0, or blank where the trial was not evaluated. ``infra`` (true where the
        environment failed), ``steps`` and ``cost`` are read too, and all further columns kept.
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
    with_places = _places(path)
    return trials([_row(where, row) for where, row in with_places], path, duplicates)


def _places(path: PathLike) -> list[tuple[str, Mapping[str, Any]]]:
    """Each row, with the file and the line, or row, where it stands."""
    try:
        with opened(path) as file:
            start = file.read(4)
            if start == b"PAR1":
                return [(f"{path}, row {i}", row) for i, row in enumerate(_parquet(path))]
            lines = [start, *file] if start.removeprefix(MARK)[:1] == b"{" else []
    except (*UNREADABLE, ImportError) as error:
        raise LogError(f"{path}: cannot be read, or is cut off: {error}.") from None
    if not lines:
        return [(where, _cells(where, row)) for where, row in csv_rows(path)]
    places = [(f"{path}, line {i}", line) for i, line in enumerate(b"".join(lines).split(b"\n"), 1)]
    return [(where, _object(where, line)) for where, line in places if line.strip()]


def _parquet(path: PathLike) -> list[dict[str, Any]]:
    """The rows as Arrow has them: what pandas wrote beside them of types and index is not read."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            names, rows = file.schema_arrow.names, file.read().to_pylist()
    except (ValueError, pa.ArrowException) as error:
        raise LogError(f"{path}: cannot be read, or is cut off: {error}.") from None
    if len(set(names)) < len(names):
        raise LogError(f"{path}: names a column twice.")
    return [{name: None if v != v else v for name, v in row.items()} for row in rows]


def _object(where: str, line: bytes) -> Mapping[str, Any]:
    try:
        row = printable_json(line.decode("utf-8-sig"))
    except ValueError as error:
        raise LogError(f"{where}: is no JSON, or cut off: {error}.") from None
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
            raise LogError(f"{where}, {name}: is {show(row[name])}; expected text or a number.")
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
