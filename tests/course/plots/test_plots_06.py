"""The panel and the figures of chapter 06, as numbers and words."""

from __future__ import annotations

import pandas as pd
import pytest

from evalkit.course.figures import new_figure
from evalkit.course.panels import View
from evalkit.course.plots import chapter_06 as plots

DEFAULT = (0.97, 0.5, 20)


def view(r: float, rho: float, n: int) -> View:
    return plots.draw_success(new_figure(), r, rho, n)


def test_the_table_keeps_the_notes_four_numbers_in_view_at_its_twenty_steps() -> None:
    for r, rho in ((0.97, 0.5), (0.91, 0.0)):
        fixed = view(r, rho, 20).table[1:]
        assert list(fixed["success on 20 steps"]) == ["81.8%", "66.8%", "54.4%", "73.9%"]


def test_the_default_is_the_notes_gain_from_recovery() -> None:
    shown = view(*DEFAULT)
    assert shown.table["success on 20 steps"][0] == "73.9%"
    assert "succeeds 73.9% of the time; without recovery, 54.4%" in shown.finding


@pytest.mark.parametrize("moved", [(0.971, 0.5, 20), (0.97, 0.55, 20), (0.97, 0.5, 21)])
def test_each_control_changes_finding_and_table(moved: tuple[float, float, int]) -> None:
    before, after = view(*DEFAULT), view(*moved)
    assert before.finding != after.finding
    assert not before.table.equals(after.table)


def test_more_steps_move_all_four_settings() -> None:
    assert list(view(0.97, 0.5, 40).table.iloc[:, 3]) == [
        "54.6%",
        "66.9%",
        "44.6%",
        "29.6%",
        "54.6%",
    ]


def test_an_agent_that_never_fails_may_have_any_number_of_steps() -> None:
    shown = view(1.0, 0.0, 100)
    assert shown.table["steps for 90%"][0] == "any number"
    assert "It may have any number of steps for 90%." in shown.finding
    assert view(0.9, 1.0, 100).table["steps for 90%"][0] == "any number"


def test_nearly_certain_is_not_printed_as_certain() -> None:
    assert view(0.999, 0.95, 1).table.iloc[0, 3] == "over 99.9%"
    assert view(1.0, 0.95, 1).table.iloc[0, 3] == "100.0%"


def test_nearly_hopeless_is_not_printed_as_hopeless() -> None:
    shown = view(0.9, 0.0, 100)
    assert shown.table.iloc[0, 3] == "under 0.1%"
    assert shown.finding.count(" under 0.1%") == 2


@pytest.mark.parametrize("r", [0.9, 1.0])
@pytest.mark.parametrize("rho", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 100])
def test_every_corner_of_the_panel_draws(r: float, rho: float, n: int) -> None:
    assert len(view(r, rho, n).table) == 5


def test_the_horizons_are_written_into_the_figure() -> None:
    figure = new_figure()
    plots.draw_horizons(figure, 0.99, 0.0)
    written = {text.get_text() for text in figure.axes[0].texts}
    assert written == {"50%: 68 steps", "80%: 22 steps", "90%: 10 steps", "99%: 1 step"}


def test_the_measured_habits_are_labelled_in_their_order() -> None:
    rows = [(habit, steps, 90.0, 1.0) for habit in ("b", "a") for steps in (4, 8)]
    measured = pd.DataFrame(rows, columns=["habit", "steps", "success", "error"])
    figure = new_figure()
    plots.draw_measured(figure, measured, 0.97, pd.Series({"a": 0.0, "b": 0.5}))
    assert [text.get_text() for text in figure.axes[0].texts][:2] == ["b", "a"]
    assert list(figure.axes[0].get_xticks()) == [0, 4, 8]


def test_no_error_bar_leaves_the_possible() -> None:
    measured = pd.DataFrame([("a", 4, 99.0, 1.0)], columns=["habit", "steps", "success", "error"])
    figure = new_figure()
    plots.draw_measured(figure, measured, 0.97, pd.Series({"a": 0.5}))
    (((low, high),),) = [bar.get_segments()[0][:, 1:].T for bar in figure.axes[0].collections]
    assert (low, high) == (97, 100)
