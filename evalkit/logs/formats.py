"""Which format a file is of, from its content, and its reader. A new format is one line here."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import pandas as pd

from evalkit.logs import (
    NO_ARROW,
    UNREADABLE,
    LogError,
    PathLike,
    json_value,
    opened,
    printable_json,
    unreadable,
)
from evalkit.logs.appworld import read_appworld
from evalkit.logs.hal import read_hal
from evalkit.logs.inspect import read_inspect
from evalkit.logs.run_log import read_run_log
from evalkit.logs.swe_bench import read_swe_bench
from evalkit.logs.tables import read_table
from evalkit.logs.tau2_bench import read_tau2_bench
from evalkit.logs.tau_bench import read_tau_bench
from evalkit.logs.the_agent_company import read_the_agent_company
from evalkit.logs.webarena import read_webarena
from evalkit.strict import MARK, TextError, utf8


@dataclass(frozen=True)
class Content:
    """What a file looks like.

    Attributes
    ----------
    kinds : set of str
        ``object`` or ``list`` (of one JSON value), ``lines`` (of JSON), ``csv``, ``parquet``,
        ``zip`` or ``folder``. A JSON file of one line may be two of these.
    names : set of str
        The keys of the object, of the first one in the list, or of the first line; the columns of
        the table; the files in the archive; the endings of those in the folder.
    """

    kinds: frozenset[str]
    names: frozenset[str]


#: Kind and the names that a file of a format has.
Sign = tuple[str, frozenset[str]]
Reader = Callable[..., pd.DataFrame]


def _sign(kind: str, *names: str) -> Sign:
    return kind, frozenset(names)


#: The columns of a table, and the kinds of file that may hold one.
COLUMNS = frozenset(("task", "trial", "success"))
TABULAR = frozenset(("csv", "lines", "parquet"))

#: Name of a format to its reader, and the signs by which a file of it is known, any one of them.
#: Where files of two formats share signs, the one with more names is meant.
FORMATS: dict[str, tuple[Reader, tuple[Sign, ...]]] = {
    "run-log": (read_run_log, (_sign("lines", "task", "trial", "attempt", "tag"),)),
    "table": (read_table, tuple((kind, COLUMNS) for kind in TABULAR)),
    "tau-bench": (read_tau_bench, (_sign("list", "task_id", "info", "traj"),)),
    "tau2-bench": (read_tau2_bench, (_sign("object", "simulations"),)),
    "swe-bench": (read_swe_bench, (_sign("object", "resolved_ids"),)),
    "the-agent-company": (
        read_the_agent_company,
        (_sign("csv", "task", "total_points", "result_points"), _sign("folder", ".json")),
    ),
    "webarena": (read_webarena, (_sign("csv", "task_id", "success"),)),
    "hal": (read_hal, (_sign("object", "config", "results"),)),
    "appworld": (read_appworld, (_sign("object", "aggregate", "individual"),)),
    "inspect": (
        read_inspect,
        (
            _sign("zip", "header.json"),
            _sign("zip", "_journal/start.json"),
            _sign("object", "eval", "status"),
        ),
    ),
}


def format_of(path: PathLike) -> str:
    """The name of the format of a file, from what is in it.

    Parameters
    ----------
    path
        A file or a folder.

    Raises
    ------
    LogError
        If it cannot be read, or is of none of the formats, which the message lists.
    """
    content = _content(path)
    fits = {
        name: max(len(names) for kind, names in found)
        for name, (_, signs) in FORMATS.items()
        if (found := [s for s in signs if s[0] in content.kinds and s[1] <= content.names])
    }
    best = [name for name in fits if fits[name] == max(fits.values())]
    if len(best) == 1:
        return best[0]
    kinds, names = ", ".join(sorted(content.kinds)), sorted(content.names)
    more = ", ..." * (len(names) > 8)
    raise LogError(
        f"{path}: its format is not known: {kinds} with {', '.join(names[:8]) or 'nothing'}{more}. "
        f"{_near_miss(content)}Name the format, one of {', '.join(FORMATS)}; or write a table with "
        f"the columns task, trial and success{_named(content)}."
    )


def _named(content: Content) -> str:
    """How to say which columns of a table are meant, if it may be one."""
    if not content.kinds & TABULAR or len(content.names) < 2:
        return ""
    asked = ", ".join(f"{name}='...'" for name in sorted(COLUMNS - content.names))
    return f", or say which columns hold them, as in {asked}"


def _near_miss(content: Content) -> str:
    """What keeps a file from being a table, if it is nearly one; else empty."""
    if content.kinds == {"csv"} and len(content.names) == 1:
        return "Its first line is one cell: the columns of a table are separated by commas. "
    if content.kinds == {"list"} and content.names >= COLUMNS:
        return "As a table it would have one object a line, and no list around them. "
    if not content.kinds & TABULAR:
        return ""
    others = {name.strip().lower(): name for name in sorted(content.names - COLUMNS)}
    missing = {
        name: get_close_matches(name, others, 1, 0.7) for name in sorted(COLUMNS - content.names)
    }
    if not missing or (len(missing) == len(COLUMNS) and not all(missing.values())):
        return ""
    told = [
        f"{name} is missing" + (f", and {others[near[0]]!r} is in its place" if near else "")
        for name, near in missing.items()
    ]
    return f"As a table: {'; '.join(told)}. "


def read_trials(path: PathLike, name: str | None = None, /, **options: Any) -> pd.DataFrame:
    """One row for each trial in a file of any format that there is a reader for.

    Parameters
    ----------
    path
        A file or a folder.
    name
        The format, one of `FORMATS`; by default it is found from the content.
    **options
        What the reader of the format takes; a number, true or false may be text, as a command
        gives it.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says.

    Raises
    ------
    LogError
        If the format is not known, the reader takes no such option or not of that type, or it
        refuses the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.csv")
    ...     _ = path.write_text("task,trial,success\\na,0,true\\na,1,false\\n")
    ...     print(format_of(path), read_trials(path)["success"].tolist())
    table [1.0, 0.0]
    """
    if name is None:  # who names columns says that it is a table
        name = "table" if COLUMNS & options.keys() else format_of(path)
    reader = reader_of(name)
    takes = option_types(reader)
    for option, value in options.items():
        if option not in takes:
            has = ", ".join(takes) or "none"
            raise LogError(f"{path}: its format has no option {option!r}; it has {has}.")
        try:
            options[option] = _typed(value, takes[option])
        except (KeyError, ValueError):
            raise LogError(f"{path}: {option}={value} is not of type {takes[option]}.") from None
    return reader(path, **options)


def _typed(value: Any, kind: str) -> Any:
    """The value, text as what an option of this type holds."""
    if isinstance(value, str) and "bool" in kind:
        return {"true": True, "false": False}[value.lower()]
    return float(value) if isinstance(value, str) and "float" in kind else value


def reader_of(name: str) -> Reader:
    """The reader of a format."""
    if name not in FORMATS:
        raise LogError(f"{name!r} is no format; they are {', '.join(FORMATS)}.")
    return FORMATS[name][0]


def option_types(reader: Reader) -> dict[str, str]:
    """The options of a reader, and the types that they are of, as they are written there."""
    return {name: str(p.annotation) for name, p in list(signature(reader).parameters.items())[1:]}


def _content(path: PathLike) -> Content:
    if Path(path).is_dir():
        endings = {file.suffix for file in Path(path).iterdir()}
        return Content(frozenset(["folder"]), frozenset(endings))
    try:
        with opened(path) as file:
            first = file.readline(2**26)
            rest = file.read(2**16)
        if first.startswith(b"PAR1"):
            return Content(frozenset(["parquet"]), _parquet_columns(path))
        if first.startswith(b"PK\x03\x04"):
            with ZipFile(path) as packed:
                return Content(frozenset(["zip"]), frozenset(packed.namelist()))
        text = utf8(first).removeprefix(MARK).strip()
    except TextError as error:
        raise LogError(f"{path}, line 1: {error}.") from None
    except ImportError:
        raise LogError(f"{path}: {NO_ARROW}") from None
    except (*UNREADABLE, BadZipFile, NotImplementedError, ValueError) as error:
        raise unreadable(path, error) from None
    if not text.startswith(("{", "[")) and text:
        try:
            header = next(csv.reader([text]), [])
        except csv.Error as error:  # a line end within it, or a field of a hundred thousand letters
            raise LogError(f"{path}, line 1: {error}.") from None
        return Content(frozenset(["csv"]), frozenset(header))
    return _json(path, text, alone=not rest.strip())


def _json(path: PathLike, first: str, alone: bool) -> Content:
    """The content of a file that begins as JSON: one value, or one a line."""
    kinds: set[str] = set()
    try:
        value = printable_json(first)
        kinds |= {"lines"} if isinstance(value, dict) else set()
    except TextError:
        alone, value = True, json_value(path)
    if alone or not kinds:
        value = value if alone else json_value(path)
        kinds.add("list" if isinstance(value, list) else "object")
    one = value[0] if isinstance(value, list) and value else value
    return Content(frozenset(kinds), frozenset(one if isinstance(one, dict) else ()))


def _parquet_columns(path: PathLike) -> frozenset[str]:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    try:
        return frozenset(map(str, parquet.read_schema(path).names))
    except pa.ArrowException as error:
        raise unreadable(path, error) from None
