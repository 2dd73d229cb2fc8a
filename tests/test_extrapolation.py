from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom

from evalkit.estimates import estimate
from evalkit.extrapolation import BetaBinomial, beta_binomial_fit, extrapolate
from evalkit.simulate.coverage import Regime
from evalkit.simulate.suites import draw_suite, run_suite, suite_counts


def log_likelihood(counts: Any, model: BetaBinomial) -> float:
    a, b = model.mean * model.concentration, (1 - model.mean) * model.concentration
    return float(betabinom.logpmf(counts["c"], counts["n"], a, b).sum())


MIXED = {"n": [8, 8, 4, 9, 12, 3], "c": [8, 7, 1, 0, 6, 3]}


def test_the_models_power_is_the_mean_power_of_its_tasks() -> None:
    model = BetaBinomial(0.7, 3)
    p = np.random.default_rng(0).beta(2.1, 0.9, 400_000)
    for k in (1, 2, 8, 16):
        assert model.pass_hat_k(k) == pytest.approx((p**k).mean(), abs=0.003)


@pytest.mark.parametrize("counts", [MIXED, {"n": [8] * 6, "c": [0, 8, 8, 3, 5, 5]}])
def test_no_model_near_the_fit_is_more_likely(counts: Any) -> None:
    model = beta_binomial_fit(counts)
    best = log_likelihood(counts, model)
    for mean in (-0.01, 0, 0.01):
        for factor in (0.97, 1, 1.03):
            other = BetaBinomial(model.mean + mean, model.concentration * factor)
            assert log_likelihood(counts, other) <= best + 1e-7


def test_the_fit_finds_the_model_that_made_the_counts() -> None:
    p = np.random.default_rng(1).beta(3, 2, 20_000)
    model = beta_binomial_fit({"n": [10] * 20_000, "c": np.random.default_rng(2).binomial(10, p)})
    assert model.mean == pytest.approx(0.6, abs=0.01)
    assert model.concentration == pytest.approx(5, rel=0.05)


def test_tasks_that_are_all_alike_make_a_binomial_model() -> None:
    c = np.random.default_rng(3).binomial(10, 0.7, 3000)
    model = beta_binomial_fit({"n": [10] * 3000, "c": c})
    assert model.pass_hat_k(4) == pytest.approx(0.7**4, abs=0.01)


def test_within_the_trials_run_the_model_is_near_the_unbiased_estimate() -> None:
    rng = np.random.default_rng(4)
    counts = suite_counts(run_suite(draw_suite(rng, 2000), 8, rng), 8)
    assert extrapolate(counts, 4).value == pytest.approx(estimate(counts, 4).value, abs=0.02)


def test_the_result_says_that_it_is_a_models_and_gives_the_bounds_without_one() -> None:
    counts = {"n": [8] * 12, "c": [8, 8, 8, 8, 7, 7, 6, 5, 4, 2, 1, 0]}
    found, base = extrapolate(counts, 16), estimate(counts, 8)
    assert found.trials == 8
    assert found.bounds == (pytest.approx(base.value**2), base.value)
    assert found.bounds_interval == (pytest.approx(base.low**2), base.high)
    assert "of a beta-binomial model" in str(found)
    assert "without a model, from pass^8: between 0.111 and 0.333" in str(found)


def test_the_true_value_lies_between_the_bounds() -> None:
    p = np.random.default_rng(5).random(500)
    for m, k in ((1, 2), (8, 16), (4, 9)):
        least, most = (p**m).mean() ** (k / m), (p**m).mean()
        assert least <= (p**k).mean() <= most


def test_for_a_k_that_was_run_the_bounds_close_on_the_estimate() -> None:
    for k in (2, 3):
        found = extrapolate(MIXED, k)
        assert found.trials == k
        assert found.bounds == (estimate(MIXED, k).value,) * 2


def test_a_suite_that_always_or_never_passes_leaves_doubt() -> None:
    always = extrapolate({"n": [8] * 20, "c": [8] * 20}, 16)
    assert always.value == pytest.approx(1, abs=1e-6)
    assert 0.5 < always.low < 0.95
    never = extrapolate({"n": [8] * 20, "c": [0] * 20}, 16)
    assert never.value == pytest.approx(0, abs=1e-6)
    assert 0.001 < never.high < 0.3


def test_a_task_without_a_valid_trial_is_named() -> None:
    found = extrapolate({"task": ["a", "b", "c"], "n": [4, 0, 2], "c": [2, 0, 2]}, 4)
    assert found.excluded == ("b",)
    assert found.tasks == 2
    assert found.trials == 2
    assert "left out: b" in str(found)


def test_one_trial_of_each_task_shows_nothing_of_how_unlike_tasks_are() -> None:
    with pytest.raises(ValueError, match="no task has two valid trials"):
        extrapolate({"n": [1, 1, 1], "c": [1, 0, 1]}, 2)
    with pytest.raises(ValueError, match="no task has two valid trials"):
        beta_binomial_fit({"n": [0], "c": [0]})


@pytest.mark.parametrize(("wrong", "message"), [({"k": 0}, "k must be"), ({"level": 1}, "level")])
def test_an_argument_out_of_range_is_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extrapolate(MIXED, **({"k": 4} | wrong))


@pytest.mark.parametrize(("tasks", "k"), [(120, 16), (30, 8)])
def test_the_models_interval_holds_the_truth_about_as_often_as_it_says(tasks: int, k: int) -> None:
    regime = Regime(tasks, 8, k, (58, 2))
    rng = np.random.default_rng(6)
    runs = run_suite(draw_suite(rng, tasks, redraws=200), 8, rng)
    found = [extrapolate(suite_counts(c, 8), k) for c in runs]
    held = [each.low <= regime.true_pass_hat_k <= each.high for each in found]
    assert 0.88 < np.mean(held) < 0.99
