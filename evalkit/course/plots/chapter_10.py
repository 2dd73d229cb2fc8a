"""Chapter 10: success within a budget, giving up, the frontier of cost and success, and the panel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evalkit.budget import success_within, upper_hull
from evalkit.course.figures import COLOURS, INK, label, new_axes
from evalkit.course.panels import Panel, View, slider

EARLY = "OpenHands-0.14.2, claude-3.5-sonnet"
LATE = "TTE-MatrixAgent, deepseek-v3.2"
SHORT = {EARLY: "OpenHands", LATE: "MatrixAgent"}
LOOK = {EARLY: ("failure", "s--"), LATE: ("truth", "o-")}
CAPS = range(10, 101, 10)
# Where a label stands beside its point: pixels right and up, and its side.
PLACES = {
    "GPT-3.5": (8, -12, "left"),
    "escalation": (-8, 6, "right"),
    "GPT-4": (-8, -3, "right"),
    "warming, GPT-4": (-4, 10, "right"),
    "LDB, GPT-4": (-10, 22, "left"),
    "LDB, GPT-3.5": (6, 7, "left"),
    "LATS, GPT-4": (-9, -3, "right"),
    "LATS, GPT-3.5": (6, 7, "left"),
    "Reflexion, GPT-4": (8, -12, "left"),
}


def published(name: str) -> pd.DataFrame:
    """Return one of the course's small tables; its first lines tell the source and the licence."""
    with (files("evalkit.course") / "data" / name).open(encoding="utf-8") as lines:
        return pd.read_csv(lines, comment="#")


def submission_log(submission: str) -> pd.DataFrame:
    """Return a log with one trial of each task of a submission to TheAgentCompany.

    Only bands of ten steps are known, so ``steps`` is the end of a task's band: budgets are
    multiples of ten. What failed in the last band may have been stopped by the cap, and counts so.
    """
    bands = published("tac_steps.csv").query("submission == @submission")
    rows = bands.loc[bands.index.repeat(bands["tasks"])].reset_index(drop=True)
    log = {"task": [f"{submission} {i}" for i in rows.index], "trial": 0, "infra": False}
    log |= {"success": rows["completed"].astype(float), "steps": rows["steps_to"]}
    return pd.DataFrame(log | {"cap": rows["cap"]})


def paired_counts(budget: int) -> tuple[dict[str, list], dict[str, list]]:
    """Return the counts of `EARLY` and `LATE` within a budget of steps, paired by task."""
    pairs = published("tac_pairs.csv").set_index("budget").loc[budget]
    first = np.repeat([0, 1, 0, 1], pairs[["neither", "first_only", "second_only", "both"]])
    second = np.repeat([0, 0, 1, 1], pairs[["neither", "first_only", "second_only", "both"]])
    tasks, ones = list(range(len(first))), [1] * len(first)
    early = {"task": tasks, "n": ones, "c": first.tolist()}
    return early, {"task": tasks, "n": ones, "c": second.tolist()}


@cache
def curve(submission: str) -> pd.DataFrame:
    """Return success within 10, 20, ... steps of a submission, with its band."""
    return success_within(submission_log(submission), CAPS).set_index("budget")


@cache
def steps_spent(submission: str) -> pd.Series:
    """Return the mean steps of a task under each cap: a task that wants more stops at the cap."""
    bands = published("tac_steps.csv").query("submission == @submission")
    tasks = bands["tasks"].sum()
    spent = {}
    for cap in CAPS:
        over = bands["steps_to"] > cap
        spent[cap] = (
            bands.loc[~over, "steps"].sum() + cap * bands.loc[over, "tasks"].sum()
        ) / tasks
    return pd.Series(spent)


@cache
def price(submission: str) -> float:
    """Return what a step of a submission cost on the average, in cents."""
    bands = published("tac_steps.csv").query("submission == @submission")
    return float(100 * bands["cost_usd"].sum() / bands["steps"].sum())


def draw_curves(figure: Figure, curves: Mapping[str, pd.DataFrame], caps: tuple[int, ...]) -> None:
    """Draw success within a budget of steps, each curve with its band, and lines at some caps.

    Parameters
    ----------
    figure : Figure
        Empty.
    curves : mapping from label to DataFrame
        As `success_within` gives them, indexed by budget. One, or those of `EARLY` and `LATE`.
    caps : tuple of int
        Where to draw upright lines.
    """
    axes = new_axes(figure, x="budget of steps", y="success within it (%)")
    figure.subplots_adjust(right=0.8)
    for name, points in curves.items():
        _draw_curve(axes, name, points)
        known, text = points["success"].dropna(), name.replace(", ", "\n")
        end, height = np.asarray(known.index)[-1], 100 * float(known.iloc[-1])
        label(axes, end + 1.5, height, text, _colour(name), fontsize=9)
    for cap in caps:
        axes.axvline(cap, color=COLOURS["neutral"], linewidth=1)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)


def _colour(name: str) -> str:
    return COLOURS[LOOK.get(name, ("truth", ""))[0]]


def _draw_curve(axes: Axes, name: str, points: pd.DataFrame) -> None:
    x, colour = points.index.to_numpy(), _colour(name)
    axes.fill_between(
        x, 100 * points["low"], 100 * points["high"], color=colour, alpha=0.15, linewidth=0
    )
    style = LOOK.get(name, ("truth", "-"))[1]
    axes.plot(x, 100 * points["success"], style, color=colour, markersize=4)


def draw_giving_up(figure: Figure, raw: pd.Series, mistaken: pd.Series, truth: float) -> None:
    """Draw two curves from one log: the raw fraction, and one that censors who gives up.

    Parameters
    ----------
    figure : Figure
        Empty.
    raw, mistaken : Series
        Success within a budget, indexed by the budget.
    truth : float
        The share of tasks that the agent can do at all.
    """
    axes = new_axes(figure, x="budget of steps", y="success within it (%)")
    figure.subplots_adjust(right=0.76)
    axes.axhline(100 * truth, color=COLOURS["neutral"], linewidth=1)
    lines = (
        (mistaken, "failure", "--", "Kaplan–Meier,\ngiving up censored"),
        (raw, "truth", "-", "raw fraction"),
    )
    for points, colour, style, text in lines:
        axes.plot(points.index, 100 * points, style, color=COLOURS[colour], linewidth=2)
        end = 100 * points.iloc[-1]
        label(axes, points.index[-1] * 1.02, end, text, COLOURS[colour], fontsize=9)
    label(axes, 1, 100 * truth + 3, "what it can do", COLOURS["failure"], fontsize=9)
    axes.set_ylim(0, 102)
    axes.set_xlim(left=0)


def draw_frontier(figure: Figure, agents: pd.DataFrame, retried: pd.DataFrame) -> None:
    """Draw agents by cost and accuracy, the hull, and the baseline of retrying one model.

    Parameters
    ----------
    figure : Figure
        Empty.
    agents : DataFrame
        Indexed by name: cost_usd and accuracy with their ``_low`` and ``_high``.
    retried : DataFrame
        As `retries` gives it: k, cost, success.
    """
    axes = new_axes(figure, x="cost of all 164 problems (US$, log scale)", y="accuracy (%)")
    axes.set_xscale("log")
    cost, accuracy = agents["cost_usd"], 100 * agents["accuracy"]
    hull = np.flatnonzero(upper_hull([0.0, *cost], [0.0, *accuracy]))
    x = np.sort([*np.geomspace(0.015, cost.max(), 400), *cost])  # straight lines, on a log scale
    corners = np.array([0.0, *cost])[hull], np.array([0.0, *accuracy])[hull]
    axes.plot(x, np.interp(x, *corners), color=COLOURS["neutral"], linewidth=1.5)
    ends = [
        abs(agents[[f"{name}_low", f"{name}_high"]].sub(agents[name], axis=0)).to_numpy().T * scale
        for name, scale in (("cost_usd", 1), ("accuracy", 100))
    ]
    axes.errorbar(cost, accuracy, ends[1], ends[0], "o", color=INK, markersize=5, elinewidth=1)
    axes.plot(retried["cost"], 100 * retried["success"], "D:", color=COLOURS["pass_at"])
    for name, (right, up, side) in PLACES.items():
        at = (cost[name], accuracy[name])
        axes.annotate(
            name, at, (right, up), textcoords="offset points", ha=side, fontsize=9, color=INK
        )
    k, dollars, success = retried[["k", "cost", "success"]].iloc[-1]
    text = f"best of 1 to {k:.0f} tries, GPT-3.5"
    label(axes, 1.15 * dollars, 100 * success - 3.5, text, COLOURS["pass_at"], fontsize=9)
    label(axes, 0.0175, 71.5, "to $0\nand 0%", fontsize=9)
    axes.set_ylim(70, 100)
    axes.set_xlim(0.015, 400)
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])


def draw_budget(figure: Figure, cap: int, early: float, late: float) -> View:
    """Draw two submissions under one cap: success by steps, and success by cost.

    Parameters
    ----------
    figure : Figure
        Empty.
    cap : int
        Steps that both are allowed, a multiple of ten.
    early, late : float
        What a step of `EARLY` and of `LATE` costs, in cents.
    """
    by_steps = new_axes(figure, x="steps allowed", y="success (%)", position=(1, 2, 1))
    by_cost = new_axes(figure, x="cost of a task (US$)", y="", position=(1, 2, 2))
    by_cost.set_xscale("log")
    by_steps.axvline(cap, color=COLOURS["neutral"], linewidth=1)
    rows = {}
    for name, cents in ((EARLY, early), (LATE, late)):
        points, dollars = curve(name), steps_spent(name) * cents / 100
        success, paid = points["success"][cap], dollars[cap]
        style, colour = LOOK[name][1], _colour(name)
        _draw_curve(by_steps, name, points)
        by_steps.plot([cap], [100 * success], style[0], color=colour, markersize=8)
        by_cost.plot(dollars, 100 * points["success"], style, color=colour, markersize=3)
        by_cost.plot([paid], [100 * success], style[0], color=colour, markersize=8)
        top = 100 * points["success"].iloc[-1]
        label(by_steps, 99, top + (4 if name == EARLY else -4), SHORT[name], colour, ha="right")
        rows[name] = (success, paid)
    by_steps.set_ylim(0, 55)
    by_cost.set_ylim(0, 55)
    by_cost.set_xlim(0.01, 60)
    by_cost.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.10", "1", "10"])
    by_cost.minorticks_off()
    return _view(cap, rows)


def _view(cap: int, rows: Mapping[str, tuple[float, float]]) -> View:
    table = pd.DataFrame(
        {
            "agent": [SHORT[name] for name in rows],
            f"within {cap} steps": [f"{success:.1%}" for success, _ in rows.values()],
            "a task costs": [f"${paid:.2f}" for _, paid in rows.values()],
            "a completed task costs": [f"${paid / success:.2f}" for success, paid in rows.values()],
        }
    )
    (p, x), (q, y) = rows.values()
    more = SHORT[EARLY if p > q else LATE]
    cheaper = SHORT[EARLY if x < y else LATE]
    verdict = (
        f"{more} completes more and costs less: nothing speaks for the other."
        if more == cheaper
        else f"{more} completes more, {cheaper} costs less: both are on the frontier."
    )
    done = (
        f"{SHORT[EARLY]} completes {p:.1%} for ${x:.2f} a task, {SHORT[LATE]} {q:.1%} for ${y:.2f}"
    )
    return View(table, f"Within {cap} steps {done}. {verdict}")


def budget_panel() -> Panel:
    """Return the panel of `draw_budget`, at the published prices."""
    return Panel(
        draw_budget,
        cap=slider("Steps allowed", 30, 10, 100, 10),
        early=slider("OpenHands: cents a step", round(price(EARLY), 1), 0.1, 40.0, 0.1, ".1f"),
        late=slider("MatrixAgent: cents a step", round(price(LATE), 1), 0.1, 40.0, 0.1, ".1f"),
    )
