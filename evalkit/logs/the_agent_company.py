"""TheAgentCompany: the points of each task, from its checkpoint files or from a table of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from evalkit.logs import Duplicates, LogError, PathLike, csv_rows, field, json_value, trials
from evalkit.logs.webarena import number


def read_the_agent_company(
    path: PathLike, *, submission: str | None = None, duplicates: Duplicates = "error"
) -> pd.DataFrame:
    """One row for each task of a submission; all are trial 0. A success has all the points.

    A task that is worth no points was not graded: it is not evaluated. A submission does not
    say which tasks it leaves out: give `evalkit.trials.counts` the plan.

    Parameters
    ----------
    path
        A submission's directory of results, ``eval_TASK.json`` each with ``checkpoints`` and
        ``final_score``; or a ``.csv`` table with the columns ``submission``, ``task``,
        ``total_points`` and ``result_points``, and ``steps`` and ``cost_usd`` if known.
    submission
        Which rows of a table to read, where it holds more than one submission.
    duplicates : {"error", "drop"}
        As `evalkit.trials.trials_table` takes it.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says, and ``points``, ``total`` and ``submission``. `evalkit.credit`
        makes the published score of points and total.

    Raises
    ------
    LogError
        If a file is cut off or of another format, mixes submissions, or has a task twice; if a
        task has more points than there are, or final ones that are not out of its checkpoints'.

    References
    ----------
    Xu et al. 2024, *TheAgentCompany*, arXiv:2412.14161.
    """
    folder = Path(path)
    if folder.is_dir():
        files = sorted(folder.glob("*.json"))
        rows = [_from_file(file, submission or folder.resolve().parent.name) for file in files]
        return trials(rows, path, duplicates)
    table = csv_rows(path)
    wanted = ("submission", "task", "total_points", "result_points")
    if table and (missing := [name for name in wanted if name not in table[0][1]]):
        raise LogError(f"{path}, line 1, {missing[0]}: is no column. Is it of this format?")
    names = sorted({row["submission"] for _, row in table})
    if submission is None and len(names) > 1:
        raise LogError(f"{path}, submission: holds {', '.join(names)}; choose submission=...")
    if submission is not None and submission not in names:
        raise LogError(f"{path}, submission: there is no {submission!r}.")
    chosen = [row for row in table if submission in (None, row[1]["submission"])]
    return trials([_from_table(*row) for row in chosen], path, duplicates)


def _from_file(file: Path, submission: str) -> dict[str, Any]:
    result, where = json_value(file), str(file)
    checkpoints = field(where, result, "checkpoints", list)
    points = field(where, result, "final_score.result", float)
    total = field(where, result, "final_score.total", float)
    stated = sum(field(where, checkpoint, "total", float) for checkpoint in checkpoints)
    if stated != total:
        raise LogError(f"{where}, final_score.total: is {total}; the checkpoints have {stated}.")
    task = file.stem.removeprefix("eval_").removesuffix("-image")
    return _row(where, task, points, total) | {"submission": submission}


def _from_table(where: str, row: dict[str, str]) -> dict[str, Any]:
    points, total = (number(where, row, name, float) for name in ("result_points", "total_points"))
    known = {
        "steps": number(where, row, "steps", int),
        "cost": number(where, row, "cost_usd", float),
        "submission": row["submission"],
    }
    return _row(where, row["task"], points, total) | known


def _row(where: str, task: str, points: float | None, total: float | None) -> dict[str, Any]:
    if not task or points is None or total is None:
        raise LogError(f"{where}: the task, its points or its total is blank.")
    if not 0 <= points <= total:
        raise LogError(f"{where}, points: {points} is not between 0 and the total, {total}.")
    success = float(points == total) if total else None
    row: dict[str, Any] = {"task": task, "trial": 0, "success": success, "infra": False}
    return row | {"steps": None, "cost": None, "points": points, "total": total}
