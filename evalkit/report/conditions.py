"""Under which conditions a result was had: budget, environment, user, and what to hold it against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Any

from evalkit.forms import canonical
from evalkit.report.measures import UNKNOWN, Found, Measure, Run, counted, known_of, missing
from evalkit.values import show

#: What a line of the card rests on: what the trials say, or what somebody says of them.
DATA, STATED = "data", "stated"


def conditions(run: Run) -> tuple[Measure, ...]:
    """The conditions, in the order of the card.

    Parameters
    ----------
    run : Run
        What is measured.
    """
    return tuple(Measure(name, *found(run)) for name, found in _CONDITIONS.items())


def _steps(run: Run) -> Found:
    if "steps" not in run.rows or run.valid["steps"].isna().all():
        return UNKNOWN, None
    used = run.valid["steps"].dropna().astype(float)
    data = {"mean": float(used.mean()), "most": float(used.max()), "known": len(used)}
    of = known_of(len(used), len(run.valid))
    return f"{used.mean():.1f} a trial, at most {used.max():g}{of}", data


def _cost(run: Run) -> Found:
    if "cost" not in run.rows or run.valid["cost"].isna().all():
        return UNKNOWN, None
    from evalkit.budget import cost_and_success

    known, of = int(run.valid["cost"].notna().sum()), len(run.valid)
    if known < of:
        return f"known of {known} of {of} trials only", {"known": known, "of": of}
    found = cost_and_success(run.rows, level=run.level)
    total = float(run.rows["cost"].sum())
    text = f"{found['cost']:.4g} a trial"
    if isfinite(found["cost_low"]):
        ends = f"{found['cost_low']:.4g} to {found['cost_high']:.4g}"
        text += f" ({run.level:.0%} interval {ends})"
    data = {"mean": found["cost"], "low": found["cost_low"], "high": found["cost_high"]}
    return f"{text}, {total:.4g} in all", data | {"total": total, "known": known, "of": of}


def _budget(run: Run) -> Found:
    recorded = _recorded(run, ["max_steps"])
    budgets = _distinct(recorded, run.evidence.max_steps)
    return listed(budgets), {"budgets": budgets, "basis": _basis(recorded)}


def _environment(run: Run) -> Found:
    recorded = _recorded(run, ["environment_version", "version"])
    versions = _distinct(recorded, run.evidence.environment_version)
    starts = _distinct(_recorded(run, ["start"]), None)
    print_of = run.evidence.fingerprint
    text = listed(versions)
    if starts and None not in starts:
        text += f"; {counted(len(starts), 'start state')}"
    if print_of:
        digests = ", ".join(f"{name} {_short(print_of[name])}" for name in print_of)
        text += f"; fingerprint: {digests}"
    data = {"versions": versions, "basis": _basis(recorded)}
    data["start states"] = [start for start in starts if start is not None]
    return text, data | {"fingerprint": dict(print_of) if print_of else None}


def _short(value: Any) -> str:
    return value[:12] if isinstance(value, str) else show(value)


def _user(run: Run) -> Found:
    recorded = _recorded(run, ["user_model", "user"]), _recorded(run, ["user_settings"])
    stated = run.evidence.user_model, run.evidence.user_settings
    models, settings = map(_distinct, recorded, stated)
    alone = not models or models == ["none"]
    basis = _basis(recorded[0] if alone else all(recorded))
    data = {"models": models, "settings": settings, "basis": basis}
    if alone:
        return listed(models), data
    return f"{listed(models)}, settings {listed(settings)}", data


def _recorded(run: Run, columns: Iterable[str]) -> list[Any]:
    """What each trial that was run says, in the first of the columns that says something."""
    for column in columns:
        if column in run.rows:
            found = run.rows.loc[run.was_run, column].tolist()
            values = [None if missing(value) or value == "" else value for value in found]
            if any(value is not None for value in values):
                return values
    return []


def _basis(recorded: Any) -> str:
    return DATA if recorded else STATED


def _distinct(recorded: Sequence[Any], stated: Any) -> list[Any]:
    """The values in order, once each, the stated one among them."""
    values = [*recorded, stated] if stated is not None else recorded
    distinct = {canonical(value): value for value in values}
    return sorted(distinct.values(), key=lambda value: (value is None, str(value)))


def listed(values: Sequence[Any]) -> str:
    """The values in words; a missing one was not recorded."""
    said = ("not recorded in some trials" if value is None else str(value) for value in values)
    return " and ".join(said) or UNKNOWN


def _baselines(run: Run) -> Found:
    found, text = {}, []
    for name, (passed, of) in run.evidence.baselines.items():
        rate = run.share([1] * passed + [0] * (of - passed), [1] * of)
        found[name] = {
            "passed": passed, "tasks": of,
            "rate": rate.value, "low": rate.low, "high": rate.high,
        }  # fmt: skip
        text.append(f"{name}: {passed} of {of} tasks, {run.rate(rate.low, rate.value, rate.high)}")
    return "; ".join(text) or UNKNOWN, found


def _identical(run: Run) -> Found:
    valid = run.valid
    if "trace" not in valid or valid.empty or valid["trace"].isna().any():
        return "not known: the log keeps no trace of what was done", None
    from evalkit.runlog import identical_trials

    sets = identical_trials(valid)
    tasks = list(dict.fromkeys(sets["task"]))
    alike = sum(map(len, sets["identical"]))
    text = (
        f"{alike} trials of {counted(len(tasks), 'task')} repeat one another" if alike else "none"
    )
    return text, {"trials": alike, "tasks": tasks}


_CONDITIONS: dict[str, Callable[[Run], Found]] = {
    "steps": _steps,
    "cost": _cost,
    "step budget": _budget,
    "environment": _environment,
    "user simulator": _user,
    "trivial agents": _baselines,
    "identical trials": _identical,
}
