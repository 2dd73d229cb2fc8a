"""Chapter 08: unlike tasks, what they do to pass^k, its noise, coverage, plans, and two panels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from evalkit.course.figures import COLOURS, label, new_axes, percent
from evalkit.course.panels import Panel, View, slider
from evalkit.planning import plan
from evalkit.simulate.suites import Suite

TASKS = 120
MOST = 12  # trials that must all succeed, in the panels
PLAN_TRIALS = 48  # of each task, in the planner
BINS = np.linspace(0, 1, 21)


def draw_jensen(figure: Figure, p: ArrayLike, k: int) -> None:
    """Draw why the mean of P^k lies above the k-th power of the mean: a chord above a curve.

    Parameters
    ----------
    figure : Figure
        Empty.
    p : array_like, shape (2,)
        Success probabilities of two tasks.
    k : int
        Trials that must all succeed.
    """
    ends = np.asarray(p, dtype=float)
    middle, x = ends.mean(), np.linspace(0, 1, 201)
    axes = new_axes(figure, x="success probability P of a task", y=f"all {k} succeed: P^{k}")
    axes.plot(x, x**k, color=COLOURS["truth"])
    axes.plot(ends, ends**k, "o--", color=COLOURS["pass_hat"], markersize=8)
    axes.plot([middle], [(ends**k).mean()], "D", color=COLOURS["pass_hat"], markersize=8)
    axes.plot([middle], [middle**k], "D", color=COLOURS["failure"], markersize=8)
    means = f"mean of the two: {(ends**k).mean():.1%}"
    label(axes, middle - 0.02, (ends**k).mean() + 0.05, means, COLOURS["pass_hat"], ha="right")
    power = f"P^{k} of their mean: {middle**k:.1%}"
    label(axes, middle + 0.03, -0.03, power, COLOURS["failure"])
    axes.set_xlim(0, 1.01)
    axes.set_ylim(-0.07, 1.02)


def draw_curves(figure: Figure, suite: Suite, k: int) -> None:
    """Draw pass^1 to pass^k of a suite beside what two shortcuts make of it.

    Parameters
    ----------
    figure : Figure
        Empty.
    suite : Suite
    k : int
        Trials that must all succeed, at most.
    """
    axes = new_axes(figure, x="trials k", y="probability that all k succeed (%)")
    figure.subplots_adjust(right=0.74)
    _curves(axes, suite, k)


def draw_noise(figure: Figure, estimates: Mapping[str, ArrayLike], truth: float) -> None:
    """Draw how two estimates of pass^8 spread when the whole experiment is repeated.

    Parameters
    ----------
    figure : Figure
        Empty.
    estimates : mapping from str to array_like
        The unbiased estimates, then the naive powers, each with its name.
    truth : float
        The suite's true pass^k.
    """
    axes = new_axes(figure, x="estimate of pass^8", y="share of experiments (%)")
    for (name, values), colour, top in zip(
        estimates.items(), ("pass_hat", "failure"), (18, 52), strict=True
    ):
        found = np.asarray(values)
        bins = [(i - 0.5) / 120 for i in range(38)]  # a bar for each number of tasks of 120
        weights = np.full(len(found), 100 / len(found))
        axes.hist(found, bins, weights=weights, color=COLOURS[colour], alpha=0.75)
        label(axes, float(found.mean()) + 0.022, top, name, COLOURS[colour])
    axes.axvline(truth, color=COLOURS["truth"], linewidth=2)
    label(axes, truth + 0.004, 30, f"truth {truth:.3f}")
    axes.set_xlim(0, 0.26)


def draw_coverage(figure: Figure, coverage: pd.DataFrame) -> None:
    """Draw how often three intervals hold the truth, regime by regime.

    Parameters
    ----------
    figure : Figure
        Empty.
    coverage : DataFrame
        As `coverage_table` gives it.
    """
    axes = new_axes(figure, x="intervals that hold the truth (%)", y="")
    figure.subplots_adjust(left=0.36, top=0.93)
    rows = np.arange(len(coverage))[::-1]
    axes.plot([95, 95], [-0.6, len(coverage) - 0.5], color=COLOURS["truth"], linewidth=1)
    for column, marker, colour, place in (
        ("wilson", "o", "pass_hat", 96),
        ("normal", "s", "neutral", 72),
        ("pooled p^k", "X", "failure", 10),
    ):
        axes.plot(100 * coverage[column], rows, marker, color=COLOURS[colour], markersize=7)
        label(axes, place, len(coverage) - 0.2, column, COLOURS[colour], ha="center")
    regimes = zip(*(coverage[c] for c in ("tasks", "trials", "k", "true pass^k")), strict=True)
    axes.set_yticks(rows, [f"{m} tasks × {n}, pass^{k} = {p:.2f}" for m, n, k, p in regimes])
    axes.set_xlim(-3, 103)
    axes.set_ylim(-0.6, len(coverage) + 0.2)


def draw_pairs(figure: Figure, first: ArrayLike, second: ArrayLike) -> None:
    """Draw two agents' success rates task by task, above the diagonal where the second leads.

    Parameters
    ----------
    figure : Figure
        Empty.
    first, second : array_like, shape (tasks,)
        Success rates of each agent on the same tasks.
    """
    a, b = np.asarray(first), np.asarray(second)
    axes = new_axes(
        figure, x="success rate of the first agent", y="success rate of the second agent"
    )
    axes.plot([0, 1], [0, 1], color=COLOURS["neutral"], linewidth=1)
    shift = np.random.default_rng(0).uniform(-0.02, 0.02, size=(2, len(a)))  # rates coincide
    colour = np.where(b > a, COLOURS["pass_hat"], COLOURS["neutral"])
    colour = np.where(b < a, COLOURS["failure"], colour)
    axes.scatter(a + shift[0], b + shift[1], s=24, c=colour)
    label(axes, 0.02, 0.95, f"second better on {(b > a).sum()}", COLOURS["pass_hat"])
    label(axes, 0.98, 0.05, f"worse on {(b < a).sum()}", COLOURS["failure"], ha="right")


def built_suite(r: float, spread: float, shortest: int, longest: int) -> Suite:
    """Return a suite of 120 tasks without luck: quantiles take the place of draws.

    Parameters
    ----------
    r, spread : float
        Mean of the per-step reliability over the tasks, and its standard deviation.
    shortest, longest : int
        Fewest and most steps; all numbers between are as likely.

    Examples
    --------
    >>> suite = built_suite(0.967, 0.023, 4, 30)
    >>> [round(float(suite.pass_hat_k(k)), 2) for k in (1, 8)]
    [0.62, 0.13]
    """
    grid, order = _places()
    steps = np.rint(shortest - 0.5 + (longest - shortest + 1) * grid).astype(int)
    if spread == 0:
        return Suite(np.full(TASKS, r), steps)
    alike = r * (1 - r) / spread**2 - 1
    return Suite(betaincinv(r * alike, (1 - r) * alike, grid)[order], steps)


@cache
def _places() -> tuple[np.ndarray, np.ndarray]:
    """The middles of 120 equal parts of [0, 1], and an order that pairs r and steps by chance."""
    return (np.arange(TASKS) + 0.5) / TASKS, np.random.default_rng(0).permutation(TASKS)


def draw_builder(
    figure: Figure, r: float, spread: float, shortest: int, longest: int, k: int
) -> View:
    """Draw a suite's tasks and its pass^k, side by side.

    Parameters
    ----------
    figure : Figure
        Empty.
    r, spread, shortest, longest : float and int
        As for `built_suite`.
    k : int
        Trials that must all succeed.
    """
    suite = built_suite(r, spread, shortest, longest)
    once, every, alike = (float(x) for x in (suite.pass_hat_k(1), *_at(suite, k)))
    axes = new_axes(figure, x="success probability P of a task", y="tasks", position=(1, 2, 1))
    _histogram(axes, suite)
    axes = new_axes(
        figure, x="trials k", y="probability that all k succeed (%)", position=(1, 2, 2)
    )
    _curves(axes, suite, MOST, k)
    figure.subplots_adjust(left=0.1, right=0.85, top=0.9, wspace=0.32)
    table = pd.DataFrame(
        {
            "pass^1": [percent(once)],
            f"pass^{k}": [percent(every)],
            f"(pass^1)^{k}": [percent(once**k)],
            "one r and one n": [percent(alike)],
            "tasks with P above 0.9": [int((suite.success > 0.9).sum())],
        }
    )
    return View(
        table,
        f"pass^1 is {percent(once)} and pass^{k} is {percent(every)}. The power of pass^1 gives "
        f"{percent(once**k)}, one r and one n for all tasks {percent(alike)}.",
    )


def _at(suite: Suite, k: int) -> tuple[float, float]:
    return suite.pass_hat_k(k), suite.homogeneous(k)


def _histogram(axes: Axes, suite: Suite) -> None:
    counts, _ = np.histogram(suite.success, BINS)
    axes.stairs(counts, BINS, fill=True, facecolor=COLOURS["pass_hat"], edgecolor="white")
    mean = float(suite.pass_hat_k(1))
    axes.axvline(mean, color=COLOURS["truth"], linewidth=2)
    axes.set_title(f"the line is their mean: pass^1 = {mean:.1%}", fontsize=9, loc="left")
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)


def _curves(axes: Axes, suite: Suite, longest: int, k: int | None = None) -> None:
    ks = np.arange(1, longest + 1)
    rows = (
        ("pass^k", "pass_hat", "o-", [float(suite.pass_hat_k(int(i))) for i in ks]),
        ("(pass^1)^k", "failure", "s-", [float(suite.pass_hat_k(1)) ** i for i in ks]),
        ("one r, one n", "neutral", "^-", [float(suite.homogeneous(int(i))) for i in ks]),
    )
    lowest = 0.0
    for name, colour, line, curve in reversed(rows):
        axes.plot(ks, 100 * np.array(curve), line, color=COLOURS[colour], markersize=4)
        lowest = max(100 * curve[-1], lowest)  # each label at its curve, or above the last one
        label(axes, longest * 1.04, lowest, name, COLOURS[colour], fontsize=9)
        lowest += 7
    if k is not None:
        axes.axvline(k, color=COLOURS["neutral"], linewidth=1)
    axes.set_ylim(-3, 103)
    axes.set_xticks(range(2, longest + 1, 2))


def draw_plan(figure: Figure, half_width: float, k: int, cost_per_task: int, r: float) -> View:
    """Draw what each number of trials costs if the interval is to be so narrow.

    Parameters
    ----------
    figure : Figure
        Empty.
    half_width : float
        Wanted, for new tasks.
    k : int
        Trials that must all succeed.
    cost_per_task : int
        What making a task costs, in trials.
    r : float
        Mean per-step reliability; spread and steps are those of the chapter's suite.
    """
    suite = built_suite(r, 0.023, 4, 30)
    best = plan(
        suite.success, k, half_width=half_width, cost_per_task=cost_per_task,
        max_tasks=100_000, max_trials=PLAN_TRIALS,
    )  # fmt: skip
    rows = best.table
    axes = new_axes(figure, x="trials of each task", y="cost of the whole, in trials")
    figure.subplots_adjust(left=0.14)
    axes.plot(rows["trials"], rows["cost"], color=COLOURS["pass_hat"])
    axes.plot([best.trials], [best.cost], "o", color=COLOURS["truth"], markersize=8)
    text = f"{best.tasks} tasks × {best.trials} trial{'s' * (best.trials > 1)}"
    # Below the dot and above the axis, on the side where there is room.
    high, late = rows["cost"].max(), best.trials > PLAN_TRIALS / 2
    x, side = (best.trials - 1, "right") if late else (best.trials + 1, "left")
    y = max(best.cost - 0.07 * high, 0.035 * high)
    label(axes, x, y, text, ha=side, weight="bold")
    axes.set_ylim(0, 1.05 * high)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(0, PLAN_TRIALS)
    shown = sorted({k, 2 * k, 4 * k, best.trials} & set(rows["trials"]))
    table = rows.set_index("trials").loc[shown].reset_index()
    table["cost"] = [f"{cost:,.0f}" for cost in table["cost"]]
    table["within_share"] = [f"{share:.0%}" for share in table["within_share"]]
    return View(
        table.rename(columns={"within_share": "variance that more trials would remove"}),
        f"± {100 * half_width:.1f} points on pass^{k}: cheapest with {text}, "
        f"which cost as much as {best.cost:,.0f} trials.",
    )


def builder_panel() -> Panel:
    """Return the panel of `draw_builder`."""
    return Panel(
        draw_builder,
        r=slider("Mean per-step reliability", 0.967, 0.92, 0.99, 0.001, ".3f"),
        spread=slider("Its spread over tasks (SD)", 0.023, 0.0, 0.06, 0.001, ".3f"),
        shortest=slider("Steps of the shortest task", 4, 1, 15),
        longest=slider("Steps of the longest task", 30, 15, 60),
        k=slider("Trials k", 8, 1, MOST),
    )


def plan_panel() -> Panel:
    """Return the panel of `draw_plan`."""
    return Panel(
        draw_plan,
        half_width=slider("Wanted half-width of the interval", 0.05, 0.01, 0.15, 0.005, ".1%"),
        k=slider("Trials k that must all succeed", 8, 1, MOST),
        cost_per_task=slider("Cost of making a task, in trials", 0, 0, 100, 5),
        r=slider("Mean per-step reliability", 0.967, 0.92, 0.99, 0.001, ".3f"),
    )
