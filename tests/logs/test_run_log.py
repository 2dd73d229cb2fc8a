"""Logs of the runner: one row a trial, retries counted, and what was not run seen."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalkit import counts, trials_table
from evalkit.logs import LogError
from evalkit.logs.run_log import read_run_log
from evalkit.runner import Harness, Outcome, Setup, run_suite


def play(opened: Any, task: str, rng: np.random.Generator) -> Outcome:
    if rng.random() < 0.4:
        raise TimeoutError
    return Outcome("pass" if rng.random() < 0.5 else "fail", steps=2)


def test_a_log_gives_the_trials_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    setup = Setup("agent-1", ["a", "b", "c"], trials=4, retries=1)
    made = run_suite(setup, Harness(lambda task, seed: nullcontext(), play), path)
    found = read_run_log(path)
    assert len(found) == 12
    assert found["attempts"].sum() == len(made)
    assert found["infra"].any()
    assert set(found["file"]) == {"run.jsonl"}
    judged = made[~made["infra"]].groupby("task")["success"].sum()
    tally = counts(trials_table(found, infra="infra"))
    assert tally.set_index("task")["c"].to_dict() == judged.to_dict()
    assert tally["planned"].tolist() == [4, 4, 4]


def test_a_trial_that_a_cut_off_run_did_not_reach_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    setup = Setup("agent-1", ["a", "b"], trials=2, retries=9)
    run_suite(setup, Harness(lambda task, seed: nullcontext(), play), path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b'"b", "trial": 1' not in line))
    assert read_run_log(path)["tag"].tolist()[-1] == "not run"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "there is no attempt"),
        ('{"task": "a"}\n{"task": "b"}\n', "line 1: is no attempt"),
        ('{"task": "a", "trial": "x", "attempt": 0, "tag": "t"}\n', "of the wrong type"),
        ('{"task": "a", "trial": 0, "attempt": 0, "tag": "t", "cost": "x"}\n', "wrong type"),
    ],
)
def test_what_is_no_log_of_a_run_is_refused(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(LogError, match=rf"run\.jsonl.*{says}"):
        read_run_log(path)


def test_an_attempt_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    row = {"task": "a", "trial": 0, "attempt": 0, "tag": "agent success"}
    path.write_text((json.dumps(row) + "\n") * 2)
    with pytest.raises(LogError, match=r"run\.jsonl, line 2: .*twice"):
        read_run_log(path)


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="nowhere"):
        read_run_log(tmp_path / "nowhere")


def test_a_trial_far_beyond_the_attempts_is_refused_and_no_row_is_made_of_each_before(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.jsonl"
    row = {"task": "a", "trial": 10**9, "attempt": 0, "tag": "agent success"}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(LogError, match=r"run\.jsonl: holds trial 1000000000, and no more than 1"):
        read_run_log(path)
