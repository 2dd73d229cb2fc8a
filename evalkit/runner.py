"""Run a suite: infra failures again up to a limit, every attempt on one line of a log.

A run that was cut off goes on from its log. The seed of an attempt follows from the task, the
trial and the attempt, so that the log of a resumed run is the log of a run that was never cut off,
as far as the agent and the environment follow their seeds.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import product
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_none
from tenacity.wait import wait_base
from tqdm import tqdm

from evalkit.forms import digest
from evalkit.infra import AGENT_FAILURE, CAUSES, INFRA_FAILURE, SUCCESS, Cause, outcome_tag
from evalkit.runlog import CONDITIONS, FIELDS, Row, RunError, attempts_table, open_log
from evalkit.statediff import State, state_diff
from evalkit.values import check_value, show


@dataclass(frozen=True)
class Setup:
    """What is run, and under which conditions.

    Parameters
    ----------
    agent
        Which agent: the one thing that differs between two runs to compare.
    tasks, trials
        Names of the tasks, and how many trials of each.
    retries
        The most retries of one trial, after infra failures only.
    seed
        Every attempt's own seed follows from it.
    user_model, user_settings
        The model that plays the user, and its sampling settings.
    max_steps
        The agent's step budget, which the `play` function keeps to.
    environment_version
        What the environment is, and in which version.
    one_start
        Whether all tasks start from one state, or else each from a state of its own.

    Raises
    ------
    RunError
        If there is no task, one is named twice, or a count is out of range.
    """

    agent: str
    tasks: Sequence[str]
    trials: int
    retries: int = 3
    seed: int = 0
    user_model: str | None = None
    user_settings: Mapping[str, Any] | None = None
    max_steps: int | None = None
    environment_version: str | None = None
    one_start: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.tasks, str) or not 0 < len(self.tasks) == len(set(self.tasks)):
            raise RunError(f"tasks: give a list of names, each once, not {show(self.tasks)}")
        if self.trials < 1 or self.retries < 0:
            raise RunError("trials must be 1 or more, and retries 0 or more")
        try:
            _ = self.conditions
        except (TypeError, ValueError) as error:
            raise RunError(f"user_settings: the log takes JSON data only: {error}") from error

    @property
    def conditions(self) -> Row:
        """The fields that stand on every line of the log, as JSON gives them back."""
        stated = {name: getattr(self, name) for name in CONDITIONS}
        return dict(json.loads(json.dumps(stated, allow_nan=False)))


@dataclass(frozen=True)
class Outcome:
    """What a `play` function returns of one attempt.

    Parameters
    ----------
    verdict
        The grader's: ``pass``, ``fail`` or ``not evaluated``; None without one.
    steps
        Actions and messages; 0 says that nothing ever started.
    cost
        In whatever unit the log keeps.
    trace
        What the agent did, as plain data; the log keeps its digest.
    error
        What went wrong, if it was caught: see `evalkit.infra.classify`.
    extra
        Further fields for the log, such as tokens or seconds.
    """

    verdict: str | None
    steps: int | None = None
    cost: float | None = None
    trace: Any = None
    error: BaseException | int | str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.verdict not in ("pass", "fail", "not evaluated", None):
            raise RunError(f"verdict: {self.verdict!r} is none; give verdict.status, as it stands")


@dataclass(frozen=True)
class Harness:
    """How an attempt is made.

    Parameters
    ----------
    environment
        ``environment(task, seed)`` opens a fresh environment, to be used in a ``with`` block.
    play
        ``play(opened environment, task, rng)`` lets the agent act, grades what it leaves behind
        and returns an `Outcome`. An exception ends the attempt, and the table of causes says whose
        failure it is; a RunError ends the run.
    start
        ``start(opened environment)`` is the state before the agent acts. Where it is not the
        first one again, the environment was not reset, and the run ends.
    causes
        Whose failure an error is.
    wait
        How long to wait before a retry, in tenacity's terms: ``wait_exponential(max=60)``.
    """

    environment: Callable[[str, int], AbstractContextManager[Any]]
    play: Callable[[Any, str, np.random.Generator], Outcome]
    start: Callable[[Any], State] | None = None
    causes: Sequence[Cause] = CAUSES
    wait: wait_base = field(default_factory=wait_none)


#: The first start state of a suite, or of each task, by its digest and as it is.
Starts = dict[str, tuple[str, State | None]]


def run_suite(
    setup: Setup, harness: Harness, log: str | PathLike[str] | None = None
) -> pd.DataFrame:
    """Every attempt of a run, one row each, with a progress bar (silent if TQDM_DISABLE=1).

    Parameters
    ----------
    setup
        What is run.
    harness
        How.
    log
        A file to which each attempt is written as it ends. The attempts that it holds already are
        kept, and the run goes on from them; one that was cut off half-written is made again.

    Returns
    -------
    DataFrame
        See `evalkit.runlog.read_log`.

    Raises
    ------
    RunError
        If the log is another run's, or the environment was not reset.

    Examples
    --------
    >>> from contextlib import nullcontext
    >>> def play(environment, task, rng):
    ...     return Outcome("pass" if rng.random() < 0.7 else "fail", steps=5)
    >>> attempts = run_suite(
    ...     Setup("coin", ["a", "b"], trials=4), Harness(lambda task, seed: nullcontext(), play)
    ... )
    >>> attempts["tag"].value_counts().to_dict()
    {'agent success': 6, 'agent failure': 2}
    """
    rows: list[Row] = []
    kinds: Counter[str] = Counter()
    with open_log(log) as (kept, write):
        done, starts = _resumed(setup, kept)
        plan = list(product(setup.tasks, range(setup.trials)))
        for task, trial in (bar := tqdm(plan, desc=setup.agent)):
            rows += done[task, trial]
            for row in run_episode(setup, harness, task, trial, done[task, trial], starts):
                write(row)
                rows.append(row)
                kinds.update([row["kind"]] if row["kind"] else [])
            bar.set_postfix(kinds)  # what goes wrong is shown at once, results are not
    return attempts_table(rows)


def _resumed(setup: Setup, kept: Sequence[Row]) -> tuple[dict[tuple[str, int], list[Row]], Starts]:
    """What a log holds of this run: the attempts of each trial, and the start states."""
    done: dict[tuple[str, int], list[Row]] = defaultdict(list)
    starts: Starts = {}
    for row in kept:
        task, trial = row["task"], row["trial"]
        if task not in setup.tasks or trial >= setup.trials:
            raise RunError(f"the log holds trial {trial} of {task!r}, which is not in the setup")
        seed = attempt_seed(setup.seed, task, trial, row["attempt"])
        for name, value in (setup.conditions | {"seed": seed}).items():
            if row.get(name) != value:
                found = f"{name} is {show(row.get(name))} there and {show(value)} here"
                raise RunError(f"the log is another run's: {found}; name another log")
        done[task, trial].append(row)
        if row["start"]:
            starts.setdefault("" if setup.one_start else task, (row["start"], None))
    return done, starts


def run_episode(
    setup: Setup,
    harness: Harness,
    task: str,
    trial: int,
    earlier: Sequence[Row] = (),
    starts: Starts | None = None,
) -> Iterator[Row]:
    """The attempts of one trial, each as it ends; the next one only after an infra failure.

    Parameters
    ----------
    setup, harness
        What is run, and how.
    task, trial
        Which trial.
    earlier
        Attempts of it that a log holds. They count towards the limit.
    starts
        The start states seen so far, by which the next ones are judged, and which they join.

    Yields
    ------
    dict
        One line of the log.

    Raises
    ------
    RunError
        If the environment was not reset.
    """
    left = setup.retries + 1 - len(earlier)
    if left < 1 or any(not row["infra"] for row in earlier):
        return
    first = {} if starts is None else starts
    retrying = Retrying(
        stop=stop_after_attempt(left),
        retry=retry_if_result(lambda row: row["infra"]),
        wait=harness.wait,
        retry_error_callback=lambda state: None,  # no more attempts: the last one stands
    )
    for number, turn in enumerate(retrying, len(earlier)):
        row = _attempt(setup, harness, task, trial, number, first)
        turn.retry_state.set_result(row)
        yield row


def _attempt(
    setup: Setup, harness: Harness, task: str, trial: int, number: int, starts: Starts
) -> Row:
    seed = attempt_seed(setup.seed, task, trial, number)
    outcome, begun = Outcome(None), None
    try:
        with harness.environment(task, seed) as opened:
            if harness.start:
                group = "" if setup.one_start else task
                begun = _begin(task, harness.start(opened), group, starts)
            outcome = harness.play(opened, task, np.random.default_rng(seed))
    except RunError:
        raise
    except Exception as raised:  # whatever it is: the table says whose, or that nobody knows
        outcome = Outcome(None, error=raised)
    if not isinstance(outcome, Outcome):
        raise RunError(f"{task}: play must return an Outcome, not {show(outcome)}")
    error, steps, cost = outcome.error, outcome.steps, outcome.cost
    tag, kind = outcome_tag(outcome.verdict, steps, error, harness.causes)
    what = (tag, kind, {SUCCESS: True, AGENT_FAILURE: False}.get(tag), tag == INFRA_FAILURE)
    if isinstance(error, BaseException):
        error = f"{type(error).__name__}: {error}"
    if isinstance(error, str):  # bytes of a file name that are no text, say
        error = error.encode("utf-8", "backslashreplace").decode()
    trace = None if outcome.trace is None else digest(outcome.trace)
    values = (task, trial, number, seed, *what, outcome.verdict, error, steps, cost, begun, trace)
    row = dict(zip(FIELDS, values, strict=True)) | setup.conditions
    if twice := row.keys() & outcome.extra.keys():
        raise RunError(f"{task}: extra holds {sorted(twice)}, which the log has already")
    return row | dict(outcome.extra)


def _begin(task: str, state: State, group: str, starts: Starts) -> str:
    """The digest of a start state, which must be the first one again."""
    begun = digest(state)
    first, first_state = starts.setdefault(group, (begun, check_value(state)))
    if begun != first:
        where = f":\n{state_diff(first_state, state)}" if first_state is not None else ""
        raise RunError(
            f"{task}: starts from another state than the first episode, so the environment was not"
            f" reset (or, if tasks have start states of their own, say one_start=False){where}"
        )
    return begun


def attempt_seed(seed: int, task: str, trial: int, attempt: int) -> int:
    """The seed of one attempt, on any machine: 48 bits, which every JSON reader keeps exactly.

    Examples
    --------
    >>> attempt_seed(0, "move house", 0, 0) == attempt_seed(0, "move house", 0, 1)
    False
    """
    text = json.dumps([seed, task, trial, attempt])
    return int.from_bytes(sha256(text.encode()).digest()[:6])
