"""The style of the figures, and how a captioned figure is shown."""

from __future__ import annotations

import base64
import re

import pytest
from matplotlib.figure import Figure

from evalkit.course.figures import (
    COLOURS,
    Captioned,
    captioned,
    label,
    legible,
    luminance,
    new_axes,
    new_figure,
)


def drawn() -> Figure:
    figure = new_figure(400, 240)
    axes = new_axes(figure, x="steps", y="success")
    axes.plot([1, 2, 3], [1, 0.5, 0.2], color=COLOURS["careful"])
    label(axes, 3, 0.2, "Careful", COLOURS["careful"])
    return figure


def shown() -> Captioned:
    return captioned(drawn(), "Success <falls> with length.", 'A curve that falls "fast".')


def png(page: str) -> bytes:
    found = re.search(r'src="data:image/png;base64,([^"]+)"', page)
    assert found
    return base64.b64decode(found[1])


def test_one_meaning_has_one_colour() -> None:
    assert len(set(COLOURS.values())) == len(COLOURS)


@pytest.mark.parametrize("colour", COLOURS.values())
def test_labels_are_dark_enough_to_read(colour: str) -> None:
    assert 1.05 / (luminance(legible(colour)) + 0.05) >= 4.5


def test_the_colours_too_light_to_stand_alone_are_known() -> None:
    # What is drawn in one of these has a label beside it, or a shape or dashes of its own.
    light = {name for name, c in COLOURS.items() if 1.05 / (luminance(c) + 0.05) < 3}
    assert light == {"note", "infra"}


def test_a_figure_has_fixed_pixels_and_alternative_text() -> None:
    page = shown()._repr_html_()
    assert 'width="400" height="240"' in page
    assert 'alt="A curve that falls &quot;fast&quot;."' in page
    assert "<figcaption" in page
    assert "Success &lt;falls&gt; with length." in page


def test_a_reader_without_pictures_reads_the_finding() -> None:
    assert repr(shown()) == 'Figure: Success <falls> with length.\n[A curve that falls "fast".]'


def test_the_same_figure_gives_the_same_bytes() -> None:
    assert shown()._repr_html_() == shown()._repr_html_()
    assert b"matplotlib" not in png(shown()._repr_html_()).lower()


def test_the_paper_is_opaque() -> None:
    figure = drawn()
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(("caption", "alt"), [("", "A curve."), ("It falls.", " ")])
def test_a_figure_without_words_is_refused(caption: str, alt: str) -> None:
    with pytest.raises(ValueError, match="needs a caption"):
        captioned(drawn(), caption, alt)
