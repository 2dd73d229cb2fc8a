"""Panels without a kernel: every stored frame is what the panel itself would show."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pandas as pd
import pytest
from matplotlib.figure import Figure

from evalkit.course.figures import new_axes, new_figure
from evalkit.course.live import LIVE, enliven, grid, positions, svg_lines
from evalkit.course.notebooks import FOLDER
from evalkit.course.panels import Panel, View, choice, slider

FACTORIES = [factory for factories in LIVE.values() for factory in factories]


def draw(figure: Figure, rate: float, edits: int, kind: str) -> View:
    axes = new_axes(figure, x="edits", y="rate")
    axes.plot([0, edits], [0, rate])
    axes.set_title(f"{rate:.4f}")
    table = pd.DataFrame({"rate": [f"{rate:.1%}"], "kind": [kind]})
    return View(table, f"{kind}: {rate:.1%} with {edits} edits <now>")


def panel() -> Panel:
    return Panel(
        draw,
        rate=slider("Rate", 0.03, 0.0, 0.1, 0.01, ".1%"),
        edits=slider("Edits", 4, 1, 8),
        kind=choice("Kind", ["a", "b"]),
    )


def restored(data: dict[str, Any], spans: list[list[int]]) -> str:
    return "\n".join("\n".join(data["lines"][a : a + n]) for a, n in spans)


def test_every_frame_is_what_the_panel_shows_there() -> None:
    one = panel()
    data, values = grid(one, most=40), positions(one, most=40)
    figure = new_figure()
    places = itertools.product(*values.values())
    assert len(data["frames"]) > 20
    for frame, place in zip(data["frames"], places, strict=True):
        figure.clear()
        view = draw(figure, *place)
        assert frame["finding"] == view.finding
        assert restored(data, frame["picture"]) == "\n".join(svg_lines(figure))
        read = "".join(ElementTree.fromstring(restored(data, frame["table"])).itertext()).split()
        assert read == ["rate", "kind", *view.table.iloc[0]]


def test_the_order_of_frames_is_that_of_the_positions_the_last_moving_fastest() -> None:
    data = grid(panel(), most=40)
    words = [control["positions"] for control in data["controls"]]
    for frame, (rate, edits, kind) in zip(data["frames"], itertools.product(*words), strict=True):
        assert frame["finding"] == f"{kind}: {rate} with {edits} edits <now>"


def test_a_line_is_stored_once() -> None:
    data = grid(panel(), most=40)
    assert len(data["lines"]) == len(set(data["lines"]))
    whole = sum(len(restored(data, frame["picture"])) for frame in data["frames"])
    assert len(json.dumps(data)) < whole / 3


@pytest.mark.parametrize("factory", FACTORIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("most", [1, 9, 500])
def test_controls_that_move_keep_their_ends_and_their_start(
    factory: Callable[[], Panel], most: int
) -> None:
    made = factory()
    for name, values in positions(made, most).items():
        control = made.controls[name]
        assert control.value in values
        assert values == sorted(set(values))
        if len(values) > 1:
            assert (values[0], values[-1]) == pytest.approx((control.min, control.max))
    several = [len(values) for values in positions(made, most).values()]
    assert most / 3 < prod(several) <= most


@pytest.mark.parametrize("factory", FACTORIES, ids=lambda f: f.__name__)
def test_a_live_panel_starts_where_the_still_one_stands(factory: Callable[[], Panel]) -> None:
    made = factory()
    data = grid(made, most=1)
    (frame,) = data["frames"]
    assert frame["finding"] == made.view.finding
    assert {control["start"] for control in data["controls"]} == {0}


def test_a_picture_is_well_formed_and_the_same_each_time_and_keeps_its_text() -> None:
    figure = new_figure()
    draw(figure, 0.02, 3, "a")
    first = svg_lines(figure)
    drawn = ElementTree.fromstring("\n".join(first))
    assert {"edits", "0.0200"} <= {text.strip() for text in drawn.itertext()}
    assert first == svg_lines(figure)


def test_a_picture_brings_no_style_sheet_that_would_rule_the_page() -> None:
    figure = new_figure()
    draw(figure, 0.02, 3, "a")
    assert "<style" not in "\n".join(svg_lines(figure))


@pytest.mark.parametrize("name", LIVE)
def test_each_live_panel_of_a_chapter_finds_its_place_on_the_page(
    name: str, tmp_path: Path
) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    panels = [factory() for factory in LIVE[name]]
    enliven(notebook, panels, tmp_path / "_static", most=1)
    pages = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "evalkit-live" in output.get("data", {}).get("text/html", "")
    ]
    for one, page in zip(panels, pages, strict=True):
        assert html.escape(one.view.finding) in page
        (place,) = re.findall('data-grid="(.*?)"', page)
        (frame,) = json.loads((tmp_path / place).read_text())["frames"]
        assert frame["finding"] == one.view.finding


def test_a_page_without_the_panel_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no panel of draw; execute it"):
        enliven(nbformat.v4.new_notebook(), [panel()], tmp_path)
