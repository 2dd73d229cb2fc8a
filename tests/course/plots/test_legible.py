"""Every panel's picture: its words are dark enough, and its colours never stand alone."""

from __future__ import annotations

import importlib
import re

import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from evalkit.course.figures import luminance
from evalkit.course.notebooks import pair_names, script_path
from evalkit.course.panels import Panel


def panels(name: str) -> list[Panel]:
    script = script_path(name).read_text(encoding="utf-8")
    plots = importlib.import_module(f"evalkit.course.plots.chapter_{name[:2]}")
    return [getattr(plots, made)() for made in re.findall(r"(\w+_panel)\(\)$", script, re.M)]


def contrast(one: str, other: str = "#FFFFFF") -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", pair_names())
def test_the_words_of_a_panel_are_legible(name: str) -> None:
    for panel in panels(name):
        words = [t for t in panel.figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
        faint = {
            (word.get_text(), to_hex(word.get_color()))
            for word in words
            if contrast(to_hex(word.get_color())) < 4.5
        }
        assert faint == set()
