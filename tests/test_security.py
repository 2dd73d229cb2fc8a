"""Nothing that is read is run, and nothing that an agent wrote is shown as anything but text."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pickle
import pkgutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pandas as pd
import pytest

import evalkit
from evalkit import Task, compare, counts, estimate, grade, state_diff, trials_table
from evalkit.audit import audit_grader
from evalkit.course.exercises import Feedback, Shown
from evalkit.course.figures import captioned, new_figure
from evalkit.course.live import grid
from evalkit.course.panels import Panel, View, slider
from evalkit.logs import LogError
from evalkit.logs.formats import FORMATS, read_trials
from evalkit.report import report_card
from evalkit.simulate.service import Service
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.snapshots import snapshot
from evalkit.taskfiles import load_task
from evalkit.tasks import TaskError
from evalkit.values import StateError

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "evalkit").rglob("*.py"))
EVIL = "<script>alert(1)</script>"

# --- nothing that is read is run --------------------------------------------------------------

#: What loads code with data, or makes code of text.
LOADERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "jsonpickle"}
RUNNERS = {"eval", "exec", "compile", "__import__", "execfile"}
METHODS = {"read_pickle", "to_pickle", "unsafe_load", "full_load", "run_path", "literal_eval"}


def runs(path: Path) -> Iterator[str]:
    """Yield what in a module runs text as code, or loads code with data."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] + [getattr(node, "module", None) or ""]
            yield from (n for n in names if n.split(".")[0] in LOADERS or n in METHODS)
        elif isinstance(node, ast.Name) and node.id in RUNNERS:
            yield node.id
        elif isinstance(node, ast.Attribute):
            if node.attr in METHODS:
                yield node.attr
            of = node.value.id if isinstance(node.value, ast.Name) else ""
            if (of, node.attr) in {("yaml", "load"), ("pd", "eval"), ("builtins", "exec")}:
                yield f"{of}.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "shell"):
            yield node.arg


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_module_unpickles_or_evaluates(path: Path) -> None:
    assert list(runs(path)) == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "eval(text)",
        "pd.read_pickle(path)",
        "yaml.load(text)",
        "np.load(path, allow_pickle=True)",
        "from ast import literal_eval",
        "subprocess.run(text, shell=True)",
    ],
)
def test_a_module_that_does_is_seen(tmp_path: Path, code: str) -> None:
    (tmp_path / "module.py").write_text(code)
    assert list(runs(tmp_path / "module.py"))


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("name", [*FORMATS, "json", "csv", "db", "task"])
def test_no_reader_wakes_what_is_pickled(tmp_path: Path, name: str) -> None:
    if name == "inspect":
        pytest.importorskip("inspect_ai", reason="needs inspect_ai: the extra inspect")
    woken = tmp_path / "woken"
    packed = pickle.dumps(Bomb(woken))
    pickle.loads(packed)
    assert woken.exists()  # so that the test can fail
    woken.unlink()
    call = f"__import__('pathlib').Path({str(woken)!r}).touch()"
    for data in (packed, call.encode(), json.dumps({"$eval": call, "task": call}).encode()):
        path = tmp_path / f"file.{name}"
        path.write_bytes(data)
        with suppress(LogError, StateError, TaskError):
            if name in FORMATS:
                read_trials(path, name)
            else:
                load_task(path) if name == "task" else snapshot(path)
        assert not woken.exists()


# --- what is shown is text --------------------------------------------------------------------

DISPLAYS = ("html", "markdown", "mimebundle", "svg", "javascript", "latex")


def shown_classes() -> set[type]:
    """Every class of the package that says how a notebook shows it."""
    found: set[type] = set()
    for module in pkgutil.walk_packages(evalkit.__path__, "evalkit."):
        if not module.name.endswith("__main__"):
            classes = inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
            found |= {
                c
                for _, c in classes
                if c.__module__ == module.name
                and any(f"_repr_{kind}_" in vars(c) for kind in DISPLAYS)
            }
    return found


BEFORE = {"customers": {EVIL: {EVIL: "a", "x": EVIL}, "b": {"x": 1}}, EVIL: {}}
AFTER = {"customers": {EVIL: {EVIL: EVIL, "x": "b"}, "c": {EVIL: EVIL}}}
LOG = pd.DataFrame(
    {"task": [EVIL, "b", "b", "c"], "trial": [0, 0, 1, 0], "success": [None, 1.0, 0.0, 1.0]}
)


def view(figure: Any, n: int) -> View:
    return View(pd.DataFrame({EVIL: [EVIL], "b": [1]}), finding=EVIL)


def panel() -> Panel:
    return Panel(view, n=slider("n", 1, 0, 2, 1))


def tally() -> pd.DataFrame:
    return counts(trials_table(LOG), planned=2)


OBJECTS: dict[str, Callable[[], Any]] = {
    "Verdict": lambda: grade(
        BEFORE, AFTER, Task(required={("customers", EVIL, "x"): EVIL}, forms={EVIL: "number"})
    ),
    "Diff": lambda: state_diff(BEFORE, AFTER),
    "Estimate": lambda: estimate(tally(), 1),
    "Comparison": lambda: compare(tally(), tally()),
    "Audit": lambda: audit_grader(
        lambda before, after: True, BEFORE, AFTER, Task.from_goal(BEFORE, AFTER)
    ),
    "ReportCard": lambda: report_card(LOG.assign(agent=EVIL, infra=False), title=EVIL),
    "Feedback": lambda: Feedback("00.a", "not yet", f"You gave `{EVIL}`, {EVIL}."),
    "Captioned": lambda: captioned(new_figure(100, 100), EVIL, EVIL),
    "Panel": panel,
}
#: Shows the exercises of this package and nothing else.
OURS = {Shown}


def test_every_class_that_a_notebook_shows_is_tried_here() -> None:
    assert {c.__name__ for c in shown_classes() - OURS} == set(OBJECTS)


@pytest.mark.parametrize("name", OBJECTS)
def test_a_customer_named_script_is_text(name: str) -> None:
    value = OBJECTS[name]()
    assert type(value).__name__ == name
    if isinstance(value, widgets.DOMWidget):
        text = value._repr_mimebundle_()["text/html"]
    else:
        text = value._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script" not in text.lower()


def test_a_live_panel_holds_no_script_but_its_own() -> None:
    lines = "\n".join(grid(panel())["lines"])
    assert "&lt;script&gt;" in lines
    assert "<script" not in lines.lower()


def test_a_class_that_shows_itself_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loud:
        def _repr_markdown_(self) -> str:
            return EVIL

    Loud.__module__ = "evalkit.values"
    monkeypatch.setattr("evalkit.values.Loud", Loud, raising=False)
    assert Loud in shown_classes()


# --- the service ------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="needs 127.0.0.2, which Linux answers to")
def test_the_service_is_deaf_to_every_address_but_its_own() -> None:
    with Service(CUSTOMER_OPERATIONS) as service:
        port = int(service.url.split(":")[2].split("/")[0])
        socket.create_connection(("127.0.0.1", port)).close()
        # Whatever listens on all addresses answers to this one too.
        with socket.create_server(("", 0)) as wide:
            socket.create_connection(("127.0.0.2", wide.getsockname()[1])).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port))
