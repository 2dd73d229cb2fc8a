"""The process in which the cells of a returned notebook run; started by the judge alone.

Nothing here is trusted: a cell may replace any of it. What it says is plain data (`wire`).
"""

from __future__ import annotations

import socket
import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from evalkit.course import exercises
from evalkit.course.exercises import Feedback
from evalkit.course.returned.wire import TEXT_LENGTH, Gone, NotPlain, Wire


def play(cells: list[tuple[int, str]], wire: Wire) -> None:
    """Run the cells; send which one is being run, what it raised, what it gave to ``check``."""

    def check(exercise_id: str, answer: Any) -> Feedback:
        try:
            wire.send("answer", exercise_id, wire.packed(answer))
        except NotPlain as error:
            wire.send("by hand", exercise_id, str(error))
        return Feedback(exercise_id, "not attempted yet")

    exercises.check = check
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    for number, source in cells:
        wire.send("cell", number)
        result = shell.run_cell(source)
        if error := result.error_before_exec or result.error_in_exec:
            wire.send("raised", number, f"{type(error).__name__}: {error}"[:TEXT_LENGTH])
    wire.send("done")


def serve(wire: Wire) -> None:
    """Call the learner's functions for the judge, until it hangs up."""
    while True:
        match wire.receive():
            case ["call", number, args, kwargs]:
                wire.answer(number, args, kwargs)


def main() -> None:
    """Run the cells that the judge sends, then serve it."""
    wire = Wire(socket.socket(fileno=int(sys.argv[1])))
    try:
        _, cells = wire.receive()
        play([(number, source) for number, source in cells], wire)
        serve(wire)
    except Gone:
        sys.exit()


if __name__ == "__main__":
    main()
