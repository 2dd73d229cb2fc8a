"""The panel and the figures of chapter 07."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text

from evalkit.course.figures import new_figure
from evalkit.course.plots.chapter_07 import (
    draw_days,
    draw_nines,
    draw_promises,
    draw_surface,
    promises_panel,
    spread,
)
from tests.course.plots import extent


def texts(figure: object) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]


def test_the_panel_opens_on_the_notes_example() -> None:
    view = promises_panel().view
    row = view.table.iloc[0]
    assert (row["pass^8"], row["pass@8"], row["r for 90%"]) == ("20.0%", "over 99.9%", "0.9993")
    assert view.finding == (
        "With r = 0.9900 and n = 20, pass^8 is 20.0% and pass@8 is over 99.9%. "
        "For pass^8 = 90% the agent needs r = 0.9993."
    )


@pytest.mark.parametrize(
    ("control", "value"), [("k", 7), ("r", 0.9905), ("n", 21), ("target", 0.91)]
)
def test_each_control_changes_picture_finding_and_table(control: str, value: float) -> None:
    panel = promises_panel()
    before = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    panel.controls[control].value = value
    after = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 3


def test_half_the_steps_and_twice_the_trials_leave_pass_hat_k_where_it_was() -> None:
    long = draw_promises(new_figure(), k=4, r=0.98, n=20, target=0.9).table.iloc[0]
    often = draw_promises(new_figure(), k=8, r=0.98, n=10, target=0.9).table.iloc[0]
    assert (long["pass^4"], long["r for 90%"]) == (often["pass^8"], often["r for 90%"])
    assert long["pass@4"] != often["pass@8"]


def test_the_dots_and_the_diamond_stand_where_the_table_says() -> None:
    figure = new_figure()
    draw_promises(figure, k=3, r=0.97, n=5, target=0.75)
    marked = {
        (float(x), round(float(y), 9))
        for line in figure.axes[0].lines
        if line.get_marker() in ("o", "D") and line.get_linestyle() == "None"
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }
    assert marked == {(3, round(0.97**15, 9)), (3, round(1 - (1 - 0.97**5) ** 3, 9)), (3, 0.75)}


def test_the_dashed_curve_meets_the_target_at_k() -> None:
    figure = new_figure()
    draw_promises(figure, k=6, r=0.99, n=20, target=0.8)
    (dashed,) = [line for line in figure.axes[0].lines if line.get_linestyle() == "--"]
    assert np.asarray(dashed.get_ydata())[5] == pytest.approx(0.8)


def test_what_is_nearly_certain_is_not_printed_as_certain_even_where_floats_round() -> None:
    row = draw_promises(new_figure(), k=16, r=0.9995, n=1, target=0.99).table.iloc[0]
    assert row["pass@16"] == "over 99.9%"


def test_an_agent_that_never_slips_is_certain() -> None:
    row = draw_promises(new_figure(), k=16, r=1.0, n=50, target=0.99).table.iloc[0]
    assert (row["pass^16"], row["pass@16"], row["now fails"]) == ("100.0%", "100.0%", "never")
    assert row["r for 99%"] == "0.999987"


@pytest.mark.parametrize("heights", [[0.0, 0.0, 0.0], [1.0, 1.0, 0.99], [0.5, 0.52, 0.1]])
def test_labels_keep_their_distance_and_their_order(heights: list[float]) -> None:
    placed = spread(heights)
    assert np.diff(sorted(placed)).min() > 0.0749
    assert np.argsort(placed, kind="stable").tolist() == np.argsort(heights, kind="stable").tolist()
    assert max(placed) <= 1.03


def test_labels_move_up_while_there_is_room() -> None:
    assert spread([0.0, 0.0, 0.0]) == pytest.approx([0.0, 0.075, 0.15])


def test_full_days_and_no_others_are_shaded() -> None:
    days = np.ones((4, 3), dtype=bool)
    days[1, 2] = days[3, 0] = False
    figure = new_figure()
    draw_days(figure, days)
    assert [extent(patch).x0 + 0.5 for patch in figure.axes[0].patches] == [1, 3]
    *_, failures = figure.axes[0].collections
    assert failures.get_offsets().tolist() == [[2, 3], [4, 1]]


def test_the_surface_marks_one_task_and_the_same_eight_times() -> None:
    figure = new_figure(height=420)
    draw_surface(figure)
    assert {"20 × 1: 81.8%", "20 × 8: 20.0%"} <= set(texts(figure))
    dots = [line.get_xydata()[0].tolist() for line in figure.axes[0].lines]
    assert dots == [[20, 2], [160, 2]]  # two nines: r = 0.99


def test_each_line_of_the_surface_carries_its_own_level() -> None:
    figure = new_figure(height=420)
    draw_surface(figure)
    written = [text for text in figure.axes[0].texts if text.get_text().startswith("pass^k = ")]
    assert len(written) == 5
    for text in written:
        (steps, nines), level = text.get_position(), text.get_text().split()[-1]
        expected = float(level.rstrip("%")) / 100
        assert (1 - 10**-nines) ** steps == pytest.approx(expected, abs=0.02)


def test_nines_are_named_on_the_axis() -> None:
    figure = new_figure()
    draw_nines(figure, [0.9, 0.99, 0.999], [1, 10.5, 105.3], [1, 9.5, 52.7])
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == [
        "0.9",
        "0.99",
        "0.999",
    ]
