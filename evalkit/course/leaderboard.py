"""A row of a public leaderboard, pass^1 to pass^n, turned back into the counts that it came from.

With n trials of each task, pass^k is the mean over tasks of C(c, k) / C(n, k), where c is a task's
successes. So pass^n gives the tasks with c = n, pass^(n-1) then those with c = n - 1, and so on:
from the last point to the first, each has one unknown more.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, floor
from typing import Any

import numpy as np

SLACK = 1e-7  # for the last digits of floating-point numbers


def histograms(published: Sequence[float], tasks: int, decimals: int) -> list[tuple[int, ...]]:
    """Return every way in which whole numbers of tasks give the published pass^1 to pass^n.

    Parameters
    ----------
    published : sequence of float
        pass^1 to pass^n in per cent, as they were rounded; n is the trials of each task. A
        single number is the share of tasks that succeeded in one trial.
    tasks : int
        Tasks of the suite.
    decimals : int
        Decimal places that the percentages were rounded to.

    Returns
    -------
    list of tuple of int
        Each holds the tasks that succeeded 0, 1, ... n times. Empty if no suite of so many
        tasks and trials gives these numbers: one is misprinted, or trials are missing.

    Raises
    ------
    ValueError
        If nothing is published, a number is no percentage, or there is no task.

    Examples
    --------
    >>> histograms([84.0, 77.67, 73.5, 70.0], tasks=50, decimals=2)
    [(3, 3, 2, 7, 35)]
    >>> histograms([86.9], tasks=168, decimals=1)
    [(22, 146)]
    >>> histograms([60.0, 50.1], tasks=10, decimals=1)
    []
    """
    if not published or not all(0 <= value <= 100 for value in published):
        raise ValueError(f"published must be percentages, pass^1 first; it is {published!r}.")
    if tasks < 1:
        raise ValueError(f"tasks must be 1 or more; it is {tasks!r}.")
    half = 0.5 * 10**-decimals
    found: list[tuple[int, ...]] = [()]  # tasks with k + 1, k + 2, ... n successes
    for k in range(len(published), 0, -1):
        whole = comb(len(published), k) * tasks / 100
        low, high = (whole * (published[k - 1] + error) for error in (-half, half))
        found = [
            (tasks_with_k, *more)
            for more in found
            for tasks_with_k in _whole(low - _drawn(more, k), high - _drawn(more, k))
            if tasks_with_k + sum(more) <= tasks
        ]
    return [(tasks - sum(more), *more) for more in found]


def _drawn(more: Sequence[int], k: int) -> int:
    """Return in how many draws of k trials all succeed, over tasks with k + 1, k + 2, ... of them."""
    return sum(many * comb(c, k) for c, many in enumerate(more, start=k + 1))


def _whole(low: float, high: float) -> range:
    """Return the whole numbers, 0 or more, from one end to the other."""
    return range(max(0, ceil(low - SLACK)), floor(high + SLACK) + 1)


def counts_of(histogram: Sequence[int]) -> dict[str, Any]:
    """Return the counts table of a histogram, which `evalkit.estimate` takes.

    Parameters
    ----------
    histogram : sequence of int
        Tasks that succeeded 0, 1, ... n times in n trials.

    Returns
    -------
    dict
        n and c of each task. Which task is which is not known: it has no names.

    Examples
    --------
    >>> counts_of((1, 0, 2))
    {'n': array([2, 2, 2]), 'c': array([0, 2, 2])}
    """
    successes = np.repeat(np.arange(len(histogram)), histogram)
    return {"n": np.full(len(successes), len(histogram) - 1), "c": successes}
