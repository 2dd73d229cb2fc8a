"""τ-bench: a JSON list of trajectories, as its runner and its forks write it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalkit.logs import Duplicates, LogError, PathLike, field, json_value, judged, trials


def read_tau_bench(path: PathLike, *, duplicates: Duplicates = "error") -> pd.DataFrame:
    """One row for each trial in a file of τ-bench trajectories.

    A row with ``info.error`` is a crash, which the runner records with reward 0: it is an infra
    failure. Read the column ``error`` before relying on that: a fork's own planner can crash too.
    A row with neither an error nor ``info.reward_info`` ran out of steps: a failure. Where
    ``trial`` repeats the task's number in every row, it is not one: each task has trial 0.

    Parameters
    ----------
    path
        A ``.json`` or ``.json.gz`` file.
    duplicates : {"error", "drop"}
        As `evalkit.trials.trials_table` takes it.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says, ``steps`` being the agent's messages; and ``user_cost`` (the
        simulated user's; the agent's is not recorded), ``ended`` (what ended it: ``user``, a
        tool, ``step limit`` or ``error``), ``error`` and ``recorded_trial``.

    Raises
    ------
    LogError
        If the file is cut off or of another format, mixes two versions of a task, or has a trial
        twice.

    References
    ----------
    Yao et al. 2024, *tau-bench*, arXiv:2406.12045.
    """
    episodes = json_value(path)
    if not isinstance(episodes, list):
        raise LogError(f"{path}: is no list of trajectories; is it of this format?")
    rows = [_row(f"{path}, row {i}", episode) for i, episode in enumerate(episodes)]
    _refuse_versions(path, episodes)
    if len(rows) > 1 and all(row["task"] == row["trial"] for row in rows):
        rows = [row | {"trial": 0} for row in rows]
    return trials(rows, path, duplicates)


def _row(where: str, episode: Any) -> dict[str, Any]:
    info = field(where, episode, "info", dict)
    error = field(where, info, "error", str, optional=True)
    graded = field(where, info, "reward_info", dict, optional=True)
    if error is None and "reward_info" not in info:
        raise LogError(f"{where}, info: has neither reward_info nor error.")
    infra, trial = error is not None, field(where, episode, "trial", int)
    messages = field(where, episode, "traj", list)
    return {
        "task": field(where, episode, "task_id", int),
        "trial": trial,
        "success": judged(where, "reward", field(where, episode, "reward", float), infra),
        "infra": infra,
        "steps": sum(field(where, m, "role", str) == "assistant" for m in messages) or None,
        "cost": None,
        "user_cost": field(where, info, "user_cost", float, optional=True),
        "ended": "error" if infra else info.get("source") if graded else "step limit",
        "error": error,
        "recorded_trial": trial,
    }


def _refuse_versions(path: PathLike, episodes: list[Any]) -> None:
    """One task number must stand for one task: the same instruction and the same goal actions."""
    first: dict[int, Any] = {}
    for i, episode in enumerate(episodes):
        task = episode["info"].get("task")
        if task is not None and first.setdefault(episode["task_id"], task) != task:
            raise LogError(
                f"{path}, row {i}, info.task: differs from an earlier row's with task_id "
                f"{episode['task_id']}; read each version of the tasks from a file of its own."
            )
