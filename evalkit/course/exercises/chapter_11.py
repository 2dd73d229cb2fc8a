"""Exercises of chapter 11: clusters in a log, a shop that is not reset, and what breaks where."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from statistics import fmean
from typing import Any

from evalkit.course.exercises import Exercise, Wrong

RATE = (
    "This is the share of all steps that went wrong, whatever came before. Compare with it later; "
    "here only the steps that follow a wrong one count."
)
JOINT = (
    "You divide by all pairs of neighbours. The question is about the pairs whose first step went "
    "wrong, and how many of *those* went on wrong."
)
LAST = (
    "You divide by all wrong steps. The last step of an episode has no next one, so it cannot say "
    "what comes after it."
)
ACROSS = (
    "You joined the episodes into one row. The first step of an episode does not follow the last "
    "step of the one before."
)
TURNED = "You looked at what comes after a *right* step. That is the number to compare with."
RIGHT_SHARE = "This is the share that went right after a wrong step. Turn it round."
BEFORE = (
    "You went through the steps that went wrong, and asked about the step *before* each. Begin "
    "with the wrong step, and look at the one after it."
)
EVERY_LATER = (
    "You count every step that comes after a wrong one, however late. Only the one directly after it "
    "counts."
)
MEAN_OF_SHARES = (
    "You average the shares of the episodes. Put the pairs of all episodes together first: a long "
    "episode has more to say than a short one."
)
AROUND = "`steps[-1]` is the last step of an episode. Before its first step there is none."
NOTHING_KNOWN = (
    "In this log no step follows a wrong one. That says nothing about clusters, neither nought "
    "nor one: return `None`."
)
A_NUMBER = "Here some steps do follow a wrong one, so there is a share to return."
OTHER_RATE = "Go through a short log by hand: which pairs of neighbours do you count, of which?"

Log = list[list[bool]]
T, F = True, False
LOGS: tuple[Log, ...] = (
    [[T, F, F, F, T, F], [F, T, T, T, F], [T, T, F, F, F, F], [T, T, T]],
    [[F, T, T, T, T, F], [F, F, T, T, F], [T] * 7, [F], [F, T, F, T]],
)


def _share(parts: list[bool]) -> float:
    return sum(parts) / len(parts)


def _known(log: Log) -> list[tuple[str, float]]:
    """What each way of counting gives; the right one has an empty name."""
    each = [[not b for a, b in pairwise(steps) if not a] for steps in log]
    pairs = [pair for steps in log for pair in pairwise(steps)]
    row = [step for steps in log for step in steps]
    both = sum(not a and not b for a, b in pairs)
    return [
        ("", _share([not b for a, b in pairs if not a])),
        (RATE, _share([not step for step in row])),
        (JOINT, both / len(pairs)),
        (LAST, both / row.count(False)),
        (ACROSS, _share([not b for a, b in pairwise(row) if not a])),
        (TURNED, _share([not b for a, b in pairs if a])),
        (RIGHT_SHARE, _share([b for a, b in pairs if not a])),
        (BEFORE, _share([not a for a, b in pairs if not b])),
        (EVERY_LATER, _share([not b for s in log for i, b in enumerate(s) if not all(s[:i])])),
        (
            EVERY_LATER,
            _share([not b for s in log for i, a in enumerate(s) if not a for b in s[i + 1 :]]),
        ),
        (MEAN_OF_SHARES, fmean(_share(steps) for steps in each if steps)),
        (AROUND, _share([not b for s in log for i, b in enumerate(s) if not s[i - 1]])),
    ]


def check_a(wrong_after_wrong: Callable[[Log], Any]) -> str | None:
    """Whether the share is of the steps that follow a wrong one in the same episode."""
    found = [wrong_after_wrong([list(steps) for steps in log]) for log in LOGS]
    if any(value is None for value in found):
        return A_NUMBER
    first, second = map(_known, LOGS)
    fits = [
        message
        for (message, x), (_, y) in zip(first, second, strict=True)
        if math.isclose(found[0], x) and math.isclose(found[1], y)
    ]
    if fits != [""]:
        return fits[0] if fits else OTHER_RATE
    try:
        empty = wrong_after_wrong([[True, True, False], [True]])
    except ZeroDivisionError:
        return NOTHING_KNOWN
    return None if empty is None else NOTHING_KNOWN


RESET = {
    "A": (
        "Eight runs that agree look reliable. But they agree because each met the same leftovers "
        "at the same place: that is one draw, eight times. What would another order have shown?"
    ),
    "C": (
        "A tag needs a sign. Here nothing raises an error, and a full cart looks like any other "
        "failure. And a second try in the same shop meets the same cart."
    ),
    "D": (
        "A diff compares the state after an episode with the one before, and the leftovers are in "
        "both. It cannot tell who spoilt the start, and the agent may have failed because of it."
    ),
}


def check_b(answer: Any) -> str | None:
    """The one answer that sees trials which share a state, and a start that can be compared."""
    letter = str(answer).strip().upper()
    if letter == "B":
        return None
    return RESET.get(letter, "Answer with one letter, such as `'A'`.")


BROKEN = ("diff", "trials", "infra", "none")
RIGHT = {
    "bunched": "none",
    "e-mail": "diff",
    "outage": "none",
    "loops": "infra",
    "notes": "trials",
}
WHY = {
    "bunched": (
        "Bunched: the ranking turned, and it should. Each episode was graded by what had happened "
        "in it. Is there anything that a score got wrong?"
    ),
    "e-mail": (
        "E-mail: where would a grader have to look to find these letters? Is it among what the "
        "snapshot holds?"
    ),
    "outage": (
        "Outage: it struck whatever ran at the time, good attempts and bad. Every one was seen, "
        "and each trial got its verdict the day after."
    ),
    "loops": (
        "Loops: who meets the rate limit, an agent that is doing well or one that is lost? Think "
        "of which attempts are thrown away and played again."
    ),
    "notes": (
        "Notes: is the eighth trial played by the same agent as the first? What did the estimate "
        "ask of the eight?"
    ),
}


def check_c(worlds: Any) -> str | None:
    """Whether each world is given the one condition that it breaks, or none."""
    if not isinstance(worlds, dict) or set(worlds) != set(RIGHT):
        return f"Keep the five worlds of the stub: {', '.join(RIGHT)}."
    for world, broken in worlds.items():
        if broken not in BROKEN:
            return f"For {world} give one of {', '.join(map(repr, BROKEN))}."
    return next((WHY[world] for world, broken in RIGHT.items() if worlds[world] != broken), None)


def _but(**changed: str) -> str:
    """The source of the right answer with some worlds changed; ``e_mail`` is e-mail."""
    return f"worlds = {RIGHT | {name.replace('_', '-'): value for name, value in changed.items()}}"


EXERCISES = (
    Exercise(
        id="11.a",
        title="Do errors come together?",
        minutes=12,
        difficulty=2,
        prompt="""
A log holds for each episode which of its steps went right, in order. `episodes` is a list of such
lists, for example `[[True, False, False], [True, True, False]]`. Episodes may have different lengths.

Write `wrong_after_wrong`. Of the steps that directly follow a wrong step in the same episode, it returns
the share that went wrong too, or `None` if the log can say nothing about it.
""",
        answer="wrong_after_wrong",
        stub="""\
def wrong_after_wrong(episodes):
    return ...""",
        hints=(
            "Make a list of the steps that come directly after a wrong one. Which step of an "
            "episode can never be in it? Which wrong step has nothing after it?",
            "`zip(steps, steps[1:])` gives the pairs of neighbours of one episode. Keep the second "
            "of each pair whose first is `False`.",
        ),
        solution="""\
def wrong_after_wrong(episodes):
    after = [b for steps in episodes for a, b in zip(steps, steps[1:]) if not a]
    return after.count(False) / len(after) if after else None""",
        wrong=(
            Wrong(
                """\
def wrong_after_wrong(episodes):
    steps = sum(episodes, [])
    return steps.count(False) / len(steps)""",
                RATE,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    pairs = [p for steps in episodes for p in zip(steps, steps[1:])]
    return sum(not a and not b for a, b in pairs) / len(pairs)""",
                JOINT,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    pairs = [p for steps in episodes for p in zip(steps, steps[1:])]
    return sum(not a and not b for a, b in pairs) / sum(episodes, []).count(False)""",
                LAST,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    steps = sum(episodes, [])
    after = [b for a, b in zip(steps, steps[1:]) if not a]
    return after.count(False) / len(after) if after else None""",
                ACROSS,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    after = [b for steps in episodes for a, b in zip(steps, steps[1:]) if a]
    return after.count(False) / len(after) if after else None""",
                TURNED,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    after = [b for steps in episodes for a, b in zip(steps, steps[1:]) if not a]
    return sum(after) / len(after) if after else None""",
                RIGHT_SHARE,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    before = [a for steps in episodes for a, b in zip(steps, steps[1:]) if not b]
    return before.count(False) / len(before) if before else None""",
                BEFORE,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    after = [b for steps in episodes for i, b in enumerate(steps) if not all(steps[:i])]
    return after.count(False) / len(after) if after else None""",
                EVERY_LATER,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    after = []
    for steps in episodes:
        for i, step in enumerate(steps):
            if not step:
                after += steps[i + 1 :]
    return after.count(False) / len(after) if after else None""",
                EVERY_LATER,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    shares = []
    for steps in episodes:
        after = [b for a, b in zip(steps, steps[1:]) if not a]
        if after:
            shares.append(after.count(False) / len(after))
    return sum(shares) / len(shares) if shares else None""",
                MEAN_OF_SHARES,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    after = [steps[i] for steps in episodes for i in range(len(steps)) if not steps[i - 1]]
    return after.count(False) / len(after) if after else None""",
                AROUND,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    after = [b for steps in episodes for a, b in zip(steps, steps[1:]) if not a]
    return after.count(False) / len(after) if after else 0.0""",
                NOTHING_KNOWN,
            ),
            Wrong(
                """\
def wrong_after_wrong(episodes):
    after = [b for steps in episodes for a, b in zip(steps, steps[1:]) if not a]
    return after.count(False) / len(after)""",
                NOTHING_KNOWN,
            ),
            Wrong("def wrong_after_wrong(episodes):\n    return None", A_NUMBER),
            Wrong("def wrong_after_wrong(episodes):\n    return 0.123", OTHER_RATE),
        ),
        check=check_a,
    ),
    Exercise(
        id="11.b",
        title="A shop that is not reset",
        minutes=8,
        difficulty=2,
        prompt="""
The run scripts of a public web benchmark reset the shop after each *batch* of tasks, not after each
episode. The batch is a compromise, a maintainer explains: a full reset takes about two minutes, and
with none until the end a cart may be full by the fiftieth task
([issue](https://github.com/web-arena-x/visualwebarena/issues/60), 2024).

You run such a suite eight times, every time in the same order, and compute pass^8. What do you say of
it?

- `"A"`: It is sound. All eight runs met the same shop, so their differences are the agent's alone.
- `"B"`: The episodes before a task are a part of each of its trials. Reset before each episode, or
  else compare the start state's fingerprint and leave out, as not valid, what started elsewhere.
- `"C"`: Leftovers are the environment's failure. Tag such failures as infra, and retry them.
- `"D"`: The full diff takes care of it: what was left over shows as collateral, and is scored.
""",
        answer="no_reset",
        stub="no_reset = ...",
        hints=(
            "A task whose cart is full at the start fails. How many of its eight trials?",
            "Which of the three conclusions rests on trials that have nothing to do with what was "
            "played before? What in a log would show that a start was another one?",
        ),
        solution='no_reset = "B"',
        wrong=tuple(Wrong(f'no_reset = "{letter}"', RESET[letter]) for letter in "ACD"),
        check=check_b,
    ),
    Exercise(
        id="11.c",
        title="Which condition breaks?",
        minutes=15,
        difficulty=2,
        prompt="""
Each of the three conclusions has a condition: the `"diff"` sees what can be changed, the `"trials"` are
independent, and `"infra"` failures strike without regard to how the agent is doing. Say for each world
which of them is broken, or `"none"`.

- `bunched`: an agent's strays all fall in a few wild episodes. Its rank by the full diff has changed.
- `e-mail`: the agent writes to customers unasked. The snapshot holds the shop's database.
- `outage`: on one evening every attempt of whatever task failed with HTTP 503, for an hour. All were
  tagged, and retried the next day.
- `loops`: when the agent is lost it calls one tool again and again, until HTTP 429 ends the attempt. 429 is
  tagged infra and retried.
- `notes`: the agent keeps a file in which it writes what it found out, and reads it in later trials.
""",
        answer="worlds",
        stub='worlds = {"bunched": ..., "e-mail": ..., "outage": ..., "loops": ..., "notes": ...}',
        hints=(
            "Do not ask whether a number changes. Ask whether a score calls something by the wrong "
            "name.",
            "Two of the five break nothing. In the others: what does the grader not look at, what "
            "do later trials know, and which attempts are played again?",
        ),
        solution=_but(),
        wrong=(
            Wrong(_but(bunched="diff"), WHY["bunched"]),
            Wrong(_but(e_mail="none"), WHY["e-mail"]),
            Wrong(_but(outage="infra"), WHY["outage"]),
            Wrong(_but(outage="trials"), WHY["outage"]),
            Wrong(_but(loops="none"), WHY["loops"]),
            Wrong(_but(notes="none"), WHY["notes"]),
            Wrong(_but(notes="luck"), "For notes give one of 'diff', 'trials', 'infra', 'none'."),
            Wrong(
                "worlds = {'notes': 'trials'}",
                "Keep the five worlds of the stub: bunched, e-mail, outage, loops, notes.",
            ),
        ),
        check=check_c,
    ),
)
