"""Intervals for the mean of per-task estimates, each in [0, 1].

All take arrays, one entry for each suite, so that their coverage can be simulated at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

# Chosen by simulation. Over 120 kinds of suites (30 to 500 tasks, k 1 to 8, n = 1.5 k to 8 k) a
# nominal 95% interval then covers .936 to .986; with 1 it is .919 to .984, with 2 .941 to .989,
# and with 0, which is the plain effective sample size, below .80 on 30 hard tasks.
CAUTION = 1.25


def effective_tasks(values: np.ndarray, se: ArrayLike, blocks: int = 1) -> Any:
    """As many tasks that only pass or fail as would give the mean the same standard error.

    The estimated ratio of the variance to that of a binomial share is a sum over few tasks where
    most tasks have the same value. It is then far from sure, and may be many times too small.
    So it is averaged with the largest that it can be, 1 / blocks, which weighs as much as CAUTION
    tasks among those that carry the successes or the failures, whichever are fewer (Kish's count).

    Parameters
    ----------
    values : ndarray, shape (..., tasks)
        Estimates of each task, in [0, 1].
    se : array_like, shape (...)
        Standard error of their mean.
    blocks : int
        Independent draws of k that each task's trials hold: 1 if tasks are sampled.

    Returns
    -------
    ndarray, shape (...)
        The effective number; ``tasks * blocks`` where the standard error is 0.

    References
    ----------
    Franco et al. 2019 (Wilson's interval with an effective sample size); Kish 1965.

    Examples
    --------
    >>> float(effective_tasks(np.array([1.0, 1.0, 1.0, 1.0]), 0.0))
    4.0
    """
    tasks, mean = values.shape[-1], values.mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(se) ** 2 * tasks / (mean * (1 - mean))
        informative = np.minimum(_kish(values), _kish(1 - values))
    ratio = np.where(np.asarray(se) > 0, np.minimum(ratio, 1 / blocks), 1 / blocks)
    weight = CAUTION / (CAUTION + np.nan_to_num(informative))
    return tasks / (weight / blocks + (1 - weight) * ratio)


def wilson(mean: ArrayLike, effective: Any, df: float, level: float) -> tuple[Any, Any]:
    """Wilson's interval with an effective number of tasks and the t quantile.

    Parameters
    ----------
    mean : array_like
        Mean of the per-task estimates.
    effective : array_like
        As `effective_tasks` gives it.
    df : float
        Degrees of freedom of the standard error; 0 gives the whole of [0, 1].
    level : float
        Nominal coverage.

    Returns
    -------
    low, high : ndarray or float
        Never of no width, and within [0, 1].

    Examples
    --------
    >>> [round(float(end), 3) for end in wilson(1.0, 10, df=9, level=0.95)]
    [0.661, 1.0]
    """
    mean = np.asarray(mean)
    if df <= 0:
        return np.zeros_like(mean), np.ones_like(mean)
    share = _t_quantile(df, level) ** 2 / effective
    centre = (mean + share / 2) / (1 + share)
    half = np.sqrt(share * mean * (1 - mean) + share**2 / 4) / (1 + share)
    return np.clip(centre - half, 0, mean), np.clip(centre + half, mean, 1)


def clopper_pearson(mean: ArrayLike, effective: Any, df: float, level: float) -> tuple[Any, Any]:
    """Clopper and Pearson's interval with an effective number of tasks; wider than `wilson`.

    Parameters and returns are those of `wilson`.

    References
    ----------
    Korn and Graubard 1998.

    Examples
    --------
    >>> [round(float(end), 3) for end in clopper_pearson(1.0, 10, df=9, level=0.95)]
    [0.612, 1.0]
    """
    from scipy.special import betaincinv, ndtri

    mean = np.asarray(mean)
    if df <= 0:
        return np.zeros_like(mean), np.ones_like(mean)
    tail = (1 - level) / 2
    n = effective * (ndtri(1 - tail) / _t_quantile(df, level)) ** 2
    passed, failed = mean * n, (1 - mean) * n
    with np.errstate(invalid="ignore"):
        low = np.where(passed > 0, betaincinv(passed, failed + 1, tail), 0.0)
        high = np.where(failed > 0, betaincinv(passed + 1, failed, 1 - tail), 1.0)
    return np.minimum(low, mean), np.maximum(high, mean)


def normal(mean: ArrayLike, se: ArrayLike, level: float) -> tuple[Any, Any]:
    """Mean and so many standard errors each way, cut to [0, 1].

    Of no width where all values are the same, and too narrow on small suites: here to compare.

    Parameters
    ----------
    mean, se : array_like
        Mean of the per-task estimates and its standard error.
    level : float
        Nominal coverage.

    Returns
    -------
    low, high : ndarray or float

    References
    ----------
    Bowyer et al. 2025 (why not on small suites).

    Examples
    --------
    >>> [round(float(end), 3) for end in normal(0.1, 0.02, level=0.95)]
    [0.061, 0.139]
    """
    from scipy.special import ndtri

    half = ndtri((1 + level) / 2) * np.asarray(se)
    return np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)


def _kish(values: np.ndarray) -> np.ndarray:
    """How many equal shares would make up the sum with the same sum of squares."""
    return np.asarray(values.sum(axis=-1) ** 2 / (values**2).sum(axis=-1))


def _t_quantile(df: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))
