"""Chapter 06: success against steps, three habits measured, and how long a task may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from evalkit.course.figures import COLOURS, INK, PAPER, label, new_axes, percent
from evalkit.course.panels import Panel, View, slider
from evalkit.steps import episode_success, horizon

TARGETS = (0.5, 0.8, 0.9, 0.99)
#: Per-step reliability and recovery rate of the four settings that the panel keeps in view.
SETTINGS = ((0.99, 0.0), (0.98, 0.0), (0.97, 0.0), (0.97, 0.5))
LONGEST = 100  # steps, in the panel
MARKERS = ("o", "s", "^")


def _curves(figure: Figure, longest: int) -> Axes:
    axes = new_axes(figure, x="steps that must all go right", y="episodes that succeed (%)")
    axes.set_xlim(0, longest)
    axes.set_ylim(0, 104)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return axes


def _curve(axes: Axes, r: float, rho: float, longest: int, **style: Any) -> None:
    n = np.linspace(0, longest, 101)
    axes.plot(n, 100 * episode_success(r, n, rho), **style)


def draw_compounding(figure: Figure, simulated: pd.DataFrame) -> None:
    """The share of simulated episodes without a fault so far, beside the formula.

    Parameters
    ----------
    figure : Figure
        Empty.
    simulated : DataFrame
        One row a number of steps, one column a per-step reliability, in percent.
    """
    longest = int(simulated.index.max())
    axes = _curves(figure, longest)
    figure.subplots_adjust(right=0.86)
    for r, marker in zip(simulated.columns.tolist(), MARKERS, strict=False):
        _curve(axes, float(r), 0.0, longest, color=COLOURS["truth"], linewidth=1)
        shown = simulated[r].iloc[1::2]
        axes.plot(shown.index, shown, marker, color=COLOURS["neutral"], markersize=6, clip_on=False)
        label(axes, longest * 1.025, float(simulated[r].iloc[-1]), f"r = {r:.0%}")
    label(axes, 0.5, 6, "lines: the formula; markers: simulated episodes", fontsize=9)


def draw_measured(figure: Figure, measured: pd.DataFrame, r: float, rho: pd.Series) -> None:
    """Success on the real store by length, with two standard errors, beside the formula.

    Parameters
    ----------
    figure : Figure
        Empty.
    measured : DataFrame
        Columns ``habit``, ``steps``, and in percent ``success`` and its standard ``error``.
    r : float
        Per-step reliability.
    rho : Series
        The recovery rate of each habit.
    """
    longest = int(measured["steps"].max())
    axes = _curves(figure, longest + 1)
    figure.subplots_adjust(right=0.8)
    for (habit, rows), marker in zip(measured.groupby("habit", sort=False), MARKERS, strict=False):
        name = str(habit)
        _curve(axes, r, rho[name], longest, color=COLOURS["truth"], linewidth=1)
        bars = 2 * rows["error"]
        axes.errorbar(
            rows["steps"],
            rows["success"],
            yerr=[bars, np.minimum(bars, 100 - rows["success"])],
            fmt=marker,
            color=COLOURS["failure"],
            markersize=6,
            capsize=3,
        )
        label(axes, longest * 1.07, 100 * episode_success(r, longest, rho[name]), name)
    axes.set_xticks([0, *measured["steps"].unique()])
    label(axes, 0.4, 6, "lines: the formula; bars: two standard errors, up to 100%", fontsize=9)


def draw_horizons(figure: Figure, r: float, rho: float) -> None:
    """How many steps an agent can afford at each of four targets, read off its curve."""
    longest = int(1.3 * horizon(min(TARGETS), r, rho))
    axes = _curves(figure, longest)
    _curve(axes, r, rho, longest, color=COLOURS["truth"], linewidth=2)
    for target in TARGETS:
        steps = horizon(target, r, rho)
        corner = [100 * target, 100 * target, 0]
        axes.plot([0, steps, steps], corner, "--", color=COLOURS["neutral"], linewidth=1)
        axes.plot([steps], [100 * target], "o", color=COLOURS["truth"], clip_on=False)
        text = f"{target:.0%}: {steps:.0f} step{'s' * (steps != 1)}"
        label(axes, steps + longest * 0.015, 100 * target + 2, text, va="bottom")


def draw_success(figure: Figure, r: float, rho: float, n: int) -> View:
    """Success against steps with and without recovery, beside the four settings of the chapter.

    Parameters
    ----------
    figure : Figure
        Empty.
    r : float
        Per-step reliability.
    rho : float
        Recovery rate.
    n : int
        Steps.
    """
    axes = _curves(figure, LONGEST)
    figure.subplots_adjust(right=0.86)
    for setting in SETTINGS[:3]:
        _curve(axes, *setting, LONGEST, color=COLOURS["neutral"], linewidth=1)
        end = 100 * episode_success(setting[0], LONGEST)
        label(axes, LONGEST * 1.015, end, f"r = {setting[0]:.0%}", COLOURS["neutral"], fontsize=9)
    _curve(axes, r, 0.0, LONGEST, color=COLOURS["truth"], linewidth=1.5, linestyle=":")
    _curve(axes, r, rho, LONGEST, color=COLOURS["truth"], linewidth=2.5)
    without, success = (100 * episode_success(r, n, x) for x in (0.0, rho))
    axes.vlines(n, without, success, color=COLOURS["truth"], linewidth=1)
    axes.plot([n], [without], "o", color="white", markeredgecolor=INK, markersize=7, clip_on=False)
    axes.plot([n], [success], "o", color=COLOURS["truth"], markersize=8, clip_on=False)
    _values(axes, n, without, success)
    rows = [("yours", r, rho), *(("fixed", *setting) for setting in SETTINGS)]
    table = pd.DataFrame(
        [
            (name, f"{a:.1%}", f"{b:.0%}", percent(episode_success(a, n, b)), steps_at(0.9, a, b))
            for name, a, b in rows
        ],
        columns=["setting", "r", "rho", f"success on {n} steps", "steps for 90%"],
    )
    return View(table, finding(r, rho, n))


def _values(axes: Axes, n: int, without: float, success: float) -> None:
    """Write the two heights beside their markers, on paper of their own."""
    side, gap = ("left", 2.0) if n < 0.6 * LONGEST else ("right", -2.0)
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
    apart = success - without > 9
    high = f"{percent(success / 100)} with recovery" if success > without else ""
    low = percent(without / 100) + ("\nwithout" if high else "")
    if high:
        height = min(success + 5, 98)
        label(axes, n + gap, height, high, ha=side, fontweight="bold", bbox=paper)
    if apart or not high:
        # Below the curve and to its left, where no other curve is, if there is room for the text.
        side, gap = ("right", -1.5) if n > 0.14 * LONGEST else (side, gap)
        label(axes, n + gap, max(without - 8, 7), low, ha=side, bbox=paper)


def steps_at(target: float, r: float, rho: float) -> str:
    """The most steps at which a target is reached, in words where there is no most."""
    steps = horizon(target, r, rho)
    return f"{steps:.0f}" if np.isfinite(steps) else "any number"


def finding(r: float, rho: float, n: int) -> str:
    """What the panel shows, in a sentence.

    Examples
    --------
    >>> finding(0.97, 0.5, 20)
    'With r = 97.0% and 50% of the failed steps mended, an episode of 20 steps succeeds 73.9% of the time; without recovery, 54.4%. It may have 6 steps for 90%.'
    """
    without, success = episode_success(r, n), episode_success(r, n, rho)
    most = steps_at(0.9, r, rho)
    steps = "any number of steps" if most == "any number" else f"{most} step{'s' * (most != '1')}"
    return (
        f"With r = {r:.1%} and {rho:.0%} of the failed steps mended, an episode of {n} "
        f"step{'s' * (n != 1)} succeeds {percent(success)} of the time; without "
        f"recovery, {percent(without)}. It may have {steps} for 90%."
    )


def success_panel() -> Panel:
    """Return the panel of `draw_success`."""
    return Panel(
        draw_success,
        r=slider("Per-step reliability r", 0.97, 0.9, 1.0, 0.001, ".1%"),
        rho=slider("Recovery rate rho", 0.5, 0.0, 1.0, 0.05, ".0%"),
        n=slider("Steps n", 20, 1, 100),
    )
