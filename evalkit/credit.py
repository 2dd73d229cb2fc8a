"""Partial credit: what an episode earns for the part of a task that it did.

Credit shows progress on long tasks, where a pass is rare. It also brings agents closer together
than they are, and can reward a record left half changed: report it beside the rate of full
completion, never in its place. What an agent earns that does nothing is always shown with it.

The forms that public benchmarks use go by name. A form that has nothing to divide by, or no parts,
is NaN: not evaluated, and never full marks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.grading import Verdict
from evalkit.statediff import State


@dataclass(frozen=True)
class Checkpoint:
    """A part of a task that earns credit.

    Attributes
    ----------
    name : str
        What it is called.
    holds : callable
        Takes a state and returns whether the part is done. Where it raises, as on a row that is not
        there, the part is not done.
    weight : float
        What it is worth.
    needs : sequence of str
        Checkpoints listed before it without which it is worth nothing. They must be reached no
        later than it is.
    """

    name: str
    holds: Callable[[State], Any]
    weight: float = 1.0
    needs: Sequence[str] = ()


#: Checkpoints that are worth nothing one without the other: a tuple of their names to a penalty,
#: which is taken away where some of it is done and not all (0 for none).
Groups = Mapping[tuple[str, ...], float]
_NO_GROUPS: Groups = {}


@dataclass(frozen=True)
class Credit:
    """The credit of one episode; true only if the task is complete.

    Attributes
    ----------
    value : float
        Weights earned over all weights: at most 1, below 0 where penalties outweigh, and NaN where
        nothing can be earned.
    of_doing_nothing : float
        The same for the untouched start state.
    complete : bool
        Whether all of it is done.
    earned : dict
        Whether each checkpoint counts.
    """

    value: float
    of_doing_nothing: float
    complete: bool
    earned: dict[str, bool]

    def __bool__(self) -> bool:
        return self.complete

    def __str__(self) -> str:
        whole = "complete" if self.complete else "not complete"
        return f"{whole}; credit {self.value:.2f}, for doing nothing {self.of_doing_nothing:.2f}"


def credit(
    states: Sequence[State], checkpoints: Sequence[Checkpoint], groups: Groups = _NO_GROUPS
) -> Credit:
    """The credit of an episode.

    Parameters
    ----------
    states : sequence of dict
        The states from the start to the end. The last decides what is done; those between decide
        what was reached before what. The start and the end are enough where no order matters.
    checkpoints : sequence of Checkpoint
        What earns credit.
    groups : mapping
        Names that count only together, each tuple with the penalty for doing it half.

    Raises
    ------
    ValueError
        If a name is given twice or not known where it is needed, or a weight is negative.

    Examples
    --------
    >>> parts = [
    ...     Checkpoint("address", lambda s: s["address"] == "new"),
    ...     Checkpoint("refund", lambda s: s["refunds"] == 1),
    ...     Checkpoint("note", lambda s: s["notes"] == 1),
    ... ]
    >>> start = {"address": "old", "refunds": 0, "notes": 0}
    >>> half_issued = {"address": "new", "refunds": 1, "notes": 0}
    >>> print(credit([start, half_issued], parts))
    not complete; credit 0.67, for doing nothing 0.00
    >>> print(credit([start, half_issued], parts, {("refund", "note"): 1}))
    not complete; credit 0.00, for doing nothing 0.00
    """
    earned: dict[str, bool] = {}
    first: dict[str, int] = {}
    for c in checkpoints:
        if c.name in earned or c.weight < 0 or not earned.keys() >= set(c.needs):
            raise ValueError(f"{c.name!r}: list it once, after what it needs, with a weight >= 0")
        held = [_holds(c, state) for state in states]
        first[c.name] = held.index(True) if True in held else len(held)
        earned[c.name] = held[-1] and all(earned[n] and first[n] <= first[c.name] for n in c.needs)
    lost = 0.0
    for names, penalty in groups.items():
        if penalty < 0 or not earned.keys() >= set(names):
            raise ValueError(f"groups: {names} must be among {list(earned)}, with a penalty >= 0")
        if not all(earned[name] for name in names):
            lost += penalty if any(earned[name] for name in names) else 0
            earned |= dict.fromkeys(names, False)
    total = sum(c.weight for c in checkpoints)
    won = sum(c.weight for c in checkpoints if earned[c.name]) - lost
    value = won / total if total else float("nan")
    nothing = credit(states[:1], checkpoints, groups).value if len(states) > 1 else value
    return Credit(value, nothing, bool(earned) and all(earned.values()), earned)


def _holds(checkpoint: Checkpoint, state: State) -> bool:
    try:
        return bool(checkpoint.holds(state))
    except Exception:  # the state is the agent's, so an odd one must not stop the grading
        return False


def verdict_credit(
    verdict: Verdict, weights: Mapping[str, float], groups: Groups = _NO_GROUPS
) -> Credit:
    """The credit of a verdict, with weights and groups; complete only if it is a pass.

    What held before the episode earns nothing, as in ``verdict.credit``.

    Parameters
    ----------
    verdict : Verdict
        From `evalkit.grading.grade`.
    weights : mapping
        Place of a requirement to its weight; 1 where it is not named. New rows of one table are one
        place, and earn nothing until all are there.
    groups : mapping
        As in `credit`, with places for names.

    Raises
    ------
    ValueError
        If a place is none of a requirement.

    Examples
    --------
    >>> from evalkit.grading import grade
    >>> from evalkit.tasks import Task
    >>> task = Task(required={"t/1/x": 1, "t/1/y": 1})
    >>> verdict = grade({"t": {1: {"x": 0, "y": 0}}}, {"t": {1: {"x": 1, "y": 0}}}, task)
    >>> verdict.credit, verdict_credit(verdict, {"t/1/x": 3}).value
    (0.5, 0.75)
    """
    kinds = ("met", "missing", "vacuous")
    met, missing, held = ({f.place for f in verdict.of_kind(kind)} for kind in kinds)
    if unknown := weights.keys() - met - missing - held:
        raise ValueError(f"weights: no requirement stands at {', '.join(sorted(unknown))}")
    checkpoints = [Checkpoint(p, itemgetter(p), weights.get(p, 1)) for p in sorted(met | missing)]
    left = {tuple(n for n in names if n not in held): penalty for names, penalty in groups.items()}
    found = credit([{}, dict.fromkeys(met - missing, True)], checkpoints, left)
    return replace(found, complete=verdict.passed)


# --- published forms ----------------------------------------------------------------------


def _ratio(points: ArrayLike, totals: ArrayLike) -> NDArray[np.float64]:
    """Points over totals; NaN where the total is 0."""
    points, totals = np.asarray(points, float), np.asarray(totals, float)
    if not ((points >= 0) & (points <= totals)).all():
        raise ValueError(f"points {points} of totals {totals}: must lie from 0 to the total")
    return np.divide(points, totals, out=np.full(points.shape, np.nan), where=totals > 0)


def half_and_half(points: ArrayLike, totals: ArrayLike) -> NDArray[np.float64]:
    """TheAgentCompany's score: half the share of the points, and half for all of them.

    Parameters
    ----------
    points, totals : array_like
        Points earned and points to be had, one number a task.

    Returns
    -------
    ndarray
        In [0, 1]; NaN for a task with no points to be had.

    References
    ----------
    Xu et al. (2024), *TheAgentCompany*, arXiv:2412.14161.

    Examples
    --------
    >>> half_and_half([4, 4, 0], [4, 8, 1]).tolist()
    [1.0, 0.25, 0.0]
    """
    share = _ratio(points, totals)
    return (share + (share == 1)) / 2


def bonus_for_final(points: ArrayLike, totals: ArrayLike) -> NDArray[np.float64]:
    """The points of one task's checkpoints, or all of their totals if the last one is complete.

    A bonus strategy of TheAgentCompany (``bonus_for_completing_final`` in its code). A checkpoint
    with no points to be had completes nothing.

    Parameters
    ----------
    points, totals : array_like
        Points earned and points to be had, one number a checkpoint.

    Returns
    -------
    ndarray
        Points, one number a checkpoint.

    References
    ----------
    Xu et al. (2024), *TheAgentCompany*, arXiv:2412.14161.

    Examples
    --------
    >>> bonus_for_final([0, 1, 2], [1, 2, 2]).tolist()
    [1.0, 2.0, 2.0]
    """
    complete = _ratio(points, totals) == 1
    return np.asarray(totals if complete[-1:].any() else points, float)


def bonus_for_any(points: ArrayLike, totals: ArrayLike) -> NDArray[np.float64]:
    """The points of one task's checkpoints, the first in full if any of them is complete.

    The other bonus strategy of TheAgentCompany (``bonus_for_completing_any``): what is looked up
    first is needed for all that follows, so who did any of it has looked.

    Parameters
    ----------
    points, totals : array_like
        As in `bonus_for_final`.

    Returns
    -------
    ndarray
        Points, one number a checkpoint.

    Examples
    --------
    >>> bonus_for_any([0, 1, 2], [1, 2, 2]).tolist()
    [1.0, 1.0, 2.0]
    """
    complete = _ratio(points, totals) == 1
    return np.where(complete.any() & (np.arange(complete.size) == 0), totals, points).astype(float)


def progress_rate(scores: ArrayLike) -> NDArray[np.float64]:
    """AgentBoard's progress rate after each step: the best score of a state so far.

    Its last value is the episode's. What was reached and then lost still counts, so it says
    nothing of the end state.

    Parameters
    ----------
    scores : array_like
        The score of the state after each step, in [0, 1], such as the share of the subgoals that
        hold.

    Returns
    -------
    ndarray
        One number a step, never falling.

    References
    ----------
    Ma et al. (2024), *AgentBoard*, arXiv:2401.13178.

    Examples
    --------
    >>> progress_rate([0, 0.5, 0.25, 0.75]).tolist()
    [0.0, 0.5, 0.5, 0.75]
    """
    return np.maximum.accumulate(_parts(scores))


def product_of_parts(scores: ArrayLike) -> float:
    """WebArena's score of a task: the product of the scores of its parts.

    A right answer beside a wrong state is 0, as it must be.

    Parameters
    ----------
    scores : array_like
        One number in [0, 1] a part.

    Returns
    -------
    float
        In [0, 1]; NaN where there is no part.

    References
    ----------
    Zhou et al. (2023), *WebArena*, arXiv:2307.13854.

    Examples
    --------
    >>> product_of_parts([1, 0]), product_of_parts([])
    (0.0, nan)
    """
    return float(np.prod(_parts(scores)))


def all_of(scores: ArrayLike) -> float:
    """OSWorld's "and": the mean of the scores, or 0 if one of them is 0.

    Parameters
    ----------
    scores : array_like
        One number in [0, 1] a part.

    Returns
    -------
    float
        In [0, 1]; NaN where there is no part.

    References
    ----------
    Xie et al. (2024), *OSWorld*, arXiv:2404.07972.

    Examples
    --------
    >>> all_of([1, 0.5]), all_of([1, 0])
    (0.75, 0.0)
    """
    scores = _parts(scores)
    return float(scores.mean()) if scores.all() else 0.0


def any_of(scores: ArrayLike) -> float:
    """OSWorld's "or": the best of the scores, for ways of which one is enough.

    Parameters
    ----------
    scores : array_like
        One number in [0, 1] a way.

    Returns
    -------
    float
        In [0, 1]; NaN where there is no way.

    Examples
    --------
    >>> any_of([1, 0.5]), any_of([0, 0])
    (1.0, 0.0)
    """
    return float(_parts(scores).max())


def _parts(scores: ArrayLike) -> NDArray[np.float64]:
    """Scores, checked to lie in [0, 1]; a single NaN where there are none."""
    scores = _ratio(scores, np.ones(np.shape(scores)))
    return scores if scores.size else np.array([np.nan])


def averages(points: ArrayLike, totals: ArrayLike) -> dict[str, float]:
    """The averages over tasks that go by one name, side by side: never list one beside another.

    Parameters
    ----------
    points, totals : array_like
        Points earned and points to be had, one number a task.

    Returns
    -------
    dict
        ``micro`` (all points over all totals, so that long tasks weigh more), ``macro`` (mean share
        of a task), ``half and half`` (mean of `half_and_half`), ``complete`` (share of tasks with
        all points), ``tasks`` (how many these are of) and ``not evaluated`` (tasks left out,
        because they have no points to be had).

    Examples
    --------
    >>> {name: round(value, 3) for name, value in averages([4, 4, 0], [4, 8, 1]).items()}
    {'micro': 0.615, 'macro': 0.5, 'half and half': 0.417, 'complete': 0.333, 'tasks': 3,
     'not evaluated': 0}
    """
    share = _ratio(points, totals)
    scored = ~np.isnan(share)
    forms = {"macro": share, "half and half": half_and_half(points, totals), "complete": share == 1}
    means = {name: float(_parts(form[scored]).mean()) for name, form in forms.items()}
    counts = {"tasks": int(scored.sum()), "not evaluated": int((~scored).sum())}
    return {"micro": float(_ratio(np.sum(points), np.sum(totals)))} | means | counts
