"""The panel of chapter 00."""

from __future__ import annotations

import pytest

from evalkit.course.figures import new_figure
from evalkit.course.plots.chapter_00 import asked_again, asked_again_panel


def test_asked_again_gives_both_probabilities() -> None:
    row = asked_again(new_figure(), success=0.5, times=2).table.iloc[0]
    assert (row["every time"], row["at least once"]) == ("25.0%", "75.0%")


@pytest.mark.parametrize(
    ("success", "times", "printed"),
    [
        (0.9, 8, "over 99.9%"),
        (0.95, 16, "over 99.9%"),
        (1.0, 8, "100.0%"),
        (0.9, 2, "99.0%"),
    ],
)
def test_nearly_certain_is_not_printed_as_certain(success: float, times: int, printed: str) -> None:
    assert asked_again(new_figure(), success, times).table["at least once"][0] == printed


def test_the_panel_states_its_finding() -> None:
    assert asked_again_panel().view.finding == (
        "Asked 8 times, an agent that succeeds 90% of the time "
        "succeeds every time with probability 43.0%."
    )


def test_nearly_never_is_not_printed_as_never() -> None:
    assert asked_again(new_figure(), 0.5, 16).table["every time"][0] == "under 0.1%"


def test_once_is_not_one_times() -> None:
    assert asked_again(new_figure(), 0.5, 1).finding.startswith("Asked once, an agent")
