"""AI Agents That Matter: cost beside success, and the frontier of the agents that no other beats.

The paper grades no episode itself. It takes the success that a benchmark gives, draws it over what
the agent cost, and calls for the agents on the convex frontier: two of them can always be mixed by
a coin. The frontier can be no better than the grader. One that overlooks damage puts an agent on it
that was cheap because it did not look.

Cost here is the number of calls. An agent is one script on one task, so there is nothing to average.

Kapoor et al. 2024, *AI Agents That Matter*, arXiv:2407.01502.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from evalkit.budget import upper_hull
from evalkit.course.systems.episode import Grade, Played, play_calls


def frontier(episodes: Iterable[Played], grader: Callable[[Played], Grade]) -> pd.DataFrame:
    """The cost and the success of each episode, and whether it is on the frontier.

    Parameters
    ----------
    episodes : iterable of Played
        One an agent.
    grader
        Says what is a success.

    Returns
    -------
    DataFrame
        By name, first an agent that does nothing at no cost: cost, success, on the frontier.

    Raises
    ------
    ValueError
        If the grader does not evaluate an episode.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> from evalkit.course.systems.the_agent_company import checkpoint_score
    >>> frontier([played("good"), played("collateral")], checkpoint_score)
                cost  success  on the frontier
    agent
    nothing        0      0.0             True
    good           7      1.0            False
    collateral     6      1.0             True
    """
    rows = []
    for episode in [play_calls((), "nothing", answer=""), *episodes]:
        found = grader(episode)
        if found.verdict == "not evaluated":
            raise ValueError(f"episode {episode.name!r} is not evaluated: {found.why}")
        rows.append((episode.name, len(episode.trajectory), float(found.passed)))
    table = pd.DataFrame(rows, columns=["agent", "cost", "success"]).set_index("agent")
    return table.assign(**{"on the frontier": upper_hull(table["cost"], table["success"])})
