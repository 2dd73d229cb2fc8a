"""A clinic's appointments: its tables, its tools, and a task to do on it.

All that is particular to the clinic stands in this file, in the order of `evalkit.simulate.store`.
The job has the same shape, so the numbers of the two scenarios can be compared: three look-ups, a
field of a person, the status of a record, a new row with a number, a new row with words.
"""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from typing import Any

import numpy as np

from evalkit.simulate.tools import (
    AUDIT_LOG,
    delete_record,
    edit_record,
    insert,
    people,
    read,
    set_field,
    write_first_rows,
)
from evalkit.simulate.world import OPENING, Call, Edit, Scenario, Stray, ToolError, World, timestamp
from evalkit.tasks import Allowed, Created, Task

SCHEMA = """
CREATE TABLE patients (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, address TEXT NOT NULL,
    reminder TEXT NOT NULL CHECK (reminder IN ('email', 'letter', 'none')),
    updated_at TEXT NOT NULL
) STRICT;
CREATE TABLE appointments (
    id TEXT PRIMARY KEY, patient_id TEXT NOT NULL REFERENCES patients (id), kind TEXT NOT NULL,
    starts_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('booked', 'attended', 'missed', 'cancelled')),
    updated_at TEXT NOT NULL
) STRICT;
CREATE TABLE waiting_list (
    id INTEGER PRIMARY KEY, patient_id TEXT NOT NULL REFERENCES patients (id),
    within_days INTEGER NOT NULL CHECK (within_days > 0), created_at TEXT NOT NULL
) STRICT;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, patient_id TEXT NOT NULL REFERENCES patients (id),
    text TEXT NOT NULL, created_at TEXT NOT NULL
) STRICT;
"""
LONGEST_WAIT = 90  # days that the waiting list takes

# The records that the task and the stray writes name. The crowd around them comes from the seed.
PATIENTS = [
    ("P1", "Ilse Brandt", "ilse@example.org", "6 Orchard Way, Exeter", "email"),
    ("P2", "Hugo Marchetti", "hugo@example.org", "17 Bridge Street, Truro", "letter"),
    ("P3", "Ada Novak", "ada@example.org", "30 Weir Road, Taunton", "email"),
    ("P4", "Adela Novak", "adela@example.org", "2 Chapel Lane, Taunton", "letter"),
    ("P5", "Rashid Khan", "rashid@example.org", "51 Mount Street, Exeter", "email"),
    ("P6", "Sunniva Dahl", "sunniva@example.org", "9 Harbour View, Poole", "none"),
]
APPOINTMENTS = [
    ("A2001", "P3", "check-up", "2026-03-05T10:00:00Z", "booked"),
    ("A2002", "P3", "blood test", "2026-02-12T08:30:00Z", "attended"),
    ("A2003", "P4", "X-ray", "2026-02-24T15:00:00Z", "missed"),
    ("A2004", "P1", "check-up", "2026-03-05T11:30:00Z", "booked"),
    ("A2005", "P5", "vaccination", "2026-02-19T09:15:00Z", "attended"),
    ("A2006", "P6", "X-ray", "2026-03-06T14:00:00Z", "booked"),
]
WAITING_LIST = [("P4", 30)]
NOTES = [
    ("P2", "Hard of hearing on the left."),
    ("P3", "Asked for a morning appointment."),
    ("P6", "Comes with an interpreter."),
]
FIRST_NAMES = ("Anton", "Bea", "Chidi", "Dora", "Emil", "Farah", "Goran", "Hana")
LAST_NAMES = ("Almeida", "Bauer", "Cohen", "Doyle", "Eriksen", "Fontaine", "Greco", "Horvat")
KINDS = ("blood test", "check-up", "vaccination", "X-ray")
REMINDERS = ("email", "letter", "none")
PAST = ("attended", "missed", "cancelled")


def fill(connection: sqlite3.Connection, rng: np.random.Generator) -> None:
    """Write the first rows: the records above, then a crowd with two past appointments each."""
    patients, appointments = list(PATIENTS), list(APPOINTMENTS)
    for first, last in zip(FIRST_NAMES, rng.permutation(LAST_NAMES).tolist(), strict=True):
        key, email = f"P{len(patients) + 1}", f"{first.lower()}@example.org"
        address = f"{rng.integers(1, 90)} London Road, Bath"
        patients.append((key, f"{first} {last}", email, address, str(rng.choice(REMINDERS))))
        for _ in range(2):
            starts_at = timestamp(OPENING - timedelta(days=int(rng.integers(1, 100))))
            kind, status = str(rng.choice(KINDS)), str(rng.choice(PAST))
            appointments.append((f"A{2001 + len(appointments)}", key, kind, starts_at, status))
    inserts: dict[str, list[Any]] = {
        "INSERT INTO patients VALUES (?, ?, ?, ?, ?, ?)": patients,
        "INSERT INTO appointments VALUES (?, ?, ?, ?, ?, ?)": appointments,
        "INSERT INTO waiting_list VALUES (NULL, ?, ?, ?)": WAITING_LIST,
        "INSERT INTO notes VALUES (NULL, ?, ?, ?)": NOTES,
    }
    write_first_rows(connection, rng, inserts)


# The tools. Each returns plain data or raises ToolError; each that writes leaves an audit line.


def search(world: World, text: str) -> list[dict[str, Any]]:
    """Find patients whose name or email holds the text, whatever its case."""
    return people(world, "patients", text)


def change_address(world: World, patient_id: str, address: str) -> dict[str, Any]:
    """Change a patient's address."""
    read(world, "patients", patient_id)
    if not address.strip():
        raise ToolError("the address is empty")
    set_field(world, "change_address", "patients", patient_id, "address", address)
    return {"id": patient_id, "address": address}


def cancel_appointment(world: World, appointment_id: str) -> dict[str, Any]:
    """Cancel an appointment that is still to come."""
    status = read(world, "appointments", appointment_id)["status"]
    if status != "booked":
        raise ToolError(
            f"appointment {appointment_id} is {status}; only a booked one can be cancelled"
        )
    set_field(world, "cancel_appointment", "appointments", appointment_id, "status", "cancelled")
    return {"id": appointment_id, "status": "cancelled"}


def join_waiting_list(world: World, patient_id: str, within_days: int) -> dict[str, Any]:
    """Put a patient on the waiting list for an appointment within so many days."""
    read(world, "patients", patient_id)
    if not 0 < within_days <= LONGEST_WAIT:
        raise ToolError(f"{within_days} days: the waiting list takes 1 to {LONGEST_WAIT}")
    return insert(world, "join_waiting_list", "waiting_list", patient_id, within_days)


def write_note(world: World, patient_id: str, text: str) -> dict[str, Any]:
    """Add a note to a patient's file."""
    read(world, "patients", patient_id)
    if not text.strip():
        raise ToolError("the note is empty")
    return insert(world, "write_note", "notes", patient_id, text)


TOOLS = (search, read, change_address, cancel_appointment, join_waiting_list, write_note)


# The task: Ada Novak has moved, and her check-up is to wait for another day.

ADDRESS = "12 Priory Close, Taunton"
NOTE = "Moved house. A2001 cancelled, waits for another day."

CLINIC = Scenario(
    name="a clinic's appointments",
    instruction=(
        f"Ada Novak has moved. Change her address to '{ADDRESS}', cancel her appointment A2001, put "
        "her on the waiting list for one within 14 days and add this note to her file: "
        f"'{NOTE}' Change nothing else."
    ),
    schema=SCHEMA + AUDIT_LOG,
    fill=fill,
    tools=(*TOOLS, edit_record, delete_record),
    lookups=(
        Call("search", text="Novak"),
        Call("read", table="patients", id="P3"),
        Call("read", table="appointments", id="A2001"),
    ),
    edits=(  # wrong: a slip of the pen, the appointment beside it, a digit more, a name for an id
        Edit(
            "update the address",
            right=Call("change_address", patient_id="P3", address=ADDRESS),
            wrong=Call("change_address", patient_id="P3", address="21 Priory Close, Taunton"),
        ),
        Edit(
            "cancel the appointment",
            right=Call("cancel_appointment", appointment_id="A2001"),
            wrong=Call("cancel_appointment", appointment_id="A2002"),
        ),
        Edit(
            "put her on the waiting list",
            right=Call("join_waiting_list", patient_id="P3", within_days=14),
            wrong=Call("join_waiting_list", patient_id="P3", within_days=140),
        ),
        Edit(
            "add the note",
            right=Call("write_note", patient_id="P3", text=NOTE),
            wrong=Call("write_note", patient_id="Ada Novak", text=NOTE),
        ),
    ),
    strays=(
        Stray(
            "another patient's reminders",
            Call("edit_record", table="patients", id="P5", column="reminder", value="none"),
        ),
        Stray("another appointment's status", Call("cancel_appointment", appointment_id="A2004")),
        Stray(
            "another patient on the list", Call("join_waiting_list", patient_id="P5", within_days=7)
        ),
        Stray("a note on the wrong patient", Call("write_note", patient_id="P4", text=NOTE)),
        Stray("an old note deleted", Call("delete_record", table="notes", id=1)),
        Stray(
            "a moved appointment",
            Call(
                "edit_record",
                table="appointments",
                id="A2006",
                column="starts_at",
                value="2026-03-16T14:00:00Z",
            ),
        ),
    ),
    task=Task(
        required={"patients/P3/address": ADDRESS, "appointments/A2001/status": "cancelled"},
        created=[
            Created("waiting_list", patient_id="P3", within_days=14, free=["id", "created_at"]),
            Created("notes", patient_id="P3", text=NOTE, free=["id", "created_at"]),
        ],
        allowed=[
            Allowed("audit_log/*", only="added"),
            Allowed("patients/P3/updated_at", when="instant"),
            Allowed("appointments/A2001/updated_at", when="instant"),
        ],
    ),
)
