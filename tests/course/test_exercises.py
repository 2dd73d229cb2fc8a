"""What holds for every exercise of every chapter, and how `check` and `show` behave."""

from __future__ import annotations

import ast
import builtins
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from evalkit.course import exercises as frame
from evalkit.course.exercises import Exercise, Wrong, chapters, check, find, show
from evalkit.course.notebooks import FOLDER, pair_names, read_notebook

ALL = [exercise for chapter in chapters() for exercise in frame.exercises(chapter)]
every_exercise = pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)


def answer_of(source: str, exercise: Exercise) -> Any:
    """Run the source of an answer after what the notebook gives, and return the answer."""
    names: dict[str, Any] = {}
    exec(compile(f"{exercise.given}\n\n{source}", f"<answer to {exercise.id}>", "exec"), names)
    return names[exercise.answer]


def telling(solution: str, answer: str) -> set[str]:
    """Return the parts of a solution that would give it away: its longer lines and its value."""
    lines = {line.strip() for line in solution.splitlines()}
    parts = {line for line in lines if len(line) > 12 and not line.startswith(("def ", "import "))}
    for node in ast.walk(ast.parse(solution)):
        if isinstance(node, ast.Return) and node.value is not None:
            parts.add(ast.unparse(node.value))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == answer:
            parts.add(ast.unparse(node.value))
    return {part for part in parts if len(part) > 3}


def code_of(chapter: str) -> list[str]:
    """Return the sources of the code cells of a chapter's notebook."""
    (name,) = [name for name in pair_names() if name.startswith(chapter)]
    cells = read_notebook(FOLDER / f"{name}.ipynb").cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


@every_exercise
def test_an_exercise_is_complete(exercise: Exercise) -> None:
    assert exercise.id.startswith(tuple(chapters()))
    assert 1 <= exercise.minutes <= 60
    assert exercise.difficulty in (1, 2, 3)
    assert exercise.title
    assert exercise.prompt.strip()
    assert len(exercise.hints) == 2
    assert all(hint.strip() for hint in exercise.hints)


def test_ids_are_unique() -> None:
    assert len({exercise.id for exercise in ALL}) == len(ALL)


@every_exercise
def test_the_untouched_stub_reads_not_attempted_yet(exercise: Exercise) -> None:
    feedback = check(exercise.id, answer_of(exercise.stub, exercise))
    assert feedback.verdict == "not attempted yet"


@every_exercise
def test_the_solution_is_right(exercise: Exercise) -> None:
    feedback = check(exercise.id, answer_of(exercise.solution, exercise))
    assert feedback.verdict == "right", feedback


@every_exercise
def test_the_solution_is_right_every_time(exercise: Exercise) -> None:
    answer = answer_of(exercise.solution, exercise)
    assert check(exercise.id, answer) == check(exercise.id, answer)


@every_exercise
def test_an_answer_that_empties_what_it_is_given_spoils_no_later_check(exercise: Exercise) -> None:
    answer = answer_of(exercise.solution, exercise)
    if not callable(answer):
        return

    def emptying(*args: Any) -> Any:
        result = deepcopy(answer(*args))
        for arg in args:
            if isinstance(arg, dict | list | set):
                arg.clear()
        return result

    check(exercise.id, emptying)
    assert check(exercise.id, answer).verdict == "right"


@every_exercise
def test_each_wrong_answer_is_told_its_own_misconception(exercise: Exercise) -> None:
    assert exercise.wrong, "name the wrong answers that people really give"
    for wrong in exercise.wrong:
        feedback = check(exercise.id, answer_of(wrong.source, exercise))
        assert (feedback.verdict, feedback.message) == ("not yet", wrong.message), wrong.source


AS_ARRAY = """\
def three_averages(points, totals):
    points, totals = np.array([(p, t) for p, t in zip(points, totals) if t]).T
    share = points / totals
    return np.array([points.sum() / totals.sum(), share.mean(), (share + (share == 1)).mean() / 2])"""


CLIPPED = """\
import numpy as np


def acting_range(overall, floor):
    return np.clip([(overall - floor) / (1 - floor), overall / (1 - floor)], 0, 1)"""


BY_PANDAS = """\
import pandas as pd


def paired_lead(first, second):
    a, b = (pd.Series({task: np.mean(x) for task, x in agent.items()}) for agent in (first, second))
    gains = (b - a).dropna()
    return np.array([gains.mean(), gains.sem()])"""


@pytest.mark.parametrize(
    ("exercise_id", "source"),
    [("03.a", AS_ARRAY), ("05.d", CLIPPED), ("08.e", BY_PANDAS)],
)
def test_what_is_right_in_another_form_is_right(exercise_id: str, source: str) -> None:
    feedback = check(exercise_id, answer_of(source, find(exercise_id)))
    assert feedback.verdict == "right", feedback


@every_exercise
def test_no_message_gives_the_solution_away(exercise: Exercise) -> None:
    for wrong in exercise.wrong:
        for part in telling(exercise.solution, exercise.answer):
            assert part not in wrong.message


@every_exercise
def test_the_stub_in_the_notebook_is_the_stub_of_the_exercise(exercise: Exercise) -> None:
    code = code_of(exercise.id.split(".")[0])
    call = f'check("{exercise.id}", {exercise.answer})'
    (where,) = [i for i, source in enumerate(code) if source.endswith(call)]
    assert code[where].removesuffix(call).strip() == exercise.stub.strip()
    assert code[where - 1].endswith(f'show("{exercise.id}")')


def bound(source: str) -> set[str]:
    """Return the names that a piece of code gives a meaning to, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


@every_exercise
def test_a_solution_runs_where_it_will_be_pasted(exercise: Exercise) -> None:
    """What it relies on is in itself or in the notebook, not in `given` alone."""
    loaded = {n.id for n in ast.walk(ast.parse(exercise.solution)) if isinstance(n, ast.Name)}
    code = "\n".join(code_of(exercise.id.split(".")[0])).replace("await ", "")
    assert loaded - bound(exercise.solution) - bound(code) - set(dir(builtins)) == set()


# How check and show behave, on an exercise of our own.

TWICE = Exercise(
    id="00.test",
    title="Double it",
    minutes=1,
    difficulty=1,
    prompt="Double a number.",
    answer="twice",
    stub="def twice(x):\n    return ...",
    hints=("Add.", "Or multiply."),
    solution="def twice(x):\n    return 2 * x",
    wrong=(Wrong("def twice(x):\n    return x * x", "That is the square."),),
    check=lambda twice: None if twice(3) == 6 else "That is the square.",
)


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> Exercise:
    monkeypatch.setattr(frame, "exercises", lambda chapter: (TWICE,))
    return TWICE


@pytest.mark.parametrize(
    "stub",
    [..., [1, ...], (..., 2), {"a": ...}, {"a": [0.5, (1, ...)]}, lambda x: ..., lambda x: [...]],
)
def test_whatever_still_holds_an_ellipsis_is_not_attempted(stub: Any, twice: Exercise) -> None:
    feedback = check("00.test", stub)
    assert str(feedback) == "00.test: not attempted yet"


def test_an_error_in_a_learners_code_is_told_with_its_line(twice: Exercise) -> None:
    names: dict[str, Any] = {}
    source = "def helper(x):\n    return {}[x]\n\ndef twice(x):\n    return helper(x)"
    exec(compile(source, "<cell>", "exec"), names)
    feedback = check("00.test", names["twice"])
    assert feedback.message == "Your code raised KeyError: 3, on its line 2"


def test_an_error_in_a_file_of_the_learners_shows_the_line_itself(twice: Exercise) -> None:
    def oops(x: int) -> float:
        return x / 0

    message = check("00.test", oops).message
    assert message.startswith("Your code raised ZeroDivisionError: division by zero, on its line")
    assert message.endswith(": `return x / 0`")


def test_an_answer_of_another_kind_is_said_to_be_one() -> None:
    message = check("00.a", 6).message
    assert message.startswith("This is not the kind of answer that was asked for")


def test_a_function_that_only_prints_is_asked_for_its_return() -> None:
    for exercise_id in ("01.d", "10.b", "13.b"):
        assert "`return`" in check(exercise_id, lambda *arguments: None).message


def test_feedback_in_jupyter_escapes_what_the_learner_wrote(twice: Exercise) -> None:
    def oops(x: int) -> int:
        raise ValueError("<script>")

    page = check("00.test", oops)._repr_html_()
    assert "<script>" not in page
    assert 'role="status"' in page


def test_hints_and_solution_are_folded_and_need_no_kernel(twice: Exercise) -> None:
    page = show("00.test")._repr_markdown_()
    assert page.count("<details>") == page.count("</details>") == 3
    assert page.index("Hint 1") < page.index("Hint 2") < page.index("Solution")
    assert "return 2 * x" in page
    assert "return 2 * x" not in repr(show("00.test"))


def test_solutions_are_withheld_when_the_instructor_says_so(
    twice: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALKIT_SOLUTIONS", "0")
    page = show("00.test")._repr_markdown_()
    assert "Hint 2" in page
    assert "Solution" not in page
    assert "return 2 * x" not in page


def test_check_works_without_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = replace(TWICE, solution="", wrong=())
    monkeypatch.setattr(frame, "exercises", lambda chapter: (bare,))
    assert check("00.test", lambda x: x + x).verdict == "right"
    assert "Solution" not in show("00.test")._repr_markdown_()


def test_an_unknown_exercise_is_named() -> None:
    with pytest.raises(ValueError, match=r"no exercise '00\.z'; there are 00\.a"):
        find("00.z")
    with pytest.raises(ValueError, match="no exercises for chapter '99'"):
        check("99.a", 1)
