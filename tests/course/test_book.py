"""The book: every chapter as it is stored, complete by itself, and readable in a browser."""

from __future__ import annotations

import functools
import html
import http.server
import re
import shutil
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbformat import NotebookNode
from playwright.sync_api import Page, expect, sync_playwright

from evalkit.course.notebooks import FOLDER, METADATA, notebook_path, pair_names, read_notebook

for package in ("sphinx", "myst_nb", "pydata_sphinx_theme"):
    pytest.importorskip(package, reason="the group `book` is not installed")
from evalkit.course import book, browser_edition, live  # noqa: E402

NAMES = pair_names()
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
in_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium found: install Debian's chromium to run the browser tests"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("book") / "site"
    assert book.main(["--out", str(out), "--no-browser-edition", "--positions", "9"]) == 0
    return out


class Seen(HTMLParser):
    """What a page loads, what it links to, and its pictures' texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.alts: list[str] = []
        self.folds = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        else:
            self.loaded += [given[name] for name in ("src", "href", "data") if name in given]
        if tag == "img":
            self.alts.append(given.get("alt", ""))
        self.folds += tag == "details"


def page_of(site: Path, name: str) -> str:
    return (site / f"{name}.html").read_text(encoding="utf-8")


def shown(notebook: NotebookNode, kind: str) -> str:
    """Return all outputs of one kind that a notebook stores."""
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    return "\n".join(output.get("data", {}).get(kind, "") for output in outputs)


def test_the_index_links_to_every_chapter(site: Path) -> None:
    assert {f"{name}.html" for name in NAMES} <= set(Seen(page_of(site, "index")).links)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_every_picture_with_its_text(site: Path, name: str) -> None:
    stored = Seen(shown(read_notebook(notebook_path(name)), "text/html")).alts
    assert [alt for alt in Seen(page_of(site, name)).alts if alt] == stored
    assert all(stored)


@pytest.mark.parametrize("name", NAMES)
def test_hints_and_solutions_are_folded(site: Path, name: str) -> None:
    stored = Seen(shown(read_notebook(notebook_path(name)), "text/markdown")).folds
    assert Seen(page_of(site, name)).folds >= stored


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_what_its_cells_printed(site: Path, name: str) -> None:
    text = html.unescape(re.sub(r"<[^>]+>", "", page_of(site, name)))
    for cell in read_notebook(notebook_path(name)).cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                assert output.text.strip().splitlines()[0] in text


@pytest.mark.parametrize("name", [*NAMES, "index", "search"])
def test_a_page_loads_nothing_from_another_host(site: Path, name: str) -> None:
    loaded = Seen(page_of(site, name)).loaded
    assert [url for url in loaded if re.match(r"(https?:)?//", url)] == []
    missing = [
        url
        for url in loaded
        if not url.startswith(("data:", "#")) and not (site / url.split("?")[0]).exists()
    ]
    assert missing == []


def test_no_style_sheet_loads_from_another_host(site: Path) -> None:
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']+", text) == [], path


@pytest.mark.parametrize("name", NAMES)
def test_links_between_chapters_lead_to_pages(site: Path, name: str) -> None:
    local = [
        link.split("#")[0].split("?")[0]
        for link in Seen(page_of(site, name)).links
        if not re.match(r"https?:|#|mailto:", link)
    ]
    local = [link for link in local if link]
    assert [link for link in local if link.endswith(".ipynb")] == []
    leads = [link for link in local if (site / link).exists() or link == "lite/lab/index.html"]
    assert leads == local


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_leads_to_itself_in_the_browser_edition(site: Path, name: str) -> None:
    assert f"lite/lab/index.html?path={name}.ipynb" in Seen(page_of(site, name)).links


def test_formulas_are_mathml_and_none_is_left_as_text(site: Path) -> None:
    pages = "".join(page_of(site, name) for name in NAMES)
    assert pages.count("<math ") > 100
    outside = re.sub(r"<(pre|script|style).*?</\1>", "", pages, flags=re.S)
    assert re.findall(r"\\(?:frac|text|binom|overline|sum)\b", outside) == []


# Small books: what stops a build, and what must not be run.


def small_book(folder: Path, prose: str, *code: NotebookNode) -> Path:
    """Lay out notebooks with one chapter; return their folder."""
    (folder / "images").mkdir(parents=True)
    shutil.copytree(FOLDER / "book", folder / "book")
    cells = [nbformat.v4.new_markdown_cell(prose), *code]
    chapter = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)
    nbformat.write(chapter, folder / "00_start_here.ipynb")
    return folder


def test_a_stored_output_is_shown_and_nothing_is_run(tmp_path: Path) -> None:
    left = tmp_path / "was_run"
    stored = nbformat.v4.new_output("stream", text="from the store")
    cell = nbformat.v4.new_code_cell(f"open({str(left)!r}, 'w')", outputs=[stored])
    prose = r"# Here" "\n\n" r"$\overline{P^k} \Big/ n$ and $\bar r$"
    book.build_pages(tmp_path / "out", small_book(tmp_path / "notebooks", prose, cell))
    page = page_of(tmp_path / "out", "00_start_here")
    assert "from the store" in page
    assert not left.exists()
    assert '<mo accent="true" class="overline">¯</mo>' in page
    assert page.count("<math ") == 2


def test_what_leads_nowhere_or_cannot_be_read_stops_the_build(tmp_path: Path) -> None:
    prose = "# Here\n\n[a](99_nowhere.ipynb) [b](#no-such-heading) $\\nosuchcommand{x}$"
    with pytest.raises(RuntimeError) as raised:
        book.build_pages(tmp_path / "out", small_book(tmp_path / "notebooks", prose))
    for wrong in ("99_nowhere.ipynb", "no-such-heading", "nosuchcommand"):
        assert wrong in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("all of it")
    assert book.main(["--out", str(tmp_path)]) == 1
    assert "holds something that is not a book" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").read_text() == "all of it"


def test_the_browser_edition_is_built_where_the_pages_look_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Path] = []
    monkeypatch.setattr(book, "build_pages", lambda out, *_: built.append(out))
    monkeypatch.setattr(browser_edition, "build", lambda out, *_: built.append(out))
    assert book.main(["--out", str(tmp_path)]) == 0
    assert built == [tmp_path, tmp_path / "lite"]


# In Chromium.


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that logs nothing."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser.new_page()
        browser.close()


@in_chromium
@pytest.mark.parametrize(
    "path",
    ["index.html", "07_every_time.html", "08_real_tasks_differ.html", "search.html?q=refund"],
)
def test_a_page_asks_no_other_host_and_has_no_error(page: Page, address: str, path: str) -> None:
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("response", lambda r: errors.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    page.goto(f"{address}/{path}", wait_until="networkidle")
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert asked
    assert errors == []


@in_chromium
def test_search_finds_chapters(page: Page, address: str) -> None:
    page.goto(f"{address}/search.html?q=refund")
    page.locator("#search-results li a", has_text="scoreboards").first.wait_for()


@in_chromium
@pytest.mark.parametrize("name", ["index", "07_every_time", "08_real_tasks_differ"])
def test_a_narrow_page_does_not_scroll_sideways(page: Page, address: str, name: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{address}/{name}.html")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.set_viewport_size({"width": 1280, "height": 800})


@in_chromium
def test_a_solution_opens(page: Page, address: str) -> None:
    page.goto(f"{address}/07_every_time.html")
    fold = page.locator("details", has=page.locator("summary", has_text="Solution")).first
    assert not fold.locator("pre").is_visible()
    fold.locator("summary").press("Enter")
    assert fold.locator("pre").is_visible()


@in_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "09_flaky_environments"])
def test_a_page_is_accessible(page: Page, address: str, name: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{address}/{name}.html")
    assert page.locator("html").get_attribute("data-theme") == scheme
    page.wait_for_function("document.getAnimations().length === 0")  # colours fade in
    found = Axe().run(page).response["violations"]
    serious = [f"{v['id']}: {v['nodes'][0]['html']}" for v in found if v["impact"] != "minor"]
    assert serious == []
    page.emulate_media(color_scheme="light")


@in_chromium
@pytest.mark.parametrize("name", live.LIVE)
def test_flagship_panels_live_without_a_kernel(address: str, page: Page, name: str) -> None:
    page.goto(f"{address}/{name}.html")
    panels = page.locator(".evalkit-live")
    expect(panels).to_have_count(len(live.LIVE[name]))
    for i in range(len(live.LIVE[name])):
        panel = panels.nth(i)
        finding = panel.get_by_role("status")
        before, picture = finding.inner_text(), panel.get_by_role("img").inner_html()
        panel.get_by_role("slider").first.press("End")
        expect(finding).not_to_have_text(before)
        assert panel.get_by_role("img").inner_html() != picture
        expect(panel.get_by_role("img")).to_have_accessible_name(finding.inner_text())
