"""Evaluate tool-using agents: outcomes, trajectories, state diffs and pass^k."""

from evalkit.answers import answer_matches, contains, url_matches
from evalkit.audit import Audit, audit_grader
from evalkit.comparison import Comparison, compare, holm
from evalkit.credit import Checkpoint, averages, verdict_credit
from evalkit.databases import database_diff
from evalkit.estimates import Estimate, estimate
from evalkit.extrapolation import beta_binomial_fit, extrapolate
from evalkit.grading import Finding, Verdict, grade
from evalkit.passk import Curve, pass_at_k, pass_at_k_curve, pass_hat_k, pass_hat_k_curve
from evalkit.paths import PathError
from evalkit.planning import Plan, plan
from evalkit.process import (
    Action,
    Rule,
    at_least,
    at_most,
    in_order,
    never,
    no_argument,
    no_damage_undone,
    only,
    process_verdict,
    step_budget,
)
from evalkit.report import Evidence, ReportCard, episode_fields, report_card
from evalkit.snapshots import snapshot
from evalkit.statediff import Change, Diff, state_diff
from evalkit.taskfiles import load_task, save_task, task_from_dict, task_to_dict
from evalkit.tasks import Allowed, Between, Created, Invariant, Task, TaskError
from evalkit.trials import counts, trials_table
from evalkit.values import MISSING, StateError

__all__ = [
    "MISSING",
    "Action",
    "Allowed",
    "Audit",
    "Between",
    "Change",
    "Checkpoint",
    "Comparison",
    "Created",
    "Curve",
    "Diff",
    "Estimate",
    "Evidence",
    "Finding",
    "Invariant",
    "PathError",
    "Plan",
    "ReportCard",
    "Rule",
    "StateError",
    "Task",
    "TaskError",
    "Verdict",
    "answer_matches",
    "at_least",
    "at_most",
    "audit_grader",
    "averages",
    "beta_binomial_fit",
    "compare",
    "contains",
    "counts",
    "database_diff",
    "episode_fields",
    "estimate",
    "extrapolate",
    "grade",
    "holm",
    "in_order",
    "load_task",
    "never",
    "no_argument",
    "no_damage_undone",
    "only",
    "pass_at_k",
    "pass_at_k_curve",
    "pass_hat_k",
    "pass_hat_k_curve",
    "plan",
    "process_verdict",
    "report_card",
    "save_task",
    "snapshot",
    "state_diff",
    "step_budget",
    "task_from_dict",
    "task_to_dict",
    "trials_table",
    "url_matches",
    "verdict_credit",
]
