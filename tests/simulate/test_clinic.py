"""The clinic: its rows, what its tools refuse, and the line that each write leaves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evalkit.simulate.clinic import APPOINTMENTS, CLINIC, PATIENTS
from evalkit.simulate.world import Action, ToolError, World
from evalkit.snapshots import snapshot


@pytest.fixture
def world() -> Iterator[World]:
    with World(CLINIC, seed=1) as world:
        yield world


def test_the_named_records_stand_first_and_the_crowd_follows(world: World) -> None:
    state = snapshot(world.connection)
    assert list(state["patients"]) == [f"P{n}" for n in range(1, 15)]
    assert len(state["appointments"]) == 22
    for key, name, *_, reminder in PATIENTS:
        assert (state["patients"][key]["name"], state["patients"][key]["reminder"]) == (
            name,
            reminder,
        )
    for key, patient, _, starts_at, status in APPOINTMENTS:
        row = state["appointments"][key]
        assert (row["patient_id"], row["starts_at"], row["status"]) == (patient, starts_at, status)


def test_another_seed_gives_another_crowd(world: World) -> None:
    with World(CLINIC, seed=2) as other:
        one, two = snapshot(world.connection), snapshot(other.connection)
    assert one["patients"]["P3"]["name"] == two["patients"]["P3"]["name"]
    assert one["appointments"] != two["appointments"]


def test_each_writing_tool_leaves_one_line_in_the_audit_log(world: World) -> None:
    for edit in CLINIC.edits:
        world.call(edit.right.tool, **edit.right.arguments)
    log = snapshot(world.connection)["audit_log"].values()
    assert [(line["tool"], line["record"]) for line in log] == [
        ("change_address", "patients/P3"),
        ("cancel_appointment", "appointments/A2001"),
        ("join_waiting_list", "waiting_list/2"),
        ("write_note", "notes/4"),
    ]


REFUSED = [
    ("change_address", {"patient_id": "P99", "address": "x"}, "patients has no record 'P99'"),
    ("change_address", {"patient_id": "P3", "address": " "}, "the address is empty"),
    ("cancel_appointment", {"appointment_id": "A2002"}, "appointment A2002 is attended"),
    ("join_waiting_list", {"patient_id": "P3", "within_days": 91}, "91 days: the waiting list"),
    ("join_waiting_list", {"patient_id": "P3", "within_days": 0}, "takes 1 to 90"),
    ("join_waiting_list", {"patient_id": "P3", "within_days": "14"}, "within_days must be int"),
    ("write_note", {"patient_id": "Ada Novak", "text": "x"}, "patients has no record"),
    ("write_note", {"patient_id": "P3", "text": ""}, "the note is empty"),
    ("read", {"table": "audit_log", "id": 1}, "no table 'audit_log'"),
    ("read", {"table": "customers", "id": "C3"}, "no table 'customers'"),
    ("delete_record", {"table": "patients", "id": "P3"}, "FOREIGN KEY"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_a_refused_call_is_recorded_and_changes_nothing(
    world: World, tool: str, arguments: dict[str, object], message: str
) -> None:
    before = snapshot(world.connection)
    with pytest.raises(ToolError) as refusal:
        world.call(tool, **arguments)
    assert message in str(refusal.value)
    assert snapshot(world.connection) == before
    assert world.trajectory == (Action(tool, arguments, error=str(refusal.value)),)
