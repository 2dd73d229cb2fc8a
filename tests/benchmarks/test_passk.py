"""pass^k curves against others' estimators: ``uv run --all-groups pytest -n0 -s tests/benchmarks``."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalkit.passk import pass_at_k_curve, pass_hat_k_curve
from tests.benchmarks.measure import measured, report

K = 8
SIZES = [int(size) for size in os.environ.get("SUITES", "100 1000 10000 100000").split()]
NOTE = (
    "Every peer is given the counts, or the scores, as it wants them; making them is not timed.\n"
    "NumPy's product is what ours would be without the checks of its input."
)


def suite(tasks: int, trials: tuple[int, int]) -> dict[str, np.ndarray]:
    """Counts of a suite whose tasks differ, with so many trials each, between two numbers."""
    rng = np.random.default_rng(tasks)
    n = rng.integers(*trials, size=tasks, endpoint=True)
    return {"n": n, "c": rng.binomial(n, rng.beta(4, 1, size=tasks))}


def a_loop(counts: list[tuple[int, int]]) -> list[float]:
    """A plain loop over tasks for each k, with exact binomials, as harnesses do it."""
    curve = []
    for k in range(1, K + 1):
        each = [math.comb(c, k) / math.comb(n, k) for n, c in counts]
        curve.append(sum(each) / len(each))
    return curve


def by_frame(frame: pd.DataFrame) -> list[float]:
    """The same, from a data frame of one row for each trial, grouped by task."""
    curve = []
    tallies = frame.groupby("task")["success"].agg(["size", "sum"])
    for k in range(1, K + 1):
        each = tallies.apply(
            lambda t, k=k: math.comb(t["sum"], k) / math.comb(t["size"], k), axis=1
        )
        curve.append(float(each.mean()))
    return curve


def product_of_numpy(n: np.ndarray, c: np.ndarray, marked: np.ndarray) -> list[float]:
    """The mean of a running product over all tasks at once: pass^k if the failed are marked."""
    value, curve = np.ones(len(n)), []
    for i in range(K):
        value = value * np.maximum(n - marked - i, 0) / (n - i)
        curve.append(float(value.mean()))
    return curve


def one_task_at_a_time(counts: list[tuple[int, int]]) -> list[float]:
    """pass@k by the product of Chen et al. 2021, with NumPy, one task and one k at a time."""

    def any_passes(n: int, c: int, k: int) -> float:
        if n - c < k:
            return 1.0
        return 1.0 - float(np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))

    return [float(np.mean([any_passes(n, c, k) for n, c in counts])) for k in range(1, K + 1)]


def by_inspect(reducer: Callable[[int], Any], scores: list[Any]) -> list[float]:
    """The mean over tasks of what a reducer of Inspect makes of the scores of each."""
    reducers = [reducer(k) for k in range(1, K + 1)]
    return [sum(reduce(one).value for one in scores) / len(scores) for reduce in reducers]


def scores_of(counts: list[tuple[int, int]]) -> list[Any]:
    """For each task, its trials as Inspect's scores; tasks of one result share them."""
    from inspect_ai.scorer import Score

    made = {(n, c): [Score(value=1)] * c + [Score(value=0)] * (n - c) for n, c in set(counts)}
    return [made[which] for which in counts]


def pass_hat_works(table: dict[str, np.ndarray]) -> dict[str, Callable[[], Any]]:
    from inspect_ai.scorer import pass_k

    n, c = table["n"], table["c"]
    counts = list(zip(n.tolist(), c.tolist(), strict=True))
    scores, log = scores_of(counts), pd.DataFrame({"task": np.repeat(np.arange(len(n)), n)})
    log["success"] = np.concatenate([np.arange(a) < b for a, b in counts]).astype(int)
    return {
        "evalkit": lambda: pass_hat_k_curve(table, K).value,
        "NumPy's product": lambda: product_of_numpy(n, c, n - c),
        "loop over tasks": lambda: a_loop(counts),
        "data frame": lambda: by_frame(log),
        "inspect_ai pass_k": lambda: by_inspect(pass_k, scores),
    }


def pass_at_works(table: dict[str, np.ndarray]) -> dict[str, Callable[[], Any]]:
    from inspect_ai.scorer import pass_at

    n, c = table["n"], table["c"]
    counts = list(zip(n.tolist(), c.tolist(), strict=True))
    scores = scores_of(counts)
    return {
        "evalkit": lambda: pass_at_k_curve(table, K).value,
        "NumPy's product": lambda: 1 - np.array(product_of_numpy(n, c, c)),
        "task by task": lambda: one_task_at_a_time(counts),
        "inspect_ai pass_at": lambda: by_inspect(pass_at, scores),
    }


@pytest.mark.parametrize("trials", [(8, 8), (8, 40)], ids=["8 trials", "8 to 40 trials"])
@pytest.mark.parametrize(("measure", "make"), [("hat", pass_hat_works), ("at", pass_at_works)])
def test_a_curve_of_eight_points(measure: str, make: Any, trials: tuple[int, int]) -> None:
    pytest.importorskip("inspect_ai")
    rows = []
    for tasks in SIZES:
        found, results = measured(tasks, make(suite(tasks, trials)))
        rows += found
        for name, curve in results.items():
            assert np.allclose(curve, results["evalkit"], rtol=1e-10), name
    report(f"pass_{measure}_{trials[0]}_to_{trials[1]}_trials", rows, x="tasks", note=NOTE)
