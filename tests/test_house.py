"""The house: imports go down only, rooms stay small, and nothing names a place that is not ours."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "evalkit").rglob("*.py"))
FLOORS = ("simulate", "course")  # above the ground floor, in order
DISPLAY = {"IPython", "ipywidgets", "matplotlib"}
every_module = pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix()
)


def floor(module: str) -> int:
    """Return 0 for a module of the toolkit, 1 for `simulate`, 2 for `course`."""
    parts = module.split(".")
    return FLOORS.index(parts[1]) + 1 if len(parts) > 1 and parts[1] in FLOORS else 0


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> Iterator[str]:
    """Yield the full name of everything that a module imports, wherever in it."""
    package = list(path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def code_lines(path: Path) -> int:
    """Return the lines of a module that are code: not blank, not comments, not docstrings."""
    text = path.read_text(encoding="utf-8")
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            skipped |= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in skipped
        for number, line in enumerate(text.splitlines(), 1)
    )


@every_module
def test_imports_go_down_only(path: Path) -> None:
    here = floor(module_name(path))
    upward = [
        name for name in imported(path) if name.split(".")[0] == "evalkit" and floor(name) > here
    ]
    assert upward == []


@every_module
def test_only_the_top_floor_draws_and_shows(path: Path) -> None:
    shown = {name.split(".")[0] for name in imported(path)} & DISPLAY
    assert not shown or floor(module_name(path)) == 2


@every_module
def test_a_module_is_small(path: Path) -> None:
    # A chapter's exercises are texts, one after another: one room, however many there are.
    if path.parent.name != "exercises":
        assert code_lines(path) <= 220


@every_module
def test_a_function_fits_a_screen(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines"


def tracked() -> list[Path]:
    command = ["git", "ls-files", "-z"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    return [ROOT / name for name in run.stdout.split("\0") if name and (ROOT / name).is_file()]


# Written in pieces, so that this file does not hold what it forbids.
HOSTS = [
    "pypi" + ".org",
    "pythonhosted" + ".org",
    "registry." + "npmjs",
    "deb." + "debian",
    "conda." + "anaconda",
]
MACHINE = re.compile(r"(?<![\w.<>-])/(?:home|Users|root|work|mnt)/\w" + r"|[A-Z]:\\Users\\")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git clone, so no tracked files")
def test_no_tracked_file_names_a_registry_or_a_path_of_one_machine() -> None:
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        name = path.relative_to(ROOT)
        assert [host for host in HOSTS if host in text] == [], name
        assert MACHINE.findall(text) == [], name


# The house's own rules, seen to fail.


def test_an_import_of_a_higher_floor_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "evalkit" / "simulate" / "store.py"
    module.parent.mkdir(parents=True)
    module.write_text("def f():\n    from ..course import panels\n    from evalkit import course\n")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert list(imported(module)) == ["evalkit.course.panels", "evalkit.course"]
    with pytest.raises(AssertionError):
        test_imports_go_down_only(module)


def test_docstrings_comments_and_blank_lines_are_not_code(tmp_path: Path) -> None:
    module = tmp_path / "a.py"
    module.write_text('"""One.\n\nTwo.\n"""\n\n# three\ndef f():\n    """Four."""\n    return 5\n')
    assert code_lines(module) == 2


@pytest.mark.parametrize(
    "text", ["cd /" + "home/ann/x", "open('/" + "work/a')", "C:\\" + "Users\\ann"]
)
def test_a_path_of_one_machine_is_seen(text: str) -> None:
    assert MACHINE.search(text)


@pytest.mark.parametrize("text", ["a/home/b", "/tmp/x", "/content/evalkit", "https://x.y/home/a"])
def test_other_paths_are_let_be(text: str) -> None:
    assert not MACHINE.search(text)
