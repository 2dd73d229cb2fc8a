"""Keep each chapter's script and notebook one thing.

A chapter is a pair: ``notebooks/scripts/NN_name.py``, which a reviewer reads, and
``notebooks/NN_name.ipynb``, which a reader opens. Edit either one, then run ::

    uv run python -m evalkit.course.notebooks              # every pair
    uv run python -m evalkit.course.notebooks 04_state_diff
    uv run python -m evalkit.course.notebooks --check      # which pairs differ; changes nothing

The side that changed is formatted, brought to the other side, executed and written: outputs kept,
cell ids kept, no widget state, no timings. A second run gives the same bytes. When both sides
changed since they last agreed, nothing is written. What they last agreed on is remembered in the
notebook itself, as a digest of its cells, so neither file times nor a fresh clone can mislead.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
from jupytext.combine import map_outputs_to_inputs
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
FILTERS = {"notebook_metadata_filter": "kernelspec,-all", "cell_metadata_filter": "tags,-all"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def script_path(name: str, folder: Path = FOLDER) -> Path:
    """Return where the script of a chapter lives."""
    return folder / "scripts" / f"{name}.py"


def notebook_path(name: str, folder: Path = FOLDER) -> Path:
    """Return where the notebook of a chapter lives."""
    return folder / f"{name}.ipynb"


def pair_names(folder: Path = FOLDER) -> list[str]:
    """Return the names of all chapters that have a script or a notebook, in order."""
    files = [*folder.glob("[0-9][0-9]_*.ipynb"), *(folder / "scripts").glob("[0-9][0-9]_*.py")]
    return sorted({file.stem for file in files})


def read_script(path: Path) -> NotebookNode:
    """Return the cells of a percent script."""
    return jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")


def read_notebook(path: Path) -> NotebookNode:
    """Return a notebook as it is stored."""
    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def cells(notebook: NotebookNode) -> list[tuple[str, str, list[str]]]:
    """Return what both sides of a pair must agree on: kind, source and tags of each cell."""
    return [(c.cell_type, c.source, c.metadata.get("tags", [])) for c in notebook.cells]


def digest(notebook: NotebookNode) -> str:
    """Return a short digest of the cells, outputs and ids apart."""
    return hashlib.sha256(json.dumps(cells(notebook)).encode()).hexdigest()[:16]


def differences(name: str, folder: Path = FOLDER) -> str:
    """Return in words how the two sides of a pair differ; empty if they agree."""
    script, notebook = script_path(name, folder), notebook_path(name, folder)
    for path in (script, notebook):
        if not path.exists():
            return f"{path.name} is missing"
    ours, theirs = cells(read_script(script)), cells(read_notebook(notebook))
    if len(ours) != len(theirs):
        return f"the script has {len(ours)} cells, the notebook {len(theirs)}"
    unequal = [i for i, pair in enumerate(zip(ours, theirs, strict=True), 1) if pair[0] != pair[1]]
    return f"cells that differ: {', '.join(map(str, unequal))}" if unequal else ""


def changed_side(name: str, folder: Path = FOLDER) -> str:
    """Return ``"script"`` or ``"notebook"``: the side that the other is to be made from.

    Raises
    ------
    ValueError
        If both sides changed since they last agreed, or neither exists.
    """
    script, notebook = script_path(name, folder), notebook_path(name, folder)
    if not script.exists() and not notebook.exists():
        raise ValueError(f"{name}: no such chapter; there are {', '.join(pair_names(folder))}")
    if not notebook.exists():
        return "script"
    if not script.exists():
        return "notebook"
    ours, theirs = read_script(script), read_notebook(notebook)
    agreed = theirs.metadata.get("evalkit", {}).get("agreed")
    if digest(ours) == digest(theirs) or digest(theirs) == agreed:
        return "script"
    if digest(ours) == agreed:
        return "notebook"
    raise ValueError(
        f"{name}: both the script and the notebook changed since they last agreed "
        f"({differences(name, folder)}); nothing was written. "
        "Carry the edits of one side into the other, then delete the side that you do not want "
        "and run this command again: it is made anew."
    )


def formatted(script: str, path: Path) -> str:
    """Return the text of a script as ruff formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(path), "-"]
    run = subprocess.run(command, input=script, capture_output=True, text=True, encoding="utf-8")
    if run.returncode:
        raise ValueError(f"{path}: ruff cannot format it: {run.stderr.strip()}")
    return run.stdout


def keep_ids(new: NotebookNode, old: NotebookNode | None) -> None:
    """Give each new cell the id of the old cell that it continues, else one from its content."""
    matches = map_outputs_to_inputs(new.cells, old.cells) if old else [None] * len(new.cells)
    taken = {old.cells[j].id for j in matches if old and j is not None}
    for cell, j in zip(new.cells, matches, strict=True):
        if old and j is not None:
            cell["id"] = old.cells[j].id
            continue
        salt = 0
        while (fresh := hashlib.sha256(f"{salt}{cell.source}".encode()).hexdigest()[:8]) in taken:
            salt += 1
        taken.add(fresh)
        cell["id"] = fresh


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run all cells in a new kernel, in place, and keep only what is the same every time."""
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env={**os.environ, "TQDM_DISABLE": "1", "EVALKIT_PROGRESS": "0"})
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)


def as_script(notebook: NotebookNode, path: Path) -> str:
    """Return a notebook as the formatted text of a percent script."""
    for i, cell in enumerate(notebook.cells, 1):
        if cell.get("attachments"):
            raise ValueError(
                f"{path.stem}: cell {i} holds a pasted picture, which a script cannot; "
                "save it in notebooks/images and link to it"
            )
    metadata = {**METADATA, "jupytext": FILTERS}
    bare = nbformat.v4.new_notebook(cells=notebook.cells, metadata=metadata)
    return formatted(jupytext.writes(bare, fmt="py:percent"), path)


def update(name: str, folder: Path = FOLDER) -> str:
    """Make the two sides of a pair one, executed and clean; return which side it was made from.

    Raises
    ------
    ValueError
        If both sides changed, or one cannot be read. Nothing is written then.
    CellExecutionError
        If a cell raises. Nothing is written then either.
    """
    side = changed_side(name, folder)
    script, path = script_path(name, folder), notebook_path(name, folder)
    old = read_notebook(path) if path.exists() else None
    if side == "notebook" and old is not None:
        text = as_script(old, script)
    else:
        text = formatted(script.read_text(encoding="utf-8"), script)
    # What runs is read from the formatted script, so that both sides hold the same text.
    new = nbformat.v4.new_notebook(cells=jupytext.reads(text, fmt="py:percent").cells)
    new.metadata = nbformat.from_dict(METADATA)
    for cell in new.cells:
        cell.metadata = NotebookNode({k: v for k, v in cell.metadata.items() if k == "tags"})
    keep_ids(new, old)
    execute(new, folder)
    new.metadata = nbformat.from_dict({**METADATA, "evalkit": {"agreed": digest(new)}})
    nbformat.validate(new)
    script.parent.mkdir(exist_ok=True)
    script.write_text(as_script(new, script), encoding="utf-8", newline="\n")
    path.write_text(nbformat.writes(new) + "\n", encoding="utf-8", newline="\n")
    return side


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    """Update the named pairs, or all; or say which differ. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m evalkit.course.notebooks", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument(
        "names", nargs="*", metavar="NN_name", help="chapters; all if none is named"
    )
    parser.add_argument("--check", action="store_true", help="only say which pairs differ")
    options = parser.parse_args(arguments)
    status = 0
    for name in [Path(n).stem for n in options.names] or pair_names(folder):
        try:
            if options.check:
                difference = differences(name, folder)
                print(f"{name}: {difference or 'the two sides agree'}")
                status |= bool(difference)
            else:
                print(f"{name}: executed, from the {update(name, folder)}")
        except ValueError as error:
            print(error, file=sys.stderr)
            status = 1
        except CellExecutionError as error:  # which does not say of which notebook
            print(f"{name}: nothing was written. {error}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
