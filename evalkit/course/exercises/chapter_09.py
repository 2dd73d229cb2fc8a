"""Exercises of chapter 09: reports with trials missing, whose failure it was, retries, a flake limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from evalkit.course.exercises import Exercise, Wrong

THREE = "Return three things: the value, the lower end and the upper end."
FAILED = (
    "You count an infra failure as a failure of the agent. It says nothing about the agent, so the "
    "value is taken over the valid trials only."
)
FREE = "You count an infra failure as a success. Nobody has seen the agent succeed there."
NO_BRACKET = (
    "You give the bracket no width although trials are missing. Where would the value be, had all "
    "of them failed? And had all succeeded?"
)
OVER_VALID = (
    "The ends of your bracket are shares of the valid trials. The missing ones belong to the plan: "
    "divide by all planned trials there."
)
TURNED = "Your lower end is above the upper end."
ZERO_OF_NOTHING = (
    "Without a single valid trial there is no value: return `None`. A 0 would read as a failure, and "
    "nothing was seen to fail."
)
ONE_OF_NOTHING = "Without a single valid trial you give a value of 1. That reads as a success, and none was seen."
OFF_BRACKET = (
    "The value is right, the bracket is not. Count each missing trial once as each outcome."
)
OFF_VALUE = "The value is not the share of the valid trials that succeeded."

Counts = tuple[int, int, int]
PLANS: tuple[Counts, ...] = ((3, 1, 0), (238, 167, 40), (1, 0, 3), (2, 5, 1))


def _trials(success: int, failure: int, infra: int) -> list[str]:
    return ["success"] * success + ["infra"] * infra + ["failure"] * failure


def _close(a: Any, b: float) -> bool:
    return a is not None and math.isclose(float(a), b, abs_tol=1e-9)


def _wrong_value(value: Any, counts: Counts) -> str:
    success, failure, infra = counts
    planned = success + failure + infra
    if _close(value, success / planned):
        return FAILED
    return FREE if _close(value, (success + infra) / planned) else OFF_VALUE


def _wrong_bracket(low: Any, high: Any, counts: Counts) -> str | None:
    success, failure, infra = counts
    planned, valid = success + failure + infra, success + failure
    if low > high:
        return TURNED
    if _close(low, success / planned) and _close(high, (success + infra) / planned):
        return None
    over = _close(high, (success + infra) / valid) and not _close(low, high)
    if over:
        return OVER_VALID
    return NO_BRACKET if _close(low, high) else OFF_BRACKET


def check_a(report: Callable[[list[str]], Any]) -> str | None:
    """What a report on trials, some of which are infra failures, gets wrong, if anything."""
    for counts in PLANS:
        found = report(_trials(*counts))
        if not isinstance(found, Sequence) or len(found) != 3:
            return THREE
        value, low, high = found
        if not _close(value, counts[0] / (counts[0] + counts[1])):
            return _wrong_value(value, counts)
        if message := _wrong_bracket(low, high, counts):
            return message
    value, low, high = report(["infra", "infra"])
    if value is None:
        return None if (low, high) == (0, 1) else NO_BRACKET
    return ONE_OF_NOTHING if _close(value, 1) else ZERO_OF_NOTHING


ONE_OF_FOUR = {
    "A": (
        "An infra failure says nothing about the agent: so far so good. But three of four tasks "
        "are gone from the number, and nobody who reads it can tell."
    ),
    "B": (
        "That takes three tasks that the agent was never tried on for three that it failed. It is "
        "where the value would be at worst."
    ),
    "D": (
        "The agent succeeded once, and three tasks can be run again. To drop it all hides the "
        "outage as well."
    ),
}


def check_b(answer: Any) -> str | None:
    """What is to be said of one success beside three infra failures."""
    letter = str(answer).strip().upper()
    if letter == "C":
        return None
    return ONE_OF_FOUR.get(letter, "Answer with one letter, such as `'A'`.")


TAGS = ("agent failure", "infra failure", "not evaluated")
WHOSE: dict[str, tuple[str, str]] = {
    "429": (
        "infra failure",
        "429: the provider had no room. Would the agent have met this on another evening?",
    ),
    "overflow": (
        "agent failure",
        "overflow: who made the conversation so long? The same happens when it is run again.",
    ),
    "silence": (
        "infra failure",
        "silence: what did the agent do in these episodes that could be judged?",
    ),
    "50 steps": (
        "agent failure",
        "50 steps: the budget was stated in advance, and the agent used it up.",
    ),
    "KeyError": (
        "not evaluated",
        "KeyError: it may be the harness, the grader, or a tool that the agent broke. Until "
        "somebody has looked, it is neither.",
    ),
}
ONE_OF_TAGS = f"Keep the dictionary. Each value is one of: {', '.join(TAGS)}."


def check_c(answers: Any) -> str | None:
    """Which of five failures is given to somebody else."""
    if not isinstance(answers, dict) or set(answers) != set(WHOSE):
        return ONE_OF_TAGS
    for key, (right, message) in WHOSE.items():
        found = str(answers[key]).strip().lower()
        if found not in TAGS:
            return ONE_OF_TAGS
        if found != right:
            return message
    return None


RETRIED_AGENT = (
    "You run the trial again although the agent failed. That makes pass^k into something nearer to "
    "pass@k."
)
RETRIED_SUCCESS = "You run the trial again although the agent has succeeded."
NO_LIMIT = "There is no limit: while the environment is down, you would run for ever."
ONE_TOO_FEW = (
    "You count the first attempt as a retry. With `retries=2` a trial may have three attempts."
)
NEVER_AGAIN = "You give up after an infra failure although there are retries left."
NOT_RUN = "You make no attempt at all. Call `run(0)` for the first one."
SAME_NUMBER = (
    "You run the same attempt number again. Its seed is the same, and so is what happens. Count up."
)
FROM_ONE = "You begin with another attempt than the first, which has number 0."
NO_LIST = "Here your function returns nothing. Return the list, even where the retries run out."
NOT_ALL = "Return what every attempt ended with, in order. One that is not in the log is lost."

SCRIPTS: tuple[tuple[tuple[str, ...], int, int], ...] = (
    (("success", "success"), 2, 1),
    (("infra", "failure", "success"), 3, 2),
    (("failure", "failure", "success"), 2, 1),
    (("infra", "infra", "success", "success"), 2, 3),
    (("infra", "infra", "infra", "success"), 2, 3),
    (("infra", "success"), 0, 1),
)


class _Stop(Exception):
    """A learner's loop goes on and on."""


def _watch(script: Sequence[str], numbers: list[int]) -> Callable[[int], str]:
    """A run that follows a script, and keeps the numbers of the attempts that were asked for."""

    def run(number: int) -> str:
        numbers.append(number)
        if len(numbers) > 20:
            raise _Stop
        return script[number] if number < len(script) else "infra"

    return run


def _misdone(script: Sequence[str], retries: int, right: int, numbers: list[int]) -> str | None:
    """What is wrong with the attempts that were made."""
    if len(set(numbers)) < len(numbers):
        return SAME_NUMBER
    if len(numbers) < right:
        return ONE_TOO_FEW if len(numbers) == retries else NEVER_AGAIN
    if len(numbers) > right:
        return {"failure": RETRIED_AGENT, "success": RETRIED_SUCCESS}.get(
            script[right - 1], NO_LIMIT
        )
    return None


def check_d(attempts: Callable[[Callable[[int], str], int], Any]) -> str | None:
    """What a loop of retries gets wrong, if anything."""
    for script, retries, right in SCRIPTS:
        numbers: list[int] = []
        try:
            found = attempts(_watch(script, numbers), retries)
        except _Stop:
            return SAME_NUMBER if len(set(numbers)) < len(numbers) else NO_LIMIT
        if not numbers:
            return NOT_RUN
        if numbers[0] != 0:
            return FROM_ONE
        if message := _misdone(script, retries, right, numbers):
            return message
        if found is None:
            return NO_LIST
        if not isinstance(found, Sequence) or list(found) != list(script[:right]):
            return NOT_ALL
    return None


BEST_OF_TWO = "pass^1: 59 of 72 counts a task as passed if one of its tries did. How many passed at the first?"
PER_ATTEMPT = (
    "pass^1: you divide by attempts. Only failures had a second one, so the hard tasks count twice."
)
FIRST_TRIES = "pass^1: take the share of the tasks that passed at their first try."
AS_A_SHARE = "pass^1: these are the right tasks. Write a share, rounded to three decimals."
NAMES = "59 of 72: write 'pass^1', 'pass@2' or 'pass^2'."
NOT_ONE = "59 of 72: it had more tries than one. What do several tries promise, if one is enough?"
NOT_EVERY = "59 of 72: that would ask for both of two tries to pass. Look at when it stops."
TWO_KEYS = "Keep the dictionary with its two keys."


def check_e(answers: Any) -> str | None:
    """How a score with stop-on-pass is misread."""
    if not isinstance(answers, dict) or set(answers) != {"pass^1", "59 of 72"}:
        return TWO_KEYS
    value = float(answers["pass^1"])
    for wrong, message in ((59 / 72, BEST_OF_TWO), (59 / 88, PER_ATTEMPT), (56 / 88, PER_ATTEMPT)):
        if abs(value - wrong) < 0.0006:
            return message
    if abs(value - 56 / 72) >= 0.0006:
        near = min(abs(value - 56 / 72), abs(value / 100 - 56 / 72)) < 0.005
        return AS_A_SHARE if near else FIRST_TRIES
    name = str(answers["59 of 72"]).replace(" ", "")
    return {"pass@2": None, "pass^1": NOT_ONE, "pass^2": NOT_EVERY}.get(name, NAMES)


ALL_K = "You leave k out. All k trials must escape the flakes, so they may be k times as rare."
STRAIGHT = (
    "You take the losses of k trials as adding up. That is nearly so for small losses only; here a "
    "little more is affordable."
)
NO_RETRIES = "You leave the retries out. A trial is lost only if every one of its attempts is."
ONE_ATTEMPT_SHORT = "r retries are r + 1 attempts: the first one counts too."
RATE_OF_SAVED = "That is the share of attempts that must go well. The flake rate is the rest."
POWER_OF_K = "You take the k-th power of `keep`. It is one trial's share, to the k-th power, that must be `keep`."
POWER_OF_R = "You raise the share that is lost to the number of attempts. It is the flake rate whose power it is."
OFF_LIMIT = "Write what is kept as a formula in f, k and the retries, set it equal to keep, solve."

LIMITS = ((8, 0.9, 0), (8, 0.66, 2), (1, 0.95, 1), (8, 0.99, 3), (16, 0.9, 2))


def check_f(flake_limit: Callable[[int, float, int], Any]) -> str | None:
    """What an inverse of the flake factor gets wrong, if anything."""
    for k, keep, retries in LIMITS:
        found = float(flake_limit(k, keep, retries))
        lost, attempts = 1 - keep ** (1 / k), retries + 1
        if math.isclose(found, lost ** (1 / attempts), rel_tol=1e-6):
            continue
        named = (
            (NO_RETRIES, lost),
            (ALL_K, (1 - keep) ** (1 / attempts)),
            (STRAIGHT, ((1 - keep) / k) ** (1 / attempts)),
            (ONE_ATTEMPT_SHORT, lost ** (1 / max(retries, 1))),
            (RATE_OF_SAVED, keep ** (1 / k)),
            (POWER_OF_K, (1 - keep**k) ** (1 / attempts)),
            (POWER_OF_R, lost**attempts),
        )
        return next((text for text, x in named if math.isclose(found, x, rel_tol=1e-6)), OFF_LIMIT)
    return None


_WHOSE = {key: right for key, (right, _) in WHOSE.items()}


def _given_away(key: str, tag: str) -> str:
    return f"whose = {_WHOSE | {key: tag}!r}"


EXERCISES = (
    Exercise(
        id="09.a",
        title="Report what is missing",
        minutes=8,
        difficulty=2,
        prompt="""
Write `report(tags)`. `tags` lists the planned trials of one task after all retries, each as
`"success"`, `"failure"` or `"infra"`. Return three things: the share of valid trials that succeeded
(`None` if no trial is valid), and the bracket: where the share of all planned trials would lie if
the missing ones had all failed, and if they had all succeeded.
""",
        answer="report",
        stub="""\
def report(tags):
    return ...""",
        hints=(
            "Count the three tags first. How many trials are valid, how many were planned?",
            "The value is divided by the valid trials, both ends of the bracket by the planned ones.",
        ),
        solution="""\
def report(tags):
    success, infra, planned = tags.count("success"), tags.count("infra"), len(tags)
    value = success / (planned - infra) if planned > infra else None
    return value, success / planned, (success + infra) / planned""",
        wrong=(
            Wrong(
                """\
def report(tags):
    share = tags.count("success") / len(tags)
    return share, share, share""",
                FAILED,
            ),
            Wrong(
                """\
def report(tags):
    valid = [tag for tag in tags if tag != "infra"]
    share = valid.count("success") / len(valid)
    return share, share, share""",
                NO_BRACKET,
            ),
            Wrong(
                """\
def report(tags):
    share = 1 - tags.count("failure") / len(tags)
    return share, tags.count("success") / len(tags), share""",
                FREE,
            ),
            Wrong(
                """\
def report(tags):
    success, infra = tags.count("success"), tags.count("infra")
    valid = len(tags) - infra
    return success / valid, success / valid, (success + infra) / valid""",
                OVER_VALID,
            ),
            Wrong(
                """\
def report(tags):
    success, infra = tags.count("success"), tags.count("infra")
    planned = len(tags)
    return success / (planned - infra), (success + infra) / planned, success / planned""",
                TURNED,
            ),
            Wrong(
                """\
def report(tags):
    success, infra, planned = tags.count("success"), tags.count("infra"), len(tags)
    value = success / max(1, planned - infra)
    return value, success / planned, (success + infra) / planned""",
                ZERO_OF_NOTHING,
            ),
            Wrong(
                """\
def report(tags):
    success, infra, planned = tags.count("success"), tags.count("infra"), len(tags)
    value = success / (planned - infra) if planned > infra else 1.0
    return value, success / planned, (success + infra) / planned""",
                ONE_OF_NOTHING,
            ),
            Wrong(
                """\
def report(tags):
    return tags.count("success") / (len(tags) - tags.count("infra"))""",
                THREE,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="09.b",
        title="A real metric: 100% of what is left",
        minutes=4,
        difficulty=1,
        prompt="""
A suite has four tasks, one trial each. One trial succeeds, three end in infra failures. A public
benchmark's code removes such trials, and tasks that have none left vanish: it reports pass^1 = 100%
([issue](https://github.com/sierra-research/tau2-bench/issues/493), 2026). What should it say?

- `"A"`: 100%, for infra failures say nothing about the agent.
- `"B"`: 25%, for three tasks were not done.
- `"C"`: 100% on a coverage of 1 in 4, within [25%, 100%], and three tasks to run again.
- `"D"`: nothing; a run with infra failures is to be thrown away.
""",
        answer="one_of_four",
        stub="one_of_four = ...",
        hints=(
            "Which of these would a reader understand who has not seen the log?",
            "What is known about the three tasks? What is the most that can be said?",
        ),
        solution='one_of_four = "C"',
        wrong=tuple(
            Wrong(f'one_of_four = "{letter}"', text) for letter, text in ONE_OF_FOUR.items()
        ),
        check=check_b,
    ),
    Exercise(
        id="09.c",
        title="Whose failure was it?",
        minutes=6,
        difficulty=2,
        prompt="""
Give each its tag: `"agent failure"`, `"infra failure"` or `"not evaluated"`.

- `"429"`: 36 of 730 runs were refused by the model's provider, and scored as failures
  ([issue](https://github.com/scaleapi/SWE-bench_Pro-os/issues/78)).
- `"overflow"`: the conversation outgrew the agent's context window; the benchmark called it infra,
  and retried ([pull request](https://github.com/sierra-research/tau2-bench/pull/360), 2026).
- `"silence"`: in 10 of 180 episodes there is no event at all; they were scored 0 as timeouts
  ([issue](https://github.com/benchflow-ai/benchflow/issues/1071), 2026).
- `"50 steps"`: the task allowed 50 steps, and the agent was not done.
- `"KeyError"`: an exception that no row of your table holds.
""",
        answer="whose",
        stub="""\
whose = {
    "429": ...,
    "overflow": ...,
    "silence": ...,
    "50 steps": ...,
    "KeyError": ...,
}""",
        hints=(
            "Would the same agent have met it in an environment that works?",
            "What nobody has looked at is neither the agent's nor the environment's.",
        ),
        solution="""\
whose = {
    "429": "infra failure",
    "overflow": "agent failure",
    "silence": "infra failure",
    "50 steps": "agent failure",
    "KeyError": "not evaluated",
}""",
        wrong=(
            Wrong(_given_away("429", "agent failure"), WHOSE["429"][1]),
            Wrong(_given_away("overflow", "infra failure"), WHOSE["overflow"][1]),
            Wrong(_given_away("silence", "agent failure"), WHOSE["silence"][1]),
            Wrong(_given_away("50 steps", "infra failure"), WHOSE["50 steps"][1]),
            Wrong(_given_away("KeyError", "agent failure"), WHOSE["KeyError"][1]),
            Wrong(_given_away("KeyError", "infra failure"), WHOSE["KeyError"][1]),
            Wrong(_given_away("429", "timeout"), ONE_OF_TAGS),
        ),
        check=check_c,
    ),
    Exercise(
        id="09.d",
        title="The honest retry",
        minutes=10,
        difficulty=2,
        prompt="""
Write `attempts(run, retries)`. `run(i)` makes attempt `i` of a trial (from 0) in a fresh environment
and returns its tag: `"success"`, `"failure"` or `"infra"`. Run again after infra failures only, at
most `retries` times. Return the list of the tags of all attempts, in order.
""",
        answer="attempts",
        stub="""\
def attempts(run, retries):
    return ...""",
        hints=(
            "How many attempts are there at most, if `retries` is 0?",
            "Loop over the attempt numbers; leave the loop at the first tag that is not infra.",
        ),
        solution="""\
def attempts(run, retries):
    tags = []
    for i in range(retries + 1):
        tags.append(run(i))
        if tags[-1] != "infra":
            break
    return tags""",
        wrong=(
            Wrong(
                """\
def attempts(run, retries):
    tags = []
    for i in range(retries + 1):
        tags.append(run(i))
        if tags[-1] == "success":
            break
    return tags""",
                RETRIED_AGENT,
            ),
            Wrong(
                """\
def attempts(run, retries):
    return [run(i) for i in range(retries + 1)]""",
                RETRIED_SUCCESS,
            ),
            Wrong(
                """\
def attempts(run, retries):
    tags = [run(0)]
    while tags[-1] == "infra":
        tags.append(run(len(tags)))
    return tags""",
                NO_LIMIT,
            ),
            Wrong(
                """\
def attempts(run, retries):
    tags = []
    for i in range(max(1, retries)):
        tags.append(run(i))
        if tags[-1] != "infra":
            break
    return tags""",
                ONE_TOO_FEW,
            ),
            Wrong(
                """\
def attempts(run, retries):
    return [run(0)]""",
                NEVER_AGAIN,
            ),
            Wrong(
                """\
def attempts(run, retries):
    return [run(i) for i in range(retries) if i == 0 or run(i - 1) == "infra"]""",
                SAME_NUMBER,
            ),
            Wrong(
                """\
def attempts(run, retries):
    return ["infra"] * retries""",
                NOT_RUN,
            ),
            Wrong(
                """\
def attempts(run, retries):
    tags = [run(0)]
    while tags[-1] == "infra" and len(tags) <= retries:
        tags.append(run(0))
    return tags""",
                SAME_NUMBER,
            ),
            Wrong(
                """\
def attempts(run, retries):
    for i in range(retries + 1):
        tag = run(i)
        if tag != "infra":
            break
    return [tag]""",
                NOT_ALL,
            ),
            Wrong(
                """\
def attempts(run, retries):
    tags = []
    for i in range(1, retries + 2):
        tags.append(run(i))
        if tags[-1] != "infra":
            break
    return tags""",
                FROM_ONE,
            ),
            Wrong(
                """\
def attempts(run, retries):
    tags = []
    for i in range(retries + 1):
        tags.append(run(i))
        if tags[-1] != "infra":
            return tags""",
                NO_LIST,
            ),
        ),
        check=check_d,
    ),
    Exercise(
        id="09.e",
        title="A real score: retry until it passes",
        minutes=5,
        difficulty=1,
        prompt="""
A project gave each of its 72 evaluations up to two tries, and stopped at the first pass. The score
rose from 56 of 72 to 59 of 72 ([pull request](https://github.com/supabase/evals/pull/75), 2026). It
retried failures of the agent; errors of the tests were not retried.

What is pass^1, to three decimals? And what does 59 of 72 estimate: `"pass^1"`, `"pass@2"` or
`"pass^2"`?
""",
        answer="stop_on_pass",
        stub='stop_on_pass = {"pass^1": ..., "59 of 72": ...}',
        hints=(
            "What would the score have been without the second tries?",
            "A task counts if at least one of two tries passed. Chapter 07 has a name for that.",
        ),
        solution='stop_on_pass = {"pass^1": 0.778, "59 of 72": "pass@2"}',
        wrong=(
            Wrong('stop_on_pass = {"pass^1": 0.819, "59 of 72": "pass@2"}', BEST_OF_TWO),
            Wrong('stop_on_pass = {"pass^1": 0.670, "59 of 72": "pass@2"}', PER_ATTEMPT),
            Wrong('stop_on_pass = {"pass^1": 0.5, "59 of 72": "pass@2"}', FIRST_TRIES),
            Wrong('stop_on_pass = {"pass^1": 77.8, "59 of 72": "pass@2"}', AS_A_SHARE),
            Wrong('stop_on_pass = {"pass^1": 0.777, "59 of 72": "pass@2"}', AS_A_SHARE),
            Wrong('stop_on_pass = {"pass^1": 0.778, "59 of 72": "pass^1"}', NOT_ONE),
            Wrong('stop_on_pass = {"pass^1": 0.778, "59 of 72": "pass^2"}', NOT_EVERY),
        ),
        check=check_e,
    ),
    Exercise(
        id="09.f",
        title="How flaky may it be?",
        minutes=10,
        difficulty=3,
        prompt="""
Write `flake_limit(k, keep, retries)`: the largest flake rate at which the measured pass^k is still
at least the share `keep` of the true one. Every infra failure is detected, and retried up to
`retries` times. With `retries=0` nothing is run again.
""",
        answer="flake_limit",
        stub="""\
def flake_limit(k, keep, retries):
    return ...""",
        hints=(
            "A trial is lost with probability $f^{r+1}$. What is left of pass^k, if all k must stay?",
            "Set $(1 - f^{r+1})^k$ equal to `keep`. Take the k-th root first.",
        ),
        solution="""\
def flake_limit(k, keep, retries):
    lost = 1 - keep ** (1 / k)
    return lost ** (1 / (retries + 1))""",
        wrong=(
            Wrong(
                """\
def flake_limit(k, keep, retries):
    return (1 - keep) ** (1 / (retries + 1))""",
                ALL_K,
            ),
            Wrong(
                """\
def flake_limit(k, keep, retries):
    return ((1 - keep) / k) ** (1 / (retries + 1))""",
                STRAIGHT,
            ),
            Wrong(
                """\
def flake_limit(k, keep, retries):
    return 1 - keep ** (1 / k)""",
                NO_RETRIES,
            ),
            Wrong(
                """\
def flake_limit(k, keep, retries):
    lost = 1 - keep ** (1 / k)
    return lost ** (1 / retries) if retries > 1 else lost ** (1 / (retries + 1))""",
                ONE_ATTEMPT_SHORT,
            ),
            Wrong(
                """\
def flake_limit(k, keep, retries):
    return keep ** (1 / k)""",
                RATE_OF_SAVED,
            ),
            Wrong(
                """\
def flake_limit(k, keep, retries):
    return (1 - keep**k) ** (1 / (retries + 1))""",
                POWER_OF_K,
            ),
            Wrong(
                """\
def flake_limit(k, keep, retries):
    return (1 - keep ** (1 / k)) ** (retries + 1)""",
                POWER_OF_R,
            ),
            Wrong(
                """\
def flake_limit(k, keep, retries):
    return 1 - keep / k""",
                OFF_LIMIT,
            ),
        ),
        check=check_f,
    ),
)
