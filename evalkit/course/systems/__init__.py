"""How each system of the sources grades one and the same episode of ours, side by side.

Each file holds one system's own idea of grading, run for real; `evalkit.course.systems.episode`
holds the episode, played four times. The ideas are theirs, and the code is ours: where it does
something otherwise than the original, the file says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from evalkit.course.systems.agentboard import progress
from evalkit.course.systems.agents_that_matter import frontier
from evalkit.course.systems.appworld import state_tests
from evalkit.course.systems.episode import REQUEST, SCRIPTS, Grade, Played, play_calls, played
from evalkit.course.systems.osworld import file_score
from evalkit.course.systems.ours import full_verdict
from evalkit.course.systems.swe_bench import PATCHES, resolution
from evalkit.course.systems.tau_bench import goal_match
from evalkit.course.systems.the_agent_company import checkpoint_score
from evalkit.course.systems.webarena import product_score

__all__ = [
    "REQUEST",
    "SCRIPTS",
    "SYSTEMS",
    "Grade",
    "Played",
    "play_calls",
    "played",
    "side_by_side",
]


class System(NamedTuple):
    """A system: what it looks at, how it grades an episode, and why it sees what it sees."""

    name: str
    looks_at: str
    grade: Callable[[Played], Grade]
    why: str


def _resolution(episode: Played) -> Grade:
    return resolution(PATCHES[episode.name])


SYSTEMS = (
    System(
        "τ-bench",
        "the whole database at the end, and outputs in the answer",
        goal_match,
        "any difference from the goal state counts",
    ),
    System(
        "AppWorld",
        "the difference of the databases, by unit tests",
        state_tests,
        "a test asks that no other order changed",
    ),
    System(
        "SWE-bench",
        "the repository's tests after the patch",
        _resolution,
        "no old test looks at what else was changed",
    ),
    System(
        "TheAgentCompany",
        "checkpoints, each with points",
        checkpoint_score,
        "no checkpoint takes points away",
    ),
    System(
        "AgentBoard",
        "the subgoals that hold, at the best moment",
        progress,
        "what is no subgoal is not looked at",
    ),
    System(
        "WebArena",
        "the answer, the last address, named pages",
        product_score,
        "the other order's page is not opened",
    ),
    System(
        "OSWorld",
        "named cells of the file that was fetched",
        file_score,
        "the other order's cell is not fetched",
    ),
    System(
        "evalkit",
        "every change, the trajectory and the answer",
        full_verdict,
        "what is not required or allowed is collateral",
    ),
)


def side_by_side() -> pd.DataFrame:
    """What each system looks at, its grade of each episode, and what it sees.

    Returns
    -------
    DataFrame
        One row a system: ``looks at``; one column an episode, verdict and score; ``sees
        collateral`` and ``sees undone damage``, which say whether that episode's grade differs
        from the good one's; ``why``. For the cost frontier, calls and place, by two graders.

    Examples
    --------
    >>> side_by_side().loc["TheAgentCompany", ["good", "collateral", "unfinished"]].tolist()
    ['pass 1.00', 'pass 1.00', 'fail 0.40']
    """
    episodes = [played(name) for name in SCRIPTS]
    rows = [_row(system, {e.name: str(system.grade(e)) for e in episodes}) for system in SYSTEMS]
    for name, grader in (("TheAgentCompany", checkpoint_score), ("evalkit", full_verdict)):
        rows.insert(-1, _frontier_row(name, grader, episodes))
    return pd.DataFrame(rows).set_index("system")


def _row(system: System, grades: dict[str, str]) -> dict[str, str]:
    sees = {
        f"sees {what}": "no" if grades[name] == grades["good"] else "yes"
        for name, what in (("collateral", "collateral"), ("undone", "undone damage"))
    }
    return {"system": system.name, "looks at": system.looks_at, **grades, **sees, "why": system.why}


def _frontier_row(
    name: str, grader: Callable[[Played], Grade], episodes: list[Played]
) -> dict[str, str]:
    places = frontier(episodes, grader)
    seen = _row(System("", "", grader, ""), {e.name: str(grader(e)) for e in episodes})
    cells = {
        str(agent): f"{row['cost']} calls, {'on it' if row['on the frontier'] else 'beaten'}"
        for agent, row in places.iterrows()
        if agent != "nothing"
    }
    return (
        seen
        | cells
        | {
            "system": f"cost frontier, graded by {name}",
            "looks at": "cost and success",
            "why": "it sees what its grader sees",
        }
    )
