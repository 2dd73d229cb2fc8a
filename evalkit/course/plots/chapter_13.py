"""Chapter 13: the trials of a suite, two agents' pass^k with intervals, and the panel of the card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, label, new_axes
from evalkit.course.panels import Panel, View, choice, slider
from evalkit.estimates import Estimate, estimate
from evalkit.infra import AGENT_FAILURE, SUCCESS
from evalkit.report.checklist import MET, NOT_MET, NOT_STATED

TASKS, MOST_TRIALS, MOST_RETRIES = 40, 16, 4
#: The true success of each task of the panel: many easy ones, a few hard ones.
TRUE = 1 - 0.5 * ((np.arange(TASKS) + 0.5) / TASKS) ** 2
#: What a harness does where a trial fails.
TAGGED, COUNTED, ANY = (
    "infra failures are tagged and retried",
    "infra failures count as the agent's",
    "any failure is retried",
)
LOOK = {"hasty": ("failure", "s--"), "steady": ("pass_hat", "o-")}


def draw_trials(figure: Figure, trials: pd.DataFrame) -> None:
    """Draw how each trial of a suite ended: a row a task, complete rows in green.

    Parameters
    ----------
    figure : Figure
        Empty.
    trials : DataFrame
        From `evalkit.runlog.trial_rows`.
    """
    axes = new_axes(figure, x="trial", y="")
    axes.grid(visible=False)
    figure.subplots_adjust(left=0.29, right=0.76)
    tasks = list(dict.fromkeys(trials["task"]))
    rows = trials.assign(y=trials["task"].map(tasks.index), x=trials["trial"] + 1)
    complete = (rows["tag"] == SUCCESS).groupby(rows["y"]).all().to_numpy()
    for y in np.flatnonzero(complete):
        axes.axhspan(y - 0.5, y + 0.5, color=COLOURS["pass_hat"], alpha=0.25, linewidth=0)
    right = rows["x"].max() + 1.2
    kinds = (
        (rows["tag"] == SUCCESS, ".", "neutral", "passed"),
        (rows["tag"] == AGENT_FAILURE, "X", "failure", "failed"),
        (rows["attempts"] > 1, "^", "infra", "retried"),
    )
    for height, (which, marker, colour, text) in enumerate(kinds):
        shift = 0.3 if marker == "^" else 0.0  # beside the result of the trial
        found = rows[which]
        axes.scatter(found["x"] + shift, found["y"], s=45, marker=marker, color=COLOURS[colour])
        spot = ([right], [1 + 1.2 * height])
        axes.scatter(*spot, s=45, marker=marker, color=COLOURS[colour], clip_on=False)
        label(axes, right + 0.4, 1 + 1.2 * height, text, COLOURS[colour], fontsize=9)
    axes.set_xlim(0.4, rows["x"].max() + 0.6)
    axes.set_xticks(range(1, rows["x"].max() + 1))
    axes.set_ylim(len(tasks) - 0.4, -0.6)
    axes.set_yticks(range(len(tasks)), tasks)


def draw_curves(figure: Figure, curves: Mapping[str, Sequence[Estimate]]) -> None:
    """Draw pass^k of several agents with their intervals, as a report card holds them.

    Parameters
    ----------
    figure : Figure
        Empty.
    curves : mapping
        Name of an agent to its `ReportCard.curve`.
    """
    axes = new_axes(figure, x="k, trials that must all pass", y="pass^k (%)")
    figure.subplots_adjust(right=0.86)
    for name, curve in curves.items():
        colour, style = LOOK[name]
        k = [point.k for point in curve]
        low, value, high = (
            [100 * getattr(point, end) for point in curve] for end in ("low", "value", "high")
        )
        axes.fill_between(k, low, high, color=COLOURS[colour], alpha=0.15, linewidth=0)
        axes.plot(k, value, style, color=COLOURS[colour], markersize=5)
        label(axes, k[-1] + 0.2, value[-1], name, COLOURS[colour])
    axes.set_ylim(0, 102)
    axes.set_xticks(k)


@cache
def _luck() -> tuple[np.ndarray, np.ndarray]:
    """What decides each attempt of the panel: one number for the environment, one for the agent."""
    rng = np.random.default_rng(13)
    shape = (TASKS, MOST_TRIALS, MOST_RETRIES + 1)
    return rng.random(shape), rng.random(shape)


def trials_of(flake: float, retries: int, trials: int, way: str) -> pd.DataFrame:
    """Return one row for each trial of a suite that a flaky environment struck.

    Parameters
    ----------
    flake : float
        Share of the attempts that the environment fails.
    retries : int
        The most retries of one trial.
    trials : int
        Of each task.
    way : str
        `TAGGED`, `COUNTED` or `ANY`.
    """
    environment, agent = (luck[:, :trials, : retries + 1] for luck in _luck())
    flaked, able = environment < flake, agent < TRUE[:, None, None]
    if way == COUNTED:
        retries, flaked, able = 0, flaked[:, :, :1], able[:, :, :1]
    ends = ~flaked & able if way == ANY else ~flaked
    ends = ends if way != COUNTED else np.ones_like(ends)
    ended = ends.any(axis=2)
    last = np.where(ended, ends.argmax(axis=2), retries)
    passed = np.take_along_axis(~flaked & able, last[:, :, None], axis=2)[:, :, 0]
    task, trial = np.indices(passed.shape)
    missing = (~ended & (way == TAGGED)).ravel()
    rows = {"task": task.ravel(), "trial": trial.ravel(), "attempts": last.ravel() + 1}
    success = np.where(missing, np.nan, passed.ravel())
    return pd.DataFrame(rows | {"success": success, "infra": missing, "tag": ""})


def card_of(rows: pd.DataFrame, k: int, way: str) -> tuple[list[Estimate], str, str]:
    """Return what a report card holds of these trials: the curve up to k, and two lines' statuses.

    `evalkit.report.report_card` says the same, more slowly: a panel redraws at each move.
    """
    success = rows["success"].to_numpy().reshape(TASKS, -1)
    n, c = (~np.isnan(success)).sum(axis=1), np.nansum(success, axis=1)
    last = min(k, int(n.max()))
    tally = {"n": n, "c": c, "planned": np.full(TASKS, success.shape[1])}
    curve = [estimate(tally, j, min_trials=last) for j in range(1, last + 1)]
    enough = n.min() >= k > 1
    return curve, MET if enough else NOT_MET, MET if way == TAGGED else NOT_STATED


def draw_card(figure: Figure, flake: float, retries: int, trials: int, k: int, way: str) -> View:
    """Draw what a report card says of pass^k, beside the truth.

    Parameters
    ----------
    figure : Figure
        Empty.
    flake, retries, trials, way
        As `trials_of` takes them.
    k : int
        What the card is to promise: k trials in a row.
    """
    rows = trials_of(flake, retries, trials, way)
    curve, enough, dealt_with = card_of(rows, k, way)
    truth = [100 * float((TRUE**j).mean()) for j in range(1, k + 1)]
    _draw_beside(figure, curve, truth)
    last = curve[-1]
    lines = {
        f"pass^{last.k}": f"{last.value:.1%}, interval {last.low:.1%} to {last.high:.1%}",
        "valid trials": f"{last.valid} of {last.planned}",
        "attempts run again": str(int((rows["attempts"] - 1).sum())),
        "at least as many trials as k": enough,
        "infra failures tagged and retried": dealt_with,
    }
    table = pd.DataFrame({"on the card": lines.keys(), "it says": lines.values()})
    if last.k < k:
        ends = f"The card ends at pass^{last.k}: no task has {k} valid trials"
        return View(table, f"{ends}. The true pass^{k} is {truth[-1]:.1f}%.")
    inside = "holds" if last.low <= truth[-1] / 100 <= last.high else "misses"
    return View(
        table,
        f"The card says pass^{k} is {last.value:.1%}, and its interval {inside} the truth, "
        f"{truth[-1]:.1f}%.",
    )


def _draw_beside(figure: Figure, curve: Sequence[Estimate], truth: Sequence[float]) -> None:
    axes = new_axes(figure, x="k, trials that must all pass", y="pass^k (%)")
    figure.subplots_adjust(right=0.82)
    ks = range(1, len(truth) + 1)
    axes.plot(ks, truth, "_-", color=COLOURS["truth"], linewidth=1.5)
    low, value, high = (
        100 * np.array([getattr(point, end) for point in curve]) for end in ("low", "value", "high")
    )
    bars = np.clip([value - low, high - value], 0, None)
    axes.errorbar(ks[: len(curve)], value, bars, fmt="o", color=COLOURS["pass_hat"])
    near = len(curve) == len(truth) and abs(value[-1] - truth[-1]) < 7
    up = (4 if truth[-1] >= value[-1] else -4) if near else 0
    label(axes, len(truth) + 0.2, truth[-1] + up, "truth", COLOURS["truth"])
    label(axes, len(curve) + 0.2, value[-1] - up, "the card", COLOURS["pass_hat"])
    axes.set_ylim(0, 102)
    axes.set_xlim(0.7, 8.3)
    axes.set_xticks(range(1, 9))


def card_panel() -> Panel:
    """Return the panel of `draw_card`."""
    return Panel(
        draw_card,
        flake=slider("Flake rate f", 0.05, 0.0, 0.3, 0.01, ".0%"),
        retries=slider("Most retries of a trial", 3, 0, MOST_RETRIES),
        trials=slider("Trials of each task", 8, 1, MOST_TRIALS),
        k=slider("k of pass^k", 8, 1, 8),
        way=choice("When a trial fails", (TAGGED, COUNTED, ANY)),
    )
