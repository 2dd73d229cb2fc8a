"""Every notebook in JupyterLab itself: run to the end, and its panels moved by keyboard."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from evalkit.course.notebooks import FOLDER, WIDGET_VIEW, pair_names

CELLS = "window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start one JupyterLab on a copy of the notebooks; give its address."""
    home = tmp_path_factory.mktemp("lab")
    root = home / "notebooks"
    root.mkdir()
    for name in pair_names():
        shutil.copy(FOLDER / f"{name}.ipynb", root)
    silence(home / "jupyter_config_dir")
    port = free_port()
    options = {
        "ServerApp.root_dir": root,
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": True,
        "IdentityProvider.token": "",
        "LabApp.expose_app_in_browser": True,
    }
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = os.environ | {name: str(home / name.lower()) for name in folders}
    with (home / "log.txt").open("w") as log:
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jupyterlab",
                *(f"--{key}={value}" for key, value in options.items()),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, server, home / "log.txt")
        yield address
    finally:
        server.terminate()
        server.wait(20)


def silence(config: Path) -> None:
    """Keep JupyterLab from asking the network for news and updates."""
    (config / "labconfig").mkdir(parents=True)
    disabled = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (config / "labconfig" / "page_config.json").write_text(json.dumps(disabled))


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{address}/api", timeout=5).close()
            return
        except OSError:
            assert server.poll() is None, log.read_text()
            time.sleep(0.5)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()}")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    # Tall, so that JupyterLab renders every cell: it leaves out what is far below the window.
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    yield context.new_page()
    context.close()


def run_all(page: Page, lab: str, name: str) -> None:
    """Open a notebook, wait for its kernel, and run all its cells to the end."""
    page.goto(f"{lab}/lab/tree/{name}.ipynb?reset")
    page.wait_for_function(
        """() => {
            const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
            return context?.session?.kernel?.status === "idle";
        }""",
        timeout=90_000,
    )
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(
        f"""() => {{
            const code = {CELLS}.filter(cell => cell.cell_type === "code");
            const failed = code.some(c => c.outputs.some(o => o.output_type === "error"));
            return failed || code.every((c, i) =>
                c.execution_count === i + 1 && c.executionState === "idle");
        }}""",
        timeout=180_000,
    )


def outputs(page: Page) -> list[dict[str, Any]]:
    """Return all outputs that the notebook now holds."""
    found: list[dict[str, Any]] = page.evaluate(
        f"() => {CELLS}.flatMap(cell => cell.cell_type === 'code' ? cell.outputs : [])"
    )
    return found


@pytest.mark.parametrize("name", pair_names())
def test_a_notebook_runs_and_its_panels_follow_the_keyboard(
    page: Page, lab: str, name: str
) -> None:
    run_all(page, lab, name)
    shown = outputs(page)
    assert [o for o in shown if o["output_type"] == "error"] == []
    live = [o for o in shown if WIDGET_VIEW in o.get("data", {})]
    panels = page.locator(".jp-OutputArea-output > .widget-vbox")
    expect(panels).to_have_count(len(live), timeout=30_000)
    for i in range(len(live)):
        move_first_control(page, panels.nth(i))


def move_first_control(page: Page, panel: Locator) -> None:
    """Move a panel's first slider or list by keyboard; see picture and table change."""
    image, table = panel.locator("img"), panel.locator("table")
    alt, picture, text = image.get_attribute("alt"), source(image), table.inner_text()
    control = panel.locator("[role=slider], select").first
    # JupyterLab keeps the arrow keys from a list (they go to the next cell): Home and End do.
    slides = control.get_attribute("role") == "slider"
    for key in ("ArrowLeft", "ArrowRight") if slides else ("Home", "End"):
        control.press(key)
        if changes(page, lambda: source(image) != picture):
            break
    assert source(image) != picture
    assert image.get_attribute("alt") != alt
    assert changes(page, lambda: table.inner_text() != text)


def source(image: Locator) -> int:
    """Return a digest of an image: the image itself would fill the screen if a test failed."""
    return hash(image.get_attribute("src"))


def changes(page: Page, changed: Callable[[], bool]) -> bool:
    """Wait up to five seconds for something to change; return whether it did."""
    for _ in range(50):
        if changed():
            return True
        page.wait_for_timeout(100)
    return False
