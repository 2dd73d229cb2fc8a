"""The book: all chapters as a static site that any host serves, made by ::

    uv run --all-groups python -m evalkit.course.book                 # into build/book
    uv run --all-groups python -m evalkit.course.book --out DIR
    uv run --all-groups python -m evalkit.course.book --no-browser-edition

The chapters are shown as they are stored, outputs and all; nothing is executed. Every warning of
Sphinx is an error: a link that leads nowhere stops the build. ``notebooks/book/`` holds the
configuration. The flagship panels live without a kernel: drawing their positions takes most of the
time. The browser edition stands beside the pages, in ``lite/``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat

from evalkit.course import browser_edition, live
from evalkit.course.notebooks import FOLDER, read_notebook

OUT = FOLDER.parent / "build" / "book"


def lay_out(folder: Path, notebooks: Path = FOLDER, positions: int = live.MOST) -> None:
    """Lay what the book is made of into a folder: its configuration and all chapters.

    The panels of `evalkit.course.live` get a grid of that many positions at most.
    """
    shutil.copytree(notebooks / "book", folder, dirs_exist_ok=True)
    shutil.copytree(notebooks / "images", folder / "images")
    browser_edition.copy_chapters(notebooks, folder)
    for path in folder.glob("*.ipynb"):
        chapter, panels = read_notebook(path), (panel() for panel in live.LIVE.get(path.stem, ()))
        live.enliven(chapter, panels, folder / "_static", positions)
        nbformat.write(chapter, path)


def build_pages(out: Path, notebooks: Path = FOLDER, positions: int = live.MOST) -> None:
    """Write the pages into a new folder; raise `RuntimeError` with Sphinx's words at a warning."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lay_out(folder / "source", notebooks, positions)
        options = ["--fail-on-warning", "--keep-going", "--quiet", "--jobs=auto"]
        browser_edition.run("sphinx", *options, "-d", "doctrees", "source", "html", where=folder)
        shutil.copytree(folder / "html", out)


def build(
    out: Path, notebooks: Path = FOLDER, edition: bool = True, positions: int = live.MOST
) -> None:
    """Write the whole site into a folder, in place of one that stands there.

    Raises
    ------
    FileExistsError
        If the folder holds something else.
    """
    if out.exists() and any(out.iterdir()) and not (out / "searchindex.js").exists():
        raise FileExistsError(f"{out} holds something that is not a book; name another folder")
    shutil.rmtree(out, ignore_errors=True)
    build_pages(out, notebooks, positions)
    if edition:
        browser_edition.build(out / "lite", notebooks)


def main(arguments: list[str] | None = None) -> int:
    """Build the site; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m evalkit.course.book", description="Build the book as a static site."
    )
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help="default: build/book")
    parser.add_argument(
        "--no-browser-edition", action="store_true", help="only the pages, in half the time"
    )
    parser.add_argument(
        "--positions",
        type=int,
        default=live.MOST,
        metavar="N",
        help=f"at most so many for each live panel, all its controls together; default: {live.MOST}",
    )
    options = parser.parse_args(arguments)
    try:
        edition = not options.no_browser_edition
        build(options.out, edition=edition, positions=options.positions)
    except (RuntimeError, OSError, ValueError) as error:
        print(f"the book was not built: {error}", file=sys.stderr)
        return 1
    print(f"open {options.out / 'index.html'}, or serve the folder with any web server")
    return 0


if __name__ == "__main__":
    sys.exit(main())
