"""Chapter 14: every number of the note, and how far it lies from ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, INK, label, new_axes
from evalkit.course.numbers import STANDARD_ERRORS, Number, computed, standard_errors_apart


def differences(numbers: Sequence[Number]) -> list[float]:
    """How far each of the note's figures lies above ours, in standard errors."""
    return [standard_errors_apart(number, computed(number)) for number in numbers]


def draw_differences(figure: Figure, numbers: Sequence[Number], apart: Sequence[float]) -> None:
    """One mark a number, by chapter: a bar for what must be equal, a dot where chance had a part."""
    axes = new_axes(figure, x="standard errors by which the note's figure lies above ours", y="")
    figure.subplots_adjust(left=0.3, right=0.97, top=0.98, bottom=0.07)
    chance = np.array([number.kind == "simulated" for number in numbers])
    rows = np.arange(len(numbers))
    for which, marker, colour in ((chance, "o", "note"), (~chance, "|", "neutral")):
        axes.plot(np.asarray(apart)[which], rows[which], marker, color=COLOURS[colour], ms=7, mew=2)
    axes.axvspan(-STANDARD_ERRORS, STANDARD_ERRORS, color="#F2F2F2", zorder=0)
    axes.set_yticks(rows, [f"{n.chapter}  {n.id}" for n in numbers], fontsize=7)
    axes.set_xlim(-4, 5)
    axes.set_ylim(len(numbers) - 0.4, -0.6)
    axes.tick_params(axis="y", colors=INK, length=0)
    label(axes, 3.1, 0.2, "a disagreement\nwould lie here", fontsize=8, va="top")
