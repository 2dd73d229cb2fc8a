"""The panel of chapter 00: the same agent, asked again."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, label, new_axes, percent
from evalkit.course.panels import Panel, View, slider


def asked_again(figure: Figure, success: float, times: int) -> View:
    """Draw how often one agent succeeds every time, and at least once, when asked again.

    Parameters
    ----------
    figure : Figure
        Empty.
    success : float
        Its chance of success each time, in [0, 1].
    times : int
        How often it is asked.
    """
    k = np.arange(1, 17)
    axes = new_axes(figure, x="times asked", y="probability")
    for name, curve, height, text in (
        ("pass_at", 1 - (1 - success) ** k, 0.04, "at least once"),
        ("pass_hat", success**k, -0.05, "every time"),
    ):
        axes.plot(k, curve, color=COLOURS[name], marker="o", markersize=4)
        label(axes, 16, float(curve[-1]) + height, text, COLOURS[name], ha="right")
    axes.axvline(times, color=COLOURS["neutral"], linewidth=1)
    axes.set_ylim(-0.12, 1.12)
    always, ever = success**times, 1 - (1 - success) ** times
    # Nearly certain is not certain: 1 - 0.05**16 is 1.0 to the computer and not 100% to a reader.
    at_least_once = percent(ever if success == 1 else min(ever, 1 - 1e-12))
    table = pd.DataFrame(
        {"asked": [times], "every time": [percent(always)], "at least once": [at_least_once]}
    )
    return View(
        table,
        f"Asked {'once' if times == 1 else f'{times} times'}, an agent that succeeds {success:.0%} "
        f"of the time succeeds every time with probability {percent(always)}.",
    )


def asked_again_panel() -> Panel:
    """Return the panel of `asked_again`."""
    return Panel(
        asked_again,
        success=slider("Success each time", 0.90, 0.50, 1.0, 0.01, ".0%"),
        times=slider("Times asked", 8, 1, 16),
    )
