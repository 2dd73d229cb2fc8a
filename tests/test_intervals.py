from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from evalkit.intervals import clopper_pearson, effective_tasks, normal, wilson


def test_wilson_is_the_score_interval_when_the_standard_error_is_sure() -> None:
    right = binomtest(7, 40).proportion_ci(method="wilson")
    low, high = wilson(7 / 40, 40, df=10**9, level=0.95)
    assert (low, high) == pytest.approx((right.low, right.high), rel=1e-6)


def test_clopper_pearson_is_the_exact_interval_when_the_standard_error_is_sure() -> None:
    for passed in (0, 7, 40):
        right = binomtest(passed, 40).proportion_ci(method="exact")
        low, high = clopper_pearson(passed / 40, 40, df=10**9, level=0.95)
        assert (low, high) == pytest.approx((right.low, right.high), rel=1e-6)


def test_few_tasks_make_both_wider() -> None:
    for interval in (wilson, clopper_pearson):
        few, many = interval(0.3, 20, 4, 0.95), interval(0.3, 20, 400, 0.95)
        assert few[0] < many[0] < 0.3 < many[1] < few[1]


def test_from_one_task_nothing_is_known_of_new_tasks() -> None:
    for interval in (wilson, clopper_pearson):
        assert interval(0.3, 1, 0, 0.95) == (0, 1)


def test_tasks_that_pass_or_fail_count_as_themselves() -> None:
    values = np.repeat([0.0, 1.0], [60, 40])
    se = values.std(ddof=1) / 10
    assert effective_tasks(values, se) == pytest.approx(100)
    assert effective_tasks(values * 0, 0.0) == 100
    assert effective_tasks(values * 0 + 1, 0.0) == 100


def test_estimates_that_differ_less_count_for_more_tasks_but_not_if_few_carry_them() -> None:
    spread = np.tile([0.2, 0.8], 50)
    assert effective_tasks(spread, spread.std(ddof=1) / 10) > 200
    lonely = np.zeros(100)
    lonely[0] = 0.01  # the plain effective size would be 9,900
    assert effective_tasks(lonely, lonely.std(ddof=1) / 10) < 200


def test_a_task_holds_as_many_independent_draws_as_it_has_blocks_of_k() -> None:
    assert effective_tasks(np.ones(10), 0.0, blocks=4) == 40


def test_intervals_take_many_suites_at_once() -> None:
    values = np.random.default_rng(0).beta(1, 1, (3, 20))
    se = values.std(axis=-1, ddof=1) / np.sqrt(20)
    together = wilson(values.mean(axis=-1), effective_tasks(values, se), 19, 0.9)
    for i in range(3):
        one = wilson(values[i].mean(), effective_tasks(values[i], se[i]), 19, 0.9)
        assert (together[0][i], together[1][i]) == one


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.5, 1 - 1e-9, 1.0])
def test_an_interval_has_a_width_holds_its_mean_and_stays_in_bounds(
    interval: Any, mean: float
) -> None:
    for effective in (1, 10, 10**5):
        low, high = interval(mean, effective, 9, 0.95)
        assert 0 <= low <= mean <= high <= 1
        assert low < high


def test_the_normal_interval_is_cut_to_what_a_probability_can_be() -> None:
    assert [float(end) for end in normal(0.02, 0.05, 0.95)] == [0, pytest.approx(0.118, abs=1e-3)]


def test_korn_and_graubard_shrink_the_sample_by_the_t_quantile() -> None:
    low, _ = clopper_pearson(1.0, 10, df=9, level=0.95)
    shrunk = 10 * (1.959964 / 2.262157) ** 2
    assert low == pytest.approx(beta.ppf(0.025, shrunk, 1), rel=1e-5)
