"""What an episode is asked to leave behind: the changes that must, and that may, happen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from evalkit.paths import Path, PathError, View, find, key_text, matches, split_path
from evalkit.statediff import State, state_diff
from evalkit.values import MISSING, StateError, check_value, declare, has_form, keyed_view


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
    if type(value) in (int, float) and value == value:
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
    evalkit.tasks.TaskError: Allowed('orders/*'): covers a whole table; name the fields, limit it
    with only='added', or say whole=True
    """

    path: str | Path
    only: str = ""
    when: Callable[[Any], bool] | str | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        segments = _checked(self.path, f"Allowed({self.path!r})")
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

    def allows(self, path: Path, before: State, after: State, view: View) -> bool:
        """Whether a change at a path is allowed.

        What limits it is looked at where the pattern points, which may be above the change:
        ``only="added"`` on a row allows new rows, never a field that is added to an old one.
        """
        place = path[: len(split_path(self.path))]
        if not matches(self.path, place):
            return False
        old, new = find(before, place, MISSING, view), find(after, place, MISSING, view)
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
        _checked(table, where)
        if isinstance(free, str) or not isinstance(free, Iterable):
            raise TaskError(f"{where}: free={free!r}; write a list of columns, [{free!r}]")
        if not isinstance(columns or {}, Mapping):
            raise TaskError(f"{where}: columns={columns!r}; write column names with their values")
        values = _value({**(columns or {}), **named}, where)
        if not values:
            raise TaskError(f"{where}: name at least one column and its value")
        if both := set(values) & set(free):
            raise TaskError(f"{where}: {', '.join(map(str, both))} cannot be both stated and free")
        for name, value in (("table", table), ("columns", values), ("free", tuple(free))):
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


@dataclass(frozen=True)
class Task:
    """What must, and what may, differ between the state before an episode and the state after it.

    Parameters
    ----------
    required : mapping
        Path to the value that it must hold afterwards. A row with a known key is stated whole.
    created : sequence of Created
        Rows that must be added; specifications and rows match one to one.
    deleted : sequence of paths
        Places that must be gone.
    allowed : sequence of Allowed
        Changes that may happen. Every other change is collateral.
    forms : mapping
        Declared forms per field (see `evalkit.values.declare`).
    invariants : sequence of Invariant
        What must hold in the after state besides.
    unchanged : bool
        States that nothing may change, other than what is allowed.

    Raises
    ------
    TaskError
        If an entry is impossible; the message names it. Paths are checked against a state by
        `grade`.

    Examples
    --------
    >>> task = Task(required={"orders/W1/status": "cancelled"}, allowed=[Allowed("orders/W1")])
    Traceback (most recent call last):
    ...
    evalkit.tasks.TaskError: required['orders/W1/status']: Allowed('orders/W1') allows it too;
    a change is required or allowed, not both
    """

    required: Mapping[str | Path, Any] = field(default_factory=dict)
    created: Sequence[Created] = ()
    deleted: Sequence[str | Path] = ()
    allowed: Sequence[Allowed] = ()
    forms: Mapping[str | Path, str | Sequence[str]] = field(default_factory=dict)
    invariants: Sequence[Invariant] = ()
    unchanged: bool = False

    def __post_init__(self) -> None:
        kinds = {"created": Created, "allowed": Allowed, "invariants": Invariant}
        for name in ("created", "deleted", "allowed", "invariants"):
            entries = getattr(self, name)
            if isinstance(entries, str) or not isinstance(entries, Iterable):
                raise TaskError(f"{name}={entries!r}: write a list")
            entries = tuple(entries)
            for i, entry in enumerate(entries):
                if name in kinds and not isinstance(entry, kinds[name]):
                    raise TaskError(f"{name}[{i}]: {entry!r} is not a {kinds[name].__name__}(...)")
            object.__setattr__(self, name, entries)
        for name in ("required", "forms"):
            if not isinstance(getattr(self, name), Mapping):
                raise TaskError(f"{name}={getattr(self, name)!r}: write paths with their values")
        if type(self.unchanged) is not bool:
            raise TaskError(f"unchanged={self.unchanged!r}; write True or False")
        required = {}
        for path, value in self.required.items():
            _checked(path, f"required[{path!r}]", exact=True)
            required[path] = _value(value, f"required[{path!r}]")
        object.__setattr__(self, "required", required)
        for i, path in enumerate(self.deleted):
            _checked(path, f"deleted[{i}]", exact=True)
        try:
            declare(self.forms)
        except ValueError as error:
            raise TaskError(str(error)) from None
        if self.unchanged and (self.required or self.created or self.deleted):
            raise TaskError("unchanged=True: nothing may change, yet a change is required")
        self._check_overlaps()

    def _check_overlaps(self) -> None:
        stated = [(f"required[{p!r}]", p, "changed") for p in self.required]
        stated += [(f"deleted[{i}]", p, "removed") for i, p in enumerate(self.deleted)]
        for entry, path, kind in stated:
            for allowed in self.allowed:
                if allowed.only in ("", kind) and _covers_text(allowed, split_path(path)):
                    raise TaskError(
                        f"{entry}: {allowed} allows it too; a change is required or allowed, "
                        "not both"
                    )

    @property
    def states_something(self) -> bool:
        """Whether the task can be failed at all."""
        return bool(
            self.required or self.created or self.deleted or self.invariants or self.unchanged
        )

    @classmethod
    def from_goal(
        cls,
        before: State,
        gold: State,
        *,
        allowed: Sequence[Allowed] = (),
        forms: Mapping[str | Path, str | Sequence[str]] | None = None,
        free: Mapping[str | Path, Sequence[Any]] | None = None,
        invariants: Sequence[Invariant] = (),
    ) -> Task:
        """The task that a goal state states: reach it, and change nothing else.

        Parameters
        ----------
        before, gold
            The state at the start and the goal state.
        allowed, forms, invariants
            As in `Task`. What is allowed is not required, whatever the goal state holds there.
        free : mapping, optional
            Table to the columns that are free in a new row. Rows that the goal adds to such a
            table are stated by their content, not by their key.

        Returns
        -------
        Task
            With ``unchanged=True`` where the goal equals the start.

        Examples
        --------
        >>> Task.from_goal({"t": {1: {"x": 1}}}, {"t": {1: {"x": 2}}}).required
        {('t', 1, 'x'): 2}
        """
        required: dict[str | Path, Any] = {}
        created: list[Created] = []
        deleted: list[str | Path] = []
        free_columns = {
            split_path(table): tuple(columns) for table, columns in (free or {}).items()
        }
        view = keyed_view(declare(forms or {}))
        for change in state_diff(before, gold, forms):
            table, value = change.path[:-1], change.after
            if any(a.allows(change.path, before, gold, view) for a in allowed):
                continue
            if change.kind == "removed":
                deleted.append(change.path)
            elif change.kind == "added" and table in free_columns and type(value) is dict:
                stated = {k: v for k, v in value.items() if k not in free_columns[table]}
                created.append(Created(table, free=free_columns[table], columns=stated))
            else:
                required[change.path] = value
        task = cls(
            required, created, deleted, tuple(allowed), forms or {}, invariants=tuple(invariants)
        )
        return task if required or created or deleted else replace(task, unchanged=True)


def _covers_text(allowed: Allowed, segments: Path) -> bool:
    """The same for a path that is not found in a state yet, by the text of its keys."""
    pattern = split_path(allowed.path)
    return len(segments) >= len(pattern) and all(
        p == "*" or key_text(p) == key_text(s) for p, s in zip(pattern, segments, strict=False)
    )


def without_last_stars(segments: Path) -> Path:
    """A pattern up to its last segment that is no star."""
    while segments and segments[-1] == "*":
        segments = segments[:-1]
    return segments


def _checked(path: Any, entry: str, exact: bool = False) -> Path:
    try:
        segments = split_path(path)
    except PathError as error:
        raise TaskError(f"{entry}: {error}") from None
    if exact and isinstance(path, str) and "*" in segments:
        raise TaskError(f"{entry}: names one place, so it can hold no '*'")
    return segments


def _value(value: Any, entry: str) -> Any:
    try:
        return check_value(value)
    except StateError as error:
        raise TaskError(f"{entry}: {error}") from None
