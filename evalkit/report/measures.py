"""What a table of trials shows beside pass^k, each in words and as data for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from evalkit.credit import averages
from evalkit.estimates import Estimate, estimate
from evalkit.infra import NOT_EVALUATED, NOT_RUN, infra_rate
from evalkit.intervals import effective_tasks, wilson
from evalkit.report.evidence import Evidence
from evalkit.values import show

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "not stated"


@dataclass(frozen=True)
class Measure:
    """One line of a report card: its name, what it says in words, and the same as data."""

    name: str
    text: str
    data: Any


@dataclass(frozen=True, eq=False)
class Run:
    """What is measured: trials, counts of each task, pass^k, and the evidence beside them.

    Attributes
    ----------
    rows : DataFrame
        One row for each trial, all its columns.
    tally : DataFrame
        As `evalkit.trials.counts` gives it.
    curve : tuple of Estimate
        pass^k for k = 1..K; empty where no trial has a verdict.
    first : Estimate or None
        pass^1, of all tasks that have a verdict.
    evidence : Evidence
    level : float
        Nominal coverage of every interval.
    """

    rows: pd.DataFrame
    tally: pd.DataFrame
    curve: tuple[Estimate, ...]
    first: Estimate | None
    evidence: Evidence
    level: float

    @property
    def valid(self) -> pd.DataFrame:
        """The trials with a verdict."""
        return self.rows[self.rows["success"].notna() & ~self.rows["infra"]]

    @property
    def was_run(self) -> pd.Series:
        """Which rows are of a trial that was run at all."""
        run = self.rows["infra"].notna()  # true: the column is checked
        for column in ("tag", "ended"):
            if column in self.rows:
                run &= self.rows[column].ne(NOT_RUN).fillna(True).astype(bool)
        return run

    def rate(self, low: float, value: float, high: float) -> str:
        """A rate with its interval, in words."""
        return f"{value:.1%} ({self.level:.0%} interval {low:.1%} to {high:.1%})"

    def share(self, passed: Sequence[int], of: Sequence[int]) -> Estimate:
        """The mean over tasks of a share of their trials, with its interval."""
        return estimate({"n": list(of), "c": list(passed)}, level=self.level)


def measures(run: Run) -> tuple[Measure, ...]:
    """All that is measured, in the order of the card.

    Parameters
    ----------
    run : Run
        What is measured.
    """
    return tuple(Measure(name, *found(run)) for name, found in _MEASURES.items())


def in_words(point: Estimate, what: str = "") -> str:
    """A value with its interval, in per cent."""
    ends = f"{point.level:.0%} interval {point.low:.1%} to {point.high:.1%}"
    return f"{point.value:.1%}{what} ({ends})"


def counted(number: int, noun: str) -> str:
    """A number of things, in words.

    Examples
    --------
    >>> counted(1, "infra failure"), counted(2, "infra failure")
    ('1 infra failure', '2 infra failures')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def known_of(known: int, of: int) -> str:
    """How many trials a number is known of, where it is not all."""
    return f" (known of {known} of {of} trials)" * (known < of)


def printable(text: str) -> str:
    """The text with what would command a terminal, or turn its lines round, written out.

    Examples
    --------
    >>> print(printable("order\\x1b[2J 7"))
    order\\x1b[2J 7
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


#: What is said, and the data.
Found = tuple[str, Any]


def _trials(run: Run) -> Found:
    n = run.tally["n"]
    fewest, most = int(n.min()), int(n.max())
    each = str(most) if fewest == most else f"{fewest} to {most}"
    data = {"tasks": len(n), "fewest": fewest, "most": most, "k": len(run.curve)}
    used = run.curve[0].tasks if run.curve else 0
    text = f"{counted(len(n), 'task')}, {each} valid trial{'s' * (each != '1')} of each"
    return text, data | {"used": used}


def _coverage(run: Run) -> Found:
    valid, planned = int(run.tally["n"].sum()), int(run.tally["planned"].sum())
    infra = int(run.tally["infra"].sum())
    not_run = planned - len(run.rows) + int((~run.was_run).sum())
    rest = planned - valid - infra - not_run
    why = {"infra failures": infra, "not run": not_run, "not evaluated": rest}
    text = f"{valid} of {planned} planned trials have a verdict ({valid / planned:.1%})"
    if valid < planned:
        lost = {"infra failures": counted(infra, "infra failure")}
        told = [lost.get(name, f"{number} {name}") for name, number in why.items() if number]
        text += f"; without: {', '.join(told)}"
    low, high = run.first.bracket if run.first else (0.0, 1.0)
    if valid < planned:
        text += f". Had these all failed, or all passed, pass^1 would be {low:.1%} or {high:.1%}"
    data = {"valid": valid, "planned": planned, "coverage": valid / planned, **why}
    return text, data | {"pass^1 bracket": [low, high]}


def _attempts(run: Run) -> pd.Series | None:
    """How many attempts each trial had, where the log says so."""
    if "attempts" not in run.rows:
        return None
    return run.rows["attempts"].fillna(0).astype(int)


def _infra(run: Run) -> Found:
    attempts, unit = _attempts(run), "attempts"
    if attempts is None:
        infra, of, unit = int(run.rows["infra"].sum()), int(run.was_run.sum()), "trials"
    else:  # a trial has one attempt that counts, unless the environment failed all of them
        spared = (attempts > 0) & ~run.rows["infra"]
        infra, of = int(attempts.sum() - spared.sum()), int(attempts.sum())
    if not of:
        return "nothing was run", {"infra": 0, "of": 0, "unit": unit}
    rate, low, high = infra_rate(infra, of, run.level)
    data = {"infra": infra, "of": of, "unit": unit, "rate": rate, "low": low, "high": high}
    if not infra and attempts is None:  # nobody knows whether one would have been tagged
        return f"none of {counted(of, 'trial')} is tagged as one", data
    return f"{infra} of {of} {unit}, {run.rate(low, rate, high)}", data


def _retries(run: Run) -> Found:
    attempts, limit = _attempts(run), run.evidence.retries
    if attempts is None:
        unseen = {"retries": None, "most": None, "limit": limit, "given up early": None}
        return (UNKNOWN, None) if limit is None else (f"stated: up to {limit} of one trial", unseen)
    again = (attempts - 1).clip(lower=0)
    spoilt = again[run.rows["infra"]]
    if limit is None and len(spoilt):
        limit = int(again.max())
    early = 0 if limit is None else int((spoilt < limit).sum())
    total, most = int(again.sum()), int(again.max())
    data = {"retries": total, "most": most, "limit": limit, "given up early": early}
    if not total:
        return "none", data
    given_up = f"; given up: {counted(len(spoilt), 'trial')}" * bool(len(spoilt))
    return f"{total}, at most {most} of one trial{given_up}", data


def _unknown(run: Run) -> Found:
    if "tag" not in run.rows:
        return UNKNOWN, None
    kinds = run.rows.loc[run.rows["tag"].eq(NOT_EVALUATED).fillna(False).astype(bool)]
    named = Counter(str(kind) for kind in kinds.get("kind", ()) if isinstance(kind, str) and kind)
    listed = ", ".join(f"{number} {kind}" for kind, number in sorted(named.items()))
    return listed or "none", sum(named.values())


def _credit(run: Run) -> Found:
    valid, forms = run.valid, ""
    if "credit" in valid:
        credit = valid["credit"].astype(float)
    elif {"points", "total"} <= set(valid):
        credit = valid["points"].astype(float) / valid["total"].astype(float)
        named = averages(valid["points"], valid["total"]) if len(valid) else {}
        forms = f"; half and half {named['half and half']:.1%}" * bool(named)
    else:
        return "none is reported", None
    known = credit[[isfinite(value) for value in credit]]
    if known.empty or run.first is None:
        return "not evaluated", None
    means = known.groupby(valid["task"]).mean()
    value, low, high = _mean(means, run.level)
    data = {"value": value, "low": low, "high": high, "known": len(known), "of": len(valid)}
    by_task = valid.loc[known.index, "success"].astype(int).groupby(valid["task"])
    done = run.share(by_task.sum().tolist(), by_task.size().tolist())  # of the same trials
    text, same = run.rate(low, value, high) + forms, ""
    if len(known) < len(valid):
        text, same = f"{text}; known of {len(known)} of {len(valid)} trials", " of the same"
    text += f", beside full completion{same}, {in_words(done)}"
    return text, data | {"completion": {"value": done.value, "low": done.low, "high": done.high}}


def _mean(values: pd.Series, level: float) -> tuple[float, float, float]:
    """The mean over tasks of what may be any number, with its interval."""
    from scipy.special import stdtrit

    mean, tasks = float(values.mean()), len(values)
    se = float(values.std()) / sqrt(tasks) if tasks > 1 else float("nan")
    if values.between(0, 1).all():
        low, high = wilson(mean, effective_tasks(values.to_numpy(), se), tasks - 1, level)
        return mean, float(low), float(high)
    half = float(stdtrit(tasks - 1, (1 + level) / 2)) * se if tasks > 1 else float("inf")
    return mean, mean - half, mean + half


def _process(run: Run) -> Found:
    if "violations" not in run.rows or run.valid["violations"].isna().all():
        return UNKNOWN, None
    known = run.valid[run.valid["violations"].notna()]
    for task, names in zip(known["task"], known["violations"], strict=True):
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"violations: task {task!r} has {show(names)}, not a list of rules.")
    bad = known["violations"].map(len) > 0
    by_task = bad.groupby(known["task"])
    rate = run.share(by_task.sum().tolist(), by_task.size().tolist())
    broken = Counter(name for names in known["violations"] for name in set(names))
    counted = {name: broken[name] for name in sorted(broken)}
    text = f"broken in {int(bad.sum())} of {len(bad)} trials, {in_words(rate)}"
    data: dict[str, Any] = {"known": len(known), "of": len(run.valid), "trials": int(bad.sum())}
    data |= {"rate": rate.value, "low": rate.low, "high": rate.high, "broken": counted}
    listed = "".join(f"; {name}: {number}" for name, number in counted.items())
    return text + listed, data


def missing(value: Any) -> bool:
    """Whether a cell is empty; a list or an object in it is not."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _allowed(run: Run) -> Found:
    if "allowed_share" not in run.rows or run.valid["allowed_share"].isna().all():
        return UNKNOWN, None
    shares = run.valid["allowed_share"].dropna().astype(float)
    known, of = len(shares), len(run.valid)
    data = {"most": float(shares.max()), "known": known, "of": of}
    return f"at most {shares.max():.1%} of a state{known_of(known, of)}", data


_MEASURES: dict[str, Callable[[Run], Found]] = {
    "trials": _trials,
    "coverage": _coverage,
    "infra failures": _infra,
    "retries": _retries,
    "unknown causes": _unknown,
    "partial credit": _credit,
    "process rules": _process,
    "allowed share": _allowed,
}
