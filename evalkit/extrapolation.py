"""pass^k for more trials than were run: a model's statement, and what holds without the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.estimates import estimate
from evalkit.passk import count_arrays, named, positive, task_names

if TYPE_CHECKING:
    import pandas as pd

# How alike tasks may be: 0.01 is all or nothing, a million is one probability for all of them.
CONCENTRATIONS = np.geomspace(1e-2, 1e6, 185)


@dataclass(frozen=True)
class BetaBinomial:
    """A model of a suite: each task's success probability is drawn from a beta distribution.

    Attributes
    ----------
    mean : float
        Mean success probability, the model's pass^1.
    concentration : float
        How alike tasks are: the sum of the beta distribution's two parameters.
    """

    mean: float
    concentration: float

    def pass_hat_k(self, k: int) -> float:
        """The model's pass^k: the mean over tasks of the k-th power.

        Examples
        --------
        >>> round(BetaBinomial(mean=0.5, concentration=2).pass_hat_k(3), 3)
        0.25
        """
        return float(_moment(np.array(self.mean), np.array(self.concentration), k))


@dataclass(frozen=True, repr=False)
class Extrapolation:
    """pass^k as a beta-binomial model gives it, beside the bounds that need no model.

    Attributes
    ----------
    k : int
    value, low, high, level : float
        The model's value and its interval, with the nominal coverage.
    model : BetaBinomial
    trials : int
        The k of the largest pass^k that the data give without a model, on all tasks.
    bounds : (float, float)
        (pass^m)^(k/m) and pass^m, for m = ``trials``: the true pass^k lies between the true ones.
    bounds_interval : (float, float)
        The same from the ends of the interval of pass^m, so with its sampling error.
    tasks : int
    excluded : tuple
        Tasks without a valid trial.
    """

    k: int
    value: float
    low: float
    high: float
    level: float
    model: BetaBinomial
    trials: int
    bounds: tuple[float, float]
    bounds_interval: tuple[float, float]
    tasks: int
    excluded: tuple[Any, ...]

    def __str__(self) -> str:
        (low, high), (least, most) = self.bounds, self.bounds_interval
        left_out = f"; left out: {named(self.excluded)}" * bool(self.excluded)
        return (
            f"pass^{self.k} of a beta-binomial model: {self.value:.3f}, {self.level:.0%} interval "
            f"[{self.low:.3f}, {self.high:.3f}]; without a model, from pass^{self.trials}: between "
            f"{low:.3f} and {high:.3f}, with sampling error [{least:.3f}, {most:.3f}]; "
            f"{self.tasks} tasks{left_out}"
        )

    __repr__ = __str__


def beta_binomial_fit(counts: pd.DataFrame | Mapping[str, Any]) -> BetaBinomial:
    """The beta-binomial model under which the counts are most likely.

    Parameters
    ----------
    counts : DataFrame or mapping
        One row for each task, with n and c; tasks may have different n.

    Returns
    -------
    BetaBinomial

    Raises
    ------
    ValueError
        If no task has two valid trials, which is what shows how unlike tasks are.

    References
    ----------
    Kazdan et al. 2025 (beta-binomial scaling of pass@k).

    Examples
    --------
    >>> model = beta_binomial_fit({"n": [8] * 5, "c": [0, 3, 5, 8, 8]})
    >>> round(model.mean, 2), round(model.concentration, 1)
    (0.61, 0.6)
    """
    n, c, _ = count_arrays(counts)
    return _fit(_tails(n, c))[0]


def extrapolate(
    counts: pd.DataFrame | Mapping[str, Any], k: int, *, level: float = 0.95
) -> Extrapolation:
    """pass^k for any k, above all for more trials than were run.

    Parameters
    ----------
    counts : DataFrame or mapping
        One row for each task, with n and c, and if known task.
    k : int
        Trials that must all succeed.
    level : float
        Nominal coverage of the intervals.

    Returns
    -------
    Extrapolation
        Maximum likelihood, and the interval of the profile likelihood with the t quantile.

    Raises
    ------
    ValueError
        If no task has two valid trials, or an argument is out of range.

    Examples
    --------
    >>> found = extrapolate({"n": [8] * 12, "c": [8, 8, 8, 8, 7, 7, 6, 5, 4, 2, 1, 0]}, k=16)
    >>> print(f"{found.value:.2f} in [{found.low:.2f}, {found.high:.2f}]")
    0.27 in [0.06, 0.60]
    """
    n, c, _ = count_arrays(counts)
    k, run = positive("k", k), n > 0
    tails = _tails(n, c)
    model, best = _fit(tails)
    low, high = _profile_interval(tails, best, k, level, df=int(run.sum()) - 1)
    known = {"n": n[run], "c": c[run]}
    m = min(k, int(n[run].min()))
    base = estimate(known, m, level=level)
    return Extrapolation(
        k, model.pass_hat_k(k), low, high, level, model, m,
        (base.value ** (k / m), base.value), (base.low ** (k / m), base.high), len(known["n"]),
        tuple(task for task, ran in zip(task_names(counts), run, strict=True) if not ran),
    )  # fmt: skip


# The likelihood of (mean, concentration) is a product of factors (mean s + j), ((1 - mean) s + j)
# and 1 / (s + j). All that the counts contribute is how many tasks have more than j successes,
# failures and trials. The mean is handled as its logit.


def _tails(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """How many tasks have more than j successes, failures, trials; shape (3, most trials)."""
    most = int(n.max())
    if most < 2:
        raise ValueError("no task has two valid trials, so nothing shows how unlike tasks are.")
    tallies = [np.bincount(x, minlength=most + 1) for x in (c, n - c, n)]
    return np.array([np.cumsum(tally[::-1])[::-1][1:] for tally in tallies], dtype=float)


def _log_likelihood(logit: np.ndarray, s: np.ndarray, tails: np.ndarray) -> np.ndarray:
    from scipy.special import expit, xlogy

    passes, fails, trials = tails
    j, logit, s = np.arange(len(trials)), logit[..., None], s[..., None]
    terms = xlogy(passes, s * expit(logit) + j) + xlogy(fails, s * expit(-logit) + j)
    return np.asarray((terms - trials * np.log(s + j)).sum(axis=-1))


def _best_logits(s: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """The most likely mean at each concentration: there the slope, which falls, is 0."""
    from scipy.special import expit

    passes, fails, trials = tails
    j = np.arange(len(trials))

    def rising(logit: np.ndarray) -> np.ndarray:
        a, b = s * expit(logit), s * expit(-logit)
        return np.asarray((passes / (a[:, None] + j) - fails / (b[:, None] + j)).sum(axis=-1) > 0)

    return _last_true(rising, np.full(s.shape, -30.0), np.full(s.shape, 30.0))


def _last_true(
    holds: Callable[[np.ndarray], np.ndarray], start: np.ndarray, end: np.ndarray
) -> np.ndarray:
    """Where, on the way from start to end, a condition stops to hold."""
    for _ in range(48):
        middle = (start + end) / 2
        good = holds(middle)
        start, end = np.where(good, middle, start), np.where(good, end, middle)
    return start


def _fit(tails: np.ndarray) -> tuple[BetaBinomial, float]:
    """The most likely model, and its log likelihood."""
    from scipy.optimize import minimize_scalar
    from scipy.special import expit

    def worse(log_s: float) -> float:
        s = np.exp([log_s])
        return -float(_log_likelihood(_best_logits(s, tails), s, tails)[0])

    s = CONCENTRATIONS
    coarse = int(np.argmax(_log_likelihood(_best_logits(s, tails), s, tails)))
    around = np.log(s[[max(coarse - 1, 0), min(coarse + 1, len(s) - 1)]])
    found = minimize_scalar(worse, bounds=tuple(around), method="bounded")
    best = np.exp([found.x])
    return BetaBinomial(float(expit(_best_logits(best, tails)[0])), float(best[0])), -found.fun


def _profile_interval(
    tails: np.ndarray, best: float, k: int, level: float, df: int
) -> tuple[float, float]:
    """The least and largest pass^k among the models that the counts do not speak against."""
    from scipy.special import expit, stdtrit

    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; it is {level!r}.")
    if df < 1:
        return 0.0, 1.0
    cut = best - stdtrit(df, (1 + level) / 2) ** 2 / 2
    logits = _best_logits(CONCENTRATIONS, tails)
    likely = _log_likelihood(logits, CONCENTRATIONS, tails) >= cut
    s, logits = CONCENTRATIONS[likely], logits[likely]

    def still(logit: np.ndarray) -> np.ndarray:
        return _log_likelihood(logit, s, tails) >= cut

    low = _last_true(still, logits, np.full(s.shape, -30.0))
    high = _last_true(still, logits, np.full(s.shape, 30.0))
    least, most = (_moment(expit(end), s, k) for end in (low, high))
    return float(least.min()), float(most.max())


def _moment(mean: np.ndarray, s: np.ndarray, k: int) -> Any:
    i = np.arange(k)
    return np.prod((mean[..., None] * s[..., None] + i) / (s[..., None] + i), axis=-1)
