"""JSON and CSV text, read only where every reader would agree on what it says.

States, tasks and logs are all read here. Of a key that is there twice some readers take the first
value and some the last, and an agent, or a broken log, may hide behind either.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from io import StringIO
from typing import Any

from evalkit.values import show

MARK = "\ufeff"  # the byte order mark, with which some editors begin a text


class TextError(ValueError):
    """Text that cannot be relied on.

    Attributes
    ----------
    line : int
        Where, counted from 1.
    """

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.line = line


class _Fault(ValueError):
    """What is wrong, found where the line is not known."""


def strict_json(text: str) -> Any:
    """The value of a JSON text.

    Parameters
    ----------
    text
        One value. Nothing in it is evaluated.

    Returns
    -------
    object
        Dicts, lists, text, numbers, booleans and None. A number with a point is a float.

    Raises
    ------
    TextError
        If it is no JSON, begins with a byte order mark, is nested too deeply, has a key twice in
        one object, or holds NaN or a number too large for a float.

    Examples
    --------
    >>> strict_json('{"passed": true, "passed": false}')
    Traceback (most recent call last):
    ...
    evalkit.strict.TextError: the key 'passed' is there twice in one object
    """
    if not text.strip():
        raise TextError("it is empty", 1)
    if text.startswith(MARK):
        raise TextError("it begins with a byte order mark", 1)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _no_json(text, error) from None
    except ValueError as error:  # a `_Fault`, or an integer too long
        raise TextError(str(error), _line_of_fault(text)) from None
    except RecursionError:
        raise TextError("it is nested too deeply", _line_of_fault(text)) from None


def utf8(data: bytes | bytearray) -> str:
    """The text that bytes hold.

    Parameters
    ----------
    data
        Of a file.

    Returns
    -------
    str

    Raises
    ------
    TextError
        If they are not UTF-8.

    Examples
    --------
    >>> utf8("Zürich".encode("latin-1"))
    Traceback (most recent call last):
    ...
    evalkit.strict.TextError: byte 0xfc is not UTF-8 text; if it is text, save it as UTF-8
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        why = f"byte 0x{data[error.start]:02x} is not UTF-8 text; if it is text, save it as UTF-8"
        raise TextError(why, data.count(b"\n", 0, error.start) + 1) from None


def strict_csv(text: str) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV text, all as text, by the names in its first line.

    Parameters
    ----------
    text
        With a header. A byte order mark and blank lines at the end do not count.

    Returns
    -------
    list of (int, dict)
        The line where a row begins, counted from 1, and the row. Blank fields are empty text.

    Raises
    ------
    TextError
        If there is no header or it names a column twice, a row has more or fewer fields than
        the header, or a quote is out of place.

    Examples
    --------
    >>> strict_csv("id,city\\n1,Turin\\n")
    [(2, {'id': '1', 'city': 'Turin'})]
    """
    reader = csv.reader(StringIO(text.removeprefix(MARK).rstrip("\r\n"), newline=""), strict=True)
    limit = csv.field_size_limit(max(len(text), 1))  # of the whole process
    rows, line = [], 1
    try:
        columns = next(reader, [])
        if not columns or len(set(columns)) < len(columns):
            raise csv.Error("there is no header, or it names a column twice")
        line = reader.line_num + 1
        for row in reader:
            if len(row) != len(columns):
                cut = ", as if cut off" * (len(row) < len(columns))
                raise csv.Error(f"{len(row)} fields under {len(columns)} columns{cut}")
            rows.append((line, dict(zip(columns, row, strict=True))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise TextError(str(error), reader.line_num or 1) from None
    finally:
        csv.field_size_limit(limit)
    return rows


def _no_json(text: str, error: json.JSONDecodeError) -> TextError:
    """What is wrong with a text that is no JSON, and on which line."""
    comma = text.rfind(",", 0, error.pos + 1)  # where newer versions of Python point
    trailing = re.compile(r",\s*+([}\]])").match(text, comma) if comma >= 0 else None
    if trailing and trailing.end() > error.pos and error.msg.startswith(("Expecting", "Illegal")):
        why = f"there is nothing between a comma and {trailing[1]!r}; it is no JSON"
        return TextError(why, text.count("\n", 0, comma) + 1)
    why = f"{error.msg} (column {error.colno}); it is no JSON, or cut off"
    return TextError(why, error.lineno)


def unique(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The pairs as a dict; a ValueError if a key is there twice."""
    pairs = list(pairs)
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key in times if times[key] > 1)
        raise _Fault(f"the key {show(twice)} is there twice in one object")
    return found


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise _Fault(f"{show(text)} is no number that both JSON and a float can hold")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=unique, parse_constant=_finite, parse_float=_finite)

# Possessive, as a text of millions of characters would be kept in mind one by one.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"(\s*+:)?|[][{}]|[^][{}",:\s]++')


#: Deeper than any reader follows; further in, no line is looked for.
_DEEP = 100_000


def _line_of_fault(text: str) -> int:
    """The line of the first key or number that is refused; else where nesting is the deepest."""
    keys: list[set[str]] = [set()]  # of the text itself, and of each object or list that is open
    deepest = place = 0
    for token in _TOKEN.finditer(text):
        sign = token[0][0]
        if sign in "[{":
            keys.append(set())
            if len(keys) > deepest:
                deepest, place = len(keys), token.start()
        elif sign in "]}" and len(keys) > 1:  # what comes after the fault need not be balanced
            keys.pop()
        elif (sign != '"' or token[1]) and _is_refused(token, keys[-1]):
            place = token.start()
            break
        if deepest > _DEEP:
            break
    return text.count("\n", 0, place) + 1


def _is_refused(token: re.Match[str], keys: set[str]) -> bool:
    """Whether a key is there twice, or anything else that is no text is no value by itself."""
    try:
        value = _DECODER.decode(token[0].removesuffix(token[1] or ""))
    except ValueError:
        return True
    if not token[1]:
        return False
    twice = value in keys
    keys.add(value)
    return twice
