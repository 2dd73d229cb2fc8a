"""The panels and the figures of chapter 08."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text

from evalkit.course.figures import new_figure
from evalkit.course.panels import Panel
from evalkit.course.plots.chapter_08 import (
    TASKS,
    builder_panel,
    built_suite,
    draw_builder,
    draw_coverage,
    draw_curves,
    draw_jensen,
    draw_noise,
    draw_pairs,
    draw_plan,
    plan_panel,
)
from evalkit.estimates import estimate
from evalkit.simulate.coverage import Regime, coverage_table
from evalkit.simulate.suites import draw_suite, run_suite, suite_counts


def texts(figure: object) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]


def shown(panel: Panel) -> tuple[str, str, str]:
    return panel.picture.value, panel.view.finding, panel.view.table.to_string()


@pytest.mark.parametrize(
    ("control", "value"),
    [("r", 0.96), ("spread", 0.03), ("shortest", 6), ("longest", 40), ("k", 4)],
)
def test_each_control_of_the_builder_changes_picture_finding_and_table(
    control: str, value: float
) -> None:
    panel = builder_panel()
    before = shown(panel)
    panel.controls[control].value = value
    assert [a != b for a, b in zip(shown(panel), before, strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("control", "value"),
    [("half_width", 0.04), ("k", 4), ("cost_per_task", 50), ("r", 0.975)],
)
def test_each_control_of_the_planner_changes_picture_finding_and_table(
    control: str, value: float
) -> None:
    panel = plan_panel()
    before = shown(panel)
    panel.controls[control].value = value
    assert [a != b for a, b in zip(shown(panel), before, strict=True)] == [True] * 3


@pytest.mark.parametrize("panel", [builder_panel, plan_panel], ids=["builder", "planner"])
def test_both_ends_of_every_control_can_be_drawn(panel: type[Panel]) -> None:
    made = panel()
    for control in made.controls.values():
        opened = control.value
        for end in (control.min, control.max):
            control.value = end
        control.value = opened
    for end in ("min", "max"):
        for control in made.controls.values():
            control.value = getattr(control, end)
    assert made.view.finding


def test_the_builder_opens_on_a_suite_like_the_notes() -> None:
    row = builder_panel().view.table.iloc[0]
    found = [float(row[name].rstrip("%")) for name in ("pass^1", "pass^8", "(pass^1)^8")]
    assert found == pytest.approx([62.1, 12.2, 2.0], abs=1.5)
    assert float(row["one r and one n"].rstrip("%")) == pytest.approx(0.9, abs=0.3)


def test_only_tasks_that_are_alike_in_r_and_in_steps_make_the_shortcuts_right() -> None:
    def row(spread: float, shortest: int, longest: int) -> list[str]:
        return draw_builder(new_figure(), 0.97, spread, shortest, longest, 8).table.iloc[0].tolist()

    alike, same_r = row(0, 15, 15), row(0, 4, 30)
    assert alike[1] == alike[2] == alike[3]
    assert len(set(same_r[1:4])) == 3


def test_a_built_suite_has_the_mean_the_spread_and_the_steps_that_were_asked_for() -> None:
    suite = built_suite(0.95, 0.03, 5, 24)
    assert suite.r.mean() == pytest.approx(0.95, abs=1e-3)
    assert suite.r.std() == pytest.approx(0.03, abs=1e-3)
    assert np.bincount(suite.n)[5:].tolist() == [6] * 20


def test_the_builders_histogram_holds_every_task_and_its_curve_starts_at_pass_1() -> None:
    figure = new_figure()
    view = draw_builder(figure, 0.967, 0.023, 4, 30, 8)
    tasks, curve = figure.axes
    assert tasks.patches[0].get_data().values.sum() == TASKS
    drawn = max(float(np.asarray(line.get_ydata())[0]) for line in curve.lines[:3])
    assert f"{drawn:.1f}%" == view.table.iloc[0]["pass^1"]


def test_the_builder_marks_the_k_that_was_chosen() -> None:
    figure = new_figure()
    draw_builder(figure, 0.967, 0.023, 4, 30, 5)
    assert figure.axes[1].lines[-1].get_xdata()[0] == 5


def test_the_planners_design_reaches_its_goal_when_it_is_run() -> None:
    view = draw_plan(new_figure(), half_width=0.06, k=4, cost_per_task=0, r=0.967)
    row = view.table.loc[view.table["trials"].idxmin()]
    tasks, trials = int(row["tasks"]), int(row["trials"])
    rng = np.random.default_rng(1)
    halves = []
    for _ in range(60):
        suite = draw_suite(rng, tasks)
        found = estimate(suite_counts(run_suite(suite, trials, rng), trials), 4)
        halves.append((found.high - found.low) / 2)
    assert np.mean(halves) == pytest.approx(0.06, rel=0.1)


def test_the_planners_dot_is_the_lowest_point_of_its_curve() -> None:
    figure = new_figure()
    draw_plan(figure, half_width=0.05, k=8, cost_per_task=40, r=0.967)
    curve, dot = figure.axes[0].lines
    cost = np.asarray(curve.get_ydata())
    assert dot.get_ydata()[0] == cost.min()
    assert dot.get_xdata()[0] == np.asarray(curve.get_xdata())[cost.argmin()]


def test_one_trial_is_not_written_as_trials() -> None:
    view = draw_plan(new_figure(), half_width=0.05, k=1, cost_per_task=0, r=0.967)
    assert "× 1 trial," in view.finding


@pytest.mark.parametrize(
    ("half_width", "k", "cost", "r"),
    [(0.01, 12, 100, 0.92), (0.15, 1, 0, 0.99), (0.01, 1, 0, 0.967), (0.05, 8, 100, 0.967)],
)
def test_the_planners_label_stays_within_its_axes(
    half_width: float, k: int, cost: int, r: float
) -> None:
    figure = new_figure()
    draw_plan(figure, half_width, k, cost, r)
    axes = figure.axes[0]
    (written,) = axes.texts
    assert axes.get_window_extent().containsx(written.get_window_extent().x0)
    assert axes.get_window_extent().containsx(written.get_window_extent().x1)
    assert axes.get_window_extent().containsy(written.get_window_extent().y0)


@pytest.mark.parametrize("tasks_in_a_bar", [(0.0, 15, 15), (0.06, 1, 15)])
def test_the_builders_axis_labels_stay_on_the_page(
    tasks_in_a_bar: tuple[float, int, int],
) -> None:
    figure = new_figure()
    draw_builder(figure, 0.99, *tasks_in_a_bar, 8)
    figure.draw_without_rendering()
    assert all(axes.yaxis.label.get_window_extent().x0 >= 0 for axes in figure.axes)


def test_the_chord_lies_above_the_curve_by_what_its_labels_say() -> None:
    figure = new_figure()
    draw_jensen(figure, [0.95, 0.25], k=8)
    assert {"mean of the two: 33.2%", "P^8 of their mean: 1.7%"} <= set(texts(figure))


def test_the_curves_are_the_truth_the_power_and_the_homogeneous_model() -> None:
    figure = new_figure()
    suite = draw_suite(np.random.default_rng(0))
    draw_curves(figure, suite, 8)
    ends = sorted(float(np.asarray(line.get_ydata())[-1]) for line in figure.axes[0].lines)
    right = [suite.homogeneous(8), suite.pass_hat_k(1) ** 8, suite.pass_hat_k(8)]
    assert ends == pytest.approx([100 * value for value in right])


def test_the_bars_of_the_noise_add_up_to_all_experiments() -> None:
    figure = new_figure()
    unbiased = np.arange(5, 25) / 120
    draw_noise(figure, {"unbiased": unbiased, "naive power": np.full(20, 0.02)}, truth=0.12)
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert sum(heights) == pytest.approx(200)  # 100% of each
    assert "truth 0.120" in texts(figure)


def test_coverage_is_drawn_in_percent_with_the_regimes_in_words() -> None:
    figure = new_figure()
    table = coverage_table(suites=20, regimes=[Regime(30, 8, 8, (58, 2))])
    draw_coverage(figure, table)
    assert "30 tasks × 8, pass^8 = 0.13" in texts(figure)
    drawn = [float(line.get_xdata()[0]) for line in figure.axes[0].lines[1:]]
    assert drawn == [100 * table[name][0] for name in ("wilson", "normal", "pooled p^k")]


def test_pairs_count_who_is_better_where() -> None:
    figure = new_figure()
    draw_pairs(figure, [0.5, 0.5, 1.0, 0.0], [0.75, 1.0, 0.5, 0.0])
    assert {"second better on 2", "worse on 1"} <= set(texts(figure))
