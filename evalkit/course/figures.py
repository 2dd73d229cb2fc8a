"""The style of every figure: one colour a meaning, direct labels, a caption that states the finding.

The plots themselves are in ``evalkit/course/plots/``, one file a chapter. ::

    figure = new_figure()
    axes = new_axes(figure, x="steps", y="success")
    axes.plot(n, p, color=COLOURS["careful"])
    label(axes, n[-1], p[-1], "Careful", COLOURS["careful"])
    captioned(figure, caption="Careful stays above 90% up to 5 steps.", alt="A falling curve ...")
"""

from __future__ import annotations

import base64
import html
import io
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import ArrayLike

# Okabe and Ito's palette, which readers with any colour vision can tell apart.
# One meaning keeps one colour through all chapters.
COLOURS = {
    "careful": "#0072B2",  # blue
    "aggressive": "#D55E00",  # vermilion
    "pass_hat": "#009E73",  # bluish green
    "pass_at": "#CC79A7",  # reddish purple
    "note": "#E69F00",  # orange
    "infra": "#56B4E9",  # sky blue
    "truth": "#000000",
    "failure": "#595959",  # dark grey: too few hues are left that stay legible on white
    "neutral": "#8C8C8C",
}
INK = "#222222"
PAPER = "#FFFFFF"
SCALE = 1.5  # stored pixels for each pixel on the page, so that text stays sharp


def new_figure(width: int = 640, height: int = 360) -> Figure:
    """Return an empty figure on opaque paper, so that both themes show it the same.

    Parameters
    ----------
    width, height : int
        Size on the page, in pixels.
    """
    return Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=PAPER)


def new_axes(figure: Figure, x: str, y: str, position: tuple[int, int, int] = (1, 1, 1)) -> Axes:
    """Return new labelled axes in the style of the collection.

    Parameters
    ----------
    figure : Figure
        From `new_figure`.
    x, y : str
        Axis labels with their units.
    position : tuple of int
        Rows, columns and index, as `Figure.add_subplot` takes them.
    """
    axes = figure.add_subplot(*position)
    figure.subplots_adjust(left=0.11, right=0.97, top=0.94, bottom=0.15, wspace=0.3, hspace=0.4)
    axes.set_xlabel(x, color=INK, fontsize=10)
    axes.set_ylabel(y, color=INK, fontsize=10)
    axes.tick_params(colors=INK, labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#E5E5E5", linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def label(axes: Axes, x: float, y: float, text: str, colour: str = INK, **style: Any) -> Text:
    """Return a label written into the plot, in place of a legend, dark enough to read."""
    defaults: dict[str, Any] = {"fontsize": 10, "va": "center"}
    return axes.text(x, y, text, color=legible(colour), **{**defaults, **style})


def mark(axes: Axes, x: ArrayLike, y: ArrayLike, passed: bool, wrong: bool = False) -> None:
    """Draw verdicts: a ring for a pass, a cross for a fail, a box around those that are wrong."""
    edge = COLOURS["neutral"] if passed else COLOURS["truth"]
    face, shape, size = ("none", "o", 60) if passed else (edge, "X", 80)
    axes.scatter(x, y, marker=shape, s=size, facecolor=face, edgecolor=edge, linewidth=1.5)
    if wrong:
        box = COLOURS["failure"]
        axes.scatter(x, y, marker="s", s=260, facecolor="none", edgecolor=box, linewidth=2.5)


def legible(colour: str) -> str:
    """Return the colour, darkened until text in it has a contrast of 4.5 to 1 on white.

    References
    ----------
    W3C, Web Content Accessibility Guidelines 2.1 (2018), contrast ratio.

    Examples
    --------
    >>> legible("#0072B2"), legible("#E69F00")
    ('#0072b2', '#9b6b00')
    """
    red, green, blue = to_rgb(colour)
    while 1.05 / (luminance(to_hex((red, green, blue))) + 0.05) < 4.5:
        red, green, blue = 0.97 * red, 0.97 * green, 0.97 * blue
    return to_hex((red, green, blue))


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour: 0 for black, 1 for white.

    Examples
    --------
    >>> luminance("#000000"), round(luminance("#FFFFFF"), 6)
    (0.0, 1.0)
    """
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def percent(p: float) -> str:
    """Return a probability in per cent, never "100%" or "0%" for what is only nearly so.

    Examples
    --------
    >>> percent(0.2003), percent(1 - 1e-6), percent(1e-9), percent(1.0)
    ('20.0%', 'over 99.9%', 'under 0.1%', '100.0%')
    """
    if 0.999 < p < 1:
        return "over 99.9%"
    return "under 0.1%" if 0 < p < 0.001 else f"{p:.1%}"


def picture(figure: Figure, alt: str) -> str:
    """Return a figure as an HTML image of fixed size with its alternative text.

    The same figure gives the same text: nothing in it tells the time or a version.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100 * SCALE, metadata={"Software": None})
    width, height = (round(100 * inches) for inches in figure.get_size_inches())
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<img alt="{html.escape(alt)}" width="{width}" height="{height}" '
        f'src="data:image/png;base64,{data}">'
    )


@dataclass(frozen=True, repr=False)
class Captioned:
    """A figure with its caption, shown in Jupyter, on a static page, or as text."""

    image: str
    caption: str
    alt: str

    def _repr_html_(self) -> str:
        """Return the image with the caption below it."""
        caption = f'<figcaption style="max-width: 640px;">{html.escape(self.caption)}</figcaption>'
        return f'<figure style="margin: 0;">{self.image}{caption}</figure>'

    def __repr__(self) -> str:
        """Return what the figure shows in words, for readers without the picture."""
        return f"Figure: {self.caption}\n[{self.alt}]"


def captioned(figure: Figure, caption: str, alt: str) -> Captioned:
    """Return a figure for display.

    Parameters
    ----------
    figure : Figure
        From `new_figure`, drawn.
    caption : str
        The finding, in a sentence.
    alt : str
        What is to be seen, for a reader who cannot see it.

    Raises
    ------
    ValueError
        If the caption or the alternative text is empty.
    """
    if not caption.strip() or not alt.strip():
        raise ValueError("a figure needs a caption that states the finding, and alternative text")
    return Captioned(picture(figure, alt), caption, alt)
