import numpy as np
import pytest

from evalkit.estimates import estimate
from evalkit.simulate.suites import (
    Suite,
    draw_suite,
    percentiles,
    run_suite,
    suite_counts,
    suite_figures,
)


def test_a_seed_decides_the_suite_and_its_runs() -> None:
    one, two = (draw_suite(np.random.default_rng(7)) for _ in range(2))
    assert (one.r == two.r).all()
    assert (one.n == two.n).all()
    runs = [run_suite(one, 8, np.random.default_rng(8)) for _ in range(2)]
    assert (runs[0] == runs[1]).all()


def test_the_default_family_is_that_of_the_example() -> None:
    suite = draw_suite(np.random.default_rng(0), redraws=2000)
    assert suite.r.shape == suite.n.shape == (2000, 120)
    assert (suite.n.min(), suite.n.max()) == (4, 30)
    assert suite.n.mean() == pytest.approx(17, abs=0.1)
    assert suite.r.mean() == pytest.approx(58 / 60, abs=5e-4)
    assert suite.pass_hat_k(1).mean() == pytest.approx(0.62, abs=0.005)
    assert suite.pass_hat_k(8).mean() == pytest.approx(0.131, abs=0.005)


def test_true_pass_hat_k_is_the_mean_power_and_never_below_the_power_of_the_mean() -> None:
    suite = Suite(np.array([0.9, 1.0]), np.array([2, 5]))
    assert suite.success.tolist() == pytest.approx([0.81, 1])
    assert suite.pass_hat_k(3) == pytest.approx((0.81**3 + 1) / 2)
    many = draw_suite(np.random.default_rng(1), redraws=100)
    assert (many.pass_hat_k(8) >= many.pass_hat_k(1) ** 8).all()


def test_recovery_and_fewer_failures_make_an_agent_better() -> None:
    plain = Suite(np.array([0.9]), np.array([10]))
    assert Suite(plain.r, plain.n, rho=0.5).success == pytest.approx(0.95**10)
    assert plain.with_fewer_failures(0.2).success == pytest.approx(0.92**10)
    assert plain.with_fewer_failures(0).success == pytest.approx(plain.success)
    with pytest.raises(ValueError, match=r"share must be in \[0, 1\]; it is 20"):
        plain.with_fewer_failures(20)


def test_the_homogeneous_model_has_the_mean_steps_and_the_mean_reliability() -> None:
    suite = Suite(np.array([0.9, 0.98]), np.array([4, 13]))
    assert suite.homogeneous(8) == pytest.approx(0.94 ** (8.5 * 8))


def test_repeats_run_the_same_tasks_again() -> None:
    suite = draw_suite(np.random.default_rng(2), tasks=50)
    c = run_suite(suite, 8, np.random.default_rng(3), repeats=4000)
    assert c.shape == (4000, 50)
    np.testing.assert_allclose(c.mean(axis=0) / 8, suite.success, atol=0.02)


def test_the_noise_of_the_estimate_is_that_of_repeated_experiments() -> None:
    rng = np.random.default_rng(4)
    suite = draw_suite(rng)
    for trials in (8, 12):
        c = run_suite(suite, trials, rng, repeats=4000)
        figures = suite_figures(suite, c, trials)
        seen = figures["estimated pass^8"].std()
        assert figures["SD of estimated pass^8"] == pytest.approx(seen, rel=0.05)
        assert figures["estimated pass^8"].mean() == pytest.approx(suite.pass_hat_k(8), abs=0.002)


def test_the_figures_of_one_run_agree_with_the_estimate() -> None:
    rng = np.random.default_rng(5)
    suite = draw_suite(rng)
    c = run_suite(suite, 8, rng)
    figures, counts = suite_figures(suite, c, 8), suite_counts(c, 8)
    assert figures["estimated pass^8"] == pytest.approx(estimate(counts, 8).value)
    assert figures["estimated pass^1"] == pytest.approx(estimate(counts).value)
    assert figures["tasks that always succeeded"] == figures["estimated pass^8"]
    assert figures["tasks that never succeeded"] == (c == 0).mean()


def test_both_shortcuts_understate_the_example_by_far() -> None:
    rng = np.random.default_rng(6)
    suites = draw_suite(rng, redraws=500)
    figures = suite_figures(suites, run_suite(suites, 8, rng), 8)
    assert figures["estimated pass^1 to the power 8"].mean() < 0.03
    assert figures["homogeneous step model"].mean() < 0.02
    assert figures["estimated pass^8"].mean() > 0.12


def test_the_plug_in_power_overstates_a_k_above_n() -> None:
    rng = np.random.default_rng(7)
    suites = draw_suite(rng, redraws=500)
    c = run_suite(suites, 8, rng)
    excess = ((c / 8) ** 16).mean() - suites.pass_hat_k(16).mean()
    assert excess == pytest.approx(0.097, abs=0.01)


def test_percentiles_count_ties_half() -> None:
    drawn = {"x": np.array([1.0, 1.0, 2.0, 3.0])}
    assert percentiles({"x": 1.0}, drawn) == {"x": 25}
    assert percentiles({"x": 0.0}, drawn) == {"x": 0}
    assert percentiles({"x": 9.0}, drawn) == {"x": 100}
    with pytest.raises(ValueError, match="stated: no figure 'y'; there are x"):
        percentiles({"y": 1.0}, drawn)


def test_the_notes_suite_is_an_ordinary_draw_of_the_family() -> None:
    rng = np.random.default_rng(8)
    suites = draw_suite(rng, redraws=2000)
    stated = {
        "mean steps": 16.8,
        "mean reliability": 0.966,
        "true pass^1": 0.621,
        "estimated pass^1": 0.613,
        "true pass^8": 0.122,
        "estimated pass^8": 0.100,
        "SD of estimated pass^8": 0.026,
        "estimated pass^1 to the power 8": 0.020,
        "homogeneous step model": 0.009,
        "tasks that never succeeded": 0.025,
    }
    found = percentiles(stated, suite_figures(suites, run_suite(suites, 8, rng), 8))
    assert all(10 < percentile < 80 for percentile in found.values()), found
