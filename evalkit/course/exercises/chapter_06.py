"""Exercises of chapter 06: recovery from a log, a horizon, a safe second try, and a published length."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from evalkit.course.exercises import Exercise, Wrong
from evalkit.simulate.world import ToolError

STEP_SUCCESS = (
    "This is the share of all steps that were right in the end: s, not rho. Recovery is asked of "
    "the steps that failed at first."
)
OF_ALL = (
    "You divide by all steps. A step that was right at once needed no recovery: count only those "
    "that failed at first."
)
NET = (
    "A step that was right at first and wrong in the end is no recovery taken back. It did not "
    "fail at first, so it does not belong here at all."
)
LATE = (
    "You count a step that was right at first and wrong in the end among the failed. There was "
    "nothing to mend at first, so it does not belong here at all."
)
IN_PERCENT = "Return a share from 0 to 1, not a percentage."
FAILED_SHARE = "This is the share that stayed broken. The question is about the share mended."
NOTHING_KNOWN = (
    "In a log where no first try failed, nothing is known about recovery. That is neither nought "
    "nor one: return `None`."
)
COUNT = "Return a share, not a count."
OTHER_RATE = "Go through a short log by hand: which pairs does your number count, of which?"

LOGS: tuple[list[tuple[bool, bool]], ...] = (
    [(False, True)] * 3 + [(False, False)] * 5 + [(True, True)] * 32,
    [(False, True)] * 4 + [(False, False)] + [(True, True)] * 5 + [(True, False)] * 2,
)


def check_a(recovery_rate: Callable[[list[tuple[bool, bool]]], Any]) -> str | None:
    """Whether a recovery rate counts the mended among the failed, and nothing else."""
    for log in LOGS:
        found = recovery_rate(list(log))
        failed, mended = (log.count((False, end)) for end in (False, True))
        ends = sum(end for _, end in log)
        firsts = sum(first for first, _ in log)
        right = mended / (mended + failed)
        known = {
            STEP_SUCCESS: ends / len(log),
            OF_ALL: mended / len(log),
            FAILED_SHARE: 1 - right,
            NET: (ends - firsts) / (mended + failed),
            LATE: mended / (mended + failed + log.count((True, False))),
            COUNT: float(mended),
            IN_PERCENT: 100 * right,
        }
        if found is None:
            return "There were failed steps in this log, so there is a rate to return."
        if math.isclose(found, right):
            continue
        matching = [message for message, value in known.items() if math.isclose(found, value)]
        return matching[0] if matching else OTHER_RATE
    try:
        empty = recovery_rate([(True, True)] * 4)
    except ZeroDivisionError:
        return NOTHING_KNOWN
    return None if empty is None else NOTHING_KNOWN


WHOLE = "Return a whole number of steps: an `int`."
ROUNDED_UP = (
    "One step too many: on that many steps success is just below the target. Round down, however "
    "near the next whole number is."
)
NO_RECOVERY = "You left recovery out. A step goes right in the end more often than r."
ADDED = "rho is a share of the failed steps, not of all: it cannot simply be added to r."
IN_PROPORTION = (
    "You took failures to add up, so that twenty steps fail twenty times as often as one. "
    "Successes multiply: the logarithm makes a sum of that."
)
UPSIDE_DOWN = "Your division is upside down: try it on a target that takes one step."
HORIZON = (
    "Put your number of steps back into the formula: success should be at least the target there, "
    "and below it with one step more."
)


def _steps(target: float, s: float) -> float:
    return math.log(target) / math.log(s)


# Targets, r and rho; the last has 6.97 steps, so that rounding is not rounding down.
LENGTHS = (
    (0.5, 0.9, 0.06),
    (0.9, 0.95, 0.4),
    (0.8, 0.97, 0.02),
    (0.99, 0.9, 0.06),
    (0.9, 0.97, 0.5),
)


def check_b(steps_affordable: Callable[[float, float, float], Any]) -> str | None:
    """Whether a horizon is the longest length that still reaches the target."""
    found = [steps_affordable(*case) for case in LENGTHS]
    if any(isinstance(x, bool) or not isinstance(x, int | np.integer) for x in found):
        return WHOLE
    exact = [_steps(target, r + (1 - r) * rho) for target, r, rho in LENGTHS]
    if found == [math.floor(steps) for steps in exact]:
        return None
    if all(x in (math.floor(y), math.ceil(y)) for x, y in zip(found, exact, strict=True)):
        return ROUNDED_UP
    return next((m for m, steps in _mistaken(exact).items() if _fits(found, steps)), HORIZON)


def _mistaken(exact: list[float]) -> dict[str, list[float]]:
    """What each mistake makes of the cases; NaN where it makes no number of steps."""
    return {
        NO_RECOVERY: [_steps(target, r) for target, r, _ in LENGTHS],
        ADDED: [_steps(t, r + rho) if r + rho < 1 else math.nan for t, r, rho in LENGTHS],
        IN_PROPORTION: [(1 - t) / ((1 - r) * (1 - rho)) for t, r, rho in LENGTHS],
        UPSIDE_DOWN: [1 / steps for steps in exact],
    }


def _fits(found: list[int], steps: list[float]) -> bool:
    """Whether one mistake explains all cases: one alone is often met by chance."""
    pairs = zip(found, steps, strict=True)
    return all(math.isnan(y) or x == math.floor(y) for x, y in pairs)


LET_THROUGH = "An attempt raised `ToolError`, and your function let it through and gave up."
SILENT = (
    "An attempt was answered as usual, and no money had moved. Your function took the answer's "
    "word for it."
)
TWICE = (
    "The money moved, then the answer was lost in an error. Your function tried again, and the "
    "customer was paid twice. Look before you repeat."
)
ENDLESS = "Nothing worked, and your function went on trying. Two attempts are the most."
NOT_AT_ALL = "The first attempt failed, and the customer was never paid. One more try was allowed."
AGAIN = "All went well at once, and your function paid a second time."
NEVER_CALLED = "Your function never called `pay`."

#: What the two attempts do (whether the money moves, whether `pay` raises), and what it means if
#: there is not one payment in the end.
WORKS, REFUSED, SILENTLY_LOST, ANSWER_LOST = (
    (True, False),
    (False, True),
    (False, False),
    (True, True),
)
ATTEMPTS: tuple[tuple[tuple[tuple[bool, bool], ...], str], ...] = (
    ((WORKS, WORKS), AGAIN),
    ((REFUSED, WORKS), NOT_AT_ALL),
    ((ANSWER_LOST, WORKS), TWICE),
    ((SILENTLY_LOST, WORKS), SILENT),
)
PATIENCE = 20  # attempts after which even the broken till works, so that an endless loop ends


class _Till:
    """A till whose attempts do as they are told; after the last of them it is broken."""

    def __init__(self, attempts: tuple[tuple[bool, bool], ...]) -> None:
        self.attempts, self.tried, self.payments = iter(attempts), 0, 0

    def pay(self) -> str:
        self.tried += 1
        moves, raises = next(self.attempts, WORKS if self.tried > PATIENCE else REFUSED)
        self.payments += moves
        if raises:
            raise ToolError("timed out")
        return "paid"

    def paid(self) -> bool:
        return self.payments > 0


def check_c(pay_once: Callable[..., Any]) -> str | None:
    """Whether one payment is made in the end, neither none nor two."""
    for attempts, message in (*ATTEMPTS, ((), ENDLESS)):
        till = _Till(attempts)
        try:
            pay_once(till.pay, till.paid)
        except ToolError:
            return LET_THROUGH
        if till.tried == 0:
            return NEVER_CALLED
        if till.payments != (1 if attempts else 0):
            return TWICE if till.payments > 1 and message != AGAIN else message
    return ENDLESS if till.tried > 2 else None


CLAIM = {
    "A": (
        "Short is not the same as safe. The failures of an hour are spread over its minutes: "
        "compute `0.5 ** (5 / 59)`, and say how many such tasks in a hundred fail."
    ),
    "C": (
        "This shares out the failures in proportion to the time. Success is what multiplies, so "
        "take the power instead. And 99% is further away than in proportion, too."
    ),
    "D": (
        "The study gives a second length, so the model can be held against it: for 80% it says 19 "
        "minutes, and the study 15. That is rough, not worthless. Which way is it off?"
    ),
}


def check_d(answer: Any) -> str | None:
    """The one reading that uses the model and says where it was seen to be off."""
    letter = str(answer).strip().upper()
    if letter == "B":
        return None
    return CLAIM.get(letter, "Answer with one letter, such as `'A'`.")


EXERCISES = (
    Exercise(
        id="06.a",
        title="Recovery from a log",
        minutes=6,
        difficulty=1,
        prompt="""
A test bench injects faults and writes down two facts about each step: whether the first try was
right, and whether the step was right in the end. `log` is a list of such pairs, for example
`[(True, True), (False, True), (False, False)]`.

Write `recovery_rate`. It returns rho, or `None` where the log can say nothing about it. (A step can
also be right at first and wrong in the end. What has that to do with recovery?)
""",
        answer="recovery_rate",
        stub="""\
def recovery_rate(log):
    return ...""",
        hints=(
            "rho is a share. Which steps is it a share of? Make a list of those first.",
            "`failed = [end for first, end in log if not first]` holds what became of the steps "
            "that failed at first. What if it is empty?",
        ),
        solution="""\
def recovery_rate(log):
    failed = [end for first, end in log if not first]
    return sum(failed) / len(failed) if failed else None""",
        wrong=(
            Wrong(
                """\
def recovery_rate(log):
    return sum(end for first, end in log) / len(log)""",
                STEP_SUCCESS,
            ),
            Wrong(
                """\
def recovery_rate(log):
    return sum(end and not first for first, end in log) / len(log)""",
                OF_ALL,
            ),
            Wrong(
                """\
def recovery_rate(log):
    failed = sum(not first for first, end in log)
    return sum(not first and not end for first, end in log) / failed if failed else None""",
                FAILED_SHARE,
            ),
            Wrong(
                """\
def recovery_rate(log):
    failed = sum(not first for first, end in log)
    gained = sum(end for first, end in log) - sum(first for first, end in log)
    return gained / failed if failed else None""",
                NET,
            ),
            Wrong(
                """\
def recovery_rate(log):
    failed = [end for first, end in log if not first]
    return sum(failed) / len(failed) if failed else 0.0""",
                NOTHING_KNOWN,
            ),
            Wrong(
                """\
def recovery_rate(log):
    return sum(1 for first, end in log if end and not first)""",
                COUNT,
            ),
            Wrong(
                """\
def recovery_rate(log):
    troubled = [end for first, end in log if not (first and end)]
    return sum(troubled) / len(troubled) if troubled else None""",
                LATE,
            ),
            Wrong(
                """\
def recovery_rate(log):
    failed = [end for first, end in log if not first]
    return 100 * sum(failed) / len(failed) if failed else None""",
                IN_PERCENT,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="06.b",
        title="How long may the task be?",
        minutes=10,
        difficulty=2,
        prompt="""
An agent has per-step reliability `r` and recovery rate `rho`. Write `steps_affordable`: the most
steps, as a whole number, that a task may have for the agent to succeed in at least a share `target`
of the episodes. Use logarithms, not `evalkit.steps`.
""",
        answer="steps_affordable",
        given="import numpy as np",
        stub="""\
def steps_affordable(target, r, rho):
    return ...""",
        hints=(
            "First the probability that one step goes right in the end. Then: that, to the power "
            "of the number of steps, is to equal the target.",
            "Take the logarithm of both sides: the number of steps comes down as a factor. "
            "`np.log(x)` is the logarithm, and `int(x)` cuts off what is behind the point.",
        ),
        solution="""\
def steps_affordable(target, r, rho):
    s = r + (1 - r) * rho
    return int(np.log(target) / np.log(s))""",
        wrong=(
            Wrong(
                """\
def steps_affordable(target, r, rho):
    s = r + (1 - r) * rho
    return int(np.ceil(np.log(target) / np.log(s)))""",
                ROUNDED_UP,
            ),
            Wrong(
                """\
def steps_affordable(target, r, rho):
    s = r + (1 - r) * rho
    return round(np.log(target) / np.log(s))""",
                ROUNDED_UP,
            ),
            Wrong(
                """\
def steps_affordable(target, r, rho):
    return int(np.log(target) / np.log(r))""",
                NO_RECOVERY,
            ),
            Wrong(
                """\
def steps_affordable(target, r, rho):
    s = r + rho
    return int(np.log(target) / np.log(s))""",
                ADDED,
            ),
            Wrong(
                """\
def steps_affordable(target, r, rho):
    s = r + (1 - r) * rho
    return int((1 - target) / (1 - s))""",
                IN_PROPORTION,
            ),
            Wrong(
                """\
def steps_affordable(target, r, rho):
    s = r + (1 - r) * rho
    return int(np.log(s) / np.log(target))""",
                UPSIDE_DOWN,
            ),
            Wrong(
                """\
def steps_affordable(target, r, rho):
    s = r * rho
    return int(np.log(target) / np.log(s))""",
                HORIZON,
            ),
            Wrong(
                """\
def steps_affordable(target, r, rho):
    return 20""",
                HORIZON,
            ),
            Wrong(
                """\
def steps_affordable(target, r, rho):
    s = r + (1 - r) * rho
    return np.log(target) / np.log(s)""",
                WHOLE,
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="06.c",
        title="A second try that does no harm",
        minutes=12,
        difficulty=3,
        prompt="""
An agent framework repeated every tool call that raised an error, and sent one e-mail three times:
the mail had gone out, only the confirmation was lost
([report](https://github.com/MervinPraison/PraisonAI/issues/4256)). With refunds that is money.

You are given two functions. `pay()` pays the customer, or fails: it can raise `ToolError` before
the money moves or *after*, and it can answer as usual although nothing moved. `paid()` says whether
the customer has the money, and never fails. Write `pay_once`: if at most one attempt goes wrong,
the customer is paid exactly once. It makes two attempts at most, and raises nothing.
""",
        answer="pay_once",
        given="from evalkit.simulate.world import ToolError",
        stub="""\
def pay_once(pay, paid):
    return ...""",
        hints=(
            "Neither an error nor an answer tells you whether the money moved. What does?",
            "Ask before each attempt, the first one included; then the two attempts are the same "
            "lines. `except ToolError: pass` lets an error pass.",
        ),
        solution="""\
def pay_once(pay, paid):
    for _ in range(2):
        if not paid():
            try:
                pay()
            except ToolError:
                pass""",
        wrong=(
            Wrong(
                """\
def pay_once(pay, paid):
    pay()""",
                LET_THROUGH,
            ),
            Wrong(
                """\
def pay_once(pay, paid):
    try:
        pay()
    except ToolError:
        pass""",
                NOT_AT_ALL,
            ),
            Wrong(
                """\
def pay_once(pay, paid):
    for _ in range(2):
        try:
            pay()
            return
        except ToolError:
            pass""",
                TWICE,
            ),
            Wrong(
                """\
def pay_once(pay, paid):
    try:
        pay()
    except ToolError:
        if not paid():
            pay()""",
                SILENT,
            ),
            Wrong(
                """\
def pay_once(pay, paid):
    while not paid():
        try:
            pay()
        except ToolError:
            pass""",
                ENDLESS,
            ),
            Wrong(
                """\
def pay_once(pay, paid):
    for _ in range(2):
        try:
            pay()
        except ToolError:
            pass""",
                AGAIN,
            ),
            Wrong(
                """\
def pay_once(pay, paid):
    return paid()""",
                NEVER_CALLED,
            ),
        ),
        check=check_c,
    ),
    Exercise(
        id="06.d",
        title="A published length, and a claim made of it",
        minutes=8,
        difficulty=2,
        prompt="""
A study of 2025 ([Kwa et al.](https://arxiv.org/abs/2503.14499), discussed by
[Ord](https://arxiv.org/abs/2505.05115)) estimated how long a task may take a human expert for an
agent to do it half of the time: 59 minutes for one well-known agent. For four times out of five it
came to 15 minutes. A product page, which we made up, concludes: *"Masters hour-long work, so your
five-minute tasks are practically certain."*

Take a minute as a step, so that 59 of them all go right half of the time. Which reading is best?

- `"A"`: The claim holds. Five minutes are so far below 59 that nearly nothing fails.
- `"B"`: About 94% of five-minute tasks succeed, and 99% needs tasks of less than a minute. Even that
  is hopeful: for 80% the model gives 19 minutes, and the study 15.
- `"C"`: Five fifty-ninths of one half is about 4%, so 96% succeed. Tasks of a little over a minute
  reach 99%.
- `"D"`: Nothing can be said. Steps are not independent, so the model is of no use for real agents.
""",
        answer="hour_long",
        stub="hour_long = ...",
        hints=(
            "What is the probability that one minute goes right? It is a root of one half.",
            "`0.5 ** (minutes / 59)` is the success of a task of so many minutes. Try 5 and 15, and "
            "find where it is 0.99.",
        ),
        solution='hour_long = "B"',
        wrong=(
            Wrong('hour_long = "A"', CLAIM["A"]),
            Wrong('hour_long = "C"', CLAIM["C"]),
            Wrong('hour_long = "D"', CLAIM["D"]),
        ),
        check=check_d,
    ),
)
