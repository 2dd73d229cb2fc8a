"""A hundred inputs on each target; the command in `__main__` runs as many as one likes."""

from pathlib import Path

import pytest
from hypothesis import strategies as st

from evalkit.logs.formats import FORMATS
from tests.fuzz.rounds import run_round
from tests.fuzz.targets import LOGS, TARGETS, Target


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_comes_in_there_is_an_answer_or_a_documented_error(name: str) -> None:
    tally, finding = run_round(TARGETS[name], 100, number=1)
    assert finding == ""
    assert tally.refused < tally.inputs  # or the inputs are nonsense, and reach nothing


def test_every_reader_of_logs_is_a_target() -> None:
    assert set(LOGS) == set(FORMATS) - {"inspect"}


def test_an_undocumented_error_is_found_with_its_smallest_input() -> None:
    def fail(value: int, folder: Path) -> None:
        if value > 7:
            raise KeyError(value)

    tally, finding = run_round(Target(st.integers(0, 1000), fail, (ValueError,)), 100, number=1)
    assert "KeyError: 8" in finding
    assert tally.refused == 0
