"""Agents, episodes and scoreboards follow any scenario, also one of another size."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from evalkit.simulate import SCENARIOS
from evalkit.simulate.agents import AGGRESSIVE, CAREFUL, simulated
from evalkit.simulate.episodes import play_many
from evalkit.simulate.expected import expected
from evalkit.simulate.scoreboards import scores, simulate
from evalkit.simulate.world import Call, Edit, Scenario, Stray, ToolError, World
from evalkit.tasks import Task


def fill(connection: sqlite3.Connection, rng: np.random.Generator) -> None:
    hours = rng.integers(8, 12, 4).tolist()
    connection.executemany("INSERT INTO visits VALUES (?, ?)", list(enumerate(hours, start=1)))


def look(world: World, visit: int) -> int:
    """The hour of a visit."""
    query = world.connection.execute("SELECT hour FROM visits WHERE id = ?", (visit,))
    return int(query.fetchone()[0])


def move(world: World, visit: int, hour: int) -> None:
    """Move a visit to another hour of the afternoon."""
    if not 13 <= hour <= 17:
        raise ToolError(f"the clinic is closed at {hour}")
    world.connection.execute("UPDATE visits SET hour = ? WHERE id = ?", (hour, visit))


def to(visit: int, hour: int) -> Call:
    return Call("move", visit=visit, hour=hour)


def moved(visit: int) -> Edit:
    return Edit(f"move visit {visit}", right=to(visit, 14), wrong=to(visit, 19))


VISITS = Scenario(
    name="three visits",
    instruction="Move visits 1, 2 and 3 to 14:00.",
    schema="CREATE TABLE visits (id INTEGER PRIMARY KEY, hour INTEGER NOT NULL) STRICT",
    fill=fill,
    tools=(look, move),
    lookups=(Call("look", visit=1), Call("look", visit=2)),
    edits=(moved(1), moved(2), moved(3)),
    strays=(Stray("another visit moved", to(4, 15)),),
    task=Task(required={f"visits/{n}/hour": 14 for n in (1, 2, 3)}),
)


def test_the_actions_follow_the_size_of_the_job() -> None:
    assert VISITS.actions == (4, 5)


@pytest.mark.parametrize("scenario", [VISITS, *SCENARIOS.values()], ids=lambda s: s.name)
def test_a_scenario_is_played_simulated_and_expected(scenario: Scenario) -> None:
    for agent in (CAREFUL, AGGRESSIVE):
        rng = np.random.default_rng(3)
        exact = expected(
            agent.edit, agent.write, agent.claim_unfinished, len(scenario.edits), scenario.actions
        )
        drawn = simulate(agent, scenario, rng, 5_000)
        with World(scenario) as world:
            played = scores(play_many(simulated(agent, scenario), world, 200, rng))
        for column, value in exact.items():
            for table in (drawn, played):
                noise = (value * (1 - value) / len(table)) ** 0.5
                assert abs(table[column].mean() - value) < 4 * noise, column
