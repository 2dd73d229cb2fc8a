"""The log of a run of `evalkit.runner`: JSON Lines, one line an attempt."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from evalkit.logs import LogError, PathLike
from evalkit.runlog import RunError, read_log, trial_rows

#: How many trials of a task may be missing from a log.
MOST_LEFT_OUT = 10_000


def read_run_log(path: PathLike) -> pd.DataFrame:
    """One row for each trial in the log of a run, as `evalkit.runlog.trial_rows` gives it.

    A log does not say what was planned: each task should have as many trials as the one with the
    most, and a task without any attempt is not known.

    Parameters
    ----------
    path
        A JSON Lines file, as `evalkit.runner.run_suite` writes it.

    Returns
    -------
    DataFrame
        The columns of the log, ``attempts``, and ``file``.

    Raises
    ------
    LogError
        If the file cannot be read, or a line is no attempt.
    """
    try:
        attempts = read_log(path)
    except (OSError, RunError) as error:
        raise LogError(f"{error}" if str(path) in f"{error}" else f"{path}: {error}") from None
    except (TypeError, ValueError) as error:
        raise LogError(f"{path}: a field of an attempt is of the wrong type: {error}.") from None
    if attempts.empty:
        raise LogError(f"{path}: there is no attempt in it.")
    tasks = list(dict.fromkeys(attempts["task"]))
    last = int(attempts["trial"].max())
    if last > MOST_LEFT_OUT + 100 * len(attempts):  # each trial before it becomes a row
        raise LogError(f"{path}: holds trial {last}, and no more than {len(attempts)} attempts.")
    rows = trial_rows(attempts, tasks, last + 1)
    return rows.assign(file=Path(path).name)
