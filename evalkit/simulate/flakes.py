"""Thousands of suites in a flaky environment: what three ways of retrying make of pass^k.

Tasks of one success rate are exchangeable, so a suite is fully described by how many of its tasks
have 0, 1, ..., n trials of a kind, and one draw moves all tasks with the same count at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom

from evalkit.infra import measured_pass_hat_k

#: What is retried. Where nothing is, infra failures are not even told from the agent's.
RETRIED = ("nothing", "infra failures", "any failure")


def flake_table(
    rng: np.random.Generator,
    flakes: Sequence[float] = (0.0, 0.01, 0.02, 0.05, 0.1),
    *,
    suites: int = 4_000,
    tasks: int = 200,
    trials: int = 8,
    success: float = 0.7,
    retries: int = 3,
) -> pd.DataFrame:
    """The pass^1 and pass^k that simulated suites measure, k being all trials of a task.

    Every attempt is drawn: the environment fails it, or else the agent succeeds or does not, and
    what is retried is drawn again. A trial whose last attempt failed counts as a failure.

    Parameters
    ----------
    rng
        Source of chance.
    flakes
        Flake rates, each the probability that the environment fails an attempt.
    suites, tasks, trials
        How many suites, tasks of each, and trials of each task.
    success
        True success of every task.
    retries
        The most retries of one trial.

    Returns
    -------
    DataFrame
        One row for each flake rate and each of `RETRIED`: the mean over suites of pass^1 and of
        pass^k, its standard error, and what the closed form expects.

    Examples
    --------
    >>> table = flake_table(np.random.default_rng(0), [0.05]).set_index("retried")
    >>> table[["pass^1", "pass^8"]].round(3)
                    pass^1  pass^8
    retried
    nothing          0.665   0.038
    infra failures   0.700   0.058
    any failure      0.987   0.903
    """
    rows = []
    for f, retried in product(flakes, RETRIED):
        again, mistaken = retries * (retried != "nothing"), float(retried == "any failure")
        expected = {
            k: measured_pass_hat_k(success, f, k, again, mistaken=mistaken) for k in (1, trials)
        }
        passed = _passed(rng, retried, f, success, again, (suites, tasks, trials))
        scores = {1: passed @ np.arange(trials + 1) / trials, trials: passed[:, trials]}
        row = {"flake rate": f, "retried": retried}
        for k, score in scores.items():
            row[f"pass^{k}"] = score.mean() / tasks
            row[f"pass^{k} SE"] = score.std(ddof=1) / tasks / np.sqrt(suites)
            row[f"pass^{k} expected"] = expected[k]
        rows.append(row)
    return pd.DataFrame(rows)


def _passed(
    rng: np.random.Generator,
    retried: str,
    f: float,
    success: float,
    retries: int,
    shape: tuple[int, int, int],
) -> NDArray[np.int64]:
    """(suites, trials + 1) how many tasks of a suite have 0, 1, ..., n trials that passed."""
    suites, tasks, trials = shape
    counts = np.zeros((suites, trials + 1), dtype=np.int64)
    counts[:, trials] = tasks
    if retried == "nothing":
        return _thinned(rng, counts, (1 - f) * success)
    again = f if retried == "infra failures" else 1 - (1 - f) * success
    for _ in range(retries + 1):  # an attempt of all that is to be run
        counts = _thinned(rng, counts, again)
    ended = counts[:, ::-1]
    return _thinned(rng, ended, success) if retried == "infra failures" else ended


def _thinned(
    rng: np.random.Generator, counts: NDArray[np.int64], share: float
) -> NDArray[np.int64]:
    """The same counts once each trial has stayed with a probability, and gone otherwise."""
    left = np.zeros_like(counts)
    for n in np.flatnonzero(counts.any(axis=0)):
        left[:, : n + 1] += rng.multinomial(counts[:, n], binom.pmf(np.arange(n + 1), n, share))
    return left
