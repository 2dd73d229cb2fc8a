"""What `check` remembers of a learner: here, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.course import exercises as frame
from evalkit.course.chapters import CHAPTERS, progress
from evalkit.course.exercises import check
from evalkit.course.progress import forget_progress, progress_file, remember, remembered


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of progress in a folder that does not exist yet."""
    path = tmp_path / "state" / "progress.jsonl"
    monkeypatch.setenv("EVALKIT_PROGRESS", str(path))
    frame._say_once.cache_clear()
    return path


def right(said: str, status: str) -> bool:
    return status == "cancelled"


def wrong(said: str, status: str) -> bool:
    return True


def test_check_remembers_what_was_tried_and_what_was_right(kept: Path) -> None:
    check("00.a", ...)
    assert not kept.exists()
    check("00.a", wrong)
    assert remembered() == {"00.a": "not yet"}
    check("00.a", right)
    check("00.a", wrong)
    assert remembered() == {"00.a": "right"}


def test_a_check_run_again_and_again_adds_nothing(kept: Path) -> None:
    for _ in range(5):
        check("00.a", wrong)
        check("00.a", right)
    assert kept.read_text() == '{"00.a": "not yet"}\n{"00.a": "right"}\n'


def test_the_map_shows_each_exercise(kept: Path) -> None:
    remember("01.b", "right")
    remember("01.c", "not yet")
    table = progress()
    assert table.loc["01_four_scoreboards", "right"] == "1 of 5"
    assert table.loc["01_four_scoreboards", "exercises"] == "○ a  ✓ b  ✗ c  ○ d  ○ e"
    assert table.loc["00_start_here", "exercises"] == "○ a"
    assert set(table.index) == {n for n in CHAPTERS if n[:2] in frame.chapters()}


def test_one_call_forgets_everything(kept: Path) -> None:
    check("00.a", right)
    forget_progress()
    forget_progress()
    assert remembered() == {}
    assert not kept.exists()


def test_switched_off_it_neither_writes_nor_reads(
    kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check("00.a", wrong)
    monkeypatch.setenv("EVALKIT_PROGRESS", "0")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    check("00.a", right)
    assert remembered() == {}
    assert not (tmp_path / "other").exists()
    forget_progress()
    assert kept.exists()


@pytest.mark.skipif("os.name == 'nt'", reason="Windows keeps it elsewhere")
def test_it_lives_where_the_system_keeps_such_things(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("EVALKIT_PROGRESS")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert progress_file() == tmp_path / "evalkit" / "progress.jsonl"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert progress_file() == tmp_path / ".local" / "state" / "evalkit" / "progress.jsonl"


def test_a_place_that_cannot_be_written_is_told_once_and_fails_no_check(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVALKIT_PROGRESS", str(tmp_path / "file" / "progress.jsonl"))
    assert [check("00.a", right).verdict for _ in range(3)] == ["right"] * 3
    told = capsys.readouterr().out
    assert told.startswith("Your progress is not kept (")
    assert told.endswith("EVALKIT_PROGRESS=0 turns it off.\n")
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", '{"00.a": "perhaps"}', '{"00.a": "right", "b": "right"}', "\x00"]
)
def test_a_damaged_file_is_named_and_left_as_it_is(
    line: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remember("01.a", "right")
    kept.write_text(kept.read_text() + line + "\n")
    before = kept.read_text()
    with pytest.raises(ValueError, match=r"progress.jsonl, line 2 is no line of progress"):
        progress()
    assert check("00.a", right).verdict == "right"
    assert "line 2 is no line of progress" in capsys.readouterr().out
    assert kept.read_text() == before
