"""The report card of an evaluation: what was measured, how sure it is, and what is missing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from evalkit.estimates import Estimate, estimate
from evalkit.grading import Verdict
from evalkit.passk import named, positive
from evalkit.report.checklist import MET, NOT_MET, NOT_STATED, Check, filled_in
from evalkit.report.conditions import conditions
from evalkit.report.evidence import Evidence
from evalkit.report.html import fragment, page, shown
from evalkit.report.measures import UNKNOWN, Measure, Run, counted, in_words, measures, printable
from evalkit.trials import counts, trials_table
from evalkit.values import show

if TYPE_CHECKING:
    import pandas as pd

#: The columns that a card is called after, as far as they name one thing.
TITLE = ("agent", "submission", "model", "file")
_NO_EVIDENCE = Evidence()


@dataclass(frozen=True, eq=False, repr=False)
class ReportCard:
    """What is known of an evaluation, and what is not.

    Attributes
    ----------
    title : str
    headline : str
        The verdict in a few sentences.
    pass_hat_1 : Estimate or None
        Of all tasks that have a verdict; None where no trial has one.
    curve : tuple of Estimate
        pass^k for k = 1..K, every point on the tasks with at least K valid trials.
    measures : tuple of Measure
        What else the trials show: name, text and data.
    checklist : tuple of Check
        The design checklist, each line with its status and what to do.
    tasks : DataFrame
        One row for each task, as `evalkit.trials.counts` gives it.
    """

    title: str
    headline: str
    pass_hat_1: Estimate | None
    curve: tuple[Estimate, ...]
    measures: tuple[Measure, ...]
    checklist: tuple[Check, ...]
    tasks: pd.DataFrame

    def with_status(self, status: str) -> tuple[Check, ...]:
        """The lines of the checklist that are met, not met, or not stated."""
        return tuple(check for check in self.checklist if check.status == status)

    def to_dict(self) -> dict[str, Any]:
        """The card as data for JSON: numbers as they are, None where there is none."""
        card = {
            "title": self.title,
            "headline": self.headline,
            "pass^1": _numbers(self.pass_hat_1),
            "curve": [_numbers(point) for point in self.curve],
            "measures": {measure.name: measure.data for measure in self.measures},
            "checklist": [asdict(check) for check in self.checklist],
            "tasks": self.tasks.to_dict("records"),
        }
        return dict(_plain(card))

    def to_json(self) -> str:
        """The card as JSON text, without NaN."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_html(self) -> str:
        """The card as a page of its own: one file, no script, nothing fetched."""
        return page([self])

    def _repr_html_(self) -> str:
        return fragment(self)

    def __str__(self) -> str:
        lines = [self.title, self.headline, ""]
        lines += [f"pass^{point.k:<3} {in_words(point)}" for point in shown(self.curve)]
        lines += [self.left_out] if self.left_out else []
        lines.append("")
        lines += [f"{name + ':':<17} {text}" for name, text in self.lines()]
        lines += ["", "Design checklist"]
        for check in self.checklist:
            lines.append(f"{f'[{check.status}]':<12} {check.item}{check.why and ': '}{check.why}")
            lines += [f"{'':<12} -> {check.to_do}"] if check.to_do else []
        return "\n".join(map(printable, lines))

    __repr__ = __str__

    def lines(self) -> list[tuple[str, str]]:
        """What was measured, name and text; what nobody stated is named on one last line."""
        stated = [(m.name, m.text) for m in self.measures if m.text != UNKNOWN]
        unknown = ", ".join(m.name for m in self.measures if m.text == UNKNOWN)
        return [*stated, (UNKNOWN, unknown)] if unknown else stated

    @property
    def left_out(self) -> str:
        """The tasks that the curve leaves out, and what is open because of them; empty if none."""
        last = self.curve[-1] if self.curve else None
        if last is None or not last.excluded:
            return ""
        low, high = last.bracket
        names = named(tuple(f"{task} ({why})" for task, why in last.excluded))
        missing = f"had the trials missing failed or passed, pass^{last.k} of all tasks would be"
        return f"Left out: {names}; {missing} {low:.1%} or {high:.1%}."


def report_card(
    trials: Any,
    *,
    title: str | None = None,
    k: int | None = None,
    planned: int | Mapping[Any, int] | None = None,
    evidence: Evidence = _NO_EVIDENCE,
    level: float = 0.95,
) -> ReportCard:
    """The report card of an evaluation.

    Parameters
    ----------
    trials : data frame
        One row for each trial, in any engine, as a reader of `evalkit.logs`,
        `evalkit.runlog.trial_rows` or `evalkit.trials.trials_table` gives it. Further columns are
        used where they are there: those of a run's log, steps, cost, and `episode_fields`.
    title : str, optional
        By default the agent, or the file, that the trials name.
    k : int, optional
        Where the curve of pass^k ends; by default at the fewest valid trials of a task that has
        any. Tasks with fewer are left out of it, and named.
    planned : int or mapping, optional
        Trials that each task should have, as `evalkit.trials.counts` takes it.
    evidence : Evidence
        What the trials cannot show.
    level : float
        Nominal coverage of every interval.

    Returns
    -------
    ReportCard

    Raises
    ------
    ValueError
        If the table is of attempts, not trials; is of more than one agent; repeats a trial; or no
        task has k valid trials.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"task": ["a", "a", "b", "b"], "trial": [0, 1, 0, 1],
    ...     "success": [1, 1, 1, 0], "infra": False})
    >>> card = report_card(log, title="shop", evidence=Evidence(baselines={"nothing": (0, 2)}))
    >>> round(card.pass_hat_1.value, 2), round(card.curve[-1].value, 2)
    (0.75, 0.5)
    >>> [check.name for check in card.with_status("met")]
    ['trials', 'baselines', 'intervals']
    """
    rows, table = _rows(trials)
    run = _run(rows, counts(table, planned), k, evidence, level)
    found = (*measures(run), *conditions(run))
    checklist = filled_in({measure.name: measure.data for measure in found}, evidence)
    headline = _headline(run, found, checklist)
    title = title or _title(run.rows)
    return ReportCard(title, headline, run.first, run.curve, found, checklist, run.tally)


def episode_fields(verdict: Verdict, process: Verdict | None = None) -> dict[str, Any]:
    """What a log should keep of an episode's verdicts, for `evalkit.runner.Outcome` as ``extra``.

    Parameters
    ----------
    verdict : Verdict
        From `evalkit.grading.grade`.
    process : Verdict, optional
        From `evalkit.process.process_verdict`.

    Returns
    -------
    dict
        ``credit`` (None where nothing could be earned), ``allowed_share``, ``collateral`` (how
        many changes), and ``violations`` (the rules broken; None where none was looked at).

    Examples
    --------
    >>> from evalkit import Task, grade
    >>> episode_fields(grade({"t": {1: {"x": 0}}}, {"t": {1: {"x": 1}}}, Task({"t/1/x": 1})))
    {'credit': 1.0, 'allowed_share': 0.0, 'collateral': 0, 'violations': None}
    """
    broken = None
    if process is not None:
        broken = sorted({finding.expected for finding in process.of_kind("broken")})
    return {
        "credit": verdict.credit if isfinite(verdict.credit) else None,
        "allowed_share": verdict.allowed_share,
        "collateral": len(verdict.collateral),
        "violations": broken,
    }


def _run(
    rows: pd.DataFrame, tally: pd.DataFrame, k: int | None, evidence: Evidence, level: float
) -> Run:
    n = tally["n"]
    last = positive("k", k) if k is not None else int(n[n > 0].min() if n.any() else 0)
    if last > n.max():
        raise ValueError(f"k={last}: no task has more than {counted(int(n.max()), 'valid trial')}.")
    curve = tuple(estimate(tally, j, level=level, min_trials=last) for j in range(1, last + 1))
    first = estimate(tally, level=level) if n.any() else None
    return Run(rows, tally, curve, first, evidence, level)


def _rows(trials: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The trials here, success and infra checked and other columns as they were; and as a table."""
    import narwhals as nw
    import pandas as pd

    rows = trials
    if not isinstance(trials, pd.DataFrame):
        rows = pd.DataFrame(nw.from_native(trials).lazy().collect().to_dict(as_series=False))
    if "attempt" in rows and "attempts" not in rows:
        raise ValueError("trials: these are attempts; pass them through runlog.trial_rows first.")
    for column in TITLE[:-1]:
        names = sorted(map(str, rows[column].dropna().unique())) if column in rows else []
        if len(names) > 1:
            raise ValueError(f"trials: {column} is {' and '.join(names)}; make a card of each.")
    table = trials_table(rows, infra="infra" if "infra" in rows else None)
    checked = {name: table[name].to_numpy() for name in ("success", "infra")}
    return rows.assign(**checked).reset_index(drop=True), table


def _title(rows: pd.DataFrame) -> str:
    columns = [rows[name].dropna().unique().tolist() for name in TITLE if name in rows]
    names = dict.fromkeys(str(found[0]) for found in columns if len(found) == 1)
    return ", ".join(names) or "evaluation"


def _headline(run: Run, found: tuple[Measure, ...], checklist: tuple[Check, ...]) -> str:
    data = {measure.name: measure.data for measure in found}
    if run.first is None:
        said = f"Not evaluated: none of {data['coverage']['planned']} trials has a verdict."
    else:
        said = f"Passes {in_words(run.first, ' of the time')}"
        if len(run.curve) > 1:
            last = run.curve[-1]
            said += f"; {last.k} trials of a task all pass {in_words(last, ' of the time')}"
        said += f". {found[0].text[0].upper()}{found[0].text[1:]}."
    missing = data["coverage"]["planned"] - data["coverage"]["valid"]
    if missing and run.first:
        low, high = run.first.bracket
        said += (
            f" Without a verdict: {missing} of {data['coverage']['planned']} planned trials; had"
        )
        said += f" they failed or passed, the first rate would be {low:.1%} or {high:.1%}."
    statuses = [check.status for check in checklist]
    met, not_met, unstated = map(statuses.count, (MET, NOT_MET, NOT_STATED))
    return f"{said} Design checklist: {met} met, {not_met} not met, {unstated} not stated."


def _numbers(point: Estimate | None) -> dict[str, Any] | None:
    return None if point is None else asdict(point) | {"coverage": point.coverage}


def _plain(value: Any) -> Any:
    """The value as JSON can hold it: NaN as None, what is no JSON as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):  # a number of NumPy's
        return _plain(value.item())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, str | bool | int | None) else show(value)
