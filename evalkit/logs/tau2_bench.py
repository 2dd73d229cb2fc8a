"""τ²-bench: a JSON object with the simulations, and mostly the tasks that they are of."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalkit.forms import canonical
from evalkit.logs import Duplicates, LogError, PathLike, field, json_value, judged, trials

#: The termination reasons that say that the environment failed.
INFRA = ("infrastructure_error",)


def read_tau2_bench(
    path: PathLike, *, repair: bool = False, duplicates: Duplicates = "error"
) -> pd.DataFrame:
    """One row for each planned trial in a file of τ²-bench results.

    Where the file lists its tasks, each simulation's recorded action checks must be the actions
    of the task that it names, and a planned trial without a simulation is a row without verdict.
    Where it does not, neither can be known, and only the trials that have a row are planned.

    Parameters
    ----------
    path
        A ``.json`` or ``.json.gz`` file.
    repair
        Where names and actions disagree, name each simulation after the one task that has its
        recorded actions and assertions; its trial stays. One that fits several tasks, or none,
        becomes ``row N``, which pairs with no task of another run.
    duplicates : {"error", "drop"}
        As `evalkit.trials.trials_table` takes it.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says, ``steps`` being the agent's messages, its greeting included; and
        ``user_cost``, ``ended`` (the termination reason, or ``not run``), ``db_match``,
        ``error``, ``recorded_task``, ``agent``, ``user`` (their models) and ``version`` (the
        commit).

    Raises
    ------
    LogError
        If the file is cut off or of another format; if a task id, a trial or a termination reason
        is missing; if task ids contradict the recorded actions; if a trial occurs twice or was
        not planned.

    References
    ----------
    Barres et al. 2025, *tau2-bench*, arXiv:2506.07982.
    """
    log = json_value(path)
    simulations = field(str(path), log, "simulations", list)
    places = [f"{path}, simulation {i}" for i in range(len(simulations))]
    rows = [_row(*row) for row in zip(places, simulations, strict=True)]
    if rows and field(str(path), log, "tasks", list, optional=True):
        evidence = _tasks(path, log["tasks"])
        recorded = [_recorded(*row) for row in zip(places, simulations, strict=True)]
        wrong = _mislabelled(rows, recorded, evidence)
        if wrong and not repair:
            i, task = wrong[0], rows[wrong[0]]["task"]
            raise LogError(
                f"{path}, simulation {i}, task_id: {task!r} is not the task whose actions were "
                f"checked, as in {len(wrong)} of {len(rows)} rows; repair=True renames them."
            )
        if wrong:
            names = [_fit(record, evidence) or f"row {i}" for i, record in enumerate(recorded)]
            rows = [row | {"task": name} for row, name in zip(rows, names, strict=True)]
        rows += _not_run(path, rows, list(evidence), field(str(path), log, "info.num_trials", int))
    source = _source(str(path), log)
    return trials([row | source for row in rows], path, duplicates)


def _source(where: str, log: Any) -> dict[str, str | None]:
    """The models and the version that the file names."""
    names = ("info.agent_info.llm", "model", "info.user_info.llm", "info.git_commit")
    agent, model, user, version = (field(where, log, n, str, optional=True) for n in names)
    return {"agent": agent or model, "user": user, "version": version}


def _row(where: str, simulation: Any) -> dict[str, Any]:
    task = field(where, simulation, "task_id", str)
    ended = field(where, simulation, "termination_reason", str)
    infra = ended in INFRA
    reward = field(where, simulation, "reward_info.reward", float, optional=True)
    messages = field(where, simulation, "messages", list, optional=True) or []
    checks = field(where, simulation, "reward_info.db_check", dict, optional=True) or {}
    return {
        "task": task,
        "trial": field(where, simulation, "trial", int),
        "success": judged(where, "reward_info.reward", reward, infra),
        "infra": infra,
        "steps": sum(field(where, m, "role", str) == "assistant" for m in messages) or None,
        "cost": field(where, simulation, "agent_cost", float, optional=True),
        "user_cost": field(where, simulation, "user_cost", float, optional=True),
        "ended": ended,
        "db_match": checks.get("db_match"),
        "error": field(where, simulation, "info.error", str, optional=True),
        "recorded_task": task,
    }


# Actions and assertions, in normal form.
Evidence = tuple[list[Any], list[Any]]


def _stated(where: str, task: Any) -> Evidence:
    """The actions and the assertions that a task states."""
    actions = field(where, task, "evaluation_criteria.actions", list, optional=True)
    asserted = field(where, task, "evaluation_criteria.nl_assertions", list, optional=True)
    return _actions(where, actions or []), asserted or []


def _recorded(where: str, simulation: Any) -> Evidence:
    """The actions and the assertions that were checked in a simulation; empty where none were."""
    checks = field(where, simulation, "reward_info.action_checks", list, optional=True) or []
    actions = [field(where, check, "action", dict) for check in checks]
    asserted = field(where, simulation, "reward_info.nl_assertions", list, optional=True) or []
    return _actions(where, actions), [field(where, a, "nl_assertion", str) for a in asserted]


def _actions(where: str, actions: list[Any]) -> list[Any]:
    return [
        (
            field(where, action, "requestor", str, optional=True),
            field(where, action, "name", str),
            canonical(field(where, action, "arguments", dict)),
        )
        for action in actions
    ]


def _tasks(path: PathLike, tasks: list[Any]) -> dict[str, Evidence]:
    """What each task of the file states, by its id."""
    stated: dict[str, Evidence] = {}
    for i, task in enumerate(tasks):
        where = f"{path}, task {i}"
        if (name := field(where, task, "id", str)) in stated:
            raise LogError(f"{where}, id: task {name!r} is there twice.")
        stated[name] = _stated(where, task)
    return stated


def _mislabelled(
    rows: list[dict[str, Any]], recorded: list[Evidence], evidence: dict[str, Evidence]
) -> list[int]:
    """The simulations whose recorded actions are not those of the task that they name."""
    return [
        i
        for i, (row, (actions, _)) in enumerate(zip(rows, recorded, strict=True))
        if row["task"] not in evidence or (actions and actions != evidence[row["task"]][0])
    ]


def _fit(recorded: Evidence, evidence: dict[str, Evidence]) -> str | None:
    """The one task that a record fits; None where that is no task, or several."""
    actions, asserted = recorded
    fits = [
        task
        for task, (stated, said) in evidence.items()
        if stated == actions and (not asserted or said == asserted)
    ]
    return fits[0] if len(fits) == 1 else None


def _not_run(
    path: PathLike, rows: list[dict[str, Any]], tasks: list[str], planned: int
) -> list[dict[str, Any]]:
    """A row without verdict for each planned trial that has no simulation."""
    have = {(row["task"], row["trial"]) for row in rows}
    for i, row in enumerate(rows):
        if not 0 <= row["trial"] < planned:
            raise LogError(
                f"{path}, simulation {i}, trial: is {row['trial']}, and info.num_trials {planned}."
            )
    absent = [(task, n) for task in tasks for n in range(planned) if (task, n) not in have]
    unknown = sum(row["task"] not in tasks for row in rows)
    if unknown and unknown == len(absent):
        return []  # they are these trials, though nobody knows which is which
    if unknown:
        raise LogError(f"{path}: {unknown} rows fit no one task, so what was not run is unknown.")
    never = dict.fromkeys(rows[0], None) | {"infra": False, "ended": "not run"}
    return [never | {"task": task, "trial": trial} for task, trial in absent]
