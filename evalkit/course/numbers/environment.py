"""The numbers of "Environment non-determinism"."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from itertools import takewhile

import numpy as np

from evalkit.course.numbers import Number
from evalkit.infra import measured_pass_hat_k
from evalkit.simulate.flakes import flake_table

FLAKES = (0.01, 0.02, 0.05, 0.1)


def _design(name: str) -> float:
    """What the table of the suites draws unless told otherwise."""
    return float(inspect.signature(flake_table).parameters[name].default)


def recovered_digits() -> float:
    """Return to how many significant figures tagged retries give back pass^8, whatever the flakes.

    0 if the simulated suites lie more than three standard errors from the truth.
    """
    success, trials, retries = _design("success"), int(_design("trials")), int(_design("retries"))
    truth = success**trials
    measured = [measured_pass_hat_k(success, f, trials, retries) for f in FLAKES]
    drawn = flake_table(np.random.default_rng(9), FLAKES).query("retried == 'infra failures'")
    apart = (drawn[f"pass^{trials}"] - truth).abs() / drawn[f"pass^{trials} SE"]
    if apart.max() > 3:
        return 0

    def agree(digits: int) -> bool:
        return {f"{value:.{digits - 1}e}" for value in measured} == {f"{truth:.{digits - 1}e}"}

    return len(list(takewhile(agree, range(1, 15))))


def _number(
    id: str, quantity: str, note: float, unit: str, digits: int, ours: Callable[[], float]
) -> Number:
    return Number(id, "environment", "09", quantity, note, unit, digits, "closed form", ours)


def _input(id: str, quantity: str, note: float, name: str, digits: int = 0) -> Number:
    unit = "probability" if digits else "count"
    return Number(
        id, "environment", "09", quantity, note, unit, digits, "input", partial(_design, name)
    )


NUMBERS = (
    _number(
        "flake.factor",
        "factor on pass^8 at a 5% flake rate",
        0.66,
        "ratio",
        2,
        lambda: measured_pass_hat_k(0.7, 0.05, 8) / 0.7**8,
    ),
    _number(
        "flake.pass1",
        "share of pass^1 lost at a 5% flake rate",
        5,
        "percent",
        0,
        lambda: 100 * (1 - measured_pass_hat_k(0.7, 0.05) / 0.7),
    ),
    _input("flake.suites", "simulated suites", 4000, "suites"),
    _input("flake.tasks", "tasks in each suite", 200, "tasks"),
    _input("flake.p", "true success of each task", 0.70, "success", 2),
    _input("flake.trials", "trials of each task", 8, "trials"),
    _input("flake.retries", "retries on a detectable infra error", 3, "retries"),
    _number(
        "flake.recovered",
        "significant figures to which tagged retries recover the true pass^8",
        3,
        "digits",
        0,
        recovered_digits,
    ),
)
