"""Success within a budget from one log, agents at an equal budget, and what success costs.

An episode that needed more than the budget has failed within it. One that a smaller cap of its own
stopped is unknown beyond that cap: it is neither taken for a failure nor left out. One that gave up
has failed at every budget, because no budget would have helped it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit.comparison import Comparison, compare
from evalkit.estimates import estimate
from evalkit.intervals import effective_tasks, wilson
from evalkit.passk import bracket, count_arrays, pass_at_k, positive
from evalkit.trials import counts


def counts_within(table: Any, budget: float, resource: str = "steps") -> pd.DataFrame:
    """One row for each task: its trials, and those that succeeded within the budget.

    Parameters
    ----------
    table : data frame
        As `trials_table` gives it, with two columns: the resource that each trial used, and
        ``cap``, as much of it as the trial was allowed (infinite if nothing would have stopped
        it). A failed trial that used its cap or more was stopped by it.
    budget : float
        In the unit of the resource.
    resource : str
        The column: steps, tokens, seconds or cost.

    Returns
    -------
    DataFrame
        As `counts` gives it, for `estimate` and `compare`.

    Raises
    ------
    ValueError
        If a cap below the budget stopped a trial; if a column is missing, or a valid trial's
        number in it; if a trial succeeded beyond its cap.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"task": ["a", "a", "b", "b"], "trial": [0, 1, 0, 1],
    ...     "success": [1.0, 1.0, 1.0, 0.0], "infra": False, "steps": [9, 31, 20, 50], "cap": 50})
    >>> counts_within(log, 20)[["task", "n", "c"]]
      task  n  c
    0    a  2  1
    1    b  2  1
    """
    rows, stopped = _cut(_used(table, resource), budget, resource)
    if stopped.any():
        one, least = rows[stopped].iloc[0], rows.loc[stopped, "cap"].min()
        raise ValueError(
            f"success within {budget:g} {resource} is not known: a smaller cap stopped "
            f"{stopped.sum()} of {len(rows)} trials; one is trial {one['trial']} of task "
            f"{one['task']}, at {one['cap']:g}. Take {least:g} or less, or see success_within."
        )
    return counts(rows)


def success_within(
    table: Any, budgets: Iterable[float], resource: str = "steps", level: float = 0.95
) -> pd.DataFrame:
    """Success as a function of the budget, from one log, with its band.

    Parameters
    ----------
    table, resource
        As for `counts_within`.
    budgets : iterable of float
        In the unit of the resource.
    level : float
        Nominal coverage of the interval at each single budget.

    Returns
    -------
    DataFrame
        One row for each budget. ``success``: the mean over tasks of the share of trials that
        succeeded within it; ``low``, ``high``: its interval for new tasks. All three are NaN
        where ``stopped``, the number of trials that a smaller cap stopped, is not 0.
        ``least``, ``most``: the value if all unknown trials had failed, or succeeded.

    Raises
    ------
    ValueError
        As `counts_within`, but for stopped trials.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"task": ["a", "b", "c", "d"], "trial": 0,
    ...     "success": [1.0, 1.0, 0.0, 0.0], "infra": False, "steps": [9, 31, 12, 50], "cap": 50})
    >>> success_within(log, [10, 50, 100])[["budget", "success", "stopped", "least", "most"]]
       budget  success  stopped  least  most
    0      10     0.25        0   0.25  0.25
    1      50     0.50        0   0.50  0.50
    2     100      NaN        1   0.50  0.75
    """
    rows = _used(table, resource)
    curve = []
    for budget in budgets:
        within, stopped = _cut(rows, budget, resource)
        n, c, planned = count_arrays(tally := counts(within))
        point = dict.fromkeys(("success", "low", "high"), float("nan"))
        if not stopped.any():
            found = estimate(tally, level=level)
            point = {"success": found.value, "low": found.low, "high": found.high}
        least, most = bracket(n, c, planned, 1)
        rest = {"stopped": stopped.sum(), "least": least, "most": most}
        curve.append({"budget": budget, **point, **rest})
    return pd.DataFrame(curve)


def compare_within(
    a: Any, b: Any, budget: float, resource: str = "steps", level: float = 0.95
) -> Comparison:
    """How much more often agent b succeeds within the budget than agent a, paired by task.

    Parameters
    ----------
    a, b : data frame
        Logs of each agent, as for `counts_within`. Their caps may differ.
    budget : float
        The same for both.
    resource, level
        As for `success_within`.

    Returns
    -------
    Comparison
        As `compare` gives it for the counts of both, which is also the way to pass^k.

    Raises
    ------
    ValueError
        As `counts_within`: above all if either was stopped below the budget.

    Examples
    --------
    >>> import pandas as pd
    >>> short = pd.DataFrame({"task": list("abcd"), "trial": 0, "success": [1.0, 0.0, 0.0, 1.0],
    ...     "infra": False, "steps": [9, 50, 50, 40], "cap": 50})
    >>> long = short.assign(success=1.0, steps=[9, 90, 70, 40], cap=100)
    >>> compare_within(short, long, 50).difference
    0.0
    >>> compare_within(short, long, 100)
    Traceback (most recent call last):
        ...
    ValueError: success within 100 steps is not known: a smaller cap stopped 2 of 4 trials; one is \
trial 0 of task b, at 50. Take 50 or less, or see success_within.
    """
    first, second = (counts_within(table, budget, resource) for table in (a, b))
    return compare(first, second, level=level)


def cost_and_success(table: Any, cost: str = "cost", level: float = 0.95) -> dict[str, float]:
    """The point of an agent in the plane of cost and success, with an interval each way.

    Parameters
    ----------
    table : data frame
        As `trials_table` gives it, with a column of what each trial cost.
    cost : str
        The column.
    level : float
        Nominal coverage of each interval, for new tasks.

    Returns
    -------
    dict
        cost (of a valid trial; the mean over tasks), cost_low, cost_high (by Student's t over
        tasks; NaN with a single one), success, low, high.

    Raises
    ------
    ValueError
        If a column or a valid trial's cost is missing, or no trial is valid.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"task": list("abcd"), "trial": 0, "success": [1.0, 1.0, 0.0, 0.0],
    ...     "infra": False, "cost": [1.0, 2.0, 4.0, 5.0]})
    >>> {name: round(value, 2) for name, value in cost_and_success(log).items()}
    {'cost': 3.0, 'cost_low': 0.09, 'cost_high': 5.91, 'success': 0.5, 'low': 0.08, 'high': 0.92}
    """
    from scipy.special import stdtrit

    rows = _checked(table, cost)
    found = estimate(counts(rows), level=level)
    spent = rows[_valid(rows)].groupby("task")[cost].mean()
    mean, df = float(spent.mean()), len(spent) - 1
    half = float(stdtrit(df, (1 + level) / 2) * spent.std()) / sqrt(len(spent))
    point = {"cost": mean, "cost_low": max(mean - half, 0.0), "cost_high": mean + half}
    return point | {"success": found.value, "low": found.low, "high": found.high}


def retries(
    counts: pd.DataFrame | Mapping[str, Any], cost: float, ks: Iterable[int], level: float = 0.95
) -> pd.DataFrame:
    """The trivial baseline: run k trials and keep one that succeeded, if any did.

    Somebody must know which trial succeeded (a test, say), and that check is taken to be free and
    right. So a clever agent that stays below these points has bought nothing with its cleverness.

    Parameters
    ----------
    counts : DataFrame or mapping
        One row for each task, as `counts` gives it.
    cost : float
        Of one trial.
    ks : iterable of int
        Numbers of trials, none larger than the fewest valid trials of a task.
    level : float
        Nominal coverage of the interval for new tasks.

    Returns
    -------
    DataFrame
        k, cost (k times that of one trial), success (pass@k), low, high.

    Raises
    ------
    ValueError
        If a task has fewer than k valid trials.

    Examples
    --------
    >>> retries({"n": [4, 4, 4], "c": [4, 2, 0]}, 0.5, [1, 2])[["k", "cost", "success"]]
       k  cost   success
    0  1   0.5  0.500000
    1  2   1.0  0.611111
    """
    n, c, _ = count_arrays(counts)
    points = []
    for k in ks:
        if positive("k", k) > n.min():
            raise ValueError(f"pass@{k} needs {k} valid trials of each task; one has {n.min()}.")
        values = np.asarray(pass_at_k(n, c, k))
        se = values.std(ddof=1) / sqrt(len(n)) if len(n) > 1 else 0.0
        low, high = wilson(values.mean(), effective_tasks(values, se), len(n) - 1, level)
        points.append((k, k * cost, values.mean(), float(low), float(high)))
    return pd.DataFrame(points, columns=["k", "cost", "success", "low", "high"])


def pareto_set(cost: ArrayLike, success: ArrayLike) -> np.ndarray:
    """Which agents no other beats: none is as cheap and as good, and better in one of the two.

    Parameters
    ----------
    cost, success : array_like, shape (agents,)

    Returns
    -------
    ndarray of bool, shape (agents,)

    Raises
    ------
    ValueError
        If the two have not one shape, or hold a number that is missing or infinite.

    Examples
    --------
    >>> pareto_set([1, 2, 3, 4], [0.5, 0.6, 0.6, 0.9])
    array([ True,  True, False,  True])
    """
    x, y = _points(cost, success)
    beaten = [((x <= a) & (y >= b) & ((x < a) | (y > b))).any() for a, b in zip(x, y, strict=True)]
    return ~np.array(beaten, dtype=bool)


def upper_hull(cost: ArrayLike, success: ArrayLike) -> np.ndarray:
    """Which agents no mixture of two others beats: the corners of the Pareto set's convex hull.

    Who sends each task to one of two agents by a coin gets any point on the line between them.
    Put in an agent that does nothing, at no cost, for the hull to begin where spending does.

    Parameters
    ----------
    cost, success : array_like, shape (agents,)

    Returns
    -------
    ndarray of bool, shape (agents,)
        A part of `pareto_set`.

    Raises
    ------
    ValueError
        As `pareto_set`.

    References
    ----------
    Kapoor et al. 2024 (agents on a convex frontier of cost and accuracy).

    Examples
    --------
    >>> upper_hull([1, 2, 3, 4], [0.5, 0.6, 0.6, 0.9])
    array([ True, False, False,  True])
    """
    x, y = _points(cost, success)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (y[:, None] - y) / (x[:, None] - x)
    left = np.where(x < x[:, None], slope, np.inf).min(axis=1)
    right = np.where(x > x[:, None], slope, -np.inf).max(axis=1)
    return np.asarray(pareto_set(x, y) & (left > right))  # where the frontier bends down


def _points(cost: ArrayLike, success: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(cost, dtype=float), np.asarray(success, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or not np.isfinite([x, y]).all():
        raise ValueError("cost and success must be two rows of as many finite numbers.")
    return x, y


def _checked(table: Any, *numbers: str) -> pd.DataFrame:
    """The columns that are needed, here, with a number of 0 or more for each valid trial."""
    import narwhals as nw

    frame, needed = nw.from_native(table), ["task", "trial", "success", "infra", *numbers]
    if missing := [name for name in needed if name not in frame.collect_schema().names()]:
        raise ValueError(
            f"the table has no column {missing[0]!r}: make it with trials_table; add what each "
            "trial used and, for a budget, its cap (infinite if nothing would have stopped it)."
        )
    here = frame.lazy().select(needed).collect().to_dict(as_series=False)
    rows = pd.DataFrame(here).astype(dict.fromkeys(numbers, float))
    for name in numbers:
        _refuse(rows, _valid(rows) & ~(rows[name] >= 0), f"{name} is missing or negative")
    return rows


def _used(table: Any, resource: str) -> pd.DataFrame:
    rows = _checked(table, resource, "cap")
    _refuse(rows, rows["success"].eq(1) & (rows[resource] > rows["cap"]), "success beyond its cap")
    return rows


def _valid(rows: pd.DataFrame) -> pd.Series:
    return rows["success"].notna() & ~rows["infra"].astype(bool)


def _refuse(rows: pd.DataFrame, wrong: pd.Series, reason: str) -> None:
    if wrong.any():
        one = ", ".join(f"{name} {value}" for name, value in rows[wrong].iloc[0].items())
        raise ValueError(f"{reason}. Rows: {wrong.sum()}; one has {one}.")


def _cut(rows: pd.DataFrame, budget: float, resource: str) -> tuple[pd.DataFrame, pd.Series]:
    """The trials as if all had been cut at the budget, and which a smaller cap had stopped."""
    if not budget >= 0:
        raise ValueError(f"a budget must be 0 or more; it is {budget!r}.")
    failed, used, cap = rows["success"] == 0, rows[resource], rows["cap"]
    stopped = _valid(rows) & failed & (used >= cap) & (cap < budget)
    return rows.assign(success=(rows["success"] * (used <= budget)).mask(stopped)), stopped
