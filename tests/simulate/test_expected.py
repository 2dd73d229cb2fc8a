"""The closed forms, against a sum over every way an episode can go."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from evalkit.simulate.expected import break_even_edit, break_even_write, expected, untouched


def by_enumeration(
    e: float, w: float, c: float, edits: int, actions: tuple[int, ...]
) -> list[float]:
    """Own report, partial credit, targets only, full diff, collateral, added up case by case."""
    total = np.zeros(5)
    for right in product((True, False), repeat=edits):
        for n in actions:
            for writes in product((True, False), repeat=n):
                chance = 1 / len(actions)
                for hit, rate in [*((x, e) for x in right), *((x, w) for x in writes)]:
                    chance *= rate if hit else 1 - rate
                done, stray = all(right), any(writes)
                total += chance * np.array(
                    [1 if done else c, np.mean(right), done, done and not stray, stray]
                )
    return total.tolist()


@pytest.mark.parametrize(
    ("e", "w", "c", "edits", "actions"),
    [(0.86, 0.004, 0.1, 4, (6, 7)), (0.93, 0.06, 0.33, 4, (6, 7)), (0.5, 0.3, 0.9, 2, (3,))],
)
def test_the_expected_scores_are_the_sum_over_all_cases(
    e: float, w: float, c: float, edits: int, actions: tuple[int, ...]
) -> None:
    ours = [float(value) for value in expected(e, w, c, edits, actions).values()]
    assert ours == pytest.approx(by_enumeration(e, w, c, edits, actions), abs=1e-12)


def test_the_expected_scores_broadcast() -> None:
    table = expected(np.array([[0.8], [0.9]]), np.array([0.0, 0.1, 1.0]), 0.5)
    assert all(value.shape == (2, 3) for value in table.values())
    assert table["full diff"][1].tolist() == pytest.approx([0.9**4, 0.9**4 * untouched(0.1), 0.0])


def test_at_the_break_even_edit_accuracy_the_full_diff_ranks_both_equal() -> None:
    write = np.linspace(0, 0.08, 9)
    edit = break_even_edit(write, 0.86, 0.004)
    rival = expected(0.86, 0.004, 0)["full diff"]
    assert np.isfinite(edit).all()
    assert expected(edit, write, 0)["full diff"] == pytest.approx(np.full(9, rival))
    assert (np.diff(edit) > 0).all()


def test_no_accuracy_makes_up_for_writing_everywhere() -> None:
    assert np.isnan(break_even_edit([0.2, 1.0], 0.86, 0.004)).all()


@pytest.mark.parametrize("edit", [0.86, 0.9, 0.93, 0.999])
def test_the_break_even_write_rate_undoes_the_break_even_edit_accuracy(edit: float) -> None:
    write = break_even_write(edit, 0.86, 0.004)
    assert float(break_even_edit(write, 0.86, 0.004)) == pytest.approx(edit)
    assert expected(edit, write + 0.01, 0)["full diff"] < expected(0.86, 0.004, 0)["full diff"]


def test_an_agent_behind_without_any_writes_has_no_break_even_rate() -> None:
    assert np.isnan(break_even_write(0.5, 0.86, 0.004))


def test_equal_agents_break_even_at_their_own_rate_of_zero() -> None:
    assert break_even_write(0.9, 0.9, 0.0) == 0
