"""Clustered errors and dependent trials: each simulation against its closed form and its limits."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.infra import measured_pass_hat_k
from evalkit.simulate import clusters
from evalkit.steps import episode_success


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize("correlation", [0.0, 0.05, 0.3, 0.8])
def test_clustered_steps_keep_their_rate_and_follow_the_closed_form(correlation: float) -> None:
    steps = clusters.clustered(rng(), 0.9, (40_000, 10), correlation)
    assert steps.mean() == pytest.approx(0.9, abs=0.006)
    expected = clusters.clustered_power(0.9, 10, correlation)
    assert steps.all(axis=1).mean() == pytest.approx(expected, abs=0.01)


def test_the_correlation_is_the_one_that_was_asked_for() -> None:
    steps = clusters.clustered(rng(), 0.8, (60_000, 2), 0.3)
    assert np.corrcoef(steps.T)[0, 1] == pytest.approx(0.3, abs=0.02)


def test_without_correlation_the_closed_form_is_the_step_model() -> None:
    assert clusters.clustered_power(0.97, 20, 0) == episode_success(0.97, 20)
    assert clusters.clustered_power(0.97, 20, 1e-7) == pytest.approx(0.97**20, rel=1e-4)


def test_nearly_full_correlation_makes_a_long_task_a_single_step() -> None:
    assert clusters.clustered_power(0.9, 50, 0.9999) == pytest.approx(0.9, abs=1e-3)


def test_certain_events_stay_certain_at_any_correlation() -> None:
    powers = clusters.clustered_power([0.0, 1.0], 5, 0.4)
    assert powers.tolist() == [0.0, 1.0]
    assert clusters.clustered(rng(), 1.0, (5, 3), 0.4).all()


@pytest.mark.parametrize("q", [0.0, 0.3, 1.0])
def test_misunderstood_episodes_follow_the_closed_form(q: float) -> None:
    steps = clusters.misunderstood(rng(), 0.98, (40_000, 8), q, after=0.4)
    expected = clusters.misunderstood_success(0.98, 8, q, after=0.4)
    assert steps.all(axis=1).mean() == pytest.approx(expected, abs=0.01)


def test_a_misunderstanding_spoils_later_steps_more_than_early_ones() -> None:
    right = clusters.misunderstood(rng(), 0.98, (40_000, 8), 0.5, after=0.2).mean(axis=0)
    assert (np.diff(right) < 0).all()


def test_each_tool_strays_at_its_own_rate() -> None:
    rates = {"read": 0.0, "write": 0.2}
    happens = clusters.strays_by_tool(rng(), rates, ["read", "write", "write"], 40_000)
    assert happens.mean(axis=0) == pytest.approx([0, 0.2, 0.2], abs=0.01)


@pytest.mark.parametrize("silent", [0.0, 0.4, 1.0])
def test_flakes_that_strike_all_attempts_alike_follow_chapter_nines_formula(silent: float) -> None:
    passed, _ = clusters.retried(rng(), 0.8, (0.2, 0.2), silent, 2, (40_000, 2))
    for k, found in ((1, passed.mean()), (2, passed.all(axis=1).mean())):
        expected = measured_pass_hat_k(0.8, 0.2, k, retries=2, missed=silent)
        assert found == pytest.approx(expected, abs=0.01)


def test_a_trial_is_not_valid_only_if_every_attempt_was_seen_to_fail() -> None:
    _, valid = clusters.retried(rng(), 0.8, (0.5, 0.5), 0.0, 1, (40_000, 1))
    assert valid.mean() == pytest.approx(1 - 0.5**2, abs=0.01)
    assert clusters.retried(rng(), 0.8, (0.5, 0.5), 1.0, 1, (100, 1))[1].all()


def test_flakes_that_strike_failures_more_often_lift_what_is_measured() -> None:
    passed, valid = clusters.retried(rng(), 0.7, (0.0, 0.3), 0.0, 50, (40_000, 1))
    assert valid.all()
    assert passed.mean() == pytest.approx(0.7 / (0.7 + 0.3 * 0.7), abs=0.01)


def test_a_learning_agent_starts_where_it_is_told_and_climbs() -> None:
    rates = clusters.learning(0.6, 8, 0.3)
    assert rates[0] == pytest.approx(0.6)
    assert (np.diff(rates) > 0).all()
    passed = clusters.in_order(rng(), rates, 40_000)
    assert passed.mean(axis=0) == pytest.approx(rates, abs=0.012)


def test_copied_outcomes_keep_the_rate_and_follow_the_closed_form() -> None:
    passed = clusters.in_order(rng(), [0.7] * 4, 40_000, copied=0.5)
    assert passed.mean() == pytest.approx(0.7, abs=0.01)
    assert passed.all(axis=1).mean() == pytest.approx(0.7 * (0.5 + 0.5 * 0.7) ** 3, abs=0.01)


def test_a_copied_outcome_is_the_one_before_so_neighbours_are_most_alike() -> None:
    passed = clusters.in_order(rng(), [0.7] * 4, 40_000, copied=0.5)
    near, far = (np.mean(passed[:, 3] == passed[:, 3 - apart]) for apart in (1, 3))
    by_chance = 0.7**2 + 0.3**2
    assert near == pytest.approx(by_chance + 0.5 * (1 - by_chance), abs=0.01)
    assert far == pytest.approx(by_chance + 0.5**3 * (1 - by_chance), abs=0.01)


def test_the_same_seed_draws_the_same() -> None:
    twice = [clusters.clustered(rng(), 0.9, (50, 4), 0.2) for _ in range(2)]
    assert np.array_equal(*twice)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clusters.clustered(rng(), 97, (5, 2), 0.1), "p must be in"),
        (lambda: clusters.clustered_power(0.9, 5, 1), "correlation must be below 1"),
        (lambda: clusters.misunderstood(rng(), 0.9, (5, 2), -0.1, 0.5), "q must be in"),
        (lambda: clusters.strays_by_tool(rng(), {"read": 0}, ["pay"], 2), "tool 'pay'"),
        (lambda: clusters.retried(rng(), 0.7, (0.1, 5), 0, 1, (2, 2)), "flakes must be in"),
        (lambda: clusters.learning(1.2, 3, 0.1), "success must be in"),
        (lambda: clusters.in_order(rng(), [0.5], 3, copied=2), "copied must be in"),
    ],
)
def test_what_is_no_share_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
