"""The numbers of "Reliability compounds: the step model"."""

from __future__ import annotations

from collections.abc import Callable

from evalkit.course.numbers import Number
from evalkit.steps import episode_success


def _success(id: str, quantity: str, note: float, ours: Callable[[], float]) -> Number:
    return Number(id, "step model", "06", quantity, note, "percent", 1, "closed form", ours)


NUMBERS = (
    _success("step.99", "success, r = 0.99, n = 20", 81.8, lambda: 100 * episode_success(0.99, 20)),
    _success("step.98", "success, r = 0.98, n = 20", 66.8, lambda: 100 * episode_success(0.98, 20)),
    _success("step.97", "success, r = 0.97, n = 20", 54.4, lambda: 100 * episode_success(0.97, 20)),
    _success(
        "step.97.recovery",
        "success, r = 0.97, n = 20, rho = 0.5",
        73.9,
        lambda: 100 * episode_success(0.97, 20, rho=0.5),
    ),
)
