"""The verdict on an episode: did the required changes happen, and did nothing else?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.fitting import FittedTask, fit
from evalkit.newrows import matching, nearest, unexplained
from evalkit.paths import Path, field_count, find, format_path, places
from evalkit.statediff import Change, State, state_diff
from evalkit.tasks import Invariant, Task, TaskError
from evalkit.values import MISSING, Forms, canonical, declare, equals, keyed_view, show

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Finding:
    """One line of a verdict.

    Attributes
    ----------
    kind : str
        ``met``, ``missing``, ``vacuous`` (required, but it held already), ``collateral``,
        ``allowed`` or ``broken`` (an invariant).
    place : str
        The path as text, or the name of the invariant.
    expected, found : str
        In words.
    """

    kind: str
    place: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.place}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, repr=False)
class Verdict:
    """What a grader says of one episode; true only for a pass.

    Attributes
    ----------
    status : {"pass", "fail", "not evaluated"}
    findings : tuple of Finding
        Every requirement and every change, each once.
    credit : float
        Share of the requirements met, those aside that held already; NaN where none is left.
    allowed_share : float
        Share of the fields of the before state that allowed patterns cover. The larger it is,
        the more damage the verdict cannot see.
    notes : tuple of str
        What a reader should know about the task itself.
    """

    status: str
    findings: tuple[Finding, ...]
    credit: float
    allowed_share: float
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the verdict is a pass."""
        return self.status == "pass"

    def __bool__(self) -> bool:
        return self.passed

    def of_kind(self, kind: str) -> tuple[Finding, ...]:
        """The findings of one kind."""
        return tuple(f for f in self.findings if f.kind == kind)

    @property
    def missing(self) -> tuple[Finding, ...]:
        """Requirements that are not met."""
        return self.of_kind("missing")

    @property
    def collateral(self) -> tuple[Finding, ...]:
        """Changes that are neither required nor allowed."""
        return self.of_kind("collateral")

    @property
    def vacuous(self) -> tuple[Finding, ...]:
        """Requirements that held before the episode; they earn nothing."""
        return self.of_kind("vacuous")

    @property
    def table(self) -> pd.DataFrame:
        """One row a finding, what decides the verdict first."""
        import pandas as pd

        order = ["missing", "broken", "collateral", "vacuous", "allowed", "met"]
        rows = sorted(self.findings, key=lambda f: order.index(f.kind))
        cells = [(f.kind, f.place, f.expected, f.found) for f in rows]
        return pd.DataFrame(cells, columns=["finding", "place", "expected", "found"])

    def _headline(self) -> str:
        parts = [self.status]
        if not np.isnan(self.credit):
            parts.append(f"credit {self.credit:.2f}")
        if self.allowed_share:
            parts.append(f"allowed patterns cover {self.allowed_share:.1%} of the state")
        return "; ".join(parts)

    def __str__(self) -> str:
        lines = [self._headline(), *(f"note: {note}" for note in self.notes)]
        if self.findings:
            rows = [tuple(self.table), *self.table.itertuples(index=False, name=None)]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines += [
                "  ".join(
                    f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)
                ).rstrip()
                for row in rows
            ]
        return "\n".join(lines)

    __repr__ = __str__  # what a notebook shows where it has no HTML

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        table = self.table.to_html(index=False, escape=True) if self.findings else ""
        return f"<p><strong>{escape(self._headline())}</strong></p>{notes}{table}"


def grade(before: State, after: State, task: Task) -> Verdict:
    """The verdict on an episode, from the states before and after it.

    Parameters
    ----------
    before, after
        States, as `snapshot` gives them.
    task
        What must, and what may, change.

    Returns
    -------
    Verdict
        *Pass* if every requirement is met, every invariant holds and every other change is
        allowed; *not evaluated* if the task states nothing, or if all it requires held already
        and nothing else changed; else *fail*.

    Raises
    ------
    TaskError
        If the task does not fit the before state.
    StateError
        If a state cannot be compared.

    Examples
    --------
    >>> before = {"orders": {"W1": {"status": "pending"}, "W2": {"status": "pending"}}}
    >>> after = {"orders": {"W1": {"status": "cancelled"}, "W2": {"status": "cancelled"}}}
    >>> verdict = grade(before, after, Task(required={"orders/W1/status": "cancelled"}))
    >>> print(verdict)
    fail; credit 1.00
    finding     place             expected     found
    collateral  orders/W2/status  no change    'pending' -> 'cancelled'
    met         orders/W1/status  'cancelled'  'cancelled'
    """
    fitted = fit(task, before)
    forms = declare(task.forms)
    findings = [*_required(before, after, fitted, forms), *_deleted(after, fitted, forms)]
    changes, created = _created(state_diff(before, after, task.forms), fitted, forms)
    findings += created
    findings += _unasked(changes, before, after, task, fitted)
    findings += [f for i in task.invariants for f in _broken(i, before, after)]
    kinds = [f.kind for f in findings]
    met, missing = kinds.count("met"), kinds.count("missing")
    return Verdict(
        _status(task, kinds),
        tuple(findings),
        met / (met + missing) if met + missing else float("nan"),
        allowed_share(before, task),
        _notes(task, kinds),
    )


def _status(task: Task, kinds: list[str]) -> str:
    if not task.states_something:
        return "not evaluated"
    if {"missing", "broken", "collateral"} & set(kinds):
        return "fail"
    if "met" in kinds or task.unchanged or task.invariants:
        return "pass"
    return "not evaluated"


def _notes(task: Task, kinds: list[str]) -> tuple[str, ...]:
    if not task.states_something:
        return ("the task states nothing; say unchanged=True if nothing may change",)
    if task.unchanged:
        return ("the goal equals the start: an agent that does nothing passes",)
    if not {"met", "missing"} & set(kinds) and not task.invariants:
        return ("every requirement held before the episode, so nothing can be earned",)
    return ()


def _required(before: State, after: State, fitted: FittedTask, forms: Forms) -> Iterator[Finding]:
    view = keyed_view(forms)
    for path, expected in fitted.required.items():
        old, found = find(before, path, MISSING, view), find(after, path, MISSING, view)
        held = equals(expected, old, path, forms)
        kind = "missing"
        if equals(expected, found, path, forms):
            kind = "vacuous" if held else "met"
        yield Finding(kind, format_path(path), show(expected), show(found))


def _deleted(after: State, fitted: FittedTask, forms: Forms) -> Iterator[Finding]:
    for path in fitted.deleted:
        found = find(after, path, MISSING, keyed_view(forms))
        kind = "met" if found is MISSING else "missing"
        yield Finding(kind, format_path(path), "nothing", show(found))


def _created(
    changes: Iterable[Change], fitted: FittedTask, forms: Forms
) -> tuple[list[Change], list[Finding]]:
    """The changes that no created row explains, and a finding for each created row."""
    left, findings = list(changes), []
    for table in dict.fromkeys(table for table, _ in fitted.created):
        wanted = [row for t, row in fitted.created if t == table]
        added = [c for c in left if c.kind == "added" and c.path[:-1] == table]
        rows = [c for c in added if type(c.after) is dict]
        pairs = matching(wanted, rows, forms)
        unmatched = [row for j, row in enumerate(rows) if j not in pairs.values()]
        for i, spec in enumerate(wanted):
            found = (
                format_path(rows[pairs[i]].path) if i in pairs else nearest(spec, unmatched, forms)
            )
            kind, where = "met" if i in pairs else "missing", f"{format_path(table)}: a new row"
            findings.append(Finding(kind, where, show(spec.columns, 200), found))
        for i, j in pairs.items():
            left.remove(rows[j])
            left += unexplained(wanted[i], rows[j])
    return left, findings


def _unasked(
    changes: Iterable[Change], before: State, after: State, task: Task, fitted: FittedTask
) -> Iterator[Finding]:
    """A finding for each change that no requirement explains: allowed, or collateral."""
    view = keyed_view(declare(task.forms))
    required = set(map(canonical, fitted.required))  # typed, so that key True is not key 1
    deleted = set(map(canonical, fitted.deleted))
    for change in changes:
        above = (canonical(change.path[:n]) for n in range(1, len(change.path) + 1))
        if not required.isdisjoint(above):
            continue
        if change.kind == "removed" and canonical(change.path) in deleted:
            continue
        ok = any(a.allows(change.path, before, after, view) for a in task.allowed)
        values = change.note or f"{show(change.before)} -> {show(change.after)}"
        yield Finding(
            "allowed" if ok else "collateral",
            format_path(change.path),
            "allowed change" if ok else "no change",
            values,
        )


def _broken(invariant: Invariant, before: State, after: State) -> Iterator[Finding]:
    """A finding if an invariant does not hold in the after state."""
    try:
        holds = invariant.holds(after)
        found = "it does not"
    except Exception as error:  # an odd value of the agent's, or a mistake in the invariant
        try:
            invariant.holds(before)
        except Exception:
            raise TaskError(
                f"invariant {invariant.name!r} raises on the before state too: {error!r}"
            ) from error
        holds, found = False, f"checking it raised {error!r}"
    if holds is None:
        raise TaskError(f"invariant {invariant.name!r} returned None; return True or False")
    if not holds:
        yield Finding("broken", invariant.name, "it holds", found)


def allowed_share(before: State, task: Task) -> float:
    """The share of a state's fields that allowed patterns cover, those for additions aside.

    Examples
    --------
    >>> from evalkit.tasks import Allowed
    >>> state = {"orders": {1: {"status": "new", "note": ""}, 2: {"status": "new", "note": ""}}}
    >>> allowed_share(state, Task(unchanged=True, allowed=[Allowed("orders/*/note")]))
    0.5
    """
    covered: dict[Path, Any] = {}
    for entry in task.allowed:
        if entry.only != "added":
            covered |= places(entry.path, before)
    own = [p for p in covered if not any(p[:n] in covered for n in range(1, len(p)))]
    return sum(field_count(covered[p]) for p in own) / field_count(before) if own else 0.0
