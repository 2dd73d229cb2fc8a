"""What each scenario that ships must be, so that the chapters can be played on it."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from evalkit.grading import grade
from evalkit.paths import split_path
from evalkit.simulate import DEFAULT, SCENARIOS
from evalkit.simulate.recovery import check_work, failing, worker
from evalkit.simulate.world import Call, Scenario, ToolError, World
from evalkit.snapshots import snapshot
from evalkit.statediff import State

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))


def end_state(world: World, *calls: Call) -> State:
    world.reset()
    for call in calls:
        world.call(call.tool, **call.arguments)
    return snapshot(world.connection)


def right(scenario: Scenario) -> list[Call]:
    return [edit.right for edit in scenario.edits]


@every_scenario
def test_the_right_edits_pass_and_each_counts_the_same(scenario: Scenario) -> None:
    with World(scenario, seed=1) as world:
        before = end_state(world)
        for made in range(len(scenario.edits) + 1):
            verdict = grade(before, end_state(world, *right(scenario)[:made]), scenario.task)
            assert verdict.credit == made / len(scenario.edits)
            assert not verdict.collateral
            assert verdict.passed == (made == len(scenario.edits))


@every_scenario
def test_a_wrong_edit_is_not_met_and_does_no_damage(scenario: Scenario) -> None:
    with World(scenario, seed=1) as world:
        before = end_state(world)
        for i, edit in enumerate(scenario.edits):
            calls = right(scenario)
            try:
                after = end_state(world, *calls[:i], edit.wrong, *calls[i + 1 :])
            except ToolError:
                after = end_state(world, *calls[:i], *calls[i + 1 :])
            verdict = grade(before, after, scenario.task)
            assert verdict.credit == 1 - 1 / len(scenario.edits), edit.label
            assert not verdict.collateral, edit.label


@every_scenario
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_strays_do_damage_and_no_set_of_them_cancels_out(scenario: Scenario, seed: int) -> None:
    with World(scenario, seed) as world:
        before = end_state(world)

        def places(*calls: Call) -> set[str]:
            verdict = grade(before, end_state(world, *right(scenario), *calls), scenario.task)
            assert verdict.credit == 1
            found = {finding.place.rstrip("0123456789") for finding in verdict.collateral}
            return {place for place in found if not place.endswith("updated_at")}

        calls = [stray.call for stray in scenario.strays]
        assert grade(before, end_state(world, *calls), scenario.task).credit == 0
        alone = {str(call): places(call) for call in calls}
        assert all(alone.values())
        for some in (*combinations(calls, 2), calls):
            assert places(*some) == set().union(*(alone[str(call)] for call in some))


@every_scenario
def test_the_job_has_the_four_parts_that_the_chapters_tell_apart(scenario: Scenario) -> None:
    """A field of a person, the status of a record, a row with a number, a row with words."""
    person, record, numbered, worded = right(scenario)
    with World(scenario, seed=1) as world:
        after = end_state(world, *right(scenario))
    (home, value), (status, other) = scenario.task.required.items()
    assert [len(split_path(place)) for place in (home, status)] == [3, 3]
    assert list(person.arguments.values()) == [home.split("/")[1], value]
    assert (type(value), type(other)) == (str, str)
    assert list(record.arguments.values()) == [status.split("/")[1]]
    for call, row in zip((numbered, worded), scenario.task.created, strict=True):
        assert dict(call.arguments) == dict(row.columns)
        assert set(row.free) == {"id", "created_at"}
    assert [type(v) for v in numbered.arguments.values()] == [str, int]
    assert [type(v) for v in worded.arguments.values()] == [str, str]
    assert list(scenario.edits[2].wrong.arguments) == list(numbered.arguments)
    assert all(after[table] for table in after)


@every_scenario
def test_the_lookups_find_the_person_a_namesake_and_both_records(scenario: Scenario) -> None:
    search, *reads = scenario.lookups
    (home, _), (status, _) = scenario.task.required.items()
    with World(scenario, seed=1) as world:
        found = {one["id"] for one in world.call(search.tool, **search.arguments)}
        for call, place in zip(reads, (home, status), strict=True):
            record = world.call(call.tool, **call.arguments)
            assert [call.arguments["table"], record["id"]] == place.split("/")[:2]
        assert found > {home.split("/")[1]}
        person = world.call(reads[0].tool, **reads[0].arguments)
        assert world.call(search.tool, **search.anew(person["email"]).arguments) == [
            {"id": person["id"], "name": person["name"]}
        ]


@every_scenario
def test_the_first_old_rows_are_somebody_elses_and_can_be_edited_and_deleted(
    scenario: Scenario,
) -> None:
    people, _, numbers, notes = scenario.tables
    ada = next(iter(scenario.task.required)).split("/")[1]
    (_, number), (whose, _) = (call.arguments for call in right(scenario)[2:])
    with World(scenario, seed=1) as world:
        before = end_state(world)
        assert ada not in (before[numbers][1].values(), before[notes][1][whose])
        assert "updated_at" not in before[numbers][1]
        edit = Call("edit_record", table=numbers, id=1, column=number, value=1)
        assert end_state(world, edit)[numbers][1][number] == 1
        owner = before[notes][1][whose]
        deletions = [(notes, 1), (people, owner)]
        tidied = end_state(world, *(Call("delete_record", table=t, id=i) for t, i in deletions))
        assert owner not in tidied[people]


def test_an_agent_that_checks_its_work_knows_where_to_look() -> None:
    for scenario in SCENARIOS.values():
        for lost in range(len(scenario.edits)):
            faults = [""] * lost + ["lost"]
            with World(failing(scenario, faults)) as world:
                before = snapshot(world.connection)
                worker(scenario, check_work)(world.call, "", np.random.default_rng(0))
                assert grade(before, snapshot(world.connection), scenario.task)


def chosen(name: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from evalkit.simulate import SCENARIO; print(SCENARIO.name)"]
    environment = {**os.environ, "EVALKIT_SCENARIO": name}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["", *SCENARIOS])
def test_the_environment_variable_chooses(name: str) -> None:
    assert chosen(name).stdout.strip() == SCENARIOS[name or DEFAULT].name


def test_an_unknown_name_is_one_error_that_lists_those_there_are() -> None:
    told = chosen("clinc").stderr.strip().splitlines()[-1]
    there_are = ", ".join(SCENARIOS)
    assert told == f"ValueError: EVALKIT_SCENARIO: no scenario 'clinc'; there are {there_are}"
