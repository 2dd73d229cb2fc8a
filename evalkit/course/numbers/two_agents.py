"""The numbers of "Two agents, four scoreboards" and "Partial credit"."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd

from evalkit.course.numbers import Estimate, Number, mean
from evalkit.simulate.agents import AGGRESSIVE, CAREFUL, Agent
from evalkit.simulate.scoreboards import simulate
from evalkit.simulate.store import CUSTOMER_OPERATIONS

EPISODES = 20_000
BLIND = ("own report", "partial credit", "targets only")


@cache
def _scores(agent: Agent, seed: int) -> pd.DataFrame:
    return simulate(agent, CUSTOMER_OPERATIONS, np.random.default_rng(seed), EPISODES)


def _careful(column: str) -> Estimate:
    return mean(_scores(CAREFUL, 1)[column], scale=100)


def _aggressive(column: str) -> Estimate:
    return mean(_scores(AGGRESSIVE, 2)[column], scale=100)


def _lead(column: str) -> Estimate:
    """How many points Aggressive leads by on one scoreboard."""
    ours, theirs = _aggressive(column), _careful(column)
    return Estimate(ours.value - theirs.value, float(np.hypot(ours.error, theirs.error)))


def _leads() -> list[Estimate]:
    return sorted((_lead(column) for column in BLIND), key=lambda lead: lead.value)


def _input(
    id: str, quantity: str, note: float, unit: str, digits: int, ours: Callable[[], float]
) -> Number:
    return Number(id, "two agents", "01", quantity, note, unit, digits, "input", ours)


def _simulated(
    id: str, quantity: str, note: float, unit: str, digits: int, ours: Callable[[], Estimate]
) -> Number:
    return Number(id, "two agents", "01", quantity, note, unit, digits, "simulated", ours)


def _partial(id: str, quantity: str, note: float, ours: Callable[[], Estimate]) -> Number:
    return Number(id, "partial credit", "03", quantity, note, "percent", 1, "simulated", ours)


NUMBERS = (
    _input(
        "board.edit.careful", "Careful: edits right", 86, "percent", 0, lambda: 100 * CAREFUL.edit
    ),
    _input(
        "board.edit.aggressive",
        "Aggressive: edits right",
        93,
        "percent",
        0,
        lambda: 100 * AGGRESSIVE.edit,
    ),
    _input(
        "board.write.careful",
        "Careful: stray writes an action",
        0.4,
        "percent",
        1,
        lambda: 100 * CAREFUL.write,
    ),
    _input(
        "board.write.aggressive",
        "Aggressive: stray writes an action",
        6,
        "percent",
        0,
        lambda: 100 * AGGRESSIVE.write,
    ),
    _input(
        "board.edits",
        "edits that the task requires",
        4,
        "count",
        0,
        lambda: len(CUSTOMER_OPERATIONS.edits),
    ),
    _input(
        "board.episodes",
        "episodes of each agent",
        20_000,
        "count",
        0,
        lambda: len(_scores(CAREFUL, 1)),
    ),
    _simulated(
        "board.collateral.aggressive",
        "Aggressive: episodes with collateral",
        33.1,
        "percent",
        1,
        lambda: _aggressive("collateral"),
    ),
    _simulated(
        "board.collateral.careful",
        "Careful: episodes with collateral",
        2.4,
        "percent",
        1,
        lambda: _careful("collateral"),
    ),
    _simulated(
        "board.blind",
        "scoreboards that put Aggressive first",
        3,
        "count",
        0,
        lambda: Estimate(sum(_lead(c).value > 0 for c in (*BLIND, "full diff"))),
    ),
    _simulated(
        "board.lead.min",
        "smallest lead of Aggressive on these",
        7,
        "points",
        0,
        lambda: _leads()[0],
    ),
    _simulated(
        "board.lead.max",
        "largest lead of Aggressive on these",
        24,
        "points",
        0,
        lambda: _leads()[-1],
    ),
    _simulated(
        "board.reversed",
        "the full diff puts Careful first",
        1,
        "boolean",
        0,
        lambda: Estimate(_lead("full diff").value < 0),
    ),
    _partial(
        "board.partial.careful",
        "Careful: mean partial credit",
        86.0,
        lambda: _careful("partial credit"),
    ),
    _partial(
        "board.partial.aggressive",
        "Aggressive: mean partial credit",
        92.8,
        lambda: _aggressive("partial credit"),
    ),
)
