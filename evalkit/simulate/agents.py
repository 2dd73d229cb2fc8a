"""Careful and Aggressive, and the interface that an agent of the reader's own implements.

An agent, of whatever kind, is a `Policy`: one function of the call through which it acts, the
instruction, and a generator. The simulated agents draw the luck of a whole episode first, as a
`Plan`, and then act it out.

The edit and write rates of the two are the note's. Their claim rates are a choice of ours: the note
says only that Aggressive is more willing to claim success, and that its lead on three scoreboards
reaches 24 points. The round values .10 and .33 give that lead on its own report (.831 against .592).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalkit.simulate.world import Scenario, ToolError

#: ``policy(call, instruction, rng)`` does the task and returns whether it claims success.
#:
#: ``call("read", table="orders", id="W1001")`` uses a tool by its name, returns plain data, and
#: raises `ToolError` where the tool refuses. That function is all of the world that a policy is
#: given: not the database, and not the task. A refusal that the policy lets through ends the
#: episode without a claim.
Policy = Callable[[Callable[..., Any], str, np.random.Generator], bool]


@dataclass(frozen=True)
class Agent:
    """The rates of a simulated agent.

    Parameters
    ----------
    name
        What it is called in tables.
    edit
        Probability that it gets a required edit right, for each edit by itself.
    write
        Probability that it adds an unintended write to an action, for each action by itself.
    claim_unfinished
        Probability that it claims success although an edit is not right. With all edits right it
        always claims success.

    Raises
    ------
    ValueError
        If a rate is not a probability.

    Examples
    --------
    >>> Agent("Hasty", edit=0.9, write=6, claim_unfinished=0.5)
    Traceback (most recent call last):
    ...
    ValueError: write: 6 is not a probability; give a number from 0 to 1
    """

    name: str
    edit: float
    write: float
    claim_unfinished: float

    def __post_init__(self) -> None:
        for field in ("edit", "write", "claim_unfinished"):
            rate = getattr(self, field)
            if not 0 <= rate <= 1:
                raise ValueError(f"{field}: {rate} is not a probability; give a number from 0 to 1")


CAREFUL = Agent("Careful", edit=0.86, write=0.004, claim_unfinished=0.10)
AGGRESSIVE = Agent("Aggressive", edit=0.93, write=0.06, claim_unfinished=0.33)


@dataclass(frozen=True)
class Plan:
    """All that chance decides about one episode of a simulated agent.

    Parameters
    ----------
    lookups
        How many of the scenario's lookups are made.
    right
        For each required edit, whether it is made right.
    strays
        For each action, lookups first, the index of the stray write that follows it, or None.
    claim
        Whether success is claimed at the end.
    """

    lookups: int
    right: tuple[bool, ...]
    strays: tuple[int | None, ...]
    claim: bool


def draw_plan(agent: Agent, scenario: Scenario, rng: np.random.Generator) -> Plan:
    """The luck of one episode: a plan drawn at the agent's rates.

    Parameters
    ----------
    agent
        The rates.
    scenario
        Says how many lookups, edits and kinds of stray write there are. The last lookup is left
        out half of the time, so that in the store that ships an episode has 6 or 7 actions, 6.5
        on average.
    rng
        Source of chance.

    Returns
    -------
    Plan
    """
    lookups = len(scenario.lookups) - int(rng.integers(2))
    right = tuple(bool(rng.random() < agent.edit) for _ in scenario.edits)
    strays = tuple(
        int(rng.integers(len(scenario.strays))) if rng.random() < agent.write else None
        for _ in range(lookups + len(right))
    )
    claim = all(right) or bool(rng.random() < agent.claim_unfinished)
    return Plan(lookups, right, strays, claim)


def act(plan: Plan, scenario: Scenario, call: Callable[..., Any]) -> bool:
    """Act a plan out through the tools, and return its claim.

    Parameters
    ----------
    plan
        What is going to happen.
    scenario
        The calls that the plan refers to.
    call
        The world's `call`.

    Returns
    -------
    bool
        Whether success is claimed.
    """
    edits = [e.right if ok else e.wrong for e, ok in zip(scenario.edits, plan.right, strict=True)]
    steps = [*scenario.lookups[: plan.lookups], *edits]
    for step, stray in zip(steps, plan.strays, strict=True):
        for made in [step] if stray is None else [step, scenario.strays[stray].call]:
            with suppress(ToolError):  # a refusal stands in the trajectory; the agent carries on
                call(made.tool, **made.arguments)
    return plan.claim


def simulated(agent: Agent, scenario: Scenario) -> Policy:
    """The policy of a simulated agent: it draws a plan and acts it out.

    It knows the scenario's calls by heart, so it does not read the instruction.

    Examples
    --------
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> from evalkit.simulate.world import World
    >>> policy = simulated(CAREFUL, CUSTOMER_OPERATIONS)
    >>> with World(CUSTOMER_OPERATIONS) as world:
    ...     policy(world.call, world.scenario.instruction, np.random.default_rng(3))
    ...     [action.tool for action in world.trajectory]
    True
    ['search', 'read', 'update_address', 'cancel_order', 'issue_refund', 'add_note']
    """

    def policy(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        return act(draw_plan(agent, scenario, rng), scenario, call)

    return policy
