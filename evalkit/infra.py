"""Whose failure was it? Outcome tags, and what a flaky environment does to pass^k.

An attempt at an episode ends with one tag. Infra failures say nothing of the agent: they are run
again, up to a limit, and reported by themselves. Agent failures are never run again.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evalkit.passk import count_arrays, pass_hat_k, positive, whole

SUCCESS, AGENT_FAILURE, INFRA_FAILURE = "agent success", "agent failure", "infra failure"
#: Nobody knows: no verdict, or an error that the table does not hold. Neither a pass nor a failure.
NOT_EVALUATED = "not evaluated"
#: A planned trial of which the log holds no attempt.
NOT_RUN = "not run"


class BudgetExhausted(Exception):
    """The agent used up its steps, tokens, seconds or money; raise it where a cap bites."""


class EnvironmentFailure(Exception):
    """The environment failed in a way of its own: a sandbox died, a page did not load."""


@dataclass(frozen=True)
class Cause:
    """One row of the table that says whose failure an error is.

    Parameters
    ----------
    kind
        What it is called in a log, in lower case.
    tag
        `INFRA_FAILURE`, `AGENT_FAILURE` or `NOT_EVALUATED`.
    errors
        Names of exceptions, subclasses included, with or without their module
        (``"requests.exceptions.Timeout"``), so that no library need be imported.
    statuses
        HTTP statuses, on an exception's ``status_code`` or ``code``, or its response's.
    phrases
        Text in the message, in lower case. Tools repeat what they were told, so use few.

    Raises
    ------
    ValueError
        If the tag is another: no error is a success.
    """

    kind: str
    tag: str
    errors: tuple[str, ...] = ()
    statuses: Container[int] = ()
    phrases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.tag not in (known := (INFRA_FAILURE, AGENT_FAILURE, NOT_EVALUATED)):
            raise ValueError(f"Cause {self.kind!r}: tag is {self.tag!r}; give one of {known}")


_OVERFLOW = ("context window", "context length", "context_length", "prompt is too long")
_TIMEOUTS = ("TimeoutError", "TimeoutException", "TimeoutExpired", "requests.exceptions.Timeout")

#: The table, first match first. Put rows of your own before: ``(Cause(...), *CAUSES)``.
#: A bare ``TimeoutError`` is a tool's; a time limit of the agent's raises `BudgetExhausted`.
CAUSES: tuple[Cause, ...] = (
    Cause("context overflow", AGENT_FAILURE, ("ContextWindowExceededError",), phrases=_OVERFLOW),
    Cause("budget exhausted", AGENT_FAILURE, ("BudgetExhausted", "MaxTurnsExceeded", "max_steps")),
    Cause("rate limit", INFRA_FAILURE, ("RateLimitError",), (429,)),
    Cause("timeout", INFRA_FAILURE, (*_TIMEOUTS, "APITimeoutError"), (408, 504)),
    Cause("server error", INFRA_FAILURE, ("InternalServerError",), range(500, 600)),
    Cause("connection lost", INFRA_FAILURE, ("ConnectionError", "TransportError")),
    Cause("environment failure", INFRA_FAILURE, ("EnvironmentFailure",)),
    Cause("no activity", INFRA_FAILURE),
)


def classify(error: BaseException | int | str, causes: Sequence[Cause] = CAUSES) -> Cause | None:
    """The first row of the table that an error matches, or else what it was raised from matches.

    Parameters
    ----------
    error
        An exception, an HTTP status, or a reason that a log gives: the name of a kind, or text
        that holds the name of an exception.
    causes
        The table.

    Returns
    -------
    Cause or None
        None where the table does not hold it.

    Examples
    --------
    >>> [classify(e).kind for e in (TimeoutError(), 503, "max_steps", "context window exceeded")]
    ['timeout', 'server error', 'budget exhausted', 'context overflow']
    >>> classify(KeyError("W1001")) is None
    True
    """
    chain: list[Any] = []
    below: Any = error
    while below is not None and not any(below is seen for seen in chain):
        chain.append(below)
        below = getattr(below, "__cause__", None)
    for names, status, message in map(_facts, chain):
        for cause in causes:
            named = not names.isdisjoint((f"<{cause.kind}>", *cause.errors))
            if named or status in cause.statuses or any(p in message for p in cause.phrases):
                return cause
    return None


def _facts(error: BaseException | int | str) -> tuple[set[str], int, str]:
    """What a row can match: names, <the kind a log gives>, HTTP status or 0, lower-case message."""
    if isinstance(error, int):
        return set(), error, ""
    if isinstance(error, str):
        words = re.findall(r"\w+(?:\.\w+)*", error)
        kind = re.sub(r"[\s_-]+", " ", error).strip().lower()
        return {f"<{kind}>", *words, *(word.rpartition(".")[2] for word in words)}, 0, error.lower()
    kinds = type(error).__mro__
    names = {k.__name__ for k in kinds} | {f"{k.__module__}.{k.__qualname__}" for k in kinds}
    places = (error, getattr(error, "response", None))
    statuses = [getattr(place, name, 0) for place in places for name in ("status_code", "code")]
    return names, next((s for s in statuses if s and isinstance(s, int)), 0), str(error).lower()


def outcome_tag(
    verdict: str | None,
    steps: int | None = None,
    error: BaseException | int | str | None = None,
    causes: Sequence[Cause] = CAUSES,
) -> tuple[str, str]:
    """The tag of an attempt, and the kind of what went wrong.

    An error decides before the verdict: an attempt that the environment spoilt is no sample of the
    agent, whether it passed or not. An error that the table does not hold is *not evaluated*: it
    is not run again, and it is neither a pass nor a failure, until a row says whose it is.

    Parameters
    ----------
    verdict
        ``pass``, ``fail``, ``not evaluated``, or None where there is none.
    steps
        Actions and messages. With 0, where nothing went wrong or a budget ran out, nothing ever
        started: "no activity". To score an agent that does nothing, leave that row out.
    error
        As `classify` takes it.
    causes
        The table.

    Returns
    -------
    tag, kind : str
        The kind is empty where nothing went wrong.

    Examples
    --------
    >>> outcome_tag("fail", steps=7), outcome_tag("pass", 7, TimeoutError())
    (('agent failure', ''), ('infra failure', 'timeout'))
    >>> outcome_tag(None, 2, KeyError("id"))
    ('not evaluated', 'unknown: KeyError')
    """
    cause = None if error is None else classify(error, causes)
    if steps == 0 and (error is None or (cause and cause.kind == "budget exhausted")):
        cause = classify("no activity", causes) or cause
    if cause:
        return cause.tag, cause.kind
    if error is not None:
        named = isinstance(error, BaseException)
        return NOT_EVALUATED, f"unknown: {type(error).__name__ if named else error}"
    return {"pass": SUCCESS, "fail": AGENT_FAILURE}.get(str(verdict), NOT_EVALUATED), ""


# --- what flakes do to the numbers --------------------------------------------------------


def measured_pass_hat_k(
    P: ArrayLike,
    f: ArrayLike,
    k: int = 1,
    retries: int = 0,
    missed: ArrayLike = 0.0,
    mistaken: ArrayLike = 0.0,
) -> Any:
    """The pass^k that is measured where the environment fails: (s (1 + q + ... + q^r))^k.

    An attempt succeeds with s = (1 - f) P and is run again with
    q = f (1 - missed) + (1 - f)(1 - P) mistaken, up to r times. What is left is no success.
    Without errors of tagging that is (P (1 - f^(r + 1)))^k. With ``mistaken=1`` any failure is
    retried, and the result is nearer to pass@k: (1 - (1 - (1 - f) P)^(r + 1))^k.

    Parameters
    ----------
    P : array_like
        True success of a task, in [0, 1]. Average the result over tasks, never P.
    f : array_like
        Flake rate: the probability that the environment fails an attempt, whatever the agent.
    k : int
        Trials that must all succeed.
    retries : int
        r, the most retries of one trial.
    missed : array_like
        Share of the infra failures that are tagged as the agent's.
    mistaken : array_like
        Share of the agent's failures that are tagged as infra.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a share lies outside [0, 1], or a count is no whole number.

    Examples
    --------
    >>> [round(measured_pass_hat_k(0.7, 0.05, 8, retries=r), 4) for r in (0, 3)]
    [0.0382, 0.0576]
    >>> round(measured_pass_hat_k(0.7, 0.05, 8, retries=3, mistaken=1), 3)
    0.904
    """
    p, flake = _share("P", P), _share("f", f)
    spotted, confused = 1 - _share("missed", missed), _share("mistaken", mistaken)
    again = flake * spotted + (1 - flake) * (1 - p) * confused
    attempts = sum(again**j for j in range(int(whole("retries", retries)) + 1))
    return ((1 - flake) * p * attempts) ** positive("k", k)


def corrected_pass_hat_k(counts: Any, k: int = 1) -> tuple[float, float]:
    """The pass^k without flakes, from tagged trials that were not run again, and its error.

    The mean of C(c, k) / C(planned, k), where infra failures stand as failures, over the k-th
    power of the share of trials that are valid. It needs no task to have k valid trials, but takes
    it that flakes strike all tasks alike; where they grow with length, run the trials again.

    Parameters
    ----------
    counts : DataFrame or mapping
        One row for each task: planned trials, n valid ones, and c successes.
    k : int
        Trials that must all succeed, at most the planned ones.

    Returns
    -------
    value, standard error : float
        The error is the linearised one of a ratio over tasks, so that trials of one task need not
        be independent; NaN for one task.

    Raises
    ------
    ValueError
        If the counts are not counts, k exceeds the planned trials, or no trial is valid.

    Examples
    --------
    >>> value, error = corrected_pass_hat_k({"planned": [4, 4], "n": [4, 2], "c": [4, 1]})
    >>> round(value, 3), round(error, 3)
    (0.833, 0.222)
    """
    n, c, planned = count_arrays(counts)
    if not n.any() or planned.min() < positive("k", k):
        raise ValueError(f"counts: each task needs k = {k} planned trials, and one must be valid.")
    measured, share = pass_hat_k(planned, c, np.full(len(n), k)), n / planned
    value = measured.mean() / share.mean() ** k
    residual = measured / share.mean() ** k - k * value * share / share.mean()
    error = residual.std(ddof=1) / np.sqrt(len(n)) if len(n) > 1 else np.nan
    return float(value), float(error)


def infra_rate(infra: int, attempts: int, level: float = 0.95) -> tuple[float, float, float]:
    """The share of attempts that the environment failed, with its Wilson interval.

    The interval takes attempts as independent; an outage that fails ten in a row is one event.

    Parameters
    ----------
    infra, attempts : int
        Attempts tagged as infra failures, and all attempts, retries included.
    level : float
        Of the interval.

    Returns
    -------
    rate, low, high : float

    Raises
    ------
    ValueError
        If there is no attempt, or there are more infra failures than attempts.

    Examples
    --------
    >>> tuple(round(x, 3) for x in infra_rate(36, 730))
    (0.049, 0.036, 0.068)
    """
    from scipy.stats import binomtest

    if not 0 <= infra <= positive("attempts", attempts):
        raise ValueError(f"infra: {infra} of {attempts} attempts; give a count from 0 to these")
    low, high = binomtest(infra, attempts).proportion_ci(level, method="wilson")
    return infra / attempts, float(low), float(high)


def silent_bounds(value: float, rate: float, detectable: float, k: int = 1) -> tuple[float, float]:
    """Where pass^k without flakes lies, if not every infra failure could be seen.

    A share t of attempts is tagged infra, and at least the share d of all infra failures is
    detected. Then the environment also failed at most the share u = t (1 - d) / (d (1 - t)) of the
    attempts that count as the agent's. If it failed none, the value stands: the lower bound. If it
    failed u, these would have succeeded as often as the rest: value / (1 - u)^k, at most 1.

    Parameters
    ----------
    value : float
        pass^k on the attempts that are not tagged infra.
    rate : float
        The share of attempts tagged infra, t.
    detectable : float
        The least share of infra failures that is detected, d.
    k : int
        Trials that must all succeed.

    Returns
    -------
    low, high : float
        With d = 0, or more silent failures than attempts, the upper bound is 1.

    Raises
    ------
    ValueError
        If a share lies outside [0, 1].

    Examples
    --------
    >>> [round(x, 3) for x in silent_bounds(0.0576, rate=0.05, detectable=0.8, k=8)]
    [0.058, 0.064]
    """
    value, t, d = _share("value", value), _share("rate", rate), _share("detectable", detectable)
    seen = d * (1 - t)  # 0 also where d is too small for a float to tell
    silent = t * (1 - d) / seen if seen else float(d < 1)
    rest = max(0.0, 1 - silent) ** k
    return value, min(1.0, value / rest) if rest else 1.0


def _share(name: str, value: ArrayLike) -> Any:
    share = np.asarray(value, float)
    if not np.all((share >= 0) & (share <= 1)):
        raise ValueError(f"{name} must be in [0, 1], not in per cent; it is {value!r}")
    return share if share.ndim else float(share)
