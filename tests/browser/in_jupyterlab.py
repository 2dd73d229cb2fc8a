"""JupyterLab as a reader meets it: a server, a notebook run to its end, panels with their controls."""

from __future__ import annotations

import html
import importlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from evalkit.course.notebooks import FOLDER, pair_names, script_path
from evalkit.course.panels import Panel

CELLS = "window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells"
PANELS = ".jp-OutputArea-output > .widget-vbox"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"


# The words that we write, and the code that asks a page how they contrast with what is behind them.
WORDS = ".jp-OutputArea-output :is([role=status], strong, figcaption, summary, p, th, td, em)"
FAINT = """selector => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const luminance = rgb => rgb.map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = numbers(getComputedStyle(e).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const contrast = element => {
    const paper = behind(element);
    const [r, g, b, a = 1] = numbers(getComputedStyle(element).color);
    const ink = [r, g, b].map((c, i) => a * c + (1 - a) * paper[i]);
    const [dark, light] = [luminance(ink), luminance(paper)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  const words = [...document.querySelectorAll(selector)].filter(e => e.textContent.trim());
  const ratios = words.map(e => [contrast(e), e.outerHTML.slice(0, 200)]);
  return { looked: words.length, faint: ratios.filter(([ratio]) => !(ratio >= 4.5)) };
}"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """Run one JupyterLab on a copy of the notebooks; give its address."""
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
    arguments = [f"--{key}={value}" for key, value in options.items()]
    with (home / "log.txt").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *arguments],
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


def wear(page: Page, theme: str) -> None:
    """Put JupyterLab into its light or its dark theme."""
    page.evaluate(
        "name => window.jupyterapp.commands.execute('apputils:change-theme', { theme: name })",
        THEMES[theme],
    )
    expect(page.locator("body")).to_have_attribute("data-jp-theme-name", THEMES[theme])


def keep_picture(shown: Locator, name: str) -> None:
    """Keep a screenshot for whoever looks through them."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    shown.screenshot(path=SCREENSHOTS / f"{name}.png")


def serious(page: Page, *selectors: str) -> list[str]:
    """Return what axe finds serious or critical in parts of a page, one line for each element."""
    include = [[selector] for selector in selectors]
    context = {"include": include, "exclude": [[".highlight"]]}  # nbconvert colours code, not we
    found = Axe().run(page, context=context).response["violations"]
    return [
        f"{finding['id']}: {node['html'][:200]}"
        for finding in found
        if finding["impact"] in ("serious", "critical")
        for node in finding["nodes"]
    ]


def faint(page: Page) -> list[Any]:
    """Return the words in outputs whose contrast is below 4.5 to 1: axe sees none in JupyterLab."""
    found = page.evaluate(FAINT, WORDS)
    assert found["looked"] > 0
    faint: list[Any] = found["faint"]
    return faint


def panels_of(name: str) -> list[Panel]:
    """Return the panels of a chapter, made here as its notebook makes them."""
    plots = importlib.import_module(f"evalkit.course.plots.chapter_{name[:2]}")
    script = script_path(name).read_text(encoding="utf-8")
    return [
        getattr(plots, made)() for made in re.findall(r"^(?:plots\.)?(\w+_panel)\(\)", script, re.M)
    ]


def by_keyboard(knob: Locator, control: Any) -> None:
    """Move a control in the page by one press, and ours with it."""
    if hasattr(control, "options"):
        # JupyterLab keeps the arrow keys from a list (they go to the next cell): Home and End do.
        first = control.index == 0
        knob.press("End" if first else "Home")
        control.index = len(control.options) - 1 if first else 0
        return
    up = control.value + control.step <= control.max
    knob.press("ArrowRight" if up else "ArrowLeft")
    control.value = round(control.value + (control.step if up else -control.step), 10)


def by_mouse(knob: Locator, control: Any) -> None:
    """Move a control in the page with the mouse, and ours with it: a slider to its farther end."""
    mouse = knob.page.mouse
    if hasattr(control, "options"):
        # The open list is not part of the page, so the press of its next line is simulated.
        knob.click()
        control.index = (control.index + 1) % len(control.options)
        knob.select_option(index=control.index)
        return
    up = control.max - control.value > control.value - control.min
    knob.hover()
    mouse.down()
    box = knob.bounding_box()
    assert box is not None
    mouse.move(box["x"] + (600 if up else -600), box["y"] + box["height"] / 2)
    mouse.up()
    control.value = control.max if up else control.min


def follow(shown: Locator, ours: Panel, move: Callable[[Locator, Any], None]) -> set[str]:
    """Move every control and see the page show what the pure function gives.

    Return the names of those whose move changed the picture, the finding and the table.
    """
    changed = set()
    for name, control in ours.controls.items():
        before = ours.picture.value, ours.table.value
        knob = shown.get_by_label(control.description, exact=True)
        move(knob, control)
        expect_shown(shown, ours)
        if not hasattr(control, "options"):
            assert float(knob.get_attribute("aria-valuetext") or "nan") == pytest.approx(
                control.value
            )
        if ours.picture.value != before[0] and ours.table.value != before[1]:
            changed.add(name)
    return changed


def expect_shown(shown: Locator, ours: Panel) -> None:
    """Wait until finding, picture and table of a panel in the page are those of one made here."""
    expect(shown.locator("[role=status]")).to_have_text(ours.view.finding, timeout=10_000)
    image = shown.locator("img")
    expect(image).to_have_attribute("alt", ours.view.finding)
    # As digests: the image itself would fill the screen if a test failed.
    assert comes(shown.page, lambda: hash(image.get_attribute("src")) == hash(source(ours)))
    cells = [html.unescape(cell) for cell in re.findall(r"<t[dh]>(.*?)</t[dh]>", ours.table.value)]
    assert len(cells) >= ours.view.table.size
    expect(shown.locator("table :is(td, th)")).to_have_text(cells)


def source(panel: Panel) -> str:
    found = re.search(r'src="([^"]+)"', panel.picture.value)
    assert found
    return found[1]


def comes(page: Page, true: Callable[[], bool]) -> bool:
    """Wait up to five seconds for something to become true; return whether it did."""
    for _ in range(100):
        if true():
            return True
        page.wait_for_timeout(50)
    return False
