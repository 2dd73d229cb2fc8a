"""The command that keeps a script and its notebook one thing."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest

from evalkit.course.notebooks import (
    WIDGET_VIEW,
    changed_side,
    differences,
    main,
    notebook_path,
    read_notebook,
    script_path,
    update,
)

SCRIPT = """\
# %% [markdown]
# A sum

# %%
a   =  2
a + 3

# %% tags=["long"]
def twice(x):
    return 2 * x


twice(a)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    script = script_path("01_sum", tmp_path)
    script.parent.mkdir()
    script.write_text(SCRIPT)
    return tmp_path


@pytest.fixture
def agreed(folder: Path) -> Path:
    """A folder whose one pair is executed and agrees."""
    update("01_sum", folder)
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def edit_cell(path: Path, index: int, source: str) -> None:
    notebook = read_notebook(path)
    notebook.cells[index].source = source
    nbformat.write(notebook, path)


def test_a_script_becomes_an_executed_formatted_notebook(folder: Path) -> None:
    assert update("01_sum", folder) == "script"
    notebook = read_notebook(notebook_path("01_sum", folder))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code[0].source == "a = 2\na + 3"
    assert code[0].outputs[0].data == {"text/plain": "5"}
    assert [cell.execution_count for cell in code] == [1, 2]
    assert code[1].metadata == {"tags": ["long"]}
    assert differences("01_sum", folder) == ""


def test_a_second_run_gives_the_same_bytes(agreed: Path) -> None:
    paths = [script_path("01_sum", agreed), notebook_path("01_sum", agreed)]
    first = [path.read_bytes() for path in paths]
    update("01_sum", agreed)
    assert [path.read_bytes() for path in paths] == first


def test_an_edited_script_wins_however_old_it_looks(agreed: Path) -> None:
    script = script_path("01_sum", agreed)
    edit(script, "a = 2", "a = 4")
    os.utime(script, (0, 0))
    assert update("01_sum", agreed) == "script"
    assert read_notebook(notebook_path("01_sum", agreed)).cells[1].outputs[0].data == {
        "text/plain": "7"
    }


def test_an_edited_notebook_goes_back_to_its_script_and_is_executed(agreed: Path) -> None:
    notebook = notebook_path("01_sum", agreed)
    edit_cell(notebook, 1, "a   = 10\na + 3")
    os.utime(notebook, (0, 0))
    assert update("01_sum", agreed) == "notebook"
    assert "a = 10\na + 3" in script_path("01_sum", agreed).read_text()
    assert read_notebook(notebook).cells[1].outputs[0].data == {"text/plain": "13"}


def test_two_edited_sides_are_refused_and_left_alone(
    agreed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, notebook = script_path("01_sum", agreed), notebook_path("01_sum", agreed)
    edit(script, "a = 2", "a = 4")
    edit_cell(notebook, 0, "Another title")
    before = script.read_bytes(), notebook.read_bytes()
    assert main(["01_sum"], agreed) == 1
    message = capsys.readouterr().err
    assert "both the script and the notebook changed" in message
    assert "cells that differ: 1, 2" in message
    assert (script.read_bytes(), notebook.read_bytes()) == before


def test_the_same_edit_on_both_sides_is_no_conflict(agreed: Path) -> None:
    edit(script_path("01_sum", agreed), "# A sum", "# The sum")
    edit_cell(notebook_path("01_sum", agreed), 0, "The sum")
    assert changed_side("01_sum", agreed) == "script"


def test_a_deleted_side_is_made_anew_from_the_other(agreed: Path) -> None:
    script_path("01_sum", agreed).unlink()
    assert update("01_sum", agreed) == "notebook"
    assert "def twice(x):" in script_path("01_sum", agreed).read_text()


def test_a_notebook_without_its_record_is_not_guessed_about(agreed: Path) -> None:
    notebook = notebook_path("01_sum", agreed)
    content = read_notebook(notebook)
    del content.metadata["evalkit"]
    nbformat.write(content, notebook)
    assert changed_side("01_sum", agreed) == "script"
    edit_cell(notebook, 0, "Another title")
    with pytest.raises(ValueError, match="both"):
        changed_side("01_sum", agreed)


def test_cell_ids_survive_an_edit_and_an_insertion(agreed: Path) -> None:
    notebook = notebook_path("01_sum", agreed)
    ids = [cell.id for cell in read_notebook(notebook).cells]
    script = script_path("01_sum", agreed)
    edit(script, "a + 3", "a + 30")
    edit(script, "# %% tags", "# %% [markdown]\n# Between\n\n# %% tags")
    update("01_sum", agreed)
    new = [cell.id for cell in read_notebook(notebook).cells]
    assert [new[0], new[1], new[3]] == ids
    assert new[2] not in ids


def test_a_failing_cell_writes_nothing(agreed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(script_path("01_sum", agreed), "a + 3", "a + b")
    before = notebook_path("01_sum", agreed).read_bytes()
    assert main(["01_sum"], agreed) == 1
    told = capsys.readouterr().err
    assert "NameError" in told
    assert "01_sum: nothing was written. " in told
    assert notebook_path("01_sum", agreed).read_bytes() == before


def test_widget_views_are_not_stored(folder: Path) -> None:
    edit(script_path("01_sum", folder), "twice(a)", "import ipywidgets\n\nipywidgets.IntSlider()")
    update("01_sum", folder)
    text = notebook_path("01_sum", folder).read_text()
    assert WIDGET_VIEW not in text
    assert "widget-state" not in text


def test_a_pasted_picture_is_refused_rather_than_lost(agreed: Path) -> None:
    notebook = notebook_path("01_sum", agreed)
    content = read_notebook(notebook)
    content.cells[0]["attachments"] = {"a.png": {"image/png": "AAAA"}}
    content.cells[0].source = "![](attachment:a.png)"
    nbformat.write(content, notebook)
    with pytest.raises(ValueError, match="cell 1 holds a pasted picture"):
        update("01_sum", agreed)


def test_check_says_which_pairs_differ(agreed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"], agreed) == 0
    edit(script_path("01_sum", agreed), "a + 3", "a + 4")
    assert main(["--check"], agreed) == 1
    assert "01_sum: cells that differ: 2" in capsys.readouterr().out


def test_an_unknown_chapter_is_named(agreed: Path) -> None:
    with pytest.raises(ValueError, match="99_none: no such chapter; there are 01_sum"):
        update("99_none", agreed)
