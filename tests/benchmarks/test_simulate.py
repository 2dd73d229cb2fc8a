"""How long the simulations take: ``uv run pytest -n0 -s tests/benchmarks``.

Seconds depend on the machine, so each is printed as a ratio to a peer of the same run: a plain loop
that draws and adds up as many numbers, in NumPy's own random generator.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from evalkit.simulate.agents import AGGRESSIVE, CAREFUL
from evalkit.simulate.flakes import flake_table
from evalkit.simulate.scoreboards import simulate
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import World


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The fastest of a few runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def loop(draws: int) -> float:
    """The peer: draw one number at a time and add them up."""
    rng = np.random.default_rng(0)
    return sum(rng.random() < 0.7 for _ in range(draws))


def report(what: str, own: float, peer: float) -> None:
    print(f"{what}: {own:.3f} s, {own / peer:.2f} times a loop over as many draws ({peer:.3f} s)")


def test_the_cost_of_twenty_thousand_episodes_of_both_agents() -> None:
    def both() -> None:
        for agent in (CAREFUL, AGGRESSIVE):
            simulate(agent, CUSTOMER_OPERATIONS, np.random.default_rng(0))

    own, peer = seconds(both), seconds(lambda: loop(2 * 20_000 * 12))
    report("scoreboards of 2 x 20,000 episodes", own, peer)


def test_the_cost_of_the_table_of_4000_suites() -> None:
    own = seconds(lambda: flake_table(np.random.default_rng(1)))
    report("flake table of 4,000 suites", own, seconds(lambda: loop(4_000 * 200), 1))


def test_the_cost_of_a_reset() -> None:
    with World(CUSTOMER_OPERATIONS) as world:
        own = seconds(lambda: [world.reset() for _ in range(100)])
    report("100 resets of the store", own, seconds(lambda: loop(100)))
