"""A chapter as nbconvert writes it, with no script left: readable and accessible in both themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Page, expect

from evalkit.course.notebooks import notebook_path, read_notebook
from evalkit.course.panels import MAKE_LIVE
from tests.browser.in_jupyterlab import serious

OURS = (".jp-OutputArea-output", ".jp-MarkdownOutput")
# Its template tells a link from the words around it by colour alone.
STYLE_OF_NBCONVERT = {"link-in-text-block"}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["01_four_scoreboards", "04_state_diff"])
def test_a_page_without_scripts_is_accessible(
    page: Page, tmp_path: Path, name: str, theme: str
) -> None:
    exporter = HTMLExporter(template_name="lab", theme=theme)
    text, _ = exporter.from_notebook_node(read_notebook(notebook_path(name)))
    path = tmp_path / f"{name}.html"
    path.write_text(re.sub(r"<script.*?</script>", "", text, flags=re.S), encoding="utf-8")
    page.goto(path.as_uri())
    expect(page.get_by_text(MAKE_LIVE)).to_be_visible()
    assert {finding.split(":")[0] for finding in serious(page, *OURS)} <= STYLE_OF_NBCONVERT
    fold = page.locator("details", has=page.get_by_text("Solution", exact=True)).first
    expect(fold.locator("pre")).to_be_hidden()
    fold.locator("summary").press("Enter")
    expect(fold.locator("pre")).to_be_visible()
    assert serious(page, "details[open]") == []
