"""``audit_grader``: how far a grader can be trusted.

A grader is a test, and a test is tested by breaking what it guards. From an end state that is
right the audit makes *mutants* (a wrong value, a deleted row, a write on the wrong record) and
*variants* that change nothing that matters (mappings in another order, a number written in
another way), shows each to the grader, and counts what it lets through and what it fails wrongly.

What is harm, `grade` decides with the task: an end state is harmful if the task fails it. So a
mutant that falls in an allowed place, or is the same under a declared form, is a harmless variant,
whatever it was made as. Without a task every difference from the right end state is harm.

The rates are shares of these probes. They say which holes there are, not how often an agent will
fall into one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.forms import Forms, canonical, declare, forms_at
from evalkit.grading import Verdict, grade
from evalkit.paths import Path, find, format_path, key_text, leaves
from evalkit.statediff import Change, Diff, State, state_diff
from evalkit.tasks import Task
from evalkit.values import MISSING, check_value, same, show

if TYPE_CHECKING:
    import pandas as pd

#: Takes the states before and after an episode.
Grader = Callable[[State, State], Any]
#: Path to the value that is written there; `MISSING` removes it.
Edits = dict[Path, Any]
#: The kinds that add to what is done, and undo none of it.
ADDITIONS = ("write outside scope", "extra field changed", "field added", "row added twice")
#: How a database is built (see `evalkit.databases`): no agent could write a made-up line of it.
SCHEMA = "sqlite_schema"
#: How many of the survivors of a kind are shown.
FEW = 3

#: By declared form, the same value written in another way.
OTHERWISE: dict[str, Callable[[str], str]] = {
    "number": lambda text: text + ("0" if "." in text else ".0"),
    "instant": lambda text: text.replace("Z", "+00:00"),
    "caseless": str.swapcase,
    "spaces": lambda text: f" {text}\t",
}


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found.

    Attributes
    ----------
    probes : DataFrame
        One row an end state that the grader was shown. ``probe``: mutant (variants included),
        agent or field. ``kind``: how it was made. ``in truth``: harmful or harmless, as the task
        says; empty for a field. ``answer``: pass, fail, not evaluated, or ``error: ...`` if the
        grader raised or returned no truth value. ``difference``: from the right end state.
    notes : tuple of str
        The grader's answer on the right end state, what is harm, and what the agents earn.
    """

    probes: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """One row a kind and truth: the wrong answers, of how many answers, and their share.

        A wrong answer passes harm, fails a harmless variant, or passes a field both changed and
        removed, which no check can have looked at. ``unanswered`` probes, that raised or were not
        evaluated, are neither caught nor let through. ``low`` and ``high`` are the 95% Wilson
        interval. A kind that has no place in these states has no row.
        """
        import pandas as pd

        probes = self.probes[self.probes["probe"] != "agent"]
        total = probes[probes["probe"] == "mutant"].assign(kind="all mutants")
        groups = pd.concat([probes, total]).groupby(["kind", "in truth"])["answer"]
        rows = [(*key, *_rate(list(answers), str(key[1]))) for key, answers in groups]
        columns = ["kind", "in truth", "wrong", "of", "unanswered", "rate", "low", "high"]
        return pd.DataFrame(rows, columns=columns).set_index(columns[:2])

    def escape_rate(self, kind: str = "all mutants") -> float:
        """The share of the harmful mutants that the grader passes; NaN if it answers on none."""
        return float(self.table["rate"].get((kind, "harmful"), np.nan))

    def false_alarm_rate(self, kind: str = "all mutants") -> float:
        """The share of the harmless variants that the grader fails; NaN if it answers on none."""
        return float(self.table["rate"].get((kind, "harmless"), np.nan))

    def unseen_share(self) -> float:
        """The share of the fields that no check looks at, whether the task allows that or not."""
        return float(self.table["rate"].get(("one field changed", ""), np.nan))

    @property
    def survivors(self) -> pd.DataFrame:
        """The harmful mutants that the grader passes, each with its difference."""
        return self.probes.query("probe == 'mutant' & `in truth` == 'harmful' & answer == 'pass'")

    @property
    def false_alarms(self) -> pd.DataFrame:
        """The harmless variants that the grader fails, each with its difference."""
        return self.probes.query("probe == 'mutant' & `in truth` == 'harmless' & answer == 'fail'")

    def _listing(self) -> str:
        wrong = defaultdict[str, list[str]](list)
        for p in (*self.survivors.itertuples(), *self.false_alarms.itertuples()):
            wrong[f"{p.answer}, {p.kind}"].append(str(p.difference))
        lines = [*self.notes]
        for kind, found in wrong.items():
            lines += [f"{kind}: {difference}" for difference in found[:FEW]]
            lines += [f"{kind}: and {len(found) - FEW} more"] if len(found) > FEW else []
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self._listing()}\n{self.table.to_string()}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._listing())}</pre>{self.table.to_html()}"


def _rate(answers: list[str], truth: str) -> tuple[int, int, int, float, float, float]:
    from scipy.stats import binomtest

    wrong = answers.count("fail" if truth == "harmless" else "pass")
    of = answers.count("pass") + answers.count("fail")
    low, high = binomtest(wrong, of).proportion_ci(method="wilson") if of else (0.0, 1.0)
    return wrong, of, len(answers) - of, wrong / of if of else np.nan, float(low), float(high)


def audit_grader(
    grader: Grader,
    before: State,
    reference: State,
    task: Task | None = None,
    *,
    rng: np.random.Generator | int = 0,
    per_kind: int = 20,
    fields: int = 200,
) -> Audit:
    """What a grader lets through, what it fails wrongly, and what it never looks at.

    Parameters
    ----------
    grader
        Takes the states before and after an episode and returns a truth value or a `Verdict`.
        Wrap one that takes paths or connections in a function that first writes both states
        where it reads them.
    before, reference
        The state at the start, and an end state that is right.
    task
        Says, by `grade`, what is harm. By default: reach the reference and change nothing else.
    rng
        A generator or a seed; draws the mutants and the fields.
    per_kind, fields
        The most mutants of a kind (where the task is about comes first), and the most fields to
        change one by one.

    Raises
    ------
    ValueError
        If the task does not pass the reference, or the grader raises on it or gives no verdict.

    Examples
    --------
    >>> before = {"orders": {1: {"status": "new"}, 2: {"status": "new"}}}
    >>> reference = {"orders": {1: {"status": "sent"}, 2: {"status": "new"}}}
    >>> report = audit_grader(lambda _, after: after["orders"][1]["status"] == "sent", before, reference)
    >>> report.survivors["difference"].iloc[0]
    "orders/2/status: changed, 'new' -> 'newx'"
    """
    basis = (
        "what the task of reaching the reference fails" if task is None else "what the task fails"
    )
    task = Task.from_goal(before, reference) if task is None else task
    if not (verdict := grade(before, reference, task)):
        raise ValueError(f"reference: the task does not pass it, so it is not right:\n{verdict}")
    rng = np.random.default_rng(rng)
    rows = []
    for probe, kind, after in _end_states(before, reference, task, per_kind, rng):
        truth = "harmless" if grade(before, after, task) else "harmful"
        changes = "; ".join(map(str, state_diff(reference, after)))
        rows.append((probe, kind, truth, _answer(grader, before, after), changes))
    rows += _field_rows(grader, before, reference, _fields(reference, rng)[:fields])
    earned = [f"an agent that {row[1]}: {row[3]}" for row in rows if row[0] == "agent"]
    right = f"right end state (if not pass, no catch counts): {_right(grader, before, reference)}"
    harm = f"harm is {basis}; it allows {verdict.allowed_share:.1%} of the fields to change"
    left = [f"{SCHEMA} is left as it is: no mutant and no field is of it"] * (SCHEMA in reference)
    return Audit(_table(rows), (right, harm, *left, *earned))


def _table(rows: Sequence[tuple[str, ...]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=["probe", "kind", "in truth", "answer", "difference"])


def _right(grader: Grader, before: State, reference: State) -> str:
    """The answer on the right end state, on which a grader must not raise."""
    try:
        said = grader(check_value(before), check_value(reference))
    except Exception as error:
        raise ValueError(f"grader: it raises on the right end state: {error!r}") from error
    if (answer := _in_words(said)).startswith("error: "):
        why = answer.removeprefix("error: ")
        raise ValueError(
            f"grader: no verdict on the right end state: {why}; return True, False or a Verdict"
        )
    return answer


def _field_rows(
    grader: Grader, before: State, reference: State, paths: list[Path]
) -> Iterator[tuple[str, str, str, str, str]]:
    """A row for each field: whether the grader minds that it is changed, or removed."""
    for path in paths:
        values = _others(find(reference, path, MISSING))[0], MISSING
        said = [_answer(grader, before, _written(reference, {path: value})) for value in values]
        answer = "fail" if "fail" in said else min(said)
        yield "field", "one field changed", "", answer, format_path(path)


def _answer(grader: Grader, before: State, after: State) -> str:
    try:  # with copies, to do with as it likes
        return _in_words(grader(check_value(before), check_value(after)))
    except Exception as error:
        return f"error: {error!r}"


def _in_words(said: Any) -> str:
    if isinstance(said, Verdict):
        return said.status
    try:
        return {True: "pass", False: "fail"}.get(said, f"error: it returned {show(said)}")
    except Exception as error:  # it cannot be compared
        return f"error: {error!r}"


# --- end states ---------------------------------------------------------------------------


def _end_states(
    before: State, reference: State, task: Task, most: int, rng: np.random.Generator
) -> Iterator[tuple[str, str, State]]:
    """What each is, its kind, and the end state; no mutant is stored as the reference is."""
    undo = {change.path: change.before for change in state_diff(before, reference)}
    # What may as well stay undone is not what the task is about.
    undo = {p: v for p, v in undo.items() if not grade(before, _written(reference, {p: v}), task)}
    count, everything = Counter[str](), dict[Path, Any]()
    for kind, edits in _edits(reference, undo, declare(task.forms), most, rng):
        if kind in ADDITIONS and not any(p[:n] in undo for p in edits for n in range(len(p) + 1)):
            everything |= edits
        if count[kind] < most and not same(after := _written(reference, edits), reference):
            count[kind] += 1
            yield "mutant", kind, after
    yield "mutant", "mappings in another order", _backwards(reference)
    yield "agent", "does nothing", before
    yield "agent", "empties every table", {table: {} for table in before}
    yield "agent", "makes every other change too", _written(reference, everything)


def _edits(
    reference: State, undo: Edits, forms: Forms, most: int, rng: np.random.Generator
) -> Iterator[tuple[str, Edits]]:
    """Every mutant as its kind and its edits; those that the task is about first, else mixed."""
    paths = _fields(reference, rng)
    goal = {p for p in paths if any(p[:n] in undo for n in range(1, len(p) + 1))}
    busy = {p[:-1] for p in (*goal, *undo)}
    paths = sorted(paths, key=lambda p: p not in goal)[: len(goal) + 20 * most]
    for p in paths:
        value = find(reference, p, MISSING)
        where = "wrong value" if p in goal else ADDITIONS[p[:-1] in busy]
        yield from ((where, {p: v}) for v in _others(value)[: None if p in goal else 1])
        yield "type change", {p: _retyped(value)}
        for form in forms_at(p, forms):
            new = value[::-1] if type(value) is list else OTHERWISE.get(form, str)(str(value))
            if canonical(new, p, forms) == canonical(value, p, forms):
                yield f"written otherwise: {form}", {p: new}
    yield from (("reverted requirement", {p: old}) for p, old in undo.items())
    first: dict[Path, Path] = {}
    rows = dict.fromkeys(p[:-1] for p in paths if len(p) > 1)
    for row in sorted(rows, key=lambda row: row not in undo):
        gone, twin = {row: MISSING}, _copied(reference, row, row[:-1])
        yield ("another id for a new row", gone | twin) if row in undo else ("row deleted", gone)
        yield "row added twice", twin
        yield "field added", {(*row, "extra"): None}
        for table in reference:
            if table not in (row[0], SCHEMA) and type(reference[table]) is dict:
                yield "row in another table", gone | _copied(reference, row, (table,))
        other = first.setdefault(row[:-1], row)
        yield "swapped ids", _placed(reference, row, other) | _placed(reference, other, row)


def _fields(state: State, rng: np.random.Generator) -> list[Path]:
    """The fields of the tables, mixed."""
    fields = [*filter(None, leaves(state))]
    mixed = (fields[i] for i in rng.permutation(len(fields)))
    return [path for path in mixed if path[0] != SCHEMA]


def _written(state: State, edits: Edits) -> State:
    """A copy of a state with some values written; what is not written to is shared."""
    return Diff(tuple(Change(path, MISSING, value) for path, value in edits.items())).apply(state)


def _backwards(value: Any) -> Any:
    """The same value with the keys of every mapping in the other order."""
    return {k: _backwards(value[k]) for k in reversed(value)} if type(value) is dict else value


def _others(value: Any) -> list[Any]:
    """Values that are not the given one: near to it, empty, and None."""
    kind, found = type(value), [not value, "x", None]
    if kind in (int, float):
        found = [value + 1, -value, None]
    elif kind in (str, list, tuple):
        found = [value + kind("x"), value[:-1], kind(), None]
    return list({canonical(v): v for v in found if not same(v, value)}.values())


def _retyped(value: Any) -> Any:
    """The value as a careless writer would store it, in another type."""
    kind = type(value)
    whole = kind in (bool, float) and value % 1 == 0
    near = int(value) if whole else [value] if kind is str else show(value)
    return float(value) if kind is int and abs(value) < 2**53 else near


def _copied(state: State, row: Path, table: Path) -> Edits:
    """A row like the given one, in a table, under a key that is free there."""
    key, taken = row[-1], find(state, table, {})
    while key in taken:
        key = key + 1 if type(key) is int else f"{key_text(key)}-2"
    return _placed(state, row, (*table, key))


def _placed(state: State, row: Path, place: Path) -> Edits:
    """A row written at a place, with its new key in the column that repeats the key."""
    content = find(state, row, {})
    column = [c for c, value in content.items() if same(value, row[-1])][:1]
    return {place: content | dict.fromkeys(column, place[-1])}
