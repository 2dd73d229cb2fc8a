"""Score a folder of returned notebooks: one row for each student and exercise, as CSV ::

    uv run python -m evalkit.course.returned FOLDER > scores.csv

A student is a folder in FOLDER, or a notebook that lies in FOLDER itself. What a notebook prints,
shows or stores counts for nothing: its cells run again, each notebook in processes of its own, and
the checks run where the notebook's code does not. ``right``, ``wrong``, ``not attempted`` are what
`check` would say. The others are ``error`` (the cell or the answer raised), ``timeout`` and
``crash`` (it did not come to an end), ``missing`` (no cell gives an answer to check), ``by hand``
(an answer of a kind that this command cannot score), ``twice`` (two notebooks hold it) and
``unreadable``.

The code of the notebooks runs with the rights of whoever starts this. Nothing keeps it from reading
your files, the solutions among them, from using the network, or from leaving a process behind. It
is meant for a class, not for attackers: against those, run it in a container or as a user who owns
nothing, and not as root, whom the memory limit does not bind.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from evalkit.course.student import lay_package

NOTEBOOK_CELLS = 10  # how many cells of a notebook may take all their time


class Row(NamedTuple):
    """What is said of one student's answer to one exercise."""

    student: str
    notebook: str
    exercise: str
    result: str
    message: str = ""


def returned(folder: Path) -> list[Path]:
    """Return the notebooks in a folder and below, in order; not the copies that Jupyter keeps."""
    found = sorted(folder.rglob("*.ipynb"))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


def score(path: Path, folder: Path, package: Path, seconds: float, megabytes: int) -> list[Row]:
    """Return the rows of one notebook."""
    name = path.relative_to(folder)
    student = name.parts[0].removesuffix(".ipynb")
    if path.is_symlink() or not path.is_file():
        return [Row(student, str(name), "", "unreadable", "no file of its own")]
    command = [sys.executable, "-m", "evalkit.course.returned.judge", str(path), str(package)]
    try:
        run = subprocess.run(
            [*command, str(seconds), str(megabytes)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=NOTEBOOK_CELLS * seconds,
        )
        out, why = run.stdout, "crash"
    except subprocess.TimeoutExpired as error:
        out, why = error.stdout or b"", "timeout"
    said = [json.loads(line) for line in out.decode().splitlines()]
    asked = said[0] if said else "the judge ended before it had read the notebook"
    if isinstance(asked, str) or not asked:
        return [Row(student, str(name), "", "unreadable", asked or "no exercise is named in it")]
    found = {exercise: (result, message) for exercise, result, message in said[1:]}
    lost = (why, "the notebook as a whole did not come to an end")
    return [Row(student, str(name), exercise, *found.get(exercise, lost)) for exercise in asked]


def once_each(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, those of a student and exercise that stand in two notebooks made one."""
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.student, row.exercise, "" if row.exercise else row.notebook].append(row)
    return [
        group[0]
        if len(group) == 1
        else Row(
            group[0].student,
            " and ".join(row.notebook for row in group),
            group[0].exercise,
            "twice",
            "not scored: leave the notebook that counts",
        )
        for group in groups.values()
    ]


def plain(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, on one line, and not endless.

    Examples
    --------
    >>> plain("=1+1"), plain("a\\nb")
    ("'=1+1", 'a b')
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())[:300]
    return f"'{line}" if line.startswith(tuple("=+-@＝＋－＠")) else line


def main(arguments: Sequence[str] | None = None) -> int:
    """Score the folder and print the rows. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m evalkit.course.returned",
        description="Score a folder of returned notebooks; print CSV.",
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--seconds", type=float, default=30, help="for each cell and each check (30)"
    )
    parser.add_argument(
        "--megabytes", type=int, default=4000, help="of memory for each process (4000)"
    )
    options = parser.parse_args(arguments)
    if os.name != "posix":
        parser.error("this needs Linux or macOS, where a process can be limited")
    if not (notebooks := returned(options.folder)):
        parser.error(f"there are no notebooks in {options.folder}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as package:
        lay_package(Path(package))
        for path in tqdm(notebooks, unit="notebook"):
            limits = options.seconds, options.megabytes
            rows += score(path, options.folder, Path(package), *limits)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows([plain(value) for value in row] for row in once_each(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
