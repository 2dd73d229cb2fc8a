"""How long the scoreboards take: `pytest tests/benchmarks/test_simulate.py`."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from evalkit.simulate.agents import AGGRESSIVE, CAREFUL
from evalkit.simulate.scoreboards import simulate
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import World


def test_both_agents_take_under_two_seconds() -> None:
    simulate(CAREFUL, CUSTOMER_OPERATIONS, np.random.default_rng(0), 10)  # what is slow once
    start = perf_counter()
    for agent in (CAREFUL, AGGRESSIVE):
        simulate(agent, CUSTOMER_OPERATIONS, np.random.default_rng(0))
    assert perf_counter() - start < 2


def test_a_reset_takes_under_a_millisecond() -> None:
    with World(CUSTOMER_OPERATIONS) as world:
        start = perf_counter()
        for _ in range(100):
            world.reset()
        assert perf_counter() - start < 0.1
