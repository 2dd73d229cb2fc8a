"""Tools that fail now and then, and what an agent does about it: the step model on a real store.

`failing` makes of a scenario one whose editing tools fail when they are told to. Such a fault is no
infra failure: every call is answered and the episode goes on, so an agent that looks can notice
that an edit did not take, and make it again. How it makes one edit is its `Habit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from itertools import count
from typing import Any

import numpy as np

from evalkit.simulate import SCENARIO, SCENARIOS
from evalkit.simulate.agents import Policy
from evalkit.simulate.world import Call, Scenario, Tool, ToolError, World

#: None; the tool refuses and writes nothing; it answers as usual and nothing of it is kept.
FAULTS = ("", "refused", "lost")

#: ``habit(call, step)`` makes one edit, once or more. A refusal does not get past it.
Habit = Callable[[Callable[..., Any], Call], None]

#: Where `read_back` looks: the table that a tool writes. Where two scenarios have a tool of one name,
#: the one that the chapters play on decides.
TABLES = {
    edit.right.tool: table
    for scenario in (*SCENARIOS.values(), SCENARIO)
    for edit, table in zip(scenario.edits, scenario.tables, strict=True)
}


def now_and_then(rate: float, silent: float, rng: np.random.Generator) -> Iterator[str]:
    """An endless row of faults, drawn call by call.

    Parameters
    ----------
    rate
        Probability that a call has a fault, in [0, 1]: one minus the per-step reliability r.
    silent
        Share of the faults that lose the write; the others refuse it.
    rng
        Source of chance.

    Returns
    -------
    iterator of str
        Each one of `FAULTS`.

    Raises
    ------
    ValueError
        If a share is outside [0, 1].

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(now_and_then(0.4, 0.5, np.random.default_rng(2)), 6))
    ['lost', '', 'refused', '', 'lost', 'refused']
    """
    for name, share in (("rate", rate), ("silent", silent)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name}: {share} is not a share; give a number from 0 to 1")
    return (
        ("lost" if rng.random() < silent else "refused") if rng.random() < rate else ""
        for _ in count()
    )


def failing(scenario: Scenario, faults: Iterable[str]) -> Scenario:
    """The scenario with tools that fail: each call of a tool that edits takes the next fault.

    Parameters
    ----------
    scenario
        Its lookups are left alone: only the tools by which its edits are made fail.
    faults
        One of `FAULTS` a call, in order, through all episodes. After the last, nothing fails.

    Returns
    -------
    Scenario

    Examples
    --------
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> with World(failing(CUSTOMER_OPERATIONS, ["lost", "refused"])) as world:
    ...     world.call("cancel_order", order_id="W1001")
    ...     world.call("read", table="orders", id="W1001")["status"]
    ...     try:
    ...         world.call("cancel_order", order_id="W1001")
    ...     except ToolError as error:
    ...         print(error)
    {'id': 'W1001', 'status': 'cancelled'}
    'processing'
    cancel_order failed: nothing was written
    """
    remaining = iter(faults)
    edited_by = {edit.right.tool for edit in scenario.edits}

    def failing_tool(tool: Tool) -> Tool:
        @wraps(tool)
        def call(world: World, **arguments: Any) -> Any:
            fault = next(remaining, "")
            if fault not in FAULTS:
                raise ValueError(f"faults: there is no fault {fault!r}; give one of {FAULTS}")
            if fault == "refused":
                raise ToolError(f"{tool.__name__} failed: nothing was written")
            result = tool(world, **arguments)
            if fault == "lost":
                world.connection.rollback()
            return result

        return call

    tools = (failing_tool(t) if t.__name__ in edited_by else t for t in scenario.tools)
    return replace(scenario, tools=tuple(tools))


def carry_on(call: Callable[..., Any], step: Call) -> None:
    """Make the edit, and go on whatever the tool answers."""
    with suppress(ToolError):
        call(step.tool, **step.arguments)


def retry_refused(call: Callable[..., Any], step: Call) -> None:
    """Make the edit; if the tool refuses, make it once more."""
    try:
        call(step.tool, **step.arguments)
    except ToolError:
        carry_on(call, step)


def check_work(call: Callable[..., Any], step: Call) -> None:
    """Make the edit and read the record back; if the edit is not there, make it once more."""
    try:
        answer = call(step.tool, **step.arguments)
        there = answer.items() <= read_back(call, step, answer).items()
    except ToolError:
        there = False
    if not there:
        carry_on(call, step)


def read_back(call: Callable[..., Any], step: Call, answer: dict[str, Any]) -> dict[str, Any]:
    """The record that an edit says it wrote, read again."""
    if step.tool not in TABLES:
        raise ValueError(f"TABLES: add the table that {step.tool} writes")
    record: dict[str, Any] = call("read", table=TABLES[step.tool], id=answer["id"])
    return record


def worker(scenario: Scenario, habit: Habit) -> Policy:
    """The policy that knows a scenario's job by heart, and makes each edit by one habit.

    It goes wrong only where a tool fails, so its per-step reliability r is one minus their rate.

    Parameters
    ----------
    scenario
        The job.
    habit
        How an edit is made.

    Returns
    -------
    Policy
        It always claims success.

    Examples
    --------
    >>> from evalkit.simulate.episodes import play
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> for habit in (carry_on, check_work):
    ...     policy = worker(CUSTOMER_OPERATIONS, habit)
    ...     with World(failing(CUSTOMER_OPERATIONS, ["", "lost"])) as world:
    ...         play(policy, world, np.random.default_rng(0)).verdict.credit
    0.75
    1.0
    """

    def policy(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        for step in scenario.lookups:
            call(step.tool, **step.arguments)
        for edit in scenario.edits:
            habit(call, edit.right)
        return True

    return policy
