"""``snapshot``: a database, a directory, nested JSON or a data frame, as one nested dict.

A snapshot is a copy. What happens to its source afterwards, in place or not, never reaches it.

A **directory** is ``{name: ...}``, nested as it is; its own fields stand under ``"."``. The fields
are ``kind`` (file, directory, link, fifo, socket, device), ``mode`` (permissions in octal; on
Windows only the read-only bit shows), ``sha256`` of a file's content, which is read each time,
and ``target`` of a link, which is never followed. Owners, times and other attributes are left
out. Close the databases in it first: on Unix, reading a file makes the process's own connections
to it lose their locks.

A **data frame** is ``{index label: {column: value}}``. NumPy scalars and pandas times become
Python values; ``pd.NA``, ``NaT``, and whatever is missing from a text or categorical column
become None; NaN stays NaN.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import sqlite3
import stat
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from evalkit.databases import snapshot_database
from evalkit.statediff import State
from evalkit.values import StateError, check_value, show

if TYPE_CHECKING:
    import pandas as pd


def snapshot(
    source: sqlite3.Connection | str | os.PathLike[str] | Mapping[Any, Any] | pd.DataFrame,
    *,
    cells: Sequence[str] = (),
) -> State:
    """The state of a source, as an independent nested dict.

    Parameters
    ----------
    source
        What to copy: a ``sqlite3.Connection`` or a path to a SQLite file (see
        `snapshot_database`); a path to a directory; a path that ends in ``.json``, to an object,
        or in ``.csv``, which gives ``{1: {column: text}}``, rows counted from 1; a mapping of
        JSON-like values, or of table names to data frames; a pandas data frame.
    cells
        For a directory: patterns, like ``"*.csv"``, of the ``.csv`` and ``.json`` files to read
        to the cell. They match the path below the directory, and ``*`` crosses slashes. In place
        of ``sha256`` such a file has ``rows`` or ``content``; one that is malformed keeps
        ``sha256`` and says why under ``unreadable``.

    Returns
    -------
    dict

    Raises
    ------
    StateError
        If the source is missing, unreadable or malformed, or holds values that cannot be
        compared; the message names the path or the file, and the line.

    Examples
    --------
    >>> live = {"orders": {"W1": {"items": [1]}}}
    >>> before = snapshot(live)
    >>> live["orders"]["W1"]["items"].append(2)
    >>> before
    {'orders': {'W1': {'items': [1]}}}
    """
    if isinstance(cells, str):
        raise StateError(f"cells is a list of patterns; write cells=[{cells!r}]")
    if isinstance(source, str | os.PathLike):
        if os.path.isdir(source):
            return _directory(Path(source), "", tuple(cells))
        if not cells:
            return _file(source)
    if cells:
        raise StateError("cells goes with a directory, which the source is not")
    if isinstance(source, sqlite3.Connection):
        return snapshot_database(source)
    if _is_frame(source):
        return dict(check_value(_frame_rows(source, "the data frame")))
    if isinstance(source, Mapping):
        items = source.items()
        tables = {k: _frame_rows(v, show(k)) if _is_frame(v) else v for k, v in items}
        return dict(check_value(tables))
    raise StateError(
        f"a {type(source).__name__} is not a source; give a sqlite3.Connection, a path, a mapping"
        " or a pandas data frame"
    )


# --- one file -----------------------------------------------------------------------------


def _file(source: str | os.PathLike[str]) -> State:
    try:
        regular = stat.S_ISREG(os.stat(source).st_mode)
    except (OSError, ValueError) as error:
        hint = "; json.loads JSON text first" if "{" in str(source) else ""
        raise StateError(f"{source}: names no file or directory: {error}{hint}") from error
    path = Path(source)
    if not regular:
        raise StateError(f"{path}: is neither a file nor a directory")
    if path.suffix.lower() not in _PARSERS:
        return snapshot_database(path)
    try:
        state = _parse(_content(path), path.suffix)
        if type(state) is not dict:
            raise StateError(f"line 1: a state is an object, not a {type(state).__name__}")
    except StateError as error:
        raise StateError(f"{path}: {error}") from error
    return state


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StateError(f"{path}: cannot be read: {error.strerror}") from error


def _parse(data: bytes, suffix: str) -> Any:
    """The cells of a CSV or JSON file; a StateError says which line is wrong, and why."""
    try:
        return _PARSERS[suffix.lower()](data.decode("utf-8-sig"))
    except StateError:
        raise
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StateError(f"line {line}: is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise StateError(f"line {error.lineno}: {error.msg} (column {error.colno})") from error
    except (ValueError, RecursionError) as error:  # an integer too long, or nested too deeply
        raise StateError(f"cannot be parsed: {error}") from error


def _csv_rows(text: str) -> dict[int, dict[str, str]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: dict[int, dict[str, str]] = {}
    try:
        columns = next(reader, [])
        if not columns or len(set(columns)) < len(columns):
            raise StateError("line 1: there is no header, or it names a column twice")
        for row in reader:
            if len(row) != len(columns):
                found = f"{len(row)} fields under {len(columns)} columns"
                raise StateError(f"line {reader.line_num}: {found}")
            rows[len(rows) + 1] = dict(zip(columns, row, strict=True))
    except csv.Error as error:
        raise StateError(f"line {reader.line_num}: {error}") from error
    return rows


def _json_value(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except _RepeatedKey as error:
        raise StateError(f"line {_line_of_repeat(text)}: the key {error} is there twice") from None
    return check_value(value)


_PARSERS = {".csv": _csv_rows, ".json": _json_value}


class _RepeatedKey(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKey(show(next(key for i, key in enumerate(keys) if key in keys[:i])))
    return found


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|[{}]')


def _line_of_repeat(text: str) -> int:
    """The line of the first key that its object already has."""
    seen: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            seen.append(set())
        elif token[0] == "}":
            seen.pop()
        elif token[1]:
            key = json.loads(token[0].removesuffix(token[1]))
            if key in seen[-1]:
                return text.count("\n", 0, token.start()) + 1
            seen[-1].add(key)
    raise AssertionError("no key is there twice")


# --- a directory --------------------------------------------------------------------------

_KINDS = {
    stat.S_IFDIR: "directory",
    stat.S_IFREG: "file",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}


def _directory(folder: Path, below: str, cells: tuple[str, ...]) -> State:
    """The entries of a directory by name; ``below`` is its path under the source, with a slash."""
    try:
        own = _fields(folder.stat())
        names = sorted(os.listdir(folder))
        return {".": own} | {name: _node(folder / name, below + name, cells) for name in names}
    except OSError as error:
        raise StateError(f"{error.filename}: cannot be read: {error.strerror}") from error
    except RecursionError:
        raise StateError(f"{folder}: directories are nested too deeply") from None


def _fields(info: os.stat_result) -> State:
    kind = _KINDS.get(stat.S_IFMT(info.st_mode), "device")
    return {"kind": kind, "mode": f"{stat.S_IMODE(info.st_mode):03o}"}


def _node(path: Path, name: str, cells: tuple[str, ...]) -> State:
    node = _fields(path.lstat())
    if node["kind"] == "directory":
        return _directory(path, f"{name}/", cells)
    if node["kind"] == "link":
        return {"kind": "link", "target": os.readlink(path)}
    if node["kind"] != "file":  # opening a fifo would wait for ever
        return node
    if any(fnmatchcase(name, pattern) for pattern in cells):
        return node | _cells(path)
    with open(path, "rb") as opened:
        return node | {"sha256": hashlib.file_digest(opened, "sha256").hexdigest()}


def _cells(path: Path) -> State:
    """A file's content to the cell; or its hash, and why it cannot be had to the cell."""
    data = _content(path)
    suffix = path.suffix.lower()
    try:
        if suffix not in _PARSERS:
            raise StateError("is neither a .csv nor a .json file")
        return {"rows" if suffix == ".csv" else "content": _parse(data, suffix)}
    except StateError as error:
        return {"sha256": hashlib.sha256(data).hexdigest(), "unreadable": str(error)}


# --- a data frame -------------------------------------------------------------------------


def _is_frame(value: Any) -> TypeGuard[pd.DataFrame]:
    pandas = sys.modules.get("pandas")  # nobody can hold a frame before pandas is imported
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _frame_rows(frame: pd.DataFrame, name: str) -> State:
    """The rows of a data frame by index label."""
    import pandas as pd

    labels = [_python(label, f"{name}, index") for label in frame.index]
    columns = [_python(label, f"{name}, columns") for label in frame.columns]
    _check_unique(labels, f"{name}, index", "set_index(...) or reset_index(drop=True)")
    _check_unique(columns, f"{name}, columns", "rename the column")
    rows: State = {label: {} for label in labels}
    for i, column in enumerate(columns):
        series = frame.iloc[:, i]
        values = series.tolist()
        if isinstance(series.dtype, pd.StringDtype | pd.CategoricalDtype):
            gone = series.isna().tolist()
            values = [None if g else v for g, v in zip(gone, values, strict=True)]
        for label, value in zip(labels, values, strict=True):
            rows[label][column] = _python(value, f"{name}, row {label!r}, column {column!r}")
    return rows


def _check_unique(labels: list[Any], where: str, remedy: str) -> None:
    seen: set[Any] = set()
    for label in labels:
        parts = label if isinstance(label, tuple) else (label,)
        if any(part is None or part != part for part in parts):
            raise StateError(f"{where}: a label is missing; {remedy}")
        try:
            size = len(seen)
            seen.add(label)
        except TypeError:
            raise StateError(f"{where}: {label!r} cannot be a key; {remedy}") from None
        if len(seen) == size:
            raise StateError(f"{where}: the label {label!r} is there twice; {remedy}")


def _python(value: Any, where: str) -> Any:
    """A NumPy or pandas scalar as the Python value that says exactly the same."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    import numpy as np
    import pandas as pd

    if isinstance(value, tuple):
        return tuple(_python(part, where) for part in value)
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    elif isinstance(value, np.timedelta64):
        value = pd.Timedelta(value)
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, pd.Timestamp | pd.Timedelta):
        return _python_time(value, where)
    return value.item() if isinstance(value, np.generic) else value


def _python_time(value: pd.Timestamp | pd.Timedelta, where: str) -> datetime | timedelta:
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise StateError(f"{where}: {value} has nanoseconds, which Python cannot hold; round it")
    try:
        return value.to_pydatetime() if isinstance(value, datetime) else value.to_pytimedelta()
    except (ValueError, OverflowError) as error:
        raise StateError(f"{where}: {value}: {error}") from error
