"""Chapter 09: trials that flakes struck, what retries make of pass^k, wrong tags, and the panel."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, INK, label, new_axes
from evalkit.course.panels import Panel, View, slider
from evalkit.infra import AGENT_FAILURE, INFRA_FAILURE, SUCCESS, measured_pass_hat_k

SUCCESS_RATE, K = 0.70, 8  # the note's suite
MOST = 0.20  # the largest flake rate that is shown


def draw_trials(figure: Figure, tags: pd.DataFrame) -> None:
    """Draw how each trial ended: a column a task, full columns in green.

    Parameters
    ----------
    figure : Figure
        Empty.
    tags : DataFrame
        One row a task, one column a trial, each cell its tag.
    """
    axes = new_axes(figure, x="task", y="trial")
    axes.grid(visible=False)
    figure.subplots_adjust(right=0.80)
    found = tags.to_numpy()
    for full in np.flatnonzero((found == SUCCESS).all(axis=1)) + 1:
        axes.axvspan(full - 0.5, full + 0.5, color=COLOURS["pass_hat"], alpha=0.25, linewidth=0)
    for height, (tag, marker, colour) in enumerate(
        ((SUCCESS, ".", "neutral"), (AGENT_FAILURE, "X", "failure"), (INFRA_FAILURE, "^", "infra"))
    ):
        task, trial = np.nonzero(found == tag)
        if not len(task):
            continue
        axes.scatter(task + 1, trial + 1, marker=marker, s=45, color=COLOURS[colour])
        place, level = len(found) + 1.3, 2 + 2.5 * height
        axes.scatter([place], [level], marker=marker, s=45, color=COLOURS[colour], clip_on=False)
        label(axes, place + 0.6, level, tag, COLOURS[colour], fontsize=9)
    axes.set_xlim(0.4, len(found) + 0.6)
    axes.set_ylim(0.4, found.shape[1] + 0.6)
    axes.set_xticks([1, *range(5, len(found) + 1, 5)])
    axes.set_yticks(range(1, found.shape[1] + 1))


WAYS = {
    "nothing": ("failure", "nothing retried"),
    "infra failures": ("pass_hat", "infra failures\nretried"),
    "any failure": ("pass_at", "any failure\nretried"),
}


def draw_flakes(figure: Figure, table: pd.DataFrame) -> None:
    """Draw pass^1 and pass^8 against the flake rate, for each way of retrying.

    Parameters
    ----------
    figure : Figure
        Empty.
    table : DataFrame
        From `evalkit.simulate.flakes.flake_table`.
    """
    for place, k in enumerate((1, K), 1):
        y = f"measured pass^{k}" + (" (log scale)" if k == K else "")
        axes = new_axes(figure, "flake rate (%)", y, (1, 2, place))
        for retried, (colour, text) in WAYS.items():
            rows = table[table["retried"] == retried]
            axes.plot(100 * rows["flake rate"], rows[f"pass^{k}"], "o-", color=COLOURS[colour])
            if k == K:
                height = float(rows[f"pass^{k}"].iloc[-1])
                label(axes, 10.6, height, text, COLOURS[colour], fontsize=9)
        axes.set_xticks([0, 1, 2, 5, 10])
        if k == K:
            axes.set_yscale("log")
            axes.set_ylim(0.018, 1.2)
            axes.set_yticks(
                [0.02, 0.05, 0.1, 0.2, 0.5, 1], ["0.02", "0.05", "0.1", "0.2", "0.5", "1"]
            )
            axes.minorticks_off()
        else:
            axes.set_ylim(0.6, 1.02)
    figure.subplots_adjust(right=0.82, wspace=0.38)


def draw_mistagged(figure: Figure, flake: float = 0.05, retries: int = 3) -> None:
    """Draw pass^8 against the share of each kind of failure that is tagged as the other."""
    x, y = "share of these failures with the wrong tag (%)", "measured pass^8 (log scale)"
    axes = new_axes(figure, x=x, y=y)
    figure.subplots_adjust(right=0.72)
    share = np.linspace(0, 1, 41)
    truth = SUCCESS_RATE**K
    for name, colour, text in (
        ("mistaken", "pass_at", "agent failures\ntagged infra"),
        ("missed", "failure", "infra failures\ntagged agent"),
    ):
        measured = measured_pass_hat_k(SUCCESS_RATE, flake, K, retries, **{name: share})
        axes.plot(100 * share, measured, color=COLOURS[colour], linewidth=2)
        label(axes, 103, float(measured[-1]), text, COLOURS[colour], fontsize=9)
    axes.axhline(truth, color=COLOURS["truth"], linewidth=1, linestyle="--")
    label(axes, 103, truth * 1.2, "true pass^8", COLOURS["truth"], fontsize=9)
    axes.set_yscale("log")
    axes.set_ylim(0.025, 1.2)
    axes.set_yticks([0.03, 0.1, 0.3, 1], ["0.03", "0.1", "0.3", "1"])
    axes.minorticks_off()


def draw_wordings(figure: Figure, table: pd.DataFrame) -> None:
    """Draw success by how many details the user gave, with the number of trials behind each.

    Parameters
    ----------
    figure : Figure
        Empty.
    table : DataFrame
        Indexed by the number of details: ``trials``, ``passed`` and ``formula``, both shares.
    """
    axes = new_axes(figure, x="wishes that came with their details", y="share of trials that pass")
    axes.bar(table.index, table["passed"], color=COLOURS["neutral"], width=0.6)
    axes.plot(table.index, table["formula"], "D", color=COLOURS["note"], markersize=8)
    for given, row in table.iterrows():
        top, trials = max(row["passed"], row["formula"]) + 0.075, int(row["trials"])
        text = f"{trials} trials" if trials > 1 else "1 trial"
        label(axes, float(str(given)), top, text, ha="center", fontsize=9)
    last = table.iloc[-1]
    axes.set_ylim(0, max(1.1, last["formula"] + 0.15))
    axes.set_xticks(list(table.index))


def kept(value: float) -> str:
    """Return a ratio to two places, never "1.00" for what is only nearly all.

    Examples
    --------
    >>> kept(0.6634), kept(0.9999), kept(1.0)
    ('0.66', 'over 0.99', '1.00')
    """
    return "over 0.99" if 0.995 <= value < 1 else f"{value:.2f}"


def draw_flaky(figure: Figure, flake: float, retries: int, detected: float) -> View:
    """Draw what is left of pass^1 and pass^8 in a flaky environment, against the flake rate.

    Parameters
    ----------
    figure : Figure
        Empty.
    flake : float
        Flake rate.
    retries : int
        The most retries of one trial, after detected infra failures.
    detected : float
        The share of infra failures that is detected; the rest counts as the agent's.
    """
    axes = new_axes(figure, x="flake rate (%)", y="measured / true")
    figure.subplots_adjust(right=0.84)
    rates = np.linspace(0, MOST, 41)
    rows = []
    for k, colour in ((1, INK), (K, COLOURS["pass_hat"])):
        truth = SUCCESS_RATE**k
        curve, alone = (
            measured_pass_hat_k(SUCCESS_RATE, rates, k, r, missed=1 - detected) / truth
            for r in (retries, 0)
        )
        measured = measured_pass_hat_k(SUCCESS_RATE, flake, k, retries, missed=1 - detected)
        axes.plot(100 * rates, alone, "--", color=colour, linewidth=1)
        axes.plot(100 * rates, curve, color=colour, linewidth=2)
        axes.plot([100 * flake], [measured / truth], "o", color=colour, markersize=8)
        height = float(curve[-1]) + (0.02 if k == 1 else -0.02)
        label(axes, 100 * MOST + 0.5, height, f"pass^{k}", colour)
        rows.append((f"pass^{k}", f"{truth:.4f}", f"{measured:.4f}", kept(measured / truth)))
    axes.set_xlim(0, 100 * MOST)
    axes.set_xticks(range(0, 21, 5))
    axes.set_ylim(0, 1.05)
    table = pd.DataFrame(rows, columns=["", "true", "measured", "measured / true"])
    again = f"up to {retries} retries" if retries > 1 else "one retry" if retries else "no retry"
    return View(
        table,
        f"With a flake rate of {flake:.1%}, {again} and {detected:.0%} of infra failures detected, "
        f"pass^1 keeps {rows[0][3]} of its true value and pass^8 keeps {rows[1][3]}.",
    )


def flaky_panel() -> Panel:
    """Return the panel of `draw_flaky`."""
    return Panel(
        draw_flaky,
        flake=slider("Flake rate f", 0.05, 0.0, MOST, 0.005, ".1%"),
        retries=slider("Most retries of a trial", 0, 0, 5),
        detected=slider("Infra failures that are detected", 1.0, 0.0, 1.0, 0.05, ".0%"),
    )
