"""The entries of a task: rows to be created, changes that are allowed, invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from evalkit.forms import has_form
from evalkit.paths import Path, PathError, split_path
from evalkit.statediff import State
from evalkit.values import MISSING, StateError, check_value, is_key


class TaskError(ValueError):
    """A task that says something impossible; the message names the entry and what to write."""


@dataclass(frozen=True)
class Between:
    """A condition on an allowed value: it lies in a range, the ends included.

    Two texts of instants are compared as instants. A value of another kind does not lie between.

    Examples
    --------
    >>> in_march = Between("2026-03-01T00:00:00Z", "2026-03-31T23:59:59Z")
    >>> in_march("2026-03-07T09:30:00+01:00"), in_march("2026-04-01T00:00:00Z"), in_march(None)
    (True, False, False)
    """

    low: Any
    high: Any

    def __post_init__(self) -> None:
        kinds = [_comparable(end)[0] for end in (self.low, self.high)]
        if kinds[0] != kinds[1] or not kinds[0]:
            raise TaskError(f"Between({self.low!r}, {self.high!r}): give two numbers or instants")

    def __call__(self, value: Any) -> bool:
        (kind, low), (_, high), (own, x) = map(_comparable, (self.low, self.high, value))
        return bool(own == kind and low <= x <= high)


def _comparable(value: Any) -> tuple[str, Any]:
    if type(value) in (int, float, Decimal) and has_form(value, "number"):
        return "number", value
    if type(value) in (str, datetime) and has_form(value, "instant"):
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return ("instant" if moment.utcoffset() is not None else "instant without a zone"), moment
    return "", None


@dataclass(frozen=True)
class Allowed:
    """A change that may happen.

    Parameters
    ----------
    path : str or tuple
        Pattern of a field (``"orders/W1/updated_at"``, ``"orders/*/updated_at"``), or of rows that
        may be added (``"audit_log/*"`` with ``only="added"``). It covers all that lies below.
    only : {"added", "removed", "changed"}, optional
        Limits it to one kind of change.
    when : callable, Between, or {"instant", "number"}, optional
        A condition on the new value. One that raises does not hold.
    whole : bool
        Must be true for a pattern that covers a whole table, so that nobody writes one by accident.

    Examples
    --------
    >>> Allowed("orders/*")
    Traceback (most recent call last):
    ...
    evalkit.entries.TaskError: Allowed('orders/*'): covers a whole table; name the fields, limit it
    with only='added', or say whole=True
    """

    path: str | Path
    only: str = ""
    when: Callable[[Any], bool] | str | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        segments = checked_path(self.path, f"Allowed({self.path!r})")
        if self.only not in ("", "added", "removed", "changed"):
            raise TaskError(f"{self}: only={self.only!r}; write 'added', 'removed' or 'changed'")
        if isinstance(self.when, str) and self.when not in ("instant", "number"):
            raise TaskError(f"{self}: when={self.when!r}; write 'instant', 'number' or a function")
        if self.when is not None and not isinstance(self.when, str) and not callable(self.when):
            raise TaskError(f"{self}: when={self.when!r} is not callable")
        if type(self.whole) is not bool:
            raise TaskError(f"{self}: whole={self.whole!r}; write True or False")
        short = segments[-1] == "*" and len(without_last_stars(segments)) < 2
        if short and not self.may_cover_a_table:
            raise TaskError(self.too_wide)

    def __str__(self) -> str:
        return f"Allowed({self.path!r})"

    @property
    def may_cover_a_table(self) -> bool:
        """Whether the entry says so, or is limited to rows that are added."""
        return self.whole or self.only == "added"

    @property
    def too_wide(self) -> str:
        """The message for a pattern that covers a table without saying so."""
        return (
            f"{self}: covers a whole table; name the fields, limit it with only='added', "
            "or say whole=True"
        )

    def holds(self, old: Any, new: Any) -> bool:
        """Whether a change of the allowed place, from one value to another, is within the limits.

        Either value is `MISSING` where the state holds nothing.
        """
        kind = "added" if old is MISSING else "removed" if new is MISSING else "changed"
        if self.only not in ("", kind):
            return False
        if self.when is None:
            return True
        if isinstance(self.when, str):
            return has_form(new, self.when)
        try:
            return new is not MISSING and bool(self.when(new))
        except Exception:  # the value is the agent's, so an odd one must not stop the grading
            return False


@dataclass(frozen=True, init=False)
class Created:
    """A row that must be added, whose key nobody can know in advance.

    Parameters
    ----------
    table : str or tuple
        The table that gains the row.
    free : sequence of str
        Columns that may hold anything, such as ``id`` and ``created_at``. Every other column that
        is not named is collateral.
    columns : mapping, optional
        Column to value, for names that are no Python identifiers.
    **named
        Column to value.

    Examples
    --------
    >>> Created("refunds", order_id="W1001", amount=42.5, free=["id"])
    Created('refunds', order_id='W1001', amount=42.5, free=['id'])
    """

    table: str | Path
    columns: dict[Any, Any]
    free: tuple[Any, ...]

    def __init__(
        self,
        table: str | Path,
        *,
        free: Iterable[Any] = (),
        columns: Mapping[Any, Any] | None = None,
        **named: Any,
    ) -> None:
        where = f"Created({table!r})"
        checked_path(table, where)
        if isinstance(free, str | bytes) or not isinstance(free, Iterable):
            raise TaskError(f"{where}: free={free!r}; write a list of columns, [{free!r}]")
        if not isinstance(columns or {}, Mapping):
            raise TaskError(f"{where}: columns={columns!r}; write column names with their values")
        free = tuple(free)
        values = checked_value({**(columns or {}), **named}, where)
        if not values:
            raise TaskError(f"{where}: name at least one column and its value")
        if not all(map(is_key, free)):
            raise TaskError(f"{where}: free={list(free)!r}; write names of columns")
        if both := set(values) & set(free):
            raise TaskError(f"{where}: {', '.join(map(str, both))} cannot be both stated and free")
        for name, value in (("table", table), ("columns", values), ("free", free)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        named = [f"{k}={v!r}" for k, v in self.columns.items()]
        free = [f"free={list(self.free)!r}"] if self.free else []
        return f"Created({', '.join([repr(self.table), *named, *free])})"


@dataclass(frozen=True)
class Invariant:
    """Something that must hold in the after state, whatever the goal says.

    Parameters
    ----------
    name : str
        What must hold, in words; the verdict shows it.
    holds : callable
        Takes the after state and returns whether it holds.
    """

    name: str
    holds: Callable[[State], bool]


def without_last_stars(segments: Path) -> Path:
    """A pattern up to its last segment that is no star."""
    while segments and segments[-1] == "*":
        segments = segments[:-1]
    return segments


def checked_path(path: Any, entry: str, exact: bool = False) -> Path:
    """The segments of a path, or a TaskError that names the entry; ``exact`` forbids stars."""
    try:
        segments = split_path(path)
    except PathError as error:
        raise TaskError(f"{entry}: {error}") from None
    if exact and isinstance(path, str) and "*" in segments:
        raise TaskError(f"{entry}: names one place, so it can hold no '*'")
    return segments


def checked_value(value: Any, entry: str) -> Any:
    """A copy of a value, or a TaskError that names the entry."""
    try:
        return check_value(value)
    except StateError as error:
        raise TaskError(f"{entry}: {error}") from None
