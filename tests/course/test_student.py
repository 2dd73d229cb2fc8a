"""The student edition holds no solution and no known wrong answer, and its checks work."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.course import exercises as frame
from evalkit.course.exercises import Exercise, chapters
from evalkit.course.notebooks import FOLDER, read_notebook
from evalkit.course.student import main, student_notebook, without_answers

ALL = [exercise for chapter in chapters() for exercise in frame.exercises(chapter)]
PACKAGE = Path(frame.__file__).parents[2]
needs_uv = pytest.mark.skipif(
    not shutil.which(os.environ.get("UV", "uv")), reason="uv, which builds the wheel, is not here"
)


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The edition as a learner has it, with the wheel unpacked to ``package``."""
    folder = tmp_path_factory.mktemp("edition")
    assert main([str(folder / "class.zip")]) == 0
    with zipfile.ZipFile(folder / "class.zip") as file:
        file.extractall(folder)
    (wheel,) = (folder / "class").glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder / "class" / "package")
    return folder / "class"


def texts(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value, lists of lines joined."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "".join(value)
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


def squeezed(text: str) -> str:
    """Return a text on one line, so that neither indentation nor wrapping hides it."""
    return " ".join(text.split())


def as_python_writes_it(source: str) -> str:
    return squeezed(ast.unparse(ast.parse(source)))


def held_texts(folder: Path) -> dict[str, str]:
    """Return, for each file of the edition, every text it holds, on one line."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".ipynb":
            content = json.loads(path.read_text(encoding="utf-8"))
            for cell in content["cells"]:
                for output in cell.get("outputs", []):
                    output.get("data", {}).pop("image/png", None)
            found[path.name] = squeezed("\n".join(texts(content)))
        elif path.is_file() and path.suffix not in (".whl", ".png"):
            text = path.read_text(encoding="utf-8")
            literals = []
            if path.suffix == ".py":
                tree = ast.walk(ast.parse(text))
                literals = [n.value for n in tree if isinstance(n, ast.Constant)]
            strings = [value for value in literals if isinstance(value, str)]
            found[str(path.relative_to(folder))] = squeezed("\n".join([text, *strings]))
    return found


def answers(exercise: Exercise) -> list[str]:
    return [exercise.solution, *(wrong.source for wrong in exercise.wrong)]


def lines(source: str) -> set[str]:
    """Return the lines of an answer that would be known again: not short, not its first."""
    found = {squeezed(line) for line in source.splitlines()}
    return {line for line in found if len(line) > 15 and not line.startswith(("def ", "from "))}


def public(exercise: Exercise) -> str:
    """Return what a learner is shown of an exercise, answers apart."""
    return squeezed("\n".join([exercise.stub, exercise.given, exercise.prompt, *exercise.hints]))


@needs_uv
def test_no_answer_stands_anywhere_in_the_edition(edition: Path) -> None:
    held = held_texts(edition)
    assert sum(name.endswith(".ipynb") for name in held) >= 13
    for exercise in ALL:
        for source in answers(exercise):
            for text in (squeezed(source), as_python_writes_it(source)):
                if text not in public(exercise):
                    assert [name for name, told in held.items() if text in told] == [], text


def code(paths: Iterable[Path]) -> str:
    return squeezed("\n".join(path.read_text(encoding="utf-8") for path in paths))


@needs_uv
def test_no_line_of_an_answer_stands_anywhere_unless_it_is_taught_there(edition: Path) -> None:
    """The toolkit and the prose may hold the same line: they teach it, exercise or not.

    A check may hold it too: it computes what is right, and what each known mistake comes to.
    """
    modules = [path for path in PACKAGE.rglob("*.py") if path.parent.name != "exercises"]
    taught = code([*modules, *FOLDER.glob("scripts/*.py")])
    held = held_texts(edition)
    for exercise in ALL:
        chapter = PACKAGE / "course" / "exercises" / f"chapter_{exercise.id[:2]}.py"
        checks = code([chapter]).partition("EXERCISES = (")[0]
        excused = [taught, public(exercise), checks]
        for source in answers(exercise):
            for line in lines(source):
                if not any(line in text for text in excused):
                    assert [n for n, told in held.items() if line in told] == [], exercise.id


@needs_uv
def test_the_wheels_exercises_hold_no_answer_and_judge_as_the_full_ones(edition: Path) -> None:
    """Every known answer gets the same verdict and message from the unpacked wheel."""
    sources = [(e.id, e.given, s) for e in ALL for s in [e.stub, *answers(e)]]
    code = """
import contextlib, io, json, sys
import evalkit
from evalkit.course.exercises import chapters, check, exercises, find, show
assert all(e.solution == "" and e.wrong == () for c in chapters() for e in exercises(c))
assert all("<summary>Solution" not in show(e.id)._repr_markdown_() for c in chapters() for e in exercises(c))
for exercise_id, given, source in json.load(sys.stdin):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):  # an answer may print
        exec(compile(given + "\\n\\n" + source, "<answer>", "exec"), names)
        said = repr(check(exercise_id, names[find(exercise_id).answer]))
    print(json.dumps(said))
print(json.dumps(evalkit.__file__))
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(sources),
        cwd=edition,
        env=os.environ | {"PYTHONPATH": str(edition / "package")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    *said, where = [json.loads(line) for line in run.stdout.splitlines()]
    assert where.startswith(str(edition))
    expected = []
    for exercise in ALL:
        expected += [f"{exercise.id}: not attempted yet", f"{exercise.id}: right"]
        expected += [f"{exercise.id}: not yet. {wrong.message}" for wrong in exercise.wrong]
    assert said == expected


@needs_uv
def test_the_edition_says_how_to_start_and_cannot_be_taken_for_the_full_one(edition: Path) -> None:
    (wheel,) = edition.glob("*.whl")
    assert "+student-" in wheel.name
    assert f'pip install "./{wheel.name}[course]"' in (edition / "README.md").read_text()
    guard = read_notebook(edition / "notebooks" / "00_start_here.ipynb").cells[2].source
    assert f"/content/evalkit/{wheel.name}[course]" in guard
    assert sorted(path.name for path in edition.iterdir()) == sorted(
        ["README.md", "notebooks", "package", wheel.name]
    )


@needs_uv
def test_notebooks_keep_everything_but_the_solutions(edition: Path) -> None:
    for path in FOLDER.glob("[0-9][0-9]_*.ipynb"):
        full, bare = read_notebook(path), read_notebook(edition / "notebooks" / path.name)
        assert len(full.cells) == len(bare.cells)
        for ours, theirs in zip(full.cells, bare.cells, strict=True):
            if ours.get("outputs") != theirs.get("outputs"):
                assert "show(" in ours.source
                assert "Hint 2" in theirs.outputs[0].data["text/markdown"]


def test_what_only_answers_need_goes_with_them() -> None:
    module = (
        "from a import Exercise, Wrong\n"
        'HINT = "kept"\nSOLUTION = "x = 2"\n'
        "def _all_but(key): return SOLUTION + key\n"
        "def check_a(x): return None if x == 2 else HINT\n"
        "EXERCISES = (Exercise(id='1', solution=SOLUTION, wrong=(Wrong(_all_but('a'), HINT),),"
        " check=check_a),)\n"
    )
    bare = without_answers(module)
    assert "x = 2" not in bare
    assert "_all_but" not in bare
    assert "HINT" in bare
    assert "check_a" in bare


def test_an_exercise_that_hides_its_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1: Exercise"):
        without_answers("EXERCISES = (Exercise(**everything),)")


def test_a_stored_solution_that_is_not_the_packages_is_refused() -> None:
    notebook = read_notebook(FOLDER / "00_start_here.ipynb")
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "text/markdown" in output.get("data", {}):
                page = output.data["text/markdown"]
                output.data["text/markdown"] = page.replace('"cancelled"', '"done"')
    with pytest.raises(ValueError, match=r"beside 'from .*show\(\"00.a\"\)'"):
        student_notebook(notebook, "x.whl")


def test_what_is_there_already_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path)])
    assert "is there already" in capsys.readouterr().err
