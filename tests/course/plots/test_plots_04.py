"""The panel and the table of forms of chapter 04."""

from __future__ import annotations

import pytest
from matplotlib.axes import Axes

from evalkit.course.figures import new_figure
from evalkit.course.plots import chapter_04 as plots
from evalkit.forms import declare

WIDE = ("the whole orders table", "new lines", "as stored", "as stored")
NARROW = ("its time stamp, if it is a time", "new lines", "as a number", "as a multiset")


def markers(axes: Axes, size: float) -> int:
    """How many marks of a size are drawn: 60 a ring, 80 a cross, 260 a box."""
    return sum(mark.get_sizes().tolist() == [size] for mark in axes.collections)  # type: ignore[attr-defined]


def test_the_table_names_every_form_that_can_be_declared() -> None:
    with pytest.raises(ValueError, match="known are") as told:
        declare({"f": "nonsense"})
    known = str(told.value).split("known are ")[1].replace("'keyed by FIELD'", "keyed by sku")
    assert list(plots.forms_table()["form"]) == known.split(", ")


def test_all_forms_but_the_sequence_make_their_two_values_one() -> None:
    table = plots.forms_table().set_index("form")
    assert list(table.index[~table["the same"]]) == ["sequence"]


@pytest.mark.parametrize(
    ("setting", "rings", "crosses", "boxes"), [(WIDE, 7, 5, 6), (NARROW, 3, 9, 0)]
)
def test_rings_pass_crosses_fail_and_boxes_are_wrong(
    setting: tuple[str, str, str, str], rings: int, crosses: int, boxes: int
) -> None:
    figure = new_figure()
    table = plots.draw_verdicts(figure, *setting).table
    assert list(table["passes"]).count("yes") == rings
    assert list(table["right"]).count("no") == boxes
    assert [markers(figure.axes[0], size) for size in (60, 80, 260)] == [rings, crosses, boxes]


def test_the_wider_the_pattern_the_more_damage_passes() -> None:
    harmful = []
    for orders in plots.ORDERS:
        table = plots.verdicts(plots.task(orders, *NARROW[1:]))
        harmful.append(int((table["passes"] & ~table["should pass"]).sum()))
    assert harmful == [0, 1, 2, 5]
