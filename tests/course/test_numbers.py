"""The registry of the note's numbers: how it judges agreement, and that it quotes the note right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit.course import numbers as registry
from evalkit.course.numbers import Estimate, Number, agreement, mean, numbers, table
from evalkit.course.numbers.__main__ import main

NOTE = Path(__file__).parents[3] / "shared" / "note" / "numbers.csv"
the_note = pytest.mark.skipif(not NOTE.exists(), reason="the note's numbers are not in ../shared")


def number(note: float, digits: int = 1, kind: str = "simulated", relation: str = "=") -> Number:
    return Number("x", "s", "01", "q", note, "percent", digits, kind, lambda: note, relation)  # type: ignore[arg-type]


@the_note
def test_the_notes_values_are_quoted_as_it_prints_them() -> None:
    note = pd.read_csv(NOTE, index_col="id")
    for ours in numbers():
        theirs = note.loc[ours.id]
        assert ours.note == float(theirs["value"]), ours.id
        assert (ours.section, ours.unit) == (theirs["section"], theirs["unit"]), ours.id
        assert (ours.digits, ours.kind) == (theirs["printed_digits"], theirs["kind"]), ours.id


@the_note
def test_a_section_that_is_begun_is_complete() -> None:
    note = pd.read_csv(NOTE)
    begun = {ours.section for ours in numbers()}
    expected = set(note.loc[note["section"].isin(begun), "id"])
    assert {ours.id for ours in numbers()} == expected


def test_ids_are_unique() -> None:
    ids = [ours.id for ours in numbers()]
    assert len(set(ids)) == len(ids)


def test_every_number_agrees_with_the_note() -> None:
    rows = table()
    assert list(rows.loc[rows["agrees"] != "yes", "id"]) == []


@pytest.mark.parametrize(("ours", "agrees"), [(81.75, True), (81.849, True), (81.86, False)])
def test_a_closed_form_must_be_equal_as_printed(ours: float, agrees: bool) -> None:
    assert agreement(number(81.8, kind="closed form"), Estimate(ours))[0] is agrees


def test_an_input_must_be_the_same_and_not_only_printed_alike() -> None:
    assert agreement(number(0.4, kind="input"), Estimate(100 * 0.004)) == (True, "equal")
    assert not agreement(number(0.4, kind="input"), Estimate(0.44))[0]


def test_above_means_above() -> None:
    above = number(99.9, kind="closed form", relation=">")
    assert agreement(above, Estimate(99.99)) == (True, "above")
    assert agreement(above, Estimate(99.9)) == (False, "above")


def test_a_simulated_number_may_lie_three_standard_errors_away() -> None:
    # Both runs' chance: the standard error of the difference is hypot(3, 4) = 5.
    near, far = Estimate(65.0, 3.0, note_error=4.0), Estimate(65.1, 3.0, note_error=4.0)
    assert agreement(number(50.0), near) == (True, "3.0 standard errors apart")
    assert not agreement(number(50.0), far)[0]


def test_the_note_is_taken_to_have_drawn_as_much_as_we_unless_told() -> None:
    assert agreement(number(50.0), Estimate(54.2, 1.0))[0]
    assert not agreement(number(50.0), Estimate(54.2, 1.0, note_error=0.0))[0]


def test_the_notes_rounding_is_allowed_for() -> None:
    assert agreement(number(7.0, digits=0), Estimate(6.5, 1e-9))[0]
    assert not agreement(number(7.0, digits=0), Estimate(6.4, 1e-9))[0]


def test_a_count_that_chance_cannot_have_moved_must_be_equal() -> None:
    assert not agreement(number(3, digits=0), Estimate(2))[0]


def test_a_redrawn_number_is_ranked_among_the_redraws() -> None:
    redraws = np.arange(1000)
    assert agreement(number(250), Estimate(500, redraws=redraws)) == (
        True,
        "percentile 25 of redraws",
    )
    assert not agreement(number(999.5), Estimate(500, redraws=redraws))[0]
    assert not agreement(number(-1), Estimate(500, redraws=redraws))[0]


def test_ours_must_be_one_of_the_redraws_as_well() -> None:
    redraws = np.arange(1000)
    assert not agreement(number(250), Estimate(1001, redraws=redraws))[0]
    assert not agreement(number(250), Estimate(-1, redraws=redraws))[0]


def test_a_mean_carries_its_standard_error() -> None:
    draws = np.random.default_rng(7).random(400)
    ours = mean(draws, scale=100)
    assert ours.value == pytest.approx(100 * draws.mean())
    assert ours.error == pytest.approx(100 * draws.std(ddof=1) / 20)


def test_the_command_ends_with_status_1_if_a_number_disagrees(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = number(1.0, kind="input")
    wrong = replace(right, ours=lambda: 3.0)
    monkeypatch.setattr(registry, "numbers", lambda: (right,))
    assert main() == 0
    monkeypatch.setattr(registry, "numbers", lambda: (right, wrong))
    assert main() == 1
    assert "2 numbers, 1 agree" in capsys.readouterr().out
