"""What a noisy judge's rate says about the true one.

A judge (a model, a person) passes some failures and fails some successes, so that the share it
passes is not the share that passed. A subset labelled by hand tells how far off it is. Draw that
subset at random from the episodes that the judge judges: a hand-picked one corrects nothing.

Every verdict here is a truth value; leave out the episodes that were not evaluated, and say how
many. ``judge`` and ``truth`` are the judge's verdicts and the labels on the labelled episodes,
``judged`` the judge's verdicts on the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import binomtest, norm, t


class Rate(NamedTuple):
    """A rate in [0, 1] with an interval."""

    value: float
    low: float
    high: float


def sensitivity(judge: ArrayLike, truth: ArrayLike, level: float = 0.95) -> Rate:
    """The share of the true passes that the judge passes, with its Wilson interval.

    Parameters
    ----------
    judge, truth : array_like of bool
        The judge's verdicts and the labels, in the same order.
    level : float
        Of the interval.

    Returns
    -------
    Rate

    Raises
    ------
    ValueError
        If no label is a pass: then it cannot be estimated.

    Examples
    --------
    >>> value, low, high = sensitivity([True, True, False, True], [True, True, True, False])
    >>> round(value, 3), round(low, 3), round(high, 3)
    (0.667, 0.208, 0.939)
    """
    judge, truth = _verdicts(judge=judge, truth=truth)
    if not truth.any():
        raise ValueError("truth: it must hold passes and failures; label more episodes")
    found = binomtest(int(judge[truth].sum()), int(truth.sum()))
    return _rate(found.statistic, *found.proportion_ci(level, method="wilson"))


def specificity(judge: ArrayLike, truth: ArrayLike, level: float = 0.95) -> Rate:
    """The share of the true failures that the judge fails; as `sensitivity`.

    Examples
    --------
    >>> specificity([True, True, False, True], [True, True, False, False]).value
    0.5
    """
    judge, truth = _verdicts(judge=judge, truth=truth)
    return sensitivity(~judge, ~truth, level)


def corrected_rate(
    judged: ArrayLike, judge: ArrayLike, truth: ArrayLike, level: float = 0.95
) -> Rate:
    """The true rate behind a judge's, by its sensitivity and specificity (Rogan-Gladen).

    With p the share that the judge passes, the true rate is (p + spec - 1) / (sens + spec - 1).
    The interval takes in the doubt about all three.

    Parameters
    ----------
    judged : array_like of bool
        The judge's verdicts on the episodes that nobody labelled.
    judge, truth : array_like of bool
        Its verdicts and the labels on the labelled ones.
    level : float
        Of the interval.

    Returns
    -------
    Rate
        Cut to [0, 1].

    Raises
    ------
    ValueError
        If the rate cannot be corrected: the labels are all passes or all failures; sens + spec is
        not clearly over 1, so that the judge does no better than a coin; or its share on the
        others is one that no true rate gives, so that the labelled episodes are not like them.

    References
    ----------
    Rogan and Gladen 1978, Am. J. Epidemiol. 107(1), 71-76. Lang and Reiczigel 2014, Prev. Vet. Med.
    113, 13-22 (the interval). Lee et al. 2025, arXiv:2511.21140 (the same for judges).

    Examples
    --------
    >>> truth = [True] * 50 + [False] * 50
    >>> judge = [True] * 45 + [False] * 5 + [True] * 15 + [False] * 35
    >>> judged = [True] * 660 + [False] * 340
    >>> value, low, high = corrected_rate(judged, judge, truth)
    >>> round(value, 3), round(low, 3), round(high, 3)
    (0.6, 0.472, 0.741)
    """
    [judged], [judge, truth] = _verdicts(judged=judged), _verdicts(judge=judge, truth=truth)
    z, n, p = norm.ppf((1 + level) / 2), judged.size, judged.mean()
    sens, spec = sensitivity(judge, truth).value, specificity(judge, truth).value
    n1, n0 = truth.sum() + 2, (~truth).sum() + 2
    # The interval's own estimates are drawn a little to the middle, or it would not cover.
    p_ = (n * p + z**2 / 2) / (n + z**2)
    sens_, spec_ = (sens * (n1 - 2) + 1) / n1, (spec * (n0 - 2) + 1) / n0
    gain, gain_ = sens + spec - 1, sens_ + spec_ - 1
    if min(gain, gain_) <= 0:
        raise ValueError(f"judge: sens. {sens:.2f} + spec. {spec:.2f} is not clearly over 1")
    centre, v1, v0 = (p_ + spec_ - 1) / gain_, sens_ * (1 - sens_) / n1, spec_ * (1 - spec_) / n0
    shift = 2 * z**2 * (centre * v1 - (1 - centre) * v0)
    variance = p_ * (1 - p_) / (n + z**2) + centre**2 * v1 + (1 - centre) ** 2 * v0
    mid, half = centre + shift, z * np.sqrt(variance) / gain_
    if not -half <= mid <= 1 + half:
        raise ValueError("judged: no true rate gives such a share; label episodes drawn from these")
    return _rate((p + spec - 1) / gain, mid - half, mid + half)


def prediction_powered_rate(
    judged: ArrayLike, judge: ArrayLike, truth: ArrayLike, level: float = 0.95
) -> Rate:
    """The true rate from the labels, sharpened by the judge (prediction-powered, PPI++).

    The labelled share, plus lambda times how far the judge's share on the other episodes lies
    from its share on the labelled ones. Lambda, in [0, 1], follows from how well judge and labels
    go together, so that a judge that does no better than a coin is hardly listened to.

    Parameters
    ----------
    judged, judge, truth, level
        As `corrected_rate` takes them; the labels may be all one.

    Returns
    -------
    Rate
        Cut to [0, 1]. The variance counts one more disagreement each way, so that a judge never
        seen to be wrong is not beyond doubt, and the quantile is Student's. Over ten settings,
        with 20 to 100 labels, such intervals of level .95 held the truth in .93 to 1.00 of
        6,000 runs each; without the added pair in as few as .56.

    Raises
    ------
    ValueError
        If there are fewer than two labels.

    References
    ----------
    Angelopoulos et al. 2023, Science 382, 669-674. Angelopoulos, Duchi and Zrnic 2023,
    arXiv:2311.01453 (lambda). Mani et al. 2025, arXiv:2505.20178 (with few labels a poor judge
    costs precision).

    Examples
    --------
    >>> truth = [True] * 50 + [False] * 50
    >>> judge = [True] * 45 + [False] * 5 + [True] * 15 + [False] * 35
    >>> judged = [True] * 660 + [False] * 340
    >>> value, low, high = prediction_powered_rate(judged, judge, truth)
    >>> round(value, 3), round(low, 3), round(high, 3)
    (0.532, 0.45, 0.614)
    """
    [judged], [judge, truth] = _verdicts(judged=judged), _verdicts(judge=judge, truth=truth)
    if (n := truth.size) < 2:
        raise ValueError("truth: one label says nothing of its spread; label more episodes")
    f, y = np.append(judge, [1.0, 0.0]), np.append(truth, [0.0, 1.0])
    lam = np.clip(np.cov(y, f)[0, 1] / f.var(ddof=1) / (1 + n / judged.size), 0, 1)
    value = truth.mean() + lam * (judged.mean() - judge.mean())
    variance = (y - lam * f).var() / (n + 2) + lam**2 * judged.var() / judged.size
    half = t.ppf((1 + level) / 2, n - 1) * np.sqrt(variance)
    return _rate(value, value - half, value + half)


def cohen_kappa(a: ArrayLike, b: ArrayLike) -> float:
    """The agreement of two judges beyond chance, chance being two judges with their pass rates.

    Parameters
    ----------
    a, b : array_like of bool
        Their verdicts on the same episodes.

    Returns
    -------
    float
        1 for full agreement, 0 for no more than chance; NaN if both give one and the same verdict
        throughout. Where nearly all episodes pass it is low for judges that hardly ever differ:
        read it beside `gwet_ac1`.

    References
    ----------
    Cohen 1960, Educ. Psychol. Meas. 20(1), 37-46. Feinstein and Cicchetti 1990, J. Clin. Epidemiol.
    43(6), 543-549 (the paradox).

    Examples
    --------
    >>> a, b = [True] * 18 + [False, True], [True] * 18 + [True, False]
    >>> round(cohen_kappa(a, b), 3), round(gwet_ac1(a, b), 3)
    (-0.053, 0.89)
    """
    a, b = _verdicts(a=a, b=b)
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    return float(((a == b).mean() - chance) / (1 - chance)) if chance < 1 else float("nan")


def gwet_ac1(a: ArrayLike, b: ArrayLike) -> float:
    """The agreement of two judges beyond chance, by a chance that a lopsided pass rate lowers.

    With q the mean of the two pass rates, chance is 2 q (1 - q). Arguments as `cohen_kappa`.

    References
    ----------
    Gwet 2008, Br. J. Math. Stat. Psychol. 61(1), 29-48.

    Examples
    --------
    >>> gwet_ac1([True, True], [True, True])
    1.0
    """
    a, b = _verdicts(a=a, b=b)
    q = (a.mean() + b.mean()) / 2
    return float(((a == b).mean() - 2 * q * (1 - q)) / (1 - 2 * q * (1 - q)))


def judged_rate(
    rate: ArrayLike, showy: ArrayLike, sensitivity: float, specificity: float, lift: float
) -> Any:
    """The share of episodes passed by a judge who likes long or confident reports.

    Parameters
    ----------
    rate : array_like
        The true pass rate; or, for single episodes, whether each passed.
    showy : array_like
        The share of reports that are long or confident; or whether each is.
    sensitivity, specificity : float
        The judge's on plain reports.
    lift : float
        What a showy report adds to the chance of a pass, whatever the truth.

    Returns
    -------
    float or ndarray
        In [0, 1]. A simulated judge's verdicts are ``rng.random(n) < judged_rate(...)``.

    References
    ----------
    Zheng et al. 2023, arXiv:2306.05685 (judges prefer longer answers).

    Examples
    --------
    >>> judged_rate([0.6, 0.5], [0.0, 1.0], 0.9, 0.8, lift=0.1).round(2)
    array([0.62, 0.65])
    >>> judged_rate([True, False], [True, True], 0.9, 0.8, lift=0.3).round(2)
    array([1. , 0.5])
    """
    rate, showy = np.asarray(rate, float), np.asarray(showy, float)
    chances = [np.clip([sensitivity + x, 1 - specificity + x], 0, 1) for x in (0.0, lift)]
    plain, loud = (rate * passed + (1 - rate) * failed for passed, failed in chances)
    return plain + showy * (loud - plain)


def judged_ranking(
    agents: pd.DataFrame, sensitivity: float, specificity: float, lift: float
) -> pd.DataFrame:
    """What such a judge makes of a ranking, on average over many episodes.

    Parameters
    ----------
    agents : DataFrame
        One row an agent: its true pass ``rate``, and the share of its reports that are ``showy``.
    sensitivity, specificity, lift : float
        As `judged_rate` takes them.

    Returns
    -------
    DataFrame
        ``agents`` with the columns ``judged``, ``rank by rate`` and ``rank by judged``.

    Examples
    --------
    >>> agents = pd.DataFrame({"rate": [0.6, 0.5], "showy": [0.1, 0.9]}, index=["terse", "verbose"])
    >>> judged_ranking(agents, 0.9, 0.8, lift=0.2).round(2)
             rate  showy  judged  rank by rate  rank by judged
    terse     0.6    0.1    0.63             1               2
    verbose   0.5    0.9    0.68             2               1
    """
    judged = judged_rate(agents["rate"], agents["showy"], sensitivity, specificity, lift)
    table = agents.assign(judged=judged)
    ranks = table[["rate", "judged"]].rank(ascending=False, method="min").astype(int)
    return table.join(ranks.add_prefix("rank by "))


def _verdicts(**named: ArrayLike) -> list[np.ndarray]:
    arrays = [np.asarray(values) for values in named.values()]
    for name, array in zip(named, arrays, strict=True):
        if array.dtype != bool or array.shape != (arrays[0].size,) or not array.size:
            raise ValueError(f"{name}: give True and False, one for each of {', '.join(named)}")
    return arrays


def _rate(value: float, low: float, high: float) -> Rate:
    return Rate(*map(float, np.clip([value, min(low, value), max(high, value)], 0, 1)))
