"""The suite of tickets: each can be done, nothing trivial passes it, and one start serves all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalkit.audit import audit_grader
from evalkit.grading import grade
from evalkit.infra import AGENT_FAILURE, INFRA_FAILURE, SUCCESS
from evalkit.runner import Setup, run_suite
from evalkit.simulate.agents import Agent, Policy, simulated
from evalkit.simulate.episodes import play
from evalkit.simulate.faults import NO_FAULTS, Faults
from evalkit.simulate.tickets import (
    RULES,
    TICKETS,
    cancel,
    changes_all,
    desk,
    does_nothing,
    harness,
    move,
    reference,
    ticket,
)
from evalkit.simulate.world import World
from evalkit.snapshots import snapshot

NAMES = list(TICKETS)


def run(policy: Policy, faults: Faults = NO_FAULTS, sockets: bool = False, **setup: Any) -> Any:
    with desk(faults, sockets) as services:
        how = harness(services, policy, max_steps=setup.get("max_steps"))
        return run_suite(Setup("agent", NAMES, **{"trials": 1, **setup}), how)


@pytest.mark.parametrize("sockets", [True, False], ids=["sockets", "in-process"])
def test_every_ticket_can_be_done_by_the_rules(sockets: bool) -> None:
    rows = run(reference, sockets=sockets)
    assert rows["task"].tolist() == NAMES
    assert set(rows["tag"]) == {SUCCESS}
    assert rows["violations"].tolist() == [[]] * len(NAMES)


def test_an_agent_that_does_nothing_passes_where_nothing_is_to_be_done_and_nowhere_else() -> None:
    rows = run(does_nothing, retries=3)
    assert len(rows) == len(NAMES)  # it is judged, not run again
    assert rows.loc[rows["success"].astype(bool), "task"].tolist() == ["nothing to do"]


def test_an_agent_that_makes_every_edit_passes_nothing_and_breaks_rules() -> None:
    rows = run(changes_all)
    assert set(rows["tag"]) == {AGENT_FAILURE}
    assert rows["credit"].dropna().eq(1).all()
    assert all(rows["violations"])


@pytest.mark.parametrize("name", NAMES)
def test_each_wrong_edit_fails_its_ticket(name: str) -> None:
    with World(TICKETS[name]) as world:
        for i, edit in enumerate(TICKETS[name].edits):
            rights = [other.right for other in TICKETS[name].edits]

            def policy(call: Any, instruction: str, rng: Any, i: int = i, edit: Any = edit) -> bool:
                for step in (*rights[:i], edit.wrong, *rights[i + 1 :]):  # noqa: B023
                    call(step.tool, **step.arguments)
                return True

            assert not play(policy, world, np.random.default_rng(0)).verdict


@pytest.mark.parametrize("name", NAMES)
def test_no_stray_write_is_let_through_and_none_is_part_of_the_job(name: str) -> None:
    made = TICKETS[name]
    strays = Agent("strays", edit=1, write=1, claim_unfinished=0)
    with World(made) as world:
        for seed in range(5):
            assert not play(simulated(strays, made), world, np.random.default_rng(seed)).verdict


@pytest.mark.parametrize("name", NAMES)
def test_the_grader_of_a_ticket_has_no_hole(name: str) -> None:
    made = TICKETS[name]
    with World(made) as world:
        before = snapshot(world.connection)
        reference(world.call, made.instruction, np.random.default_rng(0))
        after = snapshot(world.connection)
    found = audit_grader(
        lambda before, after: grade(before, after, made.task),
        before, after, made.task, per_kind=3, fields=5,
    )  # fmt: skip
    assert found.escape_rate() == 0
    assert found.false_alarm_rate() == 0


def test_instructions_name_one_ticket_each() -> None:
    assert len({made.instruction for made in TICKETS.values()}) == len(TICKETS)


def test_a_ticket_of_ones_own_states_what_its_wishes_ask_for() -> None:
    made = ticket("two", move("C5", "1 Elm Road, Derby"), cancel("W1006"))
    assert made.instruction == (
        "Change the address of Brendan O'Shea to '1 Elm Road, Derby'. Cancel order W1006. "
        "Change nothing else."
    )
    assert made.task.required == {
        "customers/C5/address": "1 Elm Road, Derby", "orders/W1006/status": "cancelled",
    }  # fmt: skip
    assert len(made.edits) == 2


def test_a_failure_of_the_environment_is_retried_and_seen() -> None:
    rows = run(reference, Faults(server_error=1), retries=2)
    assert set(rows["tag"]) == {INFRA_FAILURE}
    assert len(rows) == 3 * len(NAMES)


def test_a_lost_write_is_silent_and_counts() -> None:
    rows = run(reference, Faults(lost_write=1))
    lost = rows.set_index("task")["tag"].eq(AGENT_FAILURE)
    assert not lost["nothing to do"]
    assert lost.sum() > len(NAMES) / 2


def test_the_step_budget_bites() -> None:
    rows = run(reference, max_steps=2)
    kinds = rows.set_index("task")["kind"]
    assert kinds["all at once"] == "budget exhausted"
    assert kinds["cancel"] == ""


def test_the_log_holds_what_the_report_card_reads() -> None:
    rows = run(reference)
    assert {"credit", "allowed_share", "collateral", "violations"} <= set(rows)
    credit = rows.set_index("task")["credit"]
    assert pd.isna(credit["nothing to do"])
    assert credit.drop("nothing to do").eq(1).all()


def test_rules_are_few() -> None:
    assert len(RULES) == len({rule.name for rule in RULES}) == 4


def test_a_run_is_the_same_with_a_network_and_without() -> None:
    flaky = Faults(timeout=0.1, server_error=0.1, crash=0.1, lost_write=0.1)
    served, called = (run(reference, flaky, sockets=s, retries=1) for s in (True, False))
    assert set(served["tag"]) == {SUCCESS, AGENT_FAILURE, INFRA_FAILURE}
    pd.testing.assert_frame_equal(served, called)


def test_a_ticket_of_ones_own_joins_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TICKETS, "mine", ticket("mine", move("C5", "1 Elm Road, Derby")))
    with desk(sockets=False) as services:
        rows = run_suite(Setup("agent", ["mine"], 1), harness(services, reference))
    assert rows["tag"].tolist() == [SUCCESS]
