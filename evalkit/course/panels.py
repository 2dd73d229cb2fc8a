"""Panels: controls, a picture and a table that follow them.

A panel is one pure function and thin wiring. The function draws into the figure that it is given
and returns a `View`; tests call it as it is. ::

    def draw(figure: Figure, rate: float, edits: int) -> View:
        axes = new_axes(figure, x="...", y="...")
        ...
        return View(table, finding="At 6% the ranking has flipped.")

    Panel(draw, rate=slider("Unintended writes per action", 0.06, 0, 0.1, 0.005, ".1%"),
                edits=slider("Edits", 4, 1, 8))

One figure lives as long as the panel, and picture and table are HTML: nothing here depends on
captured output, so the stored notebook compares equal run to run. Where no kernel runs, the
notebook shows the picture and the table as the controls first stood.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anywidget
import ipywidgets as widgets
import pandas as pd

from evalkit.course.figures import new_figure, picture

MAKE_LIVE = "This panel is still. Run this cell in JupyterLab to move its controls."

_STYLE = {"description_width": "240px"}
_HANDLE = "#767676"  # stands out from the paper of the light theme and of the dark one
_LAYOUT = {"width": "600px", "max_width": "100%"}


@dataclass(frozen=True)
class View:
    """What a panel shows beside its picture: a table, and the finding in a sentence.

    The table is shown without its index, its numbers as they are: round them, so that the stored
    notebook is the same on every platform.
    """

    table: pd.DataFrame
    finding: str


def slider(
    description: str,
    value: float,
    lowest: float,
    highest: float,
    step: float = 1,
    number_format: str | None = None,
) -> Any:
    """Return a slider that answers when it is let go, or to each press of an arrow key.

    Parameters
    ----------
    description : str
        What it sets, in words and with its unit.
    value, lowest, highest, step : float
        Where it stands, its range and its step. All whole: it gives whole numbers.
    number_format : str, optional
        How its value is written, such as ``".1%"``.
    """
    whole = all(isinstance(part, int) for part in (value, lowest, highest, step))
    kind = widgets.IntSlider if whole else widgets.FloatSlider
    return kind(
        value=value,
        min=lowest,
        max=highest,
        step=step,
        description=description,
        tooltip=description,  # else the label's is "null"
        readout_format=number_format or ("d" if whole else ".2f"),
        continuous_update=False,
        style={**_STYLE, "handle_color": _HANDLE},
        layout=_LAYOUT,
    )


def choice(description: str, options: Sequence[Any], value: Any = None) -> Any:
    """Return a drop-down list; the first option is chosen unless another is given.

    From the keyboard: Space opens it, a letter jumps to an option, Home and End to the first and
    last. (JupyterLab keeps the arrow keys for its cells while the list is closed.)
    """
    return widgets.Dropdown(
        options=list(options),
        value=options[0] if value is None else value,
        description=description,
        style=_STYLE,
        layout=_LAYOUT,
    )


class Accessible(anywidget.AnyWidget):
    """Gives a panel's sliders the names that stand beside them, and shows which has the focus.

    A slider of ipywidgets 8.1 shows its description, and a screen reader is not told that the two
    belong together; its focus is a thin ring; a list's arrow is black in the dark theme, too. This
    draws nothing itself: it waits for the panel's sliders and mends them.
    """

    _css = """
    .widget-vbox .noUi-handle:focus-visible {
      outline: 3px solid var(--jp-ui-font-color1);
      outline-offset: 2px;
    }
    [data-jp-theme-light="false"] .widget-vbox select {
      background-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 18 18'%3E%3Cpath d='M4 7l5 5 5-5' fill='none' stroke='white' \
    stroke-width='2'/%3E%3C/svg%3E");
    }
    """

    _esm = """
    function named(panel) {
      for (const slider of panel.querySelectorAll(".widget-slider")) {
        const name = slider.querySelector(".widget-label").textContent;
        slider.querySelector("[role=slider]").setAttribute("aria-label", name);
        const value = slider.querySelector(".widget-readout");
        value.setAttribute("role", "textbox");
        value.setAttribute("aria-label", `${name}: type a value`);
      }
    }
    function render({ el }) {
      const panel = el.closest(".widget-vbox");
      if (!panel) return requestAnimationFrame(() => render({ el }));
      new MutationObserver(() => named(panel)).observe(panel, { childList: true, subtree: true });
      named(panel);
    }
    export default { render };
    """


class Panel(widgets.VBox):
    """Controls above a picture and a table that a function makes from their values.

    Parameters
    ----------
    draw : callable
        ``draw(figure, **values) -> View``: draws into an empty figure.
    width, height : int
        Size of the picture, in pixels.
    **controls : widget
        Three to five described controls, named as ``draw`` names its arguments.
    """

    def __init__(
        self,
        draw: Callable[..., View],
        width: int = 640,
        height: int = 360,
        **controls: Any,
    ) -> None:
        for name, control in controls.items():
            if not control.description:
                raise ValueError(f"the control {name!r} has no description; say what it sets")
        self.draw = draw
        self.controls = controls
        self.figure = new_figure(width, height)
        self.picture = widgets.HTML()
        self.table = widgets.HTML()
        self.table.add_class("jp-RenderedHTMLCommon")  # JupyterLab's own style of tables
        self.redraw()
        for control in controls.values():
            control.observe(self.redraw, names="value")
        super().__init__([*controls.values(), self.picture, self.table, Accessible()])

    def redraw(self, _change: object = None) -> None:
        """Show what the function makes of the controls' present values."""
        self.figure.clear()
        values = {name: control.value for name, control in self.controls.items()}
        self.view = self.draw(self.figure, **values)
        self.picture.value = picture(self.figure, self.view.finding)
        self.table.value = (
            f'<p role="status">{html.escape(self.view.finding)}</p>'
            '<div style="display: inline-block;">'  # else JupyterLab centres the table
            f"{self.view.table.to_html(index=False, border=0)}</div>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return the live view, with the present picture and table for pages without a kernel."""
        still = f"{self.picture.value}{self.table.value}<p><em>{MAKE_LIVE}</em></p>"
        text = f"{self.view.finding}\n\n{self.view.table.to_string(index=False)}\n\n{MAKE_LIVE}"
        live = super()._repr_mimebundle_(**kwargs) or {}
        return {**live, "text/html": still, "text/plain": text}
