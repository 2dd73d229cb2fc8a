"""From a log to counts: one row for each trial, then one row for each task.

Narwhals speaks to the engine that holds the log (pandas, Polars, PyArrow, DuckDB, Dask, PySpark).
The engine does the grouping, and only the counts of each task come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from evalkit.passk import whole

if TYPE_CHECKING:
    import pandas as pd

# What a repeated trial's error says, by what was chosen for duplicates.
ADVICE = {
    "error": "number the runs of a task, or drop rows that agree with duplicates='drop'",
    "drop": "its rows disagree, so none of them can be dropped",
}


def trials_table(
    frame: Any,
    *,
    task: str = "task",
    trial: str = "trial",
    success: str = "success",
    infra: str | None = None,
    steps: str | None = None,
    cost: str | None = None,
    threshold: float | None = None,
    duplicates: Literal["error", "drop"] = "error",
) -> Any:
    """One row for each trial, in columns of fixed names, in the engine that holds the log.

    Parameters
    ----------
    frame : data frame
        Any that Narwhals supports. A lazy one stays lazy; two small queries check it.
    task, trial, success, infra, steps, cost : str
        The columns that hold each. Success is boolean or 0 and 1, and missing where a trial was
        not evaluated. Infra (by default "infra", where there is one) is true where the environment
        failed, not the agent: planned but not valid. Steps and cost are numbers to keep.
    threshold : float, optional
        For graded scores: a trial succeeds if its score is at least this.
    duplicates : {"error", "drop"}
        What to do with rows that repeat a trial: "drop" keeps one of those that agree in every
        column named here; rows that disagree are an error all the same.

    Returns
    -------
    data frame
        Of the kind of ``frame``: task, trial, success (1.0, 0.0 or missing), infra (boolean),
        and steps and cost if named.

    Raises
    ------
    TypeError, ValueError
        If the frame is none; if a column, a task, a trial or an infra flag is missing; if success
        is graded and no threshold stated; if a trial tagged infra has passed or one occurs twice.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"id": ["a", "a"], "run": [0, 1], "score": [0.9, 0.2]})
    >>> trials_table(log, task="id", trial="run", success="score", threshold=0.5)
      task  trial  success  infra
    0    a      0      1.0  False
    1    a      1      0.0  False
    """
    if duplicates not in ADVICE:
        raise ValueError(f"duplicates must be 'error' or 'drop'; it is {duplicates!r}.")
    frame = _opened(frame)
    infra = "infra" if infra is None and "infra" in frame.collect_schema() else infra
    named = {"task": task, "trial": trial, "success": success}
    optional = {"infra": infra, "steps": steps, "cost": cost}
    named |= {name: column for name, column in optional.items() if column is not None}
    table = _verdicts(_renamed(frame, named), named, threshold)
    table = table.unique() if duplicates == "drop" else table
    _refuse_repeats(table, ADVICE[duplicates])
    return table.to_native()


def counts(table: Any, planned: int | Mapping[Any, int] | None = None) -> pd.DataFrame:
    """One row for each task: its valid trials, its successes and its planned trials.

    Parameters
    ----------
    table : data frame
        As `trials_table` gives it.
    planned : int or mapping from task to int, optional
        Trials that each task should have; by default those that have a row. A mapping also
        lists the tasks of which no trial was run at all.

    Returns
    -------
    DataFrame
        task, n (valid trials: evaluated, and no infra failure), c (successes), planned, infra
        (infra failures), sorted by task. The rest of the planned trials were not evaluated.

    Raises
    ------
    ValueError
        If the table was not made by `trials_table` or has no rows; if a task has more trials
        than planned, or is not in the plan.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({
    ...     "task": ["a", "a", "b", "b"], "trial": [0, 1, 0, 1],
    ...     "success": [True, False, None, True], "infra": [False, False, True, False]})
    >>> counts(trials_table(log, infra="infra"), planned={"a": 2, "b": 3, "c": 2})
      task  n  c  planned  infra
    0    a  2  1        2      0
    1    b  1  1        3      1
    2    c  0  0        2      0
    """
    rows = _tally(table)
    if rows.empty:
        raise ValueError("the table has no rows, so there is no task to count.")
    if rows["graded"].any() or (rows["trial"] < rows["planned"]).any():
        raise ValueError("the table repeats a trial or holds scores: pass it through trials_table.")
    return planned_counts(rows[["task", "n", "c", "planned", "infra"]], planned)


def _tally(table: Any) -> pd.DataFrame:
    """The sums for each task, made by the engine that holds the table."""
    import narwhals as nw
    import pandas as pd

    table = nw.from_native(table)
    schema = table.collect_schema()
    if not ({"task", "trial", "success", "infra"} <= set(schema) and schema["success"].is_float()):
        raise ValueError("the table was not made by trials_table: pass the log through it first.")
    known, infra = _known(table, "success"), nw.col("infra")
    sums = {
        "n": known & ~infra,
        "c": known & ~infra & (nw.col("success") == 1),
        "infra": infra,
        "graded": known & _graded(nw.col("success")),
    }
    grouped = (
        table.select("task", "trial", *[sums[name].cast(nw.Int64).alias(name) for name in sums])
        .group_by("task")
        .agg(nw.col(*sums).sum(), nw.len().alias("planned"), nw.col("trial").n_unique())
    )
    rows = pd.DataFrame(_here(grouped))
    return rows.astype(dict.fromkeys([*sums, "planned", "trial"], "int64"))


def _opened(frame: Any) -> Any:
    """The frame as Narwhals speaks to it."""
    import narwhals as nw

    try:
        return nw.from_native(frame)
    except TypeError:
        hint = "make one of it, pandas.DataFrame(rows)"
        if isinstance(frame, str | PathLike):
            hint = f"read the file first, read_trials({str(frame)!r})"
        kind = type(frame).__name__
        raise TypeError(f"frame: it is of type {kind}, no data frame; {hint}.") from None


def _renamed(frame: Any, named: Mapping[str, str]) -> Any:
    """The named columns under our names, each of a type that it may have."""
    import narwhals as nw

    have = frame.collect_schema().names()
    for name, column in named.items():
        if column not in have:
            raise ValueError(f"{name}: no column {column!r}; the frame has {', '.join(have)}.")
    table = frame.select(*[nw.col(column).alias(name) for name, column in named.items()])
    flags = [name for name in ("success", "infra") if name in named]
    # pandas holds booleans beside missing values as objects.
    objects = [name for name in flags if table.collect_schema()[name] == nw.Object]
    if objects:
        table = table.with_columns(*[nw.maybe_convert_dtypes(table[name]) for name in objects])
    for name in list(named)[2:]:  # all but task and trial
        kind = table.collect_schema()[name]
        if not (kind.is_numeric() or (kind == nw.Boolean and name in flags)):
            column = named[name]
            wanted = "booleans or 0 and 1" if name in flags else "numbers"
            made = f"; make them, as log[{column!r}] == 'yes' does" * (name in flags)
            raise ValueError(f"{name}: column {column!r} must hold {wanted}, not {kind}{made}.")
    return table


def _verdicts(table: Any, named: Mapping[str, str], threshold: float | None) -> Any:
    """The table with success as 1.0, 0.0 or missing and infra as a boolean, or an error."""
    import narwhals as nw

    if threshold is not None and not isfinite(threshold):
        raise ValueError(f"threshold must be a finite number; it is {threshold}.")
    known, score = _known(table, "success"), nw.col("success").cast(nw.Float64)
    passed = score == 1 if threshold is None else score >= threshold
    required = [name for name in ("task", "trial", "infra") if name in named]
    wrong = {f"{name} is missing": ~_known(table, name) for name in required}
    tagged = nw.lit(False)
    if "infra" in named:
        tag = nw.col("infra").cast(nw.Float64)
        tagged = tag == 1
        wrong["infra is neither boolean nor 0 or 1"] = _graded(tag)
        wrong["a trial tagged infra has passed: clear one of the two"] = tagged & known & passed
    if threshold is None:
        wrong["success is neither boolean nor 0 or 1: state a threshold"] = known & _graded(score)
    _refuse_rows(table, wrong)
    verdict = nw.when(known).then(passed.cast(nw.Float64)).alias("success")
    kept = [name for name in ("steps", "cost") if name in named]
    return table.select("task", "trial", verdict, tagged.alias("infra"), *kept)


def _known(table: Any, name: str) -> Any:
    """Whether a column has a value: neither null nor, among floats, NaN."""
    import narwhals as nw

    null = nw.col(name).is_null()
    return ~(null | nw.col(name).is_nan() if table.collect_schema()[name].is_float() else null)


def _graded(score: Any) -> Any:
    return (score != 0) & (score != 1)


def _refuse_rows(table: Any, wrong: Mapping[str, Any]) -> None:
    """An error for the first kind of wrong row: how many there are, and one of them."""
    import narwhals as nw

    tally = [bad.cast(nw.Int64).sum().alias(reason) for reason, bad in wrong.items()]
    found = _here(table.select(*tally, nw.len().alias("rows")))
    if not found.pop("rows")[0]:
        raise ValueError("the frame has no rows, so there is no trial in it.")
    for reason, (number,) in found.items():
        if number:
            row = _here(table.filter(wrong[reason]).head(1))
            one = ", ".join(f"{name} {values[0]!r}" for name, values in row.items())
            raise ValueError(f"{reason}. Rows: {number}; one has {one}.")


def _refuse_repeats(table: Any, advice: str) -> None:
    import narwhals as nw

    times = table.group_by("task", "trial").agg(nw.len().alias("rows"))
    found = _here(times.filter(nw.col("rows") > 1).sort("task", "trial").head(1))
    if found["task"]:
        task, trial, rows = (found[name][0] for name in ("task", "trial", "rows"))
        raise ValueError(f"task {task!r}, trial {trial!r} has {rows} rows: {advice}.")


def planned_counts(
    rows: pd.DataFrame, planned: int | Mapping[Any, int] | None = None
) -> pd.DataFrame:
    """The counts of `counts`, once they are summed: with the plan, and sorted by task."""
    import pandas as pd

    if planned is None:
        return _sorted(rows)
    have = set(rows["task"])
    plan = planned if isinstance(planned, Mapping) else dict.fromkeys(have, planned)
    plan = dict(zip(plan, whole("planned", list(plan.values())).tolist(), strict=True))
    unplanned = have - set(plan)
    if unplanned:
        raise ValueError(f"planned does not name the task {min(unplanned, key=str)!r}.")
    for task, trials in zip(rows["task"], rows["planned"], strict=True):
        if plan[task] < trials:
            raise ValueError(f"task {task!r} has {trials} trials, and {plan[task]} were planned.")
    never = pd.DataFrame({"task": [task for task in plan if task not in have]})
    rows = pd.concat([rows, never.assign(n=0, c=0, planned=0, infra=0)]) if len(never) else rows
    return _sorted(rows.assign(planned=[plan[task] for task in rows["task"]]))


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    try:
        return rows.sort_values("task", ignore_index=True)
    except TypeError:  # names of more than one type have no order of their own
        return rows.sort_values("task", ignore_index=True, key=lambda names: names.map(repr))


def _here(frame: Any) -> dict[str, list[Any]]:
    """The columns of a small result, computed where the log is and brought here."""
    import narwhals as nw

    collected = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return dict(collected.to_dict(as_series=False))
