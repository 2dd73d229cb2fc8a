"""Two routes to one scoreboard: episodes really played, and the simulation in arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from evalkit.grading import grade
from evalkit.simulate.agents import AGGRESSIVE, CAREFUL, Agent, simulated
from evalkit.simulate.episodes import Episode, play_many
from evalkit.simulate.expected import expected
from evalkit.simulate.scoreboards import (
    GRADERS,
    Draws,
    distinct,
    draw,
    full_diff,
    own_report,
    partial_credit,
    replay,
    score,
    scoreboard,
    scores,
    simulate,
    targets_only,
)
from evalkit.simulate.store import CUSTOMER_OPERATIONS as SCENARIO
from evalkit.simulate.world import World
from evalkit.tasks import Task

MESSY = Agent("Messy", edit=0.7, write=0.3, claim_unfinished=0.5)


@pytest.fixture(scope="module")
def simulated_tables() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(20_000)
    return {a.name: simulate(a, SCENARIO, rng) for a in (CAREFUL, AGGRESSIVE)}


def test_the_four_graders_read_one_episode_differently() -> None:
    draws = Draws(
        lookups=np.array([2]),
        right=np.array([[True, True, True, True]]),
        strays=np.array([[-1, -1, 0, -1, -1, -1, -1]]),
        claim=np.array([True]),
    )
    damaged = replace(draws, right=np.array([[True, True, True, False]]))
    with World(SCENARIO) as world:
        done, undone = replay(draws.plan(0), world), replay(damaged.plan(0), world)
    graders = (own_report, partial_credit, targets_only, full_diff)
    assert [grader(done) for grader in graders] == [1, 1, 1, 0]
    assert [grader(undone) for grader in graders] == [1, 0.75, 0, 0]


def test_an_episode_that_was_not_evaluated_has_no_score() -> None:
    episode = Episode(True, (), grade({}, {}, Task()))
    assert [targets_only(episode), full_diff(episode)] == [0, 0]
    with pytest.raises(ValueError, match=r"episodes\[0\]: not evaluated"):
        scores([episode])


@pytest.mark.parametrize("agent", [CAREFUL, AGGRESSIVE])
def test_playing_and_simulating_agree_within_sampling_error(
    agent: Agent, simulated_tables: dict[str, pd.DataFrame]
) -> None:
    with World(SCENARIO) as world:
        episodes = play_many(
            simulated(agent, SCENARIO), world, 300, np.random.default_rng(1), agent.name
        )
    played, drawn = scores(episodes), simulated_tables[agent.name]
    for column in played:
        gap = played[column].mean() - drawn[column].mean()
        noise = drawn[column].std() * (1 / len(played) + 1 / len(drawn)) ** 0.5
        assert abs(gap) < 4 * noise, column
    ways = [t[["partial credit", "collateral"]].value_counts() for t in (played, drawn)]
    counts = pd.concat(ways, axis=1).fillna(0)
    counts = counts[counts.iloc[:, 1] > 200]  # leaves out ways too rare for the chi-square law
    assert chi2_contingency(counts).pvalue > 1e-4


def test_equal_draws_give_equal_scores_whether_played_or_simulated() -> None:
    draws = draw(MESSY, SCENARIO, 1_000, np.random.default_rng(4))
    some = np.random.default_rng(5).choice(1_000, 100, replace=False)
    with World(SCENARIO) as world:
        fast = score(draws, world).iloc[some].reset_index(drop=True)
        slow = scores([replay(draws.plan(i), world) for i in some])
    pd.testing.assert_frame_equal(fast, slow, check_exact=True)


def test_episodes_of_one_kind_leave_the_same_findings_in_any_order() -> None:
    draws = draw(MESSY, SCENARIO, 400, np.random.default_rng(6))
    shuffled = draws.strays.copy()
    for row, lookups in zip(shuffled, draws.lookups, strict=True):
        np.random.default_rng(7).shuffle(row[: lookups + 4])
    other = replace(draws, strays=shuffled)
    assert (distinct(other)[1] == distinct(draws)[1]).all()
    with World(SCENARIO) as world:
        for i in range(0, 400, 10):
            findings = [
                sorted((f.kind, f.place.rstrip("0123456789")) for f in episode.verdict.findings)
                for episode in (replay(d.plan(i), world) for d in (draws, other))
            ]
            assert findings[0] == findings[1]


@pytest.mark.parametrize("agent", [CAREFUL, AGGRESSIVE, MESSY])
def test_the_simulation_meets_the_closed_forms(agent: Agent) -> None:
    table = simulate(agent, SCENARIO, np.random.default_rng(8), 4_000)
    exact = expected(agent.edit, agent.write, agent.claim_unfinished)
    assert list(table) == list(exact) == [*GRADERS, "collateral"]
    for column, value in exact.items():
        assert abs(table[column].mean() - value) < 4 * table[column].sem(), column


def test_three_scoreboards_rank_aggressive_first_and_the_full_diff_careful(
    simulated_tables: dict[str, pd.DataFrame],
) -> None:
    board = scoreboard(simulated_tables)
    lead = board["lead"] / board["lead SE"]
    assert (lead[["own report", "partial credit", "targets only"]] > 3).all()
    assert lead["full diff"] < -3


def test_a_seed_decides_the_simulation_and_the_rows_of_the_world_do_not() -> None:
    draws = draw(MESSY, SCENARIO, 300, np.random.default_rng(9))
    same = draw(MESSY, SCENARIO, 300, np.random.default_rng(9))
    with World(SCENARIO, seed=1) as one, World(SCENARIO, seed=2) as two:
        pd.testing.assert_frame_equal(score(draws, one), score(same, two), check_exact=True)


def test_the_scoreboard_shows_means_and_the_standard_errors_of_independent_samples() -> None:
    board = scoreboard(
        {"A": pd.DataFrame({"x": [0.0, 1, 1, 0]}), "B": pd.DataFrame({"x": [1.0, 1, 0]})}
    )
    assert board.loc["x", "A"] == 0.5
    assert board.loc["x", "A SE"] == pytest.approx((1 / 3 / 4) ** 0.5)
    assert board.loc["x", "lead"] == pytest.approx(1 / 6)
    assert board.loc["x", "lead SE"] == pytest.approx((1 / 12 + 1 / 9) ** 0.5)


def test_the_scoreboard_hides_no_missing_score() -> None:
    gap = pd.DataFrame({"x": [1.0, np.nan, 1.0]})
    assert np.isnan(scoreboard({"A": gap, "B": gap}).loc["x", "A"])


def test_the_scoreboard_refuses_what_it_cannot_compare() -> None:
    one = pd.DataFrame({"x": [1.0]})
    with pytest.raises(ValueError, match="two agents, not 1"):
        scoreboard({"A": one})
    with pytest.raises(ValueError, match="A has 1 episodes"):
        scoreboard({"A": one, "B": one})
