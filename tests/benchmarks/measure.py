"""How the benchmarks measure: ours and its peers in turn, in one run, as ratios.

Time is processor time of this process, so that what else runs on the machine counts little. Each
round runs every work once, or as often as fills a few milliseconds; a ratio is the median over
rounds of the peer's time to ours in the same round. A work that is not done after `BUDGET` seconds
is stopped, and its row says so. Memory is the most that Python held at once, over what it held
before; what a library in C keeps to itself is not in it.
"""

from __future__ import annotations

import gc
import math
import signal
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import process_time, thread_time
from typing import Any

import pandas as pd

from evalkit.course.figures import COLOURS, INK, new_axes, new_figure

FOLDER = Path(__file__).resolve().parents[2] / "build" / "benchmarks"
#: Processor seconds after which a work is stopped.
BUDGET = 5.0
#: How long one timing takes at least, so that the clock's own grain does not count.
LEAST = 0.01

Work = Callable[[], Any]


class _Over(BaseException):
    """Not an Exception, which the work might catch."""


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _Over

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def cpu_seconds(work: Work, times: int = 1) -> float:
    """Processor seconds of one run of a work, from several runs together."""
    gc.collect()
    start = process_time()
    for _ in range(times):
        work()
    return (process_time() - start) / times


def first_runs(works: Mapping[str, Work], budget: float) -> tuple[dict[str, Any], dict[str, float]]:
    """What each work returns, and how long it took; only those that are done within the budget."""
    results, seconds = {}, {}
    for name, work in works.items():
        gc.collect()
        try:
            with _stopped_after(budget):
                start = thread_time()  # the timer makes the clock of the process a coarse one
                results[name] = work()
                seconds[name] = thread_time() - start
        except _Over:
            results.pop(name, None)
    return results, seconds


def megabytes(work: Work) -> float:
    """The most memory that Python held while a work ran, over what it held before."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def measured(
    size: int, works: Mapping[str, Work], *, rounds: int = 5, budget: float = BUDGET
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """One row for each work, the first of which is ours, and what each returned.

    Returns
    -------
    rows : list of dict
        ``size``, ``work``, ``ms`` (median), ``ratio`` (to ours; above 1, ours is faster) and
        ``MB``; for a work that was stopped, ``note`` says so.
    results : dict
        What each work returned, by name; a work that was stopped has none.
    """
    results, firsts = first_runs(works, budget)
    times: dict[str, list[float]] = {name: [] for name in firsts}
    for _ in range(rounds):
        for name, first in firsts.items():
            if first > 1:  # once is enough; its ratio is to ours of each round
                times[name].append(first)
            else:
                repeats = max(1, math.ceil(LEAST / max(first, 1e-7)))
                times[name].append(cpu_seconds(works[name], min(repeats, 10_000)))
    own = times[next(iter(works))]
    rows = []
    for name in works:
        row: dict[str, Any] = {"size": size, "work": name}
        if name in times:
            ratio = median(peer / ours for peer, ours in zip(times[name], own, strict=True))
            row |= {"ms": 1000 * median(times[name]), "ratio": ratio}
            row |= {"MB": megabytes(works[name])} if firsts[name] < 1 else {}
        else:
            row["note"] = f"over {budget:g} s"
        rows.append(row)
    return rows, results


def report(name: str, rows: list[dict[str, Any]], *, x: str, note: str = "") -> pd.DataFrame:
    """Print the rows as a table; write them and a plot of growth under ``build/benchmarks``."""
    table = pd.DataFrame(rows)
    shown = table.copy()
    for column in shown.select_dtypes("number"):
        shown[column] = [_short(value) for value in shown[column]]
    print(f"\n{name}\n{shown.fillna('').to_string(index=False)}")
    if note:
        print(note)
    FOLDER.mkdir(parents=True, exist_ok=True)
    table.to_csv(FOLDER / f"{name}.csv", index=False)
    if table["size"].nunique() > 1:
        _plot(name, table, x)
    return table


def _short(value: float) -> str:
    """Three digits of a number; a whole one whole; nothing where there is none."""
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:#.3g}".rstrip(".")


def _plot(name: str, table: pd.DataFrame, x: str) -> None:
    figure = new_figure(760, 380)
    for place, (column, y) in enumerate((("ms", "processor time, ms"), ("MB", "memory, MB")), 1):
        axes = new_axes(figure, x, y, (1, 2, place))
        axes.set(xscale="log", yscale="log")
        for i, (work, rows) in enumerate(table.groupby("work", sort=False)):
            colour = [COLOURS["truth"], *_PEERS][i % 8]
            style = {"marker": "os^vDP*X"[i % 8], "linewidth": 2.5 if i == 0 else 1.2}
            axes.plot(rows["size"], rows[column], color=colour, label=work, **style)
    figure.subplots_adjust(top=0.88)
    lines = figure.axes[0].get_lines()
    figure.legend(
        handles=lines, loc="upper center", ncols=6, fontsize=9, frameon=False, labelcolor=INK
    )
    figure.savefig(FOLDER / f"{name}.png", dpi=150)


_PEERS = [c for meaning, c in COLOURS.items() if meaning not in ("truth", "failure", "neutral")]
