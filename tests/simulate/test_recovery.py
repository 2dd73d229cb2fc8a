"""Tools that fail when told to, the three habits, and the step model on the real store."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
import pytest

from evalkit.simulate import SCENARIO
from evalkit.simulate.episodes import Episode, play
from evalkit.simulate.recovery import (
    TABLES,
    Habit,
    carry_on,
    check_work,
    failing,
    now_and_then,
    retry_refused,
    worker,
)
from evalkit.simulate.world import ToolError, World
from evalkit.snapshots import snapshot
from evalkit.steps import episode_success, step_success

HABITS = (carry_on, retry_refused, check_work)
EDITS = range(len(SCENARIO.edits))


def played(habit: Habit, faults: Iterable[str]) -> Episode:
    with World(failing(SCENARIO, faults)) as world:
        return play(worker(SCENARIO, habit), world, np.random.default_rng(0))


@pytest.mark.parametrize("habit", HABITS)
def test_where_no_tool_fails_every_habit_does_the_job_and_nothing_else(habit: Habit) -> None:
    assert played(habit, []).verdict.status == "pass"


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize(
    ("habit", "fault", "mended"),
    [
        (carry_on, "refused", False),
        (carry_on, "lost", False),
        (retry_refused, "refused", True),
        (retry_refused, "lost", False),
        (check_work, "refused", True),
        (check_work, "lost", True),
    ],
)
def test_a_habit_mends_the_faults_that_it_can_notice(
    habit: Habit, fault: str, mended: bool, edit: int
) -> None:
    verdict = played(habit, [""] * edit + [fault]).verdict
    assert verdict.passed is mended
    assert verdict.credit == (1 if mended else 1 - 1 / len(EDITS))
    assert not verdict.collateral


@pytest.mark.parametrize("faults", [("refused", "refused"), ("lost", "lost"), ("refused", "lost")])
def test_an_edit_is_made_once_more_and_no_more(faults: tuple[str, ...]) -> None:
    episode = played(check_work, faults)
    first = SCENARIO.edits[0].right
    assert not episode.verdict.passed
    assert [(a.tool, a.arguments) for a in episode.trajectory].count(
        (first.tool, first.arguments)
    ) == 2


@pytest.mark.parametrize("edit", SCENARIO.edits, ids=lambda edit: edit.label)
def test_a_refused_edit_stands_in_the_trajectory_and_writes_nothing(edit: object) -> None:
    step = edit.right  # type: ignore[attr-defined]
    with World(failing(SCENARIO, ["refused"])) as world:
        start = snapshot(world.connection)
        with pytest.raises(ToolError, match=f"{step.tool} failed: nothing was written"):
            world.call(step.tool, **step.arguments)
        assert [(a.tool, a.result) for a in world.trajectory] == [(step.tool, None)]
        assert world.trajectory[0].error
        assert snapshot(world.connection) == start


def test_a_lost_edit_is_answered_as_usual_and_leaves_nothing() -> None:
    for edit in SCENARIO.edits:
        with World(failing(SCENARIO, ["lost"])) as faulty, World(SCENARIO) as sound:
            start = snapshot(faulty.connection)
            answers = [w.call(edit.right.tool, **edit.right.arguments) for w in (faulty, sound)]
            assert answers[0] == answers[1]
            assert snapshot(faulty.connection) == start
            assert snapshot(sound.connection) != start


def test_reading_never_fails_and_takes_no_fault() -> None:
    with World(failing(SCENARIO, ["refused"])) as world:
        for step in SCENARIO.lookups:
            world.call(step.tool, **step.arguments)
        with pytest.raises(ToolError):
            world.call(SCENARIO.edits[0].right.tool, **SCENARIO.edits[0].right.arguments)


def test_a_tool_that_refuses_by_itself_still_does() -> None:
    with (
        World(failing(SCENARIO, ["lost"])) as world,
        pytest.raises(ToolError, match="has no record"),
    ):
        world.call("cancel_order", order_id="W0")


def test_faults_are_drawn_at_their_rate_and_by_the_seed() -> None:
    draws = list(islice(now_and_then(0.3, 0.25, np.random.default_rng(5)), 20_000))
    assert draws == list(islice(now_and_then(0.3, 0.25, np.random.default_rng(5)), 20_000))
    for fault, rate in (("lost", 0.075), ("refused", 0.225), ("", 0.7)):
        noise = (rate * (1 - rate) / len(draws)) ** 0.5
        assert abs(draws.count(fault) / len(draws) - rate) < 4 * noise


@pytest.mark.parametrize(("rate", "silent"), [(-0.1, 0.5), (1.1, 0.5), (float("nan"), 0.5)])
def test_a_rate_that_is_no_share_is_named_at_once(rate: float, silent: float) -> None:
    with pytest.raises(ValueError, match="^rate: .* is not a share"):
        now_and_then(rate, silent, np.random.default_rng(0))
    with pytest.raises(ValueError, match="^silent: .* is not a share"):
        now_and_then(0.5, rate, np.random.default_rng(0))


def test_a_misspelt_fault_is_named() -> None:
    with pytest.raises(ValueError, match="there is no fault 'lots'; give one of"):
        played(carry_on, ["lots"])


def test_checking_needs_to_know_where_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(TABLES, "add_note")
    with pytest.raises(ValueError, match="TABLES: add the table that add_note writes"):
        played(check_work, [])


@pytest.mark.parametrize(
    ("habit", "noticed"), [(carry_on, 0.0), (retry_refused, 0.6), (check_work, 1.0)]
)
def test_the_store_follows_the_step_model(habit: Habit, noticed: float) -> None:
    r, episodes = 0.8, 400
    rng = np.random.default_rng(17)
    with World(failing(SCENARIO, now_and_then(1 - r, 0.4, rng))) as world:
        policy = worker(SCENARIO, habit)
        verdicts = [play(policy, world, rng).verdict for _ in range(episodes)]
    rho = noticed * r  # a second try goes right as often as a first
    passed, credit = (np.mean([v.passed for v in verdicts]), np.mean([v.credit for v in verdicts]))
    for found, expected, draws in (
        (passed, episode_success(r, len(EDITS), rho), episodes),
        (credit, step_success(r, rho), episodes * len(EDITS)),
    ):
        assert abs(found - expected) < 4 * (expected * (1 - expected) / draws) ** 0.5
