"""Success within a budget, agents at an equal budget, and the frontier of cost and success."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalkit.budget import (
    compare_within,
    cost_and_success,
    counts_within,
    pareto_set,
    retries,
    success_within,
    upper_hull,
)
from evalkit.estimates import estimate
from evalkit.trials import counts, trials_table


def log(success: list[Any], steps: list[Any], cap: Any, **columns: Any) -> pd.DataFrame:
    """A log with one trial of each task."""
    frame = pd.DataFrame({"task": range(len(success)), "success": success, "steps": steps})
    frame = frame.assign(trial=0, infra=False, cap=cap, **columns)
    return frame.astype({"success": float, "steps": float})


def played(cap: float, seed: int, tasks: int = 60, trials: int = 4) -> pd.DataFrame:
    """A log of one simulated agent: what an episode needs does not depend on its cap."""
    rng = np.random.default_rng(seed)
    needed = np.ceil(rng.lognormal(3.4, 0.8, (tasks, 1)) * rng.lognormal(0, 0.3, (tasks, trials)))
    needed = needed.ravel()
    table = pd.DataFrame({"task": np.repeat(range(tasks), trials)})
    table["trial"] = np.tile(range(trials), tasks)
    table["success"] = (needed <= cap).astype(float)
    return table.assign(infra=False, steps=np.minimum(needed, cap), cap=cap)


def test_an_episode_that_needed_more_has_failed_within_the_budget() -> None:
    curve = success_within(log([1, 1, 0, 0], [9, 31, 12, 50], 50), [8, 9, 30, 31, 50])
    assert curve["success"].tolist() == [0, 0.25, 0.25, 0.5, 0.5]


def test_the_log_of_a_large_cap_holds_that_of_a_small_one() -> None:
    small, large = counts(played(20, seed=1)), counts_within(played(60, seed=1), 20)
    pd.testing.assert_frame_equal(small, large)


def test_the_band_is_that_of_the_estimate_clustered_by_task() -> None:
    table = played(60, seed=2)
    row = success_within(table, [25]).iloc[0]
    found = estimate(counts(played(25, seed=2)))
    assert (row["success"], row["low"], row["high"]) == (found.value, found.low, found.high)
    apart = table.assign(task=range(len(table)))  # the same trials, taken for tasks of their own
    narrow = success_within(apart, [25]).iloc[0]
    assert narrow["high"] - narrow["low"] < 0.75 * (row["high"] - row["low"])


def test_beyond_a_cap_the_value_is_unknown_and_bracketed() -> None:
    table = log([1, 1, 0, 0, 0], [9, 31, 12, 50, 50], 50)
    known, beyond = success_within(table, [50, 51]).to_dict("records")
    assert (known["success"], known["stopped"]) == (0.4, 0)
    assert np.isnan([beyond["success"], beyond["low"], beyond["high"]]).all()
    assert (beyond["stopped"], beyond["least"], beyond["most"]) == (2, 0.4, 0.8)
    with pytest.raises(ValueError, match="a smaller cap stopped 2 of 5 trials.*Take 50 or less"):
        counts_within(table, 51)


def test_who_gave_up_below_the_cap_has_failed_at_every_budget() -> None:
    row = success_within(log([1, 0, 0], [9, 12, 49], 50), [10_000]).iloc[0]
    assert (row["success"], row["stopped"]) == (1 / 3, 0)


def test_without_a_cap_that_stops_no_budget_is_too_large() -> None:
    row = success_within(log([1, 0], [9, 800], float("inf")), [1e9]).iloc[0]
    assert (row["success"], row["stopped"]) == (0.5, 0)


def test_each_trial_may_have_a_cap_of_its_own() -> None:
    table = log([0, 0, 1], [50, 90, 20], [50, 100, 100])
    assert success_within(table, [50, 60, 100])["stopped"].tolist() == [0, 1, 1]


def test_a_budget_of_money_that_the_last_call_overran_counts_as_stopped() -> None:
    table = log([0, 1], [50, 20], [2.0, 2.0], cost=[2.07, 0.4])
    assert success_within(table, [1, 2, 3], "cost")["stopped"].tolist() == [0, 0, 1]


def test_an_infra_failure_is_no_trial_that_its_cap_stopped() -> None:
    table = log([1, 0], [9, 50], 50).assign(infra=[False, True])
    row = success_within(table, [99]).iloc[0]
    assert (row["stopped"], row["success"], row["most"]) == (0, 1, 1)


def test_infra_failures_and_trials_without_a_verdict_leave_a_bracket_at_every_budget() -> None:
    table = log([1, 0, np.nan, 0], [9, 12, np.nan, 3], 50).assign(infra=[False, False, False, True])
    curve = success_within(table, [5, 10, 99])
    assert curve["success"].tolist() == [0, 0.5, 0.5]
    assert curve[["least", "most"]].to_numpy().tolist() == [[0, 0.5], [0.25, 0.75], [0.25, 0.75]]


def test_one_agent_at_two_budgets_is_not_two_agents() -> None:
    # A game's random agent: 2.6 of 11 points in 50 steps, 4.2 in 100 (TextWorld, issue 191).
    half, whole = played(50, seed=3), played(100, seed=3)
    assert counts(whole)["c"].sum() > counts(half)["c"].sum() + 20
    with pytest.raises(ValueError, match="success within 100 steps is not known"):
        compare_within(half, whole, 100)
    found = compare_within(half, whole, 50)
    assert (found.difference, found.better, found.worse) == (0, 0, 0)


def test_two_agents_are_paired_by_task() -> None:
    first = log([1, 1, 0, 0], [10, 40, 50, 50], 50)
    second = log([1, 1, 1, 0], [30, 10, 20, 50], 50).iloc[::-1]
    found = compare_within(first, second, 20)
    assert (found.better, found.worse, found.test) == (2, 1, "exact McNemar")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": [9.0, np.nan]}, "steps is missing or negative. Rows: 1; one has task 1"),
        ({"steps": [9.0, -1.0]}, "steps is missing or negative"),
        ({"cap": [50, np.nan]}, "cap is missing or negative"),
        ({"cap": 5}, "success beyond its cap. Rows: 1; one has task 0"),
    ],
)
def test_a_log_that_cannot_be_read_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        success_within(log([1, 0], [9, 12], 50).assign(**change), [10])


@pytest.mark.parametrize("column", ["steps", "cap", "infra"])
def test_a_missing_column_is_named(column: str) -> None:
    with pytest.raises(ValueError, match=f"no column '{column}'"):
        success_within(log([1, 0], [9, 12], 50).drop(columns=column), [10])


@pytest.mark.parametrize("budget", [-1, float("nan")])
def test_a_budget_is_a_number_of_0_or_more(budget: float) -> None:
    with pytest.raises(ValueError, match="a budget must be 0 or more"):
        counts_within(log([1, 0], [9, 12], 50), budget)


def test_a_log_may_come_from_trials_table_and_from_a_lazy_engine() -> None:
    pl = pytest.importorskip("polars")
    raw = pl.from_pandas(played(60, seed=4)).lazy()
    table = trials_table(raw, steps="steps").with_columns(cap=pl.lit(60))
    pd.testing.assert_frame_equal(
        success_within(table, [10, 30]), success_within(played(60, seed=4), [10, 30])
    )


def kaplan_meier(steps: np.ndarray, success: np.ndarray) -> float:
    """The share that has succeeded in the end, if everyone who stopped without success is
    taken for one who would have gone on like the others."""
    left = 1.0
    for at in np.unique(steps[success]):
        left *= 1 - (success & (steps == at)).sum() / (steps >= at).sum()
    return 1 - left


def test_the_raw_fraction_is_right_where_kaplan_meier_takes_giving_up_for_bad_luck() -> None:
    """An agent that can do 68% of the tasks, and gives up on the others sooner or later."""
    rng = np.random.default_rng(5)
    can = rng.random(4000) < 0.68
    steps = np.where(can, rng.geometric(1 / 20, 4000), rng.geometric(1 / 25, 4000)).astype(float)
    table = log(list(can), list(steps), float("inf"))
    raw = success_within(table, [steps.max()])["success"].iloc[0]
    assert raw == pytest.approx(0.68, abs=0.015)
    assert kaplan_meier(steps, can) > 0.9


def test_the_point_of_an_agent_has_an_interval_each_way() -> None:
    table = played(40, seed=6).assign(cost=lambda t: t["steps"] * 0.1)
    point = cost_and_success(table)
    assert point["cost"] == pytest.approx(table["cost"].mean())
    assert point["cost_low"] < point["cost"] < point["cost_high"]
    assert point["success"] == pytest.approx(table["success"].mean())
    assert point["low"] < point["success"] < point["high"]


def test_the_interval_of_a_cost_is_students_t_over_tasks() -> None:
    point = cost_and_success(log([1, 0, 0, 1], [1] * 4, 9, cost=[1.0, 2.0, 4.0, 5.0]))
    half = 3.1824463 * np.std([1, 2, 4, 5], ddof=1) / 2  # the t quantile with 3 degrees of freedom
    assert (point["cost_low"], point["cost_high"]) == pytest.approx((3 - half, 3 + half))


def test_retrying_k_times_costs_k_times_and_gives_pass_at_k() -> None:
    points = retries({"n": [5, 5], "c": [1, 4]}, 0.3, [1, 2, 5])
    assert points["cost"].tolist() == pytest.approx([0.3, 0.6, 1.5])
    assert points["success"].tolist() == pytest.approx([0.5, 1 - (6 / 10 + 0) / 2, 1])
    assert (points["low"] < points["high"]).all()
    table = {"n": [5, 5, 5, 5], "c": [1, 4, 0, 5]}
    once, found = retries(table, 0.3, [1]).iloc[0], estimate(table)
    assert (once["low"], once["high"]) == (found.low, found.high)
    with pytest.raises(ValueError, match="pass@6 needs 6 valid trials"):
        retries({"n": [9, 5], "c": [1, 4]}, 0.3, [6])


def test_the_pareto_set_and_its_hull() -> None:
    cost = [0, 1, 2, 3, 4, 5, 5]
    success = [0.1, 0.5, 0.52, 0.4, 0.7, 0.69, 0.7]
    assert np.flatnonzero(pareto_set(cost, success)).tolist() == [0, 1, 2, 4]
    assert np.flatnonzero(upper_hull(cost, success)).tolist() == [0, 1, 4]


def test_an_agent_on_the_line_between_two_is_no_corner() -> None:
    assert pareto_set([0, 1, 2], [0, 0.5, 1]).all()
    assert upper_hull([0, 1, 2], [0, 0.5, 1]).tolist() == [True, False, True]


def test_two_equal_agents_are_both_on_the_frontier() -> None:
    assert pareto_set([1, 1, 2], [0.5, 0.5, 0.5]).tolist() == [True, True, False]
    assert upper_hull([1, 1, 2], [0.5, 0.5, 0.5]).tolist() == [True, True, False]


@pytest.mark.parametrize("frontier", [pareto_set, upper_hull])
def test_a_point_without_a_number_is_refused(frontier: Any) -> None:
    with pytest.raises(ValueError, match="as many finite numbers"):
        frontier([1, np.nan], [0.5, 0.6])
    with pytest.raises(ValueError, match="as many finite numbers"):
        frontier([1, 2], [0.5])
