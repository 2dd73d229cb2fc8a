"""Four graders, and the scoreboard that each gives of two agents.

Twenty thousand episodes need not be played one by one. Chance decides few things, so many episodes
end alike: `simulate` draws them all as arrays, plays each distinct one once on a real world, has
the real grader judge it, and gives every episode the scores of its like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evalkit.simulate.agents import Agent, Plan, act
from evalkit.simulate.episodes import Episode, play
from evalkit.simulate.world import Scenario, World


def own_report(episode: Episode) -> float:
    """1 if the agent claims success."""
    return float(episode.claim)


def partial_credit(episode: Episode) -> float:
    """The share of the required changes that were made."""
    return episode.verdict.credit


def targets_only(episode: Episode) -> float:
    """1 if every required change was made, whatever else was done."""
    return float(episode.verdict.credit == 1)


def full_diff(episode: Episode) -> float:
    """1 if every required change was made and nothing else was done."""
    return float(episode.verdict.passed)


GRADERS: dict[str, Callable[[Episode], float]] = {
    "own report": own_report,
    "partial credit": partial_credit,
    "targets only": targets_only,
    "full diff": full_diff,
}


def scores(episodes: Sequence[Episode]) -> pd.DataFrame:
    """One row an episode: its score under each grader, and whether it left collateral.

    Parameters
    ----------
    episodes
        Played episodes.

    Returns
    -------
    DataFrame
        A column of floats in [0, 1] for each of `GRADERS`, then ``collateral``, 0.0 or 1.0.

    Raises
    ------
    ValueError
        If an episode was not evaluated: it has no score, and a zero would call it a failure.
    """
    for number, episode in enumerate(episodes):
        if episode.verdict.status == "not evaluated":
            raise ValueError(f"episodes[{number}]: not evaluated, so it has no score")
    columns = {name: [grader(e) for e in episodes] for name, grader in GRADERS.items()}
    columns["collateral"] = [float(bool(e.verdict.collateral)) for e in episodes]
    return pd.DataFrame(columns, dtype=float)


@dataclass(frozen=True)
class Draws:
    """The luck of many episodes of one agent, as arrays with one row an episode.

    Parameters
    ----------
    lookups
        (episodes,) how many lookups are made.
    right
        (episodes, edits) whether each required edit is made right.
    strays
        (episodes, actions) the index of the stray write that follows an action, or -1.
    claim
        (episodes,) whether success is claimed.
    """

    lookups: NDArray[np.int_]
    right: NDArray[np.bool_]
    strays: NDArray[np.int_]
    claim: NDArray[np.bool_]

    def plan(self, episode: int) -> Plan:
        """One row as the plan that `evalkit.simulate.agents.act` acts out."""
        lookups, right = int(self.lookups[episode]), self.right[episode].tolist()
        strays = self.strays[episode, : lookups + len(right)].tolist()
        return Plan(
            lookups,
            tuple(right),
            tuple(None if stray < 0 else stray for stray in strays),
            bool(self.claim[episode]),
        )


def draw(agent: Agent, scenario: Scenario, episodes: int, rng: np.random.Generator) -> Draws:
    """The luck of many episodes at once: what `draw_plan` draws, in arrays.

    Parameters
    ----------
    agent
        The rates.
    scenario
        Says how many lookups, edits and kinds of stray write there are.
    episodes
        How many episodes.
    rng
        Source of chance.

    Returns
    -------
    Draws
    """
    most, edits = len(scenario.lookups), len(scenario.edits)
    lookups = rng.integers(most - 1, most + 1, episodes)
    right = rng.random((episodes, edits)) < agent.edit
    happens = rng.random((episodes, most + edits)) < agent.write
    happens &= np.arange(most + edits) < (lookups + edits)[:, None]
    kinds = rng.integers(len(scenario.strays), size=happens.shape)
    claim = right.all(axis=1) | (rng.random(episodes) < agent.claim_unfinished)
    return Draws(lookups, right, np.where(happens, kinds, -1), claim)


def distinct(draws: Draws) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Which episodes differ in more than order: one episode of each kind, and each one's kind.

    Two episodes are alike if they get the same edits right, make the same stray writes, in
    whatever order, and claim the same. They then leave the same records behind, up to the ids and
    times that the task leaves free.

    Parameters
    ----------
    draws
        The luck of all episodes.

    Returns
    -------
    examples, kind
        (kinds,) the index of one episode of each kind, and (episodes,) the kind of each.
    """
    alike = np.column_stack([draws.right, np.sort(draws.strays, axis=1), draws.claim])
    _, examples, kind = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    return examples, kind.reshape(-1)


def score(draws: Draws, world: World) -> pd.DataFrame:
    """The scores of drawn episodes, each distinct one played and graded for real.

    Parameters
    ----------
    draws
        The luck of all episodes.
    world
        Where they are played.

    Returns
    -------
    DataFrame
        As `scores` gives it, one row an episode.
    """
    examples, kind = distinct(draws)
    return (
        scores([replay(draws.plan(i), world) for i in examples]).iloc[kind].reset_index(drop=True)
    )


def replay(plan: Plan, world: World) -> Episode:
    """The episode of one plan, played and graded."""
    rng = np.random.default_rng(0)  # a plan leaves nothing to chance
    return play(lambda call, *_: act(plan, world.scenario, call), world, rng)


def simulate(
    agent: Agent, scenario: Scenario, rng: np.random.Generator, episodes: int = 20_000
) -> pd.DataFrame:
    """The scores of many simulated episodes of one agent.

    Parameters
    ----------
    agent
        The rates.
    scenario
        The world, its task and what can go wrong in it.
    rng
        Source of chance.
    episodes
        How many.

    Returns
    -------
    DataFrame
        As `scores` gives it, one row an episode.

    Examples
    --------
    >>> from evalkit.simulate.agents import AGGRESSIVE
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> table = simulate(AGGRESSIVE, CUSTOMER_OPERATIONS, np.random.default_rng(1), 2_000)
    >>> table[["targets only", "full diff"]].mean().round(2).to_dict()
    {'targets only': 0.73, 'full diff': 0.48}
    """
    with World(scenario) as world:
        return score(draw(agent, scenario, episodes, rng), world)


def scoreboard(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What each column of scores says of two agents, and how far the second one leads.

    Parameters
    ----------
    tables
        Two agents' names and their scores, from `scores` or `simulate`. The agents' episodes are
        taken as independent.

    Returns
    -------
    DataFrame
        One row a grader, and one for collateral. Columns: the first agent's mean and its standard
        error, the second's, the lead (second minus first) and its standard error.

    Raises
    ------
    ValueError
        If there are not two agents, or one has fewer than two episodes.

    Examples
    --------
    >>> tables = {"A": pd.DataFrame({"x": [0.0, 1.0]}), "B": pd.DataFrame({"x": [1.0, 1.0]})}
    >>> scoreboard(tables)
         A  A SE    B  B SE  lead  lead SE
    x  0.5   0.5  1.0   0.0   0.5      0.5
    """
    if len(tables) != 2:
        raise ValueError(f"tables: a scoreboard compares two agents, not {len(tables)}")
    board = pd.DataFrame()
    for name, table in tables.items():
        if len(table) < 2:
            raise ValueError(f"tables: {name} has {len(table)} episodes; give at least two")
        board[name], board[f"{name} SE"] = table.mean(skipna=False), table.sem(skipna=False)
    first, second = tables
    board["lead"] = board[second] - board[first]
    board["lead SE"] = np.hypot(board[f"{first} SE"], board[f"{second} SE"])
    return board
