"""A panel without a kernel, in a real browser: it shows what Python stored for each position."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from evalkit.course.live import grid
from evalkit.course.notebooks import FOLDER
from evalkit.course.plots.chapter_09 import flaky_panel

PAGE = """<!doctype html><html lang="en"><title>A panel</title>
<link rel="stylesheet" href="live.css"><script type="module" src="live.js"></script>
<main><div class="evalkit-live" data-grid="grid.json"><p>standing still</p></div>
<div class="evalkit-live" data-grid="missing.json"><p>no grid, still there</p></div></main></html>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return grid(flaky_panel(), most=30)


@pytest.fixture
def site(tmp_path: Path, data: dict[str, Any]) -> Iterator[str]:
    for name in ("live.js", "live.css"):
        shutil.copy(FOLDER / "book" / "_static" / name, tmp_path)
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "grid.json").write_text(json.dumps(data))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_each_press_shows_the_stored_picture_table_and_finding(
    page: Page, site: str, data: dict[str, Any]
) -> None:
    page.goto(site)
    places = [control["start"] for control in data["controls"]]
    sizes = [len(control["positions"]) for control in data["controls"]]
    for i, (control, size) in enumerate(zip(data["controls"], sizes, strict=True)):
        knob = page.get_by_label(control["description"], exact=True)
        knob.press("Home")
        for place in range(size):
            places[i] = place
            at = (places[0] * sizes[1] + places[1]) * sizes[2] + places[2]
            frame = data["frames"][at]
            expect(page.get_by_role("status").last).to_have_text(frame["finding"])
            expect(page.get_by_role("img")).to_have_accessible_name(frame["finding"])
            expect(knob).to_have_attribute("aria-valuetext", control["positions"][place])
            picture = page.locator(".evalkit-live-picture").inner_html()
            assert stored(data, frame["picture"], "<text") == picture.count("<text")
            cells = page.locator(".evalkit-live-table td").all_inner_texts()
            assert stored(data, frame["table"], "<td") == len(cells)
            assert all(cell in "".join(lines(data, frame["table"])) for cell in cells)
            knob.press("ArrowRight")


def lines(data: dict[str, Any], spans: list[list[int]]) -> list[str]:
    return [line for first, count in spans for line in data["lines"][first : first + count]]


def stored(data: dict[str, Any], spans: list[list[int]], what: str) -> int:
    return "".join(lines(data, spans)).count(what)


def test_the_mouse_moves_it_too(page: Page, site: str, data: dict[str, Any]) -> None:
    page.goto(site)
    knob = page.get_by_label(data["controls"][0]["description"], exact=True)
    before = page.get_by_role("status").last.inner_text()
    box = knob.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    expect(page.get_by_role("status").last).not_to_have_text(before)


def test_where_the_grid_is_missing_the_still_panel_stays(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.get_by_text("no grid, still there")).to_be_visible()
    expect(page.get_by_text("standing still")).to_have_count(0)
