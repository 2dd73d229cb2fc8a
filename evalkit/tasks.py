"""A task: what an episode is asked to leave behind, and how that fits the states it is graded on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from evalkit.entries import (
    Allowed,
    Between,
    Created,
    Invariant,
    TaskError,
    checked_path,
    checked_value,
    without_last_stars,
)
from evalkit.forms import Forms, declare, keyed_view
from evalkit.paths import Lookup, Path, PathError, format_path, key_text, matches, split_path
from evalkit.statediff import State, state_diff
from evalkit.values import MISSING

__all__ = ["Allowed", "Between", "Created", "FittedTask", "Invariant", "Task", "TaskError", "fit"]


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
        Declared forms per field (see `evalkit.forms.declare`).
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
    evalkit.entries.TaskError: required['orders/W1/status']: Allowed('orders/W1') allows it too;
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
                    raise TaskError(f"{name}[{i}]: {entry!r} is no {kinds[name].__name__}(...)")
            object.__setattr__(self, name, entries)
        for name in ("required", "forms"):
            if not isinstance(getattr(self, name), Mapping):
                raise TaskError(f"{name}={getattr(self, name)!r}: write paths with their values")
        if type(self.unchanged) is not bool:
            raise TaskError(f"unchanged={self.unchanged!r}; write True or False")
        required = {}
        for path, value in self.required.items():
            checked_path(path, f"required[{path!r}]", exact=True)
            required[path] = checked_value(value, f"required[{path!r}]")
        object.__setattr__(self, "required", required)
        for i, path in enumerate(self.deleted):
            checked_path(path, f"deleted[{i}]", exact=True)
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
                if allowed.only in ("", kind) and _covers(allowed, split_path(path)):
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
        task = cls(allowed=tuple(allowed), forms=forms or {}, invariants=tuple(invariants))
        fitted = fit(task, before, gold)
        free_columns = _free_columns(free or {}, fitted)
        required: dict[str | Path, Any] = {}
        created: list[Created] = []
        deleted: list[str | Path] = []
        changes = state_diff(before, gold, forms)
        for change in changes:
            table, value = change.path[:-1], change.after
            if fitted.allows(change.path):
                continue
            if change.kind == "removed":
                deleted.append(change.path)
            elif change.kind == "added" and table in free_columns and type(value) is dict:
                columns = {k: v for k, v in value.items() if k not in free_columns[table]}
                created.append(Created(table, free=free_columns[table], columns=columns))
            else:
                required[change.path] = value
        return replace(
            task, required=required, created=created, deleted=deleted, unchanged=not changes
        )


def _free_columns(
    free: Mapping[str | Path, Sequence[Any]], fitted: FittedTask
) -> dict[Path, tuple[Any, ...]]:
    """Table to free columns, the tables found in the before state."""
    found = {}
    for table, columns in free.items():
        entry = f"free[{table!r}]"
        if isinstance(columns, str):
            raise TaskError(f"{entry}={columns!r}; write a list of columns, [{columns!r}]")
        found[fitted.existing(table, entry)] = tuple(columns)
    return found


def _covers(allowed: Allowed, segments: Path) -> bool:
    """Whether a pattern names a path that is not found in a state yet, or a place above it."""
    pattern = split_path(allowed.path)
    return len(segments) >= len(pattern) and all(
        p == "*" or key_text(p) == key_text(s) for p, s in zip(pattern, segments, strict=False)
    )


# --- a task and the states of one episode -------------------------------------------------


@dataclass(frozen=True)
class FittedTask:
    """A task with its paths found in the states of one episode.

    Attributes
    ----------
    before, after : Lookup
        The two states, lists that are declared keyed looked into as mappings.
    forms
        Declared forms, ready for use.
    required, created, deleted
        The entries of the task, by typed path.
    allowed
        Typed pattern and entry; what follows a star is still found by its text.
    """

    before: Lookup
    after: Lookup
    forms: Forms
    required: dict[Path, Any]
    created: tuple[tuple[Path, Created], ...]
    deleted: tuple[Path, ...]
    allowed: tuple[tuple[Path, Allowed], ...]

    def allows(self, path: Path) -> bool:
        """Whether a change at a path is allowed.

        What limits it is looked at where the pattern points, which may be above the change:
        ``only="added"`` on a row allows new rows, never a field that is added to an old one.
        """
        for pattern, entry in self.allowed:
            place = path[: len(pattern)]
            if matches(pattern, place):
                sides = (state.find(place, MISSING) for state in (self.before, self.after))
                if entry.holds(*sides):
                    return True
        return False

    def fixed_part(self, value: Any, path: Path) -> Any:
        """A required value without the fields below it that are allowed to differ."""
        if type(value) is not dict or not any(
            len(pattern) > len(path) and matches(pattern[: len(path)], path)
            for pattern, _ in self.allowed
        ):
            return value
        items = ((k, v, (*path, k)) for k, v in value.items())
        return {k: self.fixed_part(v, place) for k, v, place in items if not self.allows(place)}

    def existing(self, path: str | Path, entry: str, new: bool = False) -> Path:
        """The typed path of a place in the before state; its last key may be ``new``.

        Raises
        ------
        TaskError
            If it leads nowhere; the message lists what there is.
        """
        found = _resolved(self.before, path, entry)
        for i, key in enumerate(found):
            node = self.before.find(found[:i], MISSING)
            mapping = self.before.mapping(node, found[:i])
            if mapping is None:
                kind = "list, compared whole" if isinstance(node, list) else "single value"
                raise TaskError(
                    f"{entry}: {format_path(found[:i])} is a {kind}; end the path there"
                )
            if self.before.find(found[: i + 1], MISSING) is MISSING:
                if new and i == len(found) - 1:
                    return self._new_place(found, path)
                where = f"{format_path(found[:i])} has no {key!r}" if i else f"there is no {key!r}"
                few = ", ".join(map(repr, list(mapping)[:6])) or "nothing"
                more = ", ..." if len(mapping) > 6 else ""
                hint = _hint(mapping, found[i]) if isinstance(path, str) else ""
                raise TaskError(f"{entry}: {where} (there are: {few}{more}){hint}")
        return found

    def _new_place(self, found: Path, path: str | Path) -> Path:
        """The path of a new row: the after state knows the type of its key, if any does."""
        if isinstance(path, str) and type(found[-1]) is str:
            with suppress(PathError):  # two such keys: the agent's doing, and neither is the one
                return self.after.resolve(path)
        return found


def _hint(mapping: Mapping[Any, Any], wanted: Any) -> str:
    """What may be meant by a key that is not there."""
    if any("/" in key_text(key) for key in mapping):
        return "; write a tuple for a key with a slash"
    if key := next((key for key in mapping if isinstance(key, tuple)), None):
        return f"; a key of several columns is written with commas, as in {key_text(key)!r}"
    if "sha256" in mapping and wanted in ("rows", "content"):
        return "; snapshot(..., cells=['*.csv', '*.json']) reads such files to the cell"
    return ""


def fit(task: Task, before: State, after: State) -> FittedTask:
    """The task with its paths found in the states of one episode.

    Raises
    ------
    TaskError
        If a path names an unknown table or place of the before state, or an allowed pattern covers
        a whole table without saying so.

    Examples
    --------
    >>> orders = {"orders": {"W1": {}}}
    >>> _ = fit(Task(required={"ordres/W1/status": "cancelled"}), orders, orders)
    Traceback (most recent call last):
    ...
    evalkit.entries.TaskError: required['ordres/W1/status']: there is no 'ordres' (there are:
    'orders')
    """
    forms = declare(task.forms)
    lookups = Lookup(before, keyed_view(forms)), Lookup(after, keyed_view(forms))
    bare = FittedTask(*lookups, forms, {}, (), (), ())
    required: dict[Path, Any] = {}
    for path, value in task.required.items():
        entry = f"required[{path!r}]"
        found = bare.existing(path, entry, new=True)
        if found in required:
            raise TaskError(f"{entry}: {format_path(found)} is required twice")
        required[found] = value
    allowed = []
    for i, row in enumerate(task.allowed):
        pattern = _resolved(lookups[0], row.path, f"allowed[{i}]", pattern=True)
        if not row.may_cover_a_table and _covers_a_table(pattern, lookups[0]):
            raise TaskError(row.too_wide)
        allowed.append((pattern, row))
    return replace(
        bare,
        required=required,
        created=tuple(
            (bare.existing(row.table, f"created[{i}]"), row) for i, row in enumerate(task.created)
        ),
        deleted=tuple(bare.existing(p, f"deleted[{i}]") for i, p in enumerate(task.deleted)),
        allowed=tuple(allowed),
    )


def _resolved(state: Lookup, path: str | Path, entry: str, pattern: bool = False) -> Path:
    try:
        return state.resolve_pattern(path) if pattern else state.resolve(path)
    except PathError as error:
        raise TaskError(f"{entry}: {error}") from None


def _covers_a_table(pattern: Path, before: Lookup) -> bool:
    """Whether a pattern, its last stars aside, names a mapping that holds only mappings.

    An empty mapping at the top is a table without rows.
    """
    head = without_last_stars(pattern)
    nodes = before.places(head) if head else {(): before.state}
    mappings = ((path, before.mapping(node, path)) for path, node in nodes.items())
    return any(
        mapping is not None
        and (mapping or len(path) == 1)
        and all(type(row) is dict for row in mapping.values())
        for path, mapping in mappings
    )
