from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.comparison import compare, holm
from evalkit.estimates import estimate
from evalkit.extrapolation import extrapolate
from evalkit.passk import pass_at_k, pass_at_k_curve, pass_hat_k, pass_hat_k_curve
from evalkit.steps import horizon, required_reliability, step_pass_at_k, step_pass_hat_k
from evalkit.trials import counts, trials_table

shares = st.floats(0.001, 0.999)
unhurried = settings(deadline=None)  # the first call of some imports SciPy or Narwhals


@st.composite
def count_and_k(draw: st.DrawFn, most: int = 3000) -> tuple[int, int, int]:
    n = draw(st.integers(1, most))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@st.composite
def suites(draw: st.DrawFn, least: int = 1, tasks: int = 12) -> dict[str, Any]:
    n = draw(st.lists(st.integers(least, 12), min_size=1, max_size=tasks))
    c = [draw(st.integers(0, x)) for x in n]
    planned = [x + draw(st.integers(0, 3)) for x in n]
    return {"task": list(range(len(n))), "n": n, "c": c, "planned": planned}


@st.composite
def logs(draw: st.DrawFn) -> pd.DataFrame:
    trial = st.tuples(st.sampled_from("abc"), st.integers(0, 5))
    keys = draw(st.lists(trial, min_size=1, unique=True))
    verdicts = [
        draw(
            st.sampled_from([(1.0, False), (0.0, False), (None, False), (0.0, True), (None, True)])
        )
        for _ in keys
    ]
    log = pd.DataFrame(keys, columns=["task", "trial"])
    return log.assign(success=[v for v, _ in verdicts], infra=[i for _, i in verdicts]).astype(
        {"success": float}
    )


@given(count_and_k())
def test_an_estimate_is_the_exact_ratio_rounded_once(case: tuple[int, int, int]) -> None:
    n, c, k = case
    assert pass_hat_k(n, c, k) == float(Fraction(comb(c, k), comb(n, k)))
    assert pass_at_k(n, c, k) == float(1 - Fraction(comb(n - c, k), comb(n, k)))


@given(st.lists(count_and_k(), min_size=1, max_size=5))
def test_arrays_agree_with_numbers(cases: list[tuple[int, int, int]]) -> None:
    n, c, k = map(np.array, zip(*cases, strict=True))
    for function in (pass_hat_k, pass_at_k):
        single = [function(*case) for case in cases]
        np.testing.assert_allclose(function(n, c, k), single, rtol=3e-15, atol=1e-300)


@given(count_and_k(60))
def test_more_trials_asked_for_lower_pass_hat_k_and_raise_pass_at_k(
    case: tuple[int, int, int],
) -> None:
    n, c, _ = case
    k = np.arange(1, n + 1)
    assert (np.diff(pass_hat_k(n, c, k)) <= 1e-15).all()
    assert (np.diff(pass_at_k(n, c, k)) >= -1e-15).all()
    assert pass_hat_k(n, c, 1) == pass_at_k(n, c, 1) == c / n


@given(count_and_k(60))
def test_all_succeed_exactly_when_none_of_the_failures_is_drawn(case: tuple[int, int, int]) -> None:
    n, c, k = case
    assert pass_hat_k(n, c, k) == pytest.approx(1 - pass_at_k(n, n - c, k), abs=1e-15)


@given(suites(), st.integers(1, 14))
def test_a_curve_is_monotone_and_its_bracket_is_in_order(suite: dict[str, Any], K: int) -> None:
    K = min(K, max(suite["n"]))
    for curve, sign in ((pass_hat_k_curve(suite, K), -1), (pass_at_k_curve(suite, K), 1)):
        for points in (curve.value, curve.low, curve.high):
            assert (sign * np.diff(points) >= -1e-12).all()
            assert ((points >= 0) & (points <= 1 + 1e-12)).all()
        assert (curve.low <= curve.high + 1e-12).all()
        assert curve.tasks + len(curve.excluded) == len(suite["n"])
        if not curve.excluded:
            assert (curve.low <= curve.value + 1e-12).all()
            assert (curve.value <= curve.high + 1e-12).all()


@unhurried
@given(suites(), st.integers(1, 12), st.sampled_from(["wilson", "clopper-pearson"]))
def test_an_interval_holds_its_value_has_a_width_and_no_task_vanishes(
    suite: dict[str, Any], k: int, method: Any
) -> None:
    k = min(k, max(suite["n"]))
    found = estimate(suite, k, method=method)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high
    assert found.tasks + len(found.excluded) == len(suite["n"])
    assert found.valid == sum(suite["n"])
    assert found.planned == sum(suite["planned"])
    assert found.bracket[0] <= found.bracket[1] + 1e-12


@unhurried
@given(suites(least=4), st.integers(1, 2))
def test_these_tasks_never_have_a_larger_variance_than_passing_and_failing_would(
    suite: dict[str, Any], k: int
) -> None:
    found = estimate(suite, k, question="these tasks")
    assert 0 <= found.se <= 0.5
    assert found.low < found.high


@unhurried
@given(suites(), suites())
def test_a_comparison_is_antisymmetric_and_its_p_value_a_probability(
    a: dict[str, Any], b: dict[str, Any]
) -> None:
    if min(len(a["n"]), len(b["n"])) < 2:
        return
    one, two = compare(a, b), compare(b, a)
    assert one.difference == pytest.approx(-two.difference, abs=1e-12)
    assert one.p_value == pytest.approx(two.p_value)
    assert 0 <= one.p_value <= 1 + 1e-12
    assert -1 <= one.low <= one.difference <= one.high <= 1
    assert one.low < one.high
    assert one.tasks + len(one.left_out) == max(len(a["n"]), len(b["n"]))


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_never_lowers_a_p_value(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@unhurried
@given(suites(), st.integers(1, 30))
def test_a_models_value_lies_in_its_interval(suite: dict[str, Any], k: int) -> None:
    if max(suite["n"]) < 2:
        return
    found = extrapolate(suite, k)
    assert 0 <= found.low <= found.value + 1e-3
    assert found.value <= found.high + 1e-3 <= 1 + 2e-3
    assert found.bounds[0] <= found.bounds[1] + 1e-12
    assert found.bounds_interval[0] < found.bounds_interval[1]


@unhurried
@given(logs(), st.randoms())
def test_counts_are_those_of_a_plain_loop_in_any_order(log: pd.DataFrame, random: Any) -> None:
    order = list(range(len(log)))
    random.shuffle(order)
    table = counts(trials_table(log.iloc[order], infra="infra"))
    assert table["task"].tolist() == sorted(set(log["task"]))
    for row in table.itertuples():
        rows = [r for r in log.itertuples() if r.task == row.task]
        valid = [r for r in rows if not r.infra and r.success in (0, 1)]
        assert (row.planned, row.infra) == (len(rows), sum(r.infra for r in rows))
        assert (row.n, row.c) == (len(valid), sum(r.success == 1 for r in valid))


@given(shares, shares, st.integers(1, 200), st.integers(1, 16))
def test_the_step_model_is_monotone_in_all_that_helps(r: float, rho: float, n: int, k: int) -> None:
    base = step_pass_hat_k(r, n, k, rho)
    assert step_pass_hat_k(min(r + 0.001, 1), n, k, rho) >= base
    assert step_pass_hat_k(r, n, k, min(rho + 0.001, 1)) >= base
    assert step_pass_hat_k(r, n + 1, k, rho) <= base
    assert step_pass_at_k(r, n, k + 1, rho) >= step_pass_at_k(r, n, k, rho) - 1e-15
    assert base <= step_pass_at_k(r, n, k, rho) + 1e-15


@given(shares, st.integers(1, 200), st.integers(1, 16), st.floats(0, 0.999))
def test_the_inverses_invert(target: float, n: int, k: int, rho: float) -> None:
    r = required_reliability(target, n, k, rho)
    reached = step_pass_hat_k(r, n, k, rho)
    assert reached == pytest.approx(target, rel=1e-9) if r > 0 else reached >= target
    if r > 0:
        assert horizon(target, r, rho, k) in (n, n + 1)  # n + 1 where rounding reaches it too
