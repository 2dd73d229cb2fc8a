"""Chapter 11: how far the closed forms are off, and where the ranking and the retry break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, label, new_axes, percent
from evalkit.course.panels import Panel, View, slider
from evalkit.infra import measured_pass_hat_k, silent_bounds
from evalkit.simulate.clusters import clustered_power
from evalkit.steps import episode_success, step_pass_hat_k

K = np.arange(1, 9)
RELIABILITY = 0.99  # of the panel's agent
RETRIES = 3  # that the panel's harness allows


def draw_correlation(
    figure: Figure, r: float, lengths: Sequence[int], simulated: pd.DataFrame
) -> None:
    """Success against the correlation of steps, beside what the step model says.

    Parameters
    ----------
    figure : Figure
        Empty.
    r : float
        Per-step reliability.
    lengths : sequence of int
        Steps of each curve.
    simulated : DataFrame
        One row a correlation, one column a length, in percent.
    """
    axes = new_axes(figure, x="correlation of two steps", y="episodes that succeed (%)")
    figure.subplots_adjust(right=0.84)
    axes.set_xlim(0, 0.5)
    axes.set_ylim(0, 104)
    c = np.linspace(0, 0.5, 101)
    for n in lengths:
        model = 100 * episode_success(r, n)
        axes.axhline(model, color=COLOURS["note"], linestyle="--", linewidth=1.2)
        truth = 100 * clustered_power(r, n, c)
        axes.plot(c, truth, color=COLOURS["truth"], linewidth=2)
        shown = simulated[n]
        axes.plot(shown.index, shown, "o", color=COLOURS["neutral"], clip_on=False)
        label(axes, 0.1, model - 4, f"$r^{{{n}}}$", COLOURS["note"])
    ends = [100 * clustered_power(r, n, 0.5) for n in lengths]
    for n, height in zip(lengths, _apart(ends, gap=5), strict=True):
        label(axes, 0.51, height, f"{n} steps")
    label(axes, 0.01, 5, "dashed: the step model; markers: simulated episodes", fontsize=9)


def draw_reach(figure: Figure, curves: Mapping[str, np.ndarray]) -> None:
    """pass^k for k = 1..8 under several laws, each labelled at its end.

    Parameters
    ----------
    figure : Figure
        Empty.
    curves : mapping from label to ndarray, shape (8,)
        Shares. The first is the step model's, drawn dashed.
    """
    axes = _over_k(figure)
    colours = (COLOURS["note"], COLOURS["pass_hat"], COLOURS["truth"])
    for (name, values), colour, style in zip(
        curves.items(), colours, ("--", "-", ":"), strict=True
    ):
        axes.plot(K, 100 * values, style, marker="o", color=colour, linewidth=2, clip_on=False)
        label(axes, 8.15, 100 * float(values[-1]), name, colour, fontsize=9)


def _over_k(figure: Figure) -> Axes:
    axes = new_axes(figure, x="trials k that must all succeed", y="pass^k (%)")
    figure.subplots_adjust(right=0.72)
    axes.set_xlim(0.8, 8)
    axes.set_ylim(0, 104)
    axes.set_xticks(K)
    return axes


def draw_ranking(figure: Figure, bunched: pd.Series, unseen: pd.Series) -> None:
    """Aggressive's lead under the full diff, if its strays come together or go unseen.

    Parameters
    ----------
    figure : Figure
        Empty.
    bunched, unseen : Series
        The lead in points, indexed by the correlation and by the share unseen.
    """
    names = ("correlation of two strays", "share of strays that go unseen")
    for place, (name, lead) in enumerate(zip(names, (bunched, unseen), strict=True), 1):
        axes = new_axes(figure, x=name, y="Aggressive's lead (points)", position=(1, 2, place))
        axes.axhline(0, color=COLOURS["neutral"], linewidth=1)
        ahead = lead > 0
        axes.plot(lead.index, lead, color=COLOURS["truth"], linewidth=1.2)
        for which, colour in ((~ahead, COLOURS["careful"]), (ahead, COLOURS["aggressive"])):
            axes.plot(lead.index[which], lead[which], "o", color=colour)
        label(axes, 0.04, 0.95, "Aggressive first", COLOURS["aggressive"], transform=axes.transAxes)
        label(axes, 0.5, 0.06, "Careful first", COLOURS["careful"], transform=axes.transAxes)


def draw_selective(figure: Figure, table: pd.DataFrame) -> None:
    """What the honest retry measures where flakes prefer the attempts that fail.

    Parameters
    ----------
    figure : Figure
        Empty.
    table : DataFrame
        Index: how many times as often a failing attempt is struck. Columns ``pass^1``, ``pass^8``:
        measured over true.
    """
    axes = new_axes(
        figure, x="a failing attempt is struck so many times as often", y="measured / true"
    )
    figure.subplots_adjust(right=0.86)
    axes.axhline(1, color=COLOURS["neutral"], linewidth=1)
    axes.set_ylim(0.5, 1.05 * float(table.to_numpy().max()))
    for name, marker in (("pass^1", "s"), ("pass^8", "o")):
        axes.plot(table.index, table[name], color=COLOURS["pass_hat"], marker=marker, linewidth=2)
        label(axes, table.index[-1] * 1.03, float(table[name].iloc[-1]), name, COLOURS["pass_hat"])
    label(axes, table.index[-1], 0.88, "as it is", COLOURS["neutral"], ha="right")


def draw_assumptions(
    figure: Figure, correlation: float, flake: float, silent: float, n: int
) -> View:
    """The step model, the truth, and what a log shows, for an agent whose steps share their luck.

    Parameters
    ----------
    figure : Figure
        Empty.
    correlation : float
        Of two steps of one episode.
    flake, silent : float
        Flake rate, and the share of infra failures that nobody sees.
    n : int
        Steps.
    """
    success = clustered_power(RELIABILITY, n, correlation)
    model, truth = step_pass_hat_k(RELIABILITY, n, K), success**K
    log = np.array([measured_pass_hat_k(success, flake, int(k), RETRIES, silent) for k in K])
    axes = _over_k(figure)
    axes.plot(K, 100 * model, "--", color=COLOURS["note"], linewidth=1.5)
    axes.plot(K, 100 * truth, color=COLOURS["pass_hat"], linewidth=2.5)
    axes.plot(K, 100 * log, marker="o", color=COLOURS["infra"], linewidth=1.5, clip_on=False)
    ends = {"the step model": model[-1], "the truth": truth[-1], "the log": log[-1]}
    heights = _apart([100 * float(end) for end in ends.values()])
    for name, height, colour in zip(ends, heights, ("note", "pass_hat", "infra"), strict=True):
        label(
            axes, 8.2, height, f"{name}: {percent(float(ends[name]))}", COLOURS[colour], fontsize=9
        )
    seen = flake * (1 - silent)
    rows = [
        (int(k), *map(percent, (model[k - 1], truth[k - 1], log[k - 1], *bounds)))
        for k in (1, 2, 4, 8)
        for bounds in [silent_bounds(float(log[k - 1]), seen, 1 - silent, int(k))]
    ]
    columns = ["k", "step model", "truth", "log", "lower bound", "upper bound"]
    return View(pd.DataFrame(rows, columns=columns), finding(model[-1], truth[-1], log[-1]))


def _apart(heights: Sequence[float], gap: float = 6.0) -> list[float]:
    """The heights of labels, moved up as far as needed for none to cover another."""
    moved, lowest = list(heights), -np.inf
    for i in np.argsort(heights, kind="stable"):
        moved[i] = lowest = max(float(heights[i]), lowest + gap)
    return moved


def finding(model: float, truth: float, log: float) -> str:
    """What the panel shows, in sentences.

    Examples
    --------
    >>> finding(0.2, 0.37, 0.25)
    'True pass^8 is 37.0%. The step model says 20.0%, the log 25.0%.'
    """
    return (
        f"True pass^8 is {percent(truth)}. The step model says {percent(model)}, the log "
        f"{percent(log)}."
    )


def assumptions_panel() -> Panel:
    """The panel of the chapter: correlation and silence."""
    return Panel(
        draw_assumptions,
        correlation=slider("Correlation of two steps", 0.1, 0.0, 0.5, 0.01),
        flake=slider("Flake rate f", 0.05, 0.0, 0.2, 0.01, ".0%"),
        silent=slider("Infra failures that are silent", 0.4, 0.0, 0.9, 0.05, ".0%"),
        n=slider("Steps n", 20, 1, 60),
    )
