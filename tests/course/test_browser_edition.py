"""The browser edition: complete, of pure Python but for Pyodide's packages, and able to run."""

from __future__ import annotations

import ast
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from email import message_from_string
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from playwright.sync_api import sync_playwright

from evalkit.course.notebooks import FOLDER, cells, notebook_path, pair_names, read_notebook

pytest.importorskip("jupyterlite_core", reason="the group `book` is not installed")
constants = pytest.importorskip("jupyterlite_pyodide_kernel.constants")
from evalkit.course import browser_edition  # noqa: E402

ROOT = FOLDER.parent
# From pyodide-lock.json of the npm package `pyodide` at this version, the one that the kernel
# loads: the packages that the course needs, and those that they need there.
PYODIDE_VERSION = "314.0.6"
PYODIDE = {
    "anyio": "4.13.0",
    "certifi": "2026.4.22",
    "contourpy": "1.3.3",
    "cycler": "0.12.1",
    "decorator": "5.2.1",
    "fonttools": "4.62.1",
    "h11": "0.16.0",
    "httpcore": "1.0.9",
    "httpx": "0.28.1",
    "idna": "3.11",
    "iniconfig": "2.3.0",
    "ipython": "9.12.0",
    "jedi": "0.19.2",
    "kiwisolver": "1.5.0",
    "markupsafe": "3.0.3",
    "matplotlib": "3.10.8",
    "narwhals": "2.18.1",
    "numpy": "2.4.6",
    "packaging": "26.1",
    "pandas": "3.0.2",
    "pillow": "12.2.0",
    "pluggy": "1.6.0",
    "pygments": "2.20.0",
    "pyparsing": "3.3.2",
    "pytest": "9.0.2",
    "python-dateutil": "2.9.0.post0",
    "pytz": "2026.1.post1",
    "scipy": "1.18.0",
    "six": "1.17.0",
    "sniffio": "1.3.1",
    "tqdm": "4.67.3",
    "traitlets": "5.14.3",
    "typing-extensions": "4.15.0",
}
# In the browser edition the page itself is JupyterLab; the kernel brings its own of the others.
OF_THE_EDITION = {"jupyterlab": "4.6.6", "widgetsnbextension": "4.0.999"}
THERE: dict[str, Any] = {
    **default_environment(),
    "sys_platform": "emscripten",
    "platform_system": "Emscripten",
    "os_name": "posix",
    "python_version": "3.14",
    "python_full_version": "3.14.2",
}
NAMES = pair_names()
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "lite"
    browser_edition.build(out)
    return out


def requirements(package: str, environment: dict[str, Any], extra: str = "") -> list[Requirement]:
    """Return what an installed package asks for in an environment."""
    found = map(Requirement, metadata.requires(package) or [])
    return [r for r in found if not r.marker or r.marker.evaluate({**environment, "extra": extra})]


def wheels(edition: Path) -> dict[str, zipfile.ZipFile]:
    """Return the wheels that stand in the edition, by package."""
    files = sorted((edition / "pypi").glob("*.whl"))
    return {canonicalize_name(file.name.split("-")[0]): zipfile.ZipFile(file) for file in files}


def described(wheel: zipfile.ZipFile) -> Any:
    """Return the metadata of a wheel."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_string(wheel.read(name).decode())


def test_every_chapter_is_there_with_the_cells_it_has(edition: Path) -> None:
    listed = json.loads((edition / "api/contents/all.json").read_text())["content"]
    assert sorted(entry["name"] for entry in listed) == [f"{name}.ipynb" for name in NAMES]
    for name in NAMES:
        there = cells(read_notebook(edition / "files" / f"{name}.ipynb"))
        ours = cells(read_notebook(notebook_path(name)))
        assert there == [
            (kind, browser_edition.without_outside_links(source), tags)
            if kind == "markdown"
            else (kind, source, tags)
            for kind, source, tags in ours
        ]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found: install Debian's chromium")
def test_a_chapter_opens_and_only_pyodide_comes_from_elsewhere(edition: Path) -> None:
    handler = functools.partial(Quiet, directory=str(edition))
    asked: list[str] = []
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as p,
    ):
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        here = f"http://127.0.0.1:{server.server_port}"
        flags = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
        browser = p.chromium.launch(executable_path=CHROMIUM, args=flags)
        page = browser.new_page()
        page.context.on("request", lambda request: asked.append(request.url))
        page.goto(f"{here}/lab/index.html?path=01_four_scoreboards.ipynb")
        page.locator(".jp-Notebook h1", has_text="Four scoreboards").wait_for(timeout=60_000)
        page.get_by_text("Python (Pyodide)").first.wait_for()  # its kernel, without being asked
        browser.close()
        server.shutdown()
        thread.join()
    outside = [url for url in asked if not url.startswith((here, "data:", "blob:"))]
    assert [url for url in outside if not url.startswith(constants.PYODIDE_CDN_URL)] == []


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that logs nothing."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_the_wheel_of_evalkit_holds_every_module_and_table(edition: Path) -> None:
    ours = [*(ROOT / "evalkit").rglob("*.py"), *(ROOT / "evalkit").rglob("*.csv")]
    held = set(wheels(edition)["evalkit"].namelist())
    assert {path.relative_to(ROOT).as_posix() for path in ours} <= held


def test_the_index_names_every_wheel(edition: Path) -> None:
    index = json.loads((edition / "pypi/all.json").read_text())
    assert set(index) == {"evalkit", *browser_edition.PURE}
    config = json.loads((edition / "jupyter-lite.json").read_text())["jupyter-config-data"]
    (kernel,) = config["litePluginSettings"].values()
    assert any(url.startswith("./pypi/all.json") for url in kernel["pipliteUrls"])


def test_no_wheel_holds_anything_compiled(edition: Path) -> None:
    for name, wheel in wheels(edition).items():
        compiled = [file for file in wheel.namelist() if file.endswith((".so", ".pyd", ".pyc"))]
        assert compiled == [], name
        assert wheel.testzip() is None


def test_the_wheels_can_be_imported_without_what_is_installed(edition: Path) -> None:
    names = ["comm", "et_xmlfile", "openpyxl", "psygnal", "tenacity", "werkzeug"]
    paths = [str(path) for path in (edition / "pypi").glob("*.whl")]
    kept = {"traitlets", "markupsafe"}  # from Pyodide, so from here
    places = {name: str(Path(metadata.distribution(name).locate_file(""))) for name in kept}
    code = f"import sys; sys.path[:0] = {paths!r}; import {', '.join(names)}\n"
    code += "print([m.__file__ for m in (" + ", ".join(names) + ")])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(set(places.values()))}
    command = [sys.executable, "-S", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count(".whl") == len(names)


def test_the_table_is_of_the_pyodide_that_the_kernel_loads() -> None:
    assert constants.PYODIDE_VERSION == PYODIDE_VERSION


def test_what_the_course_needs_is_pyodides_or_stands_in_the_edition(edition: Path) -> None:
    """Follow every requirement down, and hold each to the version that is there."""
    here = {name: described(wheel)["Version"] for name, wheel in wheels(edition).items()}
    here |= OF_THE_EDITION | PYODIDE
    asked = requirements("evalkit", THERE, "course")
    asked += [Requirement(name) for name in ("comm", "ipython", "jedi")]  # the kernel itself
    seen = set()
    while asked:
        wanted = asked.pop()
        name = canonicalize_name(wanted.name)
        assert name in here, wanted
        assert wanted.specifier.contains(here[name], prereleases=True), (wanted, here[name])
        if name not in seen and name in browser_edition.PURE:
            asked += requirements(name, THERE)
        seen.add(name)
    assert {"numpy", "pandas", "matplotlib", "psygnal", *browser_edition.PURE} <= seen


def allowed() -> set[str]:
    """Return the packages that a chapter may import: the course's and the kernel's, all the way."""
    here: dict[str, Any] = dict(default_environment())
    found, asked = set[str](), [Requirement("evalkit[course]"), Requirement("ipython")]
    while asked:
        wanted = asked.pop()
        name = canonicalize_name(wanted.name)
        if name not in found and name not in OF_THE_EDITION:
            found.add(name)
            for extra in wanted.extras or {""}:
                asked += requirements(name, here, extra)
    return found


def refused() -> str:
    """Return the modules that are installed here and that no allowed package brings."""
    ours = allowed()
    owners = metadata.packages_distributions()
    return ",".join(
        module
        for module, packages in owners.items()
        if not ours & {canonicalize_name(package) for package in packages}
    )


def run_as_in_a_browser(*notebooks: Path) -> dict[str, Any]:
    script = Path(__file__).with_name("as_in_a_browser.py")
    run = subprocess.run(
        [sys.executable, str(script), refused(), *map(str, notebooks)],
        capture_output=True,
        text=True,
        cwd=FOLDER,
        env={**os.environ, "TQDM_DISABLE": "1"},
    )
    assert run.returncode == 0, run.stderr
    told: dict[str, Any] = json.loads(run.stdout)
    return told


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What became of each chapter where there are no sockets, threads and processes."""
    return run_as_in_a_browser(*map(notebook_path, NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_runs_without_sockets_threads_and_processes(
    name: str, told: dict[str, Any]
) -> None:
    assert told[name]["error"] is None


def test_the_first_cell_asks_for_all_that_the_course_needs(told: dict[str, Any]) -> None:
    assert {name: told[name]["installed"] for name in NAMES} == {
        name: ["evalkit[course]"] for name in NAMES
    }
    assert "jupyterlab" not in {r.name for r in requirements("evalkit", THERE, "course")}


def test_what_a_browser_has_not_is_refused(tmp_path: Path) -> None:
    tries = {
        "socket": "import socket\nsocket.create_connection(('127.0.0.1', 9))",
        "thread": "import threading\nthreading.Thread(target=print).start()",
        "process": "import subprocess, sys\nsubprocess.run([sys.executable, '-V'])",
        "package": "import nbformat",
        "platform": "import sys\nassert sys.platform != 'emscripten'",
    }
    for name, code in tries.items():
        notebook = {"cells": [{"cell_type": "code", "source": [code]}]}
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(notebook))
    told = run_as_in_a_browser(*tmp_path.glob("*.ipynb"))
    errors = {name: told[name]["error"].split(": ")[1] for name in tries}
    assert errors == {
        "socket": "OSError",
        "thread": "OSError",
        "process": "OSError",
        "package": "ModuleNotFoundError",
        "platform": "AssertionError",
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_imports_only_what_is_there(name: str) -> None:
    code = "\n".join(c.source for c in read_notebook(notebook_path(name)).cells if is_plain(c))
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    missing = {module.split(".")[0] for module in imported} & set(refused().split(","))
    assert missing == set()


def is_plain(cell: Any) -> bool:
    """Whether a cell is code that is not the guard, which asks for what only some places have."""
    return cell.cell_type == "code" and "emscripten" not in cell.source


def test_a_package_that_is_only_compiled_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="numpy: .* is compiled"):
        browser_edition.pure_wheel("numpy", tmp_path)


def test_a_tool_that_fails_is_told_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="No module named no_such_module"):
        browser_edition.run("no_such_module", where=tmp_path)
