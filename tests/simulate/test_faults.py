"""Which fault an episode has, and what it does to the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from evalkit.simulate.faults import LOUD, Faults, FaultyWorld
from evalkit.simulate.store import CUSTOMER_OPERATIONS as SCENARIO
from evalkit.simulate.world import ToolError, World
from evalkit.snapshots import snapshot

KINDS = ("timeout", "server_error", "rate_limit", "crash", "lost_write", "stale_read")
CALLS = [
    ("read", {"table": "orders", "id": "W1001"}),
    ("cancel_order", {"order_id": "W1001"}),
    ("read", {"table": "orders", "id": "W1001"}),
    ("cancel_order", {"order_id": "W1002"}),  # refused
    ("issue_refund", {"order_id": "W1001", "amount_cents": 4250}),
    ("read", {"table": "refunds", "id": 2}),
    ("read", {"table": "orders", "id": "W1001"}),
]


@pytest.fixture
def world() -> Iterator[World]:
    with World(SCENARIO) as world:
        yield world


def striking(kind: str, at: int) -> FaultyWorld:
    """A world whose episode has this fault at this call."""
    faults = Faults(**{kind: 1.0})
    seed = next(s for s in range(1_000) if faults.draw(SCENARIO.actions[0], s) == (kind, at))
    faulty = FaultyWorld(SCENARIO, faults)
    faulty.reset(seed)
    return faulty


def test_each_fault_strikes_its_share_of_episodes_and_their_sum_is_the_flake_rate() -> None:
    faults = Faults(*(0.01, 0.02, 0.03, 0.04, 0.05, 0.06))
    drawn = Counter(faults.draw(6, seed)[0] for seed in range(20_000))
    for kind, share in zip(KINDS, (0.01, 0.02, 0.03, 0.04, 0.05, 0.06), strict=True):
        assert drawn[kind] / 20_000 == pytest.approx(share, abs=4 * (share / 20_000) ** 0.5)
    assert drawn[""] / 20_000 == pytest.approx(0.79, abs=0.012)


def test_a_fault_strikes_at_any_of_the_calls_alike() -> None:
    calls = Counter(Faults(timeout=1).draw(6, seed)[1] for seed in range(6_000))
    assert sorted(calls) == [1, 2, 3, 4, 5, 6]
    assert all(abs(count - 1_000) < 120 for count in calls.values())


def test_the_draw_follows_the_seed_and_is_not_the_agents_luck() -> None:
    faults = Faults(timeout=0.5)
    assert [faults.draw(6, s) for s in range(50)] == [faults.draw(6, s) for s in range(50)]
    agents = [np.random.default_rng(s).random() < 0.5 for s in range(2_000)]
    struck = [faults.draw(6, s)[0] != "" for s in range(2_000)]
    assert np.corrcoef(agents, struck)[0, 1] == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize(
    "shares", [{"timeout": -0.1}, {"timeout": 0.6, "crash": 0.5}, {"crash": float("nan")}]
)
def test_shares_that_are_none_are_refused(shares: dict) -> None:
    with pytest.raises(ValueError, match="shares from 0 to 1"):
        Faults(**shares)


def test_shares_may_sum_to_one() -> None:
    Faults(*[0.1] * 4, 0.3, 0.3)


def test_without_a_fault_the_answers_are_the_worlds(world: World) -> None:
    faulty = FaultyWorld(SCENARIO, Faults())
    answers = [faulty.answer(tool, dict(arguments)) for tool, arguments in CALLS]
    assert [status for status, _ in answers] == [200, 200, 200, 422, 200, 200, 200]
    assert answers[2][1]["result"] == answers[0][1]["result"] | {
        "status": "cancelled",
        "updated_at": answers[2][1]["result"]["updated_at"],
    }
    assert faulty.struck == ""
    faulty.close()


@pytest.mark.parametrize("kind", LOUD)
def test_a_fault_that_shows_strikes_once_and_the_call_is_not_made(kind: str) -> None:
    faulty = striking(kind, at=2)
    answers = [faulty.answer(tool, dict(arguments)) for tool, arguments in CALLS[:3]]
    assert [status for status, _ in answers] == [200, LOUD[kind], 200]
    assert answers[2] == answers[0]  # nothing was cancelled
    assert faulty.struck == kind
    assert [action.error for action in faulty.actions] == [None, kind, None]
    faulty.close()


@pytest.mark.parametrize("at", [1, 2])
def test_a_lost_write_is_answered_as_usual_and_nothing_of_it_is_kept(at: int, world: World) -> None:
    faulty, start = striking("lost_write", at), snapshot(world.connection)
    for tool, arguments in CALLS[:2]:
        assert faulty.answer(tool, dict(arguments)) == (
            200,
            {"result": world.call(tool, **arguments)},
        )
    assert faulty.struck == "lost_write"
    assert snapshot(faulty.world.connection) == start
    faulty.close()


def test_only_one_write_is_lost_and_a_refused_one_is_none() -> None:
    faulty = striking("lost_write", at=4)
    answers = [faulty.answer(tool, dict(arguments)) for tool, arguments in CALLS]
    assert answers[3][0] == 422
    assert answers[4][0] == 200
    state = snapshot(faulty.world.connection)
    assert state["orders"]["W1001"]["status"] == "cancelled"
    assert list(state["refunds"]) == [1]
    assert answers[5] == (422, {"error": "refunds has no record 2"})
    faulty.close()


def test_a_tool_that_fails_half_way_loses_nothing() -> None:
    def gives_up(world: World) -> None:
        """Write, then refuse."""
        world.connection.execute("UPDATE orders SET item = 'x'")
        raise ToolError("half-way")

    faults = Faults(lost_write=1)
    faulty = FaultyWorld(replace(SCENARIO, tools=(*SCENARIO.tools, gives_up)), faults)
    faulty.reset(next(s for s in range(99) if faults.draw(6, s)[1] == 1))
    assert faulty.answer("gives_up", {}) == (422, {"error": "half-way"})
    assert faulty.struck == ""
    faulty.answer(*CALLS[1])
    assert faulty.struck == "lost_write"
    faulty.close()


def test_a_stale_read_is_the_next_one_whose_answer_has_changed() -> None:
    faulty = striking("stale_read", at=1)
    answers = [faulty.answer(tool, dict(arguments)) for tool, arguments in CALLS]
    assert answers[0][1]["result"]["status"] == "processing"
    assert answers[2] == answers[0]  # stale
    assert answers[6][1]["result"]["status"] == "cancelled"  # and only once
    assert faulty.struck == "stale_read"
    faulty.close()


def test_a_stale_read_of_a_new_record_does_not_find_it() -> None:
    faulty = striking("stale_read", at=6)
    answers = [faulty.answer(tool, dict(arguments)) for tool, arguments in CALLS]
    assert answers[5] == (422, {"error": "refunds has no record 2"})
    assert faulty.struck == "stale_read"
    faulty.close()


def test_what_was_never_changed_cannot_be_stale() -> None:
    faulty = striking("stale_read", at=1)
    faulty.answer(*CALLS[0])
    assert faulty.struck == ""
    faulty.close()


def test_the_actions_hold_what_the_agent_was_told() -> None:
    faulty = striking("stale_read", at=1)
    for tool, arguments in CALLS[:4]:
        faulty.answer(tool, dict(arguments))
    assert faulty.actions[2].result["status"] == "processing"
    assert (faulty.actions[3].error or "").startswith("order W1002 is delivered")
    faulty.close()


def test_a_reset_restores_the_rows_and_draws_again() -> None:
    faulty = striking("lost_write", at=1)
    start = snapshot(faulty.world.connection)
    for tool, arguments in CALLS:
        faulty.answer(tool, dict(arguments))
    assert snapshot(faulty.world.connection) != start
    faulty.reset(0)
    assert snapshot(faulty.world.connection) == start
    assert (faulty.due, faulty.struck, faulty.actions) == ("lost_write", "", [])
    faulty.close()
