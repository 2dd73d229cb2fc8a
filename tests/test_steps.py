from typing import Any

import numpy as np
import pytest

from evalkit.steps import (
    episode_success,
    horizon,
    required_recovery,
    required_reliability,
    step_pass_at_k,
    step_pass_hat_k,
    step_success,
)


def test_the_step_model_gives_the_notes_figures() -> None:
    assert [round(100 * episode_success(r, 20), 1) for r in (0.99, 0.98, 0.97)] == [
        81.8,
        66.8,
        54.4,
    ]
    assert round(100 * episode_success(0.97, 20, rho=0.5), 1) == 73.9
    assert round(100 * step_pass_hat_k(0.99, 20, 8), 1) == 20.0
    assert step_pass_at_k(0.99, 20, 8) > 0.999


def test_recovery_closes_the_gap_between_r_and_one() -> None:
    assert step_success(0.6, 0) == 0.6
    assert step_success(0.6, 1) == 1
    assert step_success(0, 0.25) == 0.25


def test_k_trials_of_a_task_are_one_trial_of_a_task_k_times_as_long() -> None:
    assert step_pass_hat_k(0.98, 5, 8) == episode_success(0.98, 40)


def test_simulated_steps_agree_with_the_closed_form() -> None:
    rng = np.random.default_rng(0)
    failed = rng.random((20_000, 12)) > 0.95
    mended = rng.random((20_000, 12)) < 0.3
    simulated = (~failed | mended).all(axis=1).mean()
    assert simulated == pytest.approx(episode_success(0.95, 12, rho=0.3), abs=0.014)


def test_a_mean_number_of_steps_need_not_be_whole() -> None:
    assert episode_success(0.966, 16.8) == pytest.approx(0.966**16.8, rel=1e-14)


def test_pass_at_k_keeps_its_digits_where_success_is_rare_or_certain() -> None:
    assert step_pass_at_k(1e-12, 1, 3) == pytest.approx(3e-12, rel=1e-9, abs=0)
    assert step_pass_at_k(1, 20, 8) == 1
    assert step_pass_at_k(0, 20, 8) == 0
    assert step_pass_at_k(0, 0, 1) == 1  # no steps, nothing to go wrong


def test_numbers_give_numbers_and_arrays_broadcast() -> None:
    assert type(episode_success(0.9, 3)) is float
    assert episode_success([[0.9], [0.8]], [1, 2, 3], 0.5).shape == (2, 3)
    assert horizon([0.5, 0.9], 0.99, k=[[1], [2]]).shape == (2, 2)
    assert required_reliability(0.9, [1, 2], rho=[[0.0], [0.5], [0.9]]).shape == (3, 2)


@pytest.mark.parametrize("rho", [0, 0.3])
@pytest.mark.parametrize(("target", "n", "k"), [(0.9, 20, 1), (0.9, 50, 8), (0.5, 3, 2)])
def test_the_required_reliability_reaches_the_target_and_no_more(
    target: Any, n: Any, k: Any, rho: Any
) -> None:
    r = required_reliability(target, n, k, rho)
    assert step_pass_hat_k(r, n, k, rho) == pytest.approx(target, rel=1e-12)


def test_the_required_recovery_reaches_the_target() -> None:
    rho = required_recovery(0.9, r=0.97, n=20, k=2)
    assert step_pass_hat_k(0.97, 20, 2, rho) == pytest.approx(0.9, rel=1e-12)


def test_no_more_is_required_of_an_agent_that_is_already_good_enough() -> None:
    assert required_reliability(0.5, 20, rho=0.99) == 0
    assert required_reliability(1, 20, rho=1) == 0
    assert required_recovery(0.5, r=0.999, n=20) == 0
    assert required_recovery(1, r=1, n=20) == 0


def test_the_horizon_is_the_last_length_that_reaches_the_target() -> None:
    targets = np.array([0.5, 0.8, 0.9, 0.99])
    for r, k in ((0.99, 1), (0.97, 1), (0.999, 8)):
        steps = horizon(targets, r, k=k)
        assert (step_pass_hat_k(r, steps, k) >= targets).all()
        assert (step_pass_hat_k(r, steps + 1, k) < targets).all()


@pytest.mark.parametrize("steps", range(1, 200))
def test_a_length_that_hits_the_target_exactly_is_within_the_horizon(steps: Any) -> None:
    assert horizon(0.97**steps, 0.97) == steps


def test_the_horizon_at_the_edges() -> None:
    assert horizon(0.9, 1) == np.inf
    assert horizon(1, 1) == np.inf
    assert horizon(0.9, 0) == 0
    assert str(horizon(1, 0.99)) == "0.0"


def test_a_nine_more_buys_about_ten_times_the_length() -> None:
    lengths = horizon(0.9, 1 - 10.0 ** -np.arange(1, 6))
    assert list(lengths) == [1, 10, 105, 1053, 10535]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: step_success(99), r"r must be in \[0, 1\], not in per cent; r is 99.0"),
        (lambda: step_success(0.9, -0.1), "rho must be"),
        (lambda: step_success([0.9, 1.2]), r"r\[1\] is 1.2"),
        (lambda: step_success([[0.9, float("nan")]]), r"r\[0, 1\] is nan"),
        (lambda: step_success("0.9"), "r must be"),
        (lambda: step_success(None), "r must be"),
        (lambda: step_success(True), "r must be"),
        (lambda: episode_success(0.9, -1), "n must be a number of steps"),
        (lambda: episode_success(0.9, np.inf), "n must be"),
        (lambda: step_pass_hat_k(0.9, 2, 0), "k must be a whole number"),
        (lambda: step_pass_at_k(0.9, 2, 1.5), "k must be a whole number"),
        (lambda: required_reliability(0, 20), r"target must be in \(0, 1\]"),
        (lambda: required_reliability(0.9, 0), "n must be more than 0"),
        (lambda: required_recovery(1.1, 0.9, 20), "target must be"),
        (lambda: horizon(0.9, 0.9, k=0), "k must be"),
    ],
)
def test_an_argument_out_of_range_is_named(call: Any, message: Any) -> None:
    with pytest.raises(ValueError, match=message):
        call()
