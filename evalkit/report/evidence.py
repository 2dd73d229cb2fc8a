"""What a checklist asks of an evaluation's design, and what is given to answer beside the trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from evalkit.audit import Audit
from evalkit.process import Rule
from evalkit.tasks import Task
from evalkit.values import show

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
     "Log it as credit beside success, or say that there is none: stated={'credit': ...}."),
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
        If something is of another type than stated here, a text is blank, a claim is on no line of
        the checklist, or a baseline is not passes out of tasks.
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
        for name, (fits, wanted) in _KINDS.items():
            given = getattr(self, name)
            if given is not None and not fits(given):
                raise ValueError(f"{name}: {show(given)} is not {wanted}.")
        for name, kind in _ENTRIES.items():
            for entry in getattr(self, name) or ():
                if not isinstance(entry, kind):
                    raise ValueError(
                        f"{name}: {show(entry)} in it is of type {type(entry).__name__}."
                    )
        lines = [name for name, _, _ in ITEMS]
        for name, claim in self.stated.items():
            if name not in lines:
                raise ValueError(f"stated: {name!r} is no line; they are {', '.join(lines)}.")
            if claim is not False and not _is_text(claim):
                raise ValueError(f"stated[{name!r}]: say in words how it is met, or False.")
        for name, pair in self.baselines.items():
            if not _is_share(pair):
                raise ValueError(f"baselines[{name!r}]: {show(pair)} is not (passed, tasks).")

    @property
    def rule_names(self) -> list[str]:
        """The process rules by name."""
        return [rule if isinstance(rule, str) else rule.name for rule in self.rules or ()]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def _is_share(pair: Any) -> bool:
    """Whether it is passes out of tasks."""
    if not _is_list(pair) or len(pair) != 2 or not all(map(_is_whole, pair)):
        return False
    return bool(pair[0] <= pair[1] and pair[1] > 0)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


_LIST, _TEXT, _MAPPING = (
    (_is_list, "a list"),
    (_is_text, "a text with something in it"),
    (_is_mapping, "a mapping"),
)
#: What each kind of evidence must be, where it is given.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "tasks": _LIST,
    "audits": _LIST,
    "exposures": _LIST,
    "rules": _LIST,
    "baselines": (_is_mapping, "a mapping of names to (passed, tasks)"),
    "fingerprint": _MAPPING,
    "environment_version": _TEXT,
    "user_model": _TEXT,
    "user_settings": _MAPPING,
    "max_steps": (lambda value: _is_whole(value) and value > 0, "a whole number, 1 or more"),
    "retries": (_is_whole, "a whole number, 0 or more"),
    "stated": (_is_mapping, "a mapping of lines to claims"),
}
_ENTRIES: dict[str, type | tuple[type, ...]] = {
    "tasks": Task,
    "audits": Audit,
    "exposures": str,
    "rules": (Rule, str),
}
