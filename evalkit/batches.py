"""Grading at scale: the verdicts on a batch of episodes, as a function of one data frame.

An engine that holds the episodes maps it over them, a batch at a time, and writes the verdicts
down before they are counted: engines are lazy, and each query on them would grade once more. ::

    verdicts(episodes, tasks).to_parquet("graded")  # pandas

    episodes.map_partitions(verdicts, tasks).to_parquet("graded", write_index=False)  # Dask

    rows = episodes.mapInPandas(lambda parts: (verdicts(p, tasks) for p in parts), SCHEMA)  # Spark
    rows.write.parquet("graded")

In each engine, ``counts(trials_table(graded, infra="infra"))`` follows. One process that reads a
batch at a time is `evalkit.logs.streams.streamed_counts` on the verdicts of its batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalkit.grading import Verdict, grade
from evalkit.logs import printable_json
from evalkit.statediff import State
from evalkit.strict import TextError
from evalkit.tasks import Task, TaskError
from evalkit.values import StateError, a_kind, show

if TYPE_CHECKING:
    import pandas as pd

#: The columns of `verdicts` as Spark wants them stated, where tasks are text and trials numbers.
SCHEMA = "task string, trial long, verdict string, success double, infra boolean, why string"

#: What `verdicts` reads; a column ``infra`` besides, if there is one.
COLUMNS = ("task", "trial", "before", "after")


def verdicts(episodes: pd.DataFrame, tasks: Mapping[Any, Task]) -> pd.DataFrame:
    """One row for each episode of a batch: its verdict, and why it is no pass.

    No episode is dropped and none stops the batch. One whose task is unknown or does not fit, or
    whose states cannot be read, is not evaluated, and says why.

    Parameters
    ----------
    episodes : DataFrame
        One row for each episode: ``task``, ``trial``, and ``before`` and ``after``, the states as
        JSON text. Where it has a column ``infra``, true says that the environment failed: the
        states of that episode are not looked at.
    tasks : mapping
        Task of each name.

    Returns
    -------
    DataFrame
        In the order and with the index of ``episodes``: ``task`` and ``trial`` as they are,
        ``verdict`` (pass, fail or not evaluated), ``success`` (1.0, 0.0 or missing), ``infra``
        and ``why`` (empty for a pass). It goes as it is into `evalkit.trials.trials_table`.

    Raises
    ------
    ValueError
        If a column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> before, after = '{"order": {"paid": false}}', '{"order": {"paid": true}}'
    >>> episodes = pd.DataFrame(
    ...     [["pay", 0, before, after], ["pay", 1, before, after[:20]]], columns=COLUMNS
    ... )
    >>> rows = verdicts(episodes, {"pay": Task(required={"order/paid": True})})
    >>> rows[["trial", "verdict", "success"]]
       trial        verdict  success
    0      0           pass      1.0
    1      1  not evaluated      NaN
    >>> rows["why"][1]
    'after: Expecting value (column 20); it is no JSON, or cut off'
    """
    if missing := [name for name in COLUMNS if name not in episodes]:
        have = ", ".join(map(str, episodes.columns)) or "none"
        raise ValueError(f"episodes: no column {missing[0]!r}; the columns are {have}.")
    flagged = episodes if "infra" in episodes else episodes.assign(infra=False)
    read = flagged[["infra", "task", "before", "after"]].astype(object)
    read = read.where(read.notna(), None)  # whatever a column holds where it holds nothing
    found = [_verdict(tasks, *row) for row in read.itertuples(index=False, name=None)]
    rows = episodes[["task", "trial"]].copy()
    rows["verdict"] = [status for status, _ in found]
    rows["success"] = rows["verdict"].map({"pass": 1.0, "fail": 0.0})
    rows["infra"] = [flag is True for flag in read["infra"]]
    rows["why"] = [why for _, why in found]
    return rows.astype({"verdict": str, "success": "float64", "infra": bool, "why": str})


def _verdict(
    tasks: Mapping[Any, Task], infra: Any, name: Any, before: Any, after: Any
) -> tuple[str, str]:
    """The status of one episode, and why it is no pass."""
    try:
        if infra is not False:
            raise StateError(_flagged(infra))
        if name not in tasks:
            raise TaskError(f"task: there is none of the name {show(name)}")
        verdict = grade(_state("before", before), _state("after", after), tasks[name])
        return verdict.status, _why(verdict)
    except (StateError, TaskError) as error:
        return "not evaluated", str(error)


def _flagged(infra: Any) -> str:
    if infra is True:
        return "the environment failed"
    return f"infra: {show(infra)} is neither true nor false"


def _state(name: str, text: Any) -> State:
    """The state that a JSON text holds."""
    if text is None:
        raise StateError(f"{name}: is missing")
    if type(text) is not str:
        raise StateError(f"{name}: {show(text)} is no JSON text")
    try:
        state = printable_json(text)
    except TextError as error:
        raise StateError(f"{name}: {error}") from None
    if type(state) is not dict:
        raise StateError(f"{name}: a state is an object, not {a_kind(state)}")
    return state


def _why(verdict: Verdict) -> str:
    """What decided a verdict, in one line."""
    if verdict.passed:
        return ""
    decisive = [f for f in verdict.findings if f.kind in ("missing", "broken", "collateral")]
    reasons = list(map(str, decisive if verdict.status == "fail" else verdict.notes))
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return "; ".join(reasons[:3]) + more
