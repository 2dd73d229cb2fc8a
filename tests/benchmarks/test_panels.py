"""How long a panel takes to answer, in the process: ``uv run pytest -n0 -s tests/benchmarks``."""

from __future__ import annotations

import importlib
import pkgutil
from statistics import median
from time import perf_counter

import pytest

from evalkit.course import plots
from evalkit.course.figures import new_axes, new_figure, picture

PANELS = [
    (module.name, name)
    for module in pkgutil.iter_modules(plots.__path__)
    for name in vars(importlib.import_module(f"{plots.__name__}.{module.name}"))
    if name.endswith("_panel") and not name.startswith("draw_")
]


def empty_axes() -> None:
    """The peer: new axes with nothing in them, as a picture."""
    figure = new_figure()
    new_axes(figure, "x", "y")
    picture(figure, "nothing")


@pytest.mark.parametrize(("chapter", "name"), PANELS)
def test_the_cost_of_a_redraw(chapter: str, name: str) -> None:
    panel = getattr(importlib.import_module(f"evalkit.course.plots.{chapter}"), name)()
    own, peer = [], []
    for _ in range(9):
        for times, work in ((own, panel.redraw), (peer, empty_axes)):
            start = perf_counter()
            work()
            times.append(perf_counter() - start)
    ms, ratio = 1000 * median(own), median(own) / median(peer)
    print(f"{chapter} {name}: {ms:.0f} ms, {ratio:.1f} times empty axes")
