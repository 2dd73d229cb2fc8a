"""Episodes really played: a policy acts on a world, and the full diff grades what it leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from evalkit.grading import Verdict, grade
from evalkit.simulate.agents import Policy
from evalkit.simulate.world import Action, ToolError, World
from evalkit.snapshots import snapshot


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
