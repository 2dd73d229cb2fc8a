"""A world that fails on purpose: which fault an episode has, and what it does to the answers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from evalkit.simulate.world import Action, Scenario, ToolError, World

#: The faults that show, with the HTTP status of the answer; 0 where no answer comes.
LOUD = {"timeout": 0, "server_error": 503, "rate_limit": 429, "crash": 0}

#: An HTTP status, and ``{"result": ...}`` or ``{"error": ...}``.
Answer = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Faults:
    """How an environment fails: for each kind of fault, the share of episodes that it strikes.

    An episode has one fault at most, so that the flake rate f is the sum of the shares. It strikes
    at a call drawn from as many as every episode of a simulated agent makes.

    Parameters
    ----------
    timeout
        The call is not made, and no answer comes.
    server_error
        The call is not made, and the answer is HTTP 503.
    rate_limit
        The call is not made, and the answer is HTTP 429.
    crash
        The server goes down, and stays down to the end of the episode.
    lost_write
        Silent: the next call that writes is answered as usual, but nothing of it is kept.
    stale_read
        Silent: the next read whose answer has changed gives the answer of the start state.

    Raises
    ------
    ValueError
        If these are no shares, or sum to more than 1.
    """

    timeout: float = 0.0
    server_error: float = 0.0
    rate_limit: float = 0.0
    crash: float = 0.0
    lost_write: float = 0.0
    stale_read: float = 0.0

    def __post_init__(self) -> None:
        if not (min(astuple(self)) >= 0 and sum(astuple(self)) <= 1 + 1e-12):
            raise ValueError(f"{self}: give shares from 0 to 1 that sum to 1 at most")

    def draw(self, calls: int, seed: int) -> tuple[str, int]:
        """The fault of one episode, or none (""), and at which call it strikes, from 1."""
        rng = np.random.default_rng([seed, 1])  # not the agent's own luck
        strikes = rng.random() < np.cumsum(astuple(self))
        kind = fields(self)[int(strikes.argmax())].name if strikes.any() else ""
        return kind, int(rng.integers(1, calls + 1))


NO_FAULTS = Faults()


class FaultyWorld:
    """A world of a scenario, its answers as a service gives them, and the fault of an episode.

    Parameters
    ----------
    scenario
        What the world is made of.
    faults
        How it fails.
    seed
        Decides the rows that the scenario draws.

    Attributes
    ----------
    world : World
        As it is, past all faults.
    due : str
        The fault that has yet to strike in this episode, or none ("").
    at : int
        The call from which on it strikes.
    struck : str
        The fault that has struck, or none (""). No operator of a real service could read it.
    actions : list of Action
        The calls of this episode, each with the answer that it was given.
    """

    def __init__(self, scenario: Scenario, faults: Faults, seed: int = 0) -> None:
        self.world, self._start = World(scenario, seed), World(scenario, seed)
        self._faults = faults
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Restore the store, and draw the fault of the next episode."""
        self.world.reset()
        self.due, self.at = self._faults.draw(self.world.scenario.actions[0], seed)
        self.struck = ""
        self.actions: list[Action] = []

    def close(self) -> None:
        """Close both databases."""
        self.world.close()
        self._start.close()

    def answer(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """The answer to one call."""
        due = self.due if len(self.actions) + 1 >= self.at else ""
        if due in LOUD:
            self._strike()
            status, body = LOUD[due], {"error": due}
        elif due == "lost_write":
            status, body = self._perhaps_lost(tool, arguments)
        elif due == "stale_read":
            status, body = self._perhaps_stale(tool, arguments)
        else:
            status, body = _answer(self.world, tool, arguments)
        self.actions.append(Action(tool, arguments, body.get("result"), body.get("error")))
        return status, body

    def _strike(self) -> None:
        self.due, self.struck = "", self.due

    def _perhaps_lost(self, tool: str, arguments: dict[str, Any]) -> Answer:
        store = self.world.connection
        with closing(sqlite3.connect(":memory:")) as kept:
            store.backup(kept)
            written = store.total_changes
            status, body = _answer(self.world, tool, arguments)
            if status == 200 and store.total_changes > written:
                kept.backup(store)
                self._strike()
        return status, body

    def _perhaps_stale(self, tool: str, arguments: dict[str, Any]) -> Answer:
        written = self.world.connection.total_changes
        answer = _answer(self.world, tool, arguments)
        if self.world.connection.total_changes > written:
            return answer
        old = _answer(self._start, tool, arguments)
        if old != answer:
            self._strike()
        return old


def _answer(world: World, tool: str, arguments: dict[str, Any]) -> Answer:
    try:
        return 200, {"result": world.call(tool, **arguments)}
    except ToolError as error:
        return 422, {"error": str(error)}
