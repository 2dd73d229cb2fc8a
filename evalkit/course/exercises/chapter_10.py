"""Exercises of chapter 10: success within a budget, what a cap leaves open, what may be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evalkit.course.exercises import Exercise, Wrong

Log = tuple[tuple[int, ...], tuple[int, ...]]

STRICT = "An episode that used exactly the budget has kept to it."
OF_THE_SUCCESSES = (
    "You divide by the episodes that succeeded in the end. The others were tried as well."
)
LATE_DROPPED = (
    "You leave out the episodes that took longer. They took longer because they were hard: within "
    "the budget they have failed."
)
ENDED = "You count the episodes that ended in time. Some of them ended without success."
NO_BUDGET = "That is the share that succeeded at all, whatever it took."
SURVIVAL = (
    "You treat an episode that stopped without success as if it would have gone on like the others. "
    "It has failed."
)
BRACKETS = "`&` binds tighter than `<=`: put the comparison in brackets."
A_COUNT = "That is a count of episodes. The share of them is wanted."
NOT_THE_SHARE = "That is not the share of all episodes that succeeded with at most the budget."

# The first tells every known mistake apart from every other.
BUDGETS: tuple[tuple[Log, int], ...] = (
    (((5, 10, 10, 20, 30, 7, 12, 10), (1, 1, 0, 1, 1, 0, 1, 1)), 10),
    (((3, 8, 15), (0, 0, 0)), 20),
    (((3, 8, 15, 16), (1, 1, 1, 1)), 15),
)


def _survival(steps: np.ndarray, success: np.ndarray, budget: int) -> float:
    left = 1.0
    for at in np.unique(steps[success & (steps <= budget)]):
        left *= 1 - (success & (steps == at)).sum() / (steps >= at).sum()
    return 1 - left


def check_a(within_budget: Callable[[np.ndarray, np.ndarray, int], Any]) -> str | None:
    """What a count of success within a budget gets wrong, if anything."""
    for (taken, done), budget in BUDGETS:
        steps, success = np.array(taken), np.array(done, dtype=bool)
        found = float(within_budget(steps.copy(), success.copy(), budget))
        in_time = steps <= budget
        right = (success & in_time).mean()
        if np.isclose(found, right):
            continue
        known = (
            (STRICT, (success & (steps < budget)).mean()),
            (OF_THE_SUCCESSES, (success & in_time).sum() / max(success.sum(), 1)),
            (LATE_DROPPED, (success & in_time).sum() / in_time.sum()),
            (ENDED, in_time.mean()),
            (NO_BUDGET, success.mean()),
            (SURVIVAL, _survival(steps, success, budget)),
            (BRACKETS, ((success & steps) <= budget).mean()),
            (A_COUNT, (success & in_time).sum()),
        )
        return next((text for text, value in known if np.isclose(found, value)), NOT_THE_SHARE)
    return None


STOPPED_FAILED = (
    "You take an episode that was stopped by a smaller cap for a failure. With the budget it might "
    "have succeeded: what is the most?"
)
STOPPED_DROPPED = (
    "You leave out what was stopped. A bracket keeps all episodes, and asks what the unknown ones "
    "could have done."
)
GAVE_UP_OPEN = (
    "You also take those for unknown that stopped on their own, before their cap. Would a larger "
    "budget have helped them?"
)
AT_THE_BUDGET = (
    "An episode whose cap is the budget itself had all of it, and failed. Nothing is unknown there."
)
ALL_OPEN = "You take every failure for unknown. Which ones would have gone on with the budget?"
LATE_COUNTED = "An episode that succeeded with more than the budget has failed within it."
NOT_THE_BRACKET = (
    "That is not the bracket. Sort the episodes into three: succeeded, failed, unknown."
)
A_PAIR = "Return two numbers, the least first."

CAPS = (
    # steps, success, caps
    (20, 1, 50), (50, 0, 50), (30, 0, 50), (60, 0, 60), (60, 0, 60),
    (80, 1, 100), (90, 0, 100), (40, 1, 50), (50, 0, 50),
)  # fmt: skip


def check_b(least_and_most: Callable[..., Any]) -> str | None:
    """What a bracket under caps gets wrong, if anything."""
    for budget, rows in ((60, CAPS), (50, CAPS), (200, CAPS[:4])):
        taken, done, allowed = np.array(rows).T
        success = done.astype(bool)
        found = least_and_most(taken.copy(), success.copy(), allowed.copy(), budget)
        if len(found) != 2:
            return A_PAIR
        made, failed, at_cap = success & (taken <= budget), ~success, taken >= allowed
        unknown = failed & at_cap & (allowed < budget)
        if np.allclose(found, (made.mean(), (made | unknown).mean())):
            continue
        low, kept = made.mean(), ~unknown
        known = (
            (STOPPED_FAILED, (low, low)),
            (STOPPED_DROPPED, (made[kept].mean(), made[kept].mean())),
            (GAVE_UP_OPEN, (low, (made | (failed & (allowed < budget))).mean())),
            (AT_THE_BUDGET, (low, (made | (failed & at_cap & (allowed <= budget))).mean())),
            (ALL_OPEN, (low, (made | failed).mean())),
            (LATE_COUNTED, (success.mean(), (success | unknown).mean())),
        )
        return next((text for text, pair in known if np.allclose(found, pair)), NOT_THE_BRACKET)
    return None


REPORTS = {
    "A": "Failed within which budget? And what is known of those that the clock of the batch ended?",
    "B": (
        "Those that used up their commands are the long ones. Without them the rest looks better "
        "than the model is."
    ),
    "D": (
        "Then the long tasks get a second try that the others did not get, and one number mixes two "
        "budgets."
    ),
}


def check_c(answer: Any) -> str | None:
    """What went wrong with the report of a run under two limits."""
    letter = str(answer).strip().upper()
    return None if letter == "C" else REPORTS.get(letter, "Answer with one letter, such as `'A'`.")


VERDICTS: dict[str, tuple[str, str]] = {
    "tutorial": (
        "refuse",
        "tutorial: two scores and two budgets, and no log to cut at the smaller one.",
    ),
    "fifty for all": (
        "compare",
        "fifty for all: the budgets are equal. What the result holds for is another question: "
        "50 steps, and no more.",
    ),
    "cut": ("compare", "cut: what does the log with the larger cap hold about the smaller one?"),
    "best of five": (
        "refuse",
        "best of five: how many steps may the one spend on a task, and how many the other?",
    ),
    "wider cap": (
        "compare",
        "wider cap: no episode was stopped. What would more steps have changed?",
    ),
}


def check_d(answers: Any) -> str | None:
    """Which of five comparisons is allowed or refused wrongly."""
    if not isinstance(answers, dict) or set(answers) != set(VERDICTS):
        return f"Keep the dictionary, with these keys: {', '.join(VERDICTS)}."
    for key, (right, message) in VERDICTS.items():
        found = str(answers[key]).strip().lower()
        if found not in ("compare", "refuse"):
            return f"{key}: write 'compare' or 'refuse'."
        if found != right:
            return message
    return None


HULL = (
    "You also drop agents that only a mixture of two others beats. Here it takes one other agent to "
    "beat one."
)
RATIO = (
    "You keep only the cheapest, or the one with most success per dollar. A dearer agent that succeeds "
    "more often is unbeaten, too."
)
TIES_KEPT = (
    "You keep an agent although another costs the same and succeeds more often, or succeeds as often "
    "and costs less. Better in one and equal in the other is enough."
)
TWINS_LOST = "Two agents with the same cost and success do not beat each other. Keep both."
BEATS_ITSELF = "Nobody is left: by your rule an agent beats itself."
ONLY_THE_BEST = "You keep only who succeeds most often. A cheaper agent may be unbeaten as well."
NOT_UNBEATEN = "That is not the list of agents that no other beats."

FIELD: dict[str, tuple[float, float]] = {
    "a": (1.0, 0.5),
    "b": (2.0, 0.52),
    "c": (2.0, 0.51),
    "d": (3.0, 0.52),
    "e": (4.0, 0.7),
    "f": (4.0, 0.7),
    "g": (9.0, 0.6),
}


def check_e(unbeaten: Callable[[dict[str, tuple[float, float]]], Any]) -> str | None:
    """What a Pareto set gets wrong, if anything."""
    found = set(unbeaten(dict(FIELD)))
    messages = {
        frozenset("aef"): HULL,
        frozenset("a"): RATIO,
        frozenset("abcdef"): TIES_KEPT,
        frozenset("abcef"): TIES_KEPT,
        frozenset("abdef"): TIES_KEPT,
        frozenset("abe"): TWINS_LOST,
        frozenset("ab"): TWINS_LOST,
        frozenset(): BEATS_ITSELF,
        frozenset("ef"): ONLY_THE_BEST,
    }
    if found != set("abef"):
        return messages.get(frozenset(found), NOT_UNBEATEN)
    single = unbeaten({"only": (3.0, 0.0)})
    return None if set(single) == {"only"} else NOT_UNBEATEN


def _all_but(off: str) -> str:
    """The answer to 10.d that is right but for one key."""
    other = {"compare": "refuse", "refuse": "compare"}
    given = {key: other[right] if key == off else right for key, (right, _) in VERDICTS.items()}
    return f"verdicts = {given!r}"


EXERCISES = (
    Exercise(
        id="10.a",
        title="Success within a budget",
        minutes=8,
        difficulty=1,
        prompt="""
Write `within_budget(steps, success, budget)`: the share of episodes that succeeded within the budget.
`steps` and `success` are NumPy arrays, one entry for each episode: what it used, and whether it
succeeded in the end. Nothing but the agent itself ended an episode.
""",
        answer="within_budget",
        given="import numpy as np",
        stub="""\
def within_budget(steps, success, budget):
    return ...""",
        hints=(
            "Two things must be true of an episode. Of how many episodes do you take the share?",
            "`(a & b).mean()` is the share of entries for which both hold.",
        ),
        solution="""\
def within_budget(steps, success, budget):
    return (success & (steps <= budget)).mean()""",
        wrong=(
            Wrong(
                """\
def within_budget(steps, success, budget):
    return (success & (steps < budget)).mean()""",
                STRICT,
            ),
            Wrong(
                """\
def within_budget(steps, success, budget):
    return (steps[success] <= budget).mean()""",
                OF_THE_SUCCESSES,
            ),
            Wrong(
                """\
def within_budget(steps, success, budget):
    return success[steps <= budget].mean()""",
                LATE_DROPPED,
            ),
            Wrong(
                """\
def within_budget(steps, success, budget):
    return (steps <= budget).mean()""",
                ENDED,
            ),
            Wrong(
                """\
def within_budget(steps, success, budget):
    return success.mean()""",
                NO_BUDGET,
            ),
            Wrong(
                """\
def within_budget(steps, success, budget):
    left = 1
    for at in range(budget + 1):
        if (steps >= at).any():
            left *= 1 - (success & (steps == at)).sum() / (steps >= at).sum()
    return 1 - left""",
                SURVIVAL,
            ),
            Wrong(
                """\
def within_budget(steps, success, budget):
    return (~success & (steps <= budget)).mean()""",
                NOT_THE_SHARE,
            ),
            Wrong(
                """\
def within_budget(steps, success, budget):
    return (success & steps <= budget).mean()""",
                BRACKETS,
            ),
            Wrong(
                """\
def within_budget(steps, success, budget):
    return (success & (steps <= budget)).sum()""",
                A_COUNT,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="10.b",
        title="What a cap leaves open",
        minutes=12,
        difficulty=3,
        prompt="""
Now each episode had a cap of its own, in the array `caps`: it was stopped when it had used that many
steps without success. Write `least_and_most(steps, success, caps, budget)`, the pair of values between
which the share of success within the budget lies.
""",
        answer="least_and_most",
        given="import numpy as np",
        stub="""\
def least_and_most(steps, success, caps, budget):
    return ...""",
        hints=(
            "Of which episodes do we not know how they would have ended, had each had the budget?",
            "An unknown one has failed, has used its cap, and its cap was smaller than the budget.",
        ),
        solution="""\
def least_and_most(steps, success, caps, budget):
    made = success & (steps <= budget)
    unknown = ~success & (steps >= caps) & (caps < budget)
    return made.mean(), (made | unknown).mean()""",
        wrong=(
            Wrong(
                """\
def least_and_most(steps, success, caps, budget):
    made = success & (steps <= budget)
    return made.mean(), made.mean()""",
                STOPPED_FAILED,
            ),
            Wrong(
                """\
def least_and_most(steps, success, caps, budget):
    stopped = ~success & (steps >= caps) & (caps < budget)
    share = (success & (steps <= budget))[~stopped].mean()
    return share, share""",
                STOPPED_DROPPED,
            ),
            Wrong(
                """\
def least_and_most(steps, success, caps, budget):
    made = success & (steps <= budget)
    return made.mean(), (made | (~success & (caps < budget))).mean()""",
                GAVE_UP_OPEN,
            ),
            Wrong(
                """\
def least_and_most(steps, success, caps, budget):
    made = success & (steps <= budget)
    stopped = ~success & (steps >= caps) & (caps <= budget)
    return made.mean(), (made | stopped).mean()""",
                AT_THE_BUDGET,
            ),
            Wrong(
                """\
def least_and_most(steps, success, caps, budget):
    made = success & (steps <= budget)
    return made.mean(), (made | ~success).mean()""",
                ALL_OPEN,
            ),
            Wrong(
                """\
def least_and_most(steps, success, caps, budget):
    unknown = ~success & (steps >= caps) & (caps < budget)
    return success.mean(), (success | unknown).mean()""",
                LATE_COUNTED,
            ),
            Wrong(
                """\
def least_and_most(steps, success, caps, budget):
    return 0.0, 1.0""",
                NOT_THE_BRACKET,
            ),
            Wrong(
                """\
def least_and_most(steps, success, caps, budget):
    return [success.mean()]""",
                A_PAIR,
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="10.c",
        title="A real run with two limits",
        minutes=6,
        difficulty=2,
        prompt="""
A harness ran a model on the programming tasks of SWE-bench. It allowed 75 commands a task, where the
usual agent allows 250, and four hours for the whole batch. In 71 tasks the commands were used up and
nothing was handed in. Another 88 had handed in nothing when the four hours were over. The score was
0.3679 ([pull request](https://github.com/SemiAnalysisAI/InferenceX/pull/2318), 2026). What would you
report of this run?

- `"A"`: 0.3679. Who hands in nothing has failed.
- `"B"`: the share of successes among the other tasks. The 159 were never finished.
- `"C"`: success within 75 commands, with the 71 as failures and the 88 as not evaluated, and the
  bracket that they leave.
- `"D"`: 0.3679 with the 159 run again at 250 commands, and the new results in place of the old.
""",
        answer="what_to_report",
        stub="what_to_report = ...",
        hints=(
            "Two limits ended tasks. Which of them is a budget that every task had?",
            "Whether the clock of the batch hits a task depends on the tasks before it.",
        ),
        solution='what_to_report = "C"',
        wrong=tuple(
            Wrong(f'what_to_report = "{letter}"', message) for letter, message in REPORTS.items()
        ),
        check=check_c,
    ),
    Exercise(
        id="10.d",
        title="Compare or refuse?",
        minutes=8,
        difficulty=2,
        prompt="""
May the two scores be compared? Answer `"compare"` or `"refuse"`.

- `tutorial`: 2.6 points within 50 steps, 4.2 within 100; only these scores were printed
  ([issue](https://github.com/microsoft/TextWorld/issues/191), 2019).
- `fifty for all`: a leaderboard ran one agent program with all models, with a limit of 50 steps for
  each ([issue](https://github.com/LiveBench/LiveBench/issues/300), 2025).
- `cut`: one log has a cap of 50 steps. The other has a cap of 100, and you count what succeeded
  within 50.
- `best of five`: one agent may try five times, 30 steps each, and the best try counts. The other tries
  once, 30 steps.
- `wider cap`: the logs have caps of 40 and 80 steps, and you ask about 80. In the first log every
  episode ended on its own before step 40.
""",
        answer="verdicts",
        stub="""\
verdicts = {
    "tutorial": ...,
    "fifty for all": ...,
    "cut": ...,
    "best of five": ...,
    "wider cap": ...,
}""",
        hints=(
            "Ask of each: how much was an agent allowed to spend on a task?",
            "And then: is there an episode of which we do not know how it would have ended?",
        ),
        solution="""\
verdicts = {
    "tutorial": "refuse",
    "fifty for all": "compare",
    "cut": "compare",
    "best of five": "refuse",
    "wider cap": "compare",
}""",
        wrong=tuple(Wrong(_all_but(key), message) for key, (_, message) in VERDICTS.items()),
        check=check_d,
    ),
    Exercise(
        id="10.e",
        title="Who is unbeaten?",
        minutes=10,
        difficulty=2,
        prompt="""
Write `unbeaten(agents)`. `agents` is a dictionary from a name to a pair: cost, success. One agent
*beats* another if it is at least as cheap and succeeds at least as often, and is better in one of the
two. Return the list of names that nobody beats.
""",
        answer="unbeaten",
        stub="""\
def unbeaten(agents):
    return ...""",
        hints=(
            "Write a function `beats(p, q)` first, for two pairs.",
            "Better in one of the two: if the pairs differ, at least as good in both is enough.",
        ),
        solution="""\
def unbeaten(agents):
    def beats(p, q):
        return p[0] <= q[0] and p[1] >= q[1] and p != q

    pairs = agents.values()
    return [name for name, q in agents.items() if not any(beats(p, q) for p in pairs)]""",
        wrong=(
            Wrong(
                """\
def unbeaten(agents):
    def below(q):
        return any(
            a <= q[0] <= c and a < c and q[1] <= b + (d - b) * (q[0] - a) / (c - a)
            for a, b in agents.values()
            for c, d in agents.values()
            if q not in ((a, b), (c, d))
        )

    best = max(success for _, success in agents.values())
    cheapest = min(cost for cost, success in agents.values() if success == best)
    return [name for name, q in agents.items() if q[0] <= cheapest and not below(q)]""",
                HULL,
            ),
            Wrong(
                """\
def unbeaten(agents):
    return [max(agents, key=lambda name: agents[name][1] / agents[name][0])]""",
                RATIO,
            ),
            Wrong(
                """\
def unbeaten(agents):
    pairs = agents.values()
    return [n for n, q in agents.items() if not any(p[0] < q[0] and p[1] > q[1] for p in pairs)]""",
                TIES_KEPT,
            ),
            Wrong(
                """\
def unbeaten(agents):
    pairs = agents.values()
    return [n for n, q in agents.items() if not any(p[0] < q[0] and p[1] >= q[1] for p in pairs)]""",
                TIES_KEPT,
            ),
            Wrong(
                """\
def unbeaten(agents):
    pairs = agents.values()
    return [n for n, q in agents.items() if not any(p[0] <= q[0] and p[1] > q[1] for p in pairs)]""",
                TIES_KEPT,
            ),
            Wrong(
                """\
def unbeaten(agents):
    best, kept = -1, []
    for name in sorted(agents, key=lambda name: (agents[name][0], -agents[name][1])):
        if agents[name][1] > best:
            best = agents[name][1]
            kept.append(name)
    return kept""",
                TWINS_LOST,
            ),
            Wrong(
                """\
def unbeaten(agents):
    items = agents.items()
    return [
        n for n, q in items
        if not any(p[0] <= q[0] and p[1] >= q[1] for m, p in items if m != n)
    ]""",
                TWINS_LOST,
            ),
            Wrong(
                """\
def unbeaten(agents):
    pairs = agents.values()
    return [n for n, q in agents.items() if not any(p[0] <= q[0] and p[1] >= q[1] for p in pairs)]""",
                BEATS_ITSELF,
            ),
            Wrong(
                """\
def unbeaten(agents):
    best = max(success for _, success in agents.values())
    return [name for name, (_, success) in agents.items() if success == best]""",
                ONLY_THE_BEST,
            ),
            Wrong(
                """\
def unbeaten(agents):
    return list(agents)""",
                NOT_UNBEATEN,
            ),
        ),
        check=check_e,
    ),
)
