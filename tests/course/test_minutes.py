"""How long the chapters take: counted, added up, and as the README says."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from evalkit.course import minutes
from evalkit.course.minutes import (
    HEADER,
    exercise_minutes,
    measure,
    measured,
    reading_minutes,
    table,
    words,
    written,
)
from evalkit.course.notebooks import FOLDER, read_notebook

README = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
NAMES = sorted(path.stem for path in FOLDER.glob("[0-9][0-9]_*.ipynb"))


def notebook(*cells: str) -> nbformat.NotebookNode:
    """Return a notebook; a cell that begins with ``%`` is code."""
    make = {True: nbformat.v4.new_code_cell, False: nbformat.v4.new_markdown_cell}
    return nbformat.v4.new_notebook(cells=[make[c.startswith("%")](c.strip("%")) for c in cells])


def test_the_readmes_table_is_the_one_that_the_command_makes() -> None:
    assert table() in README, "run `uv run python -m evalkit.course.minutes --readme`"
    assert written(README) == README


def test_words_are_those_of_the_prose() -> None:
    text = "# A title\n\nIt's **pass^k**, see [here](https://a.b/c-d) and `x = 1`: 97%."
    assert words(notebook(text, "% not = 'counted'")) == 10


def test_reading_takes_a_minute_a_cell_and_a_minute_for_120_words() -> None:
    prose = "word " * 1200
    cells = ["% 1"] * 10 + ['% show("01.a")', '% x = ...\ncheck("01.a", x)', "% show_all()"]
    assert reading_minutes(notebook(prose)) == 10
    assert reading_minutes(notebook(prose, *["% 1"] * 10)) == 20
    assert reading_minutes(notebook(prose, *cells[:-1])) == 20
    assert reading_minutes(notebook("a word")) == 5


def test_exercises_take_what_they_say() -> None:
    assert exercise_minutes("00") == 3
    assert exercise_minutes("14") == 0


@pytest.mark.parametrize("name", NAMES)
def test_what_a_chapter_says_of_itself_is_not_far_off(name: str) -> None:
    """Within a third, for these are estimates: of the larger, and never less than five minutes."""
    chapter = read_notebook(FOLDER / f"{name}.ipynb")
    head = chapter.cells[0].source
    reading = re.search(r"Reading: (\d+) minutes|(\d+) minutes of reading", head)
    assert reading, head
    stated = int(reading[1] or reading[2])
    assert abs(stated - reading_minutes(chapter)) <= max(5, stated / 3)
    doing = re.search(r"Exercises?: (\d+) minutes|(\d+) of exercises", head)
    stated = int(doing[1] or doing[2]) if doing else 0
    assert abs(stated - exercise_minutes(name[:2])) <= max(5, stated / 3)


def test_every_measured_chapter_is_one() -> None:
    assert set(measured()) <= set(NAMES)
    assert all(seconds > 0 and size > 50 for seconds, size in measured().values())


def test_a_chapter_that_was_not_measured_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minutes, "measured", dict)
    rows = table().splitlines()[2:-1]
    assert all(row.endswith("| not measured | – |") for row in rows)


@pytest.mark.skipif("os.name != 'posix'", reason="POSIX: the module resource")
def test_a_run_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    nbformat.write(notebook("% kept = bytearray(300_000_000)"), path)
    seconds, size = measure(path)
    assert 0 < seconds < 600
    assert size > 300


def test_a_readme_without_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="must hold one table that begins with"):
        written("# Title\n")
    assert written(f"a\n\n{HEADER}\n| old |\n\nb") == f"a\n\n{table()}\n\nb"
