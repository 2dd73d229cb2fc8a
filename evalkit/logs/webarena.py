"""WebArena: a CSV table of episodes, as agents on it publish their results."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalkit.logs import Duplicates, LogError, PathLike, csv_rows, judged, trials


def read_webarena(
    path: PathLike, *, suite: str | None = None, duplicates: Duplicates = "error"
) -> pd.DataFrame:
    """One row for each episode in a table of WebArena results; all are trial 0 of their task.

    An episode with a blank success ended without a verdict. The table does not say whose failure
    that was: it is not evaluated, and neither a failure nor tagged infra.

    Parameters
    ----------
    path
        A ``.csv`` or ``.csv.gz`` file with the columns ``task_id`` and ``success``; ``trial`` and
        ``n_steps`` if it has them.
    suite
        Which rows to read, where the file has a column ``suite`` of more than one value.
    duplicates : {"error", "drop"}
        As `evalkit.trials.trials_table` takes it.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says, and every further column of the file, as text.

    Raises
    ------
    LogError
        If the file is cut off or of another format, mixes suites, or has a trial twice.

    References
    ----------
    Zhou et al. 2023, *WebArena*, arXiv:2307.13854.
    """
    rows = csv_rows(path)
    suites = sorted({row.get("suite", "") for _, row in rows})
    if suite is None and len(suites) > 1:
        raise LogError(f"{path}, suite: holds {', '.join(suites)}; choose one with suite=...")
    if suite is not None and suite not in suites:
        raise LogError(f"{path}, suite: there is no {suite!r}, only {', '.join(suites)}.")
    chosen = [_row(*row) for row in rows if suite in (None, row[1].get("suite", ""))]
    return trials(chosen, path, duplicates)


def _row(where: str, row: dict[str, str]) -> dict[str, Any]:
    read = ("task_id", "trial", "success", "n_steps")
    if missing := [name for name in ("task_id", "success") if name not in row]:
        raise LogError(f"{where}, {missing[0]}: is missing. Is it of this format?")
    task, trial = number(where, row, "task_id", int), number(where, row, "trial", int)
    if task is None:
        raise LogError(f"{where}, task_id: is blank.")
    return {
        "task": task,
        "trial": trial or 0,
        "success": judged(where, "success", number(where, row, "success", float)),
        "infra": False,
        "steps": number(where, row, "n_steps", int),
        "cost": None,
    } | {name: value for name, value in row.items() if name not in read}


def number(where: str, row: dict[str, str], name: str, kind: type) -> Any:
    """The number in a column of a table, or None where it is blank or there is no such column.

    Parameters
    ----------
    where, row, name
        The file and row, for the message; the row; and the column.
    kind
        int or float.

    Returns
    -------
    int or float or None

    Raises
    ------
    LogError
        If the text is no such number.
    """
    text = row.get(name, "")
    try:
        return kind(text) if text else None
    except ValueError:
        raise LogError(f"{where}, {name}: {text!r} is no number of type {kind.__name__}.") from None
