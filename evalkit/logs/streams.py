"""A log larger than memory: read in batches, and summed to counts as they come.

An engine reads Parquet safely, as its columns have types. In JSON Lines each line has its own, and
engines guess: of a key that is there twice some take the first value and some the last, and a
success of 0.5 becomes null in one and true in another. Here every line is read as it stands.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit.logs import (
    NO_ARROW,
    UNREADABLE,
    Duplicates,
    LogError,
    PathLike,
    opened,
    printable_json,
    unreadable,
)
from evalkit.trials import ADVICE, planned_counts, trials_table
from evalkit.values import show

#: A longer line is not read: a few kilobytes of gzip can hold terabytes without a line end.
LINE_BYTES = 2**26

# A batch's labels, and the values of its rows.
_Rows = Iterator[tuple[int, tuple[Any, ...]]]


def log_frames(
    path: PathLike, columns: Sequence[str], *, rows: int = 2_000
) -> Iterator[pd.DataFrame]:
    """The rows of a log, a batch at a time; memory holds one batch, however long the log is.

    Parameters
    ----------
    path
        A ``.jsonl``, ``.ndjson`` or ``.parquet`` file, or a folder of one kind of them. Lines may
        be packed with gzip. Parquet needs PyArrow, which reads a row group at a time.
    columns : sequence of str
        What to read. Every line and every file must have it; null is a value.
    rows : int
        Rows in a batch.

    Yields
    ------
    DataFrame
        The columns, their values as the file holds them. The index says which line (from 1) or
        row (from 0) each is, and its name which file.

    Raises
    ------
    LogError
        If a file is of another kind or cut off, a line is no JSON object, has a key twice or lacks
        one, or a column is missing; the message names the file and the line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.jsonl")
    ...     _ = path.write_text('{"task": "a", "trial": 0, "success": true, "trace": "..."}\\n')
    ...     for frame in log_frames(path, ["task", "trial", "success"]):
    ...         print(frame.to_string(index=False))
    task  trial success
       a      0    True
    """
    names = list(columns)
    for file in _files(Path(path)):
        read, unit = _READERS[_kind(file)]
        found = read(file, names, rows)
        while batch := list(islice(found, rows)):
            labels, values = zip(*batch, strict=True)
            index = pd.Index(labels, name=f"{file}, {unit}")
            # As objects, so that pandas makes no float of 1 and no NaN of None.
            yield pd.DataFrame(list(values), index=index, columns=names, dtype=object)


def streamed_counts(
    frames: Iterable[pd.DataFrame],
    *,
    task: str = "task",
    trial: str = "trial",
    success: str = "success",
    infra: str | None = None,
    threshold: float | None = None,
    duplicates: Duplicates = "error",
    planned: int | Mapping[Any, int] | None = None,
) -> pd.DataFrame:
    """One row for each task, as `evalkit.trials.counts` gives it, from a log that comes in parts.

    To find a trial that is there twice, the trials are noted in a temporary database on disk:
    task, trial, success and infra of each, and nothing else of the log.

    Parameters
    ----------
    frames : iterable of DataFrame
        Such as `log_frames` gives, or the verdicts on them.
    task, trial, success, infra, threshold, duplicates
        As `evalkit.trials.trials_table` takes them. Tasks, and trials, are all text or all whole
        numbers.
    planned
        As `evalkit.trials.counts` takes it.

    Returns
    -------
    DataFrame

    Raises
    ------
    LogError
        If a row breaks the rules of `evalkit.trials.trials_table`; the message names its file and
        line, or the lines of its batch.

    Examples
    --------
    >>> parts = [pd.DataFrame({"task": ["a", "b"], "trial": n, "success": [1, n]}) for n in (0, 1)]
    >>> streamed_counts(parts)
      task  n  c  planned  infra
    0    a  2  2        2      0
    1    b  2  1        2      0
    """
    columns = {"task": task, "trial": trial, "success": success, "infra": infra}
    kinds: dict[str, type] = {}
    with closing(sqlite3.connect("")) as noted:  # a file of its own, gone when it is closed
        noted.execute("PRAGMA cache_size = -16384")  # in KiB, whatever the log
        noted.execute(_TABLE)
        for frame in filter(len, frames):
            table = _checked(frame, columns, kinds, threshold, duplicates)
            _note(noted, table, duplicates)
        sums = pd.DataFrame(noted.execute(_SUMS), columns=["task", "n", "c", "planned", "infra"])
    if sums.empty:
        raise LogError("frames: there is no row in them, so there is no trial to count.")
    return planned_counts(sums, planned)


# --- the files ----------------------------------------------------------------------------


def _kind(path: Path) -> str:
    """``.jsonl``, ``.ndjson`` or ``.parquet``, packed or not; or whatever else it is."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _files(path: Path) -> list[Path]:
    """The files to read: the path itself, or what a folder holds, in order of their names."""
    found = [path]
    if path.is_dir():  # engines mark files that are none of the data with _ or .
        found = sorted(p for p in path.iterdir() if not p.name.startswith(("_", ".")))
    kinds = {_kind(file) if not file.is_dir() else "a folder" for file in found}
    if len(kinds) != 1 or not kinds <= set(_READERS):
        raise LogError(
            f"{path}: holds {', '.join(sorted(kinds)) or 'nothing'}; expected files of one kind of "
            f"{', '.join(_READERS)}. What has no types, such as CSV, goes through an engine that "
            "is told them, into trials_table."
        )
    return found


def _json_rows(path: Path, names: Sequence[str], rows: int) -> _Rows:
    number = 0
    try:
        with opened(path) as file:
            while line := file.readline(LINE_BYTES + 1):
                number += 1
                if len(line) > LINE_BYTES:
                    raise ValueError(f"it is longer than {LINE_BYTES} bytes")
                if line.strip():
                    yield number, _fields(line.decode(), names)
    except UNREADABLE as error:
        where = f"{path}, line {number or 1}"
        raise unreadable(where, error) from None
    except ValueError as error:
        raise LogError(f"{path}, line {number}: {error}.") from None


def _fields(line: str, names: Sequence[str]) -> tuple[Any, ...]:
    row = printable_json(line)
    if type(row) is not dict:
        raise ValueError(f"{show(row)} is no object")
    if missing := [name for name in names if name not in row]:
        raise ValueError(f"has no {missing[0]!r}, only {', '.join(row)}; write null for no value")
    return tuple(row[name] for name in names)


def _parquet_rows(path: Path, names: Sequence[str], rows: int) -> _Rows:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as parquet  # type: ignore[import-untyped]
    except ImportError:
        raise LogError(f"{path}: {NO_ARROW}") from None
    try:
        # Without pre_buffer: it keeps the bytes of every row group until the file is closed.
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            have = file.schema_arrow.names
            if missing := [name for name in names if name not in have]:
                raise LogError(f"{path}: no column {missing[0]!r}; it has {', '.join(have)}.")
            number = 0
            for batch in file.iter_batches(rows, columns=list(names), use_threads=False):
                for row in zip(*(batch[name].to_pylist() for name in names), strict=True):
                    yield number, row
                    number += 1
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


_READERS: dict[str, tuple[Callable[[Path, Sequence[str], int], _Rows], str]] = {
    ".jsonl": (_json_rows, "line"),
    ".ndjson": (_json_rows, "line"),
    ".parquet": (_parquet_rows, "row"),
}


# --- the sums -----------------------------------------------------------------------------

_TABLE = (
    "CREATE TABLE trials (task, trial, success, infra NOT NULL, PRIMARY KEY (task, trial))"
    " WITHOUT ROWID"
)
_INSERT = {
    "error": "INSERT INTO trials VALUES (?, ?, ?, ?)",
    # Rows that agree are one; where they do not, the update breaks NOT NULL.
    "drop": "INSERT INTO trials VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET infra = NULL"
    " WHERE success IS NOT excluded.success OR infra IS NOT excluded.infra",
}
_SUMS = (
    "SELECT task, sum(success IS NOT NULL AND NOT infra), coalesce(sum(success), 0), count(*),"
    " sum(infra) FROM trials GROUP BY task"
)
_KEYS = {str: "text", int: "a whole number"}
_SCORES = {bool, int, float, type(None)}


def _checked(
    frame: pd.DataFrame,
    columns: Mapping[str, str | None],
    kinds: dict[str, type],
    threshold: float | None,
    duplicates: Duplicates,
) -> pd.DataFrame:
    """The trials table of one batch, under the index of the batch."""
    have = ", ".join(map(str, frame.columns))
    checked = {}
    for name, column in columns.items():
        if column is None and name in frame:  # infra, by its own name
            column = name
        if column is None:
            continue
        if column not in frame:
            raise LogError(f"{name}: no column {column!r}; the frame has {have}.")
        checked[name] = _column(frame[column], name, kinds)
    try:
        return trials_table(pd.DataFrame(checked), threshold=threshold, duplicates=duplicates)
    except ValueError as error:
        raise LogError(f"{_span(frame.index)}: {error}") from None


def _column(series: pd.Series, name: str, kinds: dict[str, type]) -> pd.Series:
    """A column of keys or of scores, if each value is of a type that it may have."""
    values = series.astype(object).where(series.notna(), None)
    wanted, expected = _SCORES, "true, false or a number"
    if keys := name in ("task", "trial"):
        known = kinds.setdefault(name, type(values.iloc[0]))
        wanted, expected = {known} & _KEYS.keys(), "text or a whole number"
        expected = f"{_KEYS[known]}, as in the rows before" if wanted else expected
    types = values.map(type)
    if len(wrong := values[~types.isin(wanted)]):
        where = f"{series.index.name or 'row'} {wrong.index[0]}"
        raise LogError(f"{where}, {name}: is {show(wrong.iloc[0])}; expected {expected}.")
    try:
        return values if keys else values.astype(float)
    except OverflowError as error:
        raise LogError(f"{_span(series.index)}, {name}: {error}.") from None


def _span(index: pd.Index) -> str:
    """Which lines of which file a batch is, in words."""
    return f"{index.name or 'row'}s {index[0]} to {index[-1]}"


def _note(noted: sqlite3.Connection, table: pd.DataFrame, duplicates: Duplicates) -> None:
    """Add the trials of one batch to those that were noted before."""
    passed = [None if score != score else int(score) for score in table["success"]]
    rows = zip(table["task"], table["trial"], passed, map(int, table["infra"]), strict=True)
    for label, row in zip(table.index, rows, strict=True):
        where = f"{table.index.name or 'row'} {label}: task {row[0]!r}, trial {row[1]!r}"
        try:
            noted.execute(_INSERT[duplicates], row)
        except sqlite3.IntegrityError:
            raise LogError(f"{where} was there before: {ADVICE[duplicates]}.") from None
        except (OverflowError, UnicodeEncodeError) as error:
            raise LogError(f"{where} cannot be counted: {error}.") from None
