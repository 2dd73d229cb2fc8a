"""Judges one returned notebook: its cells run in a player, the checks here.

The command starts it as ``python -m evalkit.course.returned.judge``; it prints one line of JSON for
each exercise as soon as it is decided, after one line with the ids of all that are asked for.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evalkit.course.chapters import CHAPTERS
from evalkit.course.exercises import (
    Exercise,
    NotAttempted,
    chapters,
    exercises,
    find,
    untouched,
    watched,
)
from evalkit.course.returned.wire import Gone, NotPlain, Passing, TooLong, Wire, number_of

NAMED = re.compile(r"""\b(?:check|show)\(\s*["'](\d\d)\.\w+["']""")
CHECKED = re.compile(r"""\bcheck\(\s*["'](\d\d\.\w+)["']""")
START_SECONDS = 120  # for Python and its packages to be loaded on a busy machine
FILE_BYTES = 100_000_000
Result = tuple[str, str]  # the result in a word or two, and a message


def code_cells(path: Path) -> list[tuple[int, str]]:
    """Return the code cells of a notebook, each with its place, counted from 1 as readers count.

    Raises
    ------
    ValueError
        If it is no notebook.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = [(i, cell["source"]) for i, cell in enumerate(cells, 1) if _is_code(cell)]
        return [(i, s if isinstance(s, str) else "".join(s)) for i, s in sources]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"no notebook: {type(error).__name__}: {error}") from error


def _is_code(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "code"


def asked(path: Path, cells: list[tuple[int, str]]) -> list[str]:
    """Return the ids of all exercises of the chapters that a notebook names, in it or by its file."""
    named = {chapter for _, source in cells for chapter in NAMED.findall(source)}
    named |= {name[:2] for name in CHAPTERS if name in path.stem}
    return [e.id for chapter in sorted(named & set(chapters())) for e in exercises(chapter)]


@contextmanager
def player(package: Path) -> Iterator[Wire]:
    """Start a process for the cells, in an empty folder of its own; end it and its children."""
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        environment = {
            "PATH": os.defpath,
            "HOME": home,
            "PYTHONPATH": str(package),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "agg",
            "TQDM_DISABLE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "EVALKIT_PROGRESS": "0",
        }
        module = "evalkit.course.returned.player"
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(theirs.fileno())],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        try:
            yield Wire(ours)
        finally:
            with suppress(OSError):  # nothing is left to end
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Run:
    """One run of the cells in a player: what they gave to ``check``, and what they raised."""

    def __init__(self, wire: Wire, seconds: float) -> None:
        self.wire, self.seconds = wire, seconds
        self.cell = 0
        self.answers: dict[str, Any] = {}
        self.by_hand: dict[str, str] = {}
        self.raised: dict[int, str] = {}

    def restart_clock(self) -> None:
        """Allow the player its seconds from now on."""
        self.wire.deadline = time.monotonic() + self.seconds

    def play(self, cells: list[tuple[int, str]]) -> None:
        """Run the cells; raise `Gone` if one does not come to an end."""
        self.wire.deadline = time.monotonic() + START_SECONDS
        self.wire.send("cells", cells)
        while True:
            match self.wire.receive():
                case ["cell", int(number)]:
                    self.cell = number
                    self.restart_clock()
                case ["answer", str(name), packed]:
                    self.answers[name] = packed
                    self.by_hand.pop(name, None)
                case ["by hand", str(name), str(why)]:
                    self.by_hand[name] = why
                case ["raised", int(number), str(what)]:
                    self.raised[number] = what
                case ["done"]:
                    return
                case _:
                    raise Gone("the process sent what is no message")

    def result(self, exercise: Exercise, cell: int) -> Result:
        """Return what is to be said of one exercise, whose cell was run."""
        if exercise.id in self.by_hand:
            return "by hand", self.by_hand[exercise.id]
        if exercise.id in self.answers:
            self.restart_clock()
            return judged(exercise, self.answers[exercise.id], self.wire)
        if cell in self.raised:
            return "error", self.raised[cell]
        return "missing", f"cell {cell} ran and gave nothing to check"


def judged(exercise: Exercise, packed: Any, wire: Wire) -> Result:
    """Return the result of a check that runs here, on an answer whose functions stay there."""
    try:
        answer = wire.unpacked(packed)
        if untouched(answer):
            return "not attempted", ""
        message = exercise.check(watched(answer))
    except NotAttempted:
        return "not attempted", ""
    except NotPlain as error:
        return "by hand", str(error)
    except Passing as error:
        return "error", f"the answer raised {error}"
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        if number_of(error) is not None:
            return "error", f"the answer raised {told}"
        return "wrong", f"not the kind of answer that was asked for ({told})"
    return ("wrong", message) if message else ("right", "")


def results(path: Path, package: Path, seconds: float) -> Iterator[tuple[str, Result]]:
    """Yield each exercise that a notebook's chapters hold, with its result.

    A cell or an answer that does not come to an end is left out, and the rest is run again.
    """
    cells = code_cells(path)
    where = {name: number for number, source in cells for name in CHECKED.findall(source)}
    left = asked(path, cells)
    for name in [name for name in left if name not in where]:
        left.remove(name)
        yield name, ("missing", "no cell gives its answer to check")
    left_out: set[int] = set()
    while left:
        with player(package) as wire:
            run = Run(wire, seconds)
            try:
                run.play([(number, source) for number, source in cells if number not in left_out])
                while left:
                    run.cell = where[left[0]]
                    found = run.result(find(left[0]), run.cell)
                    yield left.pop(0), found
            except Gone as why:
                result = "timeout" if isinstance(why, TooLong) else "crash"
                known = run.cell in dict(cells) and run.cell not in left_out
                for name in [name for name in left if where[name] == run.cell or not known]:
                    left.remove(name)
                    yield name, (result, f"cell {run.cell}: {why}")
                left_out.add(run.cell)


def limit(megabytes: int) -> None:
    """Limit the memory of this process and of each that it starts, and the files they write."""
    import resource

    for kind, most in (
        (resource.RLIMIT_AS, megabytes * 2**20),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
    ):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def main() -> None:
    """Judge the notebook named on the command line."""
    path, package, seconds, megabytes = sys.argv[1:]
    limit(int(megabytes))
    try:
        print(json.dumps(asked(Path(path), code_cells(Path(path)))), flush=True)
    except ValueError as error:
        print(json.dumps(str(error)))
        return
    for name, (result, message) in results(Path(path), Path(package), float(seconds)):
        print(json.dumps([name, result, message]), flush=True)


if __name__ == "__main__":
    main()
