"""How long each chapter takes, as the table in the README ::

    uv run python -m evalkit.course.minutes             # prints the table
    uv run python -m evalkit.course.minutes --readme    # writes it into README.md
    uv run python -m evalkit.course.minutes --measure   # runs every chapter first, and stores what it took

Reading is 120 words a minute, which is slow, and a minute for each code cell that is not part of an
exercise: to guess, run it and look. Exercises take what each of them says. What running takes was
measured, and stands in ``data/measured_runs.csv``: seconds of processor time and the most memory
that the kernel held, its start included.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from evalkit.course.exercises import chapters, exercises
from evalkit.course.notebooks import FOLDER, read_notebook

WORDS_A_MINUTE = 120
MEASURED = Path(__file__).with_name("data") / "measured_runs.csv"
HEADER = "| chapter | words | reading | exercises | run | memory |"
USED = """
import resource
own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, own.ru_maxrss)
"""


def words(notebook: NotebookNode) -> int:
    """Return how many words the prose of a notebook has; addresses do not count.

    Examples
    --------
    >>> cell = nbformat.v4.new_markdown_cell("See [the *note*](https://a.b/c), p. 7.")
    >>> words(nbformat.v4.new_notebook(cells=[cell]))
    5
    """
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return len(re.findall(r"\w[\w'’.@^-]*", re.sub(r"\]\([^)]*\)", "]", prose)))


def reading_minutes(notebook: NotebookNode) -> int:
    """Return how long it takes to read a chapter and run its cells, to five minutes."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    shown = [c for c in code if not re.search(r"^(show|check)\(", c, re.MULTILINE)]
    return max(5, 5 * round((words(notebook) / WORDS_A_MINUTE + len(shown)) / 5))


def exercise_minutes(chapter: str) -> int:
    """Return how long the exercises of a chapter take, by what each says."""
    return sum(e.minutes for e in exercises(chapter)) if chapter in chapters() else 0


def measured() -> dict[str, tuple[float, float]]:
    """Return what running each chapter took when it was last measured: seconds and megabytes."""
    with MEASURED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {row["chapter"]: (float(row["seconds"]), float(row["megabytes"])) for row in rows}


def measure(path: Path) -> tuple[float, float]:
    """Return the processor seconds and the peak megabytes of one run of a chapter, on POSIX."""
    notebook = read_notebook(path)
    notebook.cells.append(nbformat.v4.new_code_cell(USED))
    place = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place)
    client.execute(env={**os.environ, "TQDM_DISABLE": "1", "EVALKIT_PROGRESS": "0"})
    seconds, size = notebook.cells[-1].outputs[0].text.split()
    return float(seconds), float(size) / (2**20 if sys.platform == "darwin" else 2**10)


def table() -> str:
    """Return the table in Markdown, one row a chapter and one for all."""
    found, rows = measured(), []
    total_reading = total_exercises = 0
    for path in sorted(FOLDER.glob("[0-9][0-9]_*.ipynb")):
        notebook = read_notebook(path)
        reading, doing = reading_minutes(notebook), exercise_minutes(path.stem[:2])
        total_reading, total_exercises = total_reading + reading, total_exercises + doing
        seconds, size = found.get(path.stem, (0.0, 0.0))
        run = f"{round(seconds)} s | {10 * round(size / 10)} MB" if seconds else "not measured | –"
        counted = f"{100 * round(words(notebook) / 100)} | {reading} min | {doing} min"
        rows.append(f"| {path.stem[:2]} {path.stem[3:].replace('_', ' ')} | {counted} | {run} |")
    hours = f"{total_reading / 60:.0f} h | {total_exercises / 60:.0f} h"
    rows.append(f"| all | | {hours} | | |")
    return "\n".join([HEADER, "| --- " * 6 + "|", *rows])


def written(readme: str) -> str:
    """Return the text of the README with the table as it is now in place of the one in it."""
    if readme.count(HEADER) != 1:
        raise ValueError(f"README.md must hold one table that begins with {HEADER!r}")
    before, _, rest = readme.partition(HEADER)
    _, blank, after = rest.partition("\n\n")
    return before + table() + blank + after


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, after measuring if that is asked for. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m evalkit.course.minutes",
        description="Print how long each chapter takes, as a Markdown table.",
    )
    parser.add_argument("--measure", action="store_true", help="run every chapter first")
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    options = parser.parse_args(arguments)
    if options.measure:
        paths = sorted(FOLDER.glob("[0-9][0-9]_*.ipynb"))
        lines = [
            f"{path.stem},{seconds:.1f},{size:.0f}\n"
            for path in paths
            for seconds, size in [measure(path)]
        ]
        MEASURED.write_text("chapter,seconds,megabytes\n" + "".join(lines), encoding="utf-8")
    if options.readme:
        readme = FOLDER.parent / "README.md"
        text = written(readme.read_text(encoding="utf-8"))
        readme.write_text(text, encoding="utf-8", newline="\n")
    else:
        print(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
