"""Suites of unlike tasks: some short, some long, some that the agent does better than others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evalkit.passk import pass_hat_k
from evalkit.planning import within_variance
from evalkit.steps import episode_success, step_pass_hat_k


@dataclass(frozen=True, eq=False)
class Suite:
    """Tasks of the step model, or many suites of them at once.

    Attributes
    ----------
    r : ndarray, shape (tasks,) or (redraws, tasks)
        Per-step reliability on each task.
    n : ndarray of int, the same shape
        Steps of each task.
    rho : float
        Recovery rate.
    """

    r: np.ndarray
    n: np.ndarray
    rho: float = 0.0

    @property
    def success(self) -> np.ndarray:
        """True success probability of each task."""
        return np.asarray(episode_success(self.r, self.n, self.rho))

    def pass_hat_k(self, k: int) -> Any:
        """The suite's true pass^k, the mean over its tasks; an array for many suites."""
        return (self.success**k).mean(axis=-1)

    def homogeneous(self, k: int) -> Any:
        """What pass^k would be if each task had the mean reliability and the mean steps."""
        return step_pass_hat_k(self.r.mean(axis=-1), self.n.mean(axis=-1), k, self.rho)

    def with_fewer_failures(self, share: float) -> Suite:
        """The same tasks for an agent with so much smaller a share of failed steps."""
        if not 0 <= share <= 1:
            raise ValueError(f"share must be in [0, 1]; it is {share!r}.")
        return replace(self, r=1 - (1 - share) * (1 - self.r))


def draw_suite(
    rng: np.random.Generator,
    tasks: int = 120,
    *,
    redraws: int | None = None,
    reliability: tuple[float, float] = (58, 2),
    steps: tuple[int, int] = (4, 30),
    rho: float = 0.0,
) -> Suite:
    """A suite drawn at random; by default of the family of the course's example.

    Parameters
    ----------
    rng : Generator
    tasks : int
    redraws : int, optional
        Draw so many suites at once, one for each row.
    reliability : (float, float)
        The two parameters of the beta distribution of r; by default its mean is .967.
    steps : (int, int)
        Fewest and most steps; all numbers between are as likely.
    rho : float
        Recovery rate.

    Returns
    -------
    Suite

    Examples
    --------
    >>> suite = draw_suite(np.random.default_rng(0))
    >>> [round(float(suite.pass_hat_k(k)), 3) for k in (1, 8)]
    [0.618, 0.117]
    """
    shape = (tasks,) if redraws is None else (redraws, tasks)
    r = rng.beta(*reliability, size=shape)
    return Suite(r, rng.integers(steps[0], steps[1], size=shape, endpoint=True), rho)


def run_suite(
    suite: Suite, trials: int, rng: np.random.Generator, *, repeats: int | None = None
) -> np.ndarray:
    """How many trials of each task succeed when the suite is run.

    Parameters
    ----------
    suite : Suite
    trials : int
        Of each task.
    rng : Generator
    repeats : int, optional
        Run the whole experiment so many times, one for each row.

    Returns
    -------
    ndarray of int, shape of the suite, or (repeats, *shape)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> run_suite(draw_suite(rng, tasks=3), trials=8, rng=rng, repeats=2).shape
    (2, 3)
    """
    p = suite.success
    return rng.binomial(trials, p, size=p.shape if repeats is None else (repeats, *p.shape))


def suite_counts(successes: np.ndarray, trials: int) -> pd.DataFrame:
    """One run of a suite as the counts table that `estimate` takes.

    Parameters
    ----------
    successes : ndarray of int, shape (tasks,)
        As `run_suite` gives them.
    trials : int
        Of each task.

    Returns
    -------
    DataFrame
        task, n, c, planned.

    Examples
    --------
    >>> suite_counts(np.array([8, 5]), trials=8)
       task  n  c  planned
    0     0  8  8        8
    1     1  8  5        8
    """
    tasks = np.arange(len(successes))
    return pd.DataFrame({"task": tasks, "n": trials, "c": successes, "planned": trials})


def suite_figures(suite: Suite, successes: np.ndarray, trials: int, k: int = 8) -> dict[str, Any]:
    """What can be said of a suite and of one run of it; arrays if there are many suites.

    Parameters
    ----------
    suite : Suite
    successes : ndarray of int, shape of the suite
        As `run_suite` gives them.
    trials : int
        Of each task.
    k : int
        Trials that must all succeed.

    Returns
    -------
    dict
        Mean steps and reliability; pass^1 and pass^k, true and estimated; the standard
        deviation of the estimated pass^k when the suite is run again; pass^k as two shortcuts
        would have it; the shares of tasks that always and never succeeded.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> suite = draw_suite(rng)
    >>> figures = suite_figures(suite, run_suite(suite, 8, rng), trials=8)
    >>> round(float(figures["true pass^8"]), 3), round(float(figures["estimated pass^8"]), 3)
    (0.117, 0.15)
    """
    estimated = pass_hat_k(trials, successes, k).mean(axis=-1)
    rate = (successes / trials).mean(axis=-1)
    again = within_variance(suite.success, k, trials)
    return {
        "mean steps": suite.n.mean(axis=-1),
        "mean reliability": suite.r.mean(axis=-1),
        "true pass^1": suite.pass_hat_k(1),
        "estimated pass^1": rate,
        f"true pass^{k}": suite.pass_hat_k(k),
        f"estimated pass^{k}": estimated,
        f"SD of estimated pass^{k}": np.sqrt(again.sum(axis=-1)) / again.shape[-1],
        f"estimated pass^1 to the power {k}": rate**k,
        "homogeneous step model": suite.homogeneous(k),
        "tasks that always succeeded": (successes == trials).mean(axis=-1),
        "tasks that never succeeded": (successes == 0).mean(axis=-1),
    }


def percentiles(stated: Mapping[str, float], redraws: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Where stated figures lie among those of redrawn suites.

    Parameters
    ----------
    stated : mapping from name to number
    redraws : mapping from name to array
        As `suite_figures` gives them for many suites.

    Returns
    -------
    dict from name to float
        The per cent of redraws below the stated figure; those equal to it count half.

    Raises
    ------
    ValueError
        If a stated figure is not among the redrawn ones.

    Examples
    --------
    >>> percentiles({"a": 2.0}, {"a": np.array([1.0, 2.0, 3.0, 4.0])})
    {'a': 37.5}
    """
    unknown = [name for name in stated if name not in redraws]
    if unknown:
        raise ValueError(f"stated: no figure {unknown[0]!r}; there are {', '.join(redraws)}.")
    return {
        name: float(100 * ((redraws[name] < x).mean() + (redraws[name] == x).mean() / 2))
        for name, x in stated.items()
    }
