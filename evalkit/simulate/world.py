"""What every simulated world shares: a database, tools that act on it, and the record of what was done.

A `Scenario` is plain data: the tables, the tools, the edits a task requires and the writes it does
not. A `World` is one live database made from a scenario. An agent acts on it through one function,
`World.call`, and each call is kept as an `Action`, refused or not.

Two scenarios ship: customer operations, in `evalkit.simulate.store`, and a clinic's appointments, in
`evalkit.simulate.clinic`. Another scenario is another file that builds a `Scenario`, and its line in
`evalkit.simulate`; nothing else needs to change.
"""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from inspect import signature
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self, get_type_hints

import numpy as np

from evalkit.paths import split_path
from evalkit.process import Action
from evalkit.tasks import Task

Tool = Callable[..., Any]

# The simulated clock: where it starts, and how far each call moves it. The wall clock is never read.
OPENING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TICK = timedelta(seconds=30)


def timestamp(moment: datetime) -> str:
    """A moment in UTC as the stores write it, in ISO 8601."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class ToolError(Exception):
    """A tool refused: an unknown id, a shipped order, a wrong argument.

    It is an ordinary result that the agent sees and may act on. The action stands in the trajectory
    with the message as its `error`, and the database is as it was before the call.
    """


@dataclass(frozen=True, init=False)
class Call:
    """A call of a tool that has yet to be made, written as `World.call` takes it.

    Examples
    --------
    >>> Call("cancel_order", order_id="W1001")
    Call(tool='cancel_order', arguments={'order_id': 'W1001'})
    """

    tool: str
    arguments: Mapping[str, Any]

    def __init__(self, tool: str, /, **arguments: Any) -> None:
        object.__setattr__(self, "tool", tool)
        object.__setattr__(self, "arguments", arguments)

    def __str__(self) -> str:
        return str(Action(self.tool, self.arguments))

    def anew(self, *values: Any) -> Call:
        """The same call with other values, in the order of its arguments.

        Examples
        --------
        >>> str(Call("add_note", customer_id="C3", text="Moved.").anew("C4", "Has not moved."))
        "add_note(customer_id='C4', text='Has not moved.')"
        """
        return Call(self.tool, **dict(zip(self.arguments, values, strict=True)))


@dataclass(frozen=True)
class Edit:
    """One edit that the task requires: the call that makes it, and the call of an agent that errs.

    The wrong call never counts as met and never touches a second record: it writes a wrong value
    in the right place, or it is refused.
    """

    label: str
    right: Call
    wrong: Call


@dataclass(frozen=True)
class Stray:
    """One write that nobody asked for, by a tool that the agent has.

    It never touches what the task requires, and no two strays undo each other.
    """

    label: str
    call: Call


@dataclass(frozen=True)
class Scenario:
    """Everything that is particular to one world.

    Parameters
    ----------
    name
        What the world is called in a title.
    instruction
        What the agent is told to do.
    schema
        The SQL that creates the tables.
    fill
        Writes the first rows, given the connection and a generator.
    tools
        Functions of the world and of keyword arguments. A tool goes by the function's name, its
        annotations are enforced, and its docstring describes it.
    lookups
        The reading that the simulated agents do before they edit, in order. They leave out the
        last one in half of their episodes.
    edits
        The required edits, in order.
    strays
        The unintended writes that an agent may make.
    task
        What the grader is told.
    """

    name: str
    instruction: str
    schema: str
    fill: Callable[[sqlite3.Connection, np.random.Generator], None]
    tools: tuple[Tool, ...]
    lookups: tuple[Call, ...]
    edits: tuple[Edit, ...]
    strays: tuple[Stray, ...]
    task: Task

    @property
    def actions(self) -> tuple[int, int]:
        """The two numbers of actions that an episode of a simulated agent may have."""
        most = len(self.lookups) + len(self.edits)
        return most - 1, most

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the task's edits write: those of what is required, then of the new rows."""
        required = (split_path(place)[0] for place in self.task.required)
        return (*map(str, required), *(str(row.table) for row in self.task.created))


class World:
    """A live database of a scenario, the tools on it and the trajectory since the last reset.

    Parameters
    ----------
    scenario
        What the world is made of.
    seed
        Decides the rows that the scenario draws.
    path
        Where the database is kept: in memory, unless a file that does not exist yet is named.

    Raises
    ------
    ValueError
        If the file exists already, or its folder does not.

    Examples
    --------
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> with World(CUSTOMER_OPERATIONS, seed=1) as world:
    ...     world.call("cancel_order", order_id="W1001")
    ...     try:
    ...         world.call("cancel_order", order_id="W1002")
    ...     except ToolError as error:
    ...         print(error)
    ...     len(world.trajectory)
    {'id': 'W1001', 'status': 'cancelled'}
    order W1002 is delivered; only a processing order can be cancelled
    2
    """

    def __init__(
        self, scenario: Scenario, seed: int = 0, path: str | PathLike[str] = ":memory:"
    ) -> None:
        if fspath(path) != ":memory:":
            _check_new(Path(path))
        self.scenario = scenario
        self.connection = sqlite3.connect(path)
        try:
            self.connection.execute("PRAGMA foreign_keys = ON")
            self.connection.executescript(scenario.schema)
            with self.connection:
                scenario.fill(self.connection, np.random.default_rng(seed))
        except BaseException:
            self.connection.close()
            raise
        self._image = sqlite3.connect(":memory:")
        self.connection.backup(self._image)
        self._tools = {tool.__name__: tool for tool in scenario.tools}
        self._clear()

    def _clear(self) -> None:
        self._time = OPENING
        self._actions: list[Action] = []

    def reset(self) -> None:
        """Put every row, the clock and the trajectory back to the start: microseconds in memory."""
        self._image.backup(self.connection)
        self._clear()

    @property
    def trajectory(self) -> tuple[Action, ...]:
        """The actions since the last reset, in order."""
        return tuple(self._actions)

    def now(self) -> str:
        """The simulated time in ISO 8601; it moves on by `TICK` with every call."""
        return timestamp(self._time)

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Return what the tool returns, and keep the call in the trajectory.

        Parameters
        ----------
        tool
            The name of one of the scenario's tools.
        **arguments
            The tool's arguments.

        Returns
        -------
        Any
            Plain data: numbers, text, None, and lists and dictionaries of these.

        Raises
        ------
        ToolError
            If the tool refuses, does not exist, or cannot take these arguments.
        """
        self._time += TICK
        try:
            function = _checked(self._tools, tool, arguments)
            with self.connection:  # commits, or rolls back if the tool refuses half-way
                result = function(self, **arguments)
        # Besides a refusal of its own, a tool can be handed a value that a column cannot hold.
        except (ToolError, sqlite3.IntegrityError, OverflowError, UnicodeEncodeError) as error:
            self._actions.append(Action(tool, copy.deepcopy(arguments), error=str(error)))
            raise ToolError(str(error)) from error
        # A copy, because the agent holds the result and could rewrite the record through it.
        self._actions.append(Action(tool, dict(arguments), result=copy.deepcopy(result)))
        return result

    def close(self) -> None:
        """Close the database. A world in a `with` block closes itself."""
        self._image.close()
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_new(path: Path) -> None:
    if path.exists():
        raise ValueError(f"path: {path} exists; name a new file, or remove this one first")
    if not path.parent.is_dir():
        raise ValueError(f"path: there is no folder {path.parent}; make it first")


@cache
def _hints(function: Tool) -> dict[str, Any]:
    return get_type_hints(function)


def _checked(tools: Mapping[str, Tool], name: str, arguments: Mapping[str, Any]) -> Tool:
    """The tool of this name, once it is known to exist and to take these arguments."""
    if name not in tools:
        raise ToolError(f"there is no tool {name!r}; the tools are {', '.join(sorted(tools))}")
    function = tools[name]
    try:
        signature(function).bind(None, **arguments)  # None stands for the world
    except TypeError as error:
        raise ToolError(f"{name}: {error}") from error
    for argument, value in arguments.items():
        kind = _hints(function).get(argument, object)  # what ** takes may be anything
        if isinstance(value, bool) or not isinstance(value, kind):  # True is no amount
            expected = getattr(kind, "__name__", str(kind))
            raise ToolError(f"{name}: {argument} must be {expected}, not {value!r}")
    return function
