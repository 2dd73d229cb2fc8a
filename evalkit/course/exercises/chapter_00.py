"""Exercise of chapter 00: small, to learn how exercises work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evalkit.course.exercises import Exercise, Wrong

ALWAYS_TRUE = (
    "An agent that changed nothing at all also passes. Look at what the record holds, "
    "not only at what the agent says."
)
TRUSTS_THE_CLAIM = (
    "This passes an agent that says it is done while the order is still open. "
    "A claim is not evidence: look at the record."
)
ALMOST = ("cancellation refused", "not cancelled", "cancelled by mistake, open again", "cancel")
PART_OF_THE_STATUS = (
    "This passes an order whose status only resembles 'cancelled': "
    f"one of {', '.join(map(repr, ALMOST))}. Compare the whole status, not a part of it."
)
NOT_OPEN = (
    "This passes an order that was shipped. There is more than one status that is not open: ask "
    "which one it is."
)
FAILS_ALL = (
    "This fails an order that is cancelled, whatever the agent says. Does it look at `status`, and "
    "is the word spelt as in the prompt?"
)
A_BOOL = "Return `True` or `False`. A function that prints its result returns nothing."
FAILS_THE_SILENT = (
    "This fails an agent that cancelled the order and did not say so. "
    "What it says does not decide: the record does."
)


def check_a(passed: Callable[[str, str], Any]) -> str | None:
    """Return what is wrong with a rule that should look at the record and not at the claim."""
    said_and_open = passed("The order is cancelled.", "open")
    silent_and_open = passed("", "shipped")
    silent_and_done = passed("", "cancelled")
    said_and_done = passed("Done! The order is cancelled.", "cancelled")
    found = (said_and_open, silent_and_open, silent_and_done, said_and_done)
    if all(one is None for one in found) or not all(isinstance(x, bool | None) for x in found):
        return A_BOOL
    if said_and_open:
        return ALWAYS_TRUE if silent_and_open else TRUSTS_THE_CLAIM
    if silent_and_open:
        return NOT_OPEN
    if any(passed("The order is cancelled.", status) for status in ALMOST):
        return PART_OF_THE_STATUS
    if not said_and_done:
        return FAILS_ALL
    return None if silent_and_done else FAILS_THE_SILENT


EXERCISES = (
    Exercise(
        id="00.a",
        title="Whose word counts?",
        minutes=3,
        difficulty=1,
        prompt="""
An agent was asked to cancel an order. You have two pieces of text: what the agent `said` at the
end, and the `status` that the order now has in the shop's database. A cancelled order has the status
`"cancelled"`. Write `passed`, which returns `True` exactly when the job was done.
""",
        answer="passed",
        stub="""\
def passed(said, status):
    return ...""",
        hints=(
            "Which of the two would the customer look at?",
            "One comparison with `==` is enough, and one of the two arguments stays unused.",
        ),
        solution="""\
def passed(said, status):
    return status == "cancelled\"""",
        wrong=(
            Wrong("def passed(said, status):\n    return True", ALWAYS_TRUE),
            Wrong('def passed(said, status):\n    return "cancelled" in said', TRUSTS_THE_CLAIM),
            Wrong('def passed(said, status):\n    return "cancel" in status', PART_OF_THE_STATUS),
            Wrong(
                'def passed(said, status):\n    return "cancelled" in status', PART_OF_THE_STATUS
            ),
            Wrong(
                'def passed(said, status):\n    return status.startswith("cancelled")',
                PART_OF_THE_STATUS,
            ),
            Wrong(
                'def passed(said, status):\n    return status in "cancelled"', PART_OF_THE_STATUS
            ),
            Wrong('def passed(said, status):\n    return status != "open"', NOT_OPEN),
            Wrong('def passed(said, status):\n    return said == "cancelled"', FAILS_ALL),
            Wrong(
                'def passed(said, status):\n    return "cancelled" in said and status == "cancelled"',
                FAILS_THE_SILENT,
            ),
            Wrong('def passed(said, status):\n    return status == "Cancelled"', FAILS_ALL),
            Wrong('def passed(said, status):\n    print(status == "cancelled")', A_BOOL),
            Wrong(
                'def passed(said, status):\n    return "yes" if status == "cancelled" else "no"',
                A_BOOL,
            ),
            Wrong(
                'def passed(said, status):\n    return said != "" and status == "cancelled"',
                FAILS_THE_SILENT,
            ),
        ),
        check=check_a,
    ),
)
