"""Laws of the runner: whatever ends an attempt, and wherever a run is cut off."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalkit.infra import (
    AGENT_FAILURE,
    CAUSES,
    INFRA_FAILURE,
    NOT_EVALUATED,
    SUCCESS,
    BudgetExhausted,
    EnvironmentFailure,
    classify,
    measured_pass_hat_k,
    outcome_tag,
    silent_bounds,
)
from evalkit.runlog import trial_rows
from evalkit.runner import Harness, Outcome, Setup, attempt_seed, run_suite

TASKS = ("a", "b", "ü/*")
ERRORS: list[Any] = [
    TimeoutError("slow"),
    ConnectionResetError(),
    EnvironmentFailure("gone"),
    503,
    429,
    "timeout",
    BudgetExhausted("9 steps"),
    "context window exceeded",
    KeyError("x"),
    400,
    "who knows",
]
outcomes = st.builds(
    Outcome,
    verdict=st.sampled_from(["pass", "fail", "not evaluated", None]),
    steps=st.sampled_from([None, 0, 1, 7]),
    error=st.none() | st.sampled_from(ERRORS),
)
shares = st.floats(0, 1)


@pytest.fixture(autouse=True, scope="module")
def silent() -> Any:
    before = os.environ.get("TQDM_DISABLE")
    os.environ["TQDM_DISABLE"] = "1"
    yield
    os.environ.pop("TQDM_DISABLE") if before is None else os.environ.update(TQDM_DISABLE=before)


def following_the_seed(ends: list[Outcome], raises: bool) -> Harness:
    """An attempt ends in the way that its seed picks; an error is returned, or raised."""

    def play(environment: Any, task: str, rng: np.random.Generator) -> Outcome:
        outcome = ends[int(rng.integers(len(ends)))]
        if raises and isinstance(outcome.error, Exception):
            raise outcome.error
        return outcome

    return Harness(lambda task, seed: nullcontext(), play)


@settings(deadline=None, max_examples=40)  # each one writes and reads files
@given(
    st.lists(outcomes, min_size=1, max_size=5),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 99),
    st.data(),
)
def test_only_infra_failures_are_run_again_and_a_run_cut_anywhere_ends_the_same(
    ends: list[Outcome], raises: bool, retries: int, seed: int, data: st.DataObject
) -> None:
    setup = Setup("x", TASKS, trials=2, retries=retries, seed=seed)
    harness = following_the_seed(ends, raises)
    with TemporaryDirectory() as folder:
        log = Path(folder) / "run.jsonl"
        run = run_suite(setup, harness, log)
        whole = log.read_bytes()
        log.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
        assert run_suite(setup, harness, log).equals(run)
        assert log.read_bytes() == whole

    assert list(run["infra"]) == list(run["tag"] == INFRA_FAILURE)
    for (task, trial), attempts in run.groupby(["task", "trial"]):
        assert list(attempts["attempt"]) == list(range(len(attempts)))
        assert attempts["infra"].iloc[:-1].all()  # nothing follows an agent failure
        assert not attempts["infra"].iloc[-1] or len(attempts) == retries + 1
        assert list(attempts["seed"]) == [
            attempt_seed(seed, task, int(trial), i) for i in range(len(attempts))
        ]

    table = trial_rows(run, TASKS, 2)
    last = run.drop_duplicates(["task", "trial"], keep="last")
    assert list(table["success"].dropna()) == list(last["success"].dropna())
    assert list(table["infra"]) == list(last["infra"])


@given(outcomes)
def test_a_success_is_a_pass_with_nothing_against_it(outcome: Outcome) -> None:
    tag, kind = outcome_tag(outcome.verdict, outcome.steps, outcome.error)
    assert tag in (SUCCESS, AGENT_FAILURE, INFRA_FAILURE, NOT_EVALUATED)
    clean = outcome.error is None and outcome.steps != 0
    assert (tag == SUCCESS) == (clean and outcome.verdict == "pass")
    assert (kind == "") == clean


@given(st.text() | st.integers() | st.sampled_from(ERRORS) | st.builds(Exception, st.text()))
def test_every_error_is_in_the_table_or_is_not_evaluated(error: Any) -> None:
    cause = classify(error)
    assert cause is None or cause in CAUSES
    assert (outcome_tag("pass", 3, error)[0] == NOT_EVALUATED) == (cause is None)


@given(shares, shares, st.integers(1, 9), st.integers(0, 4), shares, shares)
def test_retries_of_infra_failures_never_lift_a_score_above_the_truth(
    P: float, f: float, k: int, retries: int, missed: float, mistaken: float
) -> None:
    right = measured_pass_hat_k(P, f, k, retries, missed)
    assert right <= P**k + 1e-12
    wrong = measured_pass_hat_k(P, f, k, retries, missed, mistaken)
    assert right <= wrong + 1e-12 <= 1 + 2e-12


@example(0.0, 0.5, 5e-324, 1)
@given(shares, shares, shares, st.integers(1, 400))
def test_the_bounds_of_silence_are_bounds(
    value: float, rate: float, detectable: float, k: int
) -> None:
    low, high = silent_bounds(value, rate, detectable, k)
    assert low == value <= high <= 1
