"""Stored values: which ones there are, and what it means for two of them to be the same.

A grader that compares with ``==`` passes ``True`` for ``1`` and fails ``nan`` for ``nan``. Here a
value is compared as it is stored, type included, at every depth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from unicodedata import normalize
from uuid import UUID

from evalkit.paths import Path, format_path


class StateError(ValueError):
    """A state that cannot be compared; the message names the path or the file."""


class _Missing(Enum):
    MISSING = "MISSING"

    def __repr__(self) -> str:
        return "MISSING"


#: Stands where a path holds nothing. It is not ``None``, which is a value.
MISSING = _Missing.MISSING

# Compared by ``==`` once the types agree; the others need the care that `same` takes.
PLAIN = frozenset({type(None), bool, int, str, bytes, date, timedelta, UUID})
SCALARS = PLAIN | {float, Decimal, datetime, time}
#: Deeper nesting than this is refused: it is a cycle or an attack, not a record.
MAX_DEPTH = 100
#: How much a value may grow when what stands in it more than once is counted each time. A few
#: lists of the one before, twice, are a value that no comparison comes to the end of.
MAX_REPEATED = 2**22


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same as stored, type included, at every depth.

    Parameters
    ----------
    a, b
        Supported values: None, bool, int, float, str, bytes, Decimal, date, datetime, time,
        timedelta, UUID, and lists, tuples and dicts of them.

    Returns
    -------
    bool

    Raises
    ------
    StateError
        If a value has another type (its own ``==`` is never asked).

    Examples
    --------
    >>> same(1, True), same(2, 2.0), same([2], [2.0])
    (False, False, False)
    >>> same(float("nan"), float("nan")), same(0.0, -0.0)
    (True, False)
    """
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind in PLAIN:
        return bool(a == b)
    if kind is dict:
        return len(a) == len(b) and all(
            key is not MISSING and same(a[key], value) for key, value in _aligned(a, b)
        )
    if kind is list or kind is tuple:
        return len(a) == len(b) and all(map(same, a, b))
    if kind in SCALARS:
        return exact(a) == exact(b)
    raise StateError(unsupported(a))


def _aligned(a: dict, b: dict) -> Iterable[tuple[Any, Any]]:
    """For each item of ``b``: the key of ``a`` that is the same, or MISSING; and b's value."""
    own = None
    for key, value in b.items():
        if type(key) is str:
            yield (key if key in a else MISSING), value
        else:
            own = own or {k: k for k in a}
            found = own.get(key, MISSING)
            yield (found if found is not MISSING and same(found, key) else MISSING), value


def exact(value: Any) -> tuple:
    """The parts that tell two values of one type apart, where ``==`` does not."""
    if type(value) is float:
        return (repr(value),)  # tells -0.0 from 0.0, and nan is nan
    if type(value) is Decimal:
        return value.as_tuple()
    return value.replace(tzinfo=None), _offset(value), value.fold


def _offset(value: datetime | time) -> timedelta | None:
    try:
        return value.utcoffset()
    except Exception as error:  # a zone is whatever object its maker likes
        raise StateError(
            f"the zone of a {type(value).__name__} cannot be read: {error!r}"
        ) from None


def check_value(value: Any, path: Path = ()) -> Any:
    """An independent copy of a value, at every depth.

    What stands in it more than once is copied once. A time's zone becomes its offset at that time.

    Raises
    ------
    StateError
        If it holds an unsupported type, a subclass of a supported one (whose ``==`` could say
        anything), a cycle, more than `MAX_DEPTH` levels, or the same parts again and again (see
        `MAX_REPEATED`); the message names the path.

    Examples
    --------
    >>> check_value({"tags": {"a"}})
    Traceback (most recent call last):
    ...
    evalkit.values.StateError: tags: a set is not a supported value; use a list
    """
    return _copy(value, path, _Copied({}, 0, 0))


@dataclass
class _Copied:
    """The containers of one value so far: copy and size by id; and how large it is, written out."""

    known: dict[int, tuple[Any, int]]
    total: int
    repeated: int


def _copy(value: Any, path: Path, copied: _Copied) -> Any:
    kind = type(value)
    if kind in PLAIN or kind is float or kind is Decimal:
        return value
    if kind is datetime or kind is time:
        return _with_plain_zone(value, path)
    if kind is not dict and kind is not list and kind is not tuple:
        raise StateError(unsupported(value, path))
    if id(value) in copied.known:
        return _again(value, path, copied)
    if len(path) > MAX_DEPTH:
        raise StateError(f"{format_path(path[:6])}/...: nested deeper than {MAX_DEPTH} levels")
    before = copied.total
    copied.total += 1 + len(value)
    if kind is dict:
        copy: Any = {_check_key(k, path): _copy(v, (*path, k), copied) for k, v in value.items()}
    else:
        copy = kind(_copy(v, (*path, i), copied) for i, v in enumerate(value))
    copied.known[id(value)] = copy, copied.total - before
    return copy


def _again(value: Any, path: Path, copied: _Copied) -> Any:
    copy, size = copied.known[id(value)]
    copied.total += size
    copied.repeated += size
    if copied.repeated > MAX_REPEATED:
        raise StateError(
            f"{format_path(path[:6])}: the same lists or mappings stand in it too often"
        )
    return copy


def _with_plain_zone(value: Any, path: Path) -> Any:
    """The same moment with nothing of the agent's in it: a zone object may answer as it likes."""
    if value.tzinfo is None or type(value.tzinfo) is timezone:
        return value
    try:
        offset = _offset(value)
    except StateError as error:
        raise StateError(f"{format_path(path)}: {error}") from None
    return value.replace(tzinfo=None if offset is None else timezone(offset))


def is_key(value: Any) -> bool:
    """Whether a value can be the key of a mapping in a state."""
    parts = value if type(value) is tuple else (value,)
    return all(type(part) in SCALARS for part in parts)


def _check_key(key: Any, path: Path) -> Any:
    if is_key(key):
        return key
    raise StateError(f"{format_path(path)}: {unsupported(key)} (as a key)")


def unsupported(value: Any, path: Path = ()) -> str:
    """The message for a value of an unsupported type."""
    kind = type(value)
    hint = ""
    if kind.__module__.split(".")[0] == "numpy":
        hint = "; convert it with .item() or .tolist()"
    elif kind in (set, frozenset):
        hint = "; use a list"
    elif kind.__bases__ not in ((object,), ()):
        hint = f"; convert it to a plain {kind.__bases__[0].__name__}"
    where = f"{format_path(path)}: " if path else ""
    return f"{where}{a_kind(value)} is not a supported value{hint}"


def a_kind(value: Any) -> str:
    """The type of a value, with its article.

    Examples
    --------
    >>> a_kind(3), a_kind("3")
    ('an int', 'a str')
    """
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeioAEIO" else f"a {name}"


def show(value: Any, width: int = 60) -> str:
    """A value as short text for an explanation; it never raises, whatever the value.

    Examples
    --------
    >>> show("a" * 100, width=10)
    "'aaaaaa..."
    >>> show(MISSING)
    'nothing'
    """
    if value is MISSING:
        return "nothing"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of more than 4,300 digits, a deep list
        return f"{a_kind(value)} too large to show"
    return text if len(text) <= width else text[: width - 3] + "..."


def show_apart(expected: Any, found: Any) -> tuple[str, str]:
    """Two values as short text that differs where they do, though they may look alike.

    Examples
    --------
    >>> show_apart("x" * 100 + "a", "x" * 100 + "b")
    ("at character 100: 'a'", "at character 100: 'b'")
    """
    shown = show(expected), show(found)
    alike = normalize("NFKC", shown[0]) == normalize("NFKC", shown[1])
    if not alike or type(expected) is not str or type(found) is not str or expected == found:
        return shown
    pairs = enumerate(zip(expected, found, strict=False))
    i = next((i for i, (a, b) in pairs if a != b), min(len(expected), len(found)))
    first, second = (f"at character {i}: {v[i : i + 40]!a}" for v in (expected, found))
    return first, second
