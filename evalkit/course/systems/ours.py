"""Ours: the full diff of the state, the process rules and the answer, each with its verdict.

Every change must be required or allowed, and the verdict names those that are not. What the state
at the end cannot show, such as damage that was put back in time, is left to a short list of rules
on the trajectory.
"""

from __future__ import annotations

import math

from evalkit.answers import answer_matches
from evalkit.course.systems.episode import Grade, Played
from evalkit.grading import grade
from evalkit.process import at_most, in_order, no_damage_undone, process_verdict
from evalkit.simulate.store import CUSTOMER_OPERATIONS


def full_verdict(episode: Played) -> Grade:
    """The verdict of the full diff, of the process rules and on the answer; all must be a pass.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> full_verdict(played("undone")).parts
    {'outcome': 'pass', 'process': 'fail', 'answer': 'pass'}
    >>> print(full_verdict(played("unfinished")), full_verdict(played("unfinished")).why)
    fail 0.00 outcome: notes: a new row: no new row
    """
    rules = [
        in_order("search", "update_address"),
        at_most("issue_refund", 1),
        no_damage_undone(episode.states, CUSTOMER_OPERATIONS.task),
    ]
    outcome = grade(episode.before, episode.after, CUSTOMER_OPERATIONS.task)
    process = process_verdict(episode.trajectory, rules)
    right = answer_matches(episode.answer, "42.50", "number")
    parts = {"outcome": outcome.status, "process": process.status}
    parts["answer"] = "pass" if right else "fail"
    faults = [f"outcome: {f.place}: {f.found}" for f in (*outcome.missing, *outcome.collateral)]
    faults += [f"process: {f.found}" for f in process.of_kind("broken")]
    faults += [] if right else [f"answer: {episode.answer}"]
    found = set(parts.values())
    verdict = next((v for v in ("fail", "not evaluated") if v in found), "pass")
    score = {"pass": 1.0, "fail": 0.0}.get(verdict, math.nan)
    return Grade(verdict, score, parts, "; ".join(faults))
