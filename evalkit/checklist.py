"""The design checklist of an evaluation, as data, and what the evidence says of each line.

A line is *met* or *not met* where the data show it or somebody states it, and *not stated* where
neither is so. None is met by default, and a statement never outweighs data that say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalkit.process import Rule
from evalkit.tasks import Task

if TYPE_CHECKING:
    from evalkit.audit import Audit

MET, NOT_MET, NOT_STATED = "met", "not met", "not stated"
#: The largest share of a state that may be allowed to change and still be called narrow.
NARROW = 0.05
#: The most process rules that are still few.
FEW = 10

#: Name of a line, what it asks for, and what to do where it is not met or not stated.
ITEMS: tuple[tuple[str, str, str], ...] = (
    ("changes", "Every changed key is checked",
     "Grade the full diff with evalkit.grade, or show that nothing slips through: audits=[audit_grader(...)]."),
    ("allowed", "Allowed changes are narrow",
     "Name fields, not tables, and log the share that they cover: extra=episode_fields(verdict)."),
    ("canonical", "Keys and values are canonical",
     "Declare the forms in which a field may be written, and audit the grader: audits=[...]."),
    ("reach", "The grader and the answers are out of the agent's reach",
     "Look from the agent's folder: exposures=evalkit.isolation.exposures(folder, secrets)."),
    ("process", "Process rules are few and explicit",
     "List them, rules=[...], and log which of them each trial broke, as violations."),
    ("credit", "Partial credit stands only beside completion",
     "Judge full completion as well, as success."),
    ("trials", "At least as many trials as k, and better more",
     "Run more trials of each task than k."),
    ("infra", "Infra failures are tagged, retried to a limit and reported",
     "Tag whose failure each was, retry what the environment failed, and say how often: retries=3."),
    ("environment", "The environment's version is pinned",
     "Log environment_version, or keep evalkit.isolation.fingerprint(...) beside the result."),
    ("user", "The user simulator is fixed and reported",
     "Log user_model and user_settings; user_model='none' if there is no simulated user."),
    ("budgets", "Budgets are equal, or success is a curve over them",
     "Log max_steps, the same for all trials, or report evalkit.budget.success_within."),
    ("faults", "Recovery is tested by injected faults",
     "Run the suite again with faults injected, and state what came of it: stated={'faults': ...}."),
    ("baselines", "Trivial agents are scored",
     "Score an agent that does nothing on the same tasks: baselines={'does nothing': (passed, tasks)}."),
    ("intervals", "There is an interval on every rate",
     "Get a verdict on two tasks or more: one task says nothing of others."),
)  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """What a table of trials cannot show of an evaluation. All of it may be left out.

    Parameters
    ----------
    tasks : sequence of Task
        What the trials were graded on, by `evalkit.grading.grade`.
    audits : sequence of Audit
        Of the grader, from `evalkit.audit.audit_grader`.
    exposures : sequence of str
        From `evalkit.isolation.exposures`; empty if it was looked for and nothing was found.
    rules : sequence of Rule or str
        The process rules. Which trial broke which is in the trials' column ``violations``.
    baselines : mapping
        Name of a trivial agent to (tasks passed, tasks).
    fingerprint : mapping
        From `evalkit.isolation.fingerprint`.
    environment_version, user_model, user_settings, max_steps
        What the trials do not say; see `evalkit.runner.Setup`. A user_model of ``"none"`` says
        that there is no simulated user.
    retries : int
        The most retries of one trial, after infra failures only.
    stated : mapping
        Name of a line of `ITEMS` to what is claimed: a text that says how it is met, or False.

    Raises
    ------
    ValueError
        If a claim is on no line of the checklist, or a baseline is not passes out of tasks.
    """

    tasks: Sequence[Task] | None = None
    audits: Sequence[Audit] | None = None
    exposures: Sequence[str] | None = None
    rules: Sequence[Rule | str] | None = None
    baselines: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    fingerprint: Mapping[str, Any] | None = None
    environment_version: str | None = None
    user_model: str | None = None
    user_settings: Mapping[str, Any] | None = None
    max_steps: int | None = None
    retries: int | None = None
    stated: Mapping[str, str | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines = [name for name, _, _ in ITEMS]
        for name, claim in self.stated.items():
            if name not in lines:
                raise ValueError(f"stated: {name!r} is no line; they are {', '.join(lines)}.")
            if claim is not False and not (isinstance(claim, str) and claim.strip()):
                raise ValueError(f"stated[{name!r}]: say in words how it is met, or False.")
        for name, (passed, of) in self.baselines.items():
            if not 0 <= passed <= of or of < 1:
                raise ValueError(f"baselines[{name!r}]: ({passed}, {of}) is not passed, tasks.")

    @property
    def rule_names(self) -> list[str]:
        """The process rules by name."""
        return [rule if isinstance(rule, str) else rule.name for rule in self.rules or ()]


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


#: A status, and the evidence in words.
Found = tuple[str, str]
Data = Mapping[str, Any]


def filled_in(data: Data, evidence: Evidence) -> tuple[Check, ...]:
    """The checklist, each line with its status.

    Parameters
    ----------
    data : mapping
        What `evalkit.measures.measures` found in the trials, by name.
    evidence : Evidence
        What the trials cannot show.
    """
    return tuple(_check(*item, *_LINES[item[0]](data, evidence), evidence) for item in ITEMS)


def _check(name: str, item: str, advice: str, status: str, why: str, evidence: Evidence) -> Check:
    claim, basis = evidence.stated.get(name), "data"
    if claim is False and status != NOT_MET:
        status, basis, why = NOT_MET, "stated", "stated as not met"
    elif claim and status == NOT_STATED:
        status, basis, why = MET, "stated", str(claim)
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
    full = f"{len(evidence.tasks)} tasks, each graded on the full diff"
    return (NOT_MET, text) if empty else (MET, full)


def _allowed(data: Data, evidence: Evidence) -> Found:
    share = data["allowed share"]
    if share is not None:
        text = f"allowed patterns cover at most {share:.1%} of a state"
        return MET if share <= NARROW else NOT_MET, text
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
        return NOT_MET, f"{evidence.exposures[0]}{more}"
    return MET, "looked for ways to the grader and the answers, and found none"


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
        return NOT_STATED, f"rules are listed, but only {known} trials say which they broke"
    return NOT_STATED, ""


def _credit(data: Data, evidence: Evidence) -> Found:
    if data["trials"]["most"] == 0:
        return NOT_STATED, "no trial has a verdict"
    beside = "partial credit stands beside" if data["partial credit"] else "all that is reported is"
    return MET, f"{beside} the rate of full completion"


def _trials(data: Data, evidence: Evidence) -> Found:
    fewest, k = data["trials"]["fewest"], data["trials"]["k"]
    if not k:
        return NOT_MET, "no task has a valid trial"
    if k == 1:
        return (
            NOT_MET,
            f"a task has as few as {fewest} valid trials: nothing beyond pass^1 is known",
        )
    text = f"{fewest} valid trials or more of each task, for pass^{k}"
    if fewest < k:
        return NOT_MET, f"fewest of a task: {fewest}, for pass^{k}"
    return MET, text + ("; with n = k the estimate is noisy" if fewest == k else "")


def _infra(data: Data, evidence: Evidence) -> Found:
    found, retried, unknown = data["infra failures"], data["retries"], data["unknown causes"]
    if unknown:
        return NOT_MET, f"nobody knows whose failure {unknown} trials are"
    if retried and retried["limit"] is not None:
        text = f"{found['infra']} infra failures, {retried['retries']} retries"
        if retried["given up early"]:
            return NOT_MET, f"{text}; {retried['given up early']} trials were not retried so often"
        return MET, f"{text}, at most {retried['limit']} of a trial"
    if retried and not found["infra"]:
        return NOT_STATED, "none was seen; nothing says whether one would have been retried"
    if found["infra"]:
        return NOT_STATED, f"{found['infra']} are tagged; nothing says how often they were retried"
    return NOT_STATED, "none is tagged; nothing says whether one would have been"


def _environment(data: Data, evidence: Evidence) -> Found:
    versions = data["environment"]["versions"]
    if len(versions) > 1:
        return NOT_MET, f"more than one version: {_listed(versions)}"
    if versions:
        return MET, f"one version: {_listed(versions)}"
    return (MET, "its fingerprint is given") if evidence.fingerprint else (NOT_STATED, "")


def _user(data: Data, evidence: Evidence) -> Found:
    models, settings = data["user simulator"]["models"], data["user simulator"]["settings"]
    if len(models) > 1 or len(settings) > 1:
        return NOT_MET, f"it was not the same in all trials: {_listed(models)}; {_listed(settings)}"
    if models == ["none"]:
        return MET, "there is no simulated user"
    if models and settings:
        return MET, f"{models[0]}, settings {settings[0]}"
    return NOT_STATED, f"{models[0]}; its settings are not stated" if models else ""


def _budgets(data: Data, evidence: Evidence) -> Found:
    budgets = data["step budget"]
    if len(budgets) > 1:
        return NOT_MET, f"more than one step budget: {_listed(budgets)}"
    return (MET, f"{budgets[0]} steps for every trial") if budgets else (NOT_STATED, "")


def _faults(data: Data, evidence: Evidence) -> Found:
    return NOT_STATED, ""


def _baselines(data: Data, evidence: Evidence) -> Found:
    found = [f"{name}: {passed} of {of}" for name, (passed, of) in evidence.baselines.items()]
    return (MET, "; ".join(found)) if found else (NOT_STATED, "")


def _intervals(data: Data, evidence: Evidence) -> Found:
    if data["trials"]["used"] < 2:
        return NOT_MET, "fewer than two tasks have a verdict, so an interval says nothing"
    return MET, "each rate on this card has its interval"


def _listed(values: Sequence[Any]) -> str:
    return " and ".join("not recorded" if value is None else str(value) for value in values)


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
