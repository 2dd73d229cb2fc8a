"""Chapter 05: what graders let through by kind of damage, do-nothing agents, and agents kept apart."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evalkit.audit import Audit, audit_grader
from evalkit.course.figures import COLOURS, INK, label, new_axes
from evalkit.course.panels import Panel, View, choice, slider
from evalkit.forms import has_form
from evalkit.grading import grade
from evalkit.isolation import run_apart
from evalkit.paths import split_path
from evalkit.simulate import SCENARIO
from evalkit.simulate.world import World
from evalkit.snapshots import snapshot
from evalkit.statediff import State
from evalkit.tasks import Allowed, Task

#: What each kind of mutant does to the right end state; the order of the figures.
KINDS = {
    "wrong value": "what the task sets holds another value",
    "reverted requirement": "what the task sets is as it was",
    "type change": "a value is stored in another type",
    "extra field changed": "another field of a record that the task changes",
    "write outside scope": "a field of a record that the task leaves alone",
    "field added": "a record has a field more",
    "row added twice": "a second copy of a row, under a new key",
    "row deleted": "a row is gone",
    "row in another table": "a row is gone, and stands in another table",
    "swapped ids": "two rows have changed places",
}
THRESHOLD = 0.75  # of partial credit, from which it passes
TITLES = {
    "full diff": "Full diff",
    "targets only": "Targets only",
    "partial credit": f"Partial credit from {THRESHOLD:.0%}",
}
WIDTHS = (
    "what the task allows",
    "any time stamp",
    "any field it does not set",
    "new rows in any table",
    "deleted rows as well",
)
MOST = 30  # mutants of a kind

# --- one right end state of the scenario --------------------------------------------------

with World(SCENARIO, seed=1) as _world:
    START: State = snapshot(_world.connection)
    for _edit in SCENARIO.edits:
        _world.call(_edit.right.tool, **_edit.right.arguments)
    DONE: State = snapshot(_world.connection)


def wider(width: int) -> Task:
    """The scenario's task with more allowed: all of `WIDTHS` up to the given one."""
    task, tables = SCENARIO.task, [table for table in DONE if table != "sqlite_schema"]
    fields = {(t, c): {row[c] for row in DONE[t].values()} for t in tables for c in _columns(t)}
    stamps = [f for f, values in fields.items() if all(has_form(v, "instant") for v in values)]
    stated = {(path[0], path[-1]) for path in map(split_path, task.required)}
    more: tuple[list[Allowed], ...] = (
        [],
        [Allowed((t, "*", c)) for t, c in stamps],
        [Allowed((t, "*", c)) for t, c in fields if (t, c) not in stated],
        [Allowed((t, "*"), only="added") for t in tables],
        [Allowed((t, "*"), only="removed", whole=True) for t in tables],
    )
    allowed = [*task.allowed, *(entry for entries in more[: width + 1] for entry in entries)]
    return Task(required=task.required, created=task.created, allowed=allowed)


@cache
def covered(width: int) -> float:
    """The share of the fields that the allowed patterns of a width cover."""
    return grade(START, DONE, wider(width)).allowed_share


def _columns(table: str) -> list[str]:
    return list(next(iter(DONE[table].values())))


@cache
def mutants() -> pd.DataFrame:
    """The mutants of the right end state, with what decides every grader's answer.

    Returns
    -------
    DataFrame
        The mutants as `Audit.probes` has them, with their ``credit``, and ``from width``: the
        narrowest of `WIDTHS` at which the full diff passes them, or their number if none does.
    """
    tasks = [wider(width) for width in range(len(WIDTHS))]
    judged: list[tuple[float, int]] = []

    def note(before: State, after: State) -> bool:
        verdict = grade(before, after, tasks[0])
        # However much is allowed, what is required and missing stays missing.
        tried = [] if verdict.missing else tasks
        passing = (width for width, task in enumerate(tried) if grade(before, after, task))
        judged.append((verdict.credit, next(passing, len(tasks))))
        return True

    probes = audit_grader(note, START, DONE, SCENARIO.task, per_kind=MOST, fields=0).probes
    # The audit shows the end states in the order of its rows, and last the right one.
    seen = pd.DataFrame(judged[: len(probes)], columns=["credit", "from width"])
    return pd.concat([probes, seen], axis=1).query("probe == 'mutant'")


def audit_of(grader: str, width: int, per_kind: int) -> Audit:
    """The audit of one of the graders in `TITLES`, the first so many mutants of each kind, harm as in the task."""
    rows = mutants().groupby("kind").head(per_kind)
    passes = {
        "full diff": rows["from width"] <= width,
        "targets only": rows["credit"] == 1,
        "partial credit": rows["credit"] >= THRESHOLD,
    }[grader]
    return Audit(rows.assign(answer=np.where(passes, "pass", "fail")), ())


# --- escapes ------------------------------------------------------------------------------


def escapes(report: Audit) -> pd.DataFrame:
    """One row a kind of harm: mutants that pass, of how many answered, and the rate in %.

    Beside them those unanswered, on which the grader crashed, and the ends of the interval.
    """
    table = report.table.query("`in truth` == 'harmful'").droplevel("in truth")
    table = table.reindex([*(kind for kind in KINDS if kind in table.index), "all mutants"])
    shares = (100 * table[["rate", "low", "high"]]).round().astype(int)
    shares.columns = pd.Index(["escape rate (%)", "low", "high"])
    counts = table[["wrong", "of", "unanswered"]].rename(columns={"wrong": "pass"})
    return counts.join(shares).rename_axis(None)


@cache
def escapes_of(grader: str, width: int, per_kind: int) -> pd.DataFrame:
    """What `escapes` says of `audit_of`."""
    return escapes(audit_of(grader, width, per_kind))


def _draw_rates(axes: Axes, table: pd.DataFrame) -> None:
    """Bars of escape rates with their intervals; the last row, of all kinds, is darker."""
    y, rates = np.arange(len(table)), table["escape rate (%)"]
    colours = [COLOURS["neutral"]] * (len(table) - 1) + [COLOURS["failure"]]
    axes.barh(y, rates, color=colours, height=0.6)
    ends = [rates - table["low"], table["high"] - rates]
    axes.errorbar(rates, y, xerr=ends, fmt="none", ecolor=COLOURS["truth"], capsize=3)
    axes.set_ylim(len(table) - 0.5, -0.6)
    axes.set_xlim(0, 100)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def draw_escapes(figure: Figure, tables: Mapping[str, pd.DataFrame]) -> None:
    """Escape rates by kind, one graph a grader; the tables are those of `escapes`."""
    for i, (name, table) in enumerate(tables.items(), 1):
        axes = new_axes(figure, x="escape rate (%)", y="", position=(1, len(tables), i))
        _draw_rates(axes, table)
        axes.set_title(name, color=INK, fontsize=11)
        axes.set_xticks([0, 50, 100])
        axes.set_yticks(range(len(table)), list(table.index) if i == 1 else [])
    figure.subplots_adjust(left=0.24, right=0.97, top=0.92, bottom=0.14, wspace=0.18)


def draw_panel(figure: Figure, allowed: int, grader: str, per_kind: int) -> View:
    """Escapes by kind of one grader, under one allowed pattern."""
    table = escapes_of(grader, allowed, per_kind)
    axes = new_axes(figure, x="escape rate (%), with its 95% interval", y="")
    _draw_rates(axes, table)
    counts = zip(table.index, table["pass"], table["of"], strict=True)
    axes.set_yticks(range(len(table)), [f"{kind}: {x} of {n}" for kind, x, n in counts])
    axes.set_title(f"{TITLES[grader]}; allowed: {WIDTHS[allowed]}", color=INK, fontsize=11)
    figure.subplots_adjust(left=0.33, right=0.97, top=0.92, bottom=0.13)
    total = table.loc["all mutants"]
    open_kinds = [kind for kind in table.index[:-1] if table.loc[kind, "pass"]]
    finding = (
        f"{TITLES[grader]} passes {total['pass']} of {total['of']} harmful mutants, "
        f"from {len(open_kinds)} of the {len(table) - 1} kinds. "
        + (
            f"What is allowed covers {covered(allowed):.0%} of the fields."
            if grader == "full diff"
            else "It does not look at what is allowed."
        )
    )
    shown = table.drop(columns="unanswered").reset_index(names="kind")
    interval = shown["low"].astype(str) + " to " + shown["high"].astype(str)
    return View(shown.drop(columns=["low", "high"]).assign(**{"95% interval": interval}), finding)


def escape_panel() -> Panel:
    """The panel of the chapter."""
    return Panel(
        draw_panel,
        height=420,
        allowed=slider("Allowed: 0 as in the task, 4 widest", 2, 0, len(WIDTHS) - 1),
        grader=choice("Grader", list(TITLES)),
        per_kind=slider("Mutants of a kind, at most", 20, 10, MOST, 10),
    )


# --- what no check looks at ---------------------------------------------------------------


def unseen(report: Audit) -> pd.DataFrame:
    """One row a table: how many of its fields the audit tried, and how many no check looks at."""
    fields = report.probes.query("probe == 'field'")
    table = fields["difference"].str.split("/").str[0].rename("table")
    tried = (fields["answer"] == "pass").groupby(table)
    return pd.DataFrame({"fields": tried.size(), "unseen": tried.sum()})


def draw_unseen(figure: Figure, tables: Mapping[str, pd.DataFrame]) -> None:
    """The share of each table's fields that are looked at, and of the others; a graph a grader."""
    for i, (name, table) in enumerate(tables.items(), 1):
        axes = new_axes(figure, x="share of the fields (%)", y="", position=(1, len(tables), i))
        y, share = np.arange(len(table)), 100 * table["unseen"] / table["fields"]
        axes.barh(y, 100 - share, color=COLOURS["failure"], height=0.6)
        for bar in axes.barh(y, share, left=100 - share, height=0.6, color="#EEEEEE"):
            bar.set(hatch="///", edgecolor=COLOURS["neutral"])
        for row, (some, of) in enumerate(zip(table["unseen"], table["fields"], strict=True)):
            label(axes, 104, row, f"{of - some} of {of}", fontsize=9)
        axes.set_title(f"{name}: fields looked at", color=INK, fontsize=11)
        axes.set_yticks(y, list(table.index) if i == 1 else [])
        axes.set_xticks([0, 50, 100])
        axes.set_xlim(0, 145)
        axes.set_ylim(len(table) - 0.5, -0.6)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
    figure.subplots_adjust(left=0.17, right=0.98, top=0.9, bottom=0.17, wspace=0.1)


# --- agents that do nothing ---------------------------------------------------------------


def do_nothing() -> pd.DataFrame:
    """Published counts of τ-bench, by whether an agent that does nothing passes the task.

    Returns
    -------
    DataFrame
        One row a domain and group of tasks: tasks, and gpt-4o's trials and passes where they are
        published. Where they come from is told in ``evalkit/course/data/README.md``.
    """
    path = files("evalkit.course") / "data" / "tau_do_nothing.csv"
    with path.open(encoding="utf-8") as lines:
        table = pd.read_csv(lines, dtype={"gpt_4o_trials": "Int64", "gpt_4o_passed": "Int64"})
    table = table.rename(columns=lambda name: name.replace("_", " ").replace("gpt 4o", "gpt-4o"))
    return table.set_index(["domain", "doing nothing"])


def draw_do_nothing(figure: Figure, table: pd.DataFrame) -> None:
    """Success by group of tasks (the rows), of an agent that does nothing and of gpt-4o, in %."""
    axes = new_axes(figure, x="", y="success (%)")
    x = np.arange(len(table))
    looks = (("does nothing", -0.2, COLOURS["neutral"]), ("gpt-4o", 0.2, COLOURS["failure"]))
    for name, shift, colour in looks:
        axes.bar(x + shift, table[name], width=0.36, color=colour)
        for place, value in zip(x, table[name], strict=True):
            text = f"{name}\n{value:.0f}" if place == 0 else f"{value:.0f}"
            label(axes, place + shift, value + 1, text, colour, ha="center", va="bottom")
    axes.set_xticks(x, list(table.index))
    axes.set_ylim(0, 118)
    axes.set_yticks(range(0, 101, 25))
    axes.grid(axis="x", visible=False)


# --- agents kept apart --------------------------------------------------------------------


def run_or_say(command: Sequence[str], folder: Path) -> str:
    """What an agent printed that ran in a folder as a process of its own.

    A browser has no processes: there it runs nothing, and says so.
    """
    if sys.platform == "emscripten":
        return "not run: a browser has no processes; run this cell in JupyterLab on a computer"
    return run_apart(command, folder).stdout.strip()
