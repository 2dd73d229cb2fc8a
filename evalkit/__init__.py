"""Evaluate tool-using agents: outcomes, trajectories, state diffs and pass^k."""

from evalkit.databases import database_diff
from evalkit.grading import Finding, Verdict, grade
from evalkit.paths import PathError
from evalkit.snapshots import snapshot
from evalkit.statediff import Change, Diff, state_diff
from evalkit.taskfiles import load_task, save_task, task_from_dict, task_to_dict
from evalkit.tasks import Allowed, Between, Created, Invariant, Task, TaskError
from evalkit.values import MISSING, StateError

__all__ = [
    "MISSING",
    "Allowed",
    "Between",
    "Change",
    "Created",
    "Diff",
    "Finding",
    "Invariant",
    "PathError",
    "StateError",
    "Task",
    "TaskError",
    "Verdict",
    "database_diff",
    "grade",
    "load_task",
    "save_task",
    "snapshot",
    "state_diff",
    "task_from_dict",
    "task_to_dict",
]
