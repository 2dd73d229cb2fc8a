"""Episodes: what a policy is given, and how its end is judged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evalkit import Task, TaskError, grade, snapshot
from evalkit.simulate.agents import Policy
from evalkit.simulate.episodes import gold_state, play, play_many
from evalkit.simulate.store import CUSTOMER_OPERATIONS as SCENARIO
from evalkit.simulate.world import Call, World


@pytest.fixture
def world() -> Iterator[World]:
    with World(SCENARIO) as world:
        yield world


RNG = np.random.default_rng(0)


def flawless(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
    """What a reader's own agent looks like: it acts through `call` alone."""
    (customer, _) = call("search", text="Okafor")
    order = call("read", table="orders", id="W1001")
    address, note = instruction.split("'")[1:4:2]
    call("update_address", customer_id=customer["id"], address=address)
    call("cancel_order", order_id=order["id"])
    call("issue_refund", order_id=order["id"], amount_cents=order["total_cents"])
    call("add_note", customer_id=customer["id"], text=note)
    return True


def test_an_agent_that_follows_the_instruction_passes(world: World) -> None:
    episode = play(flawless, world, RNG)
    assert episode.claim
    assert episode.verdict.passed
    assert [action.tool for action in episode.trajectory] == [
        "search",
        "read",
        "update_address",
        "cancel_order",
        "issue_refund",
        "add_note",
    ]


def test_an_agent_that_also_does_something_else_fails_with_full_credit(world: World) -> None:
    def meddles(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        call("delete_record", table="notes", id=1)
        return flawless(call, instruction, rng)

    verdict = play(meddles, world, RNG).verdict
    assert (verdict.status, verdict.credit) == ("fail", 1)
    assert [finding.place for finding in verdict.collateral] == ["notes/1"]


def test_every_episode_starts_afresh(world: World) -> None:
    assert all(play(flawless, world, RNG).verdict.passed for _ in range(2))


def test_a_refusal_let_through_ends_the_episode_without_a_claim(world: World) -> None:
    def gives_up(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        call("cancel_order", order_id="W1001")
        call("cancel_order", order_id="W1001")
        return True

    episode = play(gives_up, world, RNG)
    assert not episode.claim
    assert episode.verdict.credit == 0.25
    assert episode.trajectory[-1].error == (
        "order W1001 is cancelled; only a processing order can be cancelled"
    )


def test_a_crash_of_the_policy_is_not_graded_as_a_failure(world: World) -> None:
    def crashes(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        play(crashes, world, RNG)


@pytest.mark.parametrize("claim", [None, "yes", 1, 0.0])
def test_a_claim_must_be_a_truth_value(world: World, claim: object) -> None:
    policy: Policy = lambda call, instruction, rng: claim  # type: ignore[assignment,return-value]  # noqa: E731
    with pytest.raises(ValueError, match="whether it claims success"):
        play(policy, world, RNG)


def test_a_claim_drawn_with_numpy_is_taken(world: World) -> None:
    episode = play(lambda call, instruction, rng: rng.random() < 2, world, RNG)
    assert episode.claim is True


def test_many_episodes_are_played_one_after_another(world: World) -> None:
    episodes = play_many(flawless, world, 3, RNG)
    assert [episode.verdict.passed for episode in episodes] == [True] * 3


GOLD = [edit.right for edit in SCENARIO.edits]


def test_a_goal_made_of_gold_actions_is_the_one_that_a_flawless_agent_reaches(world: World) -> None:
    before = snapshot(world.connection)
    gold = gold_state(world, GOLD)
    assert world.trajectory == ()
    assert snapshot(world.connection) == before
    free = {table: ["id", "created_at"] for table in ("refunds", "notes")}
    task = Task.from_goal(before, gold, allowed=SCENARIO.task.allowed, free=free)
    play(flawless, world, RNG)
    assert grade(before, snapshot(world.connection), task).passed
    assert not grade(before, before, task)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (Call("cancel_order", order_id="W1002"), "W1002 is delivered"),
        (Call("cancel_order"), "missing a required argument"),
        (Call("close_account", customer_id="C3"), "there is no tool 'close_account'"),
        (Call("raises", customer_id="C3"), "KeyError"),
    ],
)
def test_gold_actions_of_which_one_raises_give_no_goal(broken: Call, says: str) -> None:
    def raises(world: World, customer_id: str) -> None:
        """Fail in a way that no tool should."""
        raise KeyError

    with World(replace(SCENARIO, tools=(*SCENARIO.tools, raises))) as world:
        before = snapshot(world.connection)
        with pytest.raises(TaskError, match=f"gold action 1, .* raised: .*{says}.* task is broken"):
            gold_state(world, [GOLD[0], broken, GOLD[1]])
        assert snapshot(world.connection) == before


@pytest.mark.parametrize(("disable", "silent"), [("1", True), ("", False)])
def test_the_progress_bar_is_silent_when_told(disable: str, silent: bool) -> None:
    program = (
        "import numpy as np\n"
        "from evalkit.simulate.episodes import play_many\n"
        "from evalkit.simulate.store import CUSTOMER_OPERATIONS\n"
        "from evalkit.simulate.world import World\n"
        "with World(CUSTOMER_OPERATIONS) as world:\n"
        "    play_many(lambda *_: False, world, 2, np.random.default_rng(0))\n"
    )
    environment = {**os.environ, "TQDM_DISABLE": disable}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=True
    )
    assert (run.stderr == b"") is silent
