"""Intervals against SciPy's bootstrap: ``uv run --all-groups pytest -n0 -s tests/benchmarks``."""

from __future__ import annotations

import os
from functools import partial

import numpy as np
from scipy.stats import bootstrap

from evalkit.comparison import compare
from evalkit.estimates import estimate
from evalkit.passk import pass_hat_k
from tests.benchmarks.measure import measured, report

SIZES = [int(size) for size in os.environ.get("SUITES", "30 120 1000 10000").split()]
TRIALS, K = 8, 4
NOTE = "SciPy is given the estimates of each task; ours makes them, and the bracket, from counts."


def suites(tasks: int) -> list[dict[str, np.ndarray]]:
    """Counts of two agents on the same tasks, the second a little better."""
    rng = np.random.default_rng(tasks)
    p = rng.beta(8, 2, size=tasks)
    names, n = np.arange(tasks), np.full(tasks, TRIALS)
    return [{"task": names, "n": n, "c": rng.binomial(n, q)} for q in (p, p**0.8)]


def resampled(values: np.ndarray, method: str) -> tuple[float, float]:
    found = bootstrap(
        (values,),
        np.mean,
        n_resamples=1_000,
        batch=100,
        method=method,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)


def test_an_interval_for_one_agent() -> None:
    rows = []
    for tasks in SIZES:
        counts, _ = suites(tasks)
        values = pass_hat_k(counts["n"], counts["c"], K)
        works = {"evalkit": partial(estimate, counts, K)} | {
            f"SciPy {method}": partial(resampled, values, method)
            for method in ("percentile", "BCa")[: 1 + (tasks <= 1_000)]
        }
        found, results = measured(tasks, works)
        rows += found
        ours = results.pop("evalkit")
        for low, high in results.values():
            assert abs(low - ours.low) < 0.5 * (high - low)
            assert abs(high - ours.high) < 0.5 * (high - low)
    report("interval", rows, x="tasks", note=NOTE)


def test_an_interval_for_a_difference() -> None:
    rows = []
    for tasks in SIZES:
        first, second = suites(tasks)
        values = pass_hat_k(TRIALS, second["c"], K) - pass_hat_k(TRIALS, first["c"], K)
        works = {
            "evalkit": partial(compare, first, second, K),
            "SciPy percentile": partial(resampled, values, "percentile"),
        }
        found, results = measured(tasks, works)
        rows += found
        (low, high), ours = results["SciPy percentile"], results["evalkit"]
        assert abs(low - ours.low) < 0.5 * (high - low)
        assert abs(high - ours.high) < 0.5 * (high - low)
    report("interval_of_a_difference", rows, x="tasks", note=NOTE)
