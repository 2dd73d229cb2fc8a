"""Episodes: what a policy is given, and how its end is judged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from evalkit.simulate.agents import Policy
from evalkit.simulate.episodes import play, play_many
from evalkit.simulate.store import CUSTOMER_OPERATIONS as SCENARIO
from evalkit.simulate.world import World


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
