"""The numbers of "Real tasks are not identical, and that helps".

The note drew one suite and ran it once. Ours is another draw of the same family, the one that
chapter 08 shows; the note's figures are ranked among those of 2,000 redrawn suites.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from evalkit.course.numbers import Estimate, Number
from evalkit.simulate.suites import Suite, draw_suite, run_suite, suite_figures

REDRAWS = 2000
TRIALS = 8


@cache
def _suite() -> Suite:
    return draw_suite(np.random.default_rng(0))


@cache
def _figures() -> dict[str, Any]:
    """Of the chapter's suite and its one run."""
    successes = run_suite(_suite(), TRIALS, np.random.default_rng(2))
    return _with_middle(suite_figures(_suite(), successes, TRIALS))


@cache
def _redraws() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    suites = draw_suite(rng, redraws=REDRAWS)
    return _with_middle(suite_figures(suites, run_suite(suites, TRIALS, rng), TRIALS))


def _with_middle(figures: dict[str, Any]) -> dict[str, Any]:
    always, never = (figures[f"tasks that {kind} succeeded"] for kind in ("always", "never"))
    return {**figures, "neither": 1 - always - never}


def _input(id: str, quantity: str, note: int, ours: Callable[[], float]) -> Number:
    return Number(id, "real tasks", "08", quantity, note, "count", 0, "input", ours)


def _redrawn(figure: str, scale: float) -> Estimate:
    """A figure of the chapter's suite, as `suite_figures` names it, among those of its redraws."""
    redraws = scale * np.asarray(_redraws()[figure])
    value, spread = scale * float(_figures()[figure]), float(redraws.std(ddof=1))
    return Estimate(value, spread, redraws=redraws)


def _drawn(
    id: str, quantity: str, note: float, unit: str, figure: str, digits: int = 1, scale: float = 100
) -> Number:
    ours = partial(_redrawn, figure, scale)
    return Number(id, "real tasks", "08", quantity, note, unit, digits, "simulated", ours)


def _jensen() -> float:
    """Whether the mean of the powers was at least the power of the mean on every suite drawn."""
    drawn = _redraws()
    return float(np.all(drawn["true pass^8"] >= drawn["true pass^1"] ** 8))


NUMBERS = (
    _input("suite.tasks", "tasks in the suite", 120, lambda: _suite().success.size),
    _input("suite.trials", "trials of each task", 8, lambda: TRIALS),
    _input("suite.steps.min", "fewest steps", 4, lambda: _suite().n.min()),
    _input("suite.steps.max", "most steps", 30, lambda: _suite().n.max()),
    _drawn("suite.steps.mean", "mean steps", 16.8, "count", "mean steps", scale=1),
    _drawn(
        "suite.r.mean",
        "mean per-step reliability",
        0.966,
        "probability",
        "mean reliability",
        digits=3,
        scale=1,
    ),
    _drawn("suite.pass1.true", "true pass^1", 62.1, "percent", "true pass^1"),
    _drawn(
        "suite.pass1.est", "pass^1 estimated from the trials", 61.3, "percent", "estimated pass^1"
    ),
    _drawn("suite.pass8.true", "true pass^8", 12.2, "percent", "true pass^8"),
    _drawn("suite.pass8.est", "unbiased estimate of pass^8", 10.0, "percent", "estimated pass^8"),
    _drawn(
        "suite.pass8.sd",
        "standard deviation of that estimate across repeated experiments",
        2.6,
        "points",
        "SD of estimated pass^8",
    ),
    _drawn("suite.naive", "(pass^1)^8", 2.0, "percent", "estimated pass^1 to the power 8"),
    _drawn(
        "suite.homogeneous",
        "step model with the average r and average n",
        0.9,
        "percent",
        "homogeneous step model",
    ),
    _drawn(
        "suite.all8",
        "tasks that succeeded in all 8 trials",
        10.0,
        "percent",
        "tasks that always succeeded",
    ),
    _drawn(
        "suite.none8",
        "tasks that failed all 8 trials",
        2.5,
        "percent",
        "tasks that never succeeded",
    ),
    _drawn(
        "suite.middle",
        "tasks that neither always nor never succeeded in 8 trials",
        87.5,
        "percent",
        "neither",
    ),
    Number(
        "suite.jensen",
        "real tasks",
        "08",
        "mean of P^k is at least (mean of P)^k",
        1,
        "boolean",
        0,
        "closed form",
        _jensen,
    ),
)
