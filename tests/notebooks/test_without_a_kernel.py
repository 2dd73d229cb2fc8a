"""What a page shows that runs nothing: GitHub's and nbviewer's kind of rendering."""

from __future__ import annotations

import functools
import html
import re

import pytest
from nbconvert import HTMLExporter

from evalkit.course.exercises import find
from evalkit.course.notebooks import notebook_path, pair_names, read_notebook, script_path
from evalkit.course.panels import MAKE_LIVE

NAMES = pair_names()
CAPTION = re.compile(r"<figcaption[^>]*>(.*?)</figcaption>", re.S)


@functools.cache
def page_of(name: str) -> str:
    """Return a chapter as a page without scripts."""
    exporter = HTMLExporter(template_name="basic")
    page, _ = exporter.from_notebook_node(read_notebook(notebook_path(name)))
    return re.sub(r"<script.*?</script>", "", str(page), flags=re.S)


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


@pytest.mark.parametrize("name", NAMES)
def test_each_panel_stands_still_as_a_picture_a_table_and_a_word_on_how_to_move_it(
    name: str,
) -> None:
    script = script_path(name).read_text(encoding="utf-8")
    parts = page_of(name).split(MAKE_LIVE)[:-1]
    assert len(parts) == len(re.findall(r"_panel\(\)$", script, re.M))
    for part in parts:
        still = part[part.rindex("<img ") :]
        alt = re.match(r"""<img alt=("[^"]+"|'[^']+')[^>]* src="data:image/png;base64,""", still)
        finding = re.search(r'<p role="status">([^<]+)</p>', still)
        assert alt
        assert finding
        assert html.unescape(alt[1][1:-1]) == html.unescape(finding[1])
        assert "<td>" in still


@pytest.mark.parametrize("name", NAMES)
def test_hints_and_solutions_can_be_read(name: str) -> None:
    told = [text_of(fold) for fold in re.findall(r"<details>(.*?)</details>", page_of(name), re.S)]
    script = script_path(name).read_text(encoding="utf-8")
    for asked in re.findall(r'^show\("(.+)"\)', script, re.M):
        exercise = find(asked)
        last = exercise.solution.strip().splitlines()[-1]
        for summary, body in (
            ("Hint 1", re.split(r"[`*$]", exercise.hints[0])[0]),
            ("Hint 2", re.split(r"[`*$]", exercise.hints[1])[0]),
            ("Solution", last),
        ):
            words = " ".join(body.split())
            assert [t for t in told if t.startswith(summary) and words in t], (asked, words)


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_has_its_words(name: str) -> None:
    pictures = re.findall(r"<img\b[^>]*>", page_of(name))
    words = re.compile(r"""\balt=("[^"]{10,}"|'[^']{10,}')""")
    assert [tag[:80] for tag in pictures if not words.search(tag)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_caption_is_a_sentence_that_states_something(name: str) -> None:
    captions = [text_of(caption) for caption in CAPTION.findall(page_of(name))]
    assert [c for c in captions if len(c) < 30 or not c.endswith(".")] == []
