"""The panel, the figures and the small tables of chapter 10."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from evalkit.budget import counts_within, retries
from evalkit.comparison import compare
from evalkit.course.figures import new_figure
from evalkit.course.plots.chapter_10 import (
    CAPS,
    EARLY,
    LATE,
    budget_panel,
    curve,
    draw_budget,
    draw_curves,
    draw_frontier,
    draw_giving_up,
    paired_counts,
    price,
    published,
    steps_spent,
    submission_log,
)

SHARED = Path(__file__).parents[4] / "shared" / "data" / "budget"
with_sources = pytest.mark.skipif(not SHARED.exists(), reason="the public results are not here")


def texts(figure: object) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]


def test_the_panel_opens_on_thirty_steps_at_the_published_prices() -> None:
    view = budget_panel().view
    assert view.table["within 30 steps"].tolist() == ["20.0%", "32.0%"]
    assert view.table["a task costs"].tolist() == ["$4.46", "$0.32"]
    assert view.finding.endswith(
        "MatrixAgent completes more and costs less: nothing speaks for the other."
    )


@pytest.mark.parametrize(("control", "value"), [("cap", 40), ("early", 5.0), ("late", 3.0)])
def test_each_control_changes_picture_finding_and_table(control: str, value: float) -> None:
    panel = budget_panel()
    before = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    panel.controls[control].value = value
    after = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 3


def test_the_order_turns_at_ten_steps() -> None:
    short = draw_budget(new_figure(), 10, early=20.0, late=1.0)
    assert short.table["within 10 steps"].tolist() == ["6.9%", "1.7%"]
    assert (
        "OpenHands completes more, MatrixAgent costs less: both are on the frontier."
        in short.finding
    )
    cheap = draw_budget(new_figure(), 10, early=0.1, late=40.0)
    assert "OpenHands completes more and costs less" in cheap.finding


def test_a_task_costs_its_steps_up_to_the_cap_times_the_price() -> None:
    row = draw_budget(new_figure(), 10, early=50.0, late=50.0).table.iloc[0]
    bands = published("tac_steps.csv").query("submission == @EARLY")
    short = bands[bands["steps_to"] == 10]
    steps = (short["steps"].sum() + 10 * (175 - short["tasks"].sum())) / 175
    assert row["a task costs"] == f"${steps / 2:.2f}"
    done = short.loc[short["completed"] == 1, "tasks"].item() / 175
    assert row["a completed task costs"] == f"${steps / 2 / done:.2f}"


def test_the_marks_of_the_panel_stand_where_its_table_says() -> None:
    figure = new_figure()
    draw_budget(figure, 20, early=10.0, late=10.0)
    for axes, x in zip(figure.axes, (lambda n: 20, lambda n: steps_spent(n)[20] / 10), strict=True):
        marks = [line.get_xydata()[0] for line in axes.lines if line.get_markersize() == 8]
        expected = [[x(name), 100 * curve(name)["success"][20]] for name in (EARLY, LATE)]
        np.testing.assert_allclose(marks, expected)


def test_curves_carry_their_names_and_rise_to_what_was_published() -> None:
    figure = new_figure()
    draw_curves(figure, {EARLY: curve(EARLY), LATE: curve(LATE)}, caps=(10,))
    assert {name.replace(", ", "\n") for name in (EARLY, LATE)} <= set(texts(figure))
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == len(CAPS)]
    assert [round(line.get_ydata()[-1], 2) for line in lines] == [24.0, 42.86]


def test_a_curve_is_labelled_where_its_value_is_last_known() -> None:
    points = curve(LATE).copy()
    points.loc[50:, ["success", "low", "high"]] = np.nan
    figure = new_figure()
    draw_curves(figure, {"one": points}, caps=())
    (name,) = [text for text in figure.axes[0].texts if text.get_text() == "one"]
    assert name.get_position() == (41.5, 100 * points["success"][40])


def test_giving_up_is_drawn_with_the_truth() -> None:
    raw = pd.Series([0.1, 0.6], index=[1, 50])
    figure = new_figure()
    draw_giving_up(figure, raw, raw + 0.2, truth=0.7)
    truth, mistaken, right = figure.axes[0].lines
    assert list(truth.get_ydata()) == [70, 70]
    np.testing.assert_allclose(mistaken.get_ydata(), [30, 80])
    np.testing.assert_allclose(right.get_ydata(), [10, 60])


def test_the_frontier_is_a_line_through_its_corners_above_all_agents() -> None:
    agents = published("humaneval_cost.csv").set_index("agent")
    retried = retries({"n": [5] * 4, "c": [5, 3, 1, 0]}, 0.05, [1, 5])
    figure = new_figure(height=420)
    draw_frontier(figure, agents, retried)
    hull = figure.axes[0].lines[0]
    reach = np.interp(agents["cost_usd"], hull.get_xdata(), hull.get_ydata())
    gap = reach - 100 * agents["accuracy"]
    assert gap.min() > -1e-9
    on = {"GPT-3.5", "escalation", "warming, GPT-4", "LDB, GPT-4"}
    assert set(agents.index[gap < 1e-9]) == on


def test_the_log_of_a_submission_gives_the_shares_of_its_bands() -> None:
    tally = counts_within(submission_log(LATE), 30)
    assert (tally["n"].sum(), tally["c"].sum()) == (175, 56)


def test_the_pairs_agree_with_the_curves() -> None:
    for budget in CAPS:
        found = compare(*paired_counts(budget))
        assert found.tasks == 175
        assert found.first == pytest.approx(curve(EARLY)["success"][budget])
        assert found.second == pytest.approx(curve(LATE)["success"][budget])


def test_prices_are_all_dollars_by_all_steps() -> None:
    assert (round(price(EARLY), 2), round(price(LATE), 2)) == (21.72, 1.32)


def tasks_of(submission: str) -> pd.DataFrame:
    """The public results of single tasks, from the file, of one submission of our tables."""
    table = pd.read_csv(SHARED / "tac_pertask_6submissions.csv").set_index("task")
    parts = submission.split(", ")
    found = table[[all(part in name for part in parts) for name in table["submission"]]]
    assert found["submission"].nunique() == 1
    return found.assign(done=found["result_points"] == found["total_points"])


@with_sources
def test_the_bands_of_steps_are_those_of_the_public_results() -> None:
    bands = published("tac_steps.csv")
    for submission, ours in bands.groupby("submission"):
        theirs = tasks_of(str(submission))
        assert ours["cap"].unique().tolist() == [theirs["steps"].max()]
        assert ours["tasks"].sum() == len(theirs)
        for row in ours.itertuples():
            in_band = (theirs["steps"] > row.steps_to - 10) & (theirs["steps"] <= row.steps_to)
            band = theirs[in_band & (theirs["done"] == bool(row.completed))]
            assert (row.tasks, row.steps) == (len(band), band["steps"].sum())
            assert row.cost_usd == pytest.approx(band["cost_usd"].sum(), abs=0.005)
            assert str(row.date).replace("-", "") in band["submission"].iloc[0]


@with_sources
def test_within_the_stated_budgets_the_shares_are_those_that_are_known() -> None:
    shares = {
        name: (100 * curve(name)["success"][[10, 20, 30, 50, 90]]).round(1)
        for name in (EARLY, LATE)
    }
    assert shares[EARLY].tolist() == [6.9, 15.4, 20.0, 24.0, 24.0]
    assert shares[LATE].tolist() == [1.7, 17.7, 32.0, 41.1, 42.9]
    for name, found in shares.items():
        tasks = tasks_of(name)
        within = [100 * (tasks["done"] & (tasks["steps"] <= b)).mean() for b in found.index]
        np.testing.assert_allclose(found, within, atol=0.05)


@with_sources
def test_the_pairs_are_those_of_the_public_results() -> None:
    early, late = tasks_of(EARLY), tasks_of(LATE)
    late = late.loc[early.index]
    for row in published("tac_pairs.csv").itertuples():
        first, second = (t["done"] & (t["steps"] <= row.budget) for t in (early, late))
        cells = (~first & ~second, first & ~second, ~first & second, first & second)
        assert [row.neither, row.first_only, row.second_only, row.both] == [c.sum() for c in cells]


@with_sources
def test_cost_and_accuracy_are_those_of_the_published_runs() -> None:
    runs = pd.read_csv(SHARED / "aatm_humaneval_runs_published.csv").query("table == 409")
    runs = runs.rename(columns={"total_cost_usd": "cost_usd"}).groupby(["strategy", "model"])
    ours = published("humaneval_cost.csv").set_index(["strategy", "models"])
    assert len(ours) == runs.ngroups == 13
    for name in ("accuracy", "cost_usd"):
        for ending, of in (("", "mean"), ("_low", "min"), ("_high", "max")):
            theirs = runs[name].agg(of).reindex(ours.index)
            np.testing.assert_allclose(ours[name + ending], theirs, atol=5e-5)


@with_sources
def test_how_often_each_problem_was_solved_is_that_of_the_published_outcomes() -> None:
    outcomes = pd.read_csv(
        SHARED / "aatm_humaneval_runs_bits.csv", dtype={"solved_bits_by_task": str}
    )
    plain = published("humaneval_cost.csv").query("strategy == 'simple'").set_index("models")
    for model, row in plain.iterrows():
        of_model = (outcomes["strategy"] == "simple") & (outcomes["model"] == model)
        runs = outcomes.loc[of_model, "solved_bits_by_task"]
        times = np.sum([[int(bit) for bit in run] for run in runs], axis=0)
        tally = np.bincount(times, minlength=6)
        assert row["solved_0_to_5_times"] == " ".join(map(str, tally))
        assert tally @ np.arange(6) / (5 * 164) == pytest.approx(row["accuracy"], abs=5e-5)
