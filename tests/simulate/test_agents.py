"""The simulated agents: their rates, their plans, and what they do with a refusal."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.simulate.agents import AGGRESSIVE, CAREFUL, Agent, Plan, act, draw_plan, simulated
from evalkit.simulate.store import CUSTOMER_OPERATIONS as SCENARIO
from evalkit.simulate.world import World


def test_the_rates_are_the_notes_and_the_claim_rates_give_its_lead_of_24_points() -> None:
    assert (CAREFUL.edit, CAREFUL.write) == (0.86, 0.004)
    assert (AGGRESSIVE.edit, AGGRESSIVE.write) == (0.93, 0.06)
    claims = [a.edit**4 + (1 - a.edit**4) * a.claim_unfinished for a in (CAREFUL, AGGRESSIVE)]
    assert round(100 * (claims[1] - claims[0])) == 24


@pytest.mark.parametrize("field", ["edit", "write", "claim_unfinished"])
@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_that_is_no_probability_is_named(field: str, rate: float) -> None:
    rates = {"edit": 0.5, "write": 0.5, "claim_unfinished": 0.5, field: rate}
    with pytest.raises(ValueError, match=f"^{field}: .* is not a probability"):
        Agent("x", **rates)


def test_plans_follow_the_rates() -> None:
    agent = Agent("x", edit=0.7, write=0.2, claim_unfinished=0.4)
    rng = np.random.default_rng(11)
    plans = [draw_plan(agent, SCENARIO, rng) for _ in range(4_000)]

    def close(hits: list[bool], rate: float) -> bool:
        return abs(np.mean(hits) - rate) < 4 * (rate * (1 - rate) / len(hits)) ** 0.5

    assert {plan.lookups for plan in plans} == {2, 3}
    assert close([plan.lookups == 3 for plan in plans], 0.5)
    assert close([ok for plan in plans for ok in plan.right], 0.7)
    strays = [stray for plan in plans for stray in plan.strays]
    assert close([stray is not None for stray in strays], 0.2)
    for kind in range(6):
        assert close([s == kind for s in strays if s is not None], 1 / 6)
    assert all(plan.claim for plan in plans if all(plan.right))
    assert close([plan.claim for plan in plans if not all(plan.right)], 0.4)


def test_a_plan_is_acted_out_step_by_step() -> None:
    plan = Plan(2, (True, False, True, True), (None, 4, None, None, 1, None), claim=True)
    with World(SCENARIO) as world:
        assert act(plan, SCENARIO, world.call)
        assert [(a.tool, a.error is None) for a in world.trajectory] == [
            ("search", True),
            ("read", True),
            ("delete_record", True),
            ("update_address", True),
            ("cancel_order", False),
            ("issue_refund", True),
            ("cancel_order", True),
            ("add_note", True),
        ]


def test_a_plan_of_the_wrong_length_is_an_error() -> None:
    plan = Plan(2, (True,) * 4, (None,) * 7, claim=True)
    with World(SCENARIO) as world, pytest.raises(ValueError, match="argument 2"):
        act(plan, SCENARIO, world.call)


def test_the_same_generator_gives_the_same_trajectory() -> None:
    policy = simulated(AGGRESSIVE, SCENARIO)
    runs = []
    for _ in range(2):
        with World(SCENARIO) as world:
            rng = np.random.default_rng(5)
            claims = [policy(world.call, SCENARIO.instruction, rng) for _ in range(5)]
            runs.append((claims, world.trajectory))
    assert runs[0] == runs[1]
