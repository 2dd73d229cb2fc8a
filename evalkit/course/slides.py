"""Slides of the chapters, which run with no network, made by ::

    uv run --all-groups python -m evalkit.course.slides OUT              # every chapter
    uv run --all-groups python -m evalkit.course.slides OUT 04_state_diff

A heading begins a slide; what follows it lies below, one cell at a time (the down key, or space). The
stored outputs are shown and nothing is executed. Solutions are left out. Building takes reveal.js
and MathJax from npm, once; OUT then holds all that a browser needs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nbconvert import SlidesExporter
from nbformat import NotebookNode

from evalkit.course.notebooks import FOLDER, read_notebook
from evalkit.course.student import student_notebook

ASSETS = {"reveal.js": "6.0.2", "mathjax": "3.2.2"}
TEMPLATE = """\
{%- extends 'index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}
<script>MathJax = {tex: {inlineMath: [["$", "$"]]}, options: {enableMenu: false}};</script>
<script defer src="assets/mathjax/es5/tex-svg.js"></script>
{%- endblock -%}
{%- block html_head_css -%}
<style>
.reveal .slides section section { max-height: 100%; overflow-y: auto; }
.reveal .slides { text-align: left; }
.reveal h1, .reveal h2, .reveal h3 { text-transform: none; }
</style>
{%- endblock -%}
{%- block footer_js -%}
<script src="assets/reveal.js/dist/reveal.js"></script>
<script>Reveal.initialize({history: true, slideNumber: true, width: 1100, height: 760});</script>
</html>
{%- endblock -%}
"""


def fetch_assets(folder: Path) -> None:
    """Lay reveal.js and MathJax into a folder, each under its name, from npm."""
    for name, version in ASSETS.items():
        if (folder / name).exists():
            continue
        with tempfile.TemporaryDirectory() as place:
            command = ["npm", "pack", "--silent", f"{name}@{version}"]
            subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
            (archive,) = Path(place).glob("*.tgz")
            with tarfile.open(archive) as file:
                file.extractall(place, filter="data")
            folder.mkdir(parents=True, exist_ok=True)
            (Path(place) / "package").rename(folder / name)


def as_slides(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook whose cells say which begins a slide: each heading; the rest lies below."""
    guarded = False
    for cell in notebook.cells:
        kind = "slide" if cell.source.startswith(("# ", "## ", "### ")) else "subslide"
        if cell.cell_type == "code":
            # The first code cell installs the package where it is missing, and shows nothing.
            kind, guarded = ("subslide" if guarded else "skip"), True
        cell.metadata["slideshow"] = {"slide_type": kind}
    return notebook


def page(path: Path) -> str:
    """Return the slides of a chapter as a page, whose scripts lie in ``assets`` beside it."""
    exporter = SlidesExporter(
        raw_template=TEMPLATE,
        reveal_url_prefix="assets/reveal.js",
        reveal_theme="white",  # its fonts come with it
    )
    notebook = as_slides(student_notebook(read_notebook(path), ""))
    body, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": path.stem}})
    return body


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the slides. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m evalkit.course.slides", description="Make slides of the chapters."
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="NN_name", help="all if none is named")
    options = parser.parse_args(arguments)
    fetch_assets(options.out / "assets")
    for name in options.names or [path.stem for path in sorted(FOLDER.glob("[0-9][0-9]_*.ipynb"))]:
        path = FOLDER / f"{Path(name).stem}.ipynb"
        if not path.exists():
            parser.error(f"there is no chapter {name}")
        (options.out / f"{path.stem}.html").write_text(page(path), encoding="utf-8")
    print(f"{options.out}: open a page in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
