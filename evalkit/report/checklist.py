"""The design checklist of an evaluation, filled in.

A line is *met* or *not met* where the data show it or somebody states it, and *not stated* where
neither is so. None is met by default, and a statement never outweighs data that say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from evalkit.report.conditions import DATA, STATED, listed
from evalkit.report.evidence import ITEMS, Evidence
from evalkit.report.measures import counted

MET, NOT_MET, NOT_STATED = "met", "not met", "not stated"
#: The largest share of a state that may be allowed to change and still be called narrow.
NARROW = 0.05
#: The most process rules that are still few.
FEW = 10

#: A status, the evidence in words, and what they rest on, if that is not the data.
Found = tuple[str, ...]
Data = Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """One line of the checklist, filled in.

    Attributes
    ----------
    name, item : str
        Its short name, and what it asks for.
    status : {"met", "not met", "not stated"}
    basis : {"data", "stated", ""}
        What the status rests on.
    why : str
        The evidence in words.
    to_do : str
        What to do; empty where it is met.
    """

    name: str
    item: str
    status: str
    basis: str
    why: str
    to_do: str


def filled_in(data: Data, evidence: Evidence) -> tuple[Check, ...]:
    """The checklist, each line with its status.

    Parameters
    ----------
    data : mapping
        What `evalkit.report.measures` and `evalkit.report.conditions` found in the trials, by name.
    evidence : Evidence
        What the trials cannot show.
    """
    return tuple(_check(item, evidence, *_LINES[item[0]](data, evidence)) for item in ITEMS)


def _check(
    line: tuple[str, str, str], evidence: Evidence, status: str, why: str, basis: str = DATA
) -> Check:
    name, item, advice = line
    claim = evidence.stated.get(name)
    if claim is False and status != NOT_MET:
        status, basis, why = NOT_MET, STATED, "stated as not met"
    elif claim and status == NOT_STATED:
        status, basis, why = MET, STATED, str(claim)
    elif claim and status == NOT_MET:
        why = f"{why}; yet it was stated: {claim}"
    basis = "" if status == NOT_STATED else basis
    return Check(name, item, status, basis, why, "" if status == MET else advice)


def _wrong(evidence: Evidence, truth: str) -> tuple[int, int, int]:
    """Wrong answers, answers and unanswered probes on all mutants, over all audits."""
    wrong = of = unanswered = 0
    for audit in evidence.audits or ():
        for (kind, is_truly), row in zip(
            audit.table.index, audit.table.to_dict("records"), strict=True
        ):
            if (kind, is_truly) == ("all mutants", truth):
                wrong, of = wrong + row["wrong"], of + row["of"]
                unanswered += row["unanswered"]
    return wrong, of, unanswered


def _changes(data: Data, evidence: Evidence) -> Found:
    wrong, of, unanswered = _wrong(evidence, "harmful")
    if of + unanswered:
        left = f", and gives no answer on {unanswered}" * bool(unanswered)
        text = f"the grader lets {wrong} of {of} harmful end states through{left}"
        return NOT_MET if wrong or unanswered else MET, text
    if not evidence.tasks:
        return NOT_STATED, ""
    empty = sum(not task.states_something for task in evidence.tasks)
    text = f"{empty} of {len(evidence.tasks)} tasks state nothing"
    full = f"{counted(len(evidence.tasks), 'task')}, each graded on the full diff"
    return (NOT_MET, text) if empty else (MET, full)


def _allowed(data: Data, evidence: Evidence) -> Found:
    share = data["allowed share"]
    if share is not None:
        known, of = share["known"], share["of"]
        text = f"allowed patterns cover at most {share['most']:.1%} of a state"
        if share["most"] > NARROW:
            return NOT_MET, text
        return (MET, text) if known == of else (NOT_STATED, f"{text}, in {known} of {of} trials")
    if evidence.tasks and not any(task.allowed for task in evidence.tasks):
        return MET, "nothing is allowed beside what is required"
    return NOT_STATED, ""


def _canonical(data: Data, evidence: Evidence) -> Found:
    wrong, of, unanswered = _wrong(evidence, "harmless")
    if not of + unanswered:
        return NOT_STATED, ""
    text = f"the grader fails {wrong} of {of} end states that are right, though written otherwise"
    return NOT_MET if wrong or unanswered else MET, text


def _reach(data: Data, evidence: Evidence) -> Found:
    if evidence.exposures is None:
        return NOT_STATED, ""
    if evidence.exposures:
        more = f", and {len(evidence.exposures) - 1} more" * (len(evidence.exposures) > 1)
        return NOT_MET, f"{evidence.exposures[0]}{more}", STATED
    return MET, "looked for ways to the grader and the answers, and found none", STATED


def _process(data: Data, evidence: Evidence) -> Found:
    rules, seen = evidence.rule_names, data["process rules"]
    if unlisted := [name for name in (seen or {}).get("broken", {}) if rules and name not in rules]:
        return NOT_MET, f"a trial broke a rule that is not listed: {unlisted[0]}"
    if len(rules) > FEW:
        return NOT_MET, f"{len(rules)} rules; more than {FEW} are hard to agree on"
    if rules and seen and seen["known"] == seen["of"]:
        return MET, "; ".join(rules)
    if rules:
        known = seen["known"] if seen else 0
        of = counted(known, "trial") if known else "no trial"
        text = f"rules are listed; which were broken is known of {'only ' * bool(known)}{of}"
        return NOT_STATED, text
    return NOT_STATED, ""


def _credit(data: Data, evidence: Evidence) -> Found:
    if data["trials"]["most"] == 0:
        return NOT_STATED, "no trial has a verdict"
    if not data["partial credit"]:
        return NOT_STATED, "no partial credit was given"
    return MET, "partial credit stands beside the rate of full completion"


def _trials(data: Data, evidence: Evidence) -> Found:
    fewest, most, k = (data["trials"][name] for name in ("fewest", "most", "k"))
    alike = (data["identical trials"] or {"trials": 0})["trials"]
    if not k:
        return NOT_MET, "no task has a valid trial"
    if alike:
        return NOT_MET, f"{alike} trials repeat one another, so they are not as many as they seem"
    if fewest < k:
        return NOT_MET, f"a task has {counted(fewest, 'valid trial')}, and pass^{k} is reported"
    if k == 1 < most:
        return NOT_MET, f"a task has a single valid trial, so the curve ends there; see k={most}"
    if k == 1:
        return NOT_MET, "one trial of each task, so nothing is known beyond pass^1"
    noisy = "; with n = k the estimate is noisy" * (fewest == k)
    return MET, f"{fewest} valid trials or more of each task, for pass^{k}{noisy}"


def _infra(data: Data, evidence: Evidence) -> Found:
    infra, retried = data["infra failures"]["infra"], data["retries"]
    logged = retried and retried["retries"] is not None
    if unknown := data["unknown causes"]:
        return NOT_MET, f"nobody knows whose failure it was in {counted(unknown, 'trial')}"
    if not infra and not (logged and unknown == 0):  # 0: each failure is somebody's
        return NOT_STATED, "none is tagged; nothing says whether one would have been"
    if logged:
        return _retried(infra, retried)
    if retried:
        text = f"{counted(infra, 'trial')} tagged; stated: retried up to {retried['limit']} times"
        return MET, text, STATED
    text = f"{counted(infra, 'trial')} tagged; nothing says how often one was retried"
    return NOT_STATED, text


def _retried(infra: int, retried: Data) -> Found:
    limit, early = retried["limit"], retried["given up early"]
    again = "1 retry" if retried["retries"] == 1 else f"{retried['retries']} retries"
    text = f"{counted(infra, 'infra failure')}, {again}"
    if limit is None:
        return NOT_STATED, f"{text}; nothing says what the limit was"
    if early:
        return NOT_MET, f"{text}; less often than {limit} times in {counted(early, 'trial')}"
    if retried["most"] > limit:
        return NOT_MET, f"{text}; one trial was retried more often than {limit} times"
    return MET, f"{text}, at most {limit} of a trial"


def _environment(data: Data, evidence: Evidence) -> Found:
    versions, basis = data["environment"]["versions"], data["environment"]["basis"]
    if len(versions) > 1:
        return NOT_MET, f"more than one version: {listed(versions)}"
    if versions:
        return MET, f"one version: {listed(versions)}", basis
    return (MET, "its fingerprint is given", STATED) if evidence.fingerprint else (NOT_STATED, "")


def _user(data: Data, evidence: Evidence) -> Found:
    models, settings, basis = (data["user simulator"][n] for n in ("models", "settings", "basis"))
    if len(models) > 1 or len(settings) > 1:
        return NOT_MET, f"it was not the same in all trials: {listed(models)}; {listed(settings)}"
    if models == ["none"]:
        return MET, "there is no simulated user", basis
    if models and settings:
        return MET, f"{models[0]}, settings {settings[0]}", basis
    return NOT_STATED, f"{models[0]}; its settings are not stated" if models else ""


def _budgets(data: Data, evidence: Evidence) -> Found:
    budgets, basis = data["step budget"]["budgets"], data["step budget"]["basis"]
    if len(budgets) > 1:
        return NOT_MET, f"more than one step budget: {listed(budgets)}"
    most = (data["steps"] or {"most": 0})["most"]
    if budgets and isinstance(budgets[0], Real) and budgets[0] < most:
        return NOT_MET, f"a trial took {most:g} steps, above the budget of {budgets[0]:g}"
    return (MET, f"{budgets[0]} steps for every trial", basis) if budgets else (NOT_STATED, "")


def _faults(data: Data, evidence: Evidence) -> Found:
    return NOT_STATED, ""


def _baselines(data: Data, evidence: Evidence) -> Found:
    found = [f"{name}: {passed} of {of}" for name, (passed, of) in evidence.baselines.items()]
    return (MET, "; ".join(found), STATED) if found else (NOT_STATED, "")


def _intervals(data: Data, evidence: Evidence) -> Found:
    if data["trials"]["used"] < 2:
        return NOT_MET, "fewer than two tasks have a verdict, so an interval says nothing"
    return MET, "each rate on this card has its interval"


_LINES: dict[str, Callable[[Data, Evidence], Found]] = {
    "changes": _changes,
    "allowed": _allowed,
    "canonical": _canonical,
    "reach": _reach,
    "process": _process,
    "credit": _credit,
    "trials": _trials,
    "infra": _infra,
    "environment": _environment,
    "user": _user,
    "budgets": _budgets,
    "faults": _faults,
    "baselines": _baselines,
    "intervals": _intervals,
}
