"""Every chapter on the clinic's appointments, each cell twice, and the exercises solved at its end.

One run shows three things: that the code of a chapter follows the scenario, that every cell is safe
to run twice, and that no exercise hangs on the scenario.
"""

from __future__ import annotations

import copy

import pytest
from nbformat import NotebookNode, v4

from evalkit.course.exercises import chapters, exercises
from evalkit.course.notebooks import FOLDER, execute, notebook_path, pair_names, read_notebook

#: What only the clinic can have said, in a chapter whose cells print something of the scenario.
SAYS = {
    "01": ["Ada Novak", "cancel the appointment", "patients/P5/reminder"],
    "02": ["Ada Novak", "read(table='appointments', id='A2001')", "waiting_list/2"],
    "03": ["put her on the waiting list", "another patient's reminders"],
    "05": ["Ada Novak", "('patients', 'P3')", "waiting_list/2/within_days"],
    "06": ["change_address failed: nothing was written"],
    "09": ["Please put her on the waiting list (P3, 14)."],
}
#: And what only the store can have said.
STORE = ["customers", "orders", "W1001"]


def on_the_clinic(name: str) -> NotebookNode:
    """A chapter's code cells, each twice, and a cell for each exercise that solves and checks it."""
    notebook = read_notebook(notebook_path(name))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    number = name[:2]
    solved = [
        v4.new_code_cell(f"{e.given}\n{e.solution}\ncheck({e.id!r}, {e.answer})")
        for e in (exercises(number) if number in chapters() else ())
    ]
    notebook.cells = [copy.deepcopy(cell) for cell in code for _ in range(2)] + solved
    for i, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{i}"
    execute(notebook, FOLDER)
    return notebook


def printed(notebook: NotebookNode) -> list[str]:
    """What the outputs say as text, the exercises' prompts apart."""
    found = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in found]
    return [text for text in texts if not text.startswith("### Exercise")]


@pytest.mark.parametrize("name", pair_names())
def test_every_cell_runs_twice_on_the_second_scenario(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALKIT_SCENARIO", "clinic")
    texts = printed(on_the_clinic(name))
    said = "\n".join(texts)
    if name[:2] in SAYS:
        assert [words for words in SAYS[name[:2]] if words not in said] == []
        assert [words for words in STORE if words in said] == []
    if name[:2] in chapters():
        ids = [exercise.id for exercise in exercises(name[:2])]
        assert texts[-len(ids) :] == [f"{id}: right" for id in ids]
