"""A simulated user, who words the same task anew each time, and an agent that depends on it.

A language model that plays the user does the same, with more words: what it leaves out, the agent
has to guess. How often it leaves something out belongs to the user, and shows in the agent's score.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalkit.simulate.agents import Policy
from evalkit.simulate.world import Edit, Scenario, ToolError

LONGEST_WAIT = 60  # minutes, in the remark that makes two messages differ and nothing else


@dataclass(frozen=True)
class User:
    """Who asks, and the probability that a wish comes with its details, each wish by itself."""

    name: str
    details: float

    def __post_init__(self) -> None:
        if not 0 <= self.details <= 1:
            raise ValueError(f"details: {self.details} is not a probability from 0 to 1")


def wish(edit: Edit, detailed: bool) -> str:
    """What a user says to have one edit made."""
    details = ", ".join(str(value) for value in edit.right.arguments.values())
    return f"Please {edit.label} ({details})." if detailed else f"Please {edit.label}."


def message(user: User, scenario: Scenario, rng: np.random.Generator) -> str:
    r"""What a user says in one episode: a remark, and a wish for each required edit.

    Examples
    --------
    >>> from evalkit.simulate import SCENARIO
    >>> said = message(User("Plain", details=0.5), SCENARIO, np.random.default_rng(4))
    >>> print(said.replace(". ", ".\n"))
    I have waited for 44 minutes.
    Please update the address.
    Please cancel the order.
    Please issue the refund (W1001, 4250).
    Please add the note.
    """
    remark = f"I have waited for {rng.integers(1, LONGEST_WAIT + 1)} minutes."
    wishes = [wish(edit, bool(rng.random() < user.details)) for edit in scenario.edits]
    return " ".join([remark, *wishes])


def details_given(text: str, scenario: Scenario) -> int:
    """How many wishes of a message come with their details."""
    return sum(wish(edit, True) in text for edit in scenario.edits)


def listener(scenario: Scenario, told: float, guessed: float) -> Policy:
    """A policy that reads the message: each edit is right with `told`, or `guessed` if it is vague."""

    def policy(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        for edit in scenario.edits:
            right = rng.random() < (told if wish(edit, True) in instruction else guessed)
            step = edit.right if right else edit.wrong
            with suppress(ToolError):  # a refusal stands in the trajectory; the agent carries on
                call(step.tool, **step.arguments)
        return True

    return policy
