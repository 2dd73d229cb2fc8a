"""The panel, the figures and the published table of chapter 03."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from evalkit.course.figures import new_figure
from evalkit.course.panels import Panel, View, choice, slider
from evalkit.course.plots import chapter_03 as plots
from evalkit.credit import averages

TASKS = Path(__file__).parents[3].parent / "shared/data/budget/tac_pertask_6submissions.csv"
AVERAGES = ["micro", "macro", "half and half", "complete"]


def view(
    third: float = 1.0, last: float = 1.0, pair: str = "one by one", penalty: float = 1.0
) -> View:
    return plots.draw_weights(new_figure(), third, last, pair, penalty)


def credits(shown: View) -> dict[str, str]:
    return dict(zip(shown.table["agent"], shown.table["credit"], strict=True))


def texts(figure: object) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]


def test_the_panel_opens_on_credit_that_pays_for_half_done_pairs() -> None:
    shown = view()
    assert credits(shown) == {"Hurried": "85.0%", "Orderly": "81.5%"}
    assert shown.finding.startswith("Credit ranks Hurried first, by 3.5 points")
    assert list(shown.table["half-done pair"]) == ["25.5%", "0.0%"]


def test_counting_the_pair_only_together_turns_the_ranking_round() -> None:
    shown = view(pair="only together")
    assert credits(shown) == {"Hurried": "72.2%", "Orderly": "81.5%"}
    assert shown.finding.startswith("Credit ranks Orderly first, by 9.3 points")


def test_weights_alone_turn_it_round_in_either_direction() -> None:
    assert "Credit ranks Orderly first" in view(last=0.0).finding
    assert "Credit ranks Hurried first" in view(last=4.0, pair="only together").finding


def test_targets_only_knows_no_weights() -> None:
    shown = [view(), view(4.0, 0.0, "only together", 3.0)]
    assert [list(v.table["targets only"]) for v in shown] == [["52.2%", "50.5%"]] * 2


def test_a_penalty_costs_only_whom_a_half_done_pair_happens_to() -> None:
    free, dear = (view(pair="only together", penalty=p) for p in (0.0, 3.0))
    assert credits(free)["Orderly"] == credits(dear)["Orderly"]
    assert credits(free)["Hurried"] > credits(dear)["Hurried"]


def test_mean_credit_is_what_the_formulas_say() -> None:
    weights = dict(zip(plots.PARTS, (1.0, 1.0, 2.5, 0.5), strict=True))
    e = plots.EACH_PART
    together = (1.5 * e + 3.5 * e**2 - 2 * e * (1 - e) * 1.5) / 5
    assert plots.mean_credit(plots.HURRIED, weights, 1.5) == pytest.approx(together)
    assert plots.mean_credit(plots.HURRIED, weights, None) == pytest.approx(e)
    orderly = (plots.FIRST + 3.5 * plots.BOTH + 0.5 * plots.LAST) / 5
    assert plots.mean_credit(plots.ORDERLY, weights, None) == pytest.approx(orderly)


def test_the_ways_in_which_an_episode_ends_are_all_there() -> None:
    for chances in plots.outcomes().values():
        assert sum(chances.values()) == pytest.approx(1)


@pytest.fixture
def panel() -> Panel:
    return Panel(
        plots.draw_weights,
        third=slider("Weight of the third", 1.0, 0.0, 4.0, 0.5),
        last=slider("Weight of the last", 1.0, 0.0, 4.0, 0.5),
        pair=choice("The pair counts", ["one by one", "only together"]),
        penalty=slider("Penalty", 1.0, 0.0, 3.0, 0.5),
    )


@pytest.mark.parametrize(
    ("control", "value"),
    [("third", 1.5), ("last", 0.5), ("pair", "one by one"), ("penalty", 0.5)],
)
def test_each_control_changes_picture_finding_and_table(
    panel: Panel, control: str, value: float | str
) -> None:
    panel.controls["pair"].value = "only together"  # a penalty needs a group
    before = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    panel.controls[control].value = value
    after = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 3


def test_the_first_control_changes_all_three_as_the_panel_opens(panel: Panel) -> None:
    before = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    panel.controls["third"].value = 4.0
    after = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 3


@pytest.mark.parametrize("third", [0.0, 4.0])
@pytest.mark.parametrize("last", [0.0, 4.0])
@pytest.mark.parametrize("pair", ["one by one", "only together"])
def test_every_corner_of_the_panel_draws_within_its_axes(
    third: float, last: float, pair: str
) -> None:
    figure = new_figure()
    plots.draw_weights(figure, third, last, pair, 3.0)
    low, high = figure.axes[0].get_ylim()
    for bar in figure.axes[0].patches:
        assert low <= bar.get_height() <= high


def test_dots_and_means_of_the_long_task_stand_at_the_scores() -> None:
    rows = [("A", False, 0.25), ("A", False, 0.75), ("B", True, 1.0)]
    figure = new_figure()
    plots.draw_long(figure, pd.DataFrame(rows, columns=["agent", "passed", "credit"]))
    left, right = figure.axes
    assert [d.get_offsets()[:, 1].tolist() for d in left.collections] == [[0, 0], [100]]
    assert [d.get_offsets()[:, 1].tolist() for d in right.collections] == [[25, 75], [100]]
    assert {"50", "100"} <= set(texts(figure))


def test_both_agents_stand_on_both_curves() -> None:
    figure = new_figure()
    plots.draw_compression(figure)
    marked = {"Careful 86.0", "Careful 54.7", "Aggressive 93.0", "Aggressive 74.8"}
    assert marked <= set(texts(figure))


def test_bars_of_end_states_are_as_long_as_their_credit() -> None:
    states = pd.DataFrame({"alone": [0.75, 0.25], "together": [0.25, -0.25]}, index=["x", "y"])
    figure = new_figure()
    plots.draw_states(figure, states)
    assert [bar.get_width() for bar in figure.axes[0].patches] == [75, 25, 25, -25]


def test_the_progress_line_never_falls_and_the_other_does() -> None:
    figure = new_figure()
    plots.draw_progress(figure, ["a", "b", "c"], [0, 0.5, 0.25])
    best, now = (line.get_ydata().tolist() for line in figure.axes[0].lines)
    assert (best, now) == ([0, 50, 50], [0, 50, 25])


def test_lines_of_the_ranks_cross_where_two_swap() -> None:
    shares = pd.DataFrame({"one": [0.3, 0.2, 0.1], "two": [0.2, 0.3, 0.1]}, index=list("abc"))
    figure = new_figure()
    plots.draw_ranks(figure, shares, ["a", "b"])
    places = [line.get_ydata().tolist() for line in figure.axes[0].lines]
    assert places == [[1, 2], [2, 1], [3, 3]]
    assert [line.get_linewidth() > 2 for line in figure.axes[0].lines] == [True, True, False]


def test_the_published_table_agrees_with_itself() -> None:
    table = plots.submissions()
    scored = table["completed"] + table["not completed"]
    assert np.allclose(table["complete"], table["completed"] / scored, atol=6e-5)
    assert np.allclose(table["micro"], table["points"] / table["totals"], atol=6e-5)
    assert np.allclose(
        table["half and half"], (table["macro"] + table["complete"]) / 2, atol=1.1e-4
    )
    share = scored / (scored + table["not evaluated"])  # the publisher counts these as failed
    for ours, published in (("complete", "complete"), ("half and half", "score")):
        theirs = table[f"published {published}"]
        assert np.allclose(100 * share * table[ours], theirs, atol=0.011)


def test_two_submissions_swap_places_and_no_others() -> None:
    ranks = plots.submissions()[AVERAGES].rank()
    swapped = ranks[ranks.nunique(axis=1) > 1]
    assert [name.split(",")[0] for name in swapped.index] == ["MUSE", "TTE-MatrixAgent"]
    assert (ranks["micro"] == ranks["macro"]).all()
    assert (ranks["half and half"] == ranks["complete"]).all()


@pytest.mark.skipif(not TASKS.is_file(), reason="needs the results of single tasks in ../shared")
def test_the_published_table_is_what_the_single_tasks_give() -> None:
    table = plots.submissions().reset_index()
    table.index = pd.Index(table["date"].str.replace("-", ""))
    tasks = pd.read_csv(TASKS)
    groups = {name.split("_")[0]: rows for name, rows in tasks.groupby("submission")}
    assert groups.keys() == set(table.index)
    for date, rows in groups.items():
        kept, found = table.loc[date], averages(rows["result_points"], rows["total_points"])
        assert [kept[name] for name in AVERAGES] == [round(found[name], 4) for name in AVERAGES]
        assert kept["points"] == rows["result_points"].sum()
        assert kept["totals"] == rows["total_points"].sum()
        assert kept["not evaluated"] == found["not evaluated"]
        assert math.isclose(kept["completed"], found["complete"] * found["tasks"])
        assert kept["completed"] + kept["not completed"] == found["tasks"]
