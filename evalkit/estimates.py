"""A suite's pass^k from counts: value, standard error, interval, and all that is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import compress
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from evalkit.intervals import bootstrap, clopper_pearson, effective_tasks, normal, wilson
from evalkit.passk import bracket, count_arrays, named, pass_hat_k, positive, task_names

if TYPE_CHECKING:
    import pandas as pd

Question = Literal["new tasks", "these tasks"]
Method = Literal["wilson", "clopper-pearson", "normal", "percentile", "bca"]


@dataclass(frozen=True)
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
        return "; ".join(f"{name} {text}" for name, text in self._parts().items())

    def _repr_html_(self) -> str:
        rows = (f"<tr><th>{a}</th><td>{escape(b)}</td></tr>" for a, b in self._parts().items())
        return f"<table>{''.join(rows)}</table>"


def estimate(
    counts: pd.DataFrame | Mapping[str, Any],
    k: int = 1,
    *,
    question: Question = "new tasks",
    method: Method = "wilson",
    level: float = 0.95,
    min_trials: int | None = None,
    rng: np.random.Generator | int | None = None,
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
    method, level : {"wilson", "clopper-pearson", "normal", "percentile", "bca"}, float
        The interval and its nominal coverage. The last two draw tasks at random, with ``rng``.
    min_trials : int, optional
        Leave out the tasks with fewer valid trials, and say so; by default k. A larger number
        keeps the estimates for several k on the same tasks.
    rng : Generator or int, optional
        The source of randomness, or its seed.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        If no task has enough trials, the question cannot be answered from so few, the interval
        would have no width, or an argument is out of range.

    References
    ----------
    Miller 2024, Adding Error Bars to Evals; Bowyer et al. 2025.

    Examples
    --------
    >>> found = estimate({"task": ["a"], "n": [1], "c": [1], "planned": [4]})
    >>> found.value, found.coverage, found.bracket
    (1.0, 0.25, (0.25, 1.0))
    """
    used = _usable(counts, k, k if min_trials is None else min_trials)
    spread = _spread(used, question)
    low, high = _interval(used.values, *spread, method, level, rng)
    value, se = float(used.values.mean()), spread[0]
    return Estimate(
        used.k, value, se, low, high, level, method, question, len(used.values),
        used.excluded, used.valid, used.planned, used.bracket,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Usable:
    """The tasks of a counts table with enough trials for k, their estimates, and the rest."""

    k: int
    names: tuple[Any, ...]
    n: np.ndarray
    c: np.ndarray
    values: np.ndarray
    excluded: tuple[tuple[Any, str], ...]
    valid: int
    planned: int
    bracket: tuple[float, float]


def _usable(counts: pd.DataFrame | Mapping[str, Any], k: int, min_trials: int) -> _Usable:
    """A counts table with the tasks left out that have too few valid trials."""
    n, c, planned = count_arrays(counts)
    names = task_names(counts)
    k, least = positive("k", k), max(k, positive("min_trials", min_trials))
    used = n >= least
    if not used.any():
        raise ValueError(f"pass^{k} is undefined: no task has {least} valid trials.")
    values = pass_hat_k(n[used], c[used], k)
    complete = used.all() and (planned == n).all()
    return _Usable(
        k,
        tuple(compress(names, used)),
        n[used],
        c[used],
        values,
        tuple((names[i], f"{n[i]} valid of {least} needed") for i in np.flatnonzero(~used)),
        int(n.sum()),
        int(planned.sum()),
        (float(values.mean()),) * 2 if complete else bracket(n, c, planned, k),
    )


def _spread(used: _Usable, question: str) -> tuple[float, int, int]:
    """Standard error of the mean, independent draws of k in a task, degrees of freedom."""
    values, n, k = used.values, used.n, used.k
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
    within = values**2 - pass_hat_k(n, used.c, 2 * k)  # unbiased: E u^2 - p^(2k)
    return sqrt(max(float(within.sum()), 0)) / tasks, fewest // k, int(n.sum()) - tasks


def _interval(
    values: np.ndarray,
    se: float,
    blocks: int,
    df: int,
    method: str,
    level: float,
    rng: np.random.Generator | int | None,
) -> tuple[float, float]:
    mean = values.mean()
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; it is {level!r}.")
    if method in ("wilson", "clopper-pearson"):
        interval = wilson if method == "wilson" else clopper_pearson
        low, high = interval(mean, effective_tasks(values, se, blocks), df, level)
    elif method not in ("normal", "percentile", "bca"):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}; it is {method!r}.")
    elif not se > 0:
        raise ValueError(f"the {method} interval has no width here; use 'wilson'.")
    elif method == "normal":
        low, high = normal(mean, se, level)
    elif rng is None or df != len(values) - 1:
        raise ValueError(f"{method} draws tasks at random: give rng, and ask for 'new tasks'.")
    else:
        low, high = bootstrap(values, level, rng, bias_corrected=method == "bca")
    return float(low), float(high)
