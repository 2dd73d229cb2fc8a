"""Episodes as a harness would record them: one row each, the states before and after as JSON text.

They are for trying out what grades at scale. The states are those of episodes really played; to
have many rows cheaply, each played episode is recorded again and again under new trial numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit.simulate.agents import Agent, simulated
from evalkit.simulate.world import Scenario, World
from evalkit.snapshots import snapshot
from evalkit.tasks import Task

#: Of a hundred trials of a task, the environment fails one, and the record of one is cut off.
FAILED, CUT = 98, 99


def played_states(
    agent: Agent, scenario: Scenario, rng: np.random.Generator, episodes: int, seed: int = 0
) -> list[tuple[str, str]]:
    """The states before and after each of some played episodes, as JSON text.

    Parameters
    ----------
    agent, scenario
        Who plays, and where.
    rng
        The agent's luck.
    episodes
        How many are played.
    seed
        Decides the rows of the world.

    Returns
    -------
    list of (before, after)
    """
    policy, states = simulated(agent, scenario), []
    with World(scenario, seed) as world:
        for _ in range(episodes):
            world.reset()
            before = json.dumps(snapshot(world.connection))
            policy(world.call, scenario.instruction, rng)
            states.append((before, json.dumps(snapshot(world.connection))))
    return states


def recorded_episodes(
    agent: Agent,
    scenario: Scenario,
    rng: np.random.Generator,
    episodes: int,
    *,
    tasks: int = 20,
    played: int = 20,
    rows: int = 2_500,
) -> Iterator[pd.DataFrame]:
    """The records of many episodes, a batch at a time.

    Task number s is the scenario's task in the world of seed s.

    Parameters
    ----------
    agent, scenario, rng
        As `played_states` takes them.
    episodes
        How many are recorded, the trials of all tasks in turn.
    tasks, played
        How many tasks there are, and how many episodes of each are really played.
    rows
        Records in a batch.

    Yields
    ------
    DataFrame
        ``task``, ``trial``, ``before``, ``after`` and ``infra``, as `evalkit.batches.verdicts`
        takes them. Of a hundred trials of a task the environment fails one, which leaves no state
        after it, and one state after is cut off.

    Examples
    --------
    >>> from evalkit.simulate.agents import CAREFUL
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> rng = np.random.default_rng(0)
    >>> frames = recorded_episodes(CAREFUL, CUSTOMER_OPERATIONS, rng, 4, tasks=2, played=1, rows=3)
    >>> [frame[["task", "trial"]].to_numpy().tolist() for frame in frames]
    [[['seed 0', 0], ['seed 1', 0], ['seed 0', 1]], [['seed 1', 1]]]
    """
    states = [played_states(agent, scenario, rng, played, seed) for seed in range(tasks)]
    for start in range(0, episodes, rows):
        records = []
        for number in range(start, min(start + rows, episodes)):
            trial, task = divmod(number, tasks)
            before, after = states[task][trial % played]
            infra, cut = trial % 100 == FAILED, trial % 100 == CUT
            left = None if infra else after[:-9] if cut else after
            records.append((f"seed {task}", trial, before, left, infra))
        yield pd.DataFrame(records, columns=["task", "trial", "before", "after", "infra"])


def recorded_tasks(scenario: Scenario, tasks: int = 20) -> dict[str, Task]:
    """The task of each name that `recorded_episodes` gives."""
    return {f"seed {task}": scenario.task for task in range(tasks)}


def write_episodes(folder: Path, frames: Iterator[pd.DataFrame]) -> None:
    """Write each batch of records to a Parquet file of its own, as engines like to share them out."""
    folder.mkdir(parents=True)
    for number, frame in enumerate(frames):
        frame.to_parquet(folder / f"part-{number:05}.parquet", index=False)
