"""Panels for pages without a kernel: what a panel shows at each of a grid of control positions.

Python draws every position once, with the function that draws the panel in Jupyter, and the
book's ``live.js`` only puts the stored picture, table and sentence in place. So no formula and no
drawing is written twice, and the page needs nothing but itself.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from evalkit.course.figures import new_figure
from evalkit.course.panels import MAKE_LIVE, Panel
from evalkit.course.plots import chapter_01, chapter_07, chapter_08, chapter_09

#: The panels that are alive in the book, by chapter, in the order of its page.
LIVE: dict[str, tuple[Callable[[], Panel], ...]] = {
    "01_four_scoreboards": (chapter_01.flip_panel,),
    "07_every_time": (chapter_07.promises_panel,),
    "08_real_tasks_differ": (chapter_08.builder_panel, chapter_08.plan_panel),
    "09_flaky_environments": (chapter_09.flaky_panel,),
}
MOST = 500  # positions of a grid: about a megabyte, and half a minute to draw

# Text stays text, and the same picture is the same file on every run.
_SVG: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "evalkit",
    "path.simplify_threshold": 0.5,
}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def grid(panel: Panel, most: int = MOST) -> dict[str, Any]:
    """Return what a panel shows at each of at most `most` control positions, as JSON data.

    Parameters
    ----------
    panel : Panel
        As it stands at the start.
    most : int
        The most positions, all controls together.

    Returns
    -------
    dict
        ``controls``, each with its description, its positions in words and where it starts;
        ``lines``, each line of SVG or HTML once; and ``frames``, one for each combination of
        positions, the last control moving fastest: its ``finding``, and the lines of its
        ``picture`` and of its ``table``, as pairs of a first line and how many follow from it.

    """
    values = positions(panel, most)
    number: dict[str, int] = {}
    figure = new_figure(*(round(100 * inches) for inches in panel.figure.get_size_inches()))
    frames = []
    for place in product(*values.values()):
        figure.clear()
        view = panel.draw(figure, **dict(zip(values, place, strict=True)))
        table = view.table.to_html(index=False, border=0).splitlines()
        frames.append(
            {
                "picture": _spans(number, svg_lines(figure)),
                "table": _spans(number, map(str.strip, table)),
                "finding": view.finding,
            }
        )
    controls = [
        {
            "description": control.description,
            "positions": [in_words(control, value) for value in values[name]],
            "start": values[name].index(control.value),
        }
        for name, control in panel.controls.items()
    ]
    return {"controls": controls, "lines": list(number), "frames": frames}


def _spans(number: dict[str, int], lines: Iterable[str]) -> list[list[int]]:
    """The numbers of lines, runs of them together; a line that has none gets the next."""
    spans: list[list[int]] = []
    for line in lines:
        place = number.setdefault(line, len(number))
        if spans and sum(spans[-1]) == place:
            spans[-1][1] += 1
        else:
            spans.append([place, 1])
    return spans


def enliven(notebook: Any, panels: Iterable[Panel], folder: Path, most: int = MOST) -> None:
    """Give each panel of a notebook a grid, in the folder ``panels``, that ``live.js`` finds.

    Parameters
    ----------
    notebook : NotebookNode
        Its outputs are changed in place: each panel that stands still now names its grid.
    panels : iterable of Panel
        In the order of the page; the first as many panels of the page as there are.
    folder : path
        The root of the site's own files.
    most : int
        The most positions of a grid.

    Raises
    ------
    ValueError
        If the page has fewer panels than were given.
    """
    shown = (
        output["data"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if MAKE_LIVE in "".join(output.get("data", {}).get("text/html", ""))
    )
    for panel in panels:
        if (data := next(shown, None)) is None:
            raise ValueError(f"the notebook shows no panel of {panel.draw.__name__}; execute it")
        file = folder / "panels" / f"{panel.draw.__name__}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(grid(panel, most), separators=(",", ":")))
        place = file.relative_to(folder.parent).as_posix()
        still = "".join(data["text/html"])
        data["text/html"] = f'<div class="evalkit-live" data-grid="{place}">{still}</div>'


def positions(panel: Panel, most: int) -> dict[str, list[Any]]:
    """Return the values at which each control of a panel may stand, by its name.

    Parameters
    ----------
    panel : Panel
        Its controls are sliders and lists.
    most : int
        The most combinations. A control has its first, its last and its start, or stands still.

    Examples
    --------
    >>> from evalkit.course.plots.chapter_09 import flaky_panel
    >>> positions(flaky_panel(), most=30)
    {'flake': [0.0, 0.05, 0.2], 'retries': [0, 2, 5], 'detected': [0.0, 0.5, 1.0]}
    """
    every = {name: list(_every_value(control)) for name, control in panel.controls.items()}
    count = dict.fromkeys(every, 1)
    while growing := [name for name in every if count[name] < len(every[name])]:
        name = min(growing, key=count.__getitem__)
        more = max(min(3, len(every[name])), count[name] + 1)
        if prod(count.values()) // count[name] * more > most:
            break
        count[name] = more
    return {
        name: _thinned(values, count[name], panel.controls[name].value)
        for name, values in every.items()
    }


def _every_value(control: Any) -> Iterator[Any]:
    """Each value that a list or a slider can take."""
    if hasattr(control, "options"):
        yield from control.options
        return
    steps = round((control.max - control.min) / control.step)
    for step in range(steps + 1):
        value = control.min + step * control.step
        yield control.value if abs(value - control.value) < control.step / 1e6 else value


def _thinned(values: list[Any], count: int, start: Any) -> list[Any]:
    """`count` of the values, spread from first to last; the inner one nearest the start is it."""
    if count == 1:
        return [start]
    last, first = len(values) - 1, values.index(start)
    kept = [round(i * last / (count - 1)) for i in range(count)]
    if first not in kept:
        kept[min(range(1, count - 1), key=lambda i: abs(kept[i] - first))] = first
    return [values[i] for i in kept]


def in_words(control: Any, value: Any) -> str:
    """Return a control's value as Jupyter shows it."""
    return format(value, getattr(control, "readout_format", ""))


def svg_lines(figure: Figure) -> list[str]:
    """Return a figure as SVG, line by line, its text as text and its places rounded."""
    buffer = io.StringIO()
    with mpl.rc_context(_SVG):
        figure.savefig(buffer, format="svg", metadata=_NO_METADATA)
    drawn = buffer.getvalue()
    # Its style sheet would rule the whole page: live.css says the same of these pictures only.
    drawn = re.sub(r"<style.*?</style>", "", drawn[drawn.index("<svg") :], flags=re.DOTALL)
    drawn = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d)\d+", r"\1", tag[0]), drawn)
    return [line for line in map(str.strip, drawn.splitlines()) if line]
