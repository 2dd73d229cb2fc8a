"""The numbers of "pass^k: will it work every time?"."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from evalkit.course.numbers import Number
from evalkit.steps import episode_success, required_reliability, step_pass_at_k, step_pass_hat_k


def _number(
    id: str, quantity: str, note: float, unit: str, digits: int, ours: Callable[[], float]
) -> Number:
    return Number(id, "pass^k", "07", quantity, note, unit, digits, "closed form", ours)


def _needed(id: str, n: int, k: int, note: float) -> Number:
    return _number(
        id,
        f"r needed for 90% pass^{k} on {n} steps",
        note,
        "probability",
        4,
        partial(required_reliability, 0.9, n, k),
    )


NUMBERS = (
    _number(
        "passk.hat8",
        "pass^8, r = 0.99, n = 20",
        20.0,
        "percent",
        1,
        lambda: 100 * step_pass_hat_k(0.99, 20, 8),
    ),
    Number(
        "passk.at8",
        "pass^k",
        "07",
        "pass@8, r = 0.99, n = 20",
        99.9,
        "percent",
        1,
        "closed form",
        lambda: 100 * step_pass_at_k(0.99, 20, 8),
        relation=">",
    ),
    _needed("passk.need.20.1", 20, 1, 0.9947),
    _needed("passk.need.20.8", 20, 8, 0.9993),
    _needed("passk.need.10.8", 10, 8, 0.9987),
    _needed("passk.need.50.8", 50, 8, 0.9997),
    _number(
        "passk.nine",
        "length bought by a third nine",
        10,
        "times",
        0,
        lambda: math.log(0.99) / math.log(0.999),
    ),
    _number(
        "passk.longer",
        "k trials of n steps equal one of nk",
        1,
        "boolean",
        0,
        lambda: math.isclose(episode_success(0.99, 20) ** 8, episode_success(0.99, 160)),
    ),
)
