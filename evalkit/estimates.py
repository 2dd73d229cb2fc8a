"""A suite's pass^k from counts: value, standard error, interval, and all that is missing.

After Miller 2024, *Adding Error Bars to Evals*, and Bowyer et al. 2025 on small suites.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from evalkit.intervals import clopper_pearson, effective_tasks, normal, wilson
from evalkit.passk import bracket, count_arrays, named, pass_hat_k, positive, task_names

if TYPE_CHECKING:
    import pandas as pd

Question = Literal["new tasks", "these tasks"]
Method = Literal["wilson", "clopper-pearson", "normal"]


@dataclass(frozen=True, repr=False)
class Estimate:
    """A suite's pass^k, with what it is an answer to and what it leaves open.

    Attributes
    ----------
    k : int
    value : float
        Mean over the tasks of the unbiased estimates.
    se : float
        Standard error of the value; NaN for new tasks judged from a single one.
    low, high : float
        The interval.
    level : float
        Its nominal coverage.
    method : str
        How the interval is made.
    question : {"new tasks", "these tasks"}
        What the interval is about: other tasks like these, or the same tasks run again.
    tasks : int
        Tasks that the value is computed on.
    excluded : tuple of (task, str)
        The tasks left out, and why.
    valid, planned : int
        Trials with a verdict, and trials that there should be, over all tasks.
    bracket : (float, float)
        Where the value over all tasks would lie if the missing trials had all failed, or all
        succeeded.
    """

    k: int
    value: float
    se: float
    low: float
    high: float
    level: float
    method: str
    question: str
    tasks: int
    excluded: tuple[tuple[Any, str], ...]
    valid: int
    planned: int
    bracket: tuple[float, float]

    @property
    def coverage(self) -> float:
        """Valid trials over planned trials."""
        return self.valid / self.planned

    def _parts(self) -> dict[str, str]:
        parts = {
            f"pass^{self.k}": f"{self.value:.3f} (SE {self.se:.3f})",
            f"{self.level:.0%} interval": f"[{self.low:.3f}, {self.high:.3f}] ({self.method})",
            "for": self.question,
            "tasks": str(self.tasks),
            "valid trials": f"{self.valid} of {self.planned} planned",
        }
        if self.excluded:
            parts["left out"] = named(tuple(f"{task} ({why})" for task, why in self.excluded))
        if self.excluded or self.valid < self.planned:
            low, high = self.bracket
            parts["all tasks, had the missing failed or succeeded"] = f"[{low:.3f}, {high:.3f}]"
        return parts

    def __str__(self) -> str:
        return as_text(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._parts())


def estimate(
    counts: pd.DataFrame | Mapping[str, Any],
    k: int = 1,
    *,
    question: Question = "new tasks",
    method: Method = "wilson",
    level: float = 0.95,
    min_trials: int | None = None,
) -> Estimate:
    """A suite's pass^k with its standard error and interval.

    Parameters
    ----------
    counts : DataFrame or mapping
        One row for each task, as `counts` gives it: n and c, and if known task and planned.
    k : int
        Trials that must all succeed.
    question : {"new tasks", "these tasks"}
        What the interval is about: new tasks like these (from the variance between tasks), or
        these tasks run again (from the variance within tasks, which needs n >= 2k).
    method, level : {"wilson", "clopper-pearson", "normal"}, float
        The interval and its nominal coverage.
    min_trials : int, optional
        Leave out the tasks with fewer valid trials, and say so; by default k. A larger number
        keeps the estimates for several k on the same tasks.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        If no task has enough trials, the question cannot be answered from so few, the interval
        would have no width, or an argument is out of range.

    Examples
    --------
    >>> found = estimate({"task": ["a"], "n": [1], "c": [1], "planned": [4]})
    >>> found.value, found.coverage, found.bracket
    (1.0, 0.25, (0.25, 1.0))
    """
    n, c, planned = count_arrays(counts)
    names, k = task_names(counts), positive("k", k)
    least = max(k, positive("min_trials", k if min_trials is None else min_trials))
    used = n >= least
    if not used.any():
        raise ValueError(f"pass^{k} is undefined: no task has {least} valid trials.")
    values = pass_hat_k(n[used], c[used], k)
    se, blocks, df = _spread(values, n[used], c[used], k, question)
    low, high = _interval(values, se, blocks, df, method, level)
    excluded = [(names[i], f"{n[i]} valid of {least} needed") for i in np.flatnonzero(~used)]
    return Estimate(
        k, float(values.mean()), se, low, high, level, method, question, len(values),
        tuple(excluded), int(n.sum()), int(planned.sum()), bracket(n, c, planned, k),
    )  # fmt: skip


def as_text(parts: Mapping[str, str]) -> str:
    """Named parts of a result on one line."""
    return "; ".join(f"{name} {text}" for name, text in parts.items())


def as_html(parts: Mapping[str, str]) -> str:
    """Named parts of a result as a table; nothing in them runs."""
    rows = (f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in parts.items())
    return f"<table>{''.join(rows)}</table>"


def _spread(
    values: np.ndarray, n: np.ndarray, c: np.ndarray, k: int, question: str
) -> tuple[float, int, int]:
    """Standard error of the mean, independent draws of k in a task, degrees of freedom."""
    tasks, fewest = len(values), int(n.min())
    if question == "new tasks":
        se = float(values.std(ddof=1)) / sqrt(tasks) if tasks > 1 else float("nan")
        return se, 1, tasks - 1
    if question != "these tasks":
        raise ValueError(f"question must be 'new tasks' or 'these tasks'; it is {question!r}.")
    if fewest < 2 * k:
        raise ValueError(
            f"with n = {fewest} trials of a task, the variance of its pass^{k} within the task "
            f"cannot be identified: it needs n >= {2 * k}. Run more trials, leave such tasks out "
            f"with min_trials={2 * k}, or ask for 'new tasks'."
        )
    within = values**2 - pass_hat_k(n, c, 2 * k)  # unbiased: E u^2 - p^(2k)
    return sqrt(max(float(within.sum()), 0)) / tasks, fewest // k, int(n.sum()) - tasks


def _interval(
    values: np.ndarray, se: float, blocks: int, df: int, method: str, level: float
) -> tuple[float, float]:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; it is {level!r}.")
    mean, effective = values.mean(), effective_tasks(values, se, blocks)
    if method == "wilson":
        low, high = wilson(mean, effective, df, level)
    elif method == "clopper-pearson":
        low, high = clopper_pearson(mean, effective, df, level)
    elif method != "normal":
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}; it is {method!r}.")
    elif se > 0:
        low, high = normal(mean, se, level)
    else:
        raise ValueError("the normal interval has no width here; use 'wilson'.")
    return float(low), float(high)
