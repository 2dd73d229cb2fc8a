"""TheAgentCompany: points for checkpoints, and half of the score for having them all.

A task has checkpoints, each worth points, and they are checked at the end. With ``Result`` points earned of ``Total``, and 1 for
S_full if all are earned, else 0, the score is 0.5 Result / Total + 0.5 S_full. So an unfinished
task stays below a half, and what stands in no checkpoint is not looked at.

Xu et al. 2024, *TheAgentCompany*, arXiv:2412.14161.
"""

from __future__ import annotations

from evalkit.course.systems.episode import PARTS, Grade, Played, grade_of
from evalkit.credit import Checkpoint, credit, half_and_half

POINTS = {"address": 1, "cancel": 1, "refund": 2, "note": 1}


def checkpoint_score(episode: Played) -> Grade:
    """The score of the episode's checkpoints; it passes only with all of their points.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> print(checkpoint_score(played("unfinished")), checkpoint_score(played("collateral")))
    fail 0.40 pass 1.00
    """
    checkpoints = [Checkpoint(name, holds, POINTS[name]) for name, holds in PARTS.items()]
    earned = credit([episode.before, episode.after], checkpoints).earned
    points = sum(POINTS[name] for name, holds in earned.items() if holds)
    return grade_of(earned, float(half_and_half(points, sum(POINTS.values()))))
