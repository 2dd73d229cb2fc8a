from typing import Any

import numpy as np
import pytest

from evalkit.estimates import estimate
from evalkit.extrapolation import BetaBinomial
from evalkit.passk import pass_hat_k
from evalkit.planning import Plan, plan, standard_error, variance_parts, within_variance
from evalkit.simulate.suites import draw_suite, run_suite, suite_counts

FAMILY = draw_suite(np.random.default_rng(0), tasks=50_000)
TASKS, RIVAL = FAMILY.success, FAMILY.with_fewer_failures(0.2).success


@pytest.mark.parametrize(("k", "trials"), [(1, 1), (1, 5), (3, 4), (3, 9), (8, 8)])
def test_the_parts_of_the_variance_are_those_of_simulated_estimates(k: int, trials: int) -> None:
    p = np.random.default_rng(1).beta(4, 1, 400_000)
    u = pass_hat_k(trials, np.arange(trials + 1), k)[np.random.default_rng(2).binomial(trials, p)]
    between, within = variance_parts(p, k, trials)
    assert between == pytest.approx((p**k).var())
    assert within == pytest.approx(u.var() - (p**k).var(), rel=0.03)
    model = variance_parts(BetaBinomial(0.8, 5), k, trials)
    assert model == pytest.approx((between, within), rel=0.02)


def test_the_variance_within_a_task_is_that_of_its_binomial_outcomes() -> None:
    from scipy.stats import binom

    for p, k, trials in ((0.8, 2, 5), (0.95, 8, 8), (0.3, 1, 4)):
        chance = binom.pmf(np.arange(trials + 1), trials, p)
        u = pass_hat_k(trials, np.arange(trials + 1), k)
        right = chance @ u**2 - (chance @ u) ** 2
        assert within_variance([p], k, trials)[0] == pytest.approx(right, rel=1e-9)


def test_two_thirds_of_the_noise_at_n_equal_k_is_within_tasks() -> None:
    shares = []
    for k in (1, 4, 8):
        between, within = variance_parts(TASKS, k, 8)
        shares.append(within / (between + within))
    assert shares == pytest.approx([0.30, 0.45, 0.67], abs=0.012)


def test_trials_are_better_spent_on_tasks_unless_tasks_are_dear() -> None:
    same_trials = [standard_error(TASKS, 8, 960 // n, n) for n in (8, 12, 16)]
    assert same_trials == pytest.approx([0.0308, 0.0309, 0.0326], abs=0.0005)
    assert standard_error(TASKS, 1, 960, 1) < standard_error(TASKS, 1, 480, 2)
    dear = [standard_error(TASKS, 8, round(120 * 28 / (20 + n)), n) for n in (8, 16)]
    assert dear == pytest.approx([0.0308, 0.0262], abs=0.0005)


def test_the_tasks_for_a_half_width_of_five_points() -> None:
    found = plan(TASKS, 8, half_width=0.05).table.set_index("trials")["tasks"]
    assert found[[8, 16, 32]].tolist() == pytest.approx([179, 102, 79], abs=2)


@pytest.mark.parametrize("trials", [8, 16])
def test_a_suite_of_the_planned_size_has_the_planned_half_width(trials: int) -> None:
    rows = {row[0]: row for row in plan(TASKS, 8, half_width=0.05).rows}
    tasks = rows[trials][1]
    rng = np.random.default_rng(3)
    runs = run_suite(draw_suite(rng, tasks, redraws=100), trials, rng)
    widths = [e.high - e.low for e in (estimate(suite_counts(c, trials), 8) for c in runs)]
    assert np.mean(widths) / 2 == pytest.approx(0.05, rel=0.05)


def test_the_plan_is_the_cheapest_row_and_reaches_the_goal_with_no_task_to_spare() -> None:
    found = plan(TASKS, 8, half_width=0.05, cost_per_task=20)
    assert isinstance(found, Plan)
    assert found.cost == found.tasks * (20 + found.trials) == found.table["cost"].min()
    assert found.trials > plan(TASKS, 8, half_width=0.05).trials
    assert str(found).startswith(f"{found.tasks} tasks x {found.trials} trials")
    fewer = plan(TASKS, 8, half_width=0.05, max_tasks=found.tasks - 1, cost_per_task=20)
    assert fewer.trials > found.trials


@pytest.mark.parametrize(("k", "trials", "power"), [(1, 8, 0.79), (8, 8, 0.16), (8, 16, 0.36)])
def test_the_planned_power_is_that_of_the_paired_comparison(
    k: int, trials: int, power: float
) -> None:
    found = plan(TASKS, k, rival=RIVAL, power=power, max_trials=trials)
    tasks = {row[0]: row[1] for row in found.rows}[trials]
    assert tasks == pytest.approx(120, abs=6)


def test_two_agents_cost_twice_the_trials_and_the_tasks_once() -> None:
    found = plan(TASKS, 1, rival=RIVAL, power=0.8, cost_per_task=3)
    assert found.cost == found.tasks * (3 + 2 * found.trials)
    assert "power 0.8 against a difference of +0.05" in str(found)


def test_a_suite_that_cannot_fail_still_needs_some_tasks() -> None:
    found = plan([1.0, 1.0], 8, half_width=0.05, max_trials=8)
    assert found.tasks == pytest.approx(37, abs=3)  # Wilson's lower end below .90


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "state one goal"),
        ({"half_width": 0.05, "power": 0.8, "rival": RIVAL}, "state one goal"),
        ({"power": 0.8}, "state one goal"),
        ({"rival": RIVAL}, "state one goal"),
        ({"half_width": 5}, "half_width must lie between 0 and 1"),
        ({"power": 80, "rival": RIVAL}, "power must lie between"),
        ({"half_width": 0.05, "level": 95}, "level must lie between"),
        ({"half_width": 0.05, "cost_per_task": -1}, "must be 0 or more"),
        ({"half_width": 0.05, "max_trials": 7}, "no 10000000 tasks x 7 trials or fewer"),
        ({"half_width": 0.05, "max_tasks": 50}, "no 50 tasks x 64 trials or fewer reach"),
        ({"power": 0.8, "rival": TASKS}, "no 10000000 tasks"),
        ({"power": 0.8, "rival": RIVAL[:5]}, "rival must give"),
        ({"power": 0.8, "rival": [2.0]}, "must be success probabilities"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(TASKS, 8, **wrong)


def test_a_fitted_model_does_for_an_interval_but_not_for_a_pair() -> None:
    model = BetaBinomial(0.6, 2)
    assert plan(model, 8, half_width=0.05).tasks > 100
    with pytest.raises(ValueError, match="with a rival, success must be"):
        plan(model, 8, rival=[0.5], power=0.8)


@pytest.mark.parametrize("wrong", [[], [1.5], [float("nan")], "0.5", [[0.5]], [True]])
def test_what_is_no_row_of_probabilities_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="success probabilities of tasks"):
        variance_parts(wrong, 1, 1)


def test_fewer_trials_than_k_are_refused() -> None:
    with pytest.raises(ValueError, match="trials must be at least k = 8; it is 7"):
        standard_error(TASKS, 8, 120, 7)
