"""What the panel and the figures of chapter 01 say, as numbers and words."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from evalkit.course.figures import new_figure
from evalkit.course.panels import View
from evalkit.course.plots import chapter_01 as plots
from evalkit.simulate import SCENARIO
from evalkit.simulate.agents import AGGRESSIVE, CAREFUL
from evalkit.simulate.expected import break_even_write
from evalkit.simulate.scoreboards import simulate

RATES = (AGGRESSIVE.edit, AGGRESSIVE.write, AGGRESSIVE.claim_unfinished)


def view(edit: float, write: float, claim: float) -> View:
    return plots.draw_flip(new_figure(), edit, write, claim)


def test_at_the_default_three_scoreboards_rank_aggressive_first_and_the_full_diff_careful() -> None:
    table = view(*RATES).table
    assert list(table["comes first"]) == ["Aggressive"] * 3 + ["Careful"]
    assert list(table["Aggressive leads by"]) == ["+23.9", "+7.0", "+20.1", "-3.2"]


def test_the_ranking_flips_at_the_write_rate_that_the_finding_names() -> None:
    flip = break_even_write(RATES[0], CAREFUL.edit, CAREFUL.write)
    assert f"{flip:.1%}" in view(*RATES).finding
    for write, first in ((flip - 0.002, "Aggressive"), (flip + 0.002, "Careful")):
        moved = view(RATES[0], write, RATES[2])
        assert moved.table["comes first"].iloc[-1] == first
        assert f"the full diff ranks {first} first" in moved.finding


def test_the_willingness_to_claim_moves_the_own_report_and_nothing_else() -> None:
    meek, bold = (view(RATES[0], RATES[1], claim).table for claim in (0.0, 1.0))
    assert list(meek["Aggressive"] == bold["Aggressive"]) == [False, True, True, True]


def test_equal_agents_are_level_on_all_four() -> None:
    shown = view(CAREFUL.edit, CAREFUL.write, CAREFUL.claim_unfinished)
    assert set(shown.table["comes first"]) == {"level"}
    assert set(shown.table["Aggressive leads by"]) == {"+0.0"}
    assert "the full diff has the two level" in shown.finding


def test_an_editor_too_poor_to_lead_is_said_to_be_one() -> None:
    assert "could not lead there even without a single" in view(0.8, 0.0, 0.33).finding


@pytest.mark.parametrize("edit", [0.78, 1.0])
@pytest.mark.parametrize("write", [0.0, 0.12])
def test_every_corner_of_the_panel_draws(edit: float, write: float) -> None:
    assert len(view(edit, write, 0.0).table) == 4


def test_shares_of_credit_add_up_and_name_values_that_never_occurred() -> None:
    scores = simulate(AGGRESSIVE, SCENARIO, np.random.default_rng(1), 2_000)
    shares = plots.credit_shares(scores)
    assert len(shares) == len(SCENARIO.edits) + 1
    assert shares.to_numpy().sum() == pytest.approx(100)
    assert shares["clean"].iloc[-1] == pytest.approx(100 * scores["full diff"].mean())
    perfect = pd.DataFrame({"partial credit": [1.0, 1.0], "collateral": [0.0, 0.0]})
    assert plots.credit_shares(perfect)["with collateral"].tolist() == [0.0] * len(shares)


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Each text of a picture, and where it stands."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts]


@pytest.mark.parametrize(
    ("edit", "write", "claim"),
    [
        (0.78, 0.0, 0.0),
        (0.86, 0.004, 0.1),
        (0.97, 0.05, 0.33),
        (1.0, 0.0, 1.0),
        (1.0, 0.12, 0.0),
        RATES,
    ],
)
def test_no_words_of_the_panel_stand_on_others(edit: float, write: float, claim: float) -> None:
    figure = new_figure(height=500)
    plots.draw_flip(figure, edit, write, claim)
    found = boxes(figure)
    assert [(a, b) for (a, x), (b, y) in combinations(found, 2) if x.overlaps(y)] == []
