"""Exercises of chapter 03: three averages, a group, free credit, an empty part, a flip by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from evalkit.course.exercises import Exercise, Wrong
from evalkit.credit import averages

THREE = "Return three numbers: micro, macro, half and half, in this order."
DIVIDED = (
    "One of your numbers is not a number: you divided by a total of 0. Leave such a task out before "
    "you divide."
)
SWAPPED = (
    "Micro and macro have changed places. Micro puts the points of all tasks into one pot; macro "
    "looks at one task at a time."
)
HALF_OF_MICRO = (
    "Half and half is the mean of a score that each task has by itself. You took the share from "
    "the common pot."
)
HALF_OF_TWO = "Half and half lies between macro and *complete*, not between micro and macro."
NO_CHECKS_FULL = (
    "A task with no points to be had counted as finished. Nobody finished it: it was not evaluated."
)
NO_CHECKS_FAIL = (
    "A task with no points to be had counted as failed. It says nothing of the agent, so it is no "
    "part of any average."
)
ANY_POINTS = "Some points are not all of them. The second half is for all the points of a task."
ONLY_COMPLETE = "Your third number is *complete*. Half of it is for the share of the points."
OFF_A = "Your {} off. Take a suite of two tasks, and work it out on paper."

# Suites as (points, totals). The last holds a task with nothing to be had.
SUITES = (
    ([3, 0, 5, 2], [3, 4, 10, 2]),
    ([1, 7, 2], [2, 8, 2]),
    ([2, 0, 1], [2, 0, 4]),
)


def _three(points: Sequence[float], totals: Sequence[float]) -> tuple[float, float, float]:
    found = averages(points, totals)
    return found["micro"], found["macro"], found["half and half"]


def _known_a(points: Any, totals: Any) -> dict[str, tuple[float, float, float]]:
    """Misconceptions of the three averages, and the numbers that each gives."""
    points, totals = np.asarray(points, float), np.asarray(totals, float)
    micro, macro, half = _three(points, totals)
    scored = totals > 0
    share, full = points[scored] / totals[scored], float((points[scored] == totals[scored]).mean())
    known = {
        SWAPPED: (macro, micro, half),
        HALF_OF_MICRO: (micro, macro, (micro + full) / 2),
        HALF_OF_TWO: (micro, macro, (micro + macro) / 2),
        ANY_POINTS: (micro, macro, (macro + float((share > 0).mean())) / 2),
        ONLY_COMPLETE: (micro, macro, full),
    }
    if not scored.all():
        for message, worth in ((NO_CHECKS_FULL, 1.0), (NO_CHECKS_FAIL, 0.0)):
            all_shares = np.where(scored, points / np.where(scored, totals, 1), worth)
            halves = (all_shares + (all_shares == 1)) / 2
            known[message] = (micro, float(all_shares.mean()), float(halves.mean()))
    return known


def _off_a(found: Sequence[float], right: Sequence[float]) -> str:
    """Which of the three numbers is wrong, in words."""
    names = ("micro", "macro", "half and half")
    off = [n for n, a, b in zip(names, found, right, strict=True) if not np.isclose(a, b)]
    return OFF_A.format(f"{', '.join(off)} {'is' if len(off) == 1 else 'are'}")


def check_a(three_averages: Callable[..., Any]) -> str | None:
    """Whether three averages are the three that were asked for."""
    for points, totals in SUITES:
        answer = three_averages(list(points), list(totals))
        if not isinstance(answer, tuple | list | np.ndarray) or len(answer) != 3:
            return THREE
        found = [float(number) for number in answer]
        if np.isnan(found).any():
            return DIVIDED
        if np.allclose(found, _three(points, totals)):
            continue
        for message, values in _known_a(points, totals).items():
            if np.allclose(found, values):
                return message
        return _off_a(found, _three(points, totals))
    return None


ONE_BY_ONE = (
    "A half-done group still earns something. Its parts are worth nothing one without the other."
)
NONE_DONE = (
    "Nothing of the group was done, so nothing is half-done. Leaving it alone costs nothing."
)
NO_PENALTY = "Half of the group costs nothing in yours: `penalty` is taken away there."
KEPT = "You took the penalty and still paid for the half. A half-done group earns nothing first."
CLIPPED = (
    "Credit may fall below zero. Cut off there, the half-issued refund looks as good as a start "
    "state that nobody touched."
)
NOT_SHARE = "Divide by all the weights. Your number grows with the length of the list."
PENALTY_SHARE = (
    "The penalty is stated in the same unit as the weights, so it is divided by their sum as well."
)
PER_PART = "`penalty` is taken once for a half-done group, however many of its parts are missing."
ONE_OF_THEM = (
    "A group may have three parts. With two of them done it is half-done: some are, and not all."
)
ALL_LOST = (
    "A half-done group costs its own parts and the penalty. What lies outside it still counts."
)
OFF_B = "Work it out on paper for a group of two: none of it done, one of the two, and both."

WEIGHTS = {"lock": 1.0, "move": 2.0, "pay": 3.0, "tell": 2.0}
GROUPS = (("move", "pay"), ("lock", "move", "tell"))
ENDINGS = (
    (True, True, True, True),
    (True, True, True, False),
    (True, False, False, False),
    (True, True, False, False),
    (True, True, False, True),
    (False, False, True, False),
    (False, False, False, False),
)


def _group(done: Mapping[str, bool], group: Sequence[str], penalty: float) -> dict[str, float]:
    """The credit of an ending under the right rule, named "", and under each misconception."""
    total = sum(WEIGHTS.values())
    missing = sum(not done[name] for name in group)
    half = 0 < missing < len(group)
    taken = penalty if half else 0
    single = sum(w for name, w in WEIGHTS.items() if done[name])
    inside = sum(WEIGHTS[name] for name in group if done[name])
    whole = single - (inside if half else 0)
    right = (whole - taken) / total
    return {
        "": right,
        ONE_OF_THEM: right if len(group) - missing == 1 else single / total,
        ONE_BY_ONE: single / total,
        NONE_DONE: (whole - (penalty if missing else 0)) / total,
        NO_PENALTY: whole / total,
        KEPT: (single - taken) / total,
        CLIPPED: max(0.0, right),
        NOT_SHARE: right * total,
        PENALTY_SHARE: whole / total - taken,
        PER_PART: (whole - taken * missing) / total,
        ALL_LOST: -penalty / total if half else right,
    }


def check_b(group_credit: Callable[..., Any]) -> str | None:
    """What is wrong with the credit of a group that counts only together, if anything."""
    misses: list[tuple[float, dict[str, float]]] = []
    for group, flags in product(GROUPS, ENDINGS):
        done = dict(zip(WEIGHTS, flags, strict=True))
        values = _group(done, group, 1.5)
        found = float(group_credit(dict(done), dict(WEIGHTS), group, 1.5))
        if not _same(found, values[""]):
            misses.append((found, values))
    return _told(misses, OFF_B)


def _told(misses: Sequence[tuple[float, Mapping[str, float]]], other: str) -> str | None:
    """The misconception that explains every miss; without any, that something is wrong."""
    if not misses:
        return None
    for message in misses[0][1]:
        if all(_same(found, values[message]) for found, values in misses):
            return message
    return other


SUBTRACTED = (
    "You took the start's credit away and left its checkpoints in the total. Then the best agent "
    "that there could be gets less than full credit."
)
LEFT_IN = (
    "What held at the start and still holds is in your total. Then the best agent that there could "
    "be gets less than full credit."
)
COUNTED = "What held at the start and still holds was not earned. An agent that sleeps has it too."
NOTHING_FULL = (
    "Every checkpoint held from the start. Nothing could be earned: that is no full mark."
)
NOTHING_ZERO = (
    "Every checkpoint held from the start. Nothing could be earned, so a zero would call the agent "
    "a failure. The answer is: not evaluated, `float('nan')`."
)
BROKEN = (
    "A checkpoint that held at the start and no longer does was broken by the agent. It stays in "
    "the total, as one that is not reached."
)
OUT_OF_REACH = (
    "A checkpoint that held neither before nor after is one that the agent did not reach. It is in "
    "the total."
)
PUNISHED = "What was broken earns nothing. It is in the total, and that is all that it costs here."
NUMBER = "Return a number: a share of the weights, or `float('nan')` where nothing can be earned."
OFF_C = "Go through the checkpoints one by one: is it in the total, and is it earned?"

CASES: tuple[tuple[list[bool], list[bool], list[float]], ...] = (
    ([False, False, True], [True, False, True], [1, 3, 4]),
    ([True, False], [True, True], [2, 1]),
    ([True, False, False], [False, True, False], [1, 2, 2]),
    ([True, True, False], [True, False, True], [2, 1, 3]),
    ([True, True], [True, True], [1, 1]),
)


def _above(
    start: Sequence[bool], end: Sequence[bool], weights: Sequence[float]
) -> dict[str, float]:
    """The credit beyond the start under the right rule, named "", and under misconceptions."""
    s, e, w = np.asarray(start), np.asarray(end), np.asarray(weights, float)
    kept, gained, broken = (w[which].sum() for which in (s & e, e & ~s, s & ~e))
    total = w.sum()
    shares = {
        "": (gained, total - kept),
        COUNTED: (gained + kept, total),
        LEFT_IN: (gained, total),
        SUBTRACTED: (gained - broken, total),
        BROKEN: (gained, w[~s].sum()),
        OUT_OF_REACH: (gained, gained + broken),
        PUNISHED: (gained - broken, total - kept),
    }
    return {message: float(won / of) if of else math.nan for message, (won, of) in shares.items()}


def _same(found: float, right: float) -> bool:
    return math.isclose(found, right, abs_tol=1e-9) or (math.isnan(found) and math.isnan(right))


def check_c(earned_credit: Callable[..., Any]) -> str | None:
    """Whether free credit is left out, and what was broken is not."""
    misses: list[tuple[float, dict[str, float]]] = []
    for start, end, weights in CASES:
        found = earned_credit(list(start), list(end), list(weights))
        if not isinstance(found, Real):
            return NUMBER
        values = _above(start, end, weights)
        if _same(float(found), values[""]):
            continue
        if not math.isnan(values[""]):
            misses.append((float(found), values))
        elif not misses and found in (0, 1):
            return NOTHING_FULL if found else NOTHING_ZERO
        elif not misses:
            return OFF_C
    return _told(misses, OFF_C)


REPAIRS = {
    "A": (
        "Then nobody can pass a task that states no answer, however well it is done: one zero "
        "makes the whole product zero."
    ),
    "B": (
        "Then an agent that does nothing still has full marks on these tasks, and on the others a "
        "wrong database earns half of them."
    ),
    "C": (
        "A product does not notice a factor of 1 that is left out. What is left is the database, "
        "and who stalls leaves that as it should be."
    ),
}


def check_d(answer: Any) -> str | None:
    """The one repair after which nobody mistakes a pass for an achievement."""
    letter = str(answer).strip().upper()
    if letter == "D":
        return None
    return REPAIRS.get(letter, "Answer with one letter, such as `'A'`.")


SHAPE = 'Give `"A"` and `"B"` a list of four numbers each.'
RANGE = "Each number is the points of a task: from 0 to 5."
REVERSED = "You have it the other way round: A is to lead on credit, B on complete tasks."
CREDIT_FIRST = "A does not lead on credit. Compare the sums of the points."
SAME_ORDER = (
    "A leads on complete tasks as well, so nothing flips. Let A come close everywhere, and let B be "
    "all or nothing."
)
LEVEL = "Both complete equally many tasks. A rank that flips needs B ahead, not level."


def check_e(answer: Any) -> str | None:
    """Whether two agents of one's own rank differently on credit and on complete tasks."""
    if not isinstance(answer, Mapping) or set(answer) != {"A", "B"}:
        return SHAPE
    if any(not isinstance(points, list | tuple) or len(points) != 4 for points in answer.values()):
        return SHAPE
    if any(not 0 <= point <= 5 for points in answer.values() for point in points):
        return RANGE
    a, b = (averages(answer[agent], [5] * 4) for agent in "AB")
    if b["macro"] > a["macro"] and a["complete"] > b["complete"]:
        return REVERSED
    if a["macro"] <= b["macro"]:
        return CREDIT_FIRST
    if a["complete"] > b["complete"]:
        return SAME_ORDER
    return LEVEL if a["complete"] == b["complete"] else None


EXERCISES = (
    Exercise(
        id="03.a",
        title="A real fault: three averages under one name",
        minutes=10,
        difficulty=2,
        prompt="""
On a public leaderboard one team listed all its points over all the totals. The rows around it held
the mean of a score in which half is for the share of a task's points, and half for completing the
task. The column had one heading.

Write `three_averages`. `points` and `totals` are two lists of numbers of equal length, one entry a
task. Return micro, macro, and half and half, in this order. A task whose total is 0 was not evaluated:
leave it out.
""",
        answer="three_averages",
        given="import numpy as np",
        stub="""\
def three_averages(points, totals):
    return ...""",
        hints=(
            "Which of the three adds up first and divides once? The other two divide for each task.",
            "Drop the tasks with a total of 0. Then `share = points / totals` as arrays, and a task "
            "is complete where `share == 1`.",
        ),
        solution="""\
def three_averages(points, totals):
    points, totals = np.array(points, float), np.array(totals, float)
    scored = totals > 0
    share = points[scored] / totals[scored]
    half = (share + (share == 1)) / 2
    return points.sum() / totals.sum(), share.mean(), half.mean()""",
        wrong=(
            Wrong(
                """\
def three_averages(points, totals):
    share = [p / t for p, t in zip(points, totals) if t]
    half = [(s + (s == 1)) / 2 for s in share]
    return np.mean(share), sum(points) / sum(totals), np.mean(half)""",
                SWAPPED,
            ),
            Wrong(
                """\
def three_averages(points, totals):
    share = [p / t for p, t in zip(points, totals) if t]
    micro = sum(points) / sum(totals)
    return micro, np.mean(share), (micro + np.mean([s == 1 for s in share])) / 2""",
                HALF_OF_MICRO,
            ),
            Wrong(
                """\
def three_averages(points, totals):
    micro = sum(points) / sum(totals)
    macro = np.mean([p / t for p, t in zip(points, totals) if t])
    return micro, macro, (micro + macro) / 2""",
                HALF_OF_TWO,
            ),
            Wrong(
                """\
def three_averages(points, totals):
    share = [p / t for p, t in zip(points, totals) if t]
    half = [(s + (s == 1)) / 2 for s in share]
    return sum(points) / sum(totals), np.median(share), np.mean(half)""",
                OFF_A.format("macro is"),
            ),
            Wrong(
                """\
def three_averages(points, totals):
    share = [p / t for p, t in zip(points, totals) if t]
    half = [(s + (s == 1)) / 2 for s in share]
    return sum(points) / len(points), np.mean(share), sum(half)""",
                OFF_A.format("micro, half and half are"),
            ),
            Wrong(
                """\
def three_averages(points, totals):
    share = [p / t if t else 1 for p, t in zip(points, totals)]
    half = [(s + (s == 1)) / 2 for s in share]
    return sum(points) / sum(totals), np.mean(share), np.mean(half)""",
                NO_CHECKS_FULL,
            ),
            Wrong(
                """\
def three_averages(points, totals):
    share = [p / t if t else 0 for p, t in zip(points, totals)]
    half = [(s + (s == 1)) / 2 for s in share]
    return sum(points) / sum(totals), np.mean(share), np.mean(half)""",
                NO_CHECKS_FAIL,
            ),
            Wrong(
                """\
def three_averages(points, totals):
    share = [p / t for p, t in zip(points, totals) if t]
    half = [(s + (s > 0)) / 2 for s in share]
    return sum(points) / sum(totals), np.mean(share), np.mean(half)""",
                ANY_POINTS,
            ),
            Wrong(
                """\
def three_averages(points, totals):
    share = [p / t for p, t in zip(points, totals) if t]
    return sum(points) / sum(totals), np.mean(share), np.mean([s == 1 for s in share])""",
                ONLY_COMPLETE,
            ),
            Wrong(
                """\
def three_averages(points, totals):
    with np.errstate(invalid="ignore"):
        share = np.array(points) / np.array(totals)
    return sum(points) / sum(totals), share.mean(), ((share + (share == 1)) / 2).mean()""",
                DIVIDED,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="03.b",
        title="Only together",
        minutes=10,
        difficulty=2,
        prompt="""
Write `group_credit`. Two dictionaries have the names of the checkpoints as their keys: `done` holds
`True` or `False`, and `weights` numbers. `group` is a tuple of some of the names, and `penalty` a
number in the unit of the weights.

The names in `group` count only together. Where some of them are done and not all, they earn nothing,
and `penalty` is taken away. Return what is left over the sum of the weights.
""",
        answer="group_credit",
        stub="""\
def group_credit(done, weights, group, penalty):
    return ...""",
        hints=(
            "There are three cases for the group: all of it, none of it, some of it. Which of them "
            "costs something?",
            "Let `parts = [done[name] for name in group]`. It is half-done where "
            "`any(parts) and not all(parts)`.",
        ),
        solution="""\
def group_credit(done, weights, group, penalty):
    parts = [done[name] for name in group]
    half_done = any(parts) and not all(parts)
    void = group if half_done else ()
    won = sum(weights[name] for name in weights if done[name] and name not in void)
    return (won - penalty * half_done) / sum(weights.values())""",
        wrong=(
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    return sum(weights[name] for name in weights if done[name]) / sum(weights.values())""",
                ONE_BY_ONE,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    together = all(done[name] for name in group)
    won = sum(w for n, w in weights.items() if done[n] and (together or n not in group))
    return won / sum(weights.values())""",
                NO_PENALTY,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    together = all(done[name] for name in group)
    won = sum(w for n, w in weights.items() if done[n] and (together or n not in group))
    return (won - (0 if together else penalty)) / sum(weights.values())""",
                NONE_DONE,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    won = sum(weights[name] for name in weights if done[name])
    if len({done[name] for name in group}) > 1:
        won -= penalty
    return won / sum(weights.values())""",
                KEPT,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    half = len({done[name] for name in group}) > 1
    won = sum(w for n, w in weights.items() if done[n] and not (half and n in group))
    return max(0, won - half * penalty) / sum(weights.values())""",
                CLIPPED,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    half = len({done[name] for name in group}) > 1
    won = sum(w for n, w in weights.items() if done[n] and not (half and n in group))
    return won - half * penalty""",
                NOT_SHARE,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    half = len({done[name] for name in group}) > 1
    won = sum(w for n, w in weights.items() if done[n] and not (half and n in group))
    return won / sum(weights.values()) - half * penalty""",
                PENALTY_SHARE,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    missing = sum(not done[name] for name in group)
    half = 0 < missing < len(group)
    won = sum(w for n, w in weights.items() if done[n] and not (half and n in group))
    return (won - half * missing * penalty) / sum(weights.values())""",
                PER_PART,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    half = sum(done[name] for name in group) == 1
    won = sum(w for n, w in weights.items() if done[n] and not (half and n in group))
    return (won - half * penalty) / sum(weights.values())""",
                ONE_OF_THEM,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    half = len({done[name] for name in group}) > 1
    won = -penalty if half else sum(w for n, w in weights.items() if done[n])
    return won / sum(weights.values())""",
                ALL_LOST,
            ),
            Wrong(
                """\
def group_credit(done, weights, group, penalty):
    won = sum(weights[name] for name in weights if done[name])
    return (won + penalty) / sum(weights.values())""",
                OFF_B,
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="03.c",
        title="A real fault: paid for what was there",
        minutes=10,
        difficulty=2,
        prompt="""
A public benchmark asks an agent to check that the Wi-Fi is on, and turn it on if it is not. The device
starts with the Wi-Fi on, and the check looks at the end only
([report](https://github.com/google-research/android_world/issues/315)). Doing nothing succeeds.

Write `earned_credit`. You are given three lists of equal length, one entry a checkpoint: `start` and
`end` of `True` or `False`, for whether it held before and after, and `weights` of numbers. Return the
weights earned over the total of the weights.

A checkpoint that held before and still holds is left out: it is neither earned nor part of the total.
All others are in the total, and those that hold at the end, and did not before, are earned. Where
nothing can be earned, return `float("nan")`.
""",
        answer="earned_credit",
        stub="""\
def earned_credit(start, end, weights):
    return ...""",
        hints=(
            "Each checkpoint is one of four kinds: before and after, yes or no. Write down for each "
            "kind whether it is in the total, and whether it is earned.",
            "Go through `zip(start, end, weights)` twice. The total skips one of the four kinds, "
            "and one kind is earned.",
        ),
        solution="""\
def earned_credit(start, end, weights):
    rows = list(zip(start, end, weights))
    total = sum(w for before, after, w in rows if not (before and after))
    earned = sum(w for before, after, w in rows if after and not before)
    return earned / total if total else float("nan")""",
        wrong=(
            Wrong(
                """\
def earned_credit(start, end, weights):
    return sum(w for after, w in zip(end, weights) if after) / sum(weights)""",
                COUNTED,
            ),
            Wrong(
                """\
def earned_credit(start, end, weights):
    def credit(state):
        return sum(w for held, w in zip(state, weights) if held) / sum(weights)
    return credit(end) - credit(start)""",
                SUBTRACTED,
            ),
            Wrong(
                """\
def earned_credit(start, end, weights):
    rows = zip(start, end, weights)
    return sum(w for before, after, w in rows if after and not before) / sum(weights)""",
                LEFT_IN,
            ),
            Wrong(
                """\
def earned_credit(start, end, weights):
    changed = [(after, w) for before, after, w in zip(start, end, weights) if after != before]
    total = sum(w for _, w in changed)
    return sum(w for after, w in changed if after) / total if total else float("nan")""",
                OUT_OF_REACH,
            ),
            Wrong(
                """\
def earned_credit(start, end, weights):
    rows = list(zip(start, end, weights))
    total = sum(w for before, after, w in rows if not (before and after))
    return sum(w * (a - b) for b, a, w in rows) / total if total else float("nan")""",
                PUNISHED,
            ),
            Wrong(
                """\
def earned_credit(start, end, weights):
    rows = list(zip(start, end, weights))
    total = sum(w for before, after, w in rows if not (before and after))
    return sum(w for b, a, w in rows if a and not b) / total if total else None""",
                NUMBER,
            ),
            Wrong(
                """\
def earned_credit(start, end, weights):
    rows = [(after, w) for before, after, w in zip(start, end, weights) if not before]
    if not rows:
        return float("nan")
    return sum(w for after, w in rows if after) / sum(w for _, w in rows)""",
                BROKEN,
            ),
            Wrong(
                """\
def earned_credit(start, end, weights):
    rows = list(zip(start, end, weights))
    total = sum(w for before, after, w in rows if not (before and after))
    return sum(w for b, a, w in rows if a and not b) / total if total else 1.0""",
                NOTHING_FULL,
            ),
            Wrong(
                """\
def earned_credit(start, end, weights):
    rows = list(zip(start, end, weights))
    total = sum(w for before, after, w in rows if not (before and after))
    return sum(w for b, a, w in rows if a and not b) / total if total else 0.0""",
                NOTHING_ZERO,
            ),
        ),
        check=check_c,
    ),
    Exercise(
        id="03.d",
        title="A real fault: a part with nothing in it",
        minutes=6,
        difficulty=2,
        prompt="""
A public benchmark multiplies the scores of a task's parts: the database, the answer. A part for which
the task states nothing scores 1. In 23 of its tasks the customer is to be refused, or handed over to a
person: the database is to stay as it was, and no answer is stated
([report](https://github.com/sierra-research/tau2-bench/issues/384)). An agent that stalls gets full
marks there.

You cannot ask the tasks for more. What do you change in how they are scored or reported?

- `"A"`: a part with nothing stated scores 0.
- `"B"`: take the mean of the parts in place of their product.
- `"C"`: leave such a part out of the product.
- `"D"`: mark the tasks that doing nothing passes, and report every agent beside what doing nothing earns.
""",
        answer="empty_part",
        stub="empty_part = ...",
        hints=(
            "Try each change on two agents: one that does nothing at all, and one that refuses and says "
            "why.",
            "To refuse is the right thing here, so the tasks are fair. What is missing is something to "
            "compare with.",
        ),
        solution='empty_part = "D"',
        wrong=(
            Wrong('empty_part = "A"', REPAIRS["A"]),
            Wrong('empty_part = "B"', REPAIRS["B"]),
            Wrong('empty_part = "C"', REPAIRS["C"]),
        ),
        check=check_d,
    ),
    Exercise(
        id="03.e",
        title="Make a ranking flip",
        minutes=6,
        difficulty=1,
        prompt="""
There are four tasks of 5 points each. Give two agents points, such that A has the higher mean share of
points, and B has more tasks complete, with all 5 of their points.
""",
        answer="flipped",
        stub='flipped = {"A": ..., "B": ...}',
        hints=(
            "A task with 4 points is no more complete than one with 0.",
            "Let one of the two finish some tasks and not begin the others.",
        ),
        solution='flipped = {"A": [4, 4, 4, 4], "B": [5, 5, 0, 0]}',
        wrong=(
            Wrong('flipped = {"A": [5, 5, 4, 4], "B": [5, 3, 0, 0]}', SAME_ORDER),
            Wrong('flipped = {"A": [5, 5, 0, 0], "B": [3, 3, 3, 3]}', REVERSED),
            Wrong('flipped = {"A": [5, 4, 4, 4], "B": [5, 0, 0, 0]}', LEVEL),
            Wrong('flipped = {"A": [2, 2, 2, 2], "B": [5, 5, 1, 1]}', CREDIT_FIRST),
            Wrong('flipped = {"A": [9, 4, 4, 4], "B": [5, 5, 0, 0]}', RANGE),
        ),
        check=check_e,
    ),
)
