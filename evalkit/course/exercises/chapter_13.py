"""Exercises of chapter 13: a policy, a process rule, whose user counts, a checklist filled in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evalkit.course.exercises import Exercise, Wrong
from evalkit.process import Action
from evalkit.simulate.episodes import Episode, play
from evalkit.simulate.store import fill
from evalkit.simulate.tickets import refund, ticket
from evalkit.simulate.world import Scenario, World

PROTOCOL = "Return `True` or `False`: whether you claim success."
UNSURE = "The job is done, and you do not claim it. Return `True` when the refund went through."
BOASTS = "You claim success although nothing was refunded. Is the answer of the tool a refund?"
WHOLE = (
    "You ask for the order's total. Something was paid back before, so the store refuses, and you "
    "stop there. (If you read the refunds: did you start at number 1?)"
)
FITTED = (
    "That fits one order of the chapter. Other orders have other totals, and other refunds before."
)
FIRST_ONLY = "You take off one earlier refund. There may be several, and some are of other orders."
ALL_REFUNDS = "You take off every refund in the store. Only those of this order count."
PROBES = (
    "You try amounts until one goes through. On a real account each refusal is an incident. Two "
    "tries at most."
)
FORBIDDEN = "You used a tool that can do anything. Refund with the tool for refunds."
NOTHING = "No refund was tried. A refusal that your policy lets through ends the episode."
MORE = "More has changed than the refund that was asked for."
SECOND = "Your second amount is not what was left. The refusal names several numbers."
NOT_REFUNDED = "The amount is not what was left of the order."


def _rest_of(order: str, earlier: Sequence[tuple[str, int]], cents: int) -> Scenario:
    """A ticket for the rest of an order, in a store with these refunds besides the first rows."""

    def filled(connection: sqlite3.Connection, rng: np.random.Generator) -> None:
        fill(connection, rng)
        for row in earlier:
            sql = "INSERT INTO refunds VALUES (NULL, ?, ?, '2026-02-01T09:00:00Z')"
            connection.execute(sql, row)

    return replace(ticket("the rest", refund(order, "the rest", cents)), fill=filled)


RESTS = (
    _rest_of("W1002", (), 3400),
    _rest_of("W1005", (("W1005", 1000), ("W1003", 700), ("W1005", 2500)), 2500),
    _rest_of("W1003", (("W1005", 900),), 5600),
)


def check_a(refund_the_rest: Callable[..., Any]) -> str | None:
    """What a policy for the rest of an order gets wrong, if anything."""
    for made in RESTS:
        claims: list[Any] = []

        def watched(call: Any, instruction: str, rng: Any, claims: list[Any] = claims) -> bool:
            claims.append(refund_the_rest(call, instruction, rng))
            return bool(claims[-1])

        with World(made) as world:
            episode = play(watched, world, np.random.default_rng(0))
        if claims and not isinstance(claims[0], bool | np.bool_):
            return PROTOCOL
        if message := _wrong_refund(episode, made):
            return message
    return None


def _wrong_refund(episode: Episode, made: Scenario) -> str | None:
    tools = [action.tool for action in episode.trajectory]
    tries = [
        a.arguments.get("amount_cents") for a in episode.trajectory if a.tool == "issue_refund"
    ]
    if {"edit_record", "delete_record"} & set(tools):
        return FORBIDDEN
    if len(tries) > 2:
        return PROBES
    if episode.verdict.passed:
        return None if episode.claim else UNSURE
    if not tries:
        return BOASTS if episode.claim else NOTHING
    if len(tries) == 2 and not episode.verdict.credit:
        return SECOND
    right = made.edits[0].right.arguments
    totals = {"W1002": 3900, "W1005": 6000, "W1003": 5600}
    if tries[-1] == totals[right["order_id"]] > right["amount_cents"]:
        return BOASTS if episode.claim else WHOLE
    # What the known mistakes ask for, on the second store: total less one refund, less them all.
    known = {5000: FIRST_ONLY, 3400: FITTED, 6000 - 500 - 1000 - 700 - 2500: ALL_REFUNDS}
    if right["order_id"] != "W1002" and tries[-1] in known:
        return known[tries[-1]]
    return MORE if episode.verdict.credit else NOT_REFUNDED


TOOL_ONLY = (
    "You compare the tools and not the arguments. To read another record after a refusal is no "
    "repetition."
)
ARGUMENTS_ONLY = (
    "You compare the arguments and not the tools. Another tool may be given the same arguments."
)
LATEST_ONLY = (
    "You look at the latest call of its kind only. That it went well once does not lift the rule: the "
    "call was refused before."
)
KEPT_TOO = "You report a call that was made before and went well. Only what was refused must not be tried again."
NEXT_ONLY = "You look at the call before only. The same call may come back a few steps later."
THE_FIRST = "You report the call that was refused. It was the first of its kind; the rule is about the next."
REFUSED_AGAIN = (
    "You report the repetition only if it is refused again. To try it was against the rule."
)
EVERY_REFUSAL = (
    "You report every refusal. One refusal is information; making the same call again is not."
)
TRUE_IS_1 = (
    "`True == 1` in Python, and `{'id': 1}` is another call than `{'id': True}`. Use `same`."
)
NOT_THE_LIST = "That is not the list of the repeated calls, by their index, from 0."


def _calls(*rows: tuple[str, dict[str, Any], bool]) -> list[Action]:
    return [Action(tool, given, None, None if fine else "refused") for tool, given, fine in rows]


REFUSED: tuple[list[Action], ...] = (
    _calls(
        ("read", {"id": 1}, True),
        ("cancel", {"order": "W1"}, False),
        ("cancel", {"order": "W2"}, True),
        ("read", {"id": 1}, True),
        ("cancel", {"order": "W1"}, False),
        ("cancel", {"order": "W2"}, False),
        ("read", {"id": 2}, False),
        ("cancel", {"order": "W1"}, True),
    ),
    _calls(("read", {"id": 9}, False), ("read", {"id": 8}, False), ("read", {"id": 7}, True)),
    _calls(
        ("read", {"id": 1}, False),
        ("read", {"id": 3}, True),
        ("read", {"id": True}, False),
        ("read", {"id": 1}, True),
        ("read", {"id": 2}, True),
        ("read", {"id": 2}, True),
    ),
    _calls(
        ("cancel", {"order": "W1"}, False),
        ("show", {"order": "W1"}, True),
        ("cancel", {"order": "W1"}, True),
        ("cancel", {"order": "W1"}, True),
    ),
    [],
)
RIGHT: tuple[list[int], ...] = ([4, 7], [], [3], [2, 3], [])


def check_b(tried_again: Callable[[list[Action]], Any]) -> str | None:
    """What a rule against repeating refused calls gets wrong, if anything."""
    for trajectory, right in zip(REFUSED, RIGHT, strict=True):
        found = list(tried_again(list(trajectory)))
        if found == right:
            continue
        known = {
            message: [i for i in range(len(trajectory)) if broken(trajectory, i)]
            for message, broken in MISTAKES.items()
        }
        return next((text for text, wrong in known.items() if wrong == found), NOT_THE_LIST)
    return None


def _equal(a: Action, b: Action) -> bool:
    return (a.tool, a.arguments) == (b.tool, b.arguments)


#: The known mistakes: whether the action at an index is reported.
MISTAKES: dict[str, Callable[[list[Action], int], bool]] = {
    TOOL_ONLY: lambda t, i: any(a.error and a.tool == t[i].tool for a in t[:i]),
    KEPT_TOO: lambda t, i: any(_equal(a, t[i]) for a in t[:i]),
    NEXT_ONLY: lambda t, i: bool(i and t[i - 1].error and _equal(t[i - 1], t[i])),
    THE_FIRST: lambda t, i: bool(t[i].error and any(_equal(a, t[i]) for a in t[i + 1 :])),
    REFUSED_AGAIN: lambda t, i: bool(
        t[i].error and any(a.error and _equal(a, t[i]) for a in t[:i])
    ),
    EVERY_REFUSAL: lambda t, i: bool(t[i].error),
    TRUE_IS_1: lambda t, i: any(a.error and _equal(a, t[i]) for a in t[:i]),
    ARGUMENTS_ONLY: lambda t, i: any(a.error and a.arguments == t[i].arguments for a in t[:i]),
    LATEST_ONLY: lambda t, i: next(
        (bool(a.error) for a in reversed(t[:i]) if _equal(a, t[i])), False
    ),
}

USERS = {
    "A": (
        "A footnote does not make it comparable. Who sorts the table by the score sorts by the user "
        "as well."
    ),
    "B": "A mean of two conditions is a result under neither. Nobody could reproduce it.",
    "D": (
        "The agent did nothing wrong, and its run says something: how it does with that user. It "
        "only cannot stand in this table."
    ),
}


def check_c(answer: Any) -> str | None:
    """What went wrong with two results of one agent under two simulated users."""
    letter = str(answer).strip().upper()
    return None if letter == "C" else USERS.get(letter, "Answer with one letter, such as `'A'`.")


STATUSES = ("met", "not met", "not stated")
LINES: dict[str, tuple[str, str]] = {
    "trials": (
        "not met",
        "trials: how many trials of a task were run, and for which k is a rate reported?",
    ),
    "infra": (
        "not met",
        "infra: which failures were run again? Read the sentence once more.",
    ),
    "reach": (
        "not met",
        "reach: being told not to look is no lock. Could the agent have read the file?",
    ),
    "user": (
        "not stated",
        "user: what does the report say about who plays the customer?",
    ),
    "baselines": (
        "met",
        "baselines: a trivial agent was run, and its score stands in the report, whatever it is.",
    ),
}


def check_d(answers: Any) -> str | None:
    """Which of five lines of a checklist is filled in wrongly."""
    if not isinstance(answers, dict) or set(answers) != set(LINES):
        return f"Keep the dictionary, with these keys: {', '.join(LINES)}."
    for key, (right, message) in LINES.items():
        found = str(answers[key]).strip().lower()
        if found not in STATUSES:
            return f"{key}: write one of {', '.join(STATUSES)}."
        if found != right:
            return message
    return None


def _all_but(key: str, value: str) -> str:
    """The right dictionary with one wrong entry."""
    entries = {name: right for name, (right, _) in LINES.items()} | {key: value}
    return f"checklist = {entries!r}"


GIVEN = "import re\nfrom evalkit.simulate.world import ToolError\n"

EXERCISES = (
    Exercise(
        id="13.a",
        title="Refund the rest",
        minutes=20,
        difficulty=3,
        prompt="""
Write the policy `refund_the_rest(call, instruction, rng)`. The instruction says
`Refund the rest of order W....` and names the order; part of its total may have been paid back before,
in one refund or in several. Pay back what is left, exactly, and return whether that was done.

`call("read", table="orders", id=...)` and `call("read", table="refunds", id=...)` read; refunds are
numbered from 1, and reading one that is not there raises `ToolError`.
`call("issue_refund", order_id=..., amount_cents=...)` pays. Keep to these tools, and try at most two
amounts. It will be played on stores that you have not seen.
""",
        answer="refund_the_rest",
        stub="""\
def refund_the_rest(call, instruction, rng):
    return ...""",
        hints=(
            "Where does the store say how much is left? There are two places: the refunds so far, "
            "and the message of a refusal.",
            "Find the order with `re.search(r'W\\d+', instruction)`, read its total, then read the "
            "refunds 1, 2, 3 and so on until `ToolError`, and add up those whose `order_id` is yours.",
        ),
        solution="""\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    left = call("read", table="orders", id=order)["total_cents"]
    number = 1
    while True:
        try:
            row = call("read", table="refunds", id=number)
        except ToolError:
            break
        left -= row["amount_cents"] if row["order_id"] == order else 0
        number += 1
    made = call("issue_refund", order_id=order, amount_cents=left)
    return made["order_id"] == order""",
        wrong=(
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    total = call("read", table="orders", id=order)["total_cents"]
    call("issue_refund", order_id=order, amount_cents=total)
    return True""",
                WHOLE,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    total = call("read", table="orders", id=order)["total_cents"]
    try:
        call("issue_refund", order_id=order, amount_cents=total)
    except ToolError:
        pass
    return True""",
                BOASTS,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    call("issue_refund", order_id=order, amount_cents=3400)
    return True""",
                FITTED,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    left = call("read", table="orders", id=order)["total_cents"]
    for number in range(1, 9):
        try:
            row = call("read", table="refunds", id=number)
        except ToolError:
            break
        if row["order_id"] == order:
            left -= row["amount_cents"]
            break
    call("issue_refund", order_id=order, amount_cents=left)
    return True""",
                FIRST_ONLY,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    left = call("read", table="orders", id=order)["total_cents"]
    for number in range(1, 9):
        try:
            left -= call("read", table="refunds", id=number)["amount_cents"]
        except ToolError:
            break
    call("issue_refund", order_id=order, amount_cents=left)
    return True""",
                ALL_REFUNDS,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    left = call("read", table="orders", id=order)["total_cents"]
    while left > 0:
        try:
            call("issue_refund", order_id=order, amount_cents=left)
            return True
        except ToolError:
            left -= 100
    return False""",
                PROBES,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    total = call("read", table="orders", id=order)["total_cents"]
    try:
        call("issue_refund", order_id=order, amount_cents=total)
    except ToolError:
        call("edit_record", table="refunds", id=1, column="amount_cents", value=total)
    return True""",
                FORBIDDEN,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    total = call("read", table="orders", id=order)["total_cents"]
    try:
        call("issue_refund", order_id=order, amount_cents=total)
    except ToolError as refusal:
        left = int(re.search(r"(\\d+) of its", str(refusal))[1])
        call("issue_refund", order_id=order, amount_cents=left)""",
                PROTOCOL,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    paid_back = call("read", table="refunds", id=order)
    return True""",
                NOTHING,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    call("issue_refund", order_id=order, amount_cents=1)
    return True""",
                NOT_REFUNDED,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    total = call("read", table="orders", id=order)["total_cents"]
    try:
        call("issue_refund", order_id=order, amount_cents=total)
    except ToolError as refusal:
        left = int(re.search(r"(\\d+)", str(refusal))[1])
        call("issue_refund", order_id=order, amount_cents=left)
    return True""",
                SECOND,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    owner = call("read", table="orders", id=order)["customer_id"]
    call("add_note", customer_id=owner, text="Refunding the rest.")
    try:
        call("issue_refund", order_id=order, amount_cents=1_000_000)
    except ToolError as refusal:
        left = int(re.search(r"(\\d+) of its", str(refusal))[1])
        call("issue_refund", order_id=order, amount_cents=left)
    return True""",
                MORE,
            ),
            Wrong(
                """\
def refund_the_rest(call, instruction, rng):
    order = re.search(r"W\\d+", instruction)[0]
    total = call("read", table="orders", id=order)["total_cents"]
    try:
        call("issue_refund", order_id=order, amount_cents=total)
        return True
    except ToolError as refusal:
        left = int(re.search(r"(\\d+) of its", str(refusal))[1])
        call("issue_refund", order_id=order, amount_cents=left)
        return False""",
                UNSURE,
            ),
        ),
        check=check_a,
        given=GIVEN,
    ),
    Exercise(
        id="13.b",
        title="Not twice",
        minutes=15,
        difficulty=2,
        prompt="""
A process rule of your own: *a call that was refused is not made again unchanged*. Write
`tried_again(trajectory)`, which returns the list of the indices (from 0) of the actions that break it.
An action has `tool`, `arguments` and `error`, which is None unless it was refused. The repetition breaks
the rule whatever comes of it. Compare arguments with `same`, which the cell of the chapter does not
import: `from evalkit.values import same`.

`Rule("not twice", lambda t: [(i, "refused before") for i in tried_again(t)])` then makes it a rule.
""",
        answer="tried_again",
        stub="""\
def tried_again(trajectory):
    return ...""",
        hints=(
            "For each action, look at all that came before it.",
            "`any(a.error and a.tool == b.tool and same(a.arguments, b.arguments) for a in "
            "trajectory[:i])` says whether action `b`, at index `i`, was refused before.",
        ),
        solution="""\
def tried_again(trajectory):
    from evalkit.values import same

    def was_refused(b, earlier):
        return any(a.error and a.tool == b.tool and same(a.arguments, b.arguments) for a in earlier)

    return [i for i, b in enumerate(trajectory) if was_refused(b, trajectory[:i])]""",
        wrong=(
            Wrong(
                """\
def tried_again(trajectory):
    return [
        i for i, b in enumerate(trajectory)
        if any(a.error and a.tool == b.tool for a in trajectory[:i])
    ]""",
                TOOL_ONLY,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    return [
        i for i, b in enumerate(trajectory)
        if any((a.tool, a.arguments) == (b.tool, b.arguments) for a in trajectory[:i])
    ]""",
                KEPT_TOO,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    return [
        i + 1 for i, (a, b) in enumerate(zip(trajectory, trajectory[1:]))
        if a.error and (a.tool, a.arguments) == (b.tool, b.arguments)
    ]""",
                NEXT_ONLY,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    return [
        i for i, a in enumerate(trajectory)
        if a.error
        and any((a.tool, a.arguments) == (b.tool, b.arguments) for b in trajectory[i + 1 :])
    ]""",
                THE_FIRST,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    return [
        i for i, b in enumerate(trajectory)
        if b.error
        and any(
            a.error and (a.tool, a.arguments) == (b.tool, b.arguments) for a in trajectory[:i]
        )
    ]""",
                REFUSED_AGAIN,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    return [i for i, a in enumerate(trajectory) if a.error]""",
                EVERY_REFUSAL,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    return [
        i for i, b in enumerate(trajectory)
        if any(a.error and (a.tool, a.arguments) == (b.tool, b.arguments) for a in trajectory[:i])
    ]""",
                TRUE_IS_1,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    from evalkit.values import same

    return [
        i for i, b in enumerate(trajectory)
        if any(a.error and same(a.arguments, b.arguments) for a in trajectory[:i])
    ]""",
                ARGUMENTS_ONLY,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    from evalkit.values import same

    found = []
    for i, b in enumerate(trajectory):
        alike = [a for a in trajectory[:i] if a.tool == b.tool and same(a.arguments, b.arguments)]
        if alike and alike[-1].error:
            found.append(i)
    return found""",
                LATEST_ONLY,
            ),
            Wrong(
                """\
def tried_again(trajectory):
    return [1, 4, 7]""",
                NOT_THE_LIST,
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="13.c",
        title="Whose user?",
        minutes=5,
        difficulty=1,
        prompt="""
A real case (τ²-bench, [pull request 345](https://github.com/sierra-research/tau2-bench/pull/345), 2026).
An agent was submitted to a leaderboard with a pass^1 of 78.0 on the airline tasks. Its simulated user was
played by another, stronger model than that of the other entries. The maintainers ran the agent again
with the standard user: about 50. What belongs into the table?

- **A**: 78.0, with a footnote that names the user's model.
- **B**: 64, the mean of the two.
- **C**: The result with the standard user. The other one may stand elsewhere, under its own heading.
- **D**: Neither: the submission broke the rules.
""",
        answer="which_user",
        stub="which_user = ...",
        hints=(
            "Which of the numbers can be compared with the rows above and below it?",
            "Chapter 09: the simulated user is a part of the test.",
        ),
        solution='which_user = "C"',
        wrong=tuple(Wrong(f'which_user = "{key}"', text) for key, text in USERS.items()),
        check=check_c,
    ),
    Exercise(
        id="13.d",
        title="Fill in a checklist",
        minutes=10,
        difficulty=2,
        prompt="""
From the report of an evaluation:

> *Each task was run four times. We report pass^8, as the eighth power of pass^1. An episode that failed
> was run again, at most three times. The expected answers are in a folder beside the task; the prompt
> tells the agent not to open it. An agent that does nothing passes 11 of the 60 tasks.*

Fill in five lines of the checklist with `'met'`, `'not met'` or `'not stated'`:

- `trials`: at least as many trials as k;
- `infra`: infra failures are tagged, retried to a limit and reported;
- `reach`: the grader and the answers are out of the agent's reach;
- `user`: the user simulator is fixed and reported;
- `baselines`: trivial agents are scored.
""",
        answer="checklist",
        stub="""\
checklist = {
    "trials": ...,
    "infra": ...,
    "reach": ...,
    "user": ...,
    "baselines": ...,
}""",
        hints=(
            "A line is about what was done, and not about whether the result is good.",
            "Silence is neither yes nor no.",
        ),
        solution="""\
checklist = {
    "trials": "not met",
    "infra": "not met",
    "reach": "not met",
    "user": "not stated",
    "baselines": "met",
}""",
        wrong=(
            Wrong(_all_but("trials", "met"), LINES["trials"][1]),
            Wrong(_all_but("infra", "met"), LINES["infra"][1]),
            Wrong(_all_but("reach", "met"), LINES["reach"][1]),
            Wrong(_all_but("user", "not met"), LINES["user"][1]),
            Wrong(_all_but("baselines", "not met"), LINES["baselines"][1]),
        ),
        check=check_d,
    ),
)
