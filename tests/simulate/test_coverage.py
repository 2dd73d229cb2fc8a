import numpy as np
import pytest

from evalkit.estimates import estimate
from evalkit.simulate.coverage import REGIMES, Regime, _intervals, coverage_table
from evalkit.simulate.suites import draw_suite, run_suite, suite_counts


def test_the_regimes_are_as_unlike_as_the_default_interval_must_bear() -> None:
    assert len(REGIMES) >= 6
    assert {30, 500} <= {regime.tasks for regime in REGIMES}
    assert {1, 2} == {regime.trials // regime.k for regime in REGIMES}
    truths = [regime.true_pass_hat_k for regime in REGIMES]
    assert min(truths) == pytest.approx(0.02, abs=0.004)
    assert max(truths) == pytest.approx(0.98, abs=0.004)


def test_the_truth_of_a_regime_is_the_mean_over_its_suites() -> None:
    for regime in REGIMES[::4]:
        suites = draw_suite(
            np.random.default_rng(0), 1000, redraws=100, reliability=regime.reliability
        )
        simulated = suites.pass_hat_k(regime.k)
        error = simulated.std() / 10
        assert simulated.mean() == pytest.approx(regime.true_pass_hat_k, abs=4 * error)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_default_interval_holds_the_truth_of_new_tasks_as_often_as_it_says(seed: int) -> None:
    table = coverage_table(3000, seed=seed)
    assert table["wilson"].between(0.93, 0.985).all(), table["wilson"].tolist()


def test_the_default_interval_holds_the_truth_of_these_tasks_at_least_as_often() -> None:
    table = coverage_table(3000, question="these tasks")
    assert table["wilson"].between(0.93, 0.99).all(), table["wilson"].tolist()
    assert len(table) == sum(regime.trials >= 2 * regime.k for regime in REGIMES)


def test_what_other_intervals_miss_is_seen() -> None:
    table = coverage_table(1000)
    hard = table[(table["tasks"] == 30) & (table["trials"] == 16)].iloc[0]
    assert hard["plain wilson"] < 0.85
    assert hard["normal"] < 0.85
    assert (table["pooled p^k"] < 0.95).all()
    assert (table["clopper-pearson"] >= table["wilson"]).all()
    assert (table["clopper-pearson width"] > table["wilson width"]).all()


def test_the_table_is_made_again_from_its_seed() -> None:
    one, two = (coverage_table(50, seed=3, regimes=REGIMES[:2]) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(coverage_table(50, seed=4, regimes=REGIMES[:2]))


@pytest.mark.parametrize("question", ["new tasks", "these tasks"])
def test_what_is_simulated_is_what_estimate_gives(question: str) -> None:
    regime = Regime(40, 8, 4, (58, 2))
    c = run_suite(draw_suite(np.random.default_rng(1), 40), 8, np.random.default_rng(2))
    simulated = _intervals(c[None], regime, question, 0.9)
    for method in ("wilson", "clopper-pearson", "normal"):
        found = estimate(suite_counts(c, 8), 4, question=question, method=method, level=0.9)  # type: ignore[arg-type]
        low, high = simulated[method]
        assert (low[0], high[0]) == pytest.approx((found.low, found.high))
