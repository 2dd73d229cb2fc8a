"""The course as a whole: ``uv run --all-groups pytest -n0 -s tests/benchmarks/test_course.py``.

Every chapter runs from clean in a kernel of its own, on a copy. Wall seconds depend on what else
the machine does, so beside them stand the kernel's processor seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any

import nbformat
import pandas as pd
import psutil
from nbclient import NotebookClient

from evalkit.course.minutes import USED
from evalkit.course.notebooks import FOLDER, METADATA, WIDGET_VIEW, pair_names, read_notebook

CHAPTERS = os.environ.get("CHAPTERS", "").split() or [name[:2] for name in pair_names()]
ROUNDS = int(os.environ.get("ROUNDS", "7"))
IMPORTS = ["evalkit", "numpy", "pandas", "scipy.stats"]
IMPORTED = """
import json, sys, time
start = time.process_time()
__import__(sys.argv[1])
heavy = [name for name in ("pandas", "scipy", "matplotlib", "IPython") if name in sys.modules]
print(json.dumps([time.process_time() - start, heavy]))
"""


class Timed(NotebookClient):
    """Runs a notebook and keeps the processor seconds of its kernel after each cell."""

    async def async_execute_cell(self, cell: Any, *args: Any, **kwargs: Any) -> Any:
        done = await super().async_execute_cell(cell, *args, **kwargs)
        kernel = psutil.Process(self.km.provisioner.pid)
        self.used = [*getattr(self, "used", [0.0]), sum(kernel.cpu_times())]
        return done


def run(name: str) -> dict[str, Any]:
    """What running one chapter took, and whether it came out as it is stored, byte for byte."""
    stored = read_notebook(FOLDER / f"{name}.ipynb")
    notebook = read_notebook(FOLDER / f"{name}.ipynb")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.cells.append(nbformat.v4.new_code_cell(USED))
    place = {"metadata": {"path": str(FOLDER)}}
    options = {"record_timing": False, "coalesce_streams": True, "kernel_name": "python3"}
    client = Timed(notebook, timeout=600, resources=place, **options)
    start = perf_counter()
    client.execute(env={**os.environ, "TQDM_DISABLE": "1", "EVALKIT_PROGRESS": "0"})
    wall = perf_counter() - start
    cpu, size = notebook.cells.pop().outputs[0].text.split()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)
    notebook.metadata = nbformat.from_dict({**METADATA, "evalkit": stored.metadata["evalkit"]})
    same = nbformat.writes(notebook) == nbformat.writes(stored)
    slow = max(after - before for before, after in pairwise(client.used[1:]))  # not the start
    return {
        "chapter": name,
        "wall s": wall,
        "CPU s": float(cpu),
        "CPU s of slowest cell": slow,
        "MB": float(size) / 2**10,
        "as stored": "yes" if same else "no",
    }


def test_the_time_of_the_whole_course() -> None:
    rows = [run(name) for name in pair_names() if name[:2] in CHAPTERS]
    table = pd.DataFrame(rows).round(1)
    total = table[["wall s", "CPU s"]].sum().round(1).to_dict()
    print(f"\n{table.to_string(index=False)}\nall: {total}")


def test_the_time_of_an_import() -> None:
    found: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(ROUNDS):
        for name in IMPORTS:
            command = [sys.executable, "-c", IMPORTED, name]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds, heavy = json.loads(done.stdout)
            found[name].append(seconds)
            if name == "evalkit":
                assert heavy == []
    own = found["evalkit"]
    print()
    for name, seconds in found.items():
        ratio = median(peer / ours for peer, ours in zip(seconds, own, strict=True))
        print(f"import {name:12} {median(seconds):.3f} s of processor time, {ratio:.2f} of ours")
