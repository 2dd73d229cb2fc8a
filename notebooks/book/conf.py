"""How Sphinx makes the book. `evalkit.course.book` calls it; its docstring gives the command.

A page loads nothing from another host: the theme brings its fonts and icons, and formulas are
MathML, which browsers draw without a script.
"""

import os
import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

from evalkit.course.chapters import CHAPTERS

logger = logging.getLogger(__name__)

project = "evalkit"
html_title = "Evaluating tool-using agents"
extensions = ["myst_nb"]
exclude_patterns = ["README.md", "_templates"]

# The chapters as they are stored: their outputs are shown, and nothing is executed.
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # exercises hold formulas and folded solutions
myst_enable_extensions = ["dollarmath", "substitution"]
myst_heading_anchors = 3


def chapter_table(folder: str) -> str:
    """Return the map: each chapter that is there, linked, with what it teaches."""
    there = [name for name in CHAPTERS if os.path.exists(f"{folder}/{name}.ipynb")]
    rows = [f"| [](<{name}.ipynb>) | {CHAPTERS[name]} |" for name in there]
    return "\n".join(["| chapter | teaches |", "| --- | --- |", *rows])


myst_substitutions = {"map": chapter_table(os.path.dirname(__file__))}

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["book.css", "live.css"]
html_js_files = [("live.js", {"type": "module"})]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_sidebars = {"**": ["chapters"], "index": [], "search": []}
html_favicon = "_static/favicon.svg"
html_theme_options = {
    "logo": {"text": html_title},
    "navbar_center": [],
    "article_header_end": ["browser-edition"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "search": []},
    "search_bar_text": "Search the chapters",
    "show_toc_level": 2,
    "footer_start": ["licence"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}


def visit_inline_formula(writer, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    writer.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_formula(writer, node: nodes.math_block) -> None:
    """Write a formula that stands by itself; it scrolls where the page is narrow."""
    writer.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node: nodes.Element, as_block: bool) -> str:
    """Return a formula as MathML; one that cannot be read is a warning, which stops the build."""
    # Two commands that the converter does not know: the size of a single sign, and dots.
    text = re.sub(r"\\[bB]igg?(?![a-zA-Z])", "", node.astext())
    text = re.sub(r"\\dots(?![a-zA-Z])", r"\\ldots", text)
    try:
        # A bar over a whole term is drawn by the style sheet: few fonts can stretch one.
        return tex2mathml(text, as_block=as_block).replace(
            '<mo accent="true">_</mo>', '<mo accent="true" class="overline">¯</mo>'
        )
    except ValueError as error:
        logger.warning("the formula %r: %s", text, error, location=node)
        return ""


def setup(app: Sphinx) -> None:
    """Tell Sphinx how formulas are written."""
    app.add_html_math_renderer("mathml", (visit_inline_formula, None), (visit_formula, None))


html_math_renderer = "mathml"
