"""Worlds that the simple models leave out: errors that come together, and trials that do too.

Each function draws what one assumption rules out; where a closed form exists, it stands beside.
Two events of one episode that share its luck have a *correlation*: 0 if they are independent, 1
if they always happen together. The luck is beta distributed, its mean the rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, gammaln, logit

Bools = NDArray[np.bool_]


def clustered(
    rng: np.random.Generator, p: float, shape: tuple[int, int], correlation: float
) -> Bools:
    """Which of n events of each episode happen, if those of one episode share its luck.

    Parameters
    ----------
    rng
        Source of chance.
    p
        Probability of one event, over all episodes.
    shape
        Episodes, and events of each.
    correlation
        Of two events of one episode, in [0, 1).

    Returns
    -------
    ndarray of bool, shape (episodes, events)

    Raises
    ------
    ValueError
        If p or the correlation is no share, or the correlation is 1.

    Examples
    --------
    >>> steps = clustered(np.random.default_rng(0), 0.97, (10_000, 20), 0.2)
    >>> round(float(steps.all(axis=1).mean()), 1)
    0.8
    """
    _check(p=p, correlation=correlation)
    size = (1 - correlation) / correlation if correlation and 0 < p < 1 else np.inf
    luck = p if size == np.inf else rng.beta(p * size, (1 - p) * size, (shape[0], 1))
    return rng.random(shape) < luck


def clustered_power(p: ArrayLike, n: ArrayLike, correlation: ArrayLike) -> Any:
    """The probability that n events that share an episode's luck all happen: the mean of p^n.

    With a + b = (1 - c) / c and a = p (a + b) it is B(a + n, b) / B(a, b), and p^n for c = 0.

    Parameters
    ----------
    p, n, correlation
        As for `clustered`; arrays broadcast.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        As `clustered`.

    References
    ----------
    Skellam 1948 (the beta-binomial distribution).

    Examples
    --------
    >>> clustered_power(0.97, 20, [0, 0.2]).round(3).tolist()
    [0.544, 0.795]
    """
    _check(p=p, correlation=correlation)
    p, n, c = np.broadcast_arrays(*(np.asarray(x, float) for x in (p, n, correlation)))
    inside = (p > 0) & (p < 1) & (c > 0)
    size = np.divide(1 - c, c, out=np.ones_like(c), where=c > 0)
    a = np.where(inside, p, 0.5) * size
    log = gammaln(a + n) - gammaln(a) + gammaln(size) - gammaln(size + n)
    result = np.where(inside, np.exp(log), p**n)
    return result if result.ndim else float(result)


def misunderstood(
    rng: np.random.Generator, r: float, shape: tuple[int, int], q: float, after: float
) -> Bools:
    """Which steps go right, if in some episodes a misunderstanding spoils all from some step on.

    Parameters
    ----------
    rng
        Source of chance.
    r
        Probability that a step goes right while nothing is misunderstood.
    shape
        Episodes, and steps of each.
    q
        Share of episodes with a misunderstanding; its first step may be any, all alike.
    after
        Probability that a step goes right from there on.

    Returns
    -------
    ndarray of bool, shape (episodes, steps)

    Raises
    ------
    ValueError
        If r, q or after is no share.
    """
    _check(r=r, q=q, after=after)
    episodes, n = shape
    start = np.where(rng.random(episodes) < q, rng.integers(n, size=episodes), n)
    return rng.random(shape) < np.where(np.arange(n) < start[:, None], r, after)


def misunderstood_success(r: float, n: int, q: float, after: float) -> float:
    """The probability that all n steps go right there: (1 - q) r^n + q times the mean r^j after^(n - j).

    Examples
    --------
    >>> round(misunderstood_success(0.99, 20, q=0.15, after=0.5), 3)
    0.701
    """
    _check(r=r, q=q, after=after)
    j = np.arange(n)
    return float((1 - q) * r**n + q * np.mean(r**j * after ** (n - j)))


def strays_by_tool(
    rng: np.random.Generator, rates: Mapping[str, float], tools: Sequence[str], episodes: int
) -> Bools:
    """Which actions bring an unintended write, shape (episodes, actions), each tool at its rate."""
    if missing := [tool for tool in tools if tool not in rates]:
        raise ValueError(f"rates: none for the tool {missing[0]!r}; there are {', '.join(rates)}")
    _check(**rates)
    return rng.random((episodes, len(tools))) < [rates[tool] for tool in tools]


def retried(
    rng: np.random.Generator,
    success: ArrayLike,
    flakes: tuple[ArrayLike, ArrayLike],
    silent: float,
    retries: int,
    shape: tuple[int, int],
) -> tuple[Bools, Bools]:
    """Which trials pass, and which end with a verdict, where infra failures are retried if seen.

    Parameters
    ----------
    rng
        Source of chance.
    success
        True success of a task; broadcasts to the shape.
    flakes
        The probability that the environment fails an attempt that would have succeeded, and one
        that would have failed; they broadcast too.
    silent
        Share of the infra failures that nobody sees. They count as the agent's.
    retries
        The most retries of one trial.
    shape
        Tasks, and trials of each.

    Returns
    -------
    passed, valid : ndarray of bool, shape (tasks, trials)
        Not valid: every attempt was seen to fail by the environment.

    Raises
    ------
    ValueError
        If a rate is no share.
    """
    _check(success=success, flakes=np.concatenate([np.ravel(f) for f in flakes]), silent=silent)
    passed, waiting = np.zeros(shape, bool), np.ones(shape, bool)
    for _ in range(retries + 1):
        right = rng.random(shape) < np.asarray(success, float)
        hit = rng.random(shape) < np.where(right, *flakes)
        passed |= waiting & right & ~hit
        waiting &= hit & (rng.random(shape) >= silent)
    return passed, ~waiting


def learning(success: float, trials: int, step: float) -> NDArray[np.float64]:
    """The success of each trial in order, whose log odds grow by a step each time: (trials,).

    Examples
    --------
    >>> learning(0.5, 4, 0.4).round(2).tolist()
    [0.5, 0.6, 0.69, 0.77]
    """
    _check(success=success)
    return np.asarray(expit(logit(success) + step * np.arange(trials)))


def in_order(
    rng: np.random.Generator, success: ArrayLike, tasks: int, copied: float = 0.0
) -> Bools:
    """Which trials of each task pass, one after another, shape (tasks, trials).

    Parameters
    ----------
    rng
        Source of chance.
    success
        Of each trial, shape (trials,).
    tasks
        How many.
    copied
        The probability that a trial repeats the outcome of the one before, as from a cache.

    Raises
    ------
    ValueError
        If a rate is no share.
    """
    _check(success=success, copied=copied)
    rates = np.asarray(success, float)
    passed = rng.random((tasks, len(rates))) < rates
    again = rng.random(passed.shape) < copied
    for trial in range(1, len(rates)):
        passed[:, trial] = np.where(again[:, trial], passed[:, trial - 1], passed[:, trial])
    return passed


def _check(**shares: ArrayLike) -> None:
    for name, value in shares.items():
        array = np.asarray(value, float)
        if not np.all((array >= 0) & (array <= 1)):
            raise ValueError(f"{name} must be in [0, 1], not in per cent; it is {value!r}")
        if name == "correlation" and np.any(array == 1):
            raise ValueError("correlation must be below 1; with 1 an episode is a single event")
