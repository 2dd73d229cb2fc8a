"""The map of the chapters, and the check of the machine, that chapter 00 shows."""

from __future__ import annotations

import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from evalkit.course import environment as checks
from evalkit.course.chapters import CHAPTERS, chapter_map
from evalkit.course.environment import environment, installed, requirements
from evalkit.course.notebooks import pair_names


def test_every_notebook_is_on_the_map() -> None:
    assert set(pair_names()) <= set(CHAPTERS)


def test_chapters_are_numbered_from_00_without_a_gap() -> None:
    assert [name[:2] for name in CHAPTERS] == [f"{i:02d}" for i in range(len(CHAPTERS))]


def test_no_line_of_the_map_is_cut_short_when_shown() -> None:
    assert all(len(teaches) <= 50 for teaches in CHAPTERS.values())


def test_the_map_says_which_chapters_are_there(tmp_path: Path) -> None:
    (tmp_path / "04_state_diff.ipynb").touch()
    ready = chapter_map(tmp_path)["ready"]
    assert ready["04_state_diff"] == "yes"
    assert (ready == "yes").sum() == 1


def test_this_machine_is_ready_and_no_version_is_named() -> None:
    table = environment()
    assert set(table["status"]) == {"ok"}
    assert {"Python", "numpy", "ipywidgets", "SQLite"} <= set(table.index)


def test_a_package_that_is_too_old_is_named_with_what_to_do() -> None:
    status = installed(Requirement("pandas>=99"))
    assert "is here, >=99 is needed" in status
    assert "pip install -e .[course]" in status


def test_a_missing_package_is_named_with_what_to_do() -> None:
    assert installed(Requirement("no-such-package")).startswith("missing: run")


def test_a_course_without_its_package_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(checks.metadata, "requires", absent)
    assert [str(r) for r in requirements()] == ["evalkit"]


def test_a_machine_that_cannot_write_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **kwargs: Any) -> Any:
        raise OSError("no space left")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert "set TMPDIR" in environment().loc["a folder to write to", "status"]
