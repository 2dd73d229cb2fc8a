"""Exercises of chapter 05: close a hole, how many mutants, a test log, a floor, and a real fault."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evalkit.audit import audit_grader
from evalkit.course.exercises import Exercise, Wrong
from evalkit.statediff import State
from evalkit.tasks import Created, Task

# --- 05.a ---------------------------------------------------------------------------------

RIGHT = (
    "Your grader fails an agent that did exactly the job. If you state the refund as a `Created` row: "
    "which of its columns may hold anything?"
)
NO_VERDICT = (
    "Your grader returns a text or a `Task`, and Python takes either for true, the text `'fail'` too. "
    "Return True or False."
)
ANY_ID = (
    "Your grader fails an agent whose refund got number 7. The database gives the number, and the "
    "task does not care."
)
JOB = "Your grader passes an agent that did not do the whole job."
OTHER_ORDER = "Your grader passes an agent that cancelled another order as well."
TWICE = "Your grader passes an agent that paid the refund twice. Is one such row enough, or all?"
SAME_ROW = "Your grader passes an agent that also changed the total of the order it cancelled."
OTHER_TABLE = (
    "Your grader passes an agent that deleted a customer. Look at every table, those too that the "
    "task does not mention."
)
RAISES = (
    "Your grader raises an error on an end state that is wrong. A crash is not a verdict: an agent "
    "that makes the grader crash has not been graded. Return False there."
)
TYPES = (
    "Your grader takes a value for the same one stored in another type: `==` holds for 42 and 42.0. "
    "Compare as chapter 04 does."
)

SHOP: State = {
    "orders": {
        "W1": {"id": "W1", "item": "kettle", "total": 42, "status": "open"},
        "W2": {"id": "W2", "item": "clock", "total": 15, "status": "open"},
        "W3": {"id": "W3", "item": "vase", "total": 9, "status": "sent"},
    },
    "refunds": {1: {"id": 1, "order": "W3", "amount": 9}},
    "customers": {"C1": {"id": "C1", "name": "Ada"}, "C2": {"id": "C2", "name": "Ben"}},
}


def _done(number: int = 2) -> State:
    state = copy.deepcopy(SHOP)
    state["orders"]["W1"]["status"] = "cancelled"
    state["refunds"][number] = {"id": number, "order": "W1", "amount": 42}
    return state


def _damaged() -> list[tuple[State, str]]:
    """End states that must fail, in the order in which they are tried, with what is said."""
    unpaid, unasked, twice, cheaper, removed = (_done() for _ in range(5))
    unpaid["refunds"].pop(2)
    unasked["orders"]["W2"]["status"] = "cancelled"
    twice["refunds"][3] = {**twice["refunds"][2], "id": 3}
    cheaper["orders"]["W1"]["total"] = 1
    removed["customers"].pop("C2")
    return [
        (SHOP, JOB),
        (unpaid, JOB),
        (unasked, OTHER_ORDER),
        (twice, TWICE),
        (cheaper, SAME_ROW),
        (removed, OTHER_TABLE),
    ]


def check_a(closed: Callable[[State, State], Any]) -> str | None:
    """What an audit of the learner's grader finds."""
    verdict = closed(copy.deepcopy(SHOP), _done())
    if isinstance(verdict, str | Task):
        return NO_VERDICT
    if not verdict:
        return RIGHT
    if not closed(copy.deepcopy(SHOP), _done(7)):
        return ANY_ID
    for after, message in _damaged():
        try:
            passed = closed(copy.deepcopy(SHOP), copy.deepcopy(after))
        except Exception:  # the learner's code may raise whatever it likes
            return RAISES
        if passed:
            return message
    return _audited(closed)


def _audited(closed: Callable[[State, State], Any]) -> str | None:
    refund = Created("refunds", order="W1", amount=42, free=["id"])
    task = Task(required={"orders/W1/status": "cancelled"}, created=[refund])
    audit = audit_grader(lambda b, a: bool(closed(b, a)), SHOP, _done(), task, rng=5, per_kind=40)
    if audit.table["unanswered"].any():
        return RAISES
    # A grader that wants a row's column to repeat its number is strict, and not wrong.
    alarms = audit.false_alarms[~audit.false_alarms["difference"].str.contains("/id: ")]
    if len(alarms):
        return f"Your grader fails a right ending: {alarms['kind'].iloc[0]}."
    kinds = list(audit.survivors["kind"])
    if kinds:
        return TYPES if set(kinds) == {"type change"} else f"Your grader lets through: {kinds[0]}."
    return None


# --- 05.b ---------------------------------------------------------------------------------

LIMITS = (0.05, 0.5, 0.01, 0.2, 0.12)
EXPECTED = (
    "Among so many mutants one would escape on average. But in more than a third of all audits none "
    "would, and such a grader would look sound."
)
SWAPPED = (
    "So few mutants are caught by a bad grader 95 times in 100. Its luck should last in at most 5 "
    "audits of 100."
)
CAUGHT = (
    "A mutant is caught with probability 1 minus the escape rate. All n are, with that to the n."
)
ONE_SHORT = "With one mutant fewer than needed, luck is still above 5%. Round up."
RULE_OF_THREE = (
    "That is the rule of three, a good one for small limits. Here the exact number is wanted, and it "
    "is a little smaller."
)


def check_b(mutants_needed: Callable[[float], Any]) -> str | None:
    """Whether the number of mutants is the smallest that rules an escape rate out."""
    given = {limit: mutants_needed(limit) for limit in LIMITS}
    needed = {}
    for limit in LIMITS:
        n = 1
        while (1 - limit) ** n > 0.05:
            n += 1
        needed[limit] = n
    if given == needed:
        return None
    n = given[0.05]
    if n == round(1 / 0.05):
        return EXPECTED
    if n <= 1:
        return CAUGHT if given[0.5] == needed[0.5] else SWAPPED
    if math.floor(n) == needed[0.05] - 1:
        return ONE_SHORT
    if n == 60:
        return RULE_OF_THREE
    wrong = next(limit for limit in LIMITS if given[limit] != needed[limit])
    return f"For an escape rate of {wrong:.0%} your number is not the smallest that will do."


# --- 05.c ---------------------------------------------------------------------------------

SPOOF = (
    "You believed a log in which all tests passed, although the test command failed. Anybody can "
    "print `PASSED`. Where log and exit status disagree, there is no verdict."
)
UNRELATED = (
    "You failed an honest patch: a test that nobody asked about failed, as it did before, and so the "
    "command failed too. The exit status alone decides nothing."
)
SKIPPED = "A needed test that was skipped has not passed. The patch is not resolved."
ABSENT = "A needed test that the log does not name has not passed. The patch is not resolved."
EMPTY = "Nothing was needed, so nothing was tested. That is no success: it is not evaluated."
HID_A_FAILURE = "The command succeeded although the log names a failure. They disagree: no verdict."
KEYS = (
    "A needed test failed: not resolved. (`'FAILED' in log` asks for a test of that name; the outcomes "
    "are `log.values()`.)"
)
NAMES = "Return one of the three texts: `resolved`, `not resolved` or `not evaluated`."
VERDICTS = ("resolved", "not resolved", "not evaluated")

LOGS: tuple[tuple[tuple[str, ...], dict[str, str], int, str, str], ...] = (
    (("a",), {"a": "PASSED", "b": "PASSED"}, 0, "resolved", "A patch that passes all is resolved."),
    (("a",), {"a": "FAILED"}, 1, "not resolved", KEYS),
    (("a", "b"), {"a": "SKIPPED", "b": "PASSED"}, 0, "not resolved", SKIPPED),
    (("a", "b"), {"b": "PASSED"}, 0, "not resolved", ABSENT),
    ((), {}, 0, "not evaluated", EMPTY),
    (("a",), {"a": "PASSED", "old": "FAILED"}, 1, "resolved", UNRELATED),
    (("a",), {"a": "PASSED", "b": "PASSED"}, 1, "not evaluated", SPOOF),
    (("a",), {"a": "PASSED", "b": "FAILED"}, 0, "not evaluated", HID_A_FAILURE),
)


def check_c(patch_verdict: Callable[[Sequence[str], dict[str, str], int], Any]) -> str | None:
    """What the learner's verdict gets wrong on logs like those of real reports."""
    for needed, log, exit_code, right, message in LOGS:
        said = patch_verdict(list(needed), dict(log), exit_code)
        if said not in VERDICTS:
            return NAMES
        if said != right:
            return message
    return None


# --- 05.d ---------------------------------------------------------------------------------

SHARE = (
    "Points are not shares of the remaining tasks. Where doing nothing passes 40 of 100 tasks, the "
    "others are only 60: divide by how many there are."
)
ASSUMED = (
    "That takes for granted that the agent passes every task that doing nothing passes. It may have "
    "done harm there. How well could it have done on the others then?"
)
ENDS = "Your two ends are right, in the other order. The lowest comes first, then the highest."
CLIP = "A success rate lies between 0 and 1. One of yours does not."
FLOORS = ((0.40, 0.25), (0.2, 0.5), (0.9, 0.25), (0.07, 0.0), (0.5, 0.5))


def _off(overall: float, floor: float, end: str) -> str:
    """Which end is wrong, and where to look."""
    return (
        f"For {overall:.0%} overall and {floor:.0%} by doing nothing, the {end} rate is not right. Did "
        "you divide by the share of the other tasks, and leave it unrounded?"
    )


def check_d(acting_range: Callable[[float, float], Any]) -> str | None:
    """Whether the two ends are those that the shares leave open."""
    for overall, floor in FLOORS:
        answer = acting_range(overall, floor)
        if not isinstance(answer, tuple | list | np.ndarray) or len(answer) != 2:
            return "Return two numbers: the lowest and the highest success rate."
        low, high = answer
        best = min(1.0, overall / (1 - floor))
        worst = max(0.0, (overall - floor) / (1 - floor))
        if math.isclose(low, worst) and math.isclose(high, best):
            continue
        if math.isclose(high, worst) and math.isclose(low, best):
            return ENDS
        if not (0 <= low <= 1 and 0 <= high <= 1):
            return CLIP
        if math.isclose(low, overall - floor):
            return SHARE
        if math.isclose(high, worst):
            return ASSUMED
        return _off(overall, floor, "highest" if math.isclose(low, worst) else "lowest")
    return None


# --- 05.e ---------------------------------------------------------------------------------

STALLING = {
    "A": "To refuse is a skill too. Without these tasks nobody would notice an agent that grants every "
    "refund it is asked for.",
    "B": "That fails every agent that rightly refuses: it, too, leaves the database as it was.",
    "D": "The state is right, and the customer was left without an answer. An agent that stalls and "
    "one that refuses with a reason get the same reward.",
}


def check_e(choice: Any) -> str | None:
    """Whether the repair tells an agent that refuses from one that stalls."""
    letter = str(choice).strip().upper()
    if letter == "C":
        return None
    return STALLING.get(letter, "Answer with one of the letters A, B, C and D.")


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="05.a",
        title="Close the hole",
        minutes=15,
        difficulty=3,
        prompt="""
A shop has tables `orders` (with `id`, `item`, `total`, `status`), `refunds` (with `id`, `order`,
`amount`) and some others. The task: *cancel order `W1`, and refund its 42.* The new refund may have
any number. Nothing else may change. This grader is in use:

```python
def grader(before, after):
    paid = any(r["order"] == "W1" and r["amount"] == 42 for r in after["refunds"].values())
    return paid and after["orders"]["W1"]["status"] == "cancelled"
```

Write one that lets no harm through, fails no right ending, and never raises. It is audited on end
states that you do not see. Import what you need.
""",
        answer="closed",
        given="import copy\n\nfrom evalkit import Created, Task, grade, state_diff",
        stub="""\
def closed(before, after):
    return ...""",
        hints=(
            "Which places does the grader above never look at? There are other orders, other "
            "fields, other refunds, other tables.",
            "State the job as a `Task`: one required field, and one `Created` row whose number is "
            "free. What judges an episode by a task?",
        ),
        solution="""\
from evalkit import Created, Task, grade


def closed(before, after):
    refund = Created("refunds", order="W1", amount=42, free=["id"])
    task = Task(required={"orders/W1/status": "cancelled"}, created=[refund])
    return grade(before, after, task).passed""",
        wrong=(
            Wrong(
                """\
def closed(before, after):
    paid = any(r["order"] == "W1" and r["amount"] == 42 for r in after["refunds"].values())
    return paid and after["orders"]["W1"]["status"] == "cancelled\"""",
                OTHER_ORDER,
            ),
            Wrong(
                """\
def closed(before, after):
    refund = Created("refunds", order="W1", amount=42)
    return grade(before, after, Task({"orders/W1/status": "cancelled"}, created=[refund])).passed""",
                RIGHT,
            ),
            Wrong(
                """\
def closed(before, after):
    refund = Created("refunds", order="W1", amount=42, free=["id"])
    return grade(before, after, Task({"orders/W1/status": "cancelled"}, created=[refund])).status""",
                NO_VERDICT,
            ),
            Wrong(
                """\
def closed(before, after):
    refund = Created("refunds", order="W1", amount=42, free=["id"])
    return Task({"orders/W1/status": "cancelled"}, created=[refund])""",
                NO_VERDICT,
            ),
            Wrong(
                """\
def closed(before, after):
    expected = copy.deepcopy(before)
    expected["orders"]["W1"]["status"] = "cancelled"
    expected["refunds"][2] = {"id": 2, "order": "W1", "amount": 42}
    return after == expected""",
                ANY_ID,
            ),
            Wrong(
                """\
def closed(before, after):
    orders = {**before["orders"], "W1": {**before["orders"]["W1"], "status": "cancelled"}}
    paid = any(r["order"] == "W1" and r["amount"] == 42 for r in after["refunds"].values())
    return paid and after["orders"] == orders""",
                TWICE,
            ),
            Wrong(
                """\
def closed(before, after):
    task = Task(
        required={"orders/W1/status": "cancelled"},
        created=[Created("refunds", order="W1", amount=42, free=["id"])],
    )
    verdict = grade(before, after, task)
    return not verdict.missing and all("W1" in f.place for f in verdict.collateral)""",
                SAME_ROW,
            ),
            Wrong(
                """\
def closed(before, after):
    task = Task(
        required={"orders/W1/status": "cancelled"},
        created=[Created("refunds", order="W1", amount=42, free=["id"])],
    )
    mine = [{t: state[t] for t in ("orders", "refunds")} for state in (before, after)]
    return grade(*mine, task)""",
                OTHER_TABLE,
            ),
            Wrong(
                """\
def closed(before, after):
    expected = copy.deepcopy(before)
    expected["orders"]["W1"]["status"] = "cancelled"
    (new,) = set(after["refunds"]) - set(before["refunds"])
    expected["refunds"][new] = {"id": new, "order": "W1", "amount": 42}
    return not state_diff(expected, after)""",
                RAISES,
            ),
            Wrong(
                """\
def closed(before, after):
    added = set(after.get("refunds", {})) - set(before["refunds"])
    expected = copy.deepcopy(before)
    expected["orders"]["W1"]["status"] = "cancelled"
    for new in added:
        row = {**after["refunds"][new], "order": "W1", "amount": 42}
        expected["refunds"][new] = {name: row[name] for name in ("id", "order", "amount") if name in row}
    return len(added) == 1 and after == expected""",
                TYPES,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="05.b",
        title="How many mutants?",
        minutes=8,
        difficulty=2,
        prompt="""
You show a grader `n` harmful mutants of one kind, drawn at random from all that there are. It
catches every one. Write `mutants_needed(limit)`: the smallest `n` for which a grader whose escape
rate is `limit` (such as 0.05) would be so lucky with a probability of 5% at most.
""",
        answer="mutants_needed",
        given="import math",
        stub="""\
def mutants_needed(limit):
    return ...""",
        hints=(
            "With what probability does a grader whose escape rate is `limit` catch one mutant? "
            "And `n` of them?",
            "Solve $(1 - \\ell)^n \\le 0.05$ for $n$ with logarithms, or let a loop count upwards.",
        ),
        solution="""\
import math


def mutants_needed(limit):
    return math.ceil(math.log(0.05) / math.log(1 - limit))""",
        wrong=(
            Wrong("def mutants_needed(limit):\n    return round(1 / limit)", EXPECTED),
            Wrong(
                "def mutants_needed(limit):\n"
                "    return math.ceil(math.log(0.95) / math.log(1 - limit))",
                SWAPPED,
            ),
            Wrong(
                "def mutants_needed(limit):\n"
                "    return math.ceil(math.log(0.05) / math.log(limit))",
                CAUGHT,
            ),
            Wrong(
                "def mutants_needed(limit):\n    return int(math.log(0.05) / math.log(1 - limit))",
                ONE_SHORT,
            ),
            Wrong("def mutants_needed(limit):\n    return math.ceil(3 / limit)", RULE_OF_THREE),
        ),
        check=check_b,
    ),
    Exercise(
        id="05.c",
        title="A real fault: what the log says",
        minutes=12,
        difficulty=2,
        prompt="""
A public benchmark of program repairs reads from a log which tests passed. A patch that printed
`PASSED` lines itself was counted as resolved, although the test command had failed
([report](https://github.com/SWE-bench/SWE-bench/issues/620)). So was a patch under which the needed
tests were skipped ([report](https://github.com/SWE-bench/SWE-bench/pull/598)).

Write `patch_verdict(needed, log, exit_code)`. `needed` lists tests; `log` maps each test that it
names to `PASSED`, `FAILED` or `SKIPPED`; an honest test command exits with 0 if no test failed, and
else with 1. Return `resolved`, `not resolved`, or `not evaluated`: the last where nothing is
needed, and where the log and the exit code contradict each other.
""",
        answer="patch_verdict",
        stub="""\
def patch_verdict(needed, log, exit_code):
    return ...""",
        hints=(
            "Take it in three steps: is there anything to judge? Can the log be believed? Has every "
            "needed test passed?",
            "The log and the exit code agree if `exit_code` is not 0 exactly when some test of the "
            "log has failed, needed or not.",
        ),
        solution="""\
def patch_verdict(needed, log, exit_code):
    some_failed = "FAILED" in log.values()
    if not needed or some_failed != (exit_code != 0):
        return "not evaluated"
    passed = all(log.get(test) == "PASSED" for test in needed)
    return "resolved" if passed else "not resolved\"""",
        wrong=(
            Wrong(
                """\
def patch_verdict(needed, log, exit_code):
    if not needed:
        return "not evaluated"
    passed = all(log.get(test) == "PASSED" for test in needed)
    return "resolved" if passed else "not resolved\"""",
                SPOOF,
            ),
            Wrong(
                """\
def patch_verdict(needed, log, exit_code):
    if not needed:
        return "not evaluated"
    passed = all(log.get(test) == "PASSED" for test in needed)
    return "resolved" if passed and exit_code == 0 else "not resolved\"""",
                UNRELATED,
            ),
            Wrong(
                """\
def patch_verdict(needed, log, exit_code):
    if not needed or ("FAILED" in log.values()) != (exit_code != 0):
        return "not evaluated"
    failed = any(log.get(test) == "FAILED" for test in needed)
    return "not resolved" if failed else "resolved\"""",
                SKIPPED,
            ),
            Wrong(
                """\
def patch_verdict(needed, log, exit_code):
    if not needed or ("FAILED" in log.values()) != (exit_code != 0):
        return "not evaluated"
    passed = all(log[test] == "PASSED" for test in needed if test in log)
    return "resolved" if passed else "not resolved\"""",
                ABSENT,
            ),
            Wrong(
                """\
def patch_verdict(needed, log, exit_code):
    if ("FAILED" in log.values()) != (exit_code != 0):
        return "not evaluated"
    passed = all(log.get(test) == "PASSED" for test in needed)
    return "resolved" if passed else "not resolved\"""",
                EMPTY,
            ),
            Wrong(
                """\
def patch_verdict(needed, log, exit_code):
    if not needed or (exit_code != 0 and "FAILED" not in log.values()):
        return "not evaluated"
    passed = all(log.get(test) == "PASSED" for test in needed)
    return "resolved" if passed else "not resolved\"""",
                HID_A_FAILURE,
            ),
            Wrong(
                """\
def patch_verdict(needed, log, exit_code):
    if not needed or ("FAILED" in log) != (exit_code != 0):
        return "not evaluated"
    passed = all(log.get(test) == "PASSED" for test in needed)
    return "resolved" if passed else "not resolved\"""",
                KEYS,
            ),
        ),
        check=check_c,
    ),
    Exercise(
        id="05.d",
        title="Above the floor",
        minutes=8,
        difficulty=2,
        prompt="""
A leaderboard tells you an agent's success rate, `overall`. You find out which share of the tasks,
`floor`, an agent passes that does nothing. What can its success rate be on the *other* tasks, where
something has to be done? Write `acting_range(overall, floor)`: the lowest and the highest rate, as
shares, that agree with both numbers.
""",
        answer="acting_range",
        stub="""\
def acting_range(overall, floor):
    return ...""",
        hints=(
            "Of 100 tasks, how many are left? In the worst case for the agent it passed every task "
            "of the floor. And in the best case?",
            "Divide by `1 - floor`. Then see what comes out if the agent does worse than nothing, "
            "and if it passes more tasks than the others are.",
        ),
        solution="""\
def acting_range(overall, floor):
    rest = 1 - floor
    return max(0, (overall - floor) / rest), min(1, overall / rest)""",
        wrong=(
            Wrong(
                "def acting_range(overall, floor):\n    return max(0, overall - floor), overall",
                SHARE,
            ),
            Wrong(
                """\
def acting_range(overall, floor):
    rate = max(0, (overall - floor) / (1 - floor))
    return rate, rate""",
                ASSUMED,
            ),
            Wrong(
                """\
def acting_range(overall, floor):
    return (overall - floor) / (1 - floor), overall / (1 - floor)""",
                CLIP,
            ),
            Wrong(
                """\
def acting_range(overall, floor):
    rest = 1 - floor
    return min(1, overall / rest), max(0, (overall - floor) / rest)""",
                ENDS,
            ),
            Wrong(
                """\
def acting_range(overall, floor):
    rest = 1 - floor
    return max(0, (overall - floor) / rest), round(min(1, overall / rest), 2)""",
                _off(0.40, 0.25, "highest"),
            ),
            Wrong(
                """\
def acting_range(overall, floor):
    return max(0, (overall - floor) / overall), min(1, overall / (1 - floor))""",
                _off(0.40, 0.25, "lowest"),
            ),
        ),
        check=check_d,
    ),
    Exercise(
        id="05.e",
        title="A real fault: stalling",
        minutes=5,
        difficulty=2,
        prompt="""
In 23 tasks of a public airline benchmark the customer asks for something that the rules forbid. The
agent should refuse and say why, or hand over to a person. What is scored is that the database stays as
it was; a part of the score that has no criteria counts as full marks. So an agent that stalls gets
everything ([report](https://github.com/sierra-research/tau2-bench/issues/384)). Exercise 03.d took
these tasks as they are. Now you may score more than before. Which repair is right?

- `"A"`: leave the 23 tasks out.
- `"B"`: give nothing to an agent that changes nothing.
- `"C"`: keep the check of the database, score the refusal or the handover beside it, and count a
  part without criteria as not evaluated.
- `"D"`: none; the database is as it should be.
""",
        answer="stalling",
        stub="stalling = ...",
        hints=(
            "Three agents: one refuses and says why, one stalls, one gives what is forbidden. What "
            "does each repair give them?",
            "Two of them leave the same database. So what has to be looked at?",
        ),
        solution='stalling = "C"',
        wrong=tuple(Wrong(f'stalling = "{letter}"', text) for letter, text in STALLING.items()),
        check=check_e,
    ),
)
