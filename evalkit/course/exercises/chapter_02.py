"""Exercises of chapter 02: a confirmation, a real fault in comparing calls, rules, and a judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from evalkit.course.exercises import Exercise, Wrong
from evalkit.process import Action, Rule, process_verdict

A_LIST = "Return a list of indices: the places of the refunds in the trajectory, counted from 0."
NOT_FOUND = (
    "A refund that nobody confirmed is not in your list by its place. The first action of a "
    "trajectory has the place 0."
)
EACH = "Two unconfirmed refunds may be alike to the letter. Report both, each by its own place."
USED_UP = (
    "You report a second refund of the same. It was confirmed before, and the prompt does not say "
    "that a confirmation is used up. A rule of its own can: `at_most`."
)
ALL_FOUND = "You report a refund that was confirmed. A kept rule has no violation."
ANY_ORDER = "A confirmation of one order is none of another. Compare `order_id`."
ANY_AMOUNT = "The order fits and the amount does not: she agreed to another sum. Compare it too."
TOO_LATE = "A confirmation that comes after the refund is no confirmation. Look at what was before."
REFUSED = "A confirmation that failed with an error is none. An action's `error` is None if it ran."
TRIED = "A refund that was refused was tried all the same, and unconfirmed. Report it too."
NOT_THE_LAST = "The confirmation need not be the action right before it. Anything may lie between."


def _ask(order_id: str, cents: int, error: str | None = None) -> Action:
    arguments = {"order_id": order_id, "amount_cents": cents}
    return Action("confirm", arguments, None if error else "yes", error)


def _pay(order_id: str, cents: int, error: str | None = None) -> Action:
    return Action("issue_refund", {"order_id": order_id, "amount_cents": cents}, None, error)


_LOOK = Action("read", {"table": "orders", "id": "W7"})
# A trajectory, the refunds in it that nobody confirmed, and what it shows if they are not found.
CONFIRMATIONS: tuple[tuple[list[Action], list[int], str], ...] = (
    ([_LOOK, _pay("W7", 900)], [1], NOT_FOUND),
    ([_ask("W7", 900), _pay("W7", 900)], [], ALL_FOUND),
    ([_ask("W7", 900), _LOOK, _pay("W7", 900)], [], NOT_THE_LAST),
    ([_LOOK, _pay("W7", 900), _ask("W7", 900)], [1], TOO_LATE),
    ([_ask("W8", 900), _pay("W7", 900)], [1], ANY_ORDER),
    ([_ask("W7", 90), _LOOK, _pay("W7", 900)], [2], ANY_AMOUNT),
    ([_ask("W7", 1000), _LOOK, _pay("W7", 900)], [2], ANY_AMOUNT),
    ([_ask("W7", 900, "no answer"), _pay("W7", 900)], [1], REFUSED),
    ([_pay("W7", 900, "0 cents are left"), _LOOK], [0], TRIED),
    ([_pay("W7", 900), _LOOK, _pay("W7", 900)], [0, 2], EACH),
    ([_ask("W7", 5), _ask("W8", 6), _pay("W7", 5), _pay("W8", 6)], [], NOT_THE_LAST),
    ([_ask("W7", 5), _pay("W7", 5), _pay("W7", 5)], [], USED_UP),
    ([_pay("W7", 5), _ask("W8", 6), _pay("W8", 6), _pay("W8", 7)], [0, 3], ANY_AMOUNT),
)


def check_a(unconfirmed: Callable[[Sequence[Action]], Any]) -> str | None:
    """What kind of confirmation is taken for one that it is not, if any."""
    for trajectory, right, message in CONFIRMATIONS:
        found = unconfirmed(list(trajectory))
        if not isinstance(found, list | tuple):
            return A_LIST
        if list(found) != right:
            return message
    return None


OWN_KEYS = (
    "A call that leaves out a required argument matches. This is the fault itself: only the "
    "arguments that the agent sent are looked at."
)
EXTRA_KEYS = "A call with a further argument matches. It may change what the tool does."
TRUE_ONE = "`True` is taken for 1. Python's `==` does so, and for arguments that is wrong."
NO_TOOL = "The tool is not compared: to read a record is not to delete it."
SAME_ORDER = "The order in which arguments are written makes no difference to a call."
TOO_STRICT = "A call that is the same in all respects does not match."
VALUES = "A call with the same arguments and other values matches."
NAMES = "The same values under other names match. Compare which argument holds which value."
A_TEXT = "The text `'1'` is taken for the number 1. As stored values they differ."
LEFT_OUT = (
    "An argument that was left out is taken for one that is None. They are not the same call, and "
    "`.get` cannot tell them apart."
)
WHAT_CAME = "The call is the same, and does not match: what it returned is no part of the call."
TRUTH = "Return `True` or `False`."
NESTED = "Values can be lists: there, too, a number is not a truth value."

_CANCEL = Action("cancel", {"order_id": "W1", "reason": "moved"})
CALLS: tuple[tuple[Action, Action, bool, str], ...] = (
    (_CANCEL, Action("cancel", {"order_id": "W1", "reason": "moved"}), True, TOO_STRICT),
    (_CANCEL, Action("cancel", {"reason": "moved", "order_id": "W1"}), True, SAME_ORDER),
    (_CANCEL, Action("cancel", {"order_id": "W1"}), False, OWN_KEYS),
    (_CANCEL, Action("cancel", {}), False, OWN_KEYS),
    (
        _CANCEL,
        Action("cancel", {"order_id": "W1", "reason": "moved", "all": True}),
        False,
        EXTRA_KEYS,
    ),
    (_CANCEL, Action("delete", {"order_id": "W1", "reason": "moved"}), False, NO_TOOL),
    (Action("book", {"bags": 1}), Action("book", {"bags": 2}), False, VALUES),
    (Action("book", {"bags": 1}), Action("book", {"bags": True}), False, TRUE_ONE),
    (Action("book", {"bags": [0]}), Action("book", {"bags": [False]}), False, NESTED),
    (_CANCEL, Action("cancel", {"order_id": "moved", "reason": "W1"}), False, NAMES),
    (Action("book", {"bags": 1}), Action("book", {"bags": "1"}), False, A_TEXT),
    (Action("book", {"seat": None}), Action("book", {"meal": None}), False, LEFT_OUT),
    (Action("book", {"bags": 1}), Action("book", {"bags": 1}, "booked"), True, WHAT_CAME),
)


def check_b(same_call: Callable[[Action, Action], Any]) -> str | None:
    """Which difference between two calls is overlooked, if any."""
    for expected, made, right, message in CALLS:
        found = same_call(expected, made)
        if not isinstance(found, bool | None):
            return TRUTH
        if bool(found) != right:
            return message
    return None


RULES = "Give a list of rules, such as `[never('delete_visit')]`."
GOOD_WAY = (
    "An agent that does it properly, in an order of its own, fails. Which rule is too narrow?"
)
BUDGET = "An agent that looks twice fails. Nobody asked for few steps."
DELETED = "An agent that deletes a visit passes."
UNASKED = "An agent that moves a visit without asking the patient passes."
WRONG_VISIT = (
    "An agent that asks about one visit and moves another passes. In what must the question and "
    "the move agree?"
)
WRONG_HOUR = (
    "An agent that asks about one hour and moves the visit to another passes. In what must the "
    "question and the move agree?"
)
SICK_NOTE = "An agent that copies the word diagnosis into a message passes."
APART = (
    "An agent asks about this visit at another hour, and about another visit at this hour. It has "
    "asked about neither, and passes. One question must agree in all."
)
SICK_FILE = (
    "An agent that writes the word into the patient's file fails. The file may hold it; a message "
    "may not."
)


def _move(visit: int, hour: int) -> list[Action]:
    arguments = {"visit": visit, "hour": hour}
    return [Action("ask_patient", arguments, "yes"), Action("move_visit", arguments)]


def _message(text: str) -> Action:
    return Action("send_message", {"text": text})


_SEE = Action("read_visit", {"visit": 3}, "diagnosis: none")
_FILE = Action("add_to_file", {"text": "diagnosis unchanged"})
VISITS: tuple[tuple[list[Action], bool, str], ...] = (
    ([_SEE, *_move(3, 14), _message("See you at 14.")], True, GOOD_WAY),
    ([*_move(3, 15), *_move(4, 9)], True, GOOD_WAY),
    ([*[_SEE] * 40, *_move(3, 14)], True, BUDGET),
    ([_SEE, _FILE, *_move(3, 14)], True, SICK_FILE),
    ([*_move(3, 14), Action("delete_visit", {"visit": 4})], False, DELETED),
    ([_move(3, 14)[1]], False, UNASKED),
    ([_move(3, 14)[0], _move(4, 14)[1]], False, WRONG_VISIT),
    ([_move(3, 14)[0], _move(3, 16)[1]], False, WRONG_HOUR),
    ([_move(3, 16)[0], _move(4, 14)[0], _move(3, 14)[1]], False, APART),
    ([*_move(3, 14), _message("About your diagnosis")], False, SICK_NOTE),
    ([*_move(3, 14), _message("The diagnosis is in.")], False, SICK_NOTE),
)


def check_c(rules: Any) -> str | None:
    """Which agent a list of rules judges wrongly, if any."""
    if not isinstance(rules, list | tuple) or not all(isinstance(rule, Rule) for rule in rules):
        return RULES
    for trajectory, good, message in VISITS:
        if (process_verdict(trajectory, rules).status != "fail") != good:
            return message
    return None


PLACES = {
    "the new address is stored": (
        "outcome",
        "The address stands in the end state. A rule that demands one call for it fails an agent "
        "that gets there by another.",
    ),
    "the patient agreed before the move": (
        "trajectory",
        "The end state is the same with and without her agreement. Only the order of the actions "
        "shows it.",
    ),
    "no other visit was moved": (
        "outcome",
        "What was changed elsewhere stands in the end state, whatever way it came there. You "
        "cannot list all calls that might do it.",
    ),
    "no file of a stranger was opened": (
        "trajectory",
        "Reading changes nothing, so no two states differ.",
    ),
    "the fee was charged once, and never taken back and charged again": (
        "trajectory",
        "One line of the fee is left in the end, however often it was charged and taken back.",
    ),
    "no log line is missing": (
        "outcome",
        "The log is a part of the state: compare it before and after.",
    ),
}


def check_d(answer: Any) -> str | None:
    """Which requirement stands in the wrong place, if any."""
    if not isinstance(answer, dict) or set(answer) != set(PLACES):
        return "Keep the six requirements as they stand, and give each one word."
    for requirement, (right, message) in PLACES.items():
        word = str(answer[requirement]).strip().lower()
        if word not in ("outcome", "trajectory"):
            return "Write `'outcome'` or `'trajectory'` beside each."
        if word != right:
            return f"{requirement.capitalize()}: {message}"
    return None


REPAIRS = {
    "A": (
        "Then each further look that a careful agent might take has to be foreseen. The next one "
        "fails again: this is a reference trajectory by the back door."
    ),
    "B": (
        "Then an agent that deletes or rewrites old lines of the log passes, and nobody can say "
        "afterwards what was read."
    ),
    "C": (
        "Then damage in any table that the task does not mention passes. The mistake was one "
        "table; this gives up all of them."
    ),
}


def check_e(answer: Any) -> str | None:
    """The repair that forgives the look and nothing else."""
    letter = str(answer).strip().upper()
    if letter == "D":
        return None
    return REPAIRS.get(letter, "Answer with one letter, such as `'A'`.")


JUST_READ = "This is the rate that the judge gives. It passes some failures and fails some passes."
ONLY_MISSED = (
    "You made up for the passes that the judge misses. It also passes failures, and those are "
    "still in your number."
)
ONLY_FALSE = (
    "You took all failures for passed at the same rate, whatever their share. But only what is no "
    "pass can be passed wrongly, and that share is what we look for."
)
FORWARD = (
    "This goes from the true rate to the judge's. Here the judge's is known: solve for the other."
)
SWAPPED = "You took specificity for sensitivity. Which of them is about true passes?"
NOT_CLIPPED = (
    "A rate lies between 0 and 1. With a judge's share that chance made too small or too large, "
    "yours does not."
)
A_SHARE = "Return a share from 0 to 1, and no percentage."
CHANCE_OF_A_PASS = (
    "This is how many of the episodes that the judge passes are true passes, if `p` were the true "
    "rate. What is asked is the share of true passes among all."
)
NEAR = "Near, and not the rate itself. Do not round or search in steps: solve for it."
PUT_IN = (
    "Put your rate back: sensitivity times it, plus the false passes among the rest, should give "
    "the judge's share, and it does not."
)


def check_f(true_rate: Callable[[float, float, float], Any]) -> str | None:
    """Whether a judge's share is corrected for both of its errors."""
    for p, sens, spec in ((0.5, 0.9, 0.7), (0.62, 0.8, 0.9), (0.33, 0.7, 0.8)):
        found, right = float(true_rate(p, sens, spec)), (p + spec - 1) / (sens + spec - 1)
        if math.isclose(found, right, abs_tol=1e-6):
            continue
        known = {
            JUST_READ: p,
            ONLY_MISSED: p / sens,
            ONLY_FALSE: (p - (1 - spec)) / sens,
            FORWARD: sens * p + (1 - spec) * (1 - p),
            SWAPPED: (p + sens - 1) / (sens + spec - 1),
            CHANCE_OF_A_PASS: sens * p / (sens * p + (1 - spec) * (1 - p)),
            A_SHARE: 100 * right,
        }
        for message, value in known.items():
            if math.isclose(found, value, abs_tol=1e-9):
                return message
        return NEAR if abs(found - right) < 0.006 else PUT_IN
    if float(true_rate(0.1, 0.9, 0.8)) != 0 or float(true_rate(0.95, 0.9, 0.8)) != 1:
        return NOT_CLIPPED
    return None


EXERCISES = (
    Exercise(
        id="02.a",
        title="Was it confirmed?",
        minutes=10,
        difficulty=2,
        prompt="""
Write `unconfirmed`. It takes a trajectory and returns the indices of the refunds that nobody
confirmed before. Each action has `tool`, `arguments` and `error`. A refund is a call of
`issue_refund`, carried out or not. It is confirmed if a `confirm` came before it that ran without
an error and has the same arguments (`order_id`, `amount_cents`).

Write it by hand this time, without `in_order`.
""",
        answer="unconfirmed",
        stub="""\
def unconfirmed(trajectory):
    return ...""",
        hints=(
            "For one refund at index `i`, the actions before it are `trajectory[:i]`.",
            "A list comprehension over `enumerate(trajectory)` keeps the index. For each refund "
            "ask `any(...)` of the actions before it: tool, arguments and error.",
        ),
        solution="""\
def unconfirmed(trajectory):
    found = []
    for i, action in enumerate(trajectory):
        asked = [a.arguments for a in trajectory[:i] if a.tool == "confirm" and a.error is None]
        if action.tool == "issue_refund" and action.arguments not in asked:
            found.append(i)
    return found""",
        wrong=(
            Wrong(
                """\
def unconfirmed(trajectory):
    found, most = [], {}
    for i, a in enumerate(trajectory):
        if a.tool == "confirm" and a.error is None:
            most[a.arguments["order_id"]] = a.arguments["amount_cents"]
        if a.tool == "issue_refund":
            if a.arguments["amount_cents"] > most.get(a.arguments["order_id"], -1):
                found.append(i)
    return found""",
                ANY_AMOUNT,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], []
    for i, a in enumerate(trajectory):
        if a.tool == "confirm" and a.error is None:
            asked.append(a.arguments)
        if a.tool == "issue_refund":
            if a.arguments in asked:
                asked.remove(a.arguments)
            else:
                found.append(i)
    return found""",
                USED_UP,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], []
    for i, a in enumerate(trajectory):
        if a.tool == "confirm" and a.error is None:
            asked.append(a.arguments)
        if a.tool == "issue_refund" and a.arguments not in asked[-1:]:
            found.append(i)
    return found""",
                NOT_THE_LAST,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], []
    for i, a in enumerate(trajectory):
        if a.tool == "confirm" and a.error is None:
            asked.append(a.arguments)
        if a.tool == "issue_refund" and a.arguments not in asked:
            found.append(trajectory.index(a))
    return found""",
                EACH,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], []
    for i, a in enumerate(trajectory):
        if a.tool == "confirm" and a.error is None:
            asked.append(a.arguments)
        if a.tool == "issue_refund" and a.arguments not in asked:
            return [i]
    return found""",
                EACH,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], []
    for i, a in enumerate(trajectory):
        if a.tool == "confirm" and a.error is None:
            asked.append(a.arguments)
        if a.tool == "issue_refund" and a.arguments not in asked:
            found.append(i + 1)
    return found""",
                NOT_FOUND,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    asked = [a.arguments for a in trajectory if a.tool == "confirm" and a.error is None]
    return [
        i
        for i, a in enumerate(trajectory)
        if a.tool == "issue_refund" and a.arguments not in asked
    ]""",
                TOO_LATE,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], False
    for i, a in enumerate(trajectory):
        asked = asked or (a.tool == "confirm" and a.error is None)
        if a.tool == "issue_refund" and not asked:
            found.append(i)
    return found""",
                ANY_ORDER,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], set()
    for i, a in enumerate(trajectory):
        if a.tool == "confirm" and a.error is None:
            asked.add(a.arguments["order_id"])
        if a.tool == "issue_refund" and a.arguments["order_id"] not in asked:
            found.append(i)
    return found""",
                ANY_AMOUNT,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], []
    for i, a in enumerate(trajectory):
        if a.tool == "confirm":
            asked.append(a.arguments)
        if a.tool == "issue_refund" and a.arguments not in asked:
            found.append(i)
    return found""",
                REFUSED,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found, asked = [], []
    for i, a in enumerate(trajectory):
        if a.error is not None:
            continue
        if a.tool == "confirm":
            asked.append(a.arguments)
        if a.tool == "issue_refund" and a.arguments not in asked:
            found.append(i)
    return found""",
                TRIED,
            ),
            Wrong(
                """\
def unconfirmed(trajectory):
    found = []
    for i, a in enumerate(trajectory):
        if a.tool == "issue_refund":
            last = trajectory[i - 1] if i else None
            if not last or last.tool != "confirm" or last.arguments != a.arguments or last.error:
                found.append(i)
    return found""",
                NOT_THE_LAST,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="02.b",
        title="A real fault: the argument that was left out",
        minutes=8,
        difficulty=2,
        prompt="""
A public benchmark can match the calls that an agent made with those of a reference. Unless a task
says which arguments to compare, its
[comparison](https://github.com/sierra-research/tau2-bench/blob/main/src/tau2/data_model/tasks.py)
looks at the arguments that the *agent* sent, and finds them in the reference. An agent that sends
none of them matches every time.

Write `same_call`: whether a call made is the call expected. The tool and all arguments must agree,
none may be lacking or added, and `True` is not 1. Both are an `Action`.
""",
        answer="same_call",
        given="from evalkit.values import same",
        stub="""\
def same_call(expected, made):
    return ...""",
        hints=(
            "Whose arguments do you walk through? Each side can have one that the other lacks.",
            "`same(a, b)`, from `evalkit.values`, compares two values as they are stored, type "
            "included and at any depth. A dictionary is a value too: `dict(made.arguments)`.",
        ),
        solution="""\
from evalkit.values import same


def same_call(expected, made):
    equal = same(dict(expected.arguments), dict(made.arguments))
    return expected.tool == made.tool and equal""",
        wrong=(
            Wrong(
                """\
def same_call(expected, made):
    return expected.tool == made.tool and set(expected.arguments) == set(made.arguments)""",
                VALUES,
            ),
            Wrong(
                """\
def same_call(expected, made):
    return 'yes' if expected.tool == made.tool else 'no'""",
                TRUTH,
            ),
            Wrong(
                """\
def same_call(expected, made):
    return (
        expected.tool == made.tool
        and same(dict(expected.arguments), dict(made.arguments))
        and expected.result == made.result
    )""",
                WHAT_CAME,
            ),
            Wrong(
                """\
def same_call(expected, made):
    a, b = expected.arguments, made.arguments
    both = {*a, *b}
    return expected.tool == made.tool and all(same(a.get(k), b.get(k)) for k in both)""",
                LEFT_OUT,
            ),
            Wrong(
                """\
def same_call(expected, made):
    texts = [sorted((k, str(v)) for k, v in x.arguments.items()) for x in (expected, made)]
    return expected.tool == made.tool and texts[0] == texts[1]""",
                A_TEXT,
            ),
            Wrong(
                """\
def same_call(expected, made):
    a, b = expected.arguments, made.arguments
    return expected.tool == made.tool and sorted(map(repr, a.values())) == sorted(
        map(repr, b.values())
    )""",
                NAMES,
            ),
            Wrong(
                """\
def same_call(expected, made):
    sent = made.arguments.items()
    return made.tool == expected.tool and all(
        k in expected.arguments and same(v, expected.arguments[k]) for k, v in sent
    )""",
                OWN_KEYS,
            ),
            Wrong(
                """\
def same_call(expected, made):
    wanted = expected.arguments.items()
    return made.tool == expected.tool and all(
        k in made.arguments and same(v, made.arguments[k]) for k, v in wanted
    )""",
                EXTRA_KEYS,
            ),
            Wrong(
                """\
def same_call(expected, made):
    return expected.tool == made.tool and expected.arguments == made.arguments""",
                TRUE_ONE,
            ),
            Wrong(
                """\
def same_call(expected, made):
    return same(dict(expected.arguments), dict(made.arguments))""",
                NO_TOOL,
            ),
            Wrong(
                """\
def same_call(expected, made):
    return str(expected) == str(made)""",
                SAME_ORDER,
            ),
            Wrong(
                """\
def same_call(expected, made):
    return expected is made""",
                TOO_STRICT,
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="02.c",
        title="State the rules",
        minutes=10,
        difficulty=2,
        prompt="""
In a clinic an agent moves visits. Its tools are `read_visit(visit)`, `ask_patient(visit, hour)`,
`move_visit(visit, hour)`, `add_to_file(text)`, `send_message(text)` and `delete_visit(visit)`.

- No visit is ever deleted.
- The patient is asked before a visit is moved: about this visit, and this hour.
- No message holds the word `diagnosis`. The patient's file may.

State this as a list of rules, and nothing more. An agent that does it in an order of its own, or
looks twice, should pass.
""",
        answer="clinic_rules",
        given="from evalkit.process import at_most, in_order, never, no_argument, only, step_budget",
        stub="clinic_rules = ...",
        hints=(
            "Three sentences, three rules: `never`, `in_order`, `no_argument`.",
            "`in_order` takes `matching=[...]`, the arguments in which question and move agree. "
            "`no_argument` takes a second argument: the tool that is looked at.",
        ),
        solution="""\
clinic_rules = [
    never("delete_visit"),
    in_order("ask_patient", "move_visit", matching=["visit", "hour"]),
    no_argument("diagnosis", "send_message"),
]""",
        wrong=(
            Wrong(
                """\
clinic_rules = [
    never("delete_visit"),
    in_order("ask_patient", "move_visit", matching=["visit", "hour"]),
    no_argument("diagnosis", "send_message"),
    at_most("read_visit", 10),
]""",
                BUDGET,
            ),
            Wrong(
                """\
clinic_rules = [
    never("delete_visit"),
    in_order("ask_patient", "move_visit", matching=["visit", "hour"]),
    no_argument("your diagnosis", "send_message"),
]""",
                SICK_NOTE,
            ),
            Wrong(
                """\
clinic_rules = [
    never("delete_visit"),
    in_order("ask_patient", "move_visit", matching=["visit"]),
    in_order("ask_patient", "move_visit", matching=["hour"]),
    no_argument("diagnosis", "send_message"),
]""",
                APART,
            ),
            Wrong(
                """\
clinic_rules = [
    in_order("ask_patient", "move_visit", matching=["visit", "hour"]),
    no_argument("diagnosis", "send_message"),
]""",
                DELETED,
            ),
            Wrong(
                """\
clinic_rules = [
    never("delete_visit"),
    in_order("ask_patient", "move_visit"),
    no_argument("diagnosis", "send_message"),
]""",
                WRONG_VISIT,
            ),
            Wrong(
                """\
clinic_rules = [
    never("delete_visit"),
    in_order("ask_patient", "move_visit", matching=["visit"]),
    no_argument("diagnosis", "send_message"),
]""",
                WRONG_HOUR,
            ),
            Wrong(
                """\
clinic_rules = [
    never("delete_visit"),
    in_order("ask_patient", "move_visit", matching=["visit", "hour"]),
    no_argument("diagnosis"),
]""",
                SICK_FILE,
            ),
            Wrong(
                """\
clinic_rules = [
    never("delete_visit"),
    in_order("read_visit", "ask_patient", "move_visit"),
    no_argument("diagnosis", "send_message"),
]""",
                GOOD_WAY,
            ),
            Wrong(
                """\
clinic_rules = [
    never("delete_visit"),
    in_order("ask_patient", "move_visit", matching=["visit", "hour"]),
    no_argument("diagnosis", "send_message"),
    step_budget(4),
]""",
                BUDGET,
            ),
        ),
        check=check_c,
    ),
    Exercise(
        id="02.d",
        title="Outcome or trajectory?",
        minutes=6,
        difficulty=1,
        prompt="""
Six requirements on the clinic's agent. Which belong in a check of the end state (the whole of it,
before and after), and which does only a rule on the trajectory see? Where the end state can decide,
let it. Write `"outcome"` or `"trajectory"`.
""",
        answer="places",
        stub="""\
places = {
    "the new address is stored": ...,
    "the patient agreed before the move": ...,
    "no other visit was moved": ...,
    "no file of a stranger was opened": ...,
    "the fee was charged once, and never taken back and charged again": ...,
    "no log line is missing": ...,
}""",
        hints=(
            "Think of two agents, one that keeps the requirement and one that breaks it. Can their "
            "end states be the same?",
            "If they can, no check of the end state tells them apart.",
        ),
        solution="""\
places = {
    "the new address is stored": "outcome",
    "the patient agreed before the move": "trajectory",
    "no other visit was moved": "outcome",
    "no file of a stranger was opened": "trajectory",
    "the fee was charged once, and never taken back and charged again": "trajectory",
    "no log line is missing": "outcome",
}""",
        wrong=tuple(
            Wrong(
                "places = "
                + repr(
                    {
                        name: right
                        if name != flipped
                        else ("trajectory" if right == "outcome" else "outcome")
                        for name, (right, _) in PLACES.items()
                    }
                ),
                f"{flipped.capitalize()}: {PLACES[flipped][1]}",
            )
            for flipped in PLACES
        ),
        check=check_d,
    ),
    Exercise(
        id="02.e",
        title="A real fault: the look that cost the reward",
        minutes=6,
        difficulty=2,
        prompt="""
In a public benchmark, tools that only read wrote a line into a log table, and the log was a part of
the database that is compared with the goal. An agent that looked once more than the reference, to be
sure, lost its whole reward ([report](https://github.com/sierra-research/tau2-bench/pull/329)).

What is the right repair?

- `"A"`: add the further look to the reference, and with it its line to the goal.
- `"B"`: leave the log table out of the comparison.
- `"C"`: compare only the rows that the task requires.
- `"D"`: allow the log to gain lines and nothing else; if some reads are forbidden, say which in a rule.
""",
        answer="prudent_look",
        stub="prudent_look = ...",
        hints=(
            "Ask of each repair: which bad agent does it pass, and which good agent does it fail?",
            "Think of three agents. One looks at another record of the same customer. One empties "
            "the log. One cancels somebody else's order.",
        ),
        solution='prudent_look = "D"',
        wrong=(
            Wrong('prudent_look = "A"', REPAIRS["A"]),
            Wrong('prudent_look = "B"', REPAIRS["B"]),
            Wrong('prudent_look = "C"', REPAIRS["C"]),
        ),
        check=check_e,
    ),
    Exercise(
        id="02.f",
        title="The rate behind the judge's",
        minutes=10,
        difficulty=3,
        prompt="""
A judge passes a share `p` of the episodes. Of the true passes it passes a share `sensitivity`; of
the true failures it fails a share `specificity`. Write `true_rate`: the share of true passes. Chance
can push `p` so far that the formula leaves the range; then return 0 or 1.
""",
        answer="true_rate",
        stub="""\
def true_rate(p, sensitivity, specificity):
    return ...""",
        hints=(
            "Write down what the judge passes if the true rate is x: a part of the true passes, and "
            "a part of the rest.",
            "`p = sensitivity * x + (1 - specificity) * (1 - x)`. Solve for x. `min` and `max` keep "
            "it in its range.",
        ),
        solution="""\
def true_rate(p, sensitivity, specificity):
    x = (p + specificity - 1) / (sensitivity + specificity - 1)
    return min(max(x, 0), 1)""",
        wrong=(
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    x = (p + specificity - 1) / (sensitivity + specificity - 1)
    return round(min(max(x, 0), 1), 2)""",
                NEAR,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    passed = p * sensitivity
    return passed / (passed + (1 - p) * (1 - specificity))""",
                CHANCE_OF_A_PASS,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    return 100 * (p + specificity - 1) / (sensitivity + specificity - 1)""",
                A_SHARE,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    return p""",
                JUST_READ,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    return min(p / sensitivity, 1)""",
                ONLY_MISSED,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    return max((p - (1 - specificity)) / sensitivity, 0)""",
                ONLY_FALSE,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    return sensitivity * p + (1 - specificity) * (1 - p)""",
                FORWARD,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    return (p + sensitivity - 1) / (sensitivity + specificity - 1)""",
                SWAPPED,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    return (p + specificity - 1) / (sensitivity + specificity - 1)""",
                NOT_CLIPPED,
            ),
            Wrong(
                """\
def true_rate(p, sensitivity, specificity):
    return p * sensitivity + (1 - p) * specificity""",
                PUT_IN,
            ),
        ),
        check=check_f,
    ),
)
