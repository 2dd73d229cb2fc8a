"""Debian's Chromium, driven by Playwright: one for each file of browser tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HERE = ("http://127.0.0.1:", "ws://127.0.0.1:", "file:", "data:", "blob:")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium found: install Debian's chromium to run the browser tests")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Give a page, and see afterwards that it asked no other machine for anything."""
    # Tall, so that JupyterLab renders every cell: it leaves out what is far below the window.
    context = browser.new_context(viewport={"width": 1200, "height": 1400})
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    tab = context.new_page()
    tab.on("websocket", lambda socket: asked.append(socket.url))
    yield tab
    context.close()
    assert asked
    assert [url for url in asked if not url.startswith(HERE)] == []
