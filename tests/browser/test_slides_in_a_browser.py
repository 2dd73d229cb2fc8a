"""The slides start in a browser that can reach nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from evalkit.course.slides import main

NAME = "07_every_time"


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("npm"):
        pytest.skip("no npm found: install Debian's npm to build slides")
    out = tmp_path_factory.mktemp("slides")
    try:
        main([str(out), NAME])
    except subprocess.CalledProcessError:
        pytest.skip("npm could not fetch reveal.js and MathJax")
    return out


def test_slides_start_and_move_with_no_request_to_anywhere(slides: Path, browser: Browser) -> None:
    context = browser.new_context(offline=True)
    tab = context.new_page()
    asked: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((slides / f"{NAME}.html").as_uri())
    tab.wait_for_function("window.Reveal && Reveal.isReady()")
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("Reveal.getIndices().h") == 1
    for _ in range(tab.evaluate("Reveal.getTotalSlides()")):
        tab.evaluate("Reveal.next()")
    assert tab.evaluate("Reveal.isLastSlide()")
    tab.wait_for_selector("mjx-container", state="attached")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert errors == []
    context.close()
