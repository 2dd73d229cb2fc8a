"""Returned notebooks are scored, and nothing that they say about themselves counts."""

from __future__ import annotations

import csv
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import pytest

from evalkit.course import exercises as frame
from evalkit.course.exercises import Exercise, chapters
from evalkit.course.returned.__main__ import main, plain
from evalkit.course.returned.judge import asked, code_cells, judged
from evalkit.course.returned.wire import Gone, NotPlain, Wire
from evalkit.process import Action, never

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX: limits on processes")
ALL = [exercise for chapter in chapters() for exercise in frame.exercises(chapter)]
BY_ID = {exercise.id: exercise for exercise in ALL}
IMPORT = "from evalkit.course.exercises import check, show\nimport numpy as np"


def write(path: Path, *cells: str) -> None:
    """Write a notebook whose code cells have these sources."""
    path.parent.mkdir(exist_ok=True, parents=True)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbformat.write(notebook, path)


def cell(exercise_id: str, answer: str, before: str = "") -> str:
    """Return the cell of an exercise: its answer, then the check."""
    return f'{before}\n{answer}\ncheck("{exercise_id}", {BY_ID[exercise_id].answer})'


def scored(
    folder: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> dict[str, tuple[str, str]]:
    """Run the command; return result and message by exercise, or by notebook where there is none."""
    capsys.readouterr()
    assert main([str(folder), *options]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    found = {row["exercise"] or row["notebook"]: (row["result"], row["message"]) for row in rows}
    assert len(found) == len(rows)
    return found


# What goes over the wire.


@pytest.fixture
def ends() -> Iterator[tuple[Wire, Wire]]:
    """Two ends of a wire; the second answers calls, in a thread."""
    ours, theirs = socket.socketpair()
    near, far = Wire(ours), Wire(theirs)

    def serve() -> None:
        try:
            while True:
                _, number, args, kwargs = far.receive()
                far.answer(number, args, kwargs)
        except Gone:
            pass

    thread = threading.Thread(target=serve)
    thread.start()
    yield near, far
    ours.shutdown(socket.SHUT_RDWR)
    thread.join()
    for end in (near, far):
        end.close()
    ours.close()
    theirs.close()


def answer_of(source: str, exercise: Exercise) -> object:
    names: dict[str, object] = {}
    exec(compile(f"{exercise.given}\n\n{source}", "<answer>", "exec"), names)
    return names[exercise.answer]


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)
def test_every_known_answer_is_judged_from_afar_as_it_is_at_home(
    exercise: Exercise, ends: tuple[Wire, Wire]
) -> None:
    near, far = ends

    def result(source: str) -> tuple[str, str]:
        return judged(exercise, far.packed(answer_of(source, exercise)), near)

    assert result(exercise.stub) == ("not attempted", "")
    assert result(exercise.solution) == ("right", "")
    for wrong in exercise.wrong:
        assert result(wrong.source) == ("wrong", wrong.message)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1,
        10**30,
        1.5,
        "é\ud800",
        ...,
        [1, (2, {3}), {"a": frozenset([4])}],
        {(1, "a"): [True], 2: None},
        Action("pay", {"cents": 5}, result=[1], error=None),
    ],
)
def test_plain_values_arrive_as_they_are(value: object, ends: tuple[Wire, Wire]) -> None:
    near, far = ends
    packed = json.loads(json.dumps(far.packed(value)))
    assert near.unpacked(packed) == value
    assert type(near.unpacked(packed)) is type(value)


def test_arrays_functions_iterators_and_rules_arrive(ends: tuple[Wire, Wire]) -> None:
    near, far = ends
    array = near.unpacked(far.packed(np.array([[1, 2]], dtype="int8")))
    assert array.dtype == np.int8
    assert array.tolist() == [[1, 2]]
    assert isinstance(near.unpacked(far.packed(np.float32(0.5))), np.float32)
    assert list(near.unpacked(far.packed(x * x for x in range(3)))) == [0, 1, 4]
    rule = near.unpacked(far.packed(never("delete")))
    assert list(rule.faults([Action("delete", {})])) == list(
        never("delete").faults([Action("delete", {})])
    )


def test_a_callback_and_its_errors_pass_through(ends: tuple[Wire, Wire]) -> None:
    near, far = ends

    class Stop(BaseException):
        pass

    def pay(cents: int) -> str:
        if cents < 0:
            raise ValueError("less than nothing")
        if cents == 0:
            raise Stop
        return f"paid {cents}"

    def learner(pay: object, cents: int) -> str:
        try:
            return pay(cents)  # type: ignore[operator, no-any-return]
        except ValueError as error:
            return f"caught {error}"

    afar = near.unpacked(far.packed(learner))
    assert afar(pay, 5) == "paid 5"
    assert afar(pay, -1) == "caught less than nothing"
    with pytest.raises(Stop):
        afar(pay, 0)


class Equal:
    """An object that is equal to everything, and a number that is."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class EqualText(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize("value", [Equal(), [Equal()], EqualText("A"), Action, object()])
def test_what_is_not_plain_does_not_leave(value: object, ends: tuple[Wire, Wire]) -> None:
    with pytest.raises(NotPlain, match="must be scored by hand"):
        ends[1].packed(value)


@pytest.mark.parametrize(
    "packed",
    [
        ["function", 0, 1],
        ["Popen", ["ls"]],
        ["array", ["O", [1]]],
        ["array", ["V8", [1]]],
        ["Action", [1]],
        ["list", 5],
        {"a": 1},
        [],
    ],
)
def test_what_is_no_value_is_refused(packed: object, ends: tuple[Wire, Wire]) -> None:
    with pytest.raises(ValueError, match=r"no value|argument"):
        ends[0].unpacked(packed)


# Whole notebooks.

HALF = "def within_budget(steps, success, budget):\n    return half((success & (steps <= budget)).mean())"


def test_honest_notebooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Right with a helper of one's own, wrong, untouched, an error, a cell that is gone."""
    wrong = BY_ID["10.b"].wrong[0]
    write(
        tmp_path / "ann" / "10_budgets.ipynb",
        IMPORT,
        "!echo nothing\n%time 1 + 1\ndisplay(1)",
        "def half(x):\n    return 2 * x / 2",
        cell("10.a", HALF),
        cell("10.b", wrong.source),
        cell("10.c", BY_ID["10.c"].stub),
        cell("10.d", "verdicts = {}['tutorial']"),
    )
    assert scored(tmp_path, capsys) == {
        "10.a": ("right", ""),
        "10.b": ("wrong", wrong.message),
        "10.c": ("not attempted", ""),
        "10.d": ("error", "KeyError: 'tutorial'"),
        "10.e": ("missing", "no cell gives its answer to check"),
    }


def test_a_notebook_that_does_its_worst(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An endless answer, an exit, a faked verdict, an answer equal to all, a memory bomb."""
    equal = "class Equal(str):\n    __eq__ = lambda a, b: True\n    __hash__ = str.__hash__\n"
    write(
        tmp_path / "10_budgets.ipynb",
        IMPORT,
        cell("10.a", "def within_budget(*args):\n    while True: pass"),
        cell("10.b", "def least_and_most(*args):\n    import os; os._exit(0)"),
        cell("10.c", 'what_to_report = "A"\nprint("10.c: right")', "def check(*args): pass"),
        cell(
            "10.d",
            "verdicts = Equal('compare')",
            "from evalkit.course.exercises import *\n" + equal,
        ),
        cell("10.e", "def unbeaten(agents):\n    return [bytearray(10**10)]"),
    )
    found = scored(tmp_path, capsys, "--seconds=8")
    assert {name: result for name, (result, _) in found.items()} == {
        "10.a": "timeout",
        "10.b": "crash",
        "10.c": "missing",
        "10.d": "by hand",
        "10.e": "error",
    }
    assert found["10.e"][1].startswith("the answer raised MemoryError")


def test_a_notebook_that_patches_the_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Checks, NumPy and the record of answers replaced; rows printed to every open file."""
    patch = (
        "import evalkit.course.exercises as frame\n"
        "from evalkit.course.exercises import chapter_10\n"
        "chapter_10.check_a = lambda answer: None\n"
        "for exercise in chapter_10.EXERCISES:\n"
        "    object.__setattr__(exercise, 'check', lambda answer: None)\n"
        "np.isclose = np.allclose = lambda *args: True\n"
        "frame.untouched = lambda answer: False\n"
        "from evalkit.course.returned import judge\n"
        "judge.judged = lambda *args: ('right', '')"
    )
    forged = '["10.b", "right", ""]\\n["right"]\\n'
    write(
        tmp_path / "10_budgets.ipynb",
        IMPORT,
        patch,
        cell("10.a", BY_ID["10.a"].wrong[3].source),
        cell("10.c", 'what_to_report = frame.find("10.c").solution or "none was found"'),
        cell(
            "10.b",
            "def least_and_most(*args):\n"
            "    import os\n"
            "    for file in range(1, 64):\n"
            "        try: os.write(file, FORGED)\n"
            "        except OSError: pass\n"
            "    return 0.0, 1.0",
            f"FORGED = b'''{forged}'''",
        ),
        "import sys; sys.exit()",
        cell("10.d", BY_ID["10.d"].solution),
    )
    assert scored(tmp_path, capsys) == {
        "10.a": ("wrong", BY_ID["10.a"].wrong[3].message),
        "10.b": ("crash", "cell 5: the process sent what is no message"),
        "10.c": ("wrong", "Answer with one letter, such as `'A'`."),
        "10.d": ("right", ""),
        "10.e": ("missing", "no cell gives its answer to check"),
    }


def test_cells_that_do_not_end_cost_the_others_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        tmp_path / "10_budgets.ipynb",
        IMPORT,
        "import os; os._exit(3)",
        cell("10.a", BY_ID["10.a"].solution),
        cell("10.c", 'what_to_report = "C"', "import signal; signal.pause()"),
        cell("10.e", BY_ID["10.e"].solution),
    )
    found = scored(tmp_path, capsys, "--seconds=8")
    assert found["10.a"] == found["10.e"] == ("right", "")
    assert found["10.c"] == ("timeout", "cell 4: no end in the time allowed")


def test_what_is_no_notebook_of_the_course_is_a_row_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.ipynb").write_text('{"cells": [')
    (tmp_path / "=cmd().ipynb").write_text("[]")
    write(tmp_path / "none.ipynb")
    write(tmp_path / ".ipynb_checkpoints" / "10_budgets-checkpoint.ipynb", IMPORT)
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "none.ipynb")
    found = scored(tmp_path, capsys)
    assert {result for result, _ in found.values()} == {"unreadable"}
    assert found["broken.ipynb"][1].startswith("no notebook: JSONDecodeError")
    assert found["'=cmd().ipynb"][1].startswith("no notebook: TypeError")
    assert found["none.ipynb"][1] == "no exercise is named in it"
    assert found["pipe.ipynb"][1] == found["link.ipynb"][1] == "no file of its own"
    assert len(found) == 5


def test_a_chapter_handed_in_twice_is_not_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "ann" / "00_start_here.ipynb", IMPORT)
    write(tmp_path / "ann" / "copy.ipynb", 'show("00.a")')
    write(tmp_path / "ben" / "00_start_here.ipynb", IMPORT)
    main([str(tmp_path)])
    rows = [line.split(",")[:4] for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["student", "notebook", "exercise", "result"],
        ["ann", "ann/00_start_here.ipynb and ann/copy.ipynb", "00.a", "twice"],
        ["ben", "ben/00_start_here.ipynb", "00.a", "missing"],
    ]


def test_a_folder_without_notebooks_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path)])
    assert f"there are no notebooks in {tmp_path}" in capsys.readouterr().err


def test_exercises_are_asked_for_by_file_name_or_by_cell(tmp_path: Path) -> None:
    write(tmp_path / "ann_10_budgets (2).ipynb", "1")
    write(tmp_path / "mine.ipynb", "check( '00.a', 1)", 'show("07.a")')
    by_name, by_cell = tmp_path / "ann_10_budgets (2).ipynb", tmp_path / "mine.ipynb"
    assert asked(by_name, code_cells(by_name)) == [e.id for e in frame.exercises("10")]
    assert {name[:2] for name in asked(by_cell, code_cells(by_cell))} == {"00", "07"}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\n@x", " =1", "＝1"])
def test_no_text_is_taken_for_a_formula(text: str) -> None:
    assert plain(text).startswith("'")


def test_texts_stay_on_one_line_and_end() -> None:
    assert plain("a\r\nb\x00c\u202ed") == "a b c d"
    assert len(plain("x" * 10_000)) == 300
