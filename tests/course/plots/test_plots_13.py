"""The panel and the figures of chapter 13."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from evalkit.course.figures import new_figure
from evalkit.course.plots.chapter_13 import (
    ANY,
    COUNTED,
    TAGGED,
    TASKS,
    TRUE,
    card_of,
    card_panel,
    draw_card,
    draw_curves,
    draw_trials,
    trials_of,
)
from evalkit.estimates import estimate
from evalkit.infra import AGENT_FAILURE, SUCCESS, measured_pass_hat_k
from evalkit.report import Evidence, report_card
from tests.course.plots import extent

WAYS = (TAGGED, COUNTED, ANY)


def texts(figure: object) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]


def test_the_panel_opens_on_tagged_retries_with_the_truth_in_its_interval() -> None:
    view = card_panel().view
    assert "its interval holds the truth" in view.finding
    assert view.table["it says"].tolist()[-2:] == ["met", "met"]


@pytest.mark.parametrize(
    ("control", "value"),
    [("flake", 0.2), ("retries", 0), ("trials", 12), ("k", 3), ("way", COUNTED), ("way", ANY)],
)
def test_each_control_changes_picture_finding_and_table(control: str, value: object) -> None:
    panel = card_panel()
    panel.controls["flake"].value = 0.3  # so many that a retry less leaves trials missing
    before = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    panel.controls[control].value = value
    after = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("trials", "k"), [(8, 8), (16, 3), (4, 8), (1, 1), (8, 1)])
@pytest.mark.parametrize("retries", [0, 3])
def test_it_says_what_a_real_report_card_says(way: str, trials: int, k: int, retries: int) -> None:
    rows = trials_of(0.2, retries, trials, way)
    curve, enough, dealt_with = card_of(rows, k, way)
    told = Evidence(retries=retries if way == TAGGED else None)
    card = report_card(rows, k=len(curve), evidence=told)
    assert tuple(curve) == tuple(
        estimate(card.tasks.drop(columns="task"), point.k, min_trials=len(curve))
        for point in card.curve
    )
    assert [point.value for point in curve] == [point.value for point in card.curve]
    status = {check.name: check.status for check in card.checklist}
    if len(curve) == k:
        assert enough == status["trials"]
    assert dealt_with == status["infra"]


@pytest.mark.parametrize("way", WAYS)
def test_the_three_ways_measure_what_the_formula_says(way: str) -> None:
    passed = trials_of(0.2, 3, 16, way)["success"].fillna(0).to_numpy().reshape(TASKS, -1)
    mistaken = 1.0 if way == ANY else 0.0
    expected = measured_pass_hat_k(TRUE, 0.2, 1, 0 if way == COUNTED else 3, mistaken=mistaken)
    error = np.sqrt((expected * (1 - expected) / 16).sum()) / TASKS
    assert abs(passed.mean() - expected.mean()) < 4 * error


def test_without_flakes_tagging_and_counting_are_the_same() -> None:
    tagged, counted = (trials_of(0, 3, 8, way) for way in (TAGGED, COUNTED))
    pd.testing.assert_frame_equal(tagged, counted)
    assert not tagged["infra"].any()


def test_an_infra_failure_is_missing_where_it_is_tagged_and_a_failure_where_it_counts() -> None:
    tagged, counted = (trials_of(0.3, 0, 8, way) for way in (TAGGED, COUNTED))
    assert tagged["success"].isna().equals(tagged["infra"])
    assert tagged["infra"].mean() == pytest.approx(0.3, abs=0.1)
    assert counted.loc[tagged["infra"], "success"].eq(0).all()
    others = ~tagged["infra"]
    assert counted.loc[others, "success"].equals(tagged.loc[others, "success"])


def test_what_k_cannot_be_had_the_finding_says_so() -> None:
    view = draw_card(new_figure(), 0.05, 3, trials=4, k=8, way=TAGGED)
    assert "The card ends at pass^4: no task has 8 valid trials." in view.finding
    assert view.table["it says"].iloc[-2] == "not met"


def test_any_failure_retried_looks_far_too_good() -> None:
    view = draw_card(new_figure(), 0.05, 3, trials=8, k=8, way=ANY)
    assert "its interval misses the truth" in view.finding
    assert view.table["it says"].iloc[-1] == "not stated"


def test_the_truth_is_drawn_where_it_is() -> None:
    figure = new_figure()
    draw_card(figure, 0.05, 3, trials=8, k=5, way=TAGGED)
    line = figure.axes[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), [100 * (TRUE**k).mean() for k in range(1, 6)])


def test_trials_are_drawn_by_how_they_ended_and_a_complete_row_is_marked() -> None:
    rows = [
        ("b", 0, SUCCESS, 1),
        ("b", 1, SUCCESS, 2),
        ("a", 0, SUCCESS, 1),
        ("a", 1, AGENT_FAILURE, 1),
    ]
    figure = new_figure()
    draw_trials(figure, pd.DataFrame(rows, columns=["task", "trial", "tag", "attempts"]))
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "a"]
    assert {"passed", "failed", "retried"} <= set(texts(figure))
    places = [c.get_offsets().tolist() for c in axes.collections]
    assert [[1, 0], [2, 0], [1, 1]] in places
    assert [[2, 1]] in places
    assert [[2.3, 0]] in places
    (green,) = axes.patches
    assert (extent(green).y0, extent(green).height) == (-0.5, 1)


def test_curves_carry_their_agents_names_and_bands() -> None:
    counts = {"n": [4, 4, 4], "c": [4, 2, 1]}
    curve = [estimate(counts, k) for k in (1, 2)]
    figure = new_figure()
    draw_curves(figure, {"steady": curve, "hasty": curve})
    assert {"steady", "hasty"} <= set(texts(figure))
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), [100 * p.value for p in curve])
