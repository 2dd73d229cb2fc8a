"""pass^k and pass@k from counts: the unbiased estimate of a task, and the curve of a suite.

Of a task's n trials, c succeeded. Draw k of the n: C(c, k) / C(n, k) is the share of draws in
which all k succeeded (pass^k), 1 - C(n - c, k) / C(n, k) the share with at least one (pass@k).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import pandas as pd

# Products of this many rounded factors stay within 3e-15 of the exact ratio.
SHORT = 12
# Exact ratios are kept as whole multiples of 2**-1200, well below the smallest float.
ONE = 1 << 1200
# Numbers that a processor's cache holds.
BLOCK = 1 << 18


def pass_hat_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> Any:
    """The unbiased estimate of pass^k, the probability that k trials of a task all succeed.

    Parameters
    ----------
    n, c : array_like of int
        Trials of one task, and how many of them succeeded. Never numbers of tasks.
    k : array_like of int
        Trials that must all succeed, 1 or more.

    Returns
    -------
    float or ndarray
        C(c, k) / C(n, k), to within 3e-15 of itself. In an array, NaN where n < k.

    Raises
    ------
    ValueError
        If a count is not a whole number, is negative, or c > n; and if all three are numbers
        and n < k, where the estimate is undefined.

    References
    ----------
    Yao et al. 2024, tau-bench.

    Examples
    --------
    >>> pass_hat_k(8, 6, 2)
    0.5357142857142857
    >>> pass_hat_k(8, [8, 7, 0], 8)
    array([1., 0., 0.])
    >>> pass_hat_k(1, 1, 2)
    Traceback (most recent call last):
        ...
    ValueError: pass^2 is undefined for 1 trial: it needs n >= k. Run more trials or lower k.
    """
    n, c, k = _checked("pass^", n, c, k)
    return _chance(n, n - c, k, any_drawn=False)


def pass_at_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> Any:
    """The unbiased estimate of pass@k, the probability that any of k trials of a task succeeds.

    Parameters
    ----------
    n, c : array_like of int
        Trials of one task, and how many of them succeeded. Never numbers of tasks.
    k : array_like of int
        Trials of which one must succeed, 1 or more.

    Returns
    -------
    float or ndarray
        1 - C(n - c, k) / C(n, k), to within 3e-15 of itself. In an array, NaN where n < k.

    Raises
    ------
    ValueError
        As `pass_hat_k`.

    References
    ----------
    Chen et al. 2021.

    Examples
    --------
    >>> pass_at_k(8, 6, 2)
    0.9642857142857143
    """
    n, c, k = _checked("pass@", n, c, k)
    return _chance(n, c, k, any_drawn=True)


@dataclass(frozen=True, eq=False)
class Curve:
    """A suite's pass^k or pass@k for k = 1..K, every point on the same tasks.

    Attributes
    ----------
    measure : {"pass^k", "pass@k"}
    value : ndarray, shape (K,)
        The mean over the tasks that have at least K valid trials.
    low, high : ndarray, shape (K,)
        Where the mean over *all* tasks would lie if the trials that are missing (planned ones
        without a verdict, and those a task lacks to K) had all failed, or all succeeded.
    tasks : int
        Tasks that the curve is computed on.
    excluded : tuple
        The tasks left out because they have fewer than K valid trials.
    """

    measure: str
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tasks: int
    excluded: tuple[Any, ...]

    @property
    def k(self) -> np.ndarray:
        """The whole numbers 1..K."""
        return np.arange(1, len(self.value) + 1)

    @property
    def table(self) -> pd.DataFrame:
        """One row for each k: k, value, low, high."""
        import pandas as pd

        columns = {"k": self.k, self.measure: self.value, "low": self.low, "high": self.high}
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        left_out = f"; {len(self.excluded)} left out: {named(self.excluded)}" * bool(self.excluded)
        points = " ".join(f"{value:.3f}" for value in self.value)
        tasks = f"{self.tasks} task{'s' * (self.tasks != 1)}"
        return f"{self.measure}, k = 1..{len(self.value)}: {points} ({tasks}{left_out})"


def pass_hat_k_curve(counts: pd.DataFrame | Mapping[str, Any], K: int | None = None) -> Curve:
    """A suite's pass^k for k = 1..K in one pass, every k on the same tasks.

    Parameters
    ----------
    counts : DataFrame or mapping
        One row for each task, as `counts` gives it: columns n and c, and if known task and
        planned (as many trials as n unless given).
    K : int, optional
        The largest k; by default the smallest n, so that no task is left out. With a larger K
        every point uses the tasks with n >= K, and the others are listed as excluded.

    Returns
    -------
    Curve

    Raises
    ------
    ValueError
        If the counts are not counts, or no task has K valid trials.

    Examples
    --------
    >>> tasks = {"task": ["a", "b", "c"], "n": [10, 2, 2], "c": [10, 0, 1]}
    >>> print(pass_hat_k_curve(tasks))
    pass^k, k = 1..2: 0.500 0.333 (3 tasks)
    >>> print(pass_hat_k_curve(tasks, K=4))
    pass^k, k = 1..4: 1.000 1.000 1.000 1.000 (1 task; 2 left out: b, c)
    """
    return _curve("pass^k", counts, K)


def pass_at_k_curve(counts: pd.DataFrame | Mapping[str, Any], K: int | None = None) -> Curve:
    """A suite's pass@k for k = 1..K in one pass, every k on the same tasks.

    Parameters
    ----------
    counts : DataFrame or mapping
        As for `pass_hat_k_curve`.
    K : int, optional
        As for `pass_hat_k_curve`.

    Returns
    -------
    Curve

    Raises
    ------
    ValueError
        If the counts are not counts, or no task has K valid trials.

    Examples
    --------
    >>> print(pass_at_k_curve({"n": [4, 4], "c": [2, 0]}))
    pass@k, k = 1..4: 0.250 0.417 0.500 0.500 (2 tasks)
    """
    return _curve("pass@k", counts, K)


def count_arrays(counts: pd.DataFrame | Mapping[str, Any]) -> tuple[np.ndarray, ...]:
    """The columns n, c and planned of a counts table, checked, as whole numbers."""
    missing = [name for name in ("n", "c") if name not in counts]
    if missing:
        raise ValueError(
            f"counts has no column {' or '.join(missing)}: it needs one row for each task with n "
            "valid trials and c successes; counts(trials_table(...)) makes one."
        )
    n, c = whole("n", counts["n"]), whole("c", counts["c"])
    planned = whole("planned", counts["planned"]) if "planned" in counts else n
    if not n.ndim == 1 or not n.shape == c.shape == planned.shape or not len(n):
        raise ValueError("counts needs one row, with n and c, for each of one or more tasks.")
    _refuse("c", c > n, c, "at most the task's n valid trials")
    _refuse("planned", planned < n, planned, "at least the task's n valid trials")
    return n, c, planned


def task_names(counts: pd.DataFrame | Mapping[str, Any]) -> list[Any]:
    """The names of the tasks of a counts table, each once; row numbers if it has none."""
    if "task" not in counts:
        return list(range(len(counts["n"])))
    names = list(counts["task"])
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(f"counts has more than one row for the task {twice!r}; merge them.")
    return names


def bracket(n: np.ndarray, c: np.ndarray, planned: np.ndarray, k: int) -> tuple[float, float]:
    """The suite's pass^k if all missing trials had failed, and if all had succeeded.

    Missing are the planned trials without a verdict, and those that a task lacks to k.
    """
    total = np.maximum(planned, k)
    if (total == n).all():
        return (float(pass_hat_k(n, c, k).mean()),) * 2
    worst, best = pass_hat_k(total, c, k), pass_hat_k(total, c + total - n, k)
    return float(worst.mean()), float(best.mean())


def named(tasks: tuple[Any, ...], most: int = 5) -> str:
    """The tasks by name, the first few of them if they are many."""
    more = f" and {len(tasks) - most} more" * (len(tasks) > most)
    return ", ".join(str(task) for task in tasks[:most]) + more


def whole(name: str, values: ArrayLike, least: int = 0) -> np.ndarray:
    """The values as int64, or a ValueError that names the first that is no whole number from least on."""
    array, wanted = np.asarray(values), f"a whole number, {least} or more"
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            _refuse(name, ~(array == np.floor(array)) | (abs(array) > 2**53), array, wanted)
    elif array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be whole numbers, {least} or more; it holds {array.dtype} values."
        )
    if array.size and array.min() < least:
        _refuse(name, array < least, array, wanted)
    return array.astype(np.int64, copy=False)


def positive(name: str, value: Any) -> int:
    """The value as an int, or a ValueError if it is not one whole number, 1 or more."""
    with suppress(ValueError):
        number = whole(name, value, 1)
        if not number.ndim:
            return int(number)
    raise ValueError(f"{name} must be one whole number, 1 or more; it is {value!r}.")


def _refuse(name: str, bad: np.ndarray, array: np.ndarray, wanted: str) -> None:
    if np.any(bad):
        first = np.argwhere(bad)[0]
        place = f"{name}[{', '.join(map(str, first))}]" if len(first) else name
        raise ValueError(f"{name} must be {wanted}; {place} is {array[tuple(first)]}.")


def _checked(measure: str, n: ArrayLike, c: ArrayLike, k: ArrayLike) -> list[np.ndarray]:
    n, c, k = whole("n", n), whole("c", c), whole("k", k, 1)
    n, c, k = np.broadcast_arrays(n, c, k)
    _refuse("c", c > n, c, "at most n")
    if n.ndim == 0 and k > n:
        trials = "1 trial" if n == 1 else f"{n} trials"
        raise ValueError(
            f"{measure}{k} is undefined for {trials}: it needs n >= k. Run more trials or lower k."
        )
    return [n, c, k]


def _chance(n: np.ndarray, marked: np.ndarray, k: np.ndarray, any_drawn: bool) -> Any:
    if n.ndim == 0:
        return _single(int(n), int(marked), int(k), any_drawn)
    return _many(n, marked, k, any_drawn)


def _single(n: int, marked: int, k: int, any_drawn: bool) -> float:
    """The chance that k draws from n hold none (or any) of the marked, correctly rounded."""
    terms, other = sorted((marked, k))  # the chance is the same with the two exchanged
    none = ONE
    for i in range(terms):
        none = none * (n - other - i) // (n - i)
    return (ONE - none if any_drawn else none) / ONE


def _chances(n: np.ndarray, marked: np.ndarray, k: int, any_drawn: bool) -> np.ndarray:
    """The same chance for 1..k draws, one row for each number; floats, as they divide faster."""
    n, marked, i = n.astype(float), marked.astype(float), np.arange(k, dtype=float)[:, None]
    left = np.maximum(n - i, 1)
    none = np.maximum(n - marked - i, 0) / left
    for j in range(1, k):  # several times faster than accumulate, which goes number by number
        none[j] *= none[j - 1]
    if not any_drawn:
        return none
    # The chance that the first marked one comes now, summed: no difference from 1, which would
    # cost a small value its digits.
    first = np.minimum(marked / left, 1)
    first[1:] *= none[:-1]
    for j in range(1, k):
        first[j] += first[j - 1]
    return first


def _blocks(tasks: int, k: int) -> Iterator[slice]:
    """All tasks, as many at a time as a processor's cache holds k numbers of each."""
    size = max(BLOCK // max(k, 1), 1)
    return (slice(start, start + size) for start in range(0, tasks, size))


def _many(n: np.ndarray, marked: np.ndarray, k: np.ndarray, any_drawn: bool) -> np.ndarray:
    result = np.full(n.shape, np.nan)
    defined = k <= n
    n, marked, k = n[defined], marked[defined], k[defined]
    terms, other = np.minimum(marked, k), np.maximum(marked, k)
    if not n.size or terms.max() <= SHORT:
        value, most = np.full(n.shape, 0.0 if any_drawn else 1.0), int(terms.max(initial=0))
        for block in _blocks(len(n), most):
            rows = _chances(n[block], other[block], most, any_drawn)
            for i, chance in enumerate(rows, 1):
                np.copyto(value[block], chance, where=terms[block] == i)
    else:
        distinct, back = np.unique([n, marked, k], axis=1, return_inverse=True)
        single = [_single(int(n), int(m), int(k), any_drawn) for n, m, k in distinct.T]
        value = np.array(single)[back.reshape(-1)]
    result[defined] = value
    return result


def _curve(measure: str, counts: pd.DataFrame | Mapping[str, Any], K: int | None) -> Curve:
    n, c, planned = count_arrays(counts)
    K = int(n.min()) if K is None else positive("K", K)
    used = n >= K
    if K < 1:
        none = task_names(counts)[int(np.argmin(n))]
        raise ValueError(f"task {none!r} has no valid trial: state K, to leave such tasks out.")
    if not used.any():
        raise ValueError(f"no task has {K} valid trials; the most that one has is {n.max()}.")
    any_drawn, complete = measure == "pass@k", bool(used.all())
    value = _mean_curve(*((n, c) if complete else (n[used], c[used])), K, any_drawn)
    low, high = value, value
    if not complete or (planned > n).any():
        total = np.maximum(planned, K)
        low = _mean_curve(total, c, K, any_drawn)
        high = _mean_curve(total, c + total - n, K, any_drawn)
    excluded = () if complete else tuple(compress(task_names(counts), ~used))
    return Curve(measure, value, low, high, int(used.sum()), excluded)


def _mean_curve(n: np.ndarray, c: np.ndarray, K: int, any_drawn: bool) -> np.ndarray:
    tasks, least, wide = len(n), int(n.min()), int(n.max()) + 1
    weight = np.ones(tasks)
    if wide * (wide - least) <= 4 * tasks + 4096:  # few distinct (n, c): compute each once
        tally = np.bincount(c if least == wide - 1 else (n - least) * wide + c)
        pairs = np.flatnonzero(tally)
        weight = tally[pairs].astype(float)
        n, c = least + pairs // wide, pairs % wide
    marked, total = c if any_drawn else n - c, np.zeros(K)
    for block in _blocks(len(n), K):
        total += _chances(n[block], marked[block], K, any_drawn) @ weight[block]
    return total / tasks
