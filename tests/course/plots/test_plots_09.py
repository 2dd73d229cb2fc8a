"""The panel and the figures of chapter 09."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from evalkit.course.figures import new_figure
from evalkit.course.panels import View
from evalkit.course.plots import chapter_09 as plots
from evalkit.infra import AGENT_FAILURE, INFRA_FAILURE, SUCCESS
from evalkit.simulate.flakes import flake_table
from tests.course.plots import extent


def view(flake: float = 0.05, retries: int = 0, detected: float = 1.0) -> View:
    return plots.draw_flaky(new_figure(), flake, retries, detected)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def test_the_panel_opens_on_the_notes_factor() -> None:
    shown = plots.flaky_panel().view
    assert list(shown.table["measured / true"]) == ["0.95", "0.66"]
    assert shown.finding == (
        "With a flake rate of 5.0%, no retry and 100% of infra failures detected, "
        "pass^1 keeps 0.95 of its true value and pass^8 keeps 0.66."
    )


def test_the_first_control_changes_picture_finding_and_table() -> None:
    panel = plots.flaky_panel()
    before = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    next(iter(panel.controls.values())).value = 0.1
    after = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 3


def test_retries_give_back_what_is_detected_and_no_more() -> None:
    assert list(view(retries=3).table["measured / true"]) == ["over 0.99", "over 0.99"]
    assert list(view(retries=3).table["measured"]) == list(view().table["true"])
    some, more = view(retries=3, detected=0.5), view(retries=5, detected=0.5)
    assert list(some.table["measured / true"]) == list(more.table["measured / true"])
    assert some.table["measured / true"][1] == "0.81"


def test_what_is_never_detected_is_never_run_again() -> None:
    shown = view(retries=3, detected=0.0).table
    assert list(shown["measured"]) == list(view(retries=0).table["measured"])


def test_without_flakes_nothing_is_lost() -> None:
    assert list(view(flake=0.0).table["measured / true"]) == ["1.00", "1.00"]


def test_the_dots_stand_where_the_table_says() -> None:
    figure = new_figure()
    shown = plots.draw_flaky(figure, 0.1, 1, 0.8).table
    dots = [line.get_xydata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert [x for x, _ in dots] == pytest.approx([10, 10])
    assert [f"{y:.2f}" for _, y in dots] == list(shown["measured / true"])


@pytest.mark.parametrize(
    ("retries", "words"), [(0, "no retry"), (1, "one retry"), (4, "up to 4 retries")]
)
def test_the_finding_says_what_is_retried(retries: int, words: str) -> None:
    assert words in view(retries=retries).finding


@pytest.mark.parametrize("flake", [0.0, 0.2])
@pytest.mark.parametrize("retries", [0, 5])
@pytest.mark.parametrize("detected", [0.0, 1.0])
def test_every_corner_of_the_panel_draws(flake: float, retries: int, detected: float) -> None:
    assert len(view(flake, retries, detected).table) == 2


def test_tasks_that_passed_every_time_and_no_others_are_shaded() -> None:
    tags = pd.DataFrame(
        [[SUCCESS, SUCCESS], [SUCCESS, INFRA_FAILURE], [SUCCESS, SUCCESS], [AGENT_FAILURE, SUCCESS]]
    )
    figure = new_figure()
    plots.draw_trials(figure, tags)
    assert [extent(patch).x0 + 0.5 for patch in figure.axes[0].patches] == [1, 3]
    assert {SUCCESS, AGENT_FAILURE, INFRA_FAILURE} <= set(texts(figure))


def test_a_tag_that_did_not_occur_has_no_mark_to_explain() -> None:
    figure = new_figure()
    plots.draw_trials(figure, pd.DataFrame([[SUCCESS, INFRA_FAILURE]]))
    assert AGENT_FAILURE not in texts(figure)


def test_both_plots_of_the_suites_show_the_three_ways_of_the_table() -> None:
    table = flake_table(np.random.default_rng(1), [0.0, 0.05], suites=20)
    figure = new_figure()
    plots.draw_flakes(figure, table)
    for axes, k in zip(figure.axes, (1, 8), strict=True):
        for line, way in zip(axes.lines, plots.WAYS, strict=True):
            expected = table.loc[table["retried"] == way, f"pass^{k}"]
            assert list(line.get_ydata()) == list(expected)


def test_the_two_wrong_tags_start_at_the_truth_and_part() -> None:
    figure = new_figure()
    plots.draw_mistagged(figure)
    mistaken, missed, truth = (np.asarray(line.get_ydata()) for line in figure.axes[0].lines)
    assert mistaken[0] == missed[0] == pytest.approx(truth[0], rel=1e-3)
    assert mistaken[-1] == pytest.approx(0.9036, abs=1e-4)
    assert missed[-1] == pytest.approx(0.0382, abs=1e-4)


def test_the_bars_of_the_wordings_say_how_many_trials_stand_behind_them() -> None:
    table = pd.DataFrame(
        {"trials": [3, 40], "passed": [0.0, 0.9], "formula": [0.1, 0.95]}, index=[0, 4]
    )
    figure = new_figure()
    plots.draw_wordings(figure, table)
    assert {"3 trials", "40 trials"} <= set(texts(figure))
    assert [bar.get_height() for bar in figure.axes[0].patches] == [0.0, 0.9]


def test_the_solid_lines_run_through_the_dots_and_the_dashed_ones_below() -> None:
    figure = new_figure()
    plots.draw_flaky(figure, 0.1, 2, 0.9)
    lines = figure.axes[0].lines
    for dashed, solid, dot in zip(lines[0::3], lines[1::3], lines[2::3], strict=True):
        x, y = dot.get_xydata()[0]
        assert np.interp(x, solid.get_xdata(), solid.get_ydata()) == pytest.approx(y)
        assert np.interp(x, dashed.get_xdata(), dashed.get_ydata()) < y
