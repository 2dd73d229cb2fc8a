"""The instructors' page: plans that add up, messages and headings that exist."""

from __future__ import annotations

import re

import pytest

from evalkit.course.chapters import CHAPTERS
from evalkit.course.exercises import chapters, exercises, find
from evalkit.course.notebooks import FOLDER

PAGE = (FOLDER / "INSTRUCTORS.md").read_text(encoding="utf-8")
QUOTED = re.findall(r'^- (\d\d\.\w): "(.*)"$', PAGE, re.MULTILINE)
CHAPTER_NOTES = PAGE.partition("## Chapter by chapter")[2]
NOTES = dict(re.findall(r"(?ms)^### (\d\d) .*?\n(.*?)(?=^##)", CHAPTER_NOTES))


def plan(title: str) -> list[tuple[int, str]]:
    """Return the rows of a plan: minutes and part."""
    section = PAGE.partition(f"### {title}\n")[2].partition("\n#")[0]
    return [(int(m), part) for m, part in re.findall(r"^\| (\d+) \| (.*) \|$", section, re.M)]


@pytest.mark.parametrize(
    ("title", "minutes"), [("90 minutes", 90), ("Half a day", 210), ("A day", 420)]
)
def test_a_plan_adds_up_and_gives_each_exercise_its_minutes(title: str, minutes: int) -> None:
    rows = plan(title)
    assert sum(m for m, _ in rows) == minutes
    for m, part in rows:
        if part.startswith("Exercise"):
            ids = re.findall(r"\d\d\.\w", part)
            assert m == sum(find(name).minutes for name in ids), part
    assert any(part.startswith("Exercise") for _, part in rows)


@pytest.mark.parametrize(("exercise_id", "message"), QUOTED)
def test_a_misconception_is_a_message_of_its_exercise(exercise_id: str, message: str) -> None:
    assert message in {wrong.message for wrong in find(exercise_id).wrong}


@pytest.mark.parametrize("chapter", sorted(set(chapters()) - {"14"}))
def test_every_chapter_with_exercises_has_its_note(chapter: str) -> None:
    note = NOTES[chapter]
    assert [part for part in ("**The point to land:**", "**Ask:**", "**Skip:**") if part in note]
    quoted = {name for name, _ in QUOTED if name.startswith(chapter)}
    assert len(quoted) >= min(3, len(exercises(chapter)))


@pytest.mark.parametrize("chapter", sorted(NOTES))
def test_what_may_be_skipped_is_there(chapter: str) -> None:
    (name,) = [name for name in CHAPTERS if name.startswith(chapter)]
    script = (FOLDER / "scripts" / f"{name}.py").read_text(encoding="utf-8")
    headings = re.findall(r"^# ##+ (.*)$", script, re.MULTILINE)
    skipped = NOTES[chapter].partition("**Skip:**")[2]
    assert set(re.findall(r"\*([^*]+)\*", skipped.replace("\n", " "))) <= set(headings)


def test_commands_that_are_named_exist() -> None:
    for module in set(re.findall(r"python -m (evalkit\.[\w.]+)", PAGE)):
        path = FOLDER.parent / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
