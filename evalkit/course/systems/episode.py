"""One episode of ours in four versions, for every grader of `evalkit.course.systems` to judge.

The request is the scenario's, and asks for an answer besides. Four scripted agents take it on. All
four are played on the same store, from the same start, by the same tools.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from evalkit.process import Action
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import Call, ToolError, World
from evalkit.snapshots import snapshot
from evalkit.statediff import State

REQUEST = f"{CUSTOMER_OPERATIONS.instruction} Answer with the sum that you have refunded."
ANSWER = "$42.50"
SEED = 4  # decides the crowd of customers around those whom the task names

_SEARCH, _CUSTOMER, _ORDER = CUSTOMER_OPERATIONS.lookups
_ADDRESS, _CANCEL, _REFUND, _NOTE = GOLD = tuple(edit.right for edit in CUSTOMER_OPERATIONS.edits)
_STRAYS = {stray.label: stray.call for stray in CUSTOMER_OPERATIONS.strays}
_OTHER_ORDER = _STRAYS["another order's status"]
_OTHER_NOTE = _STRAYS["a note on the wrong customer"]
_TAKEN_BACK = Call("delete_record", table="notes", id=4)

#: What each agent calls. Collateral looks up less, and cancels another customer's order too.
#: Undone writes the note to the wrong customer first, and deletes it.
SCRIPTS: dict[str, tuple[Call, ...]] = {
    "good": (_SEARCH, _CUSTOMER, _ORDER, _ADDRESS, _CANCEL, _REFUND, _NOTE),
    "collateral": (_SEARCH, _ADDRESS, _OTHER_ORDER, _CANCEL, _REFUND, _NOTE),
    "unfinished": (_SEARCH, _CUSTOMER, _ORDER, _ADDRESS, _CANCEL, _REFUND),
    "undone": (
        *(_SEARCH, _CUSTOMER, _ORDER, _ADDRESS, _CANCEL, _REFUND),
        *(_OTHER_NOTE, _TAKEN_BACK, _NOTE),
    ),
}

#: The parts of the request, for those that give points for each.
PARTS: dict[str, Callable[[State], bool]] = {
    "address": lambda s: _field(s, "customers", "C3", "address") == _ADDRESS.arguments["address"],
    "cancel": lambda s: _field(s, "orders", "W1001", "status") == "cancelled",
    "refund": lambda s: _has_row(s["refunds"], _REFUND),
    "note": lambda s: _has_row(s["notes"], _NOTE),
}


def _field(state: State, table: str, key: str, column: str) -> Any:
    return state[table].get(key, {}).get(column)  # the agent can have deleted the row


def _has_row(table: Mapping[Any, Mapping[str, Any]], call: Call) -> bool:
    return any(call.arguments.items() <= row.items() for row in table.values())


@dataclass(frozen=True)
class Played:
    """An episode as it was played.

    Attributes
    ----------
    name : str
        Of the agent.
    calls : tuple of Call
        What it was going to call.
    states : tuple of dict
        The state at the start, and after each call.
    trajectory : tuple of Action
        The calls as they went.
    answer : str
        What the agent said at the end.
    """

    name: str
    calls: tuple[Call, ...]
    states: tuple[State, ...]
    trajectory: tuple[Action, ...]
    answer: str

    @property
    def before(self) -> State:
        """The state at the start."""
        return self.states[0]

    @property
    def after(self) -> State:
        """The state at the end."""
        return self.states[-1]


def play_calls(calls: Sequence[Call], name: str, answer: str = ANSWER) -> Played:
    """An episode of an agent that makes these calls, on a fresh store.

    Parameters
    ----------
    calls : sequence of Call
        What it calls. It carries on after a refusal.
    name : str
        What the episode is called.
    answer : str
        What it says at the end.

    Returns
    -------
    Played

    Examples
    --------
    >>> nothing = play_calls((), "nothing", answer="")
    >>> nothing.before == nothing.after
    True
    """
    with World(CUSTOMER_OPERATIONS, seed=SEED) as world:
        states = [snapshot(world.connection)]
        for call in calls:
            act((call,), world.call)
            states.append(snapshot(world.connection))
        return Played(name, tuple(calls), tuple(states), world.trajectory, answer)


def act(calls: Sequence[Call], call: Callable[..., Any]) -> None:
    """Make the calls, one after another, through the `call` of a world or of a service."""
    for each in calls:
        with suppress(ToolError):  # it stands in the trajectory
            call(each.tool, **each.arguments)


def played(name: str) -> Played:
    """The episode of one of the four agents.

    Parameters
    ----------
    name : {"good", "collateral", "unfinished", "undone"}
        Which agent.

    Raises
    ------
    ValueError
        If there is no such agent.

    Examples
    --------
    >>> [action.tool for action in played("collateral").trajectory]
    ['search', 'update_address', 'cancel_order', 'cancel_order', 'issue_refund', 'add_note']
    """
    if name not in SCRIPTS:
        raise ValueError(f"name: there is no agent {name!r}, only {', '.join(SCRIPTS)}")
    return play_calls(SCRIPTS[name], name)


def records(state: State) -> State:
    """The state without its log and without its clock: when a row was written, and by which call.

    Two agents that leave the same behind differ in both, by the order and number of their calls.

    Examples
    --------
    >>> sorted(records(played("good").after)["refunds"][2])
    ['amount_cents', 'id', 'order_id']
    """
    clock = ("created_at", "updated_at")
    return {
        table: {key: {c: v for c, v in row.items() if c not in clock} for key, row in rows.items()}
        for table, rows in state.items()
        if table not in ("audit_log", "sqlite_schema")
    }


@dataclass(frozen=True)
class Grade:
    """What a system says of an episode.

    Attributes
    ----------
    verdict : {"pass", "fail", "not evaluated"}
        Whether it counts as a success there.
    score : float
        By that system's own formula; NaN where the episode is not evaluated.
    parts : mapping
        What was looked at, and how each came out.
    why : str
        What stood in the way of a pass; empty for a pass.
    """

    verdict: str
    score: float
    parts: Mapping[str, Any]
    why: str = ""

    @property
    def passed(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict == "pass"

    def __str__(self) -> str:
        return self.verdict if math.isnan(self.score) else f"{self.verdict} {self.score:.2f}"


def grade_of(parts: Mapping[str, bool], score: float | None = None) -> Grade:
    """The grade of an episode that passes only if all parts hold.

    Parameters
    ----------
    parts : mapping
        What was looked at, and whether it is as it should be.
    score : float, optional
        Where it is another than 1 for a pass and 0 for a failure.

    Examples
    --------
    >>> print(grade_of({"address": True, "note": False}))
    fail 0.00
    >>> print(grade_of({}))
    not evaluated
    """
    if not parts:
        return not_evaluated("nothing was looked at")
    wrong = [name for name, holds in parts.items() if not holds]
    if score is None:
        score = float(not wrong)
    return Grade("fail" if wrong else "pass", score, parts, "; ".join(wrong))


def not_evaluated(why: str) -> Grade:
    """The grade of an episode that says nothing about the agent, and why it does not."""
    return Grade("not evaluated", math.nan, {}, why)
