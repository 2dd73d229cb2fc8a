"""What every stored notebook must be: executed, clean, small, paired.

That its cells are safe to run twice is shown in `test_second_scenario.py`.
"""

from __future__ import annotations

import copy
import re
import statistics
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from evalkit.course.notebooks import (
    FOLDER,
    WIDGET_VIEW,
    differences,
    execute,
    pair_names,
    read_notebook,
)

NAMES = pair_names()
SANITISE = Path(__file__).with_name("nbval.cfg")


def stored(name: str) -> NotebookNode:
    return read_notebook(FOLDER / f"{name}.ipynb")


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def executed_in_order(notebook: NotebookNode) -> bool:
    """Whether the code cells carry the counts 1..n, which a fresh run from top to bottom gives."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    return counts == list(range(1, len(counts) + 1))


def test_there_are_notebooks() -> None:
    assert "00_start_here" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_was_executed_in_order(name: str) -> None:
    assert executed_in_order(stored(name))


@pytest.mark.parametrize("name", NAMES)
def test_no_output_is_an_error_or_a_warning(name: str) -> None:
    for cell in code_cells(stored(name)):
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", output.text


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_valid_small_and_free_of_widget_state(name: str) -> None:
    path = FOLDER / f"{name}.ipynb"
    nbformat.validate(stored(name))
    text = path.read_text(encoding="utf-8")
    assert WIDGET_VIEW not in text
    assert "application/vnd.jupyter.widget-state+json" not in text
    assert len(text.encode()) < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_script_and_notebook_hold_the_same_cells(name: str) -> None:
    assert differences(name) == ""


@pytest.mark.parametrize("name", NAMES)
def test_code_cells_are_short(name: str) -> None:
    lines = [
        sum(bool(line.strip()) for line in c.source.split("\n")) for c in code_cells(stored(name))
    ]
    assert max(lines) <= 25
    assert statistics.median(lines) <= 6


@pytest.mark.parametrize("name", ["00_start_here", "04_state_diff"])
def test_two_runs_give_the_same_file_to_the_byte(name: str) -> None:
    runs = [stored(name), stored(name)]
    for notebook in runs:
        execute(notebook, FOLDER)
        notebook.metadata.pop("widgets", None)  # their state is under random ids and never stored
    assert nbformat.writes(runs[0]) == nbformat.writes(runs[1])


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_begins_with_the_guarded_cell_of_chapter_00(name: str) -> None:
    guard = code_cells(stored("00_start_here"))[0].source
    assert code_cells(stored(name))[0].source == guard


@pytest.mark.parametrize("name", NAMES)
def test_links_to_other_files_lead_somewhere(name: str) -> None:
    text = "\n".join(cell.source for cell in stored(name).cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert [link for link in links if not (FOLDER / link).exists()] == []


def nbval(path: Path) -> subprocess.CompletedProcess[str]:
    """Run nbval on one notebook as the suite does."""
    options = ["--nbval", "--nbval-current-env", f"--nbval-sanitize-with={SANITISE}"]
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(
        [*command, str(path)], capture_output=True, text=True, cwd=path.parent, timeout=300
    )


def with_a_number_altered(notebook: NotebookNode) -> NotebookNode:
    """Return a copy in which one digit of one printed text differs."""
    altered = copy.deepcopy(notebook)
    for cell in code_cells(altered):
        for output in cell.outputs:
            text = output.get("data", {}).get("text/plain", "")
            if digit := re.search(r"[0-8]", text):
                raised = str(int(digit[0]) + 1)
                output.data["text/plain"] = text[: digit.start()] + raised + text[digit.end() :]
                return altered
    raise AssertionError("no output of this notebook prints a number")


def test_nbval_passes_a_stored_notebook_and_fails_it_with_one_number_altered(
    tmp_path: Path,
) -> None:
    for name in NAMES:  # chapter 00 says which chapters stand beside it
        (tmp_path / f"{name}.ipynb").touch()
    copy_of_00, notebook = tmp_path / "00_start_here.ipynb", stored("00_start_here")
    nbformat.write(notebook, copy_of_00)
    passing = nbval(copy_of_00)
    nbformat.write(with_a_number_altered(notebook), copy_of_00)
    failing = nbval(copy_of_00)
    assert passing.returncode == 0, passing.stdout
    assert failing.returncode == 1
    assert "1 failed" in failing.stdout


def test_a_notebook_that_was_never_executed_is_caught() -> None:
    notebook = stored("00_start_here")
    code_cells(notebook)[-1].execution_count = None
    assert not executed_in_order(notebook)


def test_a_notebook_executed_out_of_order_is_caught() -> None:
    notebook = stored("00_start_here")
    first, second = code_cells(notebook)[:2]
    first.execution_count, second.execution_count = second.execution_count, first.execution_count
    assert not executed_in_order(notebook)
