"""Exercises: prompt, stub, hints, solution, checks and known wrong answers side by side.

Each chapter's exercises are the tuple ``EXERCISES`` of ``chapter_NN.py`` in this folder, found by
the chapter's number when one is asked for. In a notebook an exercise takes two cells, one with
``show("01.a")`` and one with the exercise's stub, ending in ``check("01.a", answer)``.

For instructors: with ``EVALKIT_SOLUTIONS=0`` in the environment `show` leaves solutions out.
`check` never reads a solution, so ``python -m evalkit.course.student`` can make an edition whose
package and notebooks hold none. What `check` found is kept on this machine: see `progress`.
"""

from __future__ import annotations

import functools
import html
import importlib
import os
import pkgutil
import re
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evalkit.course.progress import remember

Verdict = Literal["not attempted yet", "right", "not yet"]

# Where code lives that the learner did not write: evalkit, Python, and what is installed.
_INSTALLED = (sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
_NOT_THE_LEARNERS = (str(Path(__file__).parents[2]), *_INSTALLED)
_COLOURS = {"not attempted yet": "#999999", "right": "#009E73", "not yet": "#D55E00"}
_SIGNS = {"not attempted yet": "○", "right": "✓", "not yet": "✗"}


@dataclass(frozen=True)
class Wrong:
    """An answer that people really give, and the message that names its misconception."""

    source: str
    message: str


@dataclass(frozen=True)
class Exercise:
    """One exercise, complete.

    Parameters
    ----------
    id : str
        Chapter number and letter: ``"01.a"``.
    title, prompt : str
        The title in plain words, and what is asked, in Markdown.
    minutes, difficulty : int
        How long it takes; 1, 2 or 3.
    answer : str
        The name that the stub, the solution and the wrong answers define.
    stub : str
        The code that the learner completes, as it stands in the notebook. Its answer is ``...``,
        or holds ``...``, or is a function that returns ``...``.
    hints : tuple of two str
        The first says where to look, the second how to begin. Markdown.
    solution : str
        Code that defines the answer.
    wrong : tuple of Wrong
        Answers that people really give.
    check : callable
        Takes the learner's answer; returns None if it is right, else the message that names the
        misconception. It tries cases that the notebook does not show and never uses the solution.
    given : str
        Lines of the notebook (imports, mostly) that stub, solution and wrong answers rely on.
    """

    id: str
    title: str
    minutes: int
    difficulty: int
    prompt: str
    answer: str
    stub: str
    hints: tuple[str, str]
    solution: str
    wrong: tuple[Wrong, ...]
    check: Callable[[Any], str | None]
    given: str = ""


@dataclass(frozen=True, repr=False)
class Feedback:
    """What `check` says, shown as text or in Jupyter."""

    id: str
    verdict: Verdict
    message: str = ""

    def __repr__(self) -> str:
        """Return the verdict in one line of text."""
        return f"{self.id}: {self.verdict}" + (f". {self.message}" if self.message else "")

    def _repr_html_(self) -> str:
        """Return the verdict as a line that a screen reader announces."""
        message = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(self.message))
        return (
            f'<div role="status" style="border-left: 4px solid {_COLOURS[self.verdict]}; '
            f'padding: 4px 12px;">{_SIGNS[self.verdict]} <strong>{self.id}: {self.verdict}.'
            f"</strong> {message}</div>"
        )


@dataclass(frozen=True, repr=False)
class Shown:
    """What `show` displays: the exercise, with hints and solution folded away."""

    exercise: Exercise
    solved: bool

    def __repr__(self) -> str:
        """Return the prompt as text; hints and solution are left to the page."""
        return f"{self._heading()}\n\n{self.exercise.prompt.strip()}"

    def _repr_markdown_(self) -> str:
        """Return the whole exercise; what is folded opens on any page, with or without a kernel."""
        one, two = self.exercise.hints
        parts = [repr(self), _folded("Hint 1", one), _folded("Hint 2", two)]
        if self.solved:
            code = f"```python\n{self.exercise.solution.strip()}\n```"
            parts.append(_folded("Solution", code))
        return "\n\n".join(parts)

    def _heading(self) -> str:
        e = self.exercise
        return (
            f"### Exercise {e.id}: {e.title}\n\n{e.minutes} minutes, difficulty {e.difficulty} of 3"
        )


def _folded(summary: str, body: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{body.strip()}\n\n</details>"


def chapters() -> list[str]:
    """Return the numbers of the chapters that have exercises, in order: ``["00", "01", ...]``."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return sorted(name.removeprefix("chapter_") for name in names if name.startswith("chapter_"))


def exercises(chapter: str) -> tuple[Exercise, ...]:
    """Return the exercises of a chapter, given its number as text: ``"01"``.

    Raises
    ------
    ValueError
        If the chapter has no exercises.
    """
    if chapter not in chapters():
        raise ValueError(f"no exercises for chapter {chapter!r}; there are {', '.join(chapters())}")
    module = importlib.import_module(f"{__name__}.chapter_{chapter}")
    found: tuple[Exercise, ...] = module.EXERCISES
    return found


def find(exercise_id: str) -> Exercise:
    """Return one exercise by its id.

    Raises
    ------
    ValueError
        If there is none with this id.
    """
    found = {exercise.id: exercise for exercise in exercises(str(exercise_id).split(".")[0])}
    if exercise_id not in found:
        raise ValueError(f"no exercise {exercise_id!r}; there are {', '.join(found)}")
    return found[exercise_id]


def show(exercise_id: str) -> Shown:
    """Return the exercise for display: what is asked, two hints and the solution, folded away."""
    exercise = find(exercise_id)
    withheld = os.environ.get("EVALKIT_SOLUTIONS", "1") == "0"
    return Shown(exercise, solved=bool(exercise.solution) and not withheld)


def check(exercise_id: str, answer: Any) -> Feedback:
    """Return what is to be said about an answer: not attempted yet, right, or what went wrong.

    Parameters
    ----------
    exercise_id : str
        The id that `show` shows, such as ``"01.a"``.
    answer : object
        The learner's value or function.

    Returns
    -------
    Feedback
        It never tells the answer. An error in the learner's code is told in words.
    """
    exercise = find(exercise_id)
    if untouched(answer):
        return Feedback(exercise_id, "not attempted yet")
    try:
        message = exercise.check(watched(answer))
    except NotAttempted:
        return Feedback(exercise_id, "not attempted yet")
    except Exception as error:  # whatever a learner's code may raise
        message = _in_words(error)
    verdict: Verdict = "not yet" if message else "right"
    if note := remember(exercise_id, verdict):
        _say_once(note)
    return Feedback(exercise_id, verdict, message or "")


@functools.cache
def _say_once(note: str) -> None:
    print(note)


class NotAttempted(Exception):
    """A learner's function returned the ``...`` of its stub."""


def untouched(answer: Any) -> bool:
    """Return whether a value is the stub's ``...``, or holds one in a list, tuple or dict."""
    if isinstance(answer, dict):
        return any(map(untouched, answer.values()))
    return answer is ... or (isinstance(answer, list | tuple) and any(map(untouched, answer)))


def watched(answer: Any) -> Any:
    """Return a function that says so when it is still a stub; anything else as it is."""
    if not callable(answer) or isinstance(answer, type):
        return answer

    @functools.wraps(answer)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = answer(*args, **kwargs)
        if untouched(result):
            raise NotAttempted
        return result

    return call


def _in_words(error: Exception) -> str:
    """Return which error the learner's code raised, and on which of its lines."""
    told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_NOT_THE_LEARNERS)]
    if not own:
        if "'NoneType'" in told and "not callable" not in told:
            return f"Something is None ({told}). Does your function end with `return`?"
        return f"This is not the kind of answer that was asked for ({told}). Read the prompt again."
    line = f": `{own[-1].line}`" if own[-1].line else ""
    return f"Your code raised {told}, on its line {own[-1].lineno}{line}"
