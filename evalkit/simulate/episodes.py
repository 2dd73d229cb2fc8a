"""Episodes really played: a policy acts on a world, and the full diff grades what it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from evalkit.grading import Verdict, grade
from evalkit.simulate.agents import Policy
from evalkit.simulate.world import Action, Call, ToolError, World
from evalkit.snapshots import snapshot
from evalkit.statediff import State
from evalkit.tasks import TaskError


@dataclass(frozen=True)
class Episode:
    """One run of an agent on a task: what it claimed, what it did, what the full diff found."""

    claim: bool
    trajectory: tuple[Action, ...]
    verdict: Verdict


def play(policy: Policy, world: World, rng: np.random.Generator) -> Episode:
    """One episode from a fresh start, graded by the full diff.

    Parameters
    ----------
    policy
        The agent. A `ToolError` that it lets through ends the episode without a claim.
    world
        Reset before the episode; it keeps the end state afterwards, to look at.
    rng
        Handed to the policy.

    Returns
    -------
    Episode

    Raises
    ------
    ValueError
        If the policy returns anything but a truth value.

    Examples
    --------
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> def does_nothing(call, instruction, rng):
    ...     return True
    >>> with World(CUSTOMER_OPERATIONS) as world:
    ...     episode = play(does_nothing, world, np.random.default_rng(0))
    >>> episode.claim, episode.verdict.status, episode.verdict.credit
    (True, 'fail', 0.0)
    """
    world.reset()
    before = snapshot(world.connection)
    try:
        claim = policy(world.call, world.scenario.instruction, rng)
    except ToolError:
        claim = False
    if not isinstance(claim, bool | np.bool_):
        raise ValueError(f"policy: it must return whether it claims success, not {claim!r}")
    verdict = grade(before, snapshot(world.connection), world.scenario.task)
    return Episode(bool(claim), world.trajectory, verdict)


def play_many(
    policy: Policy, world: World, episodes: int, rng: np.random.Generator, name: str = "episodes"
) -> list[Episode]:
    """Episodes played one after another, with a progress bar (silent if TQDM_DISABLE=1).

    Parameters
    ----------
    policy, world, rng
        As `play` takes them.
    episodes
        How many.
    name
        What the progress bar is called.

    Returns
    -------
    list of Episode
    """
    return [play(policy, world, rng) for _ in tqdm(range(episodes), desc=name)]


def gold_state(world: World, actions: Sequence[Call]) -> State:
    """The state that a task's gold actions leave, from a fresh start; for `Task.from_goal`.

    Parameters
    ----------
    world
        Reset before and after.
    actions
        The calls that do the task.

    Returns
    -------
    dict

    Raises
    ------
    TaskError
        If one of the actions raises, whatever it raises: the task is broken, and the state that
        the others leave is no goal to grade against.

    Examples
    --------
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> with World(CUSTOMER_OPERATIONS) as world:
    ...     gold_state(world, [Call("cancel_order", order_id="W1002")])
    Traceback (most recent call last):
    ...
    evalkit.entries.TaskError: gold action 0, cancel_order(order_id='W1002') raised: order W1002 is
    delivered; only a processing order can be cancelled. The task is broken: mend its actions
    """
    world.reset()
    try:
        for i, action in enumerate(actions):
            try:
                world.call(action.tool, **action.arguments)
            except Exception as error:
                raise TaskError(
                    f"gold action {i}, {action} raised: {str(error) or repr(error)}. "
                    "The task is broken: mend its actions"
                ) from error
        return snapshot(world.connection)
    finally:
        world.reset()
