"""What a checklist asks of an evaluation's design, and what is given to answer beside the trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

from evalkit.process import Rule
from evalkit.tasks import Task

if TYPE_CHECKING:
    from evalkit.audit import Audit

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
        If a claim is on no line of the checklist, a baseline is not passes out of tasks, or
        retries is no whole number.
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
        for name, pair in self.baselines.items():
            if len(pair) != 2 or not 0 <= pair[0] <= pair[1] or pair[1] < 1:
                raise ValueError(f"baselines[{name!r}]: {pair} is not (passed, tasks).")
        whole = isinstance(self.retries, Integral) and not isinstance(self.retries, bool)
        if self.retries is not None and not (whole and self.retries >= 0):
            raise ValueError(f"retries: {self.retries!r} is no whole number, 0 or more.")
        for name in ("tasks", "audits", "exposures", "rules"):
            if isinstance(getattr(self, name), str | Mapping):
                raise ValueError(f"{name}: give a list, not {getattr(self, name)!r}.")

    @property
    def rule_names(self) -> list[str]:
        """The process rules by name."""
        return [rule if isinstance(rule, str) else rule.name for rule in self.rules or ()]
