"""Chapter 12: published tables with intervals, a leaderboard and its ties, pairs, and real states."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import ndtr

from evalkit.comparison import Comparison, compare, holm
from evalkit.course.figures import COLOURS, INK, PAPER, label, mark, new_axes
from evalkit.course.leaderboard import counts_of, histograms
from evalkit.course.panels import Panel, View, choice, slider
from evalkit.course.plots.chapter_10 import published
from evalkit.estimates import estimate

TASKS = {"airline": 50, "retail": 114, "telecom": 114, "banking_knowledge": 97}
# AppWorld's tasks (tgc), of which three make a scenario (sgc).
APPWORLD = {"test_normal": 168, "test_challenge": 417}
POINTS = ["pass_1", "pass_2", "pass_3", "pass_4"]
# What was published for the runs of published_runs.csv, where a single number was.
PUBLISHED = {
    ("airline", "adaptive cascata"): 0.98,
    ("airline", "aide, sonnet 4.5"): 0.72,
    ("airline", "button agent, opus 4.6"): 0.76,
    ("airline", "gpt-5"): 0.56,
    ("airline", "ironshell"): 0.94,
    ("airline", "nori, gpt-oss-120b"): 0.38,
    ("retail", "gpt-5"): 0.842,
}
SURE = 0.05  # a difference is clear where the adjusted p-value is below this
USERS = {"gpt-5.2 only": "gpt-5.2", "any": None}
# How an end state differs from its goal, and how that is drawn.
ENDINGS = {
    "as the goal": (PAPER, ""),
    "something missing": (COLOURS["neutral"], "//"),
    "missing, and collateral": (COLOURS["failure"], "xx"),
    "only collateral": (COLOURS["truth"], ""),
}


def run_counts(domain: str, run: str) -> pd.DataFrame:
    """Return the counts of a published run, one row for each task; the tasks have no names."""
    table = published("published_runs.csv").query("domain == @domain and run == @run")
    rows = table.loc[table.index.repeat(table["tasks"]), ["planned", "n", "c", "infra"]]
    return rows.reset_index(drop=True)


@cache
def leaderboard() -> pd.DataFrame:
    """Return the public leaderboard with the histogram of each row, None where none fits."""
    rows = published("tau2_leaderboard.csv")
    stated = zip(rows[POINTS].to_numpy().tolist(), rows["domain"], rows["decimals"], strict=True)
    fits = [histograms(points, TASKS[domain], decimals) for points, domain, decimals in stated]
    name = rows["submission"].str.split("_")
    rows["row"] = name.str[0] + " (" + name.str[-1].str[:7] + ")"
    one = pd.Series([fit[0] if fit else None for fit in fits], dtype=object)
    return rows.assign(fits=[len(fit) for fit in fits], histogram=one)


def board(domain: str, k: int, user: str | None = None) -> pd.DataFrame:
    """Return the rows of one domain in the order of their pass^k, each with its interval.

    Parameters
    ----------
    domain : str
        One of `TASKS`.
    k : int
        1 to 4.
    user : str, optional
        Only the rows with this model as the simulated user.

    Returns
    -------
    DataFrame
        Indexed by row: user, published (a share), low, high and SE; these are missing where no
        histogram fits.
    """
    rows = leaderboard().query("domain == @domain")
    rows = rows[rows["user_sim"] == user] if user else rows
    found = [estimate(counts_of(h), k) if h is not None else None for h in rows["histogram"]]
    table = pd.DataFrame(
        {
            "user": rows["user_sim"].to_numpy(),
            "published": rows[f"pass_{k}"].to_numpy() / 100,
            "low": [e.low if e else np.nan for e in found],
            "high": [e.high if e else np.nan for e in found],
            "SE": [e.se if e else np.nan for e in found],
        },
        index=rows["row"],
    )
    return table.sort_values("published", ascending=False, kind="stable")


def clear_of(table: pd.DataFrame, place: int) -> pd.Series:
    """Return whether each row of a board is clearly apart from the one in a place, 1 for the first.

    The two results are taken as independent, since nobody published which tasks they passed. The
    p-values are adjusted (Holm) for the number of rows; a row without an interval has no answer.
    """
    one = table.iloc[place - 1]
    others = table[table["SE"].notna() & (np.arange(len(table)) != place - 1)]
    distance = (others["published"] - one["published"]) / np.hypot(others["SE"], one["SE"])
    p_values = holm(2 * ndtr(-abs(distance.to_numpy(dtype=float))))
    return pd.Series(p_values < SURE, index=others.index).reindex(table.index)


def pair_comparisons(benchmark: str) -> pd.DataFrame:
    """Return, for each pair of published runs, the paired difference and its p-value, adjusted."""
    pairs = published("published_pairs.csv").query("benchmark == @benchmark")
    found = [_paired(row) for _, row in pairs.iterrows()]
    table = pairs[["first", "second"]].reset_index(drop=True)
    table["second only"] = [one.better for one in found]
    table["first only"] = [one.worse for one in found]
    for name in ("difference", "low", "high"):
        table[name] = [getattr(one, name) for one in found]
    table["p"] = [one.p_value for one in found]
    table["p, adjusted"] = holm(table["p"])
    return table


def _paired(row: pd.Series) -> Comparison:
    cells = row[["neither", "first_only", "second_only", "both"]].tolist()
    first, second = np.repeat([0, 1, 0, 1], cells), np.repeat([0, 0, 1, 1], cells)
    names, ones = range(len(first)), np.ones(len(first), dtype=int)
    return compare({"task": names, "n": ones, "c": first}, {"task": names, "n": ones, "c": second})


def appworld_fits() -> pd.DataFrame:
    """Return how many published percentages of AppWorld are a whole number of tasks or scenarios."""
    rows = []
    for split, table in published("appworld.csv").groupby("split", sort=False):
        tasks = APPWORLD[str(split)]
        for column, of in (("tgc", tasks), ("sgc", tasks // 3)):
            fit = sum(bool(histograms([value], of, decimals=1)) for value in table[column].tolist())
            rows.append((split, column, of, len(table), fit))
    return pd.DataFrame(rows, columns=["split", "percentage", "of", "values", "fit"])


def draw_curve(figure: Figure, table: pd.DataFrame) -> None:
    """Draw pass^k with its intervals, and the shortcut from pass^1 (columns value, low, high)."""
    axes = new_axes(figure, x="k", y="pass^k (%)")
    figure.subplots_adjust(right=0.8)
    k = table.index.to_numpy(dtype=int)
    value, ends = _percent_with_ends(table["value"], table)
    axes.errorbar(k, value, ends, fmt="o-", color=COLOURS["pass_hat"], capsize=4)
    power = 100 * (value[0] / 100) ** k
    axes.plot(k, power, "s--", color=COLOURS["neutral"], markersize=5)
    label(axes, k[-1] + 0.12, value[-1], "published", COLOURS["pass_hat"])
    label(axes, k[-1] + 0.12, power[-1], "(pass^1)^k", COLOURS["failure"])
    axes.set_xticks(k)
    axes.set_ylim(bottom=0)


def draw_board(
    figure: Figure, domain: str, k: int, place: int = 1, user: str | None = None
) -> View:
    """Draw one domain of the leaderboard with intervals, and what is tied with one of its rows.

    Parameters
    ----------
    figure : Figure
        Empty.
    domain, k, user
        As `board` takes them.
    place : int
        The row that the others are compared with, 1 for the first.
    """
    table = board(domain, k, user)
    place = min(place, int(table["SE"].notna().sum()))
    known = np.flatnonzero(table["SE"].notna())[place - 1]
    clear = clear_of(table, int(known) + 1)
    tied = [row for row, apart in clear.items() if apart is False]
    axes = new_axes(figure, x=f"pass^{k} (%)", y="")
    figure.subplots_adjust(left=0.36, top=0.98, bottom=0.1)
    _draw_rows(axes, table, int(known), clear)
    shown = table.assign(
        rank=np.arange(1, len(table) + 1), tie=["=" if row in tied else "" for row in table.index]
    ).iloc[max(0, known - 3) : known + 4]
    cells = {
        "rank": shown["rank"],
        "row": shown.index,
        f"pass^{k}": [f"{100 * value:.1f}" for value in shown["published"]],
        "95% interval": [
            f"{100 * low:.0f} to {100 * high:.0f}" if low == low else "none: no counts fit"
            for low, high in zip(shown["low"], shown["high"], strict=True)
        ],
        "tied": shown["tie"],
    }
    others = f"{len(tied)} of {clear.notna().sum()} other rows"
    finding = f"{others} cannot be told from {table.index[known]} in {domain}, pass^{k}."
    return View(pd.DataFrame(cells), finding)


def _draw_rows(axes: Axes, table: pd.DataFrame, known: int, clear: pd.Series) -> None:
    """Draw each row of a board: the one that is compared, those tied with it, and the others."""
    value, ends = _percent_with_ends(table["published"], table)
    y, here = np.arange(len(table)), np.arange(len(table)) == known
    looks = (
        (here, "D", "pass_hat", COLOURS["pass_hat"]),
        (~here & (clear == False).to_numpy(), "o", "pass_hat", COLOURS["pass_hat"]),  # noqa: E712
        (~here & (clear == True).to_numpy(), "o", "failure", "white"),  # noqa: E712
    )
    for rows, shape, colour, face in looks:
        style: Any = {"color": COLOURS[colour], "markerfacecolor": face}
        axes.errorbar(value[rows], y[rows], xerr=ends[:, rows], fmt=shape, markersize=5, **style)
    blank = table["SE"].isna().to_numpy()
    axes.plot(value[blank], y[blank], "x", color=COLOURS["neutral"], markersize=6)
    axes.set_yticks(y, list(table.index), fontsize=8 if len(table) < 20 else 7)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_xlim(0, 100)


def _percent_with_ends(value: pd.Series, table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return values in per cent, and how far low and high of a table are from them."""
    middle = 100 * value.to_numpy(dtype=float)
    low, high = (100 * table[name].to_numpy(dtype=float) for name in ("low", "high"))
    return middle, np.stack([middle - low, high - middle])


def board_panel() -> Panel:
    """Return the panel of `draw_board`."""

    def draw(figure: Figure, domain: str, k: int, place: int, users: str) -> View:
        return draw_board(figure, domain, k, place, USERS[users])

    return Panel(
        draw,
        height=480,
        domain=choice("Domain", list(TASKS)),
        k=slider("Trials that must all succeed (k)", 1, 1, 4),
        place=slider("Compare with row (with counts)", 1, 1, 12),
        users=choice("Model of the simulated user", list(USERS)),
    )


def draw_pairs(figure: Figure, table: pd.DataFrame) -> None:
    """Draw the paired differences of all pairs, as `pair_comparisons` gives them."""
    axes = new_axes(figure, x="second less first (points of completed tasks)", y="")
    figure.subplots_adjust(left=0.42)
    axes.axvline(0, color=COLOURS["neutral"], linewidth=1)
    value, ends = _percent_with_ends(table["difference"], table)
    y, clear = np.arange(len(table)), (table["p, adjusted"] < SURE).to_numpy()
    for rows, colour, face in ((clear, INK, INK), (~clear, COLOURS["neutral"], "white")):
        axes.errorbar(
            value[rows], y[rows], xerr=ends[:, rows], fmt="o", color=colour, markerfacecolor=face
        )
    short = [
        f"{a.split(', ')[0]} / {b.split(', ')[0]}"
        for a, b in zip(table["first"], table["second"], strict=True)
    ]
    axes.set_yticks(y, short, fontsize=8)
    axes.set_ylim(len(table) - 0.4, -0.6)


def endings() -> pd.DataFrame:
    """Return the 807 real episodes by benchmark and domain, and by how they ended (`ENDINGS`)."""
    table = published("state_verdicts.csv")
    kind = {(0, 0): "as the goal", (1, 0): "something missing", (0, 1): "only collateral"}
    marks = zip(table["missing"], table["collateral"], strict=True)
    table["ending"] = [kind.get(mark, "missing, and collateral") for mark in marks]
    by = ["benchmark", "domain", "ending"]
    return table.groupby(by)["episodes"].sum().unstack("ending", fill_value=0)[list(ENDINGS)]


def draw_endings(figure: Figure, table: pd.DataFrame) -> None:
    """Draw how real episodes ended, in per cent, one bar for each row of `endings`."""
    axes = new_axes(figure, x="episodes (%)", y="")
    figure.subplots_adjust(left=0.2, top=0.8, bottom=0.2)
    shares = 100 * table.div(table.sum(axis=1), axis=0)
    y, left = np.arange(len(table)), np.zeros(len(table))
    for name, (colour, hatch) in ENDINGS.items():
        width, edge = shares[name].to_numpy(), INK if colour == PAPER else PAPER
        axes.barh(y, width, left=left, color=colour, hatch=hatch, edgecolor=edge, label=name)
        left += width
    axes.set_yticks(y, [" ".join(row) for row in table.index], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncols=4, frameon=False, fontsize=8)


def draw_systems(figure: Figure, grades: pd.DataFrame) -> None:
    """Draw which grader (the rows) passes which episode; a pass in spite of damage is boxed.

    Parameters
    ----------
    figure : Figure
        Empty.
    grades : DataFrame
        Columns good, collateral, unfinished, undone; each cell begins with its verdict.
    """
    axes = new_axes(figure, x="", y="")
    figure.subplots_adjust(left=0.24, right=0.97, top=0.9, bottom=0.04)
    for x, episode in enumerate(map(str, grades.columns)):
        passed = grades[episode].str.startswith("pass").to_numpy()
        y = np.arange(len(grades))
        damage = episode in ("collateral", "undone")
        mark(axes, np.full(passed.sum(), x), y[passed], passed=True, wrong=damage)
        mark(axes, np.full((~passed).sum(), x), y[~passed], passed=False)
    axes.set_xticks(range(grades.shape[1]), list(grades.columns))
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(grades)), list(grades.index))
    axes.set_xlim(-0.5, grades.shape[1] - 0.5)
    axes.set_ylim(len(grades) - 0.5, -0.5)
    axes.grid(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
