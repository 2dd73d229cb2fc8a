"""Exercises of chapter 12: a row turned back, curves that cannot be, what a ranking says, a real slip."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from evalkit.course.exercises import Exercise, Wrong

AT_LEAST_ONCE = (
    "You read pass^1 as the share of tasks that succeeded at least once. A task that succeeded in one "
    "of its two trials adds only a half to it."
)
ALL_ALIKE = (
    "You spread the tasks as if all were equally hard. The second number says how they really are."
)
TURNED = "Your list is the other way round: first the tasks that never succeeded."
CUT = "You cut the digits off. The printed numbers were rounded, so go to the nearest whole number."
DOUBLED = "You rounded before you doubled. Double first: half a task is no rounding error."
NOT_COUNTS = "Tasks are counted: each of the three must be a whole number."
NOT_ALL = "Your three numbers do not add up to the tasks."
NOT_THESE = "These counts do not give the two printed numbers back."

# Tasks that succeeded 0, 1 and 2 times of two.
SUITES = ((10, 18, 22), (61, 20, 16), (30, 25, 59), (0, 1, 49))


def _spread(p: float, tasks: int) -> list[float]:
    return [tasks * (1 - p) ** 2, 2 * tasks * p * (1 - p), tasks * p**2]


def _misread(found: Sequence[Any], suite: Sequence[int], p1: float, p2: float) -> str:
    tasks = sum(suite)
    near = [round(float(number)) for number in found]
    if near == [round(tasks * share) for share in (1 - p1, p1 - p2, p2)]:
        return AT_LEAST_ONCE
    if near == list(suite)[::-1]:
        return TURNED
    if near == [round(number) for number in _spread(p1, tasks)]:
        return ALL_ALIKE
    if near[2] == suite[2] and near[1] == 2 * round(tasks * p1 - suite[2]) != suite[1]:
        return DOUBLED
    if near[2] == int(tasks * p2) < suite[2] or near[1] == int(2 * tasks * (p1 - p2)) < suite[1]:
        return CUT
    return NOT_ALL if sum(near) != tasks else NOT_THESE


def check_a(tasks_by_successes: Callable[[float, float, int], Any]) -> str | None:
    """What a row of two numbers, turned back into three counts, gets wrong, if anything."""
    for suite in SUITES:
        tasks = sum(suite)
        p1, p2 = round((suite[1] / 2 + suite[2]) / tasks, 3), round(suite[2] / tasks, 3)
        found = list(tasks_by_successes(p1, p2, tasks))
        if len(found) != 3:
            return "Return three numbers: the tasks with 0, 1 and 2 successes."
        if all(float(one) == right for one, right in zip(found, suite, strict=True)):
            continue
        if all(round(float(one)) == right for one, right in zip(found, suite, strict=True)):
            return NOT_COUNTS
        return _misread(found, suite, p1, p2)
    return None


RISES = "You let a curve through that rises. If four trials succeed, three of them do."
UNEVEN = (
    "You let a curve through whose later step is the larger one. Compare each drop with the last."
)
FROM_ONE = (
    "You let through a curve that starts with a small drop from 1 and goes on with a large one. "
    "Before pass^1 stands pass^0, which is 1: no trial has failed yet."
)
TOO_EVEN = "You refuse a curve with two equal drops, or with none. Both laws allow that."
NOISE = "You refuse a curve for its last binary digit. Allow a difference of a billionth."
BENT = "You have the second law the other way round: it is the later drop that must not be larger."
NO_POWERS = (
    "You want each number to be a power of the first. That holds only if all tasks are alike."
)
NEGATED = "You return True where a law is broken. It is the other way round."
ALL_REFUSED = (
    "You refuse every curve. Do you start from 1? And is a drop positive where the curve falls?"
)
NOT_SO = "You refuse a curve that keeps both laws."

CURVES: tuple[tuple[tuple[float, ...], str | None], ...] = (
    ((0.5, 0.33, 1.0), RISES),
    ((0.0979, 0.0722, 0.0567, 0.0309), UNEVEN),
    ((0.9, 0.5), FROM_ONE),
    ((0.42, 0.273, 0.22, 0.2), None),
    ((0.75, 0.5, 0.25), TOO_EVEN),
    ((1.0, 1.0, 1.0), TOO_EVEN),
    ((0.9, 0.8, 0.7), NOISE),
    ((0.8,), None),
)


def check_b(possible: Callable[[list[float]], Any]) -> str | None:
    """Which law of a curve of pass^k a function overlooks, or adds."""
    answers = [bool(possible(list(curve))) for curve, _ in CURVES]
    if not any(answers):
        return ALL_REFUSED
    keeps = [message in (TOO_EVEN, NOISE, None) for _, message in CURVES]
    if not any(map(operator.eq, answers, keeps)):
        return NEGATED
    published = [c for c, _ in CURVES].index((0.42, 0.273, 0.22, 0.2))
    if not answers[published]:
        return BENT if answers[2] else NO_POWERS
    for (_curve, message), allowed, right in zip(CURVES, answers, keeps, strict=True):
        if allowed != right:
            return message or NOT_SO
    return None


FOLLOWS, NOT = "follows", "does not follow"
CLAIMS: dict[str, tuple[str, str]] = {
    "close": (
        NOT,
        "close: on 29 tasks the two differ, and they share these out almost evenly. What is the p?",
    ),
    "raw p": (
        NOT,
        "raw p: fifteen pairs were looked at, and with fifteen looks a small p turns up by luck. "
        "Which p takes account of that?",
    ),
    "ends": (
        FOLLOWS,
        "ends: of the tasks on which they differ, five in six go one way, and the p is adjusted.",
    ),
    "chain": (
        NOT,
        "chain: a tie means that these data cannot tell two rows apart. Small steps may add up to a "
        "large one; the panel shows such three.",
    ),
    "overlap": (
        NOT,
        "overlap: two intervals by themselves ignore that the tasks were the same. The paired "
        "difference has an interval of its own, and a narrower one.",
    ),
}
ONE_OF = 'Keep the dictionary. Each value is "follows" or "does not follow".'


def check_c(claims: Any) -> str | None:
    """Which of five statements about rankings is judged wrongly."""
    if not isinstance(claims, dict) or set(claims) != set(CLAIMS):
        return ONE_OF
    for key, (right, message) in CLAIMS.items():
        found = str(claims[key]).strip().lower()
        if found not in (FOLLOWS, NOT):
            return ONE_OF
        if found != right:
            return message
    return None


def _all_but(off: str) -> str:
    """The answer to 12.c that is right but for one key."""
    other = {FOLLOWS: NOT, NOT: FOLLOWS}
    given = {key: other[right] if key == off else right for key, (right, _) in CLAIMS.items()}
    return f"claims = {given!r}"


UPLOADS = {
    "A": "Then the average would be 66.9. A plain mean of the three is not what was printed.",
    "C": "28% of 50 tasks are 14. With these the average over all tasks would be 75.9.",
    "D": "Without the airline the average would be 86.4.",
}


def check_d(answer: Any) -> str | None:
    """What four printed numbers of a real upload say together."""
    letter = str(answer).strip().upper()
    return None if letter == "B" else UPLOADS.get(letter, "Answer with one letter, such as `'A'`.")


EXERCISES = (
    Exercise(
        id="12.a",
        title="Turn back a row of two numbers",
        minutes=12,
        difficulty=2,
        prompt="""
A leaderboard ran each task twice. It prints pass^1 and pass^2 as shares, rounded to three decimals.
Write `tasks_by_successes(pass_1, pass_2, tasks)`, which returns a list of three whole numbers: how many
tasks succeeded 0, 1 and 2 times.
""",
        answer="tasks_by_successes",
        stub="""\
def tasks_by_successes(pass_1, pass_2, tasks):
    return ...""",
        hints=(
            "Begin with pass^2: which tasks count there, and how much?",
            "In pass^1 a task with both successes counts 1, and one with a single success 1/2.",
        ),
        solution="""\
def tasks_by_successes(pass_1, pass_2, tasks):
    both = round(tasks * pass_2)
    one = round(2 * (tasks * pass_1 - both))
    return [tasks - one - both, one, both]""",
        wrong=(
            Wrong(
                """\
def tasks_by_successes(pass_1, pass_2, tasks):
    both, any_of_them = round(tasks * pass_2), round(tasks * pass_1)
    return [tasks - any_of_them, any_of_them - both, both]""",
                AT_LEAST_ONCE,
            ),
            Wrong(
                """\
def tasks_by_successes(pass_1, pass_2, tasks):
    p = pass_1
    return [round(tasks * share) for share in ((1 - p) ** 2, 2 * p * (1 - p), p**2)]""",
                ALL_ALIKE,
            ),
            Wrong(
                """\
def tasks_by_successes(pass_1, pass_2, tasks):
    both = round(tasks * pass_2)
    one = round(2 * (tasks * pass_1 - both))
    return [both, one, tasks - one - both]""",
                TURNED,
            ),
            Wrong(
                """\
def tasks_by_successes(pass_1, pass_2, tasks):
    both = int(tasks * pass_2)
    one = int(2 * (tasks * pass_1 - both))
    return [tasks - one - both, one, both]""",
                CUT,
            ),
            Wrong(
                """\
def tasks_by_successes(pass_1, pass_2, tasks):
    both = round(tasks * pass_2)
    one = 2 * round(tasks * pass_1 - tasks * pass_2)
    return [tasks - one - both, one, both]""",
                DOUBLED,
            ),
            Wrong(
                """\
def tasks_by_successes(pass_1, pass_2, tasks):
    both = tasks * pass_2
    one = 2 * (tasks * pass_1 - both)
    return [tasks - one - both, one, both]""",
                NOT_COUNTS,
            ),
            Wrong(
                """\
def tasks_by_successes(pass_1, pass_2, tasks):
    both = round(tasks * pass_2)
    one = round(2 * (tasks * pass_1 - both))
    return [tasks, one, both]""",
                NOT_ALL,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="12.b",
        title="Can this curve be?",
        minutes=12,
        difficulty=3,
        prompt="""
Write `possible(curve)`. `curve` is a list of shares, pass^1 first. Return False if it breaks one of two
laws that hold for every suite, and True otherwise:

- it never rises;
- the drop from one k to the next is never larger than the drop before it.

Allow for a billionth of rounding. Numbers that break a law cannot all be right.
""",
        answer="possible",
        stub="""\
def possible(curve):
    return ...""",
        hints=(
            "The first drop is the one to pass^1. From where?",
            "Put a 1 in front of the list: that no trial fails among none is certain.",
        ),
        solution="""\
def possible(curve):
    points = [1, *curve]
    drops = [a - b for a, b in zip(points, points[1:])]
    falls = all(drop >= -1e-9 for drop in drops)
    return falls and all(b <= a + 1e-9 for a, b in zip(drops, drops[1:]))""",
        wrong=(
            Wrong(
                """\
def possible(curve):
    drops = [a - b for a, b in zip([1, *curve], curve)]
    return all(b <= a + 1e-9 for a, b in zip(drops, drops[1:]))""",
                RISES,
            ),
            Wrong(
                """\
def possible(curve):
    return all(b <= a for a, b in zip(curve, curve[1:]))""",
                UNEVEN,
            ),
            Wrong(
                """\
def possible(curve):
    drops = [a - b for a, b in zip(curve, curve[1:])]
    even = all(b <= a + 1e-9 for a, b in zip(drops, drops[1:]))
    return even and all(drop >= 0 for drop in drops)""",
                FROM_ONE,
            ),
            Wrong(
                """\
def possible(curve):
    drops = [a - b for a, b in zip([1, *curve], curve)]
    return all(d > 0 for d in drops) and all(b < a for a, b in zip(drops, drops[1:]))""",
                TOO_EVEN,
            ),
            Wrong(
                """\
def possible(curve):
    drops = [a - b for a, b in zip([1, *curve], curve)]
    return all(d >= 0 for d in drops) and all(b <= a for a, b in zip(drops, drops[1:]))""",
                NOISE,
            ),
            Wrong(
                """\
def possible(curve):
    drops = [a - b for a, b in zip([1, *curve], curve)]
    return all(d >= 0 for d in drops) and all(b >= a - 1e-9 for a, b in zip(drops, drops[1:]))""",
                BENT,
            ),
            Wrong(
                """\
def possible(curve):
    return all(abs(p - curve[0] ** k) < 0.01 for k, p in enumerate(curve, 1))""",
                NO_POWERS,
            ),
            Wrong(
                """\
def possible(curve):
    drops = [a - b for a, b in zip([0, *curve], curve)]
    falls = all(d >= -1e-9 for d in drops)
    return falls and all(b <= a + 1e-9 for a, b in zip(drops, drops[1:]))""",
                ALL_REFUSED,
            ),
            Wrong(
                """\
def possible(curve):
    drops = [a - b for a, b in zip([1, *curve], curve)]
    rises = any(d < -1e-9 for d in drops)
    return rises or any(b > a + 1e-9 for a, b in zip(drops, drops[1:]))""",
                NEGATED,
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="12.c",
        title="What follows from the table?",
        minutes=8,
        difficulty=2,
        prompt="""
Which of these statements follow from the tables of this chapter? Answer `"follows"` or
`"does not follow"`.

- `close`: at 42.86% TTE-MatrixAgent does more of such tasks than MUSE at 41.14%.
- `raw p`: OpenHands-Versa and TTE-MatrixAgent differ, for the p of this pair, before adjusting, is .014.
- `ends`: ARIA does more of such tasks than OpenHands-0.14.2. It alone completed 45, the other alone 9.
- `chain`: on a leaderboard row 1 is tied with row 10, and row 10 with row 15. So 1 is tied with 15.
- `overlap`: the intervals of two agents, each by itself, overlap. So a paired test on these tasks will
  find no difference.
""",
        answer="claims",
        stub="""\
claims = {
    "close": ...,
    "raw p": ...,
    "ends": ...,
    "chain": ...,
    "overlap": ...,
}""",
        hints=(
            "For each: is it a statement on what was seen, or on what would be seen on new tasks?",
            "How many pairs were compared, and were they compared on the same tasks?",
        ),
        solution="""\
claims = {
    "close": "does not follow",
    "raw p": "does not follow",
    "ends": "follows",
    "chain": "does not follow",
    "overlap": "does not follow",
}""",
        wrong=tuple(Wrong(_all_but(key), message) for key, (_, message) in CLAIMS.items()),
        check=check_c,
    ),
    Exercise(
        id="12.d",
        title="A real upload",
        minutes=8,
        difficulty=2,
        prompt="""
A submission to τ²-bench stated airline 28.0%, telecom 88.6%, retail 84.2% and an average of 80.9%
([pull request](https://github.com/sierra-research/tau2-bench/pull/102), 2025). The domains have 50, 114
and 114 tasks, and each was run once. Which reading fits all four numbers?

- `"A"`: the three percentages are right, and the average is their mean.
- `"B"`: the 28.0 is not a percentage but the number of airline tasks that passed. The average is right,
  over all 278 tasks.
- `"C"`: the three percentages are right, and the average is over all 278 tasks.
- `"D"`: the percentages are right. The average leaves the airline out.
""",
        answer="what_was_it",
        stub="what_was_it = ...",
        hints=(
            "88.6% and 84.2% of 114 tasks are whole numbers. Which?",
            "Work out the average under each reading.",
        ),
        solution='what_was_it = "B"',
        wrong=tuple(
            Wrong(f'what_was_it = "{letter}"', message) for letter, message in UPLOADS.items()
        ),
        check=check_d,
    ),
)
