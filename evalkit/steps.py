"""The step model: an episode is n steps, and each must go right.

A step succeeds with probability r. Of the steps that fail, a share rho is noticed and mended, so
that a step goes right in the end with s = r + (1 - r) rho, an episode with s^n, and k trials of
the same task all with s^(nk). Every function takes numbers or arrays and broadcasts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def step_success(r: ArrayLike, rho: ArrayLike = 0.0) -> Any:
    """The probability that a step goes right in the end: r + (1 - r) rho.

    Parameters
    ----------
    r : array_like
        Per-step reliability, in [0, 1].
    rho : array_like
        Recovery rate: the share of failed steps that the agent notices and mends, in [0, 1].

    Returns
    -------
    float or ndarray
        A probability; an array where an argument is one.

    Raises
    ------
    ValueError
        If an argument lies outside its range.

    Examples
    --------
    >>> step_success(0.97, 0.5)
    0.985
    """
    r, rho = _share("r", r), _share("rho", rho)
    return _plain(r + (1 - r) * rho)


def episode_success(r: ArrayLike, n: ArrayLike, rho: ArrayLike = 0.0) -> Any:
    """The probability that all n steps of an episode go right: s^n.

    Parameters
    ----------
    r, rho : array_like
        Per-step reliability and recovery rate, each in [0, 1].
    n : array_like
        Steps, 0 or more; a mean number of steps need not be whole.

    Returns
    -------
    float or ndarray
        A probability.

    Raises
    ------
    ValueError
        If an argument lies outside its range.

    Examples
    --------
    >>> [round(episode_success(r, 20), 3) for r in (0.99, 0.98, 0.97)]
    [0.818, 0.668, 0.544]
    >>> round(episode_success(0.97, 20, rho=0.5), 3)
    0.739
    """
    return step_pass_hat_k(r, n, 1, rho)


def step_pass_hat_k(r: ArrayLike, n: ArrayLike, k: ArrayLike, rho: ArrayLike = 0.0) -> Any:
    """The probability that all k trials of an n-step task succeed: s^(nk).

    Repeating a task k times asks as much of the agent as a task k times as long.

    Parameters
    ----------
    r, rho : array_like
        Per-step reliability and recovery rate, each in [0, 1].
    n : array_like
        Steps, 0 or more.
    k : array_like
        Trials, a whole number, 1 or more.

    Returns
    -------
    float or ndarray
        A probability.

    Raises
    ------
    ValueError
        If an argument lies outside its range.

    References
    ----------
    Yao et al. 2024, tau-bench (pass^k).

    Examples
    --------
    >>> round(step_pass_hat_k(0.99, 20, 8), 3)
    0.2
    """
    return _plain(step_success(r, rho) ** (_length(n) * _trials(k)))


def step_pass_at_k(r: ArrayLike, n: ArrayLike, k: ArrayLike, rho: ArrayLike = 0.0) -> Any:
    """The probability that at least one of k trials of an n-step task succeeds: 1 - (1 - s^n)^k.

    Parameters
    ----------
    r, rho : array_like
        Per-step reliability and recovery rate, each in [0, 1].
    n : array_like
        Steps, 0 or more.
    k : array_like
        Trials, a whole number, 1 or more.

    Returns
    -------
    float or ndarray
        A probability.

    Raises
    ------
    ValueError
        If an argument lies outside its range.

    References
    ----------
    Chen et al. 2021 (pass@k).

    Examples
    --------
    >>> step_pass_at_k(0.99, 20, 8) > 0.999
    True
    """
    success = np.asarray(episode_success(r, n, rho))
    with np.errstate(divide="ignore"):  # a certain success: log 0, and the result is 1
        return _plain(-np.expm1(_trials(k) * np.log1p(-success)))


def required_reliability(
    target: ArrayLike, n: ArrayLike, k: ArrayLike = 1, rho: ArrayLike = 0.0
) -> Any:
    """The smallest per-step reliability r with which pass^k on n steps reaches a target.

    Parameters
    ----------
    target : array_like
        The pass^k that is wanted, in (0, 1].
    n : array_like
        Steps, more than 0.
    k : array_like
        Trials, a whole number, 1 or more.
    rho : array_like
        Recovery rate, in [0, 1].

    Returns
    -------
    float or ndarray
        A probability; 0 where recovery alone is enough.

    Raises
    ------
    ValueError
        If an argument lies outside its range.

    Examples
    --------
    >>> [round(required_reliability(0.9, n, k), 4) for n, k in ((20, 1), (20, 8), (10, 8), (50, 8))]
    [0.9947, 0.9993, 0.9987, 0.9997]
    """
    needed = _needed_step_success(target, n, k)
    return _plain(_share_mended(needed, _share("rho", rho)))


def required_recovery(target: ArrayLike, r: ArrayLike, n: ArrayLike, k: ArrayLike = 1) -> Any:
    """The smallest recovery rate rho with which pass^k on n steps reaches a target.

    Parameters
    ----------
    target : array_like
        The pass^k that is wanted, in (0, 1].
    r : array_like
        Per-step reliability, in [0, 1].
    n : array_like
        Steps, more than 0.
    k : array_like
        Trials, a whole number, 1 or more.

    Returns
    -------
    float or ndarray
        A share of the failed steps; 0 where the agent needs no recovery.

    Raises
    ------
    ValueError
        If an argument lies outside its range.

    Examples
    --------
    >>> round(required_recovery(0.9, r=0.97, n=20), 3)
    0.825
    """
    needed = _needed_step_success(target, n, k)
    return _plain(_share_mended(needed, _share("r", r)))


def horizon(target: ArrayLike, r: ArrayLike, rho: ArrayLike = 0.0, k: ArrayLike = 1) -> Any:
    """The most steps that a task may have for pass^k to be at least a target.

    Parameters
    ----------
    target : array_like
        The pass^k that is wanted, in (0, 1].
    r, rho : array_like
        Per-step reliability and recovery rate, each in [0, 1].
    k : array_like
        Trials, a whole number, 1 or more.

    Returns
    -------
    float or ndarray
        Whole steps; infinite for an agent whose steps never fail.

    Raises
    ------
    ValueError
        If an argument lies outside its range.

    Examples
    --------
    >>> horizon([0.5, 0.8, 0.9, 0.99], r=0.99)
    array([68., 22., 10.,  1.])
    >>> horizon(0.81, r=0.9)
    2.0
    """
    target, k = _target(target), _trials(k)
    s = np.asarray(step_success(r, rho))
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.floor(np.abs(np.log(target) / (k * np.log(s))))
        # Rounding can leave the quotient, or the power, just short of a length that does reach it.
        longer = k * (steps + 1)
        short_of = target * (1 - longer * np.finfo(float).eps)
        steps = np.where(s**longer >= short_of, steps + 1, steps)
    return _plain(np.where(s == 1, np.inf, np.where(s == 0, 0.0, steps)))


def _needed_step_success(target: ArrayLike, n: ArrayLike, k: ArrayLike) -> np.ndarray:
    n = _length(n)
    if np.any(n == 0):
        raise ValueError("n must be more than 0 here: a task of no steps needs no reliability.")
    return np.asarray(_target(target) ** (1 / (n * _trials(k))))


def _share_mended(needed: np.ndarray, have: np.ndarray) -> np.ndarray:
    """The x in [0, 1] with have + (1 - have) x = needed; 0 if ``have`` is enough by itself."""
    short = np.maximum(needed - have, 0.0)
    return np.divide(short, 1 - have, out=np.zeros_like(short), where=have < 1)


def _share(name: str, value: ArrayLike) -> np.ndarray:
    return _within(name, value, lambda x: (x >= 0) & (x <= 1), "in [0, 1], not in per cent")


def _target(value: ArrayLike) -> np.ndarray:
    return _within("target", value, lambda x: (x > 0) & (x <= 1), "in (0, 1], not in per cent")


def _length(value: ArrayLike) -> np.ndarray:
    return _within("n", value, lambda x: (x >= 0) & np.isfinite(x), "a number of steps, 0 or more")


def _trials(value: ArrayLike) -> np.ndarray:
    whole = "a whole number of trials, 1 or more"
    return _within("k", value, lambda x: (x >= 1) & np.isfinite(x) & (x == np.floor(x)), whole)


def _within(name: str, value: ArrayLike, inside: Any, wanted: str) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be {wanted}; it is {value!r}.")
    array = array.astype(float)
    bad = np.argwhere(~inside(array))
    if len(bad):
        place = f"{name}[{', '.join(map(str, bad[0]))}]" if array.ndim else name
        raise ValueError(f"{name} must be {wanted}; {place} is {float(array[tuple(bad[0])])}.")
    return array


def _plain(value: np.ndarray | np.floating[Any]) -> Any:
    return float(value) if np.ndim(value) == 0 else value
