"""The student edition: the notebooks and a wheel, with no solution in either, made by ::

    uv run python -m evalkit.course.student OUT        # a folder, or a zip if OUT ends in .zip

`check` and `show` work in it as ever, and every message is there. What is left out are the
solutions, the known wrong answers and what only they need. The checks themselves cannot be left
out: who reads their code finds what they expect.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import evalkit
from evalkit.course.exercises import Exercise, Shown, chapters, exercises
from evalkit.course.notebooks import FOLDER, read_notebook

ANSWERS = {"solution": ast.Constant(""), "wrong": ast.Tuple([], ast.Load())}
WELCOME = """\
# evalkit: learn to evaluate tool-using agents

The course, with its exercises and without their solutions. You need Python 3.11 or newer:

    pip install "./{wheel}[course]"
    jupyter lab notebooks/00_start_here.ipynb

Do the exercises in the notebooks, save, and hand in the notebooks that you worked on. On Colab,
unpack this folder to /content/evalkit, and the first cell of each notebook does the rest.
"""


def without_answers(source: str) -> str:
    """Return a module of exercises without solutions, wrong answers, and what only they need.

    Raises
    ------
    ValueError
        If an exercise does not name both as `Exercise(..., solution=..., wrong=...)`.

    Examples
    --------
    >>> print(without_answers('S = "x = 2"\\nEXERCISES = (Exercise("1", solution=S, wrong=(S,)),)'))
    EXERCISES = (Exercise('1', solution='', wrong=()),)
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Exercise":
            named = [keyword for keyword in node.keywords if keyword.arg in ANSWERS]
            if len(named) != len(ANSWERS):
                raise ValueError(
                    f"line {node.lineno}: Exercise(...) must name its `solution` and `wrong`"
                )
            for keyword in named:
                keyword.value = ANSWERS[str(keyword.arg)]
    tree.body = _needed(tree.body)
    return ast.unparse(tree)


def _needed(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a module that ``EXERCISES`` rests on, and all that define nothing."""
    defined = {name: statement for statement in statements for name in _defines(statement)}
    needed = [s for s in statements if not _defines(s) or "EXERCISES" in _defines(s)]
    for statement in needed:  # grows while we look
        for node in ast.walk(statement):
            found = defined.get(node.id) if isinstance(node, ast.Name) else None
            if found is not None and found not in needed:
                needed.append(found)
    return [statement for statement in statements if statement in needed]


def _defines(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def lay_package(folder: Path) -> None:
    """Lay a copy of the package without answers into a folder, as ``folder/evalkit``."""
    source = Path(evalkit.__file__).parent
    shutil.copytree(source, folder / "evalkit", ignore=shutil.ignore_patterns("__pycache__"))
    for module in (folder / "evalkit" / "course" / "exercises").glob("chapter_*.py"):
        text = without_answers(module.read_text(encoding="utf-8"))
        module.write_text(text + "\n", encoding="utf-8", newline="\n")


def build_wheel(out: Path, root: Path = FOLDER.parent) -> Path:
    """Build the wheel without answers into a folder; return where it is.

    Its version ends in ``+student``, so that nobody takes it for the full one.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        lay_package(tree)
        for name in ("README.md", "LICENSE"):
            shutil.copy(root / name, tree)
        stated = (root / "pyproject.toml").read_text(encoding="utf-8")
        project, versions = re.subn(r'(?m)^(version = "[^"]+)"$', r'\1+student"', stated)
        if versions != 1:
            raise ValueError(f"{root / 'pyproject.toml'} does not state one version")
        (tree / "pyproject.toml").write_text(project, encoding="utf-8")
        command = [os.environ.get("UV", "uv"), "build", "--wheel", "--quiet", "--out-dir", str(out)]
        subprocess.run([*command, str(tree)], check=True)
    (out / ".gitignore").unlink(missing_ok=True)  # uv lays one
    (wheel,) = out.glob("*.whl")
    return wheel


def student_notebook(notebook: NotebookNode, wheel: str) -> NotebookNode:
    """Return a notebook that shows no solution and on Colab installs the wheel."""
    shown = {Shown(e, True)._repr_markdown_(): Shown(e, False)._repr_markdown_() for e in _all()}
    for cell in notebook.cells:
        cell.source = cell.source.replace("/content/evalkit[", f"/content/evalkit/{wheel}[")
        for output in cell.get("outputs", []):
            page = output.get("data", {}).get("text/markdown", "")
            if page in shown:
                output.data["text/markdown"] = shown[page]
            elif "<summary>Solution</summary>" in page:
                raise ValueError(
                    f"a stored solution is not the package's, beside {cell.source!r}; run "
                    "`python -m evalkit.course.notebooks` first"
                )
    notebook.metadata.pop("evalkit", None)
    return notebook


def _all() -> Iterator[Exercise]:
    for chapter in chapters():
        yield from exercises(chapter)


def make_edition(out: Path) -> None:
    """Write the edition into a new folder."""
    (out / "notebooks").mkdir(parents=True)
    wheel = build_wheel(out).name
    (out / "README.md").write_text(WELCOME.format(wheel=wheel), encoding="utf-8")
    for path in sorted(FOLDER.glob("[0-9][0-9]_*.ipynb")):
        text = nbformat.writes(student_notebook(read_notebook(path), wheel)) + "\n"
        (out / "notebooks" / path.name).write_text(text, encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the edition and say where it is. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m evalkit.course.student",
        description="Make the student edition: notebooks and a wheel without solutions.",
    )
    parser.add_argument("out", type=Path, help="a new folder, or a zip file if it ends in .zip")
    out = parser.parse_args(arguments).out
    if out.exists():
        parser.error(f"{out} is there already; name a new folder or file, or delete it")
    if out.suffix == ".zip":
        with tempfile.TemporaryDirectory() as folder:
            make_edition(Path(folder) / out.stem)
            shutil.make_archive(str(out.with_suffix("")), "zip", folder)
    else:
        make_edition(out)
    print(f"{out}: the notebooks and a wheel, without solutions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
