from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalkit.passk import (
    SHORT,
    count_arrays,
    pass_at_k,
    pass_at_k_curve,
    pass_hat_k,
    pass_hat_k_curve,
    task_names,
)

CLOSE = 3e-15


def none_drawn(n: int, marked: int, k: int) -> Fraction:
    few, many = sorted((marked, k))  # exchanging the two changes nothing, and spares huge numbers
    if few + many > n:
        return Fraction(0)
    return Fraction(comb(n - many, few), comb(n, few))


def exact_hat(n: int, c: int, k: int) -> float:
    return float(none_drawn(n, n - c, k))


def exact_at(n: int, c: int, k: int) -> float:
    return float(1 - none_drawn(n, c, k))


def test_every_small_case_is_exact() -> None:
    for n in range(1, 14):
        for c in range(n + 1):
            for k in range(1, n + 1):
                assert pass_hat_k(n, c, k) == comb(c, k) / comb(n, k) == exact_hat(n, c, k)
                right = (comb(n, k) - comb(n - c, k)) / comb(n, k)
                assert pass_at_k(n, c, k) == right == exact_at(n, c, k)


@pytest.mark.parametrize(
    ("n", "c", "k"),
    [
        (2000, 1990, 1000),  # a float binomial coefficient overflows here
        (2000, 10, 8),
        (5000, 4000, 40),
        (10**6, 999_000, 500),
        (10**6, 999_999, 10**6),
        (10**6, 990_000, 10_000),  # ten thousand rounded factors would not hold
        (10**6, 1, 1),
        (10**6, 1, 999_999),
        (10**6, 3000, 9),
        (10**6, 10**6 - 3, 600_000),
    ],
)
def test_large_cases_hold_their_digits(n: Any, c: Any, k: Any) -> None:
    for function, exact in ((pass_hat_k, exact_hat), (pass_at_k, exact_at)):
        right = exact(n, c, k)
        assert function(n, c, k) == pytest.approx(right, rel=CLOSE, abs=0)
        assert function([n], c, k)[0] == pytest.approx(right, rel=CLOSE, abs=0)


def test_arrays_hold_their_digits_with_short_and_with_long_products() -> None:
    rng = np.random.default_rng(1)
    for most, largest in ((SHORT, 10**6), (60, 400)):
        n = rng.integers(most, largest, 200)
        c = rng.binomial(n, rng.random(200))
        k = rng.integers(1, most + 1, 200)
        for function, exact in ((pass_hat_k, exact_hat), (pass_at_k, exact_at)):
            right = [exact(*map(int, triple)) for triple in zip(n, c, k, strict=True)]
            np.testing.assert_allclose(function(n, c, k), right, rtol=CLOSE, atol=0)


def test_a_value_below_the_smallest_float_is_zero_and_raises_no_warning() -> None:
    assert pass_hat_k(10**6, 500_000, 500_000) == 0
    assert pass_at_k(10**6, 500_000, 500_000) == 1
    assert (pass_hat_k([10**6, 10**6], 500_000, [500_000, 5000]) == 0).all()


def test_zero_has_no_sign() -> None:
    assert not np.signbit(pass_hat_k(8, np.arange(9), 5)).any()
    assert not np.signbit(pass_hat_k_curve({"n": [8] * 9, "c": range(9)}).value).any()


def test_the_mean_over_all_possible_outcomes_is_the_power_so_the_estimate_is_unbiased() -> None:
    p, n, k = Fraction(2, 3), 6, 4
    chance = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    mean = sum(w * Fraction(comb(c, k), comb(n, k)) for c, w in enumerate(chance))
    assert mean == p**k
    assert pass_hat_k(n, np.arange(n + 1), k) @ np.array(chance, float) == pytest.approx(p**k)


def test_the_plug_in_power_is_not_what_is_computed() -> None:
    assert pass_hat_k(3, 2, 3) == 0  # (2/3)^3 would be .296


@pytest.mark.parametrize("function", [pass_hat_k, pass_at_k])
@pytest.mark.parametrize(("n", "c", "k"), [(1, 1, 2), (2, 0, 5), (99, 0, 100), (0, 0, 1)])
def test_k_above_n_is_undefined_an_error_for_a_number_and_nan_in_an_array(
    function: Any, n: Any, c: Any, k: Any
) -> None:
    with pytest.raises(ValueError, match=rf"pass.{k} is undefined for {n} trial"):
        function(n, c, k)
    assert np.isnan(function([n], c, k)).all()


def test_only_the_undefined_places_of_an_array_are_nan() -> None:
    value = pass_hat_k([4, 2, 0], [4, 2, 0], [[1], [3]])
    np.testing.assert_array_equal(value, [[1, 1, np.nan], [1, np.nan, np.nan]])


@pytest.mark.parametrize("function", [pass_hat_k, pass_at_k])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 5, 2), "c must be at most n; c is 5"),
        (([3, 3], [1, 5], 2), r"c must be at most n; c\[1\] is 5"),
        ((-1, 0, 1), "n must be a whole number, 0 or more; n is -1"),
        ((3, -1, 1), "c must be a whole number"),
        ((3, 1, 0), "k must be a whole number, 1 or more; k is 0"),
        ((3, 1, 2.5), "k must be a whole number, 1 or more; k is 2.5"),
        ((3, 1.5, 1), "c must be a whole number, 0 or more; c is 1.5"),
        (([3, np.nan], 1, 1), r"n\[1\] is nan"),
        ((np.inf, 1, 1), "n is inf"),
        ((3, True, 1), "c must be whole numbers"),
        ((3, "1", 1), "c must be whole numbers"),
        ((3, None, 1), "c must be whole numbers"),
        ((3, [[1, 2], [1, -2]], 1), r"c\[1, 1\] is -2"),
        (((10**20), 1, 1), "n must be whole numbers"),
    ],
)
def test_what_is_no_count_is_named(function: Any, arguments: Any, message: Any) -> None:
    with pytest.raises(ValueError, match=message):
        function(*arguments)


def test_numbers_give_numbers_and_arrays_broadcast() -> None:
    assert type(pass_hat_k(8, 5, 4)) is float
    assert type(pass_hat_k(np.int8(8), np.float64(5), np.uint8(4))) is float
    assert pass_hat_k([[8], [9]], [1, 2, 3], 1).shape == (2, 3)
    assert pass_hat_k(pd.Series([8, 8]), pd.Series([8, 7]), 8).tolist() == [1, 0]
    assert pass_hat_k([], [], []).shape == (0,)


def test_small_integer_types_do_not_overflow() -> None:
    n, c = np.array([100, 100], np.int8), np.array([99, 3], np.int8)
    np.testing.assert_array_equal(pass_hat_k(n, c, 2), pass_hat_k([100, 100], [99, 3], 2))
    n, c = np.array([5], np.uint64), np.array([2], np.uint64)
    assert pass_at_k(n, c, 4)[0] == 1


def test_a_curve_is_the_mean_over_tasks_at_each_k() -> None:
    rng = np.random.default_rng(2)
    for n in (np.full(300, 9), rng.integers(9, 30, 300), rng.integers(9, 10**6, 300)):
        c = rng.binomial(n, rng.random(300))
        k = np.arange(1, 10)[:, None]
        for curve, function in ((pass_hat_k_curve, pass_hat_k), (pass_at_k_curve, pass_at_k)):
            right = function(n, c, k).mean(axis=1)
            np.testing.assert_allclose(curve({"n": n, "c": c}, K=9).value, right, rtol=1e-14)


def test_a_curve_larger_than_a_block_counts_every_task_once() -> None:
    n = np.full(100_000, 10**6) - np.arange(100_000)
    curve = pass_hat_k_curve({"n": n, "c": n - 1}, K=2)
    np.testing.assert_allclose(curve.value, [(1 - 1 / n).mean(), (1 - 2 / n).mean()], rtol=1e-12)


def test_tasks_with_few_trials_make_no_curve_rise() -> None:
    rows = {"task": ["long", "hard", "half"], "n": [10, 2, 2], "c": [10, 0, 1]}
    default = pass_hat_k_curve(rows)
    assert default.value == pytest.approx([0.5, 1 / 3])
    assert default.excluded == ()
    longer = pass_hat_k_curve(rows, K=4)
    assert longer.value.tolist() == [1, 1, 1, 1]  # the same one task at every k
    assert longer.excluded == ("hard", "half")
    assert longer.tasks == 1
    # On all three tasks pass^4 is 1/3: each of the other two has failed already.
    assert (longer.low[3], longer.high[3]) == pytest.approx((1 / 3, 1 / 3))
    assert (longer.low[0], longer.high[0]) == pytest.approx((1.25 / 3, 2.25 / 3))
    assert "2 left out: hard, half" in str(longer)


def test_the_bracket_closes_when_nothing_is_missing() -> None:
    curve = pass_hat_k_curve({"n": [4, 5], "c": [2, 5]})
    assert (curve.low == curve.value).all()
    assert (curve.high == curve.value).all()


def test_planned_trials_without_a_verdict_open_the_bracket() -> None:
    curve = pass_hat_k_curve({"task": ["a"], "n": [1], "c": [1], "planned": [4]})
    assert (curve.low[0], curve.value[0], curve.high[0]) == (0.25, 1, 1)


def test_a_curve_as_a_table() -> None:
    table = pass_at_k_curve({"n": [2, 2], "c": [1, 0]}).table
    assert list(table.columns) == ["k", "pass@k", "low", "high"]
    assert table["pass@k"].tolist() == [0.25, 0.5]


def test_no_curve_is_drawn_where_it_is_undefined() -> None:
    with pytest.raises(ValueError, match="task 'b' has no valid trial: state K"):
        pass_hat_k_curve({"task": ["a", "b"], "n": [2, 0], "c": [1, 0]})
    with pytest.raises(ValueError, match="no task has 3 valid trials; the most that one has is 2"):
        pass_hat_k_curve({"task": ["a", "b"], "n": [2, 1], "c": [1, 0]}, K=3)
    with pytest.raises(ValueError, match="K must be one whole number, 1 or more; it is 2.5"):
        pass_hat_k_curve({"n": [3], "c": [1]}, K=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="K must be one whole number, 1 or more; it is 0"):
        pass_hat_k_curve({"n": [2], "c": [1]}, K=0)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"n": [1]}, "no column c"),
        ({}, "no column n or c"),
        ({"n": [], "c": []}, "one or more tasks"),
        ({"n": [1, 2], "c": [1]}, "one row, with n and c"),
        ({"n": 3, "c": 1}, "one row, with n and c"),
        ({"n": [1], "c": [2]}, r"c\[0\] is 2"),
        ({"n": [2], "c": [1], "planned": [1]}, r"planned\[0\] is 1"),
    ],
)
def test_a_table_that_holds_no_counts_is_refused(counts: Any, message: Any) -> None:
    with pytest.raises(ValueError, match=message):
        count_arrays(counts)


def test_a_task_in_two_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="more than one row for the task 'a'"):
        task_names({"task": ["a", "b", "a"], "n": [1, 1, 1], "c": [0, 0, 0]})
