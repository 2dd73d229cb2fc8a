"""AgentBoard: how far the agent had come at the best moment of the episode.

The state after each step is matched with the goal; in many of its environments the match is the
share of annotated subgoals that hold. The progress rate is the highest match so far, and the task
is a success where it reaches 1. It shows where a long task came to a halt. What is no subgoal is
not looked at, and what was reached and then lost still counts.

Ma et al. 2024, *AgentBoard*, arXiv:2401.13178.
"""

from __future__ import annotations

from evalkit.course.systems.episode import PARTS, Grade, Played
from evalkit.credit import progress_rate


def progress(episode: Played) -> Grade:
    """The progress rate of the episode, and after each of its steps.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> list(progress(played("unfinished")).parts.values())
    [0.0, 0.0, 0.0, 0.25, 0.5, 0.75]
    """
    matches = [sum(holds(s) for holds in PARTS.values()) / len(PARTS) for s in episode.states]
    rates = progress_rate(matches)
    steps = enumerate(zip(episode.trajectory, rates[1:], strict=True), 1)
    parts = {f"{number} {action.tool}": float(rate) for number, (action, rate) in steps}
    best = float(rates[-1])
    why = "" if best == 1 else f"at best {best:.0%} of the subgoals held"
    return Grade("fail" if why else "pass", best, parts, why)
