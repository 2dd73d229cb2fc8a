"""How many tasks and trials: for an interval of a given width, or to tell two agents apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evalkit.extrapolation import BetaBinomial
from evalkit.intervals import wilson
from evalkit.passk import positive

if TYPE_CHECKING:
    import pandas as pd

MOST_TASKS = 10_000_000


@dataclass(frozen=True, repr=False)
class Plan:
    """The cheapest design that reaches a goal, and every other one that was looked at.

    Attributes
    ----------
    k, tasks, trials : int
        Trials that must all succeed; the design: so many tasks, so many trials of each.
    cost : float
        Of the whole design, in the unit of the costs given.
    goal : str
        What the design reaches.
    rows : tuple of (trials, tasks, cost, within share)
        For each number of trials, the fewest tasks that reach the goal, their cost, and the
        share of the variance that more trials would take away.
    """

    k: int
    tasks: int
    trials: int
    cost: float
    goal: str
    rows: tuple[tuple[int, int, float, float], ...]

    @property
    def table(self) -> pd.DataFrame:
        """The rows as a data frame: trials, tasks, cost, within_share."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=["trials", "tasks", "cost", "within_share"])

    def __str__(self) -> str:
        return (
            f"{self.tasks} tasks x {self.trials} trials, cost {self.cost:g}: "
            f"{self.goal} on pass^{self.k}"
        )

    __repr__ = __str__


def variance_parts(success: BetaBinomial | ArrayLike, k: int, trials: int) -> tuple[float, float]:
    """The variance of one task's estimate of pass^k: between tasks, and within a task.

    Parameters
    ----------
    success : BetaBinomial or array_like
        What tasks are like: a fitted model, or success probabilities of tasks.
    k, trials : int
        Trials that must all succeed, and trials that are run; at least k.

    Returns
    -------
    between, within : float
        The first stays however often a task is run.

    Raises
    ------
    ValueError
        If trials < k, or the probabilities are none.

    Examples
    --------
    >>> between, within = variance_parts(BetaBinomial(0.6, 2), k=1, trials=4)
    >>> round(between, 3), round(within, 3)
    (0.08, 0.04)
    """
    between = _moment(success, 2 * k) - _moment(success, k) ** 2
    return between, _within(lambda power: _moment(success, power), k, trials)


def within_variance(success: ArrayLike, k: int, trials: int) -> np.ndarray:
    """The variance of each task's estimate of pass^k, if the same task is run again.

    Parameters
    ----------
    success : array_like
        Success probabilities of tasks, of any shape.
    k, trials : int
        Trials that must all succeed, and trials that are run; at least k.

    Returns
    -------
    ndarray, shape of success

    Raises
    ------
    ValueError
        If trials < k.

    Examples
    --------
    >>> within_variance([0.5, 1.0], k=1, trials=4)
    array([0.0625, 0.    ])
    """
    p = np.asarray(success, dtype=float)
    return np.asarray(_within(lambda power: p**power, k, trials))


def standard_error(success: BetaBinomial | ArrayLike, k: int, tasks: int, trials: int) -> float:
    """The standard error of a suite's pass^k, for new tasks, with so many tasks and trials.

    Parameters
    ----------
    success, k, trials
        As for `variance_parts`.
    tasks : int
        Tasks in the suite.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `variance_parts`.

    Examples
    --------
    >>> round(standard_error(BetaBinomial(0.6, 2), k=1, tasks=120, trials=4), 4)
    0.0316
    """
    return sqrt(sum(variance_parts(success, k, trials)) / positive("tasks", tasks))


def plan(
    success: BetaBinomial | ArrayLike,
    k: int = 1,
    *,
    half_width: float | None = None,
    rival: ArrayLike | None = None,
    power: float | None = None,
    cost_per_task: float = 0.0,
    cost_per_trial: float = 1.0,
    level: float = 0.95,
    max_tasks: int = MOST_TASKS,
    max_trials: int = 64,
) -> Plan:
    """The cheapest numbers of tasks and trials that reach a half-width, or a power.

    Parameters
    ----------
    success, k
        As for `variance_parts`.
    half_width : float, optional
        Of the default interval of `estimate` for new tasks.
    rival, power : array_like and float, optional
        Instead: success probabilities of a second agent on the same tasks, and the probability
        with which `compare` should find a difference. Each agent runs all trials.
    cost_per_task, cost_per_trial : float
        What a task costs once, and what each of its trials costs.
    level : float
        Of the interval, or 1 less the size of the test.
    max_tasks, max_trials : int
        The most there can be.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If not one goal is stated, an argument is out of range, or no design reaches the goal.

    Examples
    --------
    >>> print(plan(BetaBinomial(0.6, 2), k=4, half_width=0.05, cost_per_task=20))
    210 tasks x 9 trials, cost 6090: half-width 0.05 on pass^4
    """
    k, agents = positive("k", k), 1 if rival is None else 2
    goal, reached = _goal(success, rival, k, half_width, power, level)
    if min(cost_per_task, cost_per_trial) < 0:
        raise ValueError("cost_per_task and cost_per_trial must be 0 or more.")
    rows = []
    for trials in range(k, positive("max_trials", max_trials) + 1):
        between, within = _parts(success, rival, k, trials)
        tasks = _fewest(between + within, reached, max_tasks)
        if tasks:
            cost = tasks * (cost_per_task + agents * trials * cost_per_trial)
            rows.append((trials, tasks, cost, within / (between + within or 1)))
    if not rows:
        raise ValueError(f"no {max_tasks} tasks x {max_trials} trials or fewer reach {goal}.")
    trials, tasks, cost, _ = min(rows, key=lambda row: row[2])
    return Plan(k, tasks, trials, cost, goal, tuple(rows))


def _goal(
    success: BetaBinomial | ArrayLike,
    rival: ArrayLike | None,
    k: int,
    half_width: float | None,
    power: float | None,
    level: float,
) -> tuple[str, Callable[[int, float], bool]]:
    """The goal in words, and whether so many tasks, each of such a variance, reach it."""
    for name, share in (("level", level), ("half_width", half_width), ("power", power)):
        if share is not None and not 0 < share < 1:
            raise ValueError(f"{name} must lie between 0 and 1; it is {share!r}.")
    value = _moment(success, k)
    if half_width is not None and power is None and rival is None:
        return (
            f"half-width {half_width:g}",
            lambda tasks, v: _half_width(value, v, tasks, level) <= half_width,
        )
    if half_width is None and power is not None and rival is not None:
        difference = _moment(rival, k) - value
        return (
            f"power {power:g} against a difference of {difference:+.3f}",
            lambda tasks, v: _power(difference, v, tasks, level) >= power,
        )
    raise ValueError("state one goal: half_width, or power together with rival.")


def _within(moment: Callable[[int], Any], k: int, trials: int) -> Any:
    """Two draws of k from the trials share j of them with hypergeometric probability."""
    k, trials = positive("k", k), positive("trials", trials)
    if trials < k:
        raise ValueError(f"trials must be at least k = {k}; it is {trials}.")
    shared = [comb(k, j) * comb(trials - k, k - j) / comb(trials, k) for j in range(k + 1)]
    return sum(share * (moment(2 * k - j) - moment(2 * k)) for j, share in enumerate(shared))


def _parts(
    success: BetaBinomial | ArrayLike, rival: ArrayLike | None, k: int, trials: int
) -> tuple[float, float]:
    """`variance_parts` of one agent, or of the difference between two on the same tasks."""
    between, within = variance_parts(success, k, trials)
    if rival is None:
        return between, within
    p, q = _shares(success), _shares(rival)
    if p.shape != q.shape:
        raise ValueError("rival must give a success probability for each task of success.")
    return float(np.var(q**k - p**k)), within + variance_parts(rival, k, trials)[1]


def _fewest(variance: float, reached: Callable[[int, float], bool], most: int) -> int | None:
    """The fewest tasks, 2 or more, that reach the goal."""
    if most < 2 or not reached(most, variance):
        return None
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle, variance) else (middle, high)
    return high


def _half_width(value: float, variance: float, tasks: int, level: float) -> float:
    """Of the interval that `estimate` gives by default, at the expected value."""
    effective = value * (1 - value) * tasks / variance if variance > 0 else tasks
    low, high = wilson(value, effective, tasks - 1, level)
    return float(high - low) / 2


def _power(difference: float, variance: float, tasks: int, level: float) -> float:
    from scipy.special import ndtr, stdtrit

    shift = abs(difference) * sqrt(tasks / variance) if variance > 0 else inf
    needed = stdtrit(tasks - 1, (1 + level) / 2)
    return float(ndtr(shift - needed) + ndtr(-shift - needed)) if difference else 1 - level


def _moment(success: BetaBinomial | ArrayLike, power: int) -> float:
    """The mean over tasks of the success probability to a power."""
    if isinstance(success, BetaBinomial):
        return success.pass_hat_k(power)
    return float(np.mean(_shares(success) ** power))


def _shares(success: BetaBinomial | ArrayLike) -> np.ndarray:
    if isinstance(success, BetaBinomial):
        raise ValueError("with a rival, success must be the success probabilities of its tasks.")
    p = np.asarray(success)
    if p.dtype.kind not in "iuf" or p.ndim != 1 or not p.size or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("success and rival must be success probabilities of tasks, in [0, 1].")
    return p.astype(float)
