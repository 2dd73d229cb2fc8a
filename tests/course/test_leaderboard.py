"""Published pass^1 to pass^n turned back into counts: by hand, and back from any histogram."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import estimate
from evalkit.course.leaderboard import counts_of, histograms

some_histogram = st.lists(st.integers(0, 12), min_size=2, max_size=6).filter(sum)


def published(histogram: list[int], decimals: int) -> list[float]:
    """The row that a leaderboard would print for this histogram."""
    counts = counts_of(histogram)
    return [round(100 * estimate(counts, k).value, decimals) for k in range(1, len(histogram))]


@given(some_histogram, st.integers(0, 15))
def test_what_was_published_leads_back_to_the_counts_it_came_from(
    histogram: list[int], decimals: int
) -> None:
    row, tasks = published(histogram, decimals), sum(histogram)
    found = histograms(row, tasks, decimals)
    assert tuple(histogram) in found
    for other in found:
        again = published(list(other), 15)
        assert again == pytest.approx(row, abs=0.5 * 10**-decimals + 1e-9)


@given(some_histogram)
def test_with_all_digits_there_is_one_answer(histogram: list[int]) -> None:
    assert histograms(published(histogram, 9), sum(histogram), 9) == [tuple(histogram)]


def test_coarse_rounding_leaves_several_answers() -> None:
    assert histograms([50], tasks=300, decimals=0) == [(151, 149), (150, 150), (149, 151)]


def test_a_row_that_no_suite_gives_has_no_answer() -> None:
    assert histograms([9.79, 7.22, 5.67, 3.09], tasks=97, decimals=2) == []  # no convex curve
    assert histograms([33.0], tasks=50, decimals=1) == []  # no whole number of tasks
    assert histograms([90.0, 50.0], tasks=10, decimals=1) == []  # 13 tasks of 10


@pytest.mark.parametrize("wrong", [[], [101.0], [50.0, -1.0], [float("nan")]])
def test_what_is_no_percentage_is_refused(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="published must be percentages"):
        histograms(wrong, tasks=10, decimals=1)


def test_a_suite_without_tasks_is_refused() -> None:
    with pytest.raises(ValueError, match="tasks must be 1 or more; it is 0"):
        histograms([50.0], tasks=0, decimals=1)


def test_counts_hold_each_task_once() -> None:
    counts = counts_of((14, 12, 10, 4, 10))
    assert [round(estimate(counts, k).value, 3) for k in (1, 2, 3, 4)] == [0.42, 0.273, 0.22, 0.2]
