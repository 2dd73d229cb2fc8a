"""The simulated user and the agent that listens to it."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.simulate import SCENARIO
from evalkit.simulate.episodes import play
from evalkit.simulate.users import User, details_given, listener, message, wish
from evalkit.simulate.world import World

EDITS = len(SCENARIO.edits)


def said(details: float, seed: int = 0) -> str:
    return message(User("user", details), SCENARIO, np.random.default_rng(seed))


def test_every_wish_is_uttered_with_or_without_details() -> None:
    for edit in SCENARIO.edits:
        assert wish(edit, True) in said(1)
        assert wish(edit, False) in said(0)


def test_details_are_given_as_often_as_the_user_gives_them() -> None:
    given = [details_given(said(0.8, seed), SCENARIO) for seed in range(500)]
    assert np.mean(given) == pytest.approx(0.8 * EDITS, abs=0.12)
    assert (details_given(said(0), SCENARIO), details_given(said(1), SCENARIO)) == (0, EDITS)


def test_the_remark_varies_and_changes_no_wish() -> None:
    texts = {said(1, seed) for seed in range(20)}
    assert len(texts) > 10
    assert len({text.partition(" minutes. ")[2] for text in texts}) == 1


@pytest.mark.parametrize(("details", "status"), [(1, "pass"), (0, "fail")])
def test_the_agent_does_what_it_is_told_and_fails_at_what_it_guesses(
    details: float, status: str
) -> None:
    agent, text = listener(SCENARIO, told=1, guessed=0), said(details)
    with World(SCENARIO) as world:
        episode = play(lambda call, _, rng: agent(call, text, rng), world, np.random.default_rng(0))
    assert episode.verdict.status == status


def test_an_agent_succeeds_as_often_as_its_rates_say() -> None:
    agent, text = listener(SCENARIO, told=0.9, guessed=0), said(1)
    rng = np.random.default_rng(1)
    with World(SCENARIO) as world:
        passed = [
            play(lambda call, _, rng: agent(call, text, rng), world, rng).verdict.passed
            for _ in range(400)
        ]
    assert np.mean(passed) == pytest.approx(0.9**EDITS, abs=0.08)


def test_details_in_per_cent_are_refused() -> None:
    with pytest.raises(ValueError, match="details: 80 is not a probability"):
        User("Plain", details=80)
