"""Two agents on the same tasks: the difference in pass^k, its interval, and a valid test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evalkit.estimates import as_html, as_text
from evalkit.intervals import CAUTION
from evalkit.passk import bracket, count_arrays, named, pass_hat_k, positive, task_names

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Comparison:
    """The difference in pass^k between two agents on the tasks that both were given.

    Attributes
    ----------
    k : int
    difference : float
        pass^k of the second agent less that of the first.
    se, low, high, level : float
        Its standard error, and its interval for new tasks with the nominal coverage.
    p_value : float
        Of no difference, by ``test``; not corrected for other comparisons (see `holm`).
    test : {"exact McNemar", "paired t"}
    first, second : float
        pass^k of each on the paired tasks.
    better, worse, tasks : int
        Tasks on which the second agent's estimate is higher, lower, and all paired tasks.
    left_out : tuple of (task, str)
        The tasks that could not be paired, and why.
    bracket : (float, float)
        Where the difference on the tasks of both would lie under missing trials, at worst.
    """

    k: int
    difference: float
    se: float
    low: float
    high: float
    level: float
    p_value: float
    test: str
    first: float
    second: float
    better: int
    worse: int
    tasks: int
    left_out: tuple[tuple[Any, str], ...]
    bracket: tuple[float, float]

    def _parts(self) -> dict[str, str]:
        parts = {
            f"pass^{self.k}": f"{self.first:.3f} and {self.second:.3f}",
            "difference": f"{self.difference:+.3f} (SE {self.se:.3f})",
            f"{self.level:.0%} interval": f"[{self.low:+.3f}, {self.high:+.3f}] for new tasks",
            "p": f"{self.p_value:.3g} ({self.test})",
            "tasks": f"{self.tasks}, second better on {self.better}, worse on {self.worse}",
        }
        if self.left_out:
            parts["left out"] = named(tuple(f"{task} ({why})" for task, why in self.left_out))
        low, high = self.bracket
        if high - low > 1e-9:
            parts["under missing trials"] = f"[{low:+.3f}, {high:+.3f}]"
        return parts

    def __str__(self) -> str:
        return as_text(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._parts())


def compare(
    a: pd.DataFrame | Mapping[str, Any],
    b: pd.DataFrame | Mapping[str, Any],
    k: int = 1,
    *,
    level: float = 0.95,
) -> Comparison:
    """How much higher the pass^k of agent b is than that of agent a, paired by task.

    Parameters
    ----------
    a, b : DataFrame or mapping
        Counts of each agent, as `counts` gives them: task, n, c, and if known planned.
    k : int
        Trials that must all succeed.
    level : float
        Nominal coverage of the interval.

    Returns
    -------
    Comparison
        With one trial of each task the test is McNemar's exact one;
        else it is a t test on the differences, with the interval's standard error.

    Raises
    ------
    ValueError
        If a table has no task column, or fewer than two tasks can be paired.

    References
    ----------
    Miller 2024 (paired differences); Bonett and Price 2012 (one more pair each way).

    Examples
    --------
    >>> tasks = list("abcdefgh")
    >>> first = {"task": tasks, "n": [4] * 8, "c": [4, 3, 2, 0, 1, 4, 2, 3]}
    >>> second = {"task": tasks, "n": [4] * 8, "c": [4, 4, 4, 1, 3, 4, 3, 3]}
    >>> found = compare(first, second)
    >>> found.difference, found.better, found.worse
    (0.21875, 5, 0)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; it is {level!r}.")
    k = positive("k", k)
    n, c, left_out, missing = _paired(a, b, k)
    u, v = pass_hat_k(n, c, k)
    difference, se = float((v - u).mean()), _standard_error(v - u)
    half, p_value = _t_test(difference, se, len(u) - 1, level)
    better, worse = int((v > u).sum()), int((v < u).sum())
    single = bool((n == 1).all())
    return Comparison(
        k, difference, se, max(difference - half, -1.0), min(difference + half, 1.0), level,
        _mcnemar(better, worse) if single else p_value,
        "exact McNemar" if single else "paired t",
        float(u.mean()), float(v.mean()), better, worse, len(u), left_out, missing,
    )  # fmt: skip


def holm(p_values: ArrayLike) -> np.ndarray:
    """The p-values of several comparisons, adjusted so that all can be read at one level.

    Parameters
    ----------
    p_values : array_like, shape (comparisons,)
        As each comparison gives its own.

    Returns
    -------
    ndarray, shape (comparisons,)
        In the same order. The chance that any of those below .05 is wrong is at most .05.

    Raises
    ------
    ValueError
        If a p-value is not in [0, 1].

    References
    ----------
    Holm 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p_values must be a row of numbers in [0, 1].")
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def _paired(
    a: pd.DataFrame | Mapping[str, Any], b: pd.DataFrame | Mapping[str, Any], k: int
) -> tuple[np.ndarray, np.ndarray, tuple[tuple[Any, str], ...], tuple[float, float]]:
    """The n and c of both (shape (2, tasks)), the tasks left out, and the bracket."""
    if "task" not in a or "task" not in b:
        raise ValueError("a and b need a column task, by which the agents are paired.")
    arrays = [np.stack(count_arrays(counts)) for counts in (a, b)]
    first = {task: row for row, task in enumerate(task_names(a))}
    second = {task: row for row, task in enumerate(task_names(b))}
    both = [task for task in first if task in second]
    n, c, planned = np.stack(
        [
            columns[:, [rows[task] for task in both]]
            for columns, rows in zip(arrays, (first, second), strict=True)
        ],
        axis=1,
    )
    enough = (n >= k).all(axis=0)
    if enough.sum() < 2:
        have = f"{enough.sum()} of {len(both)} common tasks"
        raise ValueError(
            f"k={k}: {have} can be compared; two with {k} valid trials of both agents are needed."
        )
    left_out = [(task, "only in a") for task in first if task not in second]
    left_out += [(task, "only in b") for task in second if task not in first]
    for i in np.flatnonzero(~enough):
        left_out.append((both[i], f"{n[0, i]} and {n[1, i]} valid of {k} needed"))
    (low_a, high_a), (low_b, high_b) = (bracket(n[i], c[i], planned[i], k) for i in (0, 1))
    return n[:, enough], c[:, enough], tuple(left_out), (low_b - high_a, high_b - low_a)


def _standard_error(differences: np.ndarray) -> float:
    """Of the mean difference, which is never 0, though all differences may be.

    Where few tasks differ, the sum of squares says little. It is averaged with the largest that
    it can be given the sum of the sizes, plus one task each way; that weighs as much as CAUTION
    of the tasks that differ (Kish's count).
    """
    tasks, sizes, squares = len(differences), abs(differences).sum(), (differences**2).sum()
    weight = CAUTION / (CAUTION + (sizes**2 / squares if squares else 0))
    total = weight * (sizes + 2) + (1 - weight) * squares
    return sqrt((total / tasks - differences.mean() ** 2) / (tasks - 1))


def _t_test(difference: float, se: float, df: int, level: float) -> tuple[float, float]:
    """Half the width of the interval, and the two-sided p-value."""
    from scipy.special import stdtr, stdtrit

    return float(stdtrit(df, (1 + level) / 2)) * se, float(2 * stdtr(df, -abs(difference) / se))


def _mcnemar(better: int, worse: int) -> float:
    from scipy.stats import binomtest

    return float(binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0
