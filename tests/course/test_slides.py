"""Slides: which cells begin one, and that a page names nothing outside."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from evalkit.course.notebooks import FOLDER
from evalkit.course.slides import as_slides, main, page


def test_a_heading_begins_a_slide_and_the_guarded_cell_is_none() -> None:
    cells = [
        nbformat.v4.new_markdown_cell("# Title"),
        nbformat.v4.new_code_cell("import sys"),
        nbformat.v4.new_markdown_cell("## Part"),
        nbformat.v4.new_markdown_cell("> **Predict.**"),
        nbformat.v4.new_code_cell("# a comment is no heading\n1"),
    ]
    kinds = [
        cell.metadata["slideshow"]["slide_type"]
        for cell in as_slides(nbformat.v4.new_notebook(cells=cells)).cells
    ]
    assert kinds == ["slide", "skip", "slide", "subslide", "subslide"]


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("[0-9][0-9]_*.ipynb")))
def test_a_page_takes_nothing_from_outside_and_shows_no_solution(name: str) -> None:
    text = page(FOLDER / f"{name}.ipynb")
    loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"([^\"]*)\"", text)
    assert {source for source in loaded if not source.startswith("data:")} == {
        "assets/mathjax/es5/tex-svg.js",
        "assets/reveal.js/dist/reveal.css",
        "assets/reveal.js/dist/theme/white.css",
        "assets/reveal.js/dist/reveal.js",
    }
    assert not re.search(
        r"@import|url\(['\"]?https?:|import .* from", re.sub(r"<pre.*?</pre>", "", text, flags=re.S)
    )
    assert "<summary>Solution" not in text


def test_an_unknown_chapter_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("reveal.js", "mathjax"):
        (tmp_path / "assets" / name).mkdir(parents=True)
    with pytest.raises(SystemExit):
        main([str(tmp_path), "99_none"])
    assert "there is no chapter 99_none" in capsys.readouterr().err
