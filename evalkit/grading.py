"""The verdict on an episode: did the required changes happen, and did nothing else?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.forms import canonical, equals
from evalkit.newrows import matching, nearest, unexplained
from evalkit.paths import Path, field_count, format_path, same_key
from evalkit.statediff import Change, State, check_state, state_diff
from evalkit.tasks import FittedTask, Invariant, Task, TaskError, fit
from evalkit.values import MISSING, a_kind, show, show_apart

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
            table = self.table
            rows = [tuple(table), *table.itertuples(index=False, name=None)]
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
        If the task is none, or does not fit the before state.
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
    _check_arguments(before, after, task)
    fitted = fit(task, before, after)
    changes, created = _created(state_diff(before, after, task.forms), fitted)
    findings = [*_required(fitted), *_deleted(fitted), *created, *_unasked(changes, fitted)]
    invariants = [_invariant(i, before, after) for i in task.invariants]
    findings += [f for f in invariants if f.kind != "held"]
    kinds = [f.kind for f in (*findings, *invariants)]
    met, missing = kinds.count("met"), kinds.count("missing")
    return Verdict(
        _status(task, kinds),
        tuple(findings),
        met / (met + missing) if met + missing else float("nan"),
        allowed_share(fitted),
        (*_notes(task, kinds), *_matching_nothing(task, fitted)),
    )


def _check_arguments(before: Any, after: Any, task: Any) -> None:
    if not isinstance(task, Task):
        makes = f"load_task({str(task)!r})" if isinstance(task, str | PathLike) else "Task(...)"
        raise TaskError(
            f"task is {a_kind(task)}, not a Task; give before, after and task in this order, and "
            f"what {makes} makes"
        )
    check_state("before", before)
    check_state("after", after)


def _status(task: Task, kinds: list[str]) -> str:
    if not task.states_something:
        return "not evaluated"
    if {"missing", "broken", "collateral"} & set(kinds):
        return "fail"
    # What held before earns nothing: not a requirement, and not an invariant beside it.
    return "pass" if "met" in kinds or "vacuous" not in kinds else "not evaluated"


def _notes(task: Task, kinds: list[str]) -> tuple[str, ...]:
    if not task.states_something:
        return ("the task states nothing; say unchanged=True if nothing may change",)
    if task.unchanged:
        return ("nothing is to change: an agent that does nothing passes",)
    if not {"met", "missing", "broken"} & set(kinds):
        if "vacuous" in kinds:
            return ("every requirement held before the episode, so nothing can be earned",)
        return ("every invariant held before the episode: an agent that does nothing passes",)
    return ()


def _matching_nothing(task: Task, fitted: FittedTask) -> Iterator[str]:
    """A note on each name that neither state has; a typo is silent else, or the agent's fault."""
    patterns = [(str(entry), entry.path) for _, entry in fitted.allowed]
    patterns += [(f"forms[{pattern!r}]", pattern) for pattern, _ in fitted.forms]
    patterns += _stated_fields(task, fitted)
    for name, pattern in patterns:
        if fitted.before.leads_nowhere(pattern) and fitted.after.leads_nowhere(pattern):
            yield f"{name} names nothing in either state; is it misspelt?"


def _stated_fields(task: Task, fitted: FittedTask) -> Iterator[tuple[str, Path]]:
    """Each field that a task states of a row, with a pattern of it in all rows of the table."""
    fields: list[tuple[str, Path]] = []
    for stated, (path, value) in zip(task.required, fitted.required.items(), strict=True):
        entry = f"required[{stated!r}]"
        whole = type(value) is dict and len(path) > 1  # a row
        columns = [(f"{entry}, {column!r}", (*path, column)) for column in value] if whole else []
        fields += columns or [(entry, path)]
    for i, (table, row) in enumerate(fitted.created):
        columns = [(f"created[{i}], {c!r}", (*table, "*", c)) for c in (*row.columns, *row.free)]
        fields += columns
    for name, path in fields:
        yield name, (*path[:1], *("*" for _ in path[1:-1]), *path[1:][-1:])


def _required(fitted: FittedTask) -> Iterator[Finding]:
    for path, stated in fitted.required.items():
        forms, expected = fitted.forms, fitted.fixed_part(stated, path)
        old, new = (state.find(path, MISSING) for state in (fitted.before, fitted.after))
        kind = "missing"
        if equals(expected, fitted.fixed_part(new, path), path, forms):
            held = equals(expected, fitted.fixed_part(old, path), path, forms)
            kind = "vacuous" if held else "met"
        yield Finding(kind, format_path(path), *show_apart(expected, new))


def _deleted(fitted: FittedTask) -> Iterator[Finding]:
    for path in fitted.deleted:
        found = fitted.after.find(path, MISSING)
        kind = "met" if found is MISSING else "missing"
        yield Finding(kind, format_path(path), "nothing", show(found))


def _created(changes: Iterable[Change], fitted: FittedTask) -> tuple[list[Change], list[Finding]]:
    """The changes that no created row explains, and a finding for each created row."""
    left, findings = list(changes), []
    for table in dict.fromkeys(table for table, _ in fitted.created):
        wanted = [row for t, row in fitted.created if t == table]
        is_new = [c.kind == "added" and same_key(c.path[:-1], table) for c in left]
        rows = [c for c, new in zip(left, is_new, strict=True) if new and type(c.after) is dict]
        pairs = matching(wanted, rows, fitted.forms)
        unmatched = [row for j, row in enumerate(rows) if j not in pairs.values()]
        where = f"{format_path(table)}: a new row"
        for i, spec in enumerate(wanted):
            kind, found = "missing", nearest(spec, unmatched, fitted.forms, bool(rows))
            if i in pairs:
                kind, found = "met", format_path(rows[pairs[i]].path)
            findings.append(Finding(kind, where, show(spec.columns, 200), found))
        explained = {id(rows[j]) for j in pairs.values()}
        left = [change for change in left if id(change) not in explained]
        left += [extra for i, j in pairs.items() for extra in unexplained(wanted[i], rows[j])]
    return left, findings


def _unasked(changes: Iterable[Change], fitted: FittedTask) -> Iterator[Finding]:
    """A finding for each change that no requirement explains: allowed, or collateral."""
    required = set(map(canonical, fitted.required))  # typed, so that key True is not key 1
    deleted = set(map(canonical, fitted.deleted))
    for change in changes:
        above = (canonical(change.path[:n]) for n in range(1, len(change.path) + 1))
        if not required.isdisjoint(above):
            continue
        if change.kind == "removed" and canonical(change.path) in deleted:
            continue
        ok = fitted.allows(change.path)
        old, new = show_apart(change.before, change.after)
        yield Finding(
            "allowed" if ok else "collateral",
            format_path(change.path),
            "allowed change" if ok else "no change",
            change.note or f"{old} -> {new}",
        )


def _invariant(invariant: Invariant, before: State, after: State) -> Finding:
    """Whether an invariant holds afterwards: ``broken``, ``held`` as before, or ``met`` now."""
    sides = [_holds(invariant, state) for state in (before, after)]
    if all(isinstance(side, Exception) for side in sides):
        if isinstance(sides[0], TaskError):
            raise sides[0]
        raise TaskError(
            f"invariant {invariant.name!r} raises on the before state too: {sides[0]!r}"
        )
    if sides[1] is True:
        kind, found = "held" if sides[0] is True else "met", "it holds"
    else:
        kind, found = "broken", f"checking it raised {sides[1]!r}" if sides[1] else "it does not"
    return Finding(kind, invariant.name, "it holds", found)


def _holds(invariant: Invariant, state: State) -> bool | Exception:
    try:
        holds = invariant.holds(state)
        if holds is None:
            raise TaskError(f"invariant {invariant.name!r} returned None; return True or False")
        return bool(holds)
    except Exception as error:  # an odd value of the agent's, or a mistake in the invariant
        return error


def allowed_share(fitted: FittedTask) -> float:
    """The share of the before state's fields that allowed patterns cover, additions aside.

    Examples
    --------
    >>> from evalkit.tasks import Allowed
    >>> state = {"orders": {1: {"status": "new", "note": ""}, 2: {"status": "new", "note": ""}}}
    >>> allowed_share(fit(Task(allowed=[Allowed("orders/*/note")]), state, state))
    0.5
    """
    covered: dict[Path, Any] = {}
    for pattern, entry in fitted.allowed:
        if entry.only != "added":
            covered |= fitted.before.places(pattern)
    own = [p for p in covered if not any(p[:n] in covered for n in range(1, len(p)))]
    # A keyed list is one field of the state, and its items a part of it.
    counted = sum(field_count(covered[p]) for p in own)
    return min(1.0, counted / field_count(fitted.before.state)) if own else 0.0
