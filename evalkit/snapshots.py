"""``snapshot``: a database, a directory, nested JSON or a data frame, as one nested dict.

A snapshot is a copy. What happens to its source afterwards, in place or not, never reaches it.

A **directory** is ``{name: ...}``, nested as it is; its own fields stand under ``"."``. The fields
are ``kind`` (file, directory, link, fifo, socket, device), ``mode`` (permissions in octal; on
Windows only the read-only bit shows), ``sha256`` of a file's content, which is read each time,
and ``target`` of a link. A link inside is never followed. The source itself may be one, as a
caller's path often is: it is followed, and its ``target`` stands under ``"."``, so that a
directory with a link put in its place is a change. A file above `FILE_BYTES` is not read: it has
``size`` in place of ``sha256``, and an edit that keeps the size goes unseen. Owners, times and
other attributes are left out. End the agent's processes first: a directory that is swapped while
it is read is followed. Close the databases in it, too: on Unix, reading a file makes the
process's own connections to it lose their locks.

A **JSON or CSV file** is its cells, not how they are written: white space, quotes, line ends and
blank lines at the end do not count, and a number with a point is the float that any reader makes
of it. What readers do not agree on is refused: a key that is there twice, NaN, a number too large
for a float, a byte order mark in JSON. In CSV, where spreadsheets write that mark, it is the field
``bom`` of a file in a directory. No file above `CELL_BYTES` is read to the cell. Whether a single
file, a database included, is reached through a link is no part of its state.

A **data frame** is ``{index label: {column: value}}``; see `evalkit.frames`.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.databases import snapshot_database
from evalkit.frames import frame_rows, is_frame
from evalkit.statediff import State
from evalkit.strict import MARK, TextError, strict_csv, strict_json, utf8
from evalkit.values import StateError, a_kind, check_value, show

if TYPE_CHECKING:
    import pandas as pd

#: A larger file is not read to the cell: in memory its cells take up to a hundred times as much.
CELL_BYTES = 2**25
#: A larger file in a directory is not read at all; a sparse one of any size costs an agent nothing.
FILE_BYTES = 2**32


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
    if is_frame(source):
        return dict(check_value(frame_rows(source, "the data frame")))
    if isinstance(source, Mapping):
        tables = {k: frame_rows(v, show(k)) if is_frame(v) else v for k, v in _items(source)}
        return dict(check_value(tables))
    raise StateError(
        f"{a_kind(source)} is not a source; give a sqlite3.Connection, a path, a mapping"
        " or a pandas data frame"
    )


def _items(source: Any) -> Iterable[tuple[Any, Any]]:
    """What a mapping holds; a subclass of dict could show other items, and is not asked."""
    return dict.items(source) if issubclass(type(source), dict) else source.items()


# --- one file -----------------------------------------------------------------------------


def _file(source: str | os.PathLike[str]) -> State:
    try:
        regular = stat.S_ISREG(os.stat(source).st_mode)
    except (OSError, ValueError) as error:
        hint = "; json.loads JSON text first" if "{" in str(source) else ""
        raise StateError(
            f"{source or repr('')}: names no file or directory: {error}{hint}"
        ) from error
    path = Path(source)
    if not regular:
        raise StateError(f"{path}: is neither a file nor a directory")
    if path.suffix.lower() not in _PARSERS:
        return snapshot_database(path)
    try:
        state = _parse(_content(Path(os.path.realpath(path))), path.suffix)
        if type(state) is not dict:
            raise TextError(f"a state is an object, not {a_kind(state)}", 1)
    except OSError as error:
        raise StateError(f"{path}: cannot be read: {error.strerror}") from error
    except TextError as error:
        raise StateError(f"{path}, line {error.line}: {error}") from error
    except StateError as error:
        raise StateError(f"{path}: {error}") from error
    return state


_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # which Windows has not


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """A regular file, open for reading; what has taken its place since it was listed is refused."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _SAFE)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is no longer a regular file", str(path))
        yield file


def _content(path: Path) -> bytes:
    with _opened(path) as file:
        data = file.read(CELL_BYTES + 1)
    if len(data) > CELL_BYTES:
        raise StateError(f"is larger than {CELL_BYTES} bytes; load it, and give what you loaded")
    return data


def _parse(data: bytes, suffix: str) -> Any:
    """The cells of a CSV or JSON file; a TextError if it holds none."""
    return _PARSERS[suffix.lower()](utf8(data))


_PARSERS: dict[str, Callable[[str], Any]] = {
    ".csv": lambda text: {i: row for i, (_, row) in enumerate(strict_csv(text), 1)},
    ".json": lambda text: check_value(strict_json(text)),
}


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
        if folder.is_symlink():  # the source may be one, and the caller's own
            own["target"] = os.readlink(folder)
        names = sorted(os.listdir(folder))
        return {".": own} | {name: _node(folder / name, below + name, cells) for name in names}
    except OSError as error:
        name = error.filename or folder
        raise StateError(f"{name}: cannot be read: {error.strerror}") from error
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
    wanted = any(fnmatchcase(name, pattern) for pattern in cells)
    return node | (_cells(path) if wanted else _hash(path))


def _hash(path: Path) -> State:
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > FILE_BYTES:
            return {"size": size, "unreadable": f"is larger than {FILE_BYTES} bytes"}
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _cells(path: Path) -> State:
    """A file's content to the cell; or its hash, and why it cannot be had to the cell."""
    suffix = path.suffix.lower()
    try:
        if suffix not in _PARSERS:
            raise StateError("is neither a .csv nor a .json file")
        data = _content(path)
        bom = {"bom": True} if data.startswith(MARK.encode()) else {}
        return {"rows" if suffix == ".csv" else "content": _parse(data, suffix)} | bom
    except TextError as error:
        return {"unreadable": f"line {error.line}: {error}"} | _hash(path)
    except StateError as error:
        return {"unreadable": str(error)} | _hash(path)
