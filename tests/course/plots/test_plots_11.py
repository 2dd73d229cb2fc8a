"""The panel and the figures of chapter 11, as numbers and words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evalkit.course.figures import new_figure
from evalkit.course.panels import View
from evalkit.course.plots import chapter_11 as plots

DEFAULT = (0.1, 0.05, 0.4, 20)


def view(correlation: float, flake: float, silent: float, n: int) -> View:
    return plots.draw_assumptions(new_figure(), correlation, flake, silent, n)


def test_with_neither_correlation_nor_silence_all_three_agree() -> None:
    shown = view(0.0, 0.05, 0.0, 20).table.set_index("k")
    assert list(shown.loc[8, ["step model", "truth", "log"]]) == ["20.0%"] * 3


def test_the_upper_bound_holds_the_truth_where_the_silent_share_is_known() -> None:
    shown = view(0.1, 0.05, 0.4, 20).table
    assert list(shown["upper bound"]) == list(shown["truth"])
    assert list(shown["lower bound"]) == list(shown["log"])


def test_correlation_moves_the_truth_and_not_the_model() -> None:
    before, after = (view(c, 0.05, 0.4, 20).table for c in (0.1, 0.3))
    assert before["step model"].equals(after["step model"])
    assert (before["truth"] < after["truth"]).all()


@pytest.mark.parametrize(
    "moved",
    [(0.11, 0.05, 0.4, 20), (0.1, 0.06, 0.4, 20), (0.1, 0.05, 0.45, 20), (0.1, 0.05, 0.4, 21)],
)
def test_each_control_changes_finding_and_table(moved: tuple[float, float, float, int]) -> None:
    before, after = view(*DEFAULT), view(*moved)
    assert before.finding != after.finding
    assert not before.table.equals(after.table)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("flake", [0.0, 0.2])
@pytest.mark.parametrize("silent", [0.0, 0.9])
@pytest.mark.parametrize("n", [1, 60])
def test_every_corner_of_the_panel_draws(
    correlation: float, flake: float, silent: float, n: int
) -> None:
    assert len(view(correlation, flake, silent, n).table) == 4


def test_no_label_of_the_panel_covers_another() -> None:
    figure = new_figure()
    plots.draw_assumptions(figure, 0.0, 0.0, 0.0, 20)
    heights = sorted(text.get_position()[1] for text in figure.axes[0].texts)
    assert np.diff(heights).min() > 5


def test_each_length_is_drawn_with_the_step_models_line() -> None:
    simulated = pd.DataFrame({5: [85.0, 90.0], 20: [54.0, 70.0]}, index=[0.0, 0.5])
    figure = new_figure()
    plots.draw_correlation(figure, 0.97, (5, 20), simulated)
    written = [text.get_text() for text in figure.axes[0].texts]
    assert written[:4] == ["$r^{5}$", "$r^{20}$", "5 steps", "20 steps"]


def test_the_ranking_colours_who_is_first() -> None:
    lead = pd.Series([-3.0, 1.0], index=[0.0, 0.1])
    figure = new_figure()
    plots.draw_ranking(figure, lead, lead)
    for axes in figure.axes:
        _, _, careful, aggressive = axes.lines
        assert list(careful.get_ydata()) == [-3.0]
        assert list(aggressive.get_ydata()) == [1.0]


def test_the_other_figures_write_what_they_draw() -> None:
    figure = new_figure()
    plots.draw_reach(figure, {name: np.linspace(1, 0.2, 8) for name in "abc"})
    assert [text.get_text() for text in figure.axes[0].texts] == ["a", "b", "c"]
    figure = new_figure()
    plots.draw_selective(figure, pd.DataFrame({"pass^1": [1, 1.1], "pass^8": [1, 2]}, index=[1, 4]))
    assert [text.get_text() for text in figure.axes[0].texts] == ["pass^1", "pass^8", "as it is"]
