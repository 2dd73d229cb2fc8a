"""A task fitted to the state it starts from: its paths found, its patterns measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalkit.paths import Path, PathError, View, find, format_path, places, resolve, split_path
from evalkit.statediff import State
from evalkit.tasks import Allowed, Created, Task, TaskError, without_last_stars
from evalkit.values import MISSING, declare, keyed_view


@dataclass(frozen=True)
class FittedTask:
    """The entries of a task with their typed paths in one before state."""

    required: dict[Path, Any]
    created: tuple[tuple[Path, Created], ...]
    deleted: tuple[Path, ...]


def fit(task: Task, before: State) -> FittedTask:
    """The task with its paths found in a state.

    Raises
    ------
    TaskError
        If a path names an unknown table or place, or an allowed pattern covers a whole table
        without saying so.

    Examples
    --------
    >>> _ = fit(Task(required={"ordres/W1/status": "cancelled"}), {"orders": {"W1": {}}})
    Traceback (most recent call last):
    ...
    evalkit.tasks.TaskError: required['ordres/W1/status']: there is no 'ordres' (there are:
    'orders')
    """
    view = keyed_view(declare(task.forms))
    required: dict[Path, Any] = {}
    for path, value in task.required.items():
        entry = f"required[{path!r}]"
        found = _resolved(path, before, view, entry)
        _must_exist(found, before, view, entry, new=True)
        if found in required:
            raise TaskError(f"{entry}: {format_path(found)} is required twice")
        required[found] = value
    deleted = {f"deleted[{i}]": path for i, path in enumerate(task.deleted)}
    tables = {f"created[{i}]": row.table for i, row in enumerate(task.created)}
    for entry, path in (deleted | tables).items():
        _must_exist(_resolved(path, before, view, entry), before, view, entry)
    for allowed in task.allowed:
        if not allowed.may_cover_a_table and _covers_a_table(allowed, before):
            raise TaskError(allowed.too_wide)
    return FittedTask(
        required,
        tuple((resolve(row.table, before, view), row) for row in task.created),
        tuple(resolve(path, before, view) for path in task.deleted),
    )


def _covers_a_table(allowed: Allowed, before: State) -> bool:
    """Whether a pattern, its last stars aside, names a mapping that holds only mappings."""
    head = without_last_stars(split_path(allowed.path))
    pattern = "/".join(head) if isinstance(allowed.path, str) else head
    nodes = places(pattern, before).values() if head else [before]
    return any(
        type(node) is dict and node and all(type(row) is dict and row for row in node.values())
        for node in nodes
    )


def _must_exist(path: Path, before: State, view: View, entry: str, new: bool = False) -> None:
    """Raise if a path leads nowhere (its last key may be ``new``); the message lists what there is."""
    for i, key in enumerate(path):
        node = view(find(before, path[:i], MISSING, view), path[:i])
        if type(node) is not dict:
            raise TaskError(f"{entry}: {format_path(path[:i])} is a single value")
        if new and i == len(path) - 1:
            return
        if key not in node:
            where = f"{format_path(path[:i])} has no {key!r}" if i else f"there is no {key!r}"
            few = ", ".join(map(repr, list(node)[:6])) or "nothing"
            more = ", ..." if len(node) > 6 else ""
            raise TaskError(f"{entry}: {where} (there are: {few}{more})")


def _resolved(path: str | Path, before: State, view: View, entry: str) -> Path:
    try:
        return resolve(path, before, view)
    except PathError as error:
        raise TaskError(f"{entry}: {error}") from None
