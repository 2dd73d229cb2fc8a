"""τ-bench: the database at the end against the one that the task's own actions lead to.

The task holds gold actions. They are replayed on a fresh database, and the hash of the result is
compared with the hash of the agent's. Where the task also lists outputs, each must occur in what
the agent said. The reward is the product, 0 or 1.

Here as there the whole database counts, so that damage anywhere is seen; nothing says which damage.
Its tools write neither a log nor the time of a call, so ours are left out of the comparison. Two
things are done otherwise. A gold action that its tool refuses means here that the task is
broken; the original goes on, and compares with whatever state that leaves. An output is sought here
word by word and number by number; the original looks for the text anywhere in a message.

Yao et al. 2024, *τ-bench*, arXiv:2406.12045; ``tau_bench/envs/base.py`` in its repository.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.answers import contains
from evalkit.course.systems.episode import (
    GOLD,
    Grade,
    Played,
    grade_of,
    not_evaluated,
    play_calls,
    records,
)
from evalkit.forms import digest
from evalkit.simulate.world import Call

OUTPUTS = ("42.50",)


def goal_match(
    episode: Played, gold: Sequence[Call] = GOLD, outputs: Sequence[str] = OUTPUTS
) -> Grade:
    """Whether the episode ends in the goal state and its answer holds the required outputs.

    Parameters
    ----------
    episode : Played
        What is graded.
    gold : sequence of Call
        The actions that lead to the goal state.
    outputs : sequence of str
        What the answer must hold.

    Returns
    -------
    Grade
        Not evaluated if a gold action is refused.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> print(goal_match(played("good")), goal_match(played("collateral")))
    pass 1.00 fail 0.00
    """
    goal = play_calls(gold, "gold")
    for action in goal.trajectory:
        if action.error is not None:
            return not_evaluated(f"the task is broken: {action} is refused, {action.error}")
    same = digest(records(episode.after)) == digest(records(goal.after))
    said = {f"the answer holds {o}": not contains(episode.answer, o).absent for o in outputs}
    return grade_of({"the database equals the goal": same} | said)
