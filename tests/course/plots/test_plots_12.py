"""The panel, the figures and the figures' numbers of chapter 12."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from evalkit import estimate
from evalkit.course.figures import new_figure
from evalkit.course.plots import chapter_12 as plots
from evalkit.course.systems import SCRIPTS


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def test_the_published_run_gives_its_published_curve() -> None:
    counts = plots.run_counts("airline", "gpt-4o")
    assert len(counts) == 50
    values = [round(estimate(counts, k).value, 3) for k in (1, 2, 3, 4)]
    assert values == [0.420, 0.273, 0.220, 0.200]


def test_a_run_keeps_its_crashes_apart() -> None:
    found = estimate(plots.run_counts("retail", "fork 0618"))
    assert (round(found.value, 3), found.coverage) == (0.530, 0.66)
    assert tuple(round(end, 2) for end in found.bracket) == (0.35, 0.69)


def test_sixty_rows_of_the_leaderboard_have_one_answer_and_fourteen_none() -> None:
    board = plots.leaderboard()
    assert board["fits"].value_counts().to_dict() == {1: 60, 0: 14}
    assert board["histogram"].notna().sum() == 60
    assert not board.duplicated(["domain", "row"]).any()


@pytest.mark.parametrize("domain", plots.TASKS)
@pytest.mark.parametrize("k", [1, 4])
def test_the_interval_of_a_row_holds_what_was_published(domain: str, k: int) -> None:
    table = plots.board(domain, k)
    known = table.dropna(subset=["SE"])
    assert table["published"].is_monotonic_decreasing
    assert (known["low"] < known["published"]).all()
    assert (known["published"] < known["high"]).all()
    rows = plots.leaderboard().query("domain == @domain").set_index("row")["histogram"]
    for row, value in known["published"].items():
        histogram = rows[str(row)]
        passed = np.arange(5) @ histogram / 4 if k == 1 else histogram[4]
        assert value == pytest.approx(passed / plots.TASKS[domain], abs=6e-4)


def test_a_tie_is_mutual_where_two_rows_are_compared_alone() -> None:
    rows = plots.board("airline", 1, "gpt-5.2")
    for other, tied in ((1, True), (7, False)):
        two = rows.iloc[[0, other]]
        one_way, back = plots.clear_of(two, 1), plots.clear_of(two, 2)
        assert bool(one_way.iloc[1]) is bool(back.iloc[0]) is not tied


def test_the_errors_of_both_rows_count_and_so_does_the_number_of_rows() -> None:
    rows = pd.DataFrame({"published": [0.5, 0.4], "SE": [0.04, 0.04]}, index=["a", "b"])
    assert plots.clear_of(rows, 1)["b"] is False  # 1.8 standard errors of the difference
    two = pd.DataFrame({"published": [0.5, 0.375], "SE": [0.04, 0.04]}, index=["a", "b"])
    assert plots.clear_of(two, 1)["b"] is True  # 2.2 of them
    four = pd.DataFrame({"published": [0.5, *[0.375] * 3], "SE": 0.04}, index=list("abcd"))
    assert plots.clear_of(four, 1)[1:].tolist() == [False] * 3


def test_a_row_without_counts_is_neither_tied_nor_apart() -> None:
    table = plots.board("banking_knowledge", 1)
    clear = plots.clear_of(table, 1)
    assert set(clear.index[clear.isna()]) == {
        table.index[0], "distyl-buttonagent (2026-03)", "glm-5-think (2026-03)"
    }  # fmt: skip


def test_the_panel_opens_on_the_airline() -> None:
    view = plots.board_panel().view
    assert view.finding == (
        "6 of 7 other rows cannot be told from claude-opus-4-5 (2026-02) in airline, pass^1."
    )
    assert view.table["tied"].tolist() == ["", "=", "=", "="]
    assert view.table["95% interval"].iloc[0] == "74 to 91"


@pytest.mark.parametrize(
    ("control", "value"), [("domain", "telecom"), ("k", 4), ("place", 3), ("users", "any")]
)
def test_each_control_changes_picture_and_finding(control: str, value: object) -> None:
    panel = plots.board_panel()
    before = panel.picture.value, panel.view.finding
    panel.controls[control].value = value
    after = panel.picture.value, panel.view.finding
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 2


def test_a_row_without_counts_is_shown_and_never_compared_with() -> None:
    places = [
        plots.draw_board(new_figure(), "banking_knowledge", 1, place).finding
        for place in (13, 14, 99)
    ]
    assert [finding.split(" from ")[1].split(" (")[0] for finding in places] == [
        "gpt-5-2", "claude-opus-4-6", "qwen3.5-397b-a17b-think"
    ]  # fmt: skip
    shown = plots.draw_board(new_figure(), "banking_knowledge", 1, 13).table
    assert "none: no counts fit" in shown["95% interval"].tolist()


def test_the_marks_of_the_board_stand_where_the_rows_are() -> None:
    figure = new_figure()
    plots.draw_board(figure, "airline", 1)
    table = plots.board("airline", 1)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(table.index)
    marks = np.concatenate(
        [line.get_xydata() for line in axes.lines if line.get_marker() != "None"]
    )
    order = marks[np.argsort(marks[:, 1])]
    np.testing.assert_allclose(order[:, 0], 100 * table["published"])


def test_the_close_pair_is_close_and_six_of_fifteen_are_clear() -> None:
    office = plots.pair_comparisons("TheAgentCompany")
    close = office[office["first"].str.startswith("MUSE")].iloc[0]
    assert (close["second only"], close["first only"]) == (16, 13)
    assert close["p"] == pytest.approx(0.711, abs=5e-4)
    assert ((office["p, adjusted"] < 0.05).sum(), len(office)) == (6, 15)
    assert (office["p, adjusted"] >= office["p"]).all()


def test_clear_pairs_are_filled() -> None:
    office = plots.pair_comparisons("TheAgentCompany")
    figure = new_figure()
    plots.draw_pairs(figure, office)
    filled, hollow = (line for line in figure.axes[0].lines if line.get_marker() == "o")
    clear = office["p, adjusted"] < 0.05
    for line, rows in ((filled, clear), (hollow, ~clear)):
        np.testing.assert_allclose(
            np.asarray(line.get_xdata()), 100 * office.loc[rows, "difference"]
        )
    assert hollow.get_markerfacecolor() == "white"


def test_the_curve_is_drawn_with_its_shortcut() -> None:
    table = pd.DataFrame({"value": [0.5, 0.4], "low": [0.4, 0.3], "high": [0.6, 0.5]}, index=[1, 2])
    figure = new_figure()
    plots.draw_curve(figure, table)
    shortcut = figure.axes[0].lines[-1]
    np.testing.assert_allclose(np.asarray(shortcut.get_ydata()), [50, 25])
    assert {"published", "(pass^1)^k"} <= set(texts(figure))


def test_every_real_episode_has_one_ending() -> None:
    table = plots.endings()
    assert table.sum().tolist() == [495, 174, 73, 65]
    figure = new_figure()
    plots.draw_endings(figure, table)
    bars = [bar for bar in figure.axes[0].patches if isinstance(bar, Rectangle)]
    np.testing.assert_allclose([bar.get_x() + bar.get_width() for bar in bars[-4:]], 100)
    np.testing.assert_allclose(
        [bar.get_width() for bar in bars[:4]], 100 * table.iloc[:, 0] / table.sum(axis=1)
    )


def test_appworlds_percentages_fit_its_tasks_but_for_three() -> None:
    table = plots.appworld_fits()
    assert (table["values"].sum(), table["fit"].sum()) == (72, 69)
    assert table.set_index(["split", "percentage"])["fit"].to_dict() == {
        ("test_normal", "tgc"): 18,
        ("test_normal", "sgc"): 18,
        ("test_challenge", "tgc"): 17,
        ("test_challenge", "sgc"): 16,
    }


def test_a_pass_in_spite_of_damage_is_boxed_and_no_other() -> None:
    grades = pd.DataFrame(
        {name: ["pass 1.00", "fail 0.00"] for name in SCRIPTS}, index=["lenient", "strict"]
    )
    figure = new_figure()
    plots.draw_systems(figure, grades)
    points = [mark for mark in figure.axes[0].collections if isinstance(mark, PathCollection)]
    boxes = [np.asarray(mark.get_offsets()) for mark in points if mark.get_sizes()[0] == 260]
    assert np.concatenate(boxes).tolist() == [[1, 0], [3, 0]]
