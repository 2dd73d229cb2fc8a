"""Public result files, one small module a format, each read into the one trials table.

A reader is a function of a path and gives a DataFrame with one row for each trial: ``task``,
``trial``, ``success`` (1.0, 0.0, or missing where the agent was not judged), ``infra``, ``steps``
and ``cost`` (missing where the file does not say), then columns of its format, and ``file``. It
goes as it is into `evalkit.trials.counts`. Whose failure a row is, is read from the project's own
fields; the columns of the format keep what was read. What a file does not say is never assumed.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import pandas as pd

from evalkit.strict import TextError, strict_csv, strict_json, utf8
from evalkit.trials import trials_table
from evalkit.values import show

#: A larger log, once unpacked, is not read: a few kilobytes of gzip can hold terabytes.
LOG_BYTES = 2**30
PART_BYTES = 2**18

PathLike = str | os.PathLike[str]
Duplicates = Literal["error", "drop"]
_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


class LogError(ValueError):
    """A log that cannot be relied on; the message names the file, its line or row, and the field.

    Lines count from 1, as an editor shows them; rows of a JSON list or of Parquet, which have no
    lines, from 0, as Python counts.
    """


def json_value(path: PathLike) -> Any:
    """The value in a ``.json`` or ``.json.gz`` file, where every reader of JSON would agree on it.

    Parameters
    ----------
    path
        The file. Nothing in it is evaluated.

    Returns
    -------
    object
        Dicts, lists, text, numbers, booleans and None.

    Raises
    ------
    LogError
        If the file cannot be read, is cut off, too large or no JSON, has a key twice in one
        object, or holds NaN or an infinity.
    """
    try:
        return printable_json(_text(path))
    except TextError as error:
        raise LogError(f"{path}, line {error.line}: {error}.") from None


def printable_json(text: str) -> Any:
    """The value of a JSON text whose characters can all be written down again.

    Parameters
    ----------
    text
        One value.

    Returns
    -------
    object
        As `evalkit.strict.strict_json` gives it.

    Raises
    ------
    TextError
        As it does; and if the text holds half a character.

    Examples
    --------
    >>> printable_json('"\\\\ud83d"')
    Traceback (most recent call last):
    ...
    evalkit.strict.TextError: it holds half a character, an escape of \\ud800 to \\udfff by itself
    """
    value = strict_json(text)
    if (half := _HALF.search(text)) and not _is_text(value):
        line = text.count("\n", 0, half.start()) + 1
        why = "it holds half a character, an escape of \\ud800 to \\udfff by itself"
        raise TextError(why, line)
    return value


def csv_rows(path: PathLike) -> list[tuple[str, dict[str, str]]]:
    """The rows of a ``.csv`` or ``.csv.gz`` file, all as text, by the names in its first line.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    list of (str, dict)
        The file and the line where a row begins, for a message, and the row. Blank fields are
        empty text.

    Raises
    ------
    LogError
        If the file cannot be read, or is refused by `evalkit.strict.strict_csv`.
    """
    try:
        return [(f"{path}, line {line}", row) for line, row in strict_csv(_text(path))]
    except TextError as error:
        raise LogError(f"{path}, line {error.line}: {error}.") from None


#: What to do about Parquet where the package is installed alone.
NO_ARROW = "install PyArrow to read Parquet (pip install pyarrow), or open it in an engine."
#: What a file that cannot be read, or is cut off, raises while it is read.
UNREADABLE = (OSError, EOFError, zlib.error, UnicodeDecodeError)


def unreadable(where: PathLike, error: Exception) -> LogError:
    """The error for a file that cannot be read, which names it once."""
    why = getattr(error, "strerror", None) or error  # the operating system repeats the path
    return LogError(f"{where}: cannot be read, or is cut off: {why}.")


def opened(path: PathLike) -> IO[bytes] | gzip.GzipFile:
    """A file, open to read its bytes, which are unpacked on the way if they are gzip."""
    with open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else open(path, "rb")


def _text(path: PathLike) -> str:
    """The text of a file; a TextError if it is not UTF-8."""
    try:
        with opened(path) as file:
            data = bytearray()
            while part := file.read(PART_BYTES):  # read(LOG_BYTES) would claim as much memory
                data += part
                if len(data) > LOG_BYTES:
                    raise LogError(f"{path}: it holds more than {LOG_BYTES} bytes; split it.")
    except UNREADABLE as error:
        raise unreadable(path, error) from None
    return utf8(data)


#: An escape of one half of a character, which stands for nothing without the other.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _is_text(value: Any) -> bool:
    try:
        return bool(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False


def field(where: str, row: Any, name: str, kind: type, optional: bool = False) -> Any:
    """The value of a field, if it is of its kind.

    Parameters
    ----------
    where
        The file and row, for the message.
    row
        An object of the file.
    name
        The field; ``a.b`` is the field b of the object a.
    kind
        bool, int, float (a whole number will do), str, list or dict. A boolean is no number.
    optional
        Whether the field may be missing or null.

    Returns
    -------
    object
        None only where the field is optional.

    Raises
    ------
    LogError
        If it is missing or of another kind.

    Examples
    --------
    >>> field("a.json, row 0", {"info": {"error": "no route"}}, "info.error", str)
    'no route'
    """
    value = row
    for part in name.split("."):
        if not isinstance(value, Mapping | None):
            raise LogError(f"{where}, {name}: {show(value)} is no object. Is it of this format?")
        value = value.get(part) if value else None
    if value is None and optional:
        return None
    if isinstance(value, int) and abs(value) >= 2**63:
        raise LogError(f"{where}, {name}: is {show(value)}; no number has more than 64 bits.")
    fits = isinstance(value, (int, float) if kind is float else kind)
    if fits and isinstance(value, bool) == (kind is bool):
        return value
    have = "is missing" if value is None else f"is {show(value)}"
    raise LogError(f"{where}, {name}: {have}; expected {_WORDS[kind]}. Is it of this format?")


def judged(where: str, name: str, score: float | None, infra: bool = False) -> float | None:
    """The success of a trial: its score, or None where there is none or the environment failed.

    Parameters
    ----------
    where, name
        The file and row, and the field, for the message.
    score
        0 or 1, or None.
    infra
        Whether the environment failed.

    Returns
    -------
    float or None

    Raises
    ------
    LogError
        If the score is another number, or is 1 where the environment failed.
    """
    if score not in (None, 0, 1):
        raise LogError(f"{where}, {name}: {score} is neither 0 nor 1.")
    if infra and score:
        raise LogError(f"{where}, {name}: is 1, yet the row says that the environment failed.")
    return None if infra or score is None else float(score)


def trials(rows: Sequence[Mapping[str, Any]], path: PathLike, duplicates: Duplicates) -> Any:
    """The trials table of a file's rows.

    Parameters
    ----------
    rows
        One mapping for each trial, with at least task, trial, success, infra, steps and cost.
    path
        The file that they are from.
    duplicates : {"error", "drop"}
        As `evalkit.trials.trials_table` takes it.

    Returns
    -------
    DataFrame

    Raises
    ------
    LogError
        If there is no row, a trial of a task occurs twice and may not be dropped, or a number is
        too large.
    """
    if not rows:
        raise LogError(f"{path}: there is no trial in it.")
    numbers = dict.fromkeys(("success", "cost"), "float64")
    try:
        table = pd.DataFrame(list(rows)).astype(numbers | {"steps": "Int64"})
        trials_table(table, infra="infra", steps="steps", cost="cost", duplicates=duplicates)
    except (ValueError, OverflowError) as error:  # a number of more than 64 bits
        raise LogError(f"{path}: {error}") from None
    if table["cost"].isin([math.inf, -math.inf]).any():
        raise LogError(f"{path}, cost: a trial has an infinite one.")
    return table.drop_duplicates(["task", "trial"], ignore_index=True).assign(file=Path(path).name)
