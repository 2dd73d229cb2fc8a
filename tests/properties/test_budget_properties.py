"""What holds for every log and every set of agents, whatever the budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.budget import counts_within, pareto_set, success_within, upper_hull

BUDGETS = [0, 3, 7, 12, 20, 40]
unhurried = settings(deadline=None, max_examples=50)  # the first call imports SciPy and Narwhals


@st.composite
def logs(draw: st.DrawFn) -> pd.DataFrame:
    """A log of what each trial needed, had it had the time; infinite for one that gives up."""
    keys = draw(
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4)), min_size=1, unique=True)
    )
    rows = pd.DataFrame(keys, columns=["task", "trial"])
    rows["needed"] = [draw(st.sampled_from([1, 3, 8, 12, 13, 30, np.inf])) for _ in keys]
    rows["patience"] = [draw(st.integers(1, 30)) for _ in keys]
    rows["infra"] = [draw(st.booleans()) for _ in keys]
    rows.loc[0, "infra"] = False
    return rows


def run(world: pd.DataFrame, cap: float) -> pd.DataFrame:
    """The log that the world gives under a cap."""
    needed = world["needed"].astype(float).where(world["needed"] <= world["patience"], np.inf)
    success = (needed <= cap) & ~world["infra"]
    steps = np.minimum(np.minimum(needed, world["patience"]), cap)
    return world.assign(success=success.astype(float), steps=steps, cap=cap)


@unhurried
@given(logs())
def test_a_log_run_under_a_cap_says_what_a_smaller_cap_would_have_given(
    world: pd.DataFrame,
) -> None:
    large = run(world, 50)
    for budget in (3, 12, 40):
        small = run(world, budget)
        pd.testing.assert_frame_equal(counts_within(small, budget), counts_within(large, budget))


@unhurried
@given(logs())
def test_the_curve_never_falls_and_its_band_and_bracket_hold_it(world: pd.DataFrame) -> None:
    curve = success_within(run(world, 50), BUDGETS)
    assert (curve["success"].diff().dropna() >= 0).all()
    assert ((curve["low"] <= curve["success"]) & (curve["success"] <= curve["high"])).all()
    assert (curve["least"] <= curve["most"]).all()


@unhurried
@given(logs())
def test_the_bracket_beyond_a_cap_holds_what_more_time_would_have_given(
    world: pd.DataFrame,
) -> None:
    cut, truth = success_within(run(world, 10), [40]), success_within(run(world, 50), [40])
    assert cut["least"].iloc[0] <= truth["least"].iloc[0] + 1e-12
    assert truth["most"].iloc[0] <= cut["most"].iloc[0] + 1e-12


points = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=9).map(
    lambda pairs: np.array(pairs, dtype=float).T
)


@given(points)
def test_whoever_is_not_in_the_pareto_set_is_beaten_by_one_who_is(xy: np.ndarray) -> None:
    x, y = xy
    kept = pareto_set(x, y)
    assert kept.any()
    for a, b, in_set in zip(x, y, kept, strict=True):
        beaten = ((x <= a) & (y >= b) & ((x < a) | (y > b)))[kept].any()
        assert bool(beaten) is not bool(in_set)


@given(points)
def test_no_agent_stands_above_the_hull_and_every_corner_is_one(xy: np.ndarray) -> None:
    x, y = xy
    corner = upper_hull(x, y)
    assert (pareto_set(x, y) | ~corner).all()
    order = np.argsort(x[corner], kind="stable")
    u, v = x[corner][order], y[corner][order]
    reach = np.interp(x, u, v, left=-np.inf)
    assert (y[x >= u[0]] <= reach[x >= u[0]] + 1e-9).all()
    u, first = np.unique(u, return_index=True)
    for i in range(1, len(u) - 1):  # without a corner, the line would run below it
        without = np.interp(u[i], np.delete(u, i), np.delete(v[first], i))
        assert v[first][i] > without
    assert pytest.approx(y.max()) == v[-1]
