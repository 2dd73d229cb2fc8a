"""Chapter 07: eight customers a day, the surface of pass^k, what a nine buys, and the panel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from evalkit.course.figures import COLOURS, INK, PAPER, label, new_axes, percent
from evalkit.course.panels import Panel, View, slider
from evalkit.steps import required_reliability, step_pass_at_k, step_pass_hat_k

MOST = 16  # trials that the panel shows
NINES = {1: "0.9", 2: "0.99", 3: "0.999", 4: "0.9999", 5: "0.99999"}


def draw_days(figure: Figure, days: ArrayLike) -> None:
    """Draw who was served: a column a day, a cross for each failure, full days in green.

    Parameters
    ----------
    figure : Figure
        Empty.
    days : array_like of bool, shape (days, customers)
        Whether each trial passed.
    """
    served = np.asarray(days, dtype=bool)
    axes = new_axes(figure, x="day", y="customer")
    axes.grid(visible=False)
    full = np.asarray(served.all(axis=1))
    for day in np.flatnonzero(full) + 1:
        axes.axvspan(day - 0.5, day + 0.5, color=COLOURS["pass_hat"], alpha=0.25, linewidth=0)
    for passed, marker, colour in (
        (served & full[:, None], "o", "pass_hat"),
        (served & ~full[:, None], ".", "neutral"),
        (~served, "X", "failure"),
    ):
        column, row = np.nonzero(passed)
        axes.scatter(column + 1, row + 1, marker=marker, s=30, color=COLOURS[colour])
    axes.set_xlim(0.4, len(served) + 0.6)
    axes.set_ylim(0.4, served.shape[1] + 0.6)
    axes.set_yticks(range(1, served.shape[1] + 1))


def draw_surface(figure: Figure) -> None:
    """Draw pass^k over the steps that must all go right and the per-step reliability."""
    axes = new_axes(
        figure,
        x="steps that must all go right: n × k",
        y="per-step reliability r (without recovery)",
    )
    figure.subplots_adjust(left=0.13)
    axes.grid(visible=False)
    axes.set_xscale("log")
    steps, nines = np.logspace(0, 3, 151), np.linspace(1, 4, 151)
    value = step_pass_hat_k(1 - 10 ** -nines[:, None], steps, 1)
    shades = LinearSegmentedColormap.from_list("pass_hat", [PAPER, COLOURS["pass_hat"]])
    # 1.6, not 1: so that the darkest shade is light enough to be written on.
    axes.pcolormesh(steps, nines, value, cmap=shades, vmin=0, vmax=1.6, rasterized=True)
    levels = [0.01, 0.1, 0.5, 0.9, 0.99]
    lines = axes.contour(steps, nines, value, levels=levels, colors=INK, linewidths=1)
    heights = (1.3, 1.5, 1.6, 1.6, 3.4)
    where = [(np.log(p) / np.log(1 - 10**-y), y) for p, y in zip(levels, heights, strict=True)]
    axes.clabel(lines, fmt=lambda p: f"pass^k = {p:.0%}", fontsize=9, manual=where)
    axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    axes.set_yticks(list(NINES)[:4], list(NINES.values())[:4])
    arrow = {"arrowstyle": "->", "color": COLOURS["truth"], "linewidth": 1.5, "shrinkB": 6}
    axes.annotate("", xy=(160, 2), xytext=(20, 2), arrowprops=arrow)
    # The labels stand between the lines; the second has room only below them all.
    for k, x, y, side in ((1, 17.5, 2.12, "left"), (8, 960, 1.42, "right")):
        axes.plot([20 * k], [2], "o", color=COLOURS["truth"], markersize=7)
        text = f"20 × {k}: {step_pass_hat_k(0.99, 20, k):.1%}"
        written = label(axes, x, y, text, ha=side, weight="bold")
        written.set_path_effects([withStroke(linewidth=3, foreground=PAPER)])
    axes.annotate("", xy=(160, 2), xytext=(500, 1.48), arrowprops={"arrowstyle": "-", "shrinkB": 5})


def draw_nines(figure: Figure, nines: ArrayLike, alone: ArrayLike, limited: ArrayLike) -> None:
    """Draw the length that 90% of episodes survive, against the nines of the agent.

    Parameters
    ----------
    figure : Figure
        Empty.
    nines : array_like
        Per-step reliabilities 0.9, 0.99, ...
    alone, limited : array_like
        The length in steps if only the agent fails, and if something else does too.
    """
    axes = new_axes(figure, x="per-step reliability r of the agent", y="steps that 90% survive")
    figure.subplots_adjust(left=0.14, right=0.74)
    place = -np.log10(1 - np.asarray(nines, dtype=float))
    for length, colour, text in (
        (alone, "pass_hat", "only the agent fails"),
        (limited, "infra", "one step in 1,000\nfails anyway"),
    ):
        axes.plot(place, length, "o-", color=COLOURS[colour])
        label(axes, place[-1] + 0.12, float(np.asarray(length)[-1]), text, COLOURS[colour])
    axes.set_yscale("log")
    axes.set_yticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1,000", "10,000"])
    axes.set_xticks(place, [NINES[round(float(p))] for p in place])


def reliability(r: float) -> str:
    """Return a per-step reliability to four places, or to as many as tell it from 1.

    Examples
    --------
    >>> reliability(0.99934172), reliability(0.999987437), reliability(1.0)
    ('0.9993', '0.999987', '1.0000')
    """
    return f"{r:.6f}" if 0.99995 <= r < 1 else f"{r:.4f}"


def slips(r: float) -> str:
    """Return how rarely a step fails, in words.

    Examples
    --------
    >>> slips(0.99), slips(1.0)
    ('1 step in 100', 'never')
    """
    return f"1 step in {1 / (1 - r):,.0f}" if r < 1 else "never"


def draw_promises(figure: Figure, k: int, r: float, n: int, target: float) -> View:
    """Draw pass^k and pass@k of the step model against k, and the curve that meets a target.

    Parameters
    ----------
    figure : Figure
        Empty.
    k : int
        Trials.
    r : float
        Per-step reliability.
    n : int
        Steps of the task.
    target : float
        The pass^k that is wanted.
    """
    ks = np.arange(1, MOST + 1)
    needed = float(required_reliability(target, n, k))
    every, once = float(step_pass_hat_k(r, n, k)), float(step_pass_at_k(r, n, k))
    if r < 1:  # then nothing is certain, also where the nearest float is 1
        once = min(once, 1 - 1e-9)
    axes = new_axes(figure, x="trials k", y="probability")
    figure.subplots_adjust(right=0.75)
    curves = [
        (step_pass_hat_k(r, n, ks), "pass_hat", "o-", "pass^k: every time"),
        (step_pass_at_k(r, n, ks), "pass_at", "o-", "pass@k: at least once"),
        (step_pass_hat_k(needed, n, ks), "note", "--", f"pass^k, r = {reliability(needed)}"),
    ]
    heights = spread([float(curve[-1]) for curve, *_ in curves])
    for (curve, colour, line, text), height in zip(curves, heights, strict=True):
        axes.plot(ks, curve, line, color=COLOURS[colour], markersize=4)
        label(axes, MOST + 0.5, height, text, COLOURS[colour], fontsize=9)
    axes.axvline(k, color=COLOURS["neutral"], linewidth=1)
    axes.plot([k, k], [every, once], "o", color=COLOURS["truth"], markersize=7)
    axes.plot([k], [target], "D", color=COLOURS["note"], markersize=8)
    axes.set_ylim(-0.05, 1.08)
    axes.set_xticks([1, *range(2, MOST + 1, 2)])
    table = pd.DataFrame(
        {
            "k": [k],
            f"pass^{k}": [percent(every)],
            f"pass@{k}": [percent(once)],
            "now fails": [slips(r)],
            f"r for {target:.0%}": [reliability(needed)],
            "may fail": [slips(needed)],
        }
    )
    return View(
        table,
        f"With r = {r:.4f} and n = {n}, pass^{k} is {percent(every)} and pass@{k} is "
        f"{percent(once)}. For pass^{k} = {target:.0%} the agent needs r = {reliability(needed)}.",
    )


def spread(heights: list[float], gap: float = 0.075, top: float = 1.03) -> list[float]:
    """Return heights for labels, moved just enough that none covers another.

    Examples
    --------
    >>> [round(height, 3) for height in spread([0.2, 1.0, 0.21])]
    [0.2, 1.0, 0.275]
    >>> [round(height, 3) for height in spread([1.0, 1.0, 1.0])]
    [0.88, 0.955, 1.03]
    """
    placed = list(heights)
    order = sorted(range(len(heights)), key=heights.__getitem__)
    for below, above in pairwise(order):
        placed[above] = max(placed[above], placed[below] + gap)
    placed[order[-1]] = min(placed[order[-1]], top)
    for below, above in reversed(list(pairwise(order))):
        placed[below] = min(placed[below], placed[above] - gap)
    return placed


def promises_panel() -> Panel:
    """Return the panel of `draw_promises`."""
    return Panel(
        draw_promises,
        k=slider("Trials k", 8, 1, MOST),
        r=slider("Per-step reliability r", 0.99, 0.95, 1.0, 0.0005, ".4f"),
        n=slider("Steps n of the task", 20, 1, 50),
        target=slider("Wanted pass^k", 0.90, 0.50, 0.99, 0.01, ".0%"),
    )
