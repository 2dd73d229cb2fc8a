"""Exercises of chapter 07: counting pass^k, two real claims, promises, and a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from evalkit.course.exercises import Exercise, Wrong
from evalkit.passk import pass_at_k, pass_hat_k

PLUG_IN = (
    "That is (c/n)^k, which promises too much. Which groups of k can be made of these trials, "
    "each trial used once?"
)
AT_LEAST_ONE = "That is pass@k: at least one of the group. All k must succeed."
ALL_N = "You ask whether all n trials succeeded. Ask of each group of k of them."
NEIGHBOURS = (
    "You look only at trials that stand next to each other. Their order means nothing: every "
    "group of k counts."
)
NOT_THE_SHARE = "That is not the share of the groups of k in which all trials succeeded."
ZERO_OF_NOTHING = (
    "With fewer trials than k you say 0. That reads as a failure, and nothing was seen to fail."
)
ONE_OF_NOTHING = "With fewer trials than k you say 1. That reads as a success, and none was seen."
SOMETHING_OF_NOTHING = (
    "With fewer trials than k there is no group to look at, and you still give a number."
)
NAN_OF_NOTHING = (
    "NaN is easily lost: `nanmean` drops it without a word. Return `None`, as was asked."
)
COUNTED = "That is how many groups succeeded. Which share of all groups is it?"
NO_NUMBER = "There are enough trials here for an estimate, and you give no number."

Case = tuple[tuple[int, ...], int]

TRIALS: tuple[Case, ...] = (
    ((1, 1, 0, 1, 0, 1), 2),
    ((1, 0, 0, 1, 1, 1, 1), 3),
    ((1, 1, 0), 3),
    ((0, 0, 1), 2),
)
TOO_FEW: tuple[Case, ...] = ((1,), 2), ((0, 0), 5), ((1, 1, 1), 4)


def _neighbours(trials: list[bool], k: int) -> tuple[float, float]:
    """What comes out when only neighbouring trials make a group: a moving window, or blocks."""
    windows = [all(trials[i : i + k]) for i in range(len(trials) - k + 1)]
    return sum(windows) / len(windows), sum(windows[::k]) / len(windows[::k])


def _misread(value: float, trials: list[bool], k: int) -> str:
    """Which mistake leads to this value."""
    n, c = len(trials), sum(trials)
    candidates = (
        (PLUG_IN, (c / n) ** k),
        (AT_LEAST_ONE, pass_at_k(n, c, k)),
        (ALL_N, float(all(trials))),
        (COUNTED, math.comb(c, k)),
        *((NEIGHBOURS, share) for share in _neighbours(trials, k)),
    )
    for message, wrong in candidates:
        if math.isclose(value, wrong, abs_tol=1e-9):
            return message
    return NOT_THE_SHARE


def check_a(every_time: Callable[[list[bool], int], Any]) -> str | None:
    """What a count of pass^k from trials gets wrong, if anything."""
    for marks, k in TRIALS:
        trials = [bool(mark) for mark in marks]
        found = every_time(list(trials), k)
        if found is None:
            return NO_NUMBER
        if not math.isclose(found, pass_hat_k(len(trials), sum(trials), k), abs_tol=1e-9):
            return _misread(found, trials, k)
    for marks, k in TOO_FEW:
        found = every_time([bool(mark) for mark in marks], k)
        if found is not None:
            known = {0.0: ZERO_OF_NOTHING, 1.0: ONE_OF_NOTHING}
            other = NAN_OF_NOTHING if math.isnan(found) else SOMETHING_OF_NOTHING
            return known.get(float(found), other)
    return None


PROBLEMS = {
    "A": "The arithmetic is right, and that is all. What do n and c count in the formula?",
    "B": "Both measures would be as wrong here. Look at what went into the formula, not at its name.",
    "D": (
        "That also takes the problems for tries at one and the same problem. A problem that the "
        "model cannot solve is not solved by solving others."
    ),
}


def _letter(answer: Any, right: str, wrong: dict[str, str]) -> str | None:
    letter = str(answer).strip().upper()
    return None if letter == right else wrong.get(letter, "Answer with one letter, such as `'A'`.")


def check_b(answer: Any) -> str | None:
    """What went wrong when 50 of 164 problems became a pass@10 of 97.7%."""
    return _letter(answer, "C", PROBLEMS)


ONE_TRIAL = "A: one trial has no pair in it. It shows neither that two succeed nor that they fail."
FIVE_OF_TWO = (
    "B: two trials have no group of five. Zero successes make a low value likely, and still "
    "nobody has counted one."
)
ONE_OF_THREE = "C: of three trials there is one group of three. Did all in it succeed?"
PLUG_IN_C = "C: that is (c/n)^k. Look at the one group of three that the trials make."
NO_GROUP_C = "C: there are three trials, so there is a group of three. Look at it."
TWO_OF_EIGHT = "D: count the pairs among eight trials, and those among the six that succeeded."
PLUG_IN_D = "D: that is (c/n)^k. Once one success is taken, five of the other seven remain."
KEYS = "Keep the dictionary with the keys A to D. Each value is a number or the word 'undefined'."

VALUES: tuple[tuple[str, float | None, dict[float | None, str], str], ...] = (
    ("A", None, {}, ONE_TRIAL),
    ("B", None, {}, FIVE_OF_TWO),
    ("C", pass_hat_k(3, 2, 3), {None: NO_GROUP_C, 0.296: PLUG_IN_C}, ONE_OF_THREE),
    ("D", pass_hat_k(8, 6, 2), {0.562: PLUG_IN_D, 0.563: PLUG_IN_D}, TWO_OF_EIGHT),
)


def _value(answer: Any) -> float | None:
    """An answer as a number, or None for the word undefined."""
    if str(answer).strip().lower() == "undefined":
        return None
    number = float(answer)
    return None if math.isnan(number) else number


def _agree(found: float | None, right: float | None) -> bool:
    if found is None or right is None:
        return found is right
    return abs(found - right) < 0.0006  # three decimals were asked for


def check_c(values: Any) -> str | None:
    """Which of four printed values is taken for right, or mended wrongly."""
    if not isinstance(values, dict) or set(values) != {key for key, *_ in VALUES}:
        return KEYS
    for key, right, known, message in VALUES:
        try:
            found = _value(values[key])
        except (TypeError, ValueError):
            return KEYS
        if not _agree(found, right):
            return known.get(None if found is None else round(found, 3), message)
    return None


PROMISES: dict[str, tuple[str, str]] = {
    "patches": ("pass@k", "patches: the tests pick one that works. How many must work?"),
    "refunds": ("pass^k", "refunds: a customer who gets the wrong refund is not helped by others."),
    "nightly": ("pass^k", "nightly: one bad night is enough to wake somebody."),
    "drafts": ("pass@k", "drafts: the clerk throws four of five away. How many must be good?"),
    "reruns": (
        "pass@k",
        "reruns: what is printed counts a task as done if any of its runs passed, whatever it is "
        "called.",
    ),
}


def check_d(answers: Any) -> str | None:
    """Which of five situations is given the other promise."""
    if not isinstance(answers, dict) or set(answers) != set(PROMISES):
        return f"Keep the dictionary, with these keys: {', '.join(PROMISES)}."
    for key, (right, message) in PROMISES.items():
        found = str(answers[key]).replace(" ", "")
        if found not in ("pass@k", "pass^k"):
            return f"{key}: write 'pass@k' or 'pass^k'."
        if found != right:
            return message
    return None


ROUNDED_UP = "Your answer rounds up: with that many trials pass^k is already below the target."
ONE_TOO_FEW = "One trial more would still meet the target."
NO_LENGTH = "You left out the steps. Each trial asks for n of them, all right."
STRAIGHT_LINE = (
    "You take the failures as adding up: k n (1 - r). That holds near 1 only; here the target is "
    "lower, and more is affordable."
)
AT_LEAST_ONE_TRIAL = "Even one trial is too much for this agent. Then the answer is 0."
NOT_WHOLE = "Return a whole number of trials."
OFF = "That is not the largest k. Write pass^k with r, n and k, set it equal to the target, and solve."

AGENTS = ((0.9995, 50, 0.5), (0.999, 20, 0.9), (0.98, 10, 0.8), (0.99, 20, 0.9), (0.95, 30, 0.9))


def check_e(repeats: Callable[[float, int, float], Any]) -> str | None:
    """What an inverse of pass^k for k gets wrong, if anything."""
    for r, n, target in AGENTS:
        found = repeats(r, n, target)
        if float(found) != math.floor(found):
            return NOT_WHOLE
        exact = math.log(target) / (n * math.log(r))
        most = math.floor(exact)
        if found == most:
            continue
        if most == 0 and found == 1:
            return AT_LEAST_ONE_TRIAL
        named = (
            (ROUNDED_UP, most + 1),
            (ONE_TOO_FEW, most - 1),
            (NO_LENGTH, math.floor(n * exact)),
            (STRAIGHT_LINE, math.floor((1 - target) / (n * (1 - r)))),
        )
        return next((message for message, value in named if found == value), OFF)
    return None


EXERCISES = (
    Exercise(
        id="07.a",
        title="Count it yourself",
        minutes=10,
        difficulty=2,
        prompt="""
Write `every_time(trials, k)`. `trials` is a list of `True` and `False`, the trials of one task.
Return the estimate of pass^k: the share of the groups of k trials in which all succeeded. Where it
is undefined, return `None`.

It is tried on short lists, so you may list the groups or use the formula. `math.comb`
and `combinations` are at hand.
""",
        answer="every_time",
        given="import math\nfrom itertools import combinations",
        stub="""\
def every_time(trials, k):
    return ...""",
        hints=(
            "When is there no group of k at all? Deal with that first.",
            "`sum(trials)` is the number of successes. How many groups of k hold successes only?",
        ),
        solution="""\
def every_time(trials, k):
    n, c = len(trials), sum(trials)
    return math.comb(c, k) / math.comb(n, k) if k <= n else None""",
        wrong=(
            Wrong(
                """\
def every_time(trials, k):
    return (sum(trials) / len(trials)) ** k""",
                PLUG_IN,
            ),
            Wrong(
                """\
def every_time(trials, k):
    groups = list(combinations(trials, k))
    return sum(map(any, groups)) / len(groups)""",
                AT_LEAST_ONE,
            ),
            Wrong(
                """\
def every_time(trials, k):
    return float(all(trials))""",
                ALL_N,
            ),
            Wrong(
                """\
def every_time(trials, k):
    groups = [trials[i : i + k] for i in range(len(trials) - k + 1)]
    return sum(map(all, groups)) / len(groups)""",
                NEIGHBOURS,
            ),
            Wrong(
                """\
def every_time(trials, k):
    groups = [trials[i : i + k] for i in range(0, len(trials) - k + 1, k)]
    return sum(map(all, groups)) / len(groups)""",
                NEIGHBOURS,
            ),
            Wrong(
                """\
def every_time(trials, k):
    if k > len(trials):
        return 0.0
    return math.comb(sum(trials), k) / math.comb(len(trials), k)""",
                ZERO_OF_NOTHING,
            ),
            Wrong(
                """\
def every_time(trials, k):
    groups = list(combinations(trials, k))
    return sum(map(all, groups)) / len(groups) if groups else 1.0""",
                ONE_OF_NOTHING,
            ),
            Wrong(
                """\
def every_time(trials, k):
    failures = len(trials) - sum(trials)
    return math.comb(failures, k) / math.comb(len(trials), k)""",
                NOT_THE_SHARE,
            ),
            Wrong(
                """\
def every_time(trials, k):
    n, c = len(trials), sum(trials)
    return math.comb(c, k) / math.comb(n, k) if k <= n else (c / n) ** k / 2""",
                SOMETHING_OF_NOTHING,
            ),
            Wrong(
                """\
def every_time(trials, k):
    n, c = len(trials), sum(trials)
    return math.comb(c, k) / math.comb(n, k) if k <= c else None""",
                NO_NUMBER,
            ),
            Wrong(
                """\
def every_time(trials, k):
    n, c = len(trials), sum(trials)
    return math.comb(c, k) / math.comb(n, k) if k <= n else math.nan""",
                NAN_OF_NOTHING,
            ),
            Wrong(
                """\
def every_time(trials, k):
    return sum(map(all, combinations(trials, k)))""",
                COUNTED,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="07.b",
        title="A real claim: from 30.5% to 97.7%",
        minutes=6,
        difficulty=2,
        prompt="""
A tool runs a model once on each of 164 programming problems. The model solves 50. The tool reports
pass@1 = 30.5%, pass@10 = 97.7% and pass@100 = 100.0%
([report](https://github.com/paiml/aprender/pull/2118), 2026). What is wrong?

- `"A"`: nothing; with n = 164, c = 50 and k = 10 the formula gives 0.977.
- `"B"`: the measure; it should have reported pass^10.
- `"C"`: the counts; n and c are trials of one problem, and of each there was one.
- `"D"`: the formula; 1 - (1 - 50/164)^10 would have been right.
""",
        answer="fifty_of_164",
        stub="fifty_of_164 = ...",
        hints=(
            "Say in words what one group of ten is, in pass@10. Ten of what?",
            "The model has no luck in it: run again, it solves the same 50. What is its pass@10?",
        ),
        solution='fifty_of_164 = "C"',
        wrong=tuple(
            Wrong(f'fifty_of_164 = "{letter}"', message) for letter, message in PROBLEMS.items()
        ),
        check=check_b,
    ),
    Exercise(
        id="07.c",
        title="Four values",
        minutes=8,
        difficulty=2,
        prompt="""
What should have come out? Give a number to three decimals, or `"undefined"`.

- **A**: one trial, passed; a report prints pass^2 = 0.0
  ([issue](https://github.com/skillberry-ai/cap-evolve/issues/112), 2026).
- **B**: two trials, both failed; an estimator returns pass@5 = 1.0
  ([issue](https://github.com/openai/human-eval/issues/35), 2024).
- **C**: three trials, two passed; a benchmark's helper returns pass^3 = 0.296
  ([issue](https://github.com/claw-eval/claw-eval/issues/35), 2026).
- **D**: eight trials, six passed; we print pass^2 = 0.536.
""",
        answer="right_values",
        stub='right_values = {"A": ..., "B": ..., "C": ..., "D": ...}',
        hints=(
            "Ask first whether there is a group of k. Then count.",
            "Not every one of the four is wrong.",
        ),
        solution='right_values = {"A": "undefined", "B": "undefined", "C": 0, "D": 0.536}',
        wrong=(
            Wrong('right_values = {"A": 0, "B": "undefined", "C": 0, "D": 0.536}', ONE_TRIAL),
            Wrong('right_values = {"A": 1, "B": "undefined", "C": 0, "D": 0.536}', ONE_TRIAL),
            Wrong('right_values = {"A": "undefined", "B": 0, "C": 0, "D": 0.536}', FIVE_OF_TWO),
            Wrong('right_values = {"A": "undefined", "B": 1, "C": 0, "D": 0.536}', FIVE_OF_TWO),
            Wrong(
                'right_values = {"A": "undefined", "B": "undefined", "C": 0.296, "D": 0.536}',
                PLUG_IN_C,
            ),
            Wrong(
                'right_values = {"A": "undefined", "B": "undefined", "C": 0.667, "D": 0.536}',
                ONE_OF_THREE,
            ),
            Wrong(
                'right_values = {"A": "undefined", "B": "undefined", "C": "undefined", "D": 0.536}',
                NO_GROUP_C,
            ),
            Wrong(
                'right_values = {"A": "undefined", "B": "undefined", "C": 0, "D": 0.5625}',
                PLUG_IN_D,
            ),
            Wrong(
                'right_values = {"A": "undefined", "B": "undefined", "C": 0, "D": "undefined"}',
                TWO_OF_EIGHT,
            ),
        ),
        check=check_c,
    ),
    Exercise(
        id="07.d",
        title="Which promise?",
        minutes=6,
        difficulty=1,
        prompt="""
Which measure describes the situation: `"pass@k"` or `"pass^k"`?

- `patches`: an agent writes ten patches, and the project's tests pick one that works.
- `refunds`: eight customers ask for a refund. Each deals with the agent once.
- `nightly`: a job runs for thirty nights. Each night that fails, somebody is woken.
- `drafts`: a clerk asks for five drafts of a letter and sends the best.
- `reruns`: an evaluation runs a task again whenever it fails, up to three times, and counts it as
  passed if one run passes. It prints the result as "reliability".
""",
        answer="promises",
        stub="""\
promises = {
    "patches": ...,
    "refunds": ...,
    "nightly": ...,
    "drafts": ...,
    "reruns": ...,
}""",
        hints=(
            "Who sees a failed trial?",
            "If somebody, or a test, keeps the best of k, one success is enough.",
        ),
        solution="""\
promises = {
    "patches": "pass@k",
    "refunds": "pass^k",
    "nightly": "pass^k",
    "drafts": "pass@k",
    "reruns": "pass@k",
}""",
        wrong=tuple(
            Wrong(
                "promises = "
                + repr(
                    {
                        key: {"pass@k": "pass^k", "pass^k": "pass@k"}[right]
                        if key == off
                        else right
                        for key, (right, _) in PROMISES.items()
                    }
                ),
                message,
            )
            for off, (_, message) in PROMISES.items()
        ),
        check=check_d,
    ),
    Exercise(
        id="07.e",
        title="How many in a row?",
        minutes=10,
        difficulty=3,
        prompt="""
Write `repeats(r, n, target)`: the largest number of trials k for which pass^k of the step model,
without recovery, is at least `target`. The task has `n` steps, each right with probability `r`,
0 < r < 1. The answer is 0 if not even one trial reaches the target. `math` is at hand.
""",
        answer="repeats",
        given="import math",
        stub="""\
def repeats(r, n, target):
    return ...""",
        hints=(
            "Write down pass^k with r, n and k. Which k makes it equal to the target?",
            "Take logarithms of both sides. Then: which way do you round?",
        ),
        solution="""\
def repeats(r, n, target):
    return math.floor(math.log(target) / (n * math.log(r)))""",
        wrong=(
            Wrong(
                """\
def repeats(r, n, target):
    return math.ceil(math.log(target) / (n * math.log(r)))""",
                ROUNDED_UP,
            ),
            Wrong(
                """\
def repeats(r, n, target):
    k = 1
    while (r**n) ** (k + 1) > target:
        k += 1
    return k""",
                AT_LEAST_ONE_TRIAL,
            ),
            Wrong(
                """\
def repeats(r, n, target):
    return math.floor(math.log(target) / (n * math.log(r))) - 1""",
                ONE_TOO_FEW,
            ),
            Wrong(
                """\
def repeats(r, n, target):
    return math.floor(math.log(target) / math.log(r))""",
                NO_LENGTH,
            ),
            Wrong(
                """\
def repeats(r, n, target):
    return math.floor((1 - target) / (n * (1 - r)))""",
                STRAIGHT_LINE,
            ),
            Wrong(
                """\
def repeats(r, n, target):
    return math.log(target) / (n * math.log(r))""",
                NOT_WHOLE,
            ),
            Wrong(
                """\
def repeats(r, n, target):
    return math.floor(math.log(1 - target) / math.log(1 - r**n))""",
                OFF,
            ),
        ),
        check=check_e,
    ),
)
