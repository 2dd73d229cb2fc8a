"""Exercises of chapter 08: unlike tasks, printed claims, no failures, two questions, pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evalkit.course.exercises import Exercise, Wrong
from evalkit.estimates import estimate

SMALLEST, LARGEST = "smallest pass^8", "largest pass^8"
TWO_KEYS = "Keep the dictionary. Each value is a list of two probabilities between 0 and 1."
NOT_HALF = "The two probabilities of a suite must have the mean 0.5, for that is its pass^1."
TURNED_ROUND = (
    "You have the two the wrong way round. Which agent makes longer rows of successes: one that "
    "is always right on one task, or one that is right now and then on both?"
)
NOT_SMALLEST = (
    "There is a suite with a smaller pass^8 yet. The power of the mean is the floor. When is it "
    "reached?"
)
NOT_LARGEST = "There is a suite with a larger pass^8 yet. Move the two tasks further apart."


def check_a(suites: Any) -> str | None:
    """What is wrong with the two suites of equal pass^1, if anything."""
    if not isinstance(suites, dict) or set(suites) != {SMALLEST, LARGEST}:
        return TWO_KEYS
    pairs = [np.asarray(suites[key], dtype=float) for key in (SMALLEST, LARGEST)]
    if any(pair.shape != (2,) or (pair < 0).any() or (pair > 1).any() for pair in pairs):
        return TWO_KEYS
    if any(not math.isclose(pair.mean(), 0.5, abs_tol=1e-6) for pair in pairs):
        return NOT_HALF
    least, most = (float(np.mean(pair**8)) for pair in pairs)
    if least > most:
        return TURNED_ROUND
    if least > 0.5**8 + 1e-6:
        return NOT_SMALLEST
    return None if most > 0.5 - 1e-6 else NOT_LARGEST


CLAIMS: dict[str, tuple[str, str]] = {
    "A": (
        "power",
        "A: what would the value be if nine tasks in ten always passed and the tenth never did? "
        "The line would print the same number for it.",
    ),
    "B": (
        "dropped",
        "B: who succeeds four times in a row has succeeded twice. How can the later value be the "
        "higher one? Ask which tasks each k was computed on.",
    ),
    "C": (
        "too few",
        "C: how many groups of sixteen are there among eight trials of a task? The number is no "
        "estimate, whatever its name.",
    ),
    "D": (
        "pooled",
        "D: the width comes from 4,000 trials, as if they were 4,000 tasks. Eight trials of one "
        "task tell about that task.",
    ),
    "E": (
        "nothing",
        "E: sixteen trials hold groups of eight, and so much width is what thirty tasks give. A "
        "wide interval is no fault.",
    ),
}
FAULTS = ("power", "dropped", "too few", "pooled", "nothing")
ONE_OF = f"Keep the dictionary with the keys A to E. Each value is one of: {', '.join(FAULTS)}."


def check_b(faults: Any) -> str | None:
    """Which of five claims is given another fault than its own."""
    return _chosen(faults, CLAIMS, FAULTS, ONE_OF)


def _chosen(
    answers: Any, right: Mapping[str, tuple[str, str]], words: Sequence[str], advice: str
) -> str | None:
    """The message of the first key whose word is not the right one."""
    if not isinstance(answers, dict) or set(answers) != set(right):
        return advice
    for key, (word, message) in right.items():
        found = str(answers[key]).strip().lower()
        if found not in words:
            return advice
        if found != word:
            return message
    return None


#: Lowest pass^8 of twenty tasks that passed all their trials, as the chapter's `estimate` has it.
LOWEST = estimate({"n": [8] * 20, "c": [8] * 20}, k=8).low

ALL_PASSED = {
    "A": (
        "Resampling ones gives ones again. That says that the sample holds no failure, "
        "and nothing about tasks that were not drawn."
    ),
    "B": (
        "Twenty tasks, each passed every time, do say something: a suite on which half the tasks "
        "fail would hardly ever look like this."
    ),
    "C": (
        "That takes the 160 trials for separate tasks. If the agent always passes what it "
        "passes once, the eight trials of a task tell no more than one."
    ),
}


def check_c(answer: Any) -> str | None:
    """What is to be said of tasks that passed all their trials."""
    letter = str(answer).strip().upper()
    if letter == "D":
        return None
    return ALL_PASSED.get(letter, "Answer with one letter, such as `'A'`.")


QUESTIONS: dict[str, tuple[str, str]] = {
    "shop": (
        "new tasks",
        "shop: next month's customers do not come with the hundred tasks of the suite.",
    ),
    "fix": (
        "these tasks",
        "fix: both runs are on the same tasks. That other tasks might be harder is no reason for "
        "a difference between them.",
    ),
    "ranking": (
        "new tasks",
        "ranking: readers take it for a statement about all such work. Which tasks happened to "
        "be in the benchmark is part of the luck.",
    ),
    "contracts": (
        "these tasks",
        "contracts: there are no further tasks that the forty were drawn from. What luck is left?",
    ),
}
TWO_QUESTIONS = "Keep the dictionary. Each value is 'new tasks' or 'these tasks'."


def check_d(answers: Any) -> str | None:
    """Which of four situations is given the other question."""
    return _chosen(answers, QUESTIONS, ("new tasks", "these tasks"), TWO_QUESTIONS)


UNPAIRED = (
    "Your error treats the two agents as if they had been given different tasks. They had the "
    "same ones: look at the difference on each task first."
)
NOT_OF_THE_MEAN = "That is how much single tasks spread. How far off is the mean of them all?"
SPREAD_OF_ALL = (
    "You divide the squares by the number of tasks. A sample's variance divides by one less."
)
SQUARED = "The lead is right, and its error is squared: take the root."
TRIALS_AS_TASKS = "You pool the trials. Trials of one task are alike; the tasks are what was drawn, so count them."
POOLED_LEAD = (
    "Tasks have different numbers of trials here, and yours count for more where there are more. "
    "Take each task's success rate first, then their mean."
)
BY_ORDER = (
    "You pair the tasks by their place in the dictionary. The two agents may list them in another "
    "order; pair them by name."
)
OTHER_WAY = "The sign is wrong: a positive lead means that the second agent is better."
UNSHARED = (
    "A task that only one agent was given cannot be paired. Leave it out of both, and say so in "
    "the report."
)
TWO_NUMBERS = "Return two numbers: the lead and its standard error."
LEAD_OFF = "The lead is not the mean, over the tasks of both, of second less first."
ERROR_OFF = "The lead is right, its error is not. It is the standard error of the mean difference."

Trials = dict[str, list[int]]


def _agents(seed: int, tasks: int, trials: tuple[int, int], unshared: bool) -> tuple[Trials, ...]:
    """Two agents' trials by task; the second lists the tasks in another order."""
    rng = np.random.default_rng(seed)
    names = [f"task {i}" for i in range(tasks)]
    p = rng.uniform(0.1, 0.9, size=tasks)
    first = {t: [int(x) for x in rng.random(trials[0]) < p[i]] for i, t in enumerate(names)}
    counts = rng.integers(trials[0], trials[1], size=tasks, endpoint=True)
    second = {
        names[i]: [int(x) for x in rng.random(counts[i]) < min(p[i] + 0.1, 1)]
        for i in rng.permutation(tasks)
    }
    if unshared:
        second["only second"] = [1] * trials[0]
        first = {"only first": [0] * trials[0], **first}
    return first, second


def _rates(trials: Trials, tasks: Sequence[str]) -> np.ndarray:
    return np.array([np.mean(trials[task]) for task in tasks])


def _lead(difference: np.ndarray) -> tuple[float, float]:
    return float(difference.mean()), float(difference.std(ddof=1) / math.sqrt(len(difference)))


def _misread(found: tuple[float, float], first: Trials, second: Trials) -> str:
    """Which mistake leads to this lead and error."""
    tasks = [task for task in first if task in second]
    a, b = _rates(first, tasks), _rates(second, tasks)
    (lead, error), m = _lead(b - a), len(tasks)
    if not math.isclose(found[0], lead, abs_tol=1e-9):
        every = float(_rates(second, list(second)).mean() - _rates(first, list(first)).mean())
        pooled = [float(np.mean([x for t in tasks for x in agent[t]])) for agent in (first, second)]
        as_failed = (_rates(second, list(second)).sum() - _rates(first, list(first)).sum()) / len(
            first.keys() | second.keys()
        )
        leads = (
            (OTHER_WAY, -lead),
            (UNSHARED, every),
            (UNSHARED, float(as_failed)),
            (POOLED_LEAD, pooled[1] - pooled[0]),
        )
        return _named(found[0], leads, LEAD_OFF)
    # The other way of an error is to be told by its size.
    trials = (
        [float(x) for t in tasks for x in first[t]],
        [float(x) for t in tasks for x in second[t]],
    )
    shuffled = _rates(second, [task for task in second if task in first]) - a
    errors = (
        (UNPAIRED, math.hypot(_lead(a)[1], _lead(b)[1])),
        (NOT_OF_THE_MEAN, error * math.sqrt(m)),
        (NOT_OF_THE_MEAN, error * math.sqrt(m - 1)),
        (SQUARED, error**2),
        (SPREAD_OF_ALL, error * math.sqrt((m - 1) / m)),
        (TRIALS_AS_TASKS, math.hypot(*(np.std(x, ddof=1) / math.sqrt(len(x)) for x in trials))),
        (TRIALS_AS_TASKS, math.hypot(*(np.std(x) / math.sqrt(len(x)) for x in trials))),
        (BY_ORDER, _lead(shuffled)[1]),
    )
    return _named(found[1], errors, ERROR_OFF)


def _named(value: float, known: Sequence[tuple[str, float]], otherwise: str) -> str:
    near = (message for message, x in known if math.isclose(value, x, abs_tol=1e-9))
    return next(near, otherwise)


# Seed, tasks, trials of either agent, and whether each has a task of its own.
PAIRS = ((1, 12, (8, 8), False), (2, 9, (4, 9), False), (3, 10, (8, 8), True))


def check_e(paired_lead: Callable[[Trials, Trials], Any]) -> str | None:
    """What a paired comparison gets wrong, if anything."""
    # The last pair is the first turned round, so that a lead is negative too.
    for first, second in (*(_agents(*pair) for pair in PAIRS), _agents(*PAIRS[0])[::-1]):
        found = paired_lead(
            {task: list(marks) for task, marks in first.items()},
            {task: list(marks) for task, marks in second.items()},
        )
        if not isinstance(found, tuple | list | np.ndarray) or np.shape(found) != (2,):
            return TWO_NUMBERS
        tasks = [task for task in first if task in second]
        right = _lead(_rates(second, tasks) - _rates(first, tasks))
        got = float(found[0]), float(found[1])
        if not np.allclose(got, right, rtol=0, atol=1e-9):
            return _misread(got, first, second)
    return None


def _wrong_word(
    name: str, right: Mapping[str, tuple[str, str]], key: str, word: str, message: str
) -> Wrong:
    """The right answers but for one."""
    answers = {k: (word if k == key else good) for k, (good, _) in right.items()}
    return Wrong(f"{name} = {answers!r}", message)


EXERCISES = (
    Exercise(
        id="08.a",
        title="Two tasks, one average",
        minutes=5,
        difficulty=1,
        prompt="""
A suite of two tasks has pass^1 = 0.5. Give the success probabilities of the two tasks for which its
pass^8 is smallest, and those for which it is largest. Each answer is a list of two numbers.
""",
        answer="two_suites",
        stub='two_suites = {"smallest pass^8": ..., "largest pass^8": ...}',
        hints=(
            "In the picture with the curve and the line: when is the line's middle low, when high?",
            "The line starts and ends on the curve. Let its ends meet, or pull them apart.",
        ),
        solution='two_suites = {"smallest pass^8": [0.5, 0.5], "largest pass^8": [1, 0]}',
        wrong=(
            Wrong(
                'two_suites = {"smallest pass^8": [0, 1], "largest pass^8": [0.5, 0.5]}',
                TURNED_ROUND,
            ),
            Wrong('two_suites = {"smallest pass^8": [0, 0], "largest pass^8": [1, 0]}', NOT_HALF),
            Wrong(
                'two_suites = {"smallest pass^8": [0.5, 0.5], "largest pass^8": [1, 1]}', NOT_HALF
            ),
            Wrong(
                'two_suites = {"smallest pass^8": [0.5, 0.5], "largest pass^8": [0.9, 0.1]}',
                NOT_LARGEST,
            ),
            Wrong(
                'two_suites = {"smallest pass^8": [0.4, 0.6], "largest pass^8": [1, 0]}',
                NOT_SMALLEST,
            ),
            Wrong('two_suites = {"smallest pass^8": 0.5, "largest pass^8": 1}', TWO_KEYS),
        ),
        check=check_a,
    ),
    Exercise(
        id="08.b",
        title="Five lines from reports",
        minutes=10,
        difficulty=2,
        prompt="""
What is wrong with each line? Choose from `"power"` (a power of an average over unlike tasks),
`"dropped"` (tasks have left the mean), `"too few"` (fewer trials than k), `"pooled"` (trials counted
as if each were a task) and `"nothing"`.

- **A**: "200 tasks, eight trials each, and 90% of all trials pass. So all of eight customers are
  served with 0.9^8 = 43%."
- **B**: "Trials per task: 2 to 10. pass^1 = 0.50, pass^2 = 0.33, pass^4 = 1.00."
- **C**: "Eight trials of each task. pass^8 = 0.15, pass^16 = 0.07."
- **D**: "500 tasks, 8 trials each: pass^1 = 0.634, 95% interval for tasks of this kind ± 0.015
  (4,000 trials)."
- **E**: "30 tasks, 16 trials each, counting groups of 8: pass^8 = 0.12, 95% interval for new tasks
  0.05 to 0.26."
""",
        answer="faults",
        stub='faults = {"A": ..., "B": ..., "C": ..., "D": ..., "E": ...}',
        hints=(
            "Ask of each: was k of one task ever seen together? On which tasks? What was counted?",
            "Two of the lines would read the same if each task either always passed or never did.",
        ),
        solution=(
            "faults = {\n"
            '    "A": "power",\n    "B": "dropped",\n    "C": "too few",\n'
            '    "D": "pooled",\n    "E": "nothing",\n}'
        ),
        wrong=(
            _wrong_word("faults", CLAIMS, "A", "wrong", ONE_OF),
            *(
                _wrong_word("faults", CLAIMS, key, word, CLAIMS[key][1])
                for key, word in (
                    ("A", "nothing"),
                    ("A", "too few"),
                    ("B", "nothing"),
                    ("C", "nothing"),
                    ("D", "nothing"),
                    ("E", "too few"),
                    ("E", "pooled"),
                )
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="08.c",
        title="A real case: all of them passed",
        minutes=6,
        difficulty=2,
        prompt=f"""
Somebody had ten results, all 1, and asked a library for a bootstrap interval of their mean. It
stopped with an error. They asked for a clearer error, or for an interval of no width, so that the
program would go on ([issue](https://github.com/scipy/scipy/issues/14804), 2021).

Say that yours are twenty tasks, each passed in all eight trials. What do you report for pass^8 on
tasks like these?

- `"A"`: 1.00, in [1.00, 1.00]; each resample of the twenty tasks gives 1.
- `"B"`: 1.00, and no interval; twenty equal values say nothing about the error.
- `"C"`: 1.00, in [0.98, 1.00]; 160 trials without a failure.
- `"D"`: 1.00, in [{LOWEST:.2f}, 1.00]; 20 tasks without a failure.

(The interval of C or D is what `estimate` makes of so many tasks, each with one result.)
""",
        answer="all_passed",
        stub="all_passed = ...",
        hints=(
            "Which true values would make this result no surprise?",
            "Suppose that the agent can do 90% of tasks, and those every time. How likely is this "
            "result? What does that say of each answer?",
        ),
        solution='all_passed = "D"',
        wrong=(
            Wrong("all_passed = 0.82", "Answer with one letter, such as `'A'`."),
            *(Wrong(f'all_passed = "{letter}"', message) for letter, message in ALL_PASSED.items()),
        ),
        check=check_c,
    ),
    Exercise(
        id="08.d",
        title="Which question?",
        minutes=5,
        difficulty=1,
        prompt="""
Which interval belongs to the situation: for `"new tasks"` or for `"these tasks"`?

- `shop`: a shop tried the agent on a hundred sampled requests. It wants to know what next month's
  customers will meet.
- `fix`: a team ran its suite before and after changing a prompt. Pass rates differ by two points, and
  it asks if that is more than running twice would give.
- `ranking`: a benchmark of 120 tasks publishes which agent is better at this kind of work.
- `contracts`: a firm has exactly forty standard contracts, all of them in the suite, and no others.
""",
        answer="questions",
        stub='questions = {"shop": ..., "fix": ..., "ranking": ..., "contracts": ...}',
        hints=(
            "What would be different if the same thing were done again: the trials, or the tasks too?",
            "If the suite holds every task that will ever come up, no luck lies in which were drawn.",
        ),
        solution=(
            "questions = {\n"
            '    "shop": "new tasks",\n    "fix": "these tasks",\n'
            '    "ranking": "new tasks",\n    "contracts": "these tasks",\n}'
        ),
        wrong=tuple(
            _wrong_word(
                "questions",
                QUESTIONS,
                key,
                "these tasks" if word == "new tasks" else "new tasks",
                message,
            )
            for key, (word, message) in QUESTIONS.items()
        ),
        check=check_d,
    ),
    Exercise(
        id="08.e",
        title="A lead, task by task",
        minutes=15,
        difficulty=3,
        prompt="""
Write `paired_lead(first, second)`. Each argument is one agent's trials: a dictionary from a task's
name to its list of 0 and 1. Return two numbers: by how much the second agent's pass^1 is higher on the
tasks that *both* were given, and the standard error of that, paired by task. Each task counts alike,
however many trials it has. `np` is at hand.
""",
        answer="paired_lead",
        given="import numpy as np",
        stub="""\
def paired_lead(first, second):
    return ...""",
        hints=(
            "Make one number of each task that both have. What is that number?",
            "You have a list of differences now. Their mean is the lead, and the error is the one "
            "of any mean.",
        ),
        solution="""\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    gains = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    return gains.mean(), gains.std(ddof=1) / np.sqrt(len(gains))""",
        wrong=(
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    a = np.array([np.mean(first[task]) for task in both])
    b = np.array([np.mean(second[task]) for task in both])
    return b.mean() - a.mean(), np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / len(both))""",
                UNPAIRED,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    return d.mean(), d.std(ddof=1)""",
                NOT_OF_THE_MEAN,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    return d.mean(), d.std() / np.sqrt(len(d))""",
                SPREAD_OF_ALL,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    a = np.concatenate([first[task] for task in both])
    b = np.concatenate([second[task] for task in both])
    return b.mean() - a.mean(), np.sqrt(a.var() / len(a) + b.var() / len(b))""",
                TRIALS_AS_TASKS,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    a = np.concatenate([first[task] for task in both])
    b = np.concatenate([second[task] for task in both])
    d = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    return b.mean() - a.mean(), d.std(ddof=1) / np.sqrt(len(d))""",
                POOLED_LEAD,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    a = np.array([np.mean(x) for task, x in first.items() if task in second])
    b = np.array([np.mean(x) for task, x in second.items() if task in first])
    return (b - a).mean(), (b - a).std(ddof=1) / np.sqrt(len(a))""",
                BY_ORDER,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.mean(first[task]) - np.mean(second[task]) for task in both])
    return d.mean(), d.std(ddof=1) / np.sqrt(len(d))""",
                OTHER_WAY,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    a, b = (np.mean([np.mean(x) for x in agent.values()]) for agent in (first, second))
    return b - a, d.std(ddof=1) / np.sqrt(len(d))""",
                UNSHARED,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    return np.mean([np.mean(second[task]) - np.mean(first[task]) for task in both])""",
                TWO_NUMBERS,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    return abs(d.mean()), d.std(ddof=1) / np.sqrt(len(d))""",
                OTHER_WAY,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    tasks = {**first, **second}
    d = np.array([np.mean(second.get(x, 0)) - np.mean(first.get(x, 0)) for x in tasks])
    return d.mean(), d.std(ddof=1) / np.sqrt(len(d))""",
                UNSHARED,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    return d.mean(), d.std()""",
                NOT_OF_THE_MEAN,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    return d.mean(), d.var(ddof=1) / len(d)""",
                SQUARED,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.median(second[task]) - np.median(first[task]) for task in both])
    return d.mean(), d.std(ddof=1) / np.sqrt(len(d))""",
                LEAD_OFF,
            ),
            Wrong(
                """\
def paired_lead(first, second):
    both = [task for task in first if task in second]
    d = np.array([np.mean(second[task]) - np.mean(first[task]) for task in both])
    return d.mean(), 1.96 * d.std(ddof=1) / np.sqrt(len(d))""",
                ERROR_OFF,
            ),
        ),
        check=check_e,
    ),
)
