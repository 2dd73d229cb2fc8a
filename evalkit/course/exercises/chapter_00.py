"""Exercise of chapter 00: small, to learn how exercises work."""

from __future__ import annotations

from collections.abc import Callable

from evalkit.course.exercises import Exercise, Wrong

ALWAYS_TRUE = (
    "An agent that changed nothing at all also passes. Look at what the record holds, "
    "not only at what the agent says."
)
TRUSTS_THE_CLAIM = (
    "This passes an agent that says it is done while the order is still open. "
    "A claim is not evidence: look at the record."
)
PART_OF_THE_STATUS = (
    "This passes an order whose status is 'cancellation refused' or 'not cancelled'. "
    "Compare the whole status, not a part of it."
)
FAILS_THE_SILENT = (
    "This fails an agent that cancelled the order and did not say so. "
    "What it says does not decide: the record does."
)


def check_a(passed: Callable[[str, str], bool]) -> str | None:
    """Return what is wrong with a rule that should look at the record and not at the claim."""
    said_and_open = passed("The order is cancelled.", "open")
    silent_and_open = passed("", "shipped")
    silent_and_done = passed("", "cancelled")
    said_and_done = passed("Done!", "cancelled")
    if said_and_open and silent_and_open:
        return ALWAYS_TRUE
    if said_and_open:
        return TRUSTS_THE_CLAIM
    if any(passed("Done!", status) for status in ("cancellation refused", "not cancelled")):
        return PART_OF_THE_STATUS
    if not silent_and_done:
        return FAILS_THE_SILENT
    return None if said_and_done and not silent_and_open else "Try it on an order that was shipped."


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
                'def passed(said, status):\n    return said != "" and status == "cancelled"',
                FAILS_THE_SILENT,
            ),
        ),
        check=check_a,
    ),
)
