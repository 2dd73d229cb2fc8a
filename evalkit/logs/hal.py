"""HAL: the results of one run of an agent on a benchmark, as the harness puts them up."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalkit.logs import LogError, PathLike, field, json_value, trials


def read_hal(path: PathLike) -> pd.DataFrame:
    """One row for each task in the results of one HAL run; all are trial 0.

    The harness lists a task whose run crashed under ``failed_tasks``. Where the raw result says
    so (it is text that begins with ``ERROR``, and the harness itself would run it again, or it
    stands in SWE-bench's ``error_ids``), the task is not evaluated: the file does not say whether
    the agent or the environment was at fault. To count several runs as trials, number them:
    ``read_hal(path).assign(trial=1)``.

    Parameters
    ----------
    path
        A ``RUN_UPLOAD.json`` file, decrypted, or gzipped.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says, ``steps`` where the agent reported them; and ``ended``
        (``completed``, ``error``, or ``no list`` for a task that has a result and no verdict),
        ``error``, ``agent``, ``benchmark``, ``date``, ``run`` (its id), ``version`` (the commit)
        and ``run_cost``, the dollars of the whole run. What a single task cost is not recorded.
        A model that the harness has no price for counts as free.

    Raises
    ------
    LogError
        If the file is cut off or of another format; if a task is in both lists, or twice in one,
        or its raw score contradicts its list; if two costs are stated; if the lists hold means
        over several prompts.

    References
    ----------
    Stroebl, Kapoor and Narayanan 2026, *HAL: A Holistic Agent Leaderboard*,
    https://github.com/princeton-pli/hal-harness.
    """
    run, where = json_value(path), str(path)
    source = _source(where, run)
    raw = run.get("raw_eval_results")
    raw = raw if isinstance(raw, dict) else {}  # some benchmarks keep a list of scores
    crashes = _crashes(where, raw)
    verdicts = _verdicts(where, run, raw, crashes)
    counted = field(where, run, "task_step_counts", dict, optional=True) or {}
    steps = {
        task: field(f"{where}, task_step_counts.{task}", {"count": number}, "count", int)
        for task, number in counted.items()
    }
    rows = [_row(task, v, crashes.get(task), steps.get(task)) for task, v in verdicts.items()]
    return trials([row | source for row in rows], path, "error")


def _source(where: str, run: Any) -> dict[str, Any]:
    """What the file says of the whole run: the agent, the benchmark, the date and the cost."""
    names = {"agent": "agent_name", "benchmark": "benchmark_name", "date": "date", "run": "run_id"}
    source: dict[str, Any] = {
        name: field(where, run, f"config.{column}", str) for name, column in names.items()
    }
    if run["config"].get("prompt_sensitivity"):
        raise LogError(
            f"{where}, config.prompt_sensitivity: the lists hold means over several prompts, in "
            "which one success is enough; take the trials from raw_eval_results instead."
        )
    costs = [
        field(where, run, name, float, optional=True)
        for name in ("results.total_cost", "total_cost")
    ]
    if None not in costs and costs[0] != costs[1]:
        raise LogError(f"{where}, total_cost: is {costs[1]}, and {costs[0]} under results.")
    version = field(where, run, "git_info.commit", str, optional=True)
    known = [cost for cost in costs if cost is not None]
    return source | {"version": version, "run_cost": known[0] if known else None}


def _crashes(where: str, raw: dict[str, Any]) -> dict[str, str]:
    """What each crashed task says of it, by the raw results."""
    listed = field(where, raw, "error_ids", list, optional=True) or []
    if odd := [task for task in listed if not isinstance(task, str)]:
        raise LogError(f"{where}, raw_eval_results.error_ids: {odd[0]!r} is no id.")
    texts = {task: result for task, result in raw.items() if isinstance(result, str)}
    crashes = {task: text for task, text in texts.items() if text.startswith("ERROR")}
    return crashes | dict.fromkeys(listed, "error_ids")


def _verdicts(
    where: str, run: Any, raw: dict[str, Any], crashes: dict[str, str]
) -> dict[str, float | None]:
    """The list that each task stands in; None for one that has a result and stands in none."""
    scores = {task: _score(where, task, result) for task, result in raw.items()}
    verdicts: dict[str, float | None] = {}
    for name, verdict in (("successful_tasks", 1.0), ("failed_tasks", 0.0)):
        for task in field(where, run, f"results.{name}", list):
            if not isinstance(task, str) or task in verdicts:
                raise LogError(f"{where}, results.{name}: {task!r} is no id, or is listed twice.")
            found = "an error" if task in crashes and verdict else scores.get(task)
            if found not in (None, verdict):
                raise LogError(f"{where}, results.{name}: {task!r}, yet its raw result is {found}.")
            verdicts[task] = verdict
    scored = [task for task, score in scores.items() if score is not None]
    return dict.fromkeys((*verdicts, *crashes, *scored)) | verdicts


def _score(where: str, task: str, result: Any) -> float | None:
    """The raw score of a task; None where its result is of a form that has none."""
    if not isinstance(result, dict):
        return None
    name = "reward" if "reward" in result else "score"
    if isinstance(result.get(name), bool):
        return float(result[name])
    score = field(f"{where}, raw_eval_results.{task}", result, name, float, optional=True)
    return None if score is None else float(score)


def _row(task: str, verdict: float | None, error: str | None, steps: int | None) -> dict[str, Any]:
    return {
        "task": task,
        "trial": 0,
        "success": verdict if error is None else None,
        "infra": False,
        "steps": steps,
        "cost": None,
        "ended": "error" if error else "no list" if verdict is None else "completed",
        "error": error,
    }
