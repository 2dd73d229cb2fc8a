from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalkit.estimates import Estimate, estimate
from evalkit.passk import pass_hat_k

SUITE = {"task": list("abcdef"), "n": [8] * 6, "c": [8, 8, 6, 5, 1, 0]}


def test_the_value_is_the_mean_and_the_error_that_of_a_mean_over_tasks() -> None:
    values = pass_hat_k(8, SUITE["c"], 4)
    found = estimate(SUITE, 4)
    assert found.value == pytest.approx(values.mean())
    assert found.se == pytest.approx(values.std(ddof=1) / np.sqrt(6))
    assert (found.tasks, found.k, found.question) == (6, 4, "new tasks")
    assert found.excluded == ()
    assert found.coverage == 1
    assert found.bracket == (found.value, found.value)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 2), (9, 3)])
def test_the_error_for_these_tasks_is_unbiased_for_the_variance_within_them(n: int, k: int) -> None:
    p = np.array([0.3, 0.9])
    chance = np.array([[_binomial(n, c, x) for c in range(n + 1)] for x in p])
    value = pass_hat_k(n, np.arange(n + 1), k)
    true = (chance @ value**2 - (chance @ value) ** 2).sum() / 4
    expected = sum(
        chance[0, a]
        * chance[1, b]
        * estimate({"n": [n, n], "c": [a, b]}, k, question=THESE).se ** 2
        for a in range(n + 1)
        for b in range(n + 1)
    )
    assert expected == pytest.approx(true, rel=1e-9)


THESE: Any = "these tasks"


def _binomial(n: int, c: int, p: float) -> float:
    from scipy.stats import binom

    return float(binom.pmf(c, n, p))


def test_these_tasks_leave_less_open_than_new_ones() -> None:
    these, new = estimate(SUITE, 1, question=THESE), estimate(SUITE, 1)
    assert these.value == new.value
    assert these.high - these.low < new.high - new.low


def test_of_one_task_its_own_trials_say_something_and_of_new_tasks_nothing() -> None:
    one = {"n": [100], "c": [50]}
    assert (estimate(one).low, estimate(one).high) == (0, 1)
    assert np.isnan(estimate(one).se)
    these = estimate(one, question=THESE)
    assert (these.low, these.high) == pytest.approx((0.40, 0.60), abs=0.01)


@pytest.mark.parametrize("n", [8, 15])
def test_at_n_below_2k_the_variance_within_tasks_is_not_made_up(n: int) -> None:
    suite = {"n": [n, 20], "c": [5, 5]}
    with pytest.raises(
        ValueError, match=rf"n = {n} trials.*cannot be identified: it needs n >= 16"
    ):
        estimate(suite, 8, question=THESE)
    assert estimate(suite, 8, question=THESE, min_trials=16).tasks == 1


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("c", [0, 8])
def test_all_alike_leaves_an_interval_with_a_width(method: Any, c: int) -> None:
    found = estimate({"n": [8] * 10, "c": [c] * 10}, 8, method=method)
    assert found.value == c / 8
    assert (found.low, found.high) == pytest.approx((0.66, 1) if c else (0, 0.34), abs=0.05)


def test_an_interval_of_no_width_is_refused_not_shown() -> None:
    with pytest.raises(ValueError, match="normal interval has no width here; use 'wilson'"):
        estimate({"n": [8] * 10, "c": [8] * 10}, 8, method="normal")


def test_three_tasks_of_which_one_passed_stay_within_bounds() -> None:
    for method in ("wilson", "clopper-pearson", "normal"):
        found = estimate({"n": [1] * 3, "c": [0, 0, 1]}, method=method)  # type: ignore[arg-type]
        assert 0 <= found.low < 1 / 3 < found.high <= 1


def test_infra_failures_are_no_part_of_the_value_and_all_of_the_doubt() -> None:
    found = estimate({"task": ["a"], "n": [1], "c": [1], "planned": [4], "infra": [3]})
    assert found.value == 1
    assert found.coverage == 0.25
    assert found.bracket == (0.25, 1)
    assert "valid trials 1 of 4 planned" in str(found)
    assert "[0.250, 1.000]" in str(found)


def test_a_task_with_too_few_trials_is_named_and_bracketed_not_dropped() -> None:
    suite = {"task": ["a", "b", "c"], "n": [4, 1, 0], "c": [4, 1, 0], "planned": [4, 4, 4]}
    found = estimate(suite, 2)
    assert found.value == 1
    assert found.tasks == 1
    assert found.excluded == (("b", "1 valid of 2 needed"), ("c", "0 valid of 2 needed"))
    assert found.coverage == 5 / 12
    assert found.bracket == (pytest.approx(1 / 3), 1)
    assert "b (1 valid of 2 needed), c (0 valid of 2 needed)" in str(found)


def test_the_bracket_is_reached_when_the_missing_all_fail_or_all_succeed() -> None:
    suite = {"n": [3, 5, 2], "c": [3, 4, 0], "planned": [5, 5, 4]}
    low, high = estimate(suite, 2).bracket
    assert low == pytest.approx(estimate({"n": [5, 5, 4], "c": [3, 4, 0]}, 2).value)
    assert high == pytest.approx(estimate({"n": [5, 5, 4], "c": [5, 4, 2]}, 2).value)


def test_no_tasks_with_enough_trials_is_an_error_not_a_zero() -> None:
    with pytest.raises(ValueError, match=r"pass\^2 is undefined: no task has 2 valid trials"):
        estimate({"n": [1], "c": [1]}, 2)


def test_numbers_of_problems_are_not_trials_of_one() -> None:
    solved = {"n": [1] * 164, "c": [1] * 50 + [0] * 114}
    assert estimate(solved).value == pytest.approx(0.305, abs=5e-4)
    with pytest.raises(ValueError, match="undefined"):
        estimate(solved, 10)


def test_min_trials_keeps_the_estimates_for_several_k_on_the_same_tasks() -> None:
    suite = {"n": [10, 2, 2], "c": [10, 0, 1]}
    values = [estimate(suite, k, min_trials=4).value for k in (1, 2, 4)]
    assert values == [1, 1, 1]
    assert len(estimate(suite, 1, min_trials=4).excluded) == 2


def test_a_higher_level_is_wider() -> None:
    narrow, wide = estimate(SUITE, level=0.8), estimate(SUITE, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert "80% interval" in str(narrow)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 1.5}, "k must be"),
        ({"level": 95}, "level must lie between 0 and 1"),
        ({"question": "all tasks"}, "question must be 'new tasks' or 'these tasks'"),
        ({"method": "bayes"}, "method must be one of wilson, clopper-pearson, normal"),
        ({"min_trials": 0}, "min_trials must be"),
    ],
)
def test_an_argument_out_of_range_is_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate(SUITE, **wrong)


def test_a_task_counted_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="more than one row for the task 'a'"):
        estimate({"task": ["a", "a"], "n": [1, 1], "c": [1, 1]})


def test_the_page_shows_a_table_and_runs_nothing_of_a_tasks_name() -> None:
    found = estimate({"task": ["<script>", "b"], "n": [1, 2], "c": [1, 1]}, 2)
    page = found._repr_html_()
    assert page.startswith("<table>")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_order_of_tasks_and_the_kind_of_table_do_not_matter() -> None:
    table = pd.DataFrame(SUITE)
    assert estimate(table, 4) == estimate(SUITE, 4)
    mixed = estimate(table.sample(frac=1, random_state=1), 4)
    assert isinstance(mixed, Estimate)
    assert (mixed.value, mixed.low) == pytest.approx(
        (estimate(SUITE, 4).value, estimate(SUITE, 4).low)
    )
