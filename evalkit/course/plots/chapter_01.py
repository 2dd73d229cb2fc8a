"""Chapter 01: four scoreboards of two agents, what full marks hide, and where the ranking flips."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, INK, PAPER, label, legible, new_axes
from evalkit.course.panels import Panel, View, slider
from evalkit.simulate import SCENARIO
from evalkit.simulate.agents import AGGRESSIVE, CAREFUL, Agent
from evalkit.simulate.expected import break_even_edit, break_even_write, expected
from evalkit.simulate.scoreboards import GRADERS

EDITS, ACTIONS = len(SCENARIO.edits), SCENARIO.actions
NAMES = {"careful": CAREFUL.name, "aggressive": AGGRESSIVE.name}
HIGHEST_WRITE = 0.12  # of the boundary's picture


def expected_scores(agent: Agent) -> dict[str, float]:
    """What each grader gives an agent on average, as a share, from the closed forms."""
    shares = expected(agent.edit, agent.write, agent.claim_unfinished, EDITS, ACTIONS)
    return {name: float(shares[name]) for name in GRADERS}


def leader(lead: float) -> str:
    """Who leads, as the colours are named, if Aggressive is so many points ahead; empty if level."""
    if round(lead, 1) == 0:
        return ""
    return "aggressive" if lead > 0 else "careful"


def draw_scoreboards(figure: Figure, board: pd.DataFrame) -> None:
    """The four scoreboards as pairs of bars, from what `scoreboard` returns for both agents."""
    axes = new_axes(figure, x="", y="mean score (%)")
    careful, aggressive = (
        {
            name: float(value)
            for name, value in zip(GRADERS, board.loc[list(GRADERS), agent], strict=True)
        }
        for agent in (CAREFUL.name, AGGRESSIVE.name)
    )
    _pairs(axes, careful, aggressive)
    figure.subplots_adjust(left=0.09, right=0.99, top=0.97, bottom=0.2)


def _pairs(axes: Axes, careful: Mapping[str, float], aggressive: Mapping[str, float]) -> None:
    """A pair of bars for each grader; below its name, who leads and by how much."""
    scores = {"careful": careful, "aggressive": aggressive}
    # The names stand in the first pair, or in the second if a bar of the first is too short for one.
    named = int(min(means["own report"] for means in scores.values()) < 0.52)
    for side, (agent, means) in zip((-1, 1), scores.items(), strict=True):
        heights = [100 * means[name] for name in GRADERS]
        places = np.arange(len(GRADERS)) + 0.2 * side
        axes.bar(places, heights, width=0.38, color=COLOURS[agent])
        for x, height in zip(places, heights, strict=True):
            label(axes, x, height + 1.5, f"{height:.1f}", fontsize=9, ha="center", va="bottom")
        name, paper = NAMES[agent], {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
        at = {"ha": "center", "va": "bottom", "rotation": 90}
        label(axes, places[named], 4, name, COLOURS[agent], bbox=paper, **at)
    for i, name in enumerate(GRADERS):
        lead = 100 * (aggressive[name] - careful[name])
        ahead = leader(lead)
        axes.annotate(
            f"{NAMES[ahead]}\n+{abs(lead):.1f}" if ahead else "level",
            (i, 0),
            xytext=(0, -20),
            textcoords="offset points",
            ha="center",
            va="top",
            color=legible(COLOURS[ahead]) if ahead else INK,
            fontweight="bold",
        )
    axes.set_xticks(range(len(GRADERS)), list(GRADERS))
    axes.tick_params(axis="x", length=0, labelsize=10)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, 109)
    axes.set_yticks(range(0, 101, 50))


def credit_shares(scores: pd.DataFrame) -> pd.DataFrame:
    """One row a value of the partial credit: its share of the episodes, in percent.

    Parameters
    ----------
    scores : DataFrame
        One row an episode, as `simulate` returns it.

    Returns
    -------
    DataFrame
        Columns ``clean`` and ``with collateral``, by whether the episode left collateral.
    """
    kind = scores["collateral"].map({0.0: "clean", 1.0: "with collateral"})
    shares = 100 * pd.crosstab(scores["partial credit"], kind, normalize="all")
    every = np.arange(EDITS + 1) / EDITS
    return shares.reindex(index=every, columns=["clean", "with collateral"], fill_value=0.0)


def draw_credit(figure: Figure, tables: Mapping[str, pd.DataFrame]) -> None:
    """How much of each partial credit was earned with collateral, one picture an agent."""
    for i, (agent, name) in enumerate(NAMES.items(), 1):
        shares = credit_shares(tables[name])
        axes = new_axes(figure, x="required changes made", y="episodes (%)", position=(1, 2, i))
        places = np.arange(EDITS + 1)
        clean, harmed = shares["clean"], shares["with collateral"]
        axes.bar(places, clean, width=0.7, color=COLOURS[agent])
        axes.bar(
            places,
            harmed,
            bottom=clean,
            width=0.7,
            color="white",
            edgecolor=COLOURS[agent],
            hatch="////",
        )
        axes.set_title(name, color=legible(COLOURS[agent]), fontsize=11)
        axes.set_xticks(places, [f"{place} of {EDITS}" for place in places])
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, 84)
        top = float(clean.iloc[-1] + harmed.iloc[-1])
        text = f"hatched: {harmed.iloc[-1]:.1f}%\nleft collateral"
        label(axes, EDITS - 0.5, top - 4, text, ha="right", fontsize=9)
    figure.subplots_adjust(left=0.09, right=0.99, top=0.91, bottom=0.15, wspace=0.28)


def draw_boundary(figure: Figure, agents: tuple[Agent, Agent] = (CAREFUL, AGGRESSIVE)) -> None:
    """Where the full diff ranks a rival of Careful first, with both agents as points."""
    axes = new_axes(figure, x="unintended writes per action (%)", y="edits right (%)")
    _boundary(axes, *agents)


def _boundary(axes: Axes, careful: Agent, rival: Agent) -> None:
    writes = np.linspace(0, HIGHEST_WRITE, 121)
    flip = break_even_edit(writes, careful.edit, careful.write, EDITS, ACTIONS)
    # No edit accuracy above 100% exists, so the line ends there and all beyond it is Careful's.
    edge = 100 * np.nan_to_num(flip, nan=1.0)
    axes.fill_between(100 * writes, 0, edge, color=COLOURS["careful"], alpha=0.15, linewidth=0)
    axes.fill_between(100 * writes, edge, 100, color=COLOURS["aggressive"], alpha=0.15, linewidth=0)
    axes.plot(100 * writes, 100 * flip, color=INK, linewidth=1.5)
    axes.set_xlim(0, 100 * HIGHEST_WRITE)
    axes.set_ylim(70, 100)
    axes.set_xticks(range(0, round(100 * HIGHEST_WRITE) + 1, 2))
    axes.set_yticks(range(70, 101, 10))
    close = abs(rival.edit - careful.edit) < 0.04 and abs(rival.write - careful.write) < 0.02
    for agent, colour, above in ((careful, "careful", False), (rival, "aggressive", close)):
        x, y = 100 * agent.write, 100 * agent.edit
        axes.scatter([x], [y], s=70, color=COLOURS[colour], zorder=3, clip_on=False)
        side, gap = ("right", -0.2) if agent.write > 0.8 * HIGHEST_WRITE else ("left", 0.2)
        label(axes, x + gap, y + (4 if above else -1.7), agent.name, ha=side, fontweight="bold")
    # Where the rival's name stands in this corner, its point says who is first there.
    if rival.edit < 0.965 or rival.write > 0.055:
        label(axes, 0.2, 98.2, "the full diff ranks Aggressive first")
    label(axes, 11.8, 71.8, "the full diff ranks Careful first", ha="right")


def draw_flip(figure: Figure, edit: float, write: float, claim: float) -> View:
    """The four scoreboards at other rates of Aggressive, and where that stands to the boundary.

    Parameters
    ----------
    figure : Figure
        Empty.
    edit : float
        Probability that Aggressive gets a required edit right.
    write : float
        Probability that it adds an unintended write to an action.
    claim : float
        Probability that it claims success when it has not finished.
    """
    rival = Agent(AGGRESSIVE.name, edit, write, claim)
    ours, theirs = expected_scores(CAREFUL), expected_scores(rival)
    bars = new_axes(figure, x="", y="expected score (%)", position=(2, 1, 1))
    _pairs(bars, ours, theirs)
    plane = new_axes(
        figure, x="unintended writes per action (%)", y="edits right (%)", position=(2, 1, 2)
    )
    _boundary(plane, CAREFUL, rival)
    figure.subplots_adjust(left=0.1, right=0.98, top=0.98, bottom=0.1, hspace=0.4)
    rows = []
    for name in GRADERS:
        lead = 100 * (theirs[name] - ours[name])
        first = NAMES.get(leader(lead), "level")
        rows.append(
            (name, f"{ours[name]:.1%}", f"{theirs[name]:.1%}", f"{round(lead, 1) + 0:+.1f}", first)
        )
    columns = ["grader", CAREFUL.name, AGGRESSIVE.name, "Aggressive leads by", "comes first"]
    table = pd.DataFrame(rows, columns=columns)
    return View(table, finding(rival, list(table["comes first"])))


def finding(rival: Agent, firsts: list[str]) -> str:
    """Who comes first on how many scoreboards, and where the full diff flips, in words.

    Parameters
    ----------
    rival : Agent
        The rates of Aggressive.
    firsts : list of str
        Who comes first under each grader, the full diff last; "level" where nobody does.
    """
    last = "has the two level" if firsts[-1] == "level" else f"ranks {firsts[-1]} first"
    seen = f"Aggressive comes first on {firsts.count(rival.name)} of 4 scoreboards"
    flip = break_even_write(rival.edit, CAREFUL.edit, CAREFUL.write, EDITS, ACTIONS)
    if np.isnan(flip):
        where = "it could not lead there even without a single unintended write"
    else:
        where = f"its lead there ends at {flip:.1%} unintended writes per action"
    return f"{seen}; the full diff {last}. With {rival.edit:.0%} of its edits right, {where}."


def flip_panel() -> Panel:
    """Return the panel of `draw_flip`."""
    return Panel(
        draw_flip,
        height=500,
        edit=slider("Aggressive: edits right", AGGRESSIVE.edit, 0.78, 1.0, 0.01, ".0%"),
        write=slider("Unintended writes per action", AGGRESSIVE.write, 0.0, 0.12, 0.002, ".1%"),
        claim=slider("Claims unfinished work", AGGRESSIVE.claim_unfinished, 0.0, 1.0, 0.01, ".0%"),
    )
