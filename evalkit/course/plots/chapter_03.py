"""Chapter 03: zeros and credit, compression, half-done pairs, progress, averages, and the panel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from operator import itemgetter
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, INK, label, new_axes
from evalkit.course.panels import Panel, View, choice, slider
from evalkit.credit import Checkpoint, Groups, credit
from evalkit.simulate import SCENARIO
from evalkit.simulate.agents import AGGRESSIVE, CAREFUL

PARTS = tuple(edit.label for edit in SCENARIO.edits)
PAIR = PARTS[1:3]  # in the store: cancel and refund
HURRIED, ORDERLY = "Hurried", "Orderly"
SHADES = {HURRIED: COLOURS["neutral"], ORDERLY: COLOURS["truth"]}

Scores = Mapping[str, Mapping[str, float]]  # agent to what the panel shows of it, as shares

# Probabilities that the panel's two agents get a part right. Hurried does each part by itself;
# Orderly does the pair together or not at all, and often forgets the last part.
EACH_PART = 0.85
FIRST, BOTH, LAST = 0.90, 0.85, 0.66


def submissions() -> pd.DataFrame:
    """Six public submissions to TheAgentCompany: counts of tasks and points, and the averages.

    Returns
    -------
    DataFrame
        One row a submission, oldest first, indexed by its name; shares, and the two published
        figures in percent. Where they come from is told in ``evalkit/course/data/README.md``.
    """
    path = files("evalkit.course") / "data" / "the_agent_company.csv"
    with path.open(encoding="utf-8") as lines:
        table = pd.read_csv(lines, index_col="submission")
    return table.rename(columns=lambda name: name.replace("_", " "))


def draw_long(figure: Figure, episodes: pd.DataFrame) -> None:
    """Each episode of the long task as a dot: passed or not on the left, its credit on the right.

    Parameters
    ----------
    figure : Figure
        Empty.
    episodes : DataFrame
        One row an episode, with columns ``agent``, ``passed`` and ``credit``.
    """
    agents = list(dict.fromkeys(episodes["agent"]))
    for i, (column, title) in enumerate((("passed", "pass or fail"), ("credit", "credit")), 1):
        axes = new_axes(figure, x="", y="score of an episode (%)", position=(1, 2, i))
        for place, agent in enumerate(agents):
            values = 100 * episodes.loc[episodes["agent"] == agent, column].astype(float)
            x = place + np.linspace(-0.25, 0.25, len(values))
            axes.scatter(x, values, s=14, color=COLOURS["failure"], alpha=0.7, clip_on=False)
            mean = values.mean()
            axes.plot([place - 0.32, place + 0.32], [mean, mean], color=INK, linewidth=2)
            text = f"{mean:.0f}"
            label(axes, place + 0.34, mean + 3, text, fontsize=9, fontweight="bold")
        axes.set_title(title, color=INK, fontsize=11)
        axes.set_xticks(range(len(agents)), agents)
        axes.set_xlim(-0.5, len(agents) - 0.4)
        axes.set_ylim(-3, 103)
        axes.grid(axis="x", visible=False)
    figure.subplots_adjust(left=0.09, right=0.99, top=0.91, bottom=0.1, wspace=0.25)


def draw_compression(figure: Figure, edits: int = len(SCENARIO.edits)) -> None:
    """Credit and targets only against the edit accuracy, with both agents on both lines."""
    axes = new_axes(figure, x="probability that an edit is right (%)", y="score (%)")
    e = np.linspace(0.5, 1, 101)
    axes.plot(100 * e, 100 * e, color=INK, linestyle="--")
    axes.plot(100 * e, 100 * e**edits, color=INK)
    label(axes, 60, 66, "credit", ha="right")
    label(axes, 69, 12, "targets only")
    for agent, colour in ((CAREFUL, "careful"), (AGGRESSIVE, "aggressive")):
        x, scores = 100 * agent.edit, (100 * agent.edit, 100 * agent.edit**edits)
        axes.scatter([x, x], scores, s=60, color=COLOURS[colour], zorder=3)
        for y, right in zip(scores, (-1, 1), strict=True):  # away from the other line
            label(
                axes,
                x + right,
                y - 4.5 * right,
                f"{agent.name} {y:.1f}",
                COLOURS[colour],
                ha="left" if right > 0 else "right",
                fontweight="bold",
            )
    axes.set_xlim(50, 100)
    axes.set_ylim(0, 103)
    figure.subplots_adjust(right=0.87)


def draw_states(figure: Figure, table: pd.DataFrame) -> None:
    """The credit of several end states as pairs of bars, by each part alone and by pair.

    Parameters
    ----------
    figure : Figure
        Empty.
    table : DataFrame
        Indexed by what was done, with two columns of credit, each part alone first.
    """
    axes = new_axes(figure, x="credit (%)", y="")
    alone, paired = table.columns
    places = np.arange(len(table))[::-1]
    for column, colour, side in (
        (alone, COLOURS["neutral"], 0.2),
        (paired, COLOURS["truth"], -0.2),
    ):
        widths = 100 * table[column].to_numpy(float)
        axes.barh(places + side, widths, height=0.36, color=colour)
        for y, width in zip(places + side, widths, strict=True):
            at, ha = (width - 1.5, "right") if width < 0 else (width + 1.5, "left")
            label(axes, at, y, f"{width:.0f}", ha=ha, fontsize=9)
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_xlim(-40, 112)
    axes.set_yticks(places, [str(name).replace(": ", ":\n") for name in table.index])
    axes.grid(axis="y", visible=False)
    label(axes, 108, places[0] + 0.2, f"grey: {alone}", COLOURS["neutral"], ha="right")
    label(axes, 108, places[0] - 0.2, f"black: {paired}", ha="right")
    figure.subplots_adjust(left=0.27, right=0.98, top=0.97, bottom=0.15)


def draw_progress(figure: Figure, actions: Sequence[str], shares: Sequence[float]) -> None:
    """The share of the parts that hold after each action, and the best of them so far."""
    axes = new_axes(figure, x="", y="parts that hold (%)")
    x, now = np.arange(len(shares)), 100 * np.asarray(shares, float)
    best = np.maximum.accumulate(now)
    axes.fill_between(x, now, best, color=COLOURS["neutral"], alpha=0.25, linewidth=0)
    axes.plot(x, best, color=COLOURS["failure"], linestyle="--", marker="o")
    axes.plot(x, now, color=INK, marker="o")
    label(axes, x[-1] + 0.12, best[-1], f"progress rate\n{best[-1]:.0f}", COLOURS["failure"])
    label(axes, x[-1] + 0.12, now[-1], f"the end state\n{now[-1]:.0f}", fontweight="bold")
    axes.set_xticks(x, [fill(action, 16) for action in actions])
    axes.set_xlim(-0.2, x[-1] + 1.1)
    axes.set_ylim(0, 100)
    axes.set_yticks(range(0, 101, 25))
    figure.subplots_adjust(left=0.11, right=0.98, top=0.96, bottom=0.13)


def draw_ranks(figure: Figure, shares: pd.DataFrame, marked: Sequence[str]) -> None:
    """The place of each row under each average, first on top, with the value in percent.

    Parameters
    ----------
    figure : Figure
        Empty.
    shares : DataFrame
        Indexed by name, one column an average.
    marked : sequence of str
        Names whose lines are drawn strongly.
    """
    axes = new_axes(figure, x="", y="place")
    ranks = shares.rank(ascending=False)
    x = range(shares.shape[1])
    for name, places in ranks.iterrows():
        strong = name in marked
        colour = INK if strong else COLOURS["neutral"]
        axes.plot(x, places, color=colour, linewidth=2.5 if strong else 1.2, zorder=2)
        for at, place, share in zip(x, places, shares.loc[[name]].to_numpy()[0], strict=True):
            box = {"facecolor": "white", "edgecolor": colour, "boxstyle": "round,pad=0.25"}
            text = f"{100 * share:.1f}"
            label(axes, at, place, text, colour, ha="center", fontsize=9, bbox=box)
        label(
            axes,
            -0.3,
            places.iloc[0],
            str(name).replace(", ", "\n"),
            colour,
            ha="right",
            fontsize=9,
            fontweight="bold" if strong else "normal",
        )
    axes.set_xticks(x, list(shares.columns))
    axes.set_yticks([])
    axes.set_ylabel("")
    axes.set_xlim(-1.6, x[-1] + 0.4)
    axes.set_ylim(len(shares) + 0.6, 0.4)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.98, bottom=0.1)


@cache
def outcomes() -> dict[str, dict[tuple[bool, ...], float]]:
    """Probability of each way in which an episode of the panel's two agents can end.

    Returns
    -------
    dict
        Agent to a dict from which of `PARTS` are done to its probability.
    """
    hurried: dict[tuple[bool, ...], float] = {}
    orderly: dict[tuple[bool, ...], float] = {}
    for done in product((True, False), repeat=len(PARTS)):
        first, one, other, last = done
        hurried[done] = float(np.prod([EACH_PART if part else 1 - EACH_PART for part in done]))
        if one == other:
            chances = ((first, FIRST), (one, BOTH), (last, LAST))
            orderly[done] = float(np.prod([p if part else 1 - p for part, p in chances]))
    return {HURRIED: hurried, ORDERLY: orderly}


def mean_credit(agent: str, weights: Mapping[str, float], penalty: float | None) -> float:
    """The credit of an agent on average, from all the ways in which its episodes can end.

    Parameters
    ----------
    agent : str
        One of the panel's two.
    weights : mapping
        Weight of each of `PARTS`.
    penalty : float or None
        Of a half-done pair; None where the parts count one by one.

    Returns
    -------
    float
        NaN where all weights are 0.
    """
    parts = [Checkpoint(name, itemgetter(name), weights[name]) for name in PARTS]
    groups: Groups = {} if penalty is None else {PAIR: penalty}
    start = dict.fromkeys(PARTS, False)
    return math.fsum(
        chance * credit([start, dict(zip(PARTS, done, strict=True))], parts, groups).value
        for done, chance in outcomes()[agent].items()
    )


def half_done(agent: str) -> float:
    """Probability that an episode of one of the panel's two leaves the pair half done."""
    return sum(p for (_, a, b, _), p in outcomes()[agent].items() if a != b)


def draw_weights(figure: Figure, third: float, last: float, pair: str, penalty: float) -> View:
    """How the credit of two agents, and their order, follow from weights and groups.

    Parameters
    ----------
    figure : Figure
        Empty.
    third, last : float
        Weights of two of `PARTS`; the other two weigh 1.
    pair : str
        ``"one by one"`` or ``"only together"``: how the parts of `PAIR` count.
    penalty : float
        What is taken away where only one of the two is done and they count together.
    """
    weights = dict.fromkeys(PARTS, 1.0) | {PARTS[2]: third, PARTS[3]: last}
    taken = penalty if pair == "only together" else None
    scores = {
        agent: {
            "credit": mean_credit(agent, weights, taken),
            "targets only": outcomes()[agent][True, True, True, True],
            "half-done pair": half_done(agent),
        }
        for agent in (HURRIED, ORDERLY)
    }
    _bars(figure, scores)
    rows = [
        {"agent": agent} | {name: f"{share:.1%}" for name, share in found.items()}
        for agent, found in scores.items()
    ]
    return View(pd.DataFrame(rows), _finding(scores, weights, taken))


def _bars(figure: Figure, scores: Scores) -> None:
    axes = new_axes(figure, x="", y="%")
    for side, agent in zip((-0.2, 0.2), scores, strict=True):
        heights = [100 * share for share in scores[agent].values()]
        places = np.arange(len(heights)) + side
        axes.bar(places, heights, width=0.38, color=SHADES[agent])
        for x, height in zip(places, heights, strict=True):
            text = f"{agent}\n{height:.1f}"
            label(axes, x, max(height, 0) + 1.5, text, ha="center", va="bottom", fontsize=9)
    axes.axhline(0, color=INK, linewidth=1)
    axes.set_xticks(range(3), ["credit", "targets only", "half-done pair left"])
    axes.tick_params(axis="x", length=0, labelsize=10)
    axes.grid(axis="x", visible=False)
    lowest = min(100 * found["credit"] for found in scores.values())
    axes.set_ylim(min(0.0, lowest - 5), 112)
    axes.set_yticks(range(0, 101, 25))
    figure.subplots_adjust(left=0.1, right=0.99, top=0.97, bottom=0.1)


def _finding(scores: Scores, weights: Mapping[str, float], penalty: float | None) -> str:
    """Who comes first on credit, by how much and under which rule, in words."""
    lead = 100 * (scores[ORDERLY]["credit"] - scores[HURRIED]["credit"])
    if round(abs(lead), 1) == 0:
        order = "The two are level on credit"
    else:
        order = f"Credit ranks {ORDERLY if lead > 0 else HURRIED} first, by {abs(lead):.1f} points"
    stated = ", ".join(f'"{part}" weighs {weights[part]:g}' for part in PARTS[2:])
    if penalty is None:
        rule = "the pair counts one by one"
    else:
        rule = f"the pair counts only together, with a penalty of {penalty:g}"
    first = max(scores, key=lambda agent: scores[agent]["targets only"])
    return f"{order}: {stated}, {rule}. Targets only ranks {first} first, whatever the weights."


def weights_panel() -> Panel:
    """Return the panel of `draw_weights`."""
    return Panel(
        draw_weights,
        third=slider(f"Weight: {PARTS[2]}", 1.0, 0.0, 4.0, 0.5, ".1f"),
        last=slider(f"Weight: {PARTS[3]}", 1.0, 0.0, 4.0, 0.5, ".1f"),
        pair=choice("The pair counts", ["one by one", "only together"]),
        penalty=slider("Penalty for half (only together)", 1.0, 0.0, 3.0, 0.5, ".1f"),
    )
