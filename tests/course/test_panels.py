"""The panel frame: a pure function, controls, and a still fallback."""

from __future__ import annotations

import ipywidgets as widgets
import pandas as pd
import pytest
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, luminance, new_axes
from evalkit.course.panels import MAKE_LIVE, Accessible, Panel, View, choice, slider


def draw(figure: Figure, r: float, n: int) -> View:
    axes = new_axes(figure, x="steps", y="success")
    axes.plot(range(n + 1), [r**i for i in range(n + 1)], color=COLOURS["careful"])
    table = pd.DataFrame({"steps": [n], "success": [f"{r**n:.1%}"]})
    return View(table, f"{n} steps succeed {r**n:.1%} of the time.")


def panel() -> Panel:
    return Panel(draw, r=slider("Reliability", 0.97, 0.9, 1.0, 0.01), n=slider("Steps", 20, 1, 50))


def test_moving_a_control_changes_picture_alt_and_table() -> None:
    live = panel()
    before = live.picture.value
    live.controls["n"].value = 10
    assert live.picture.value != before
    assert 'alt="10 steps succeed 73.7% of the time."' in live.picture.value
    assert "<td>73.7%</td>" in live.table.value
    assert '<p role="status">10 steps' in live.table.value


def test_moving_a_control_back_gives_the_same_picture() -> None:
    live = panel()
    before = live.picture.value, live.table.value
    live.controls["n"].value = 10
    live.controls["n"].value = 20
    assert (live.picture.value, live.table.value) == before


def test_a_panel_keeps_its_one_figure() -> None:
    live = panel()
    figure = live.figure
    live.controls["n"].value = 10
    assert live.figure is figure
    assert len(figure.axes) == 1


def test_a_page_without_a_kernel_shows_picture_table_and_how_to_make_it_live() -> None:
    bundle = panel()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    for part in ('<img alt="20 steps', "<td>54.4%</td>", MAKE_LIVE):
        assert part in bundle["text/html"]
    for part in ("20 steps succeed 54.4%", "54.4%", MAKE_LIVE):
        assert part in bundle["text/plain"]


def test_the_still_form_is_the_same_every_time() -> None:
    one, two = panel()._repr_mimebundle_(), panel()._repr_mimebundle_()
    assert one["text/html"] == two["text/html"]
    assert one["text/plain"] == two["text/plain"]


def test_whole_arguments_make_a_slider_of_whole_numbers() -> None:
    assert isinstance(slider("Steps", 20, 1, 50), widgets.IntSlider)
    assert isinstance(slider("Rate", 0.06, 0, 0.1, 0.005, ".1%"), widgets.FloatSlider)


def test_controls_answer_when_let_go() -> None:
    assert slider("Steps", 20, 1, 50).continuous_update is False
    assert choice("Agent", ["Careful", "Aggressive"], "Aggressive").value == "Aggressive"


def test_a_control_without_a_description_is_refused() -> None:
    with pytest.raises(ValueError, match="control 'n' has no description"):
        Panel(draw, r=slider("Reliability", 0.97, 0.9, 1.0, 0.01), n=widgets.IntSlider())


def test_every_control_has_its_own_description_and_names_its_sliders() -> None:
    live = panel()
    descriptions = [control.description for control in live.controls.values()]
    assert len(set(descriptions)) == len(descriptions)
    assert all(control.tooltip == control.description for control in live.controls.values())
    assert isinstance(live.children[-1], Accessible)
    assert list(live.children[: len(descriptions)]) == list(live.controls.values())


@pytest.mark.parametrize("paper", ["#FFFFFF", "#111111"])
def test_the_handle_of_a_slider_stands_out_in_both_themes(paper: str) -> None:
    handle = slider("Steps", 20, 1, 50).style.handle_color
    dark, light = sorted((luminance(handle), luminance(paper)))
    assert (light + 0.05) / (dark + 0.05) >= 3
