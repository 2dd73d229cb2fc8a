"""Inspect: the log of one evaluation, ``.eval`` or ``.json``, read through `inspect_ai` itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os.path import isfile
from typing import Any

import pandas as pd

from evalkit.logs import Duplicates, LogError, PathLike, judged, trials
from evalkit.values import show

#: What Inspect's letters are worth: correct, incorrect, partial, no answer.
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
#: How the error of a sample begins that was cut off because the evaluation was.
CANCELLED = ("CancelledError(", "Cancelled(")
#: Parts of a sample that no column needs, and that make up most of a log.
UNREAD = {"events", "store", "attachments", "events_data", "timelines"}


def read_inspect(
    path: PathLike,
    *,
    scorer: str | None = None,
    threshold: float | None = None,
    duplicates: Duplicates = "error",
) -> pd.DataFrame:
    """One row for each planned sample and epoch of an Inspect evaluation; epochs are trials.

    A sample that ended in an error is an infra failure, scored or not. Read the column ``error``
    before relying on that: an agent's own code can raise too. A sample that ran into a limit is
    the agent's, and has the score that it was given; one that an operator ended is not evaluated.
    Nor is one that is invalidated, has no score, or whose score is NaN, which is how Inspect says
    that its scorer gave none. A log that was cancelled or broke off is read as far as it goes:
    what it cut off is ``cancelled`` and not evaluated, and what has no sample in it was not run.

    Parameters
    ----------
    path
        A local log file. Compressed JSON is not read.
    scorer
        Whose score is the verdict, where samples have more than one.
    threshold
        For graded scores: a trial succeeds if its score is at least this.
    duplicates : {"error", "drop"}
        As `evalkit.trials.trials_table` takes it.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says: ``task`` is the sample's id, ``steps`` the model's messages, and
        ``cost`` what Inspect reckons in dollars. Then ``score``, ``ended`` (``completed``,
        ``error``, ``cancelled``, ``TYPE limit``, ``invalidated`` or ``not run``), ``error``,
        ``reason`` (why there is no score, where the scorer says so), ``retries`` (after errors),
        ``evaluation`` (Inspect's task), ``version``, ``model``, ``eval_id`` and ``status``.

    Raises
    ------
    ImportError
        If `inspect_ai` is not installed.
    LogError
        If the file is cut off or of another format; if it holds fewer samples than it counts; if
        a sample was not planned, or is there twice; if a score is no verdict.

    References
    ----------
    UK AI Security Institute, *Inspect*, https://inspect.aisi.org.uk.
    """
    log = _log(path)
    samples = log.samples or []
    completed = log.results.completed_samples if log.results else 0
    if completed > (held := sum(sample.error is None for sample in samples)):
        raise LogError(f"{path}, samples: holds {held} without error; results count {completed}.")
    name = _scorer(path, samples, scorer)
    rows = [_row(f"{path}, sample {i}", s, name, threshold) for i, s in enumerate(samples)]
    rows += _not_run(path, log, rows)
    return trials([row | _source(log) for row in rows], path, duplicates)


def _log(path: PathLike) -> Any:
    """The log as Inspect reads it."""
    try:
        from inspect_ai.log import read_eval_log
    except ModuleNotFoundError as error:
        raise ImportError(
            "Inspect's logs need inspect_ai: run `pip install -e .[inspect]` in the project's folder."
        ) from error
    if not isfile(path):  # Inspect itself would go and fetch an address
        raise LogError(f"{path}: cannot be read: there is no such file.")
    try:
        return read_eval_log(str(path), exclude_fields=UNREAD)
    except Exception as error:  # whatever a reader of zip and JSON raises on what is neither
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise LogError(f"{path}: is cut off, or no log of Inspect's: {why}.") from None


def _scorer(path: PathLike, samples: Sequence[Any], scorer: str | None) -> str | None:
    """The scorer to go by; None where no sample has a score."""
    names = sorted({name for sample in samples for name in sample.scores or {}})
    if scorer is not None and scorer not in names:
        raise LogError(f"{path}, scores: there is no {scorer!r}, only {', '.join(names)}.")
    if scorer is None and len(names) > 1:
        raise LogError(f"{path}, scores: holds {', '.join(names)}; choose one with scorer=...")
    return scorer or (names[0] if names else None)


def _source(log: Any) -> dict[str, str]:
    """What the log says of the evaluation."""
    spec = log.eval
    return {
        "evaluation": spec.task,
        "version": str(spec.task_version),
        "model": spec.model,
        "eval_id": spec.eval_id,
        "status": log.status,
    }


def _row(where: str, sample: Any, name: str | None, threshold: float | None) -> dict[str, Any]:
    given = (sample.scores or {}).get(name)
    score = None if given is None else _score(f"{where}, scores.{name}", given.value)
    graded = score if score is None or threshold is None else float(score >= threshold)
    ended, counts = _ended(sample)
    costs = [usage.total_cost for usage in sample.model_usage.values()]
    return {
        "task": sample.id,
        "trial": sample.epoch,
        "success": judged(where, f"scores.{name}", graded) if counts else None,
        "infra": ended == "error",
        "steps": sum(message.role == "assistant" for message in sample.messages) or None,
        "cost": sum(costs) if costs and None not in costs else None,
        "score": score,
        "ended": ended,
        "error": sample.error.message if sample.error else None,
        "reason": given.reason if given else None,
        "retries": len(sample.error_retries or []),
    }


def _ended(sample: Any) -> tuple[str, bool]:
    """How a sample ended, and whether its score, if it has one, is a verdict on the agent."""
    if sample.error is not None:
        cut = sample.error.message.startswith(CANCELLED)
        return "cancelled" if cut else "error", False
    if sample.invalidation is not None:
        return "invalidated", False
    if sample.limit is not None:
        return f"{sample.limit.type} limit", sample.limit.type != "operator"
    return "completed", True


def _score(where: str, value: Any) -> float | None:
    """The number that a score stands for; None for NaN, Inspect's mark of no score."""
    number = LETTERS.get(value) if isinstance(value, str) else value
    if not isinstance(number, int | float):
        raise LogError(
            f"{where}: {show(value)} is neither a number nor one of {', '.join(LETTERS)}."
        )
    return None if math.isnan(number) else float(number)


def _not_run(path: PathLike, log: Any, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row without verdict for each sample and epoch of the log's plan that is not in it."""
    epochs = range(1, (log.eval.config.epochs or 1) + 1)
    planned = dict.fromkeys((i, n) for i in log.eval.dataset.sample_ids or [] for n in epochs)
    have = [(row["task"], row["trial"]) for row in rows]
    for i, which in enumerate(have):
        if which not in planned:
            named = "id {!r}, epoch {}".format(*which)
            raise LogError(f"{path}, sample {i}: {named} is not in the log's own plan.")
        planned[which] = True
    columns = ("success", "steps", "cost", "score", "error", "reason")
    never = dict.fromkeys(columns) | {"infra": False, "ended": "not run", "retries": 0}
    return [never | {"task": i, "trial": n} for (i, n), ran in planned.items() if not ran]
