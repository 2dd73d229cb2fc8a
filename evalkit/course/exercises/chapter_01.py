"""Exercises of chapter 01: four graders, a lead and its error, the flip, and a real grading fault."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit.course.exercises import Exercise, Wrong

FOUR = "Return four numbers: own report, partial credit, targets only, full diff, in this order."
OWN_CORRECTED = (
    "The own report is what the agent says, right or wrong. Do not correct it by the records."
)
CREDIT_LESS = (
    "Partial credit looks at the required changes only. Damage elsewhere does not lower it."
)
CREDIT_FOUR = "A job can have another number of required changes. Divide by `required`."
CREDIT_ALL = "Partial credit is a share: three changes of four earn more than nothing."
TARGETS_PART = "Targets only is all or nothing: a part of the required changes earns no part of it."
TARGETS_SEES = "Targets only does not look beyond the required changes, so damage cannot lower it."
DIFF_BLIND = "The full diff also fails an episode that changed something nobody asked for."
DIFF_UNDONE = "The full diff also asks for the job: an episode that left work undone fails."
DIFF_CLAIM = (
    "The full diff looks at the records. A silent agent that did the job, and only the job, passes."
)
RECORDS_ONLY = (
    "Only the own report listens to the claim. The other three look at the records, and a silent "
    "agent may have done the job."
)
A_SCORE = "A score lies between 0 and 1. It is no percentage and no count."
GRADERS = ("own report", "partial credit", "targets only", "full diff")
OTHER = "The score of {} is off. Say in a sentence what this grader looks at, and do not round."

# An episode as (claim, met, required, collateral), its four scores, and the misconception that a
# wrong score betrays, by the score's place.
EPISODES: tuple[
    tuple[tuple[bool, int, int, int], tuple[float, float, float, float], dict[int, str]], ...
] = (
    ((True, 4, 4, 2), (1, 1, 1, 0), {1: CREDIT_LESS, 2: TARGETS_SEES, 3: DIFF_BLIND}),
    ((True, 4, 4, 1), (1, 1, 1, 0), {1: CREDIT_LESS, 2: TARGETS_SEES, 3: DIFF_BLIND}),
    (
        (True, 3, 4, 0),
        (1, 0.75, 0, 0),
        {0: OWN_CORRECTED, 2: TARGETS_PART, 3: DIFF_UNDONE},
    ),
    ((True, 1, 2, 0), (1, 0.5, 0, 0), {1: CREDIT_FOUR, 3: DIFF_UNDONE}),
    (
        (False, 4, 4, 0),
        (0, 1, 1, 1),
        {0: OWN_CORRECTED, 1: RECORDS_ONLY, 2: RECORDS_ONLY, 3: DIFF_CLAIM},
    ),
    ((False, 3, 3, 0), (0, 1, 1, 1), {1: CREDIT_FOUR, 2: CREDIT_FOUR, 3: CREDIT_FOUR}),
    ((True, 2, 4, 1), (1, 0.5, 0, 0), {0: OWN_CORRECTED, 1: CREDIT_LESS}),
    ((False, 0, 4, 0), (0, 0, 0, 0), {3: DIFF_UNDONE}),
)


def check_a(four_scores: Callable[..., Any]) -> str | None:
    """What a scorer of one episode confuses, if anything."""
    for episode, right, messages in EPISODES:
        found = _plain(four_scores(*episode))
        if not isinstance(found, tuple | list) or len(found) != len(right):
            return FOUR
        for i, (ours, theirs) in enumerate(zip(right, found, strict=True)):
            if not 0 <= theirs <= 1:
                return A_SCORE
            if not math.isclose(ours, theirs, abs_tol=1e-9):
                lost = i == 1 and ours > 0 == theirs
                return CREDIT_ALL if lost else messages.get(i, OTHER.format(GRADERS[i]))
    return None


def _plain(found: Any) -> Any:
    """An array or a series as a list; anything else as it is."""
    return found.tolist() if isinstance(found, np.ndarray | pd.Series) else found


PAIR = "Return two numbers: the lead and its standard error."
SIGN = (
    "The lead is how far the second agent is ahead of the first: second minus first, and negative "
    "if it is behind."
)
LEAD = "The lead is the difference of the two means: not rounded, and in the unit of the scores."
ADDED = (
    "The two errors do not add up: the two agents' luck is independent, and one's bad luck often "
    "meets the other's good. Add the squares, then take the root."
)
NO_ROOT_N = (
    "This is how far single episodes scatter, not how far their mean does. "
    "A mean of n episodes scatters less, by the root of n."
)
VARIANCE = "This is a variance. An error in points is its square root."
POOLED = (
    "This throws both agents' episodes into one list, and then the gap between the agents counts "
    "as scatter. Take each agent's error by itself."
)
PAIRED = (
    "Episode 7 of one agent has nothing to do with episode 7 of the other, and the lists may differ "
    "in length. Do not subtract them one by one."
)
ROOT_N = "A mean of n episodes scatters less than one episode does, but by the root of n, not by n."
ONE_MEAN = "This is the error of one agent's mean. The other agent has luck of its own."
TAKEN_OFF = (
    "The errors do not cancel: a difference of two means is less sure than either of them. Add the "
    "squares, then take the root."
)
ONLY_SHARES = (
    "This formula holds where each score is 0 or 1. Partial credit lies between: take the standard "
    "deviation of the scores."
)
SUM_ERRORS = (
    "The lead is right and its error is not. Take one agent's mean first: how far is it off?"
)


def _diagnosis_b(first: Sequence[float], second: Sequence[float], error: float) -> str:
    """What a wrong standard error stands for."""
    a, b = np.asarray(first, float), np.asarray(second, float)
    shared = min(len(a), len(b))
    known: dict[str, Callable[[int], float]] = {
        ADDED: lambda d: _sem(a, d) + _sem(b, d),
        NO_ROOT_N: lambda d: float(np.hypot(a.std(ddof=d), b.std(ddof=d))),
        VARIANCE: lambda d: _sem(a, d) ** 2 + _sem(b, d) ** 2,
        POOLED: lambda d: _sem(np.concatenate([a, b]), d),
        PAIRED: lambda d: _sem(b[:shared] - a[:shared], d),
        ROOT_N: lambda d: float(np.hypot(a.std(ddof=d) / len(a), b.std(ddof=d) / len(b))),
        TAKEN_OFF: lambda d: abs(_sem(a, d) - _sem(b, d)),
        ONLY_SHARES: lambda d: math.hypot(_of_share(a), _of_share(b)),
    }
    if any(math.isclose(error, _sem(one, d), rel_tol=1e-9) for one in (a, b) for d in (0, 1)):
        return ONE_MEAN
    for message, formula in known.items():
        if any(math.isclose(abs(error), formula(ddof), rel_tol=1e-9) for ddof in (0, 1)):
            return message
    return SUM_ERRORS


def _sem(scores: Any, ddof: int) -> float:
    return float(scores.std(ddof=ddof) / np.sqrt(len(scores)))


def _of_share(scores: Any) -> float:
    mean = scores.mean()
    return float(np.sqrt(mean * (1 - mean) / len(scores)))


def check_b(lead_and_error: Callable[..., Any]) -> str | None:
    """Whether a lead comes with the standard error of two independent means."""
    rng = np.random.default_rng(11)
    for n, m, share in ((40, 90, 0.8), (300, 200, 0.8), (60, 50, 0.2)):
        first, second = (
            rng.random(n).round(2).tolist(),
            (rng.random(m) < share).astype(float).tolist(),
        )
        found = _plain(lead_and_error(list(first), list(second)))
        if not isinstance(found, tuple | list) or len(found) != 2:
            return PAIR
        lead, error = float(found[0]), float(found[1])
        right = float(np.mean(second) - np.mean(first))
        if math.isclose(lead, -right, rel_tol=1e-9):
            return SIGN
        if not math.isclose(lead, right, rel_tol=1e-9):
            return LEAD
        a, b = np.asarray(first), np.asarray(second)
        errors = [math.hypot(_sem(a, ddof), _sem(b, ddof)) for ddof in (0, 1)]
        if not any(math.isclose(error, e, rel_tol=1e-9) for e in errors):
            return _diagnosis_b(first, second, error)
    return None


WHOLE = "Return a whole number of episodes: an `int`, rounded up."
ONE_AGENT = "Both agents' scores have an error. You counted the scatter of one of them."
NOT_SQUARED = (
    "The error shrinks with the root of the number of episodes. To make it three times smaller "
    "takes nine times as many."
)
NO_FACTOR = "This makes the lead one standard error. That much happens by luck all the time."
GAP_TOO = (
    "You divide by the difference. Where it equals three standard errors, its square equals nine "
    "of their squares."
)
BOTH = "Count the episodes of each agent, not of both together."
DOWN = "One episode short: with this number the lead is a little less than three errors. Round up."
TOO_MANY = (
    "One episode too many: where the number comes out whole, it is itself enough. "
    "Round up, which leaves a whole number as it is."
)
NEEDS = "Put your number back: are the lead and three standard errors equal there?"


def _needed(p: float, q: float, errors: float = 3) -> float:
    return errors**2 * (p * (1 - p) + q * (1 - q)) / (p - q) ** 2


def check_c(episodes_needed: Callable[[float, float], Any]) -> str | None:
    """Whether enough episodes are asked for, and not more."""
    for p, q in ((0.96, 0.82), (0.52, 0.47), (0.9, 0.78), (0.31, 0.72), (0.25, 0.625)):
        # The last pair needs a whole number, 27, and is exact in binary: no rounding to forgive.
        found, exact = episodes_needed(p, q), _needed(p, q)
        if isinstance(found, bool) or not isinstance(found, int | np.integer):
            return WHOLE
        if found == math.ceil(exact):
            continue
        known = {
            ONE_AGENT: [9 * r * (1 - r) / (p - q) ** 2 for r in (p, q)],
            NO_FACTOR: [_needed(p, q, 1)],
            NOT_SQUARED: [exact / 3],
            BOTH: [2 * exact],
            GAP_TOO: [exact * (p - q), exact * abs(p - q)],
            ADDED: [9 * ((p * (1 - p)) ** 0.5 + (q * (1 - q)) ** 0.5) ** 2 / (p - q) ** 2],
        }
        for message, values in known.items():
            if any(abs(found - value) <= 2 for value in values):
                return message
        if found == math.floor(exact):
            return DOWN
        return TOO_MANY if found == math.floor(exact) + 1 else NEEDS
    return None


RIVAL_STRAYS = (
    "The rival also makes unintended writes. Its score under the full diff is less than its share "
    "of finished jobs."
)
PER_EPISODE = "You solved for the whole episode. One action's share is its root: `** (1/actions)`."
UPSIDE_DOWN = (
    "The better editor may make more unintended writes than its rival, not fewer. "
    "Which accuracy belongs on top?"
)
KEPT_CLEAN = (
    "This is the chance that an action brings no unintended write. What is asked is that it does."
)
ONE_EDIT = "All the edits must be right, not one: each accuracy is raised to the number of edits."
SWAPPED = "You took the number of edits for that of actions, and the other way round."
BRACKETS = (
    "Python reads `x ** 1 / n` as `(x ** 1) / n`. The root needs its brackets: `x ** (1 / n)`."
)
BY_EDITS = "The root is by the number of actions: on each of them a write can go astray."
IN_PARTS = (
    "You gave each action an equal part of the whole. Chances of several actions multiply, so one "
    "action's is a root."
)
OWN_EDITS = "Our agent does not finish every job either: its own accuracy belongs in the equation."
A_SHARE = "Return a share from 0 to 1, and no percentage."
NEAR = "Near, and not the rate itself. Do not round or search in steps: solve for it."
PUT_BACK = (
    "Put your rate back: the chance that all is right and nothing else is touched should be the "
    "same for both agents, and it is not."
)


def _clean(e: float, other: float, write: float, power: float) -> float:
    """Chance that an action of the better editor may keep, with the ratio raised to a power."""
    return (1 - write) * (other / e) ** power


def check_d(flip_write_rate: Callable[..., Any]) -> str | None:
    """Whether a write rate makes two agents equal under the full diff."""
    for e, other, write, edits, actions in (
        (0.95, 0.85, 0.01, 3, 5),
        (0.9, 0.9, 0.02, 2, 8),
        (0.99, 0.7, 0.0, 6, 10),
    ):
        found = float(flip_write_rate(e, other, write, edits, actions))
        right = 1 - _clean(e, other, write, edits / actions)
        if math.isclose(found, right, abs_tol=1e-6):
            continue
        whole = (1 - write) ** actions * (other / e) ** edits
        known = {
            KEPT_CLEAN: [_clean(e, other, write, edits / actions)],
            RIVAL_STRAYS: [1 - _clean(e, other, 0, edits / actions)],
            PER_EPISODE: [1 - whole, whole, 1 - _clean(e, other, write, edits)],
            UPSIDE_DOWN: [1 - _clean(other, e, write, edits / actions)],
            ONE_EDIT: [1 - _clean(e, other, write, 1 / actions)],
            SWAPPED: [1 - _clean(e, other, write, actions / edits)],
            BRACKETS: [1 - whole / actions],
            BY_EDITS: [1 - whole ** (1 / edits)],
            IN_PARTS: [(1 - whole) / actions],
            OWN_EDITS: [1 - _clean(1, other, write, edits / actions)],
            A_SHARE: [100 * right],
        }
        for message, values in known.items():
            if any(math.isclose(found, value, abs_tol=1e-9) for value in values):
                return message
        return NEAR if abs(found - right) < 0.003 else PUT_BACK
    return None


REPAIRS = {
    "A": (
        "Then the right words still earn a pass over a wrong database. The words are matched more "
        "strictly, and the damage is as invisible as before."
    ),
    "B": (
        "Then an agent that never answers the customer's question passes. On a task that only asks "
        "a question, so does an agent that does nothing."
    ),
    "C": (
        "Then words over a wrong database still earn half a point, and a mean of many such "
        "episodes looks like half a job done. Nobody got half a job."
    ),
}


def check_e(answer: Any) -> str | None:
    """The one repair after which neither half can hide the other."""
    letter = str(answer).strip().upper()
    if letter == "D":
        return None
    return REPAIRS.get(letter, "Answer with one letter, such as `'A'`.")


EXERCISES = (
    Exercise(
        id="01.a",
        title="Four graders of one episode",
        minutes=8,
        difficulty=1,
        prompt="""
An episode is told by four facts: whether the agent claimed success (`claim`), how many of the
required changes were made (`met`), how many there are (`required`), and how many changes are
collateral (`collateral`).

Write `four_scores`. It returns four numbers from 0 to 1, in the order of the chapter: own report,
partial credit, targets only, full diff.
""",
        answer="four_scores",
        stub="""\
def four_scores(claim, met, required, collateral):
    return ...""",
        hints=(
            "Each grader uses as few of the four facts as it can. Which ones?",
            "The own report needs one fact, the next two graders need two, the full diff three. "
            "`float(met == required)` is 1.0 or 0.0.",
        ),
        solution="""\
def four_scores(claim, met, required, collateral):
    finished = met == required
    clean = collateral == 0
    return float(claim), met / required, float(finished), float(finished and clean)""",
        wrong=(
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    done = met == required
    return 100 * claim, 100 * met / required, 100 * done, 100 * (done and not collateral)""",
                A_SCORE,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    done = met == required
    return float(claim), met / required, float(done and claim), float(done and not collateral)""",
                RECORDS_ONLY,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    done = met == required
    credit = round(met / required, 1)
    return float(claim), credit, float(done), float(done and not collateral)""",
                OTHER.format("partial credit"),
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    done = met == required
    return float(claim), met // required, float(done), float(done and not collateral)""",
                CREDIT_ALL,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    done = met == required
    return float(claim), met / required, float(done), float(done and collateral <= 1)""",
                DIFF_BLIND,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    finished = met == required
    return float(claim), met / required, float(finished), float(finished)""",
                DIFF_BLIND,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    finished = met == required
    passed = claim and finished and not collateral
    return float(claim), met / required, float(finished), float(passed)""",
                DIFF_CLAIM,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    finished = met == required
    passed = finished and not collateral
    return float(claim and finished), met / required, float(finished), float(passed)""",
                OWN_CORRECTED,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    finished = met == required
    credit = max(0, met - collateral) / required
    return float(claim), credit, float(finished), float(finished and not collateral)""",
                CREDIT_LESS,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    share = met / required
    return float(claim), share, share, float(share == 1 and not collateral)""",
                TARGETS_PART,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    finished = met == 4
    return float(claim), met / 4, float(finished), float(finished and not collateral)""",
                CREDIT_FOUR,
            ),
            Wrong(
                """\
def four_scores(claim, met, required, collateral):
    finished = met == required
    return float(claim), met / required, float(finished), float(not collateral)""",
                DIFF_UNDONE,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="01.b",
        title="A lead, and how sure it is",
        minutes=8,
        difficulty=2,
        prompt="""
Two agents were played on the same task. You have the scores of their episodes as two lists, which
may differ in length. Write `lead_and_error`: by how much the second agent's mean is ahead of the
first's, and the standard error of that lead.
""",
        answer="lead_and_error",
        given="import numpy as np",
        stub="""\
def lead_and_error(first, second):
    return ...""",
        hints=(
            "Start with one agent: the standard error of its mean is the standard deviation of its "
            "scores divided by the root of how many there are.",
            "The two agents were played independently. Then the squares of the two errors add up: "
            "`np.hypot(a, b)` is the root of a squared plus b squared.",
        ),
        solution="""\
def lead_and_error(first, second):
    errors = [np.std(scores) / len(scores) ** 0.5 for scores in (first, second)]
    return np.mean(second) - np.mean(first), np.hypot(*errors)""",
        wrong=(
            Wrong(
                """\
def lead_and_error(first, second):
    p, q = np.mean(first), np.mean(second)
    error = (p * (1 - p) / len(first) + q * (1 - q) / len(second)) ** 0.5
    return q - p, error""",
                ONLY_SHARES,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    errors = [np.std(scores) / len(scores) for scores in (first, second)]
    return np.mean(second) - np.mean(first), np.hypot(*errors)""",
                ROOT_N,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    errors = [np.std(scores) / len(scores) ** 0.5 for scores in (first, second)]
    return np.mean(second) - np.mean(first), errors[1] - errors[0]""",
                TAKEN_OFF,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    errors = [np.std(scores) / len(scores) ** 0.5 for scores in (first, second)]
    return np.mean(second) - np.mean(first), errors[1]""",
                ONE_MEAN,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    errors = [np.std(scores) / len(scores) ** 0.5 for scores in (first, second)]
    return round(np.mean(second) - np.mean(first), 2), np.hypot(*errors)""",
                LEAD,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    errors = [np.std(scores) / len(scores) ** 0.5 for scores in (first, second)]
    return abs(np.mean(second) - np.mean(first)), np.hypot(*errors)""",
                SIGN,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    errors = [np.std(scores) / len(scores) ** 0.5 for scores in (first, second)]
    return np.mean(second) - np.mean(first), sum(errors)""",
                ADDED,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    return np.mean(second) - np.mean(first), np.hypot(np.std(first), np.std(second))""",
                NO_ROOT_N,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    variance = np.var(first) / len(first) + np.var(second) / len(second)
    return np.mean(second) - np.mean(first), variance""",
                VARIANCE,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    everything = [*first, *second]
    error = np.std(everything) / len(everything) ** 0.5
    return np.mean(second) - np.mean(first), error""",
                POOLED,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    gaps = [b - a for a, b in zip(first, second)]
    return np.mean(second) - np.mean(first), np.std(gaps) / len(gaps) ** 0.5""",
                PAIRED,
            ),
            Wrong(
                """\
def lead_and_error(first, second):
    errors = [np.std(scores) / len(scores) ** 0.5 for scores in (first, second)]
    return np.mean(first) - np.mean(second), np.hypot(*errors)""",
                SIGN,
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="01.c",
        title="How many episodes?",
        minutes=8,
        difficulty=2,
        prompt="""
You expect that one agent passes a share `p` of its episodes and another a share `q`. Each gets the
same number of episodes. Either of the two shares may be the larger. Write `episodes_needed`: the smallest number for each agent at which the
difference between `p` and `q` is at least three standard errors.
""",
        answer="episodes_needed",
        given="import math",
        stub="""\
def episodes_needed(p, q):
    return ...""",
        hints=(
            "Scores of 0 and 1 of which a share p is 1 have the standard deviation `(p * (1 - p)) ** 0.5`."
            " What is the standard error of a mean of n of them, and of the difference of two?",
            "Set the difference equal to three standard errors, square both sides, and solve for n. "
            "`math.ceil` rounds up.",
        ),
        solution="""\
import math


def episodes_needed(p, q):
    scatter = p * (1 - p) + q * (1 - q)
    return math.ceil(9 * scatter / (p - q) ** 2)""",
        wrong=(
            Wrong(
                """\
def episodes_needed(p, q):
    scatter = p * (1 - p) + q * (1 - q)
    return math.ceil(9 * scatter / abs(p - q))""",
                GAP_TOO,
            ),
            Wrong(
                """\
def episodes_needed(p, q):
    scatter = math.sqrt(p * (1 - p)) + math.sqrt(q * (1 - q))
    return math.ceil((3 * scatter / (p - q)) ** 2)""",
                ADDED,
            ),
            Wrong(
                """\
def episodes_needed(p, q):
    return math.ceil(9 * p * (1 - p) / (p - q) ** 2)""",
                ONE_AGENT,
            ),
            Wrong(
                """\
def episodes_needed(p, q):
    scatter = p * (1 - p) + q * (1 - q)
    return math.ceil(3 * scatter / (p - q) ** 2)""",
                NOT_SQUARED,
            ),
            Wrong(
                """\
def episodes_needed(p, q):
    scatter = p * (1 - p) + q * (1 - q)
    return math.ceil(scatter / (p - q) ** 2)""",
                NO_FACTOR,
            ),
            Wrong(
                """\
def episodes_needed(p, q):
    scatter = p * (1 - p) + q * (1 - q)
    return 2 * math.ceil(9 * scatter / (p - q) ** 2)""",
                BOTH,
            ),
            Wrong(
                """\
def episodes_needed(p, q):
    scatter = p * (1 - p) + q * (1 - q)
    return int(9 * scatter / (p - q) ** 2)""",
                DOWN,
            ),
            Wrong(
                """\
def episodes_needed(p, q):
    scatter = p * (1 - p) + q * (1 - q)
    return int(9 * scatter / (p - q) ** 2) + 1""",
                TOO_MANY,
            ),
            Wrong(
                """\
def episodes_needed(p, q):
    scatter = p * (1 - p) + q * (1 - q)
    return 9 * scatter / (p - q) ** 2""",
                WHOLE,
            ),
        ),
        check=check_c,
    ),
    Exercise(
        id="01.d",
        title="Where the ranking flips",
        minutes=12,
        difficulty=3,
        prompt="""
Every episode has the same number of `actions`, and the job needs so many `edits`. Our agent gets
each edit right with probability `edit`. Its rival gets each right with probability `rival_edit` and
makes an unintended write on a share `rival_write` of its actions.

Write `flip_write_rate`: the share of actions on which our agent may make an unintended write before
the full diff ranks it behind the rival. With a fixed number of actions no search is needed.
""",
        answer="flip_write_rate",
        stub="""\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    return ...""",
        hints=(
            "Write down what each agent scores under the full diff: all edits right, times no "
            "unintended write on any action. At the flip the two are equal.",
            "Solve that equation for one minus our rate: first the power of it, "
            "`(1 - rate) ** actions`, then the root.",
        ),
        solution="""\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return 1 - (rival / edit**edits) ** (1 / actions)""",
        wrong=(
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return round(1 - (rival / edit**edits) ** (1 / actions), 3)""",
                NEAR,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return 100 * (1 - (rival / edit**edits) ** (1 / actions))""",
                A_SHARE,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return 1 - rival ** (1 / actions)""",
                OWN_EDITS,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return (1 - rival / edit**edits) / actions""",
                IN_PARTS,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return 1 - (rival / edit**edits) ** (1 / edits)""",
                BY_EDITS,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return 1 - (rival / edit**edits) ** 1 / actions""",
                BRACKETS,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    return 1 - (rival_edit**edits / edit**edits) ** (1 / actions)""",
                RIVAL_STRAYS,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return 1 - rival / edit**edits""",
                PER_EPISODE,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    return 1 - (1 - rival_write) * (rival_edit / edit) ** edits""",
                PER_EPISODE,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    return 1 - (1 - rival_write) * (edit / rival_edit) ** (edits / actions)""",
                UPSIDE_DOWN,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit**edits * (1 - rival_write) ** actions
    return (rival / edit**edits) ** (1 / actions)""",
                KEPT_CLEAN,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    rival = rival_edit * (1 - rival_write) ** actions
    return 1 - (rival / edit) ** (1 / actions)""",
                ONE_EDIT,
            ),
            Wrong(
                """\
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    return rival_write + edit - rival_edit""",
                PUT_BACK,
            ),
        ),
        check=check_d,
    ),
    Exercise(
        id="01.e",
        title="A real fault: the right words over a wrong database",
        minutes=6,
        difficulty=2,
        prompt="""
A public benchmark compares the database after an episode with a goal state, all of it. Some of its
tasks also ask for an answer, and the grader looks whether that text occurs in what the agent said.
Until a [correction](https://github.com/sierra-research/tau-bench/pull/16), an answer that occurred
made the whole episode a pass, whatever the database held. The answer `10` was found in `$100`, too.

So a grader with a full diff in it ranked by what the agent said. What is the right repair?

- `"A"`: match the answer as a whole word, and keep the rest.
- `"B"`: drop the answer and let the database alone decide.
- `"C"`: score the database and the answer apart, and report the mean of the two.
- `"D"`: pass only if the database is right and the answer is right.
""",
        answer="right_words",
        stub="right_words = ...",
        hints=(
            "Ask of each repair: which bad agent does it pass?",
            "Think of two agents. One says the right words and damages the records. The other "
            "leaves the records as they should be, and says nothing.",
        ),
        solution='right_words = "D"',
        wrong=(
            Wrong('right_words = "A"', REPAIRS["A"]),
            Wrong('right_words = "B"', REPAIRS["B"]),
            Wrong('right_words = "C"', REPAIRS["C"]),
        ),
        check=check_e,
    ),
)
