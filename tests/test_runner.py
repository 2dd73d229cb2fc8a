"""Running a suite: what is run again, what is recorded, and going on after a crash."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tenacity import wait_fixed

from evalkit.forms import digest
from evalkit.infra import AGENT_FAILURE, INFRA_FAILURE, BudgetExhausted, Cause
from evalkit.runlog import RunError, read_log
from evalkit.runner import (
    Harness,
    Outcome,
    Setup,
    attempt_seed,
    run_episode,
    run_suite,
)

Step = Outcome | BaseException


def scripted(*steps: Step) -> Harness:
    """A harness whose attempts, in the order in which they are made, end as written."""
    left = iter(steps)

    def play(environment: Any, task: str, rng: np.random.Generator) -> Outcome:
        step = next(left)
        if isinstance(step, Outcome):
            return step
        raise step

    return Harness(lambda task, seed: nullcontext(), play)


PASS, FAIL, FLAKE = Outcome("pass", 5), Outcome("fail", 5), TimeoutError("slow")
ONE = Setup("agent", ["a"], trials=1)


def tags(harness: Harness, setup: Setup = ONE) -> list[str]:
    return list(run_suite(setup, harness)["tag"])


def test_infra_failures_are_run_again_and_nothing_else_is() -> None:
    assert tags(scripted(FLAKE, FLAKE, PASS)) == ["infra failure"] * 2 + ["agent success"]
    assert tags(scripted(FLAKE, FAIL)) == ["infra failure", "agent failure"]
    assert tags(scripted(FAIL)) == ["agent failure"]
    assert tags(scripted(Outcome("not evaluated", 5))) == ["not evaluated"]


def test_retries_stop_at_the_limit_and_the_last_infra_failure_stands() -> None:
    assert tags(scripted(*[FLAKE] * 4)) == ["infra failure"] * 4
    assert tags(scripted(FLAKE), Setup("agent", ["a"], 1, retries=0)) == ["infra failure"]


@pytest.mark.parametrize(
    ("error", "tag", "kind"),
    [
        (RuntimeError("context window exceeded"), "agent failure", "context overflow"),
        (BudgetExhausted("50 steps"), "agent failure", "budget exhausted"),
        (ZeroDivisionError("x"), "not evaluated", "unknown: ZeroDivisionError"),
    ],
)
def test_a_full_context_a_spent_budget_and_the_unknown_are_not_run_again(
    error: Exception, tag: str, kind: str
) -> None:
    (row,) = run_episode(ONE, scripted(error), "a", 0)
    assert (row["tag"], row["kind"], row["success"] is True) == (tag, kind, False)
    assert row["error"] == f"{type(error).__name__}: {error}"


def test_an_interruption_ends_the_run() -> None:
    with pytest.raises(KeyboardInterrupt):
        tags(scripted(PASS, KeyboardInterrupt()), Setup("agent", ["a"], 2))


def test_every_attempt_has_a_fresh_environment_that_is_closed_whatever_happens() -> None:
    opened: list[int] = []
    closed: list[int] = []

    @contextmanager
    def environment(task: str, seed: int) -> Iterator[int]:
        opened.append(seed)
        try:
            yield seed
        finally:
            closed.append(seed)

    play = scripted(FLAKE, ZeroDivisionError(), FLAKE, PASS).play
    run_suite(Setup("agent", ["a", "b"], 1), Harness(environment, play))
    assert opened == closed
    assert len(set(opened)) == 4


def test_an_environment_that_does_not_open_or_close_is_judged_by_its_error() -> None:
    @contextmanager
    def environment(task: str, seed: int) -> Iterator[None]:
        if task == "no start":
            raise ConnectionRefusedError
        yield
        raise TimeoutError("the sandbox does not stop")

    setup = Setup("agent", ["no start", "no end"], 1, retries=0)
    attempts = run_suite(setup, Harness(environment, lambda *_: PASS))
    assert list(attempts["kind"]) == ["connection lost", "timeout"]
    assert attempts["success"].isna().all()


def test_an_environment_that_swallows_the_error_earns_no_verdict() -> None:
    class Swallows:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> bool:
            return True

    harness = Harness(lambda task, seed: Swallows(), scripted(ZeroDivisionError()).play)
    assert tags(harness) == ["not evaluated"]


def test_the_row_holds_what_was_done_and_under_which_conditions() -> None:
    setup = Setup(
        "Careful",
        ["a"],
        1,
        user_model="user-1",
        user_settings={"temperature": 0.7, "stop": ("END",)},
        max_steps=30,
        environment_version="store 1.2",
    )
    outcome = Outcome("fail", 7, 0.25, trace=["read", "write"], extra={"tokens": 812})
    (row,) = run_episode(setup, scripted(outcome), "a", 0)
    assert row == {
        "task": "a",
        "trial": 0,
        "attempt": 0,
        "seed": attempt_seed(0, "a", 0, 0),
        "tag": AGENT_FAILURE,
        "kind": "",
        "success": False,
        "infra": False,
        "verdict": "fail",
        "error": None,
        "steps": 7,
        "cost": 0.25,
        "start": None,
        "trace": digest(["read", "write"]),
        "agent": "Careful",
        "user_model": "user-1",
        "user_settings": {"temperature": 0.7, "stop": ["END"]},
        "max_steps": 30,
        "environment_version": "store 1.2",
        "tokens": 812,
    }


def test_a_caught_error_is_tagged_before_the_verdict_and_the_verdict_is_kept() -> None:
    (row, *_) = run_episode(ONE, scripted(*[Outcome("pass", 5, error=FLAKE)] * 4), "a", 0)
    assert (row["tag"], row["success"], row["verdict"]) == (INFRA_FAILURE, None, "pass")


def test_rows_of_ones_own_say_whose_failure_it_is() -> None:
    harness = Harness(
        lambda task, seed: nullcontext(),
        scripted(ZeroDivisionError(), PASS).play,
        causes=[Cause("odd", INFRA_FAILURE, ("ZeroDivisionError",))],
    )
    assert tags(harness) == ["infra failure", "agent success"]


def test_the_wait_before_a_retry_is_tenacitys() -> None:
    harness = Harness(
        lambda task, seed: nullcontext(), scripted(FLAKE, PASS).play, wait=wait_fixed(0.05)
    )
    start = time.perf_counter()
    tags(harness)
    assert time.perf_counter() - start >= 0.05


def test_every_attempt_has_a_seed_of_its_own_that_follows_from_its_place() -> None:
    seeds = {
        attempt_seed(seed, task, trial, attempt)
        for seed in range(2)
        for task in ("a", "b", "a0", '"')
        for trial in range(5)
        for attempt in range(3)
    }
    assert len(seeds) == 2 * 4 * 5 * 3
    assert max(seeds) < 2**48
    assert attempt_seed(0, "move house", 3, 1) == 52363126252269  # on every machine


def test_the_policy_draws_from_the_seed_that_the_row_holds() -> None:
    drawn = []

    def play(environment: Any, task: str, rng: np.random.Generator) -> Outcome:
        drawn.append(rng.random())
        return PASS

    attempts = run_suite(Setup("agent", ["a"], 3), Harness(lambda t, s: nullcontext(), play))
    assert drawn == [np.random.default_rng(seed).random() for seed in attempts["seed"]]


# --- mistakes that end the run ------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tasks": []}, "tasks: give a list of names"),
        ({"tasks": "ab"}, "tasks: give a list of names"),
        ({"tasks": ["a", "a"]}, "tasks: give a list of names, each once"),
        ({"trials": 0}, "trials must be 1 or more"),
        ({"retries": -1}, "retries 0 or more"),
        ({"user_settings": {"stop": {1}}}, "user_settings: the log takes JSON data only"),
        ({"user_settings": {"top_p": float("nan")}}, "user_settings: the log takes JSON data"),
    ],
)
def test_a_setup_that_cannot_be_run_is_refused(fields: dict, message: str) -> None:
    with pytest.raises(RunError, match=message):
        Setup(**{"agent": "x", "tasks": ["a"], "trials": 1} | fields)


@pytest.mark.parametrize("verdict", [True, False, "passed", 1])
def test_a_verdict_is_taken_in_its_own_words_only(verdict: object) -> None:
    with pytest.raises(RunError, match="give verdict.status"):
        Outcome(verdict)  # type: ignore[arg-type]


def test_play_must_return_an_outcome() -> None:
    harness = Harness(lambda task, seed: nullcontext(), lambda *_: True)  # type: ignore[arg-type,return-value]
    with pytest.raises(RunError, match="a: play must return an Outcome, not True"):
        tags(harness)


def test_a_field_of_ones_own_cannot_replace_one_of_the_log() -> None:
    with pytest.raises(RunError, match=r"a: extra holds \['success'\]"):
        tags(scripted(Outcome("fail", extra={"success": True})))


@pytest.mark.parametrize("cost", [float("nan"), np.int64(3)])
def test_what_json_cannot_hold_is_refused_and_not_written(tmp_path: Path, cost: Any) -> None:
    log = tmp_path / "run.jsonl"
    with pytest.raises(RunError, match="a: the log takes JSON data only"):
        run_suite(ONE, scripted(Outcome("pass", 1, cost)), log)
    assert log.read_bytes() == b""


# --- the start state ----------------------------------------------------------------------


def shop(reset: bool) -> Harness:
    """A cart into which every episode puts one thing more; emptied between them, or not."""
    cart = {"cart": {"items": 0}}

    @contextmanager
    def environment(task: str, seed: int) -> Iterator[dict]:
        if reset:
            cart["cart"]["items"] = 0
        yield cart

    def play(opened: dict, task: str, rng: np.random.Generator) -> Outcome:
        opened["cart"]["items"] += 1
        return PASS

    return Harness(environment, play, start=lambda opened: opened)


@pytest.mark.parametrize("setup", [Setup("x", ["a"], 2), Setup("x", ["a", "b"], 1)])
def test_an_episode_that_starts_in_the_last_ones_state_is_an_error_that_says_where(
    setup: Setup, tmp_path: Path
) -> None:
    assert len(run_suite(setup, shop(reset=True))) == 2
    log = tmp_path / "run.jsonl"
    with pytest.raises(RunError, match="was not reset") as caught:
        run_suite(setup, shop(reset=False), log)
    assert "cart/items: changed, 0 -> 1" in str(caught.value)
    assert len(log.read_text().splitlines()) == 1  # the second one was never graded


def test_a_retry_in_the_failed_attempts_state_is_an_error_too() -> None:
    harness = shop(reset=False)

    def play(opened: dict, task: str, rng: np.random.Generator) -> Outcome:
        opened["cart"]["items"] += 1
        raise TimeoutError

    with pytest.raises(RunError, match="was not reset"):
        list(run_episode(ONE, Harness(harness.environment, play, harness.start), "a", 0, (), {}))


def test_tasks_may_have_start_states_of_their_own_if_the_setup_says_so() -> None:
    harness = Harness(
        lambda task, seed: nullcontext({"name": task}), lambda *_: PASS, start=lambda opened: opened
    )
    with pytest.raises(RunError, match="one_start=False"):
        run_suite(Setup("x", ["a", "b"], 2), harness)
    assert len(run_suite(Setup("x", ["a", "b"], 2, one_start=False), harness)) == 4


def test_a_resumed_run_knows_the_start_state_from_its_log(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    run_suite(Setup("x", ["a"], 1), shop(reset=True), log)
    dirty = shop(reset=False)
    with dirty.environment("a", 0) as cart:
        cart["cart"]["items"] = 1
    with pytest.raises(RunError, match="was not reset"):
        run_suite(Setup("x", ["a"], 2), dirty, log)


def test_the_digest_is_that_of_the_value_as_stored() -> None:
    assert digest({"a": [1, 2], "b": None}) == digest({"b": None, "a": [1, 2]})
    different = [{"a": 1}, {"a": True}, {"a": 1.0}, {"a": "1"}, {1: "a"}, {"a": [1]}, {"a": None}]
    assert len({digest(value) for value in different}) == len(different)
    assert digest(["a", "b"]) != digest(["a,b"]) != digest(["a', 'b"])


def test_the_digest_does_not_depend_on_the_process() -> None:
    program = "from evalkit.forms import digest; print(digest({'a': {'x': 1, 'y': 2, 'z': 'é'}}))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


# --- going on from the log ----------------------------------------------------------------

SUITE = Setup("coin", ["a", "b"], trials=4)


def coin(count: Callable[[], None] = lambda: None) -> Harness:
    """An agent and an environment that follow their seeds, each of which fails now and then."""

    def play(seed: int, task: str, rng: np.random.Generator) -> Outcome:
        count()
        if np.random.default_rng([seed, 1]).random() < 0.4:
            raise TimeoutError("slow")
        return Outcome("pass" if rng.random() < 0.6 else "fail", int(rng.integers(1, 9)))

    return Harness(lambda task, seed: nullcontext(seed), play)


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    """The log of a run that was not cut off."""
    log = tmp_path / "whole.jsonl"
    run_suite(SUITE, coin(), log)
    return log.read_bytes()


def test_a_finished_run_is_not_run_again(whole: bytes, tmp_path: Path) -> None:
    log, made = tmp_path / "run.jsonl", []
    log.write_bytes(whole)
    attempts = run_suite(SUITE, coin(lambda: made.append(1)), log)
    assert made == []
    assert len(attempts) == whole.count(b"\n")
    assert log.read_bytes() == whole


def test_a_log_cut_at_any_byte_is_made_whole(whole: bytes, tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    assert whole.count(b'"infra failure"') > 2
    for end in [*range(0, len(whole), 211), len(whole) - 1]:
        log.write_bytes(whole[:end])
        attempts = run_suite(SUITE, coin(), log)
        assert log.read_bytes() == whole
        assert not attempts.duplicated(["task", "trial", "attempt"]).any()


def test_a_last_line_that_lacks_only_its_end_is_not_run_again(whole: bytes, tmp_path: Path) -> None:
    log, made = tmp_path / "run.jsonl", []
    log.write_bytes(whole[:-1])
    run_suite(SUITE, coin(lambda: made.append(1)), log)
    assert made == []
    assert log.read_bytes() == whole


def test_a_disk_that_left_zeros_at_the_end_does_no_harm(whole: bytes, tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_bytes(whole[:700] + bytes(64))
    run_suite(SUITE, coin(), log)
    assert log.read_bytes() == whole


def test_attempts_in_the_log_count_towards_the_limit(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_suite(ONE, scripted(FLAKE, FLAKE, KeyboardInterrupt()), log)
    assert list(run_suite(ONE, scripted(FLAKE, FLAKE, PASS), log)["attempt"]) == [0, 1, 2, 3]
    more = Setup("agent", ["a"], 1, retries=4)
    assert list(run_suite(more, scripted(PASS), log)["tag"])[-1] == "agent success"


def test_a_run_can_be_made_longer(whole: bytes, tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_bytes(whole)
    longer = Setup("coin", ["a", "b", "c"], trials=6)
    resumed, fresh = run_suite(longer, coin(), log), run_suite(longer, coin())
    assert resumed.equals(fresh)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Setup("dice", ["a", "b"], 4), "agent is 'coin' there and 'dice' here"),
        (Setup("coin", ["a", "b"], 4, seed=1), "seed is .* name another log"),
        (Setup("coin", ["a", "b"], 4, user_model="m"), "user_model is None there and 'm' here"),
        (Setup("coin", ["a", "b"], 4, max_steps=50), "max_steps"),
        (Setup("coin", ["a"], 4), "trial 0 of 'b', which is not in the setup"),
        (Setup("coin", ["a", "b"], 3), "trial 3 of 'a', which is not in the setup"),
    ],
)
def test_the_log_of_another_run_is_refused_and_left_alone(
    whole: bytes, tmp_path: Path, other: Setup, message: str
) -> None:
    log = tmp_path / "run.jsonl"
    log.write_bytes(whole)
    with pytest.raises(RunError, match=message):
        run_suite(other, coin(), log)
    assert log.read_bytes() == whole


PROGRAM = """
import sys, time
from evalkit.runner import Harness, Setup, run_suite
from tests.test_runner import coin

def slowly():
    time.sleep(0.01)

run_suite(Setup("coin", ["a", "b", "c"], trials=10), coin(slowly), sys.argv[1])
"""


def test_a_run_killed_again_and_again_leaves_the_log_of_one_that_was_not(tmp_path: Path) -> None:
    chance = random.Random(4)
    log, calm = tmp_path / "killed.jsonl", tmp_path / "calm.jsonl"
    environment = {**os.environ, "TQDM_DISABLE": "1"}
    command = [sys.executable, "-c", PROGRAM, str(log)]
    run_suite(Setup("coin", ["a", "b", "c"], trials=10), coin(), calm)
    lengths = [0]
    for _ in range(3):
        process = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[1])
        deadline = time.monotonic() + 60
        while not (log.exists() and log.stat().st_size > lengths[-1]):  # it has gone on
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(chance.random() * 0.1)
        process.kill()
        process.wait()
        lengths.append(log.stat().st_size)
    assert lengths[-1] < calm.stat().st_size  # or nothing was cut off
    assert lengths == sorted(set(lengths))
    subprocess.run(command, env=environment, cwd=Path(__file__).parents[1], check=True)
    assert log.read_bytes() == calm.read_bytes()


def test_the_log_is_json_lines_with_one_line_an_attempt(whole: bytes) -> None:
    rows = [json.loads(line) for line in whole.decode().splitlines()]
    keys = [(row["task"], row["trial"], row["attempt"]) for row in rows]
    assert keys == sorted(keys)
    assert {row["trial"] for row in rows if row["task"] == "b"} == {0, 1, 2, 3}


@pytest.mark.parametrize(("disable", "silent"), [("1", True), ("", False)])
def test_the_progress_bar_says_what_goes_wrong_and_is_silent_when_told(
    disable: str, silent: bool
) -> None:
    program = (
        "from evalkit.runner import run_suite\n"
        "from tests.test_runner import SUITE, coin\n"
        "run_suite(SUITE, coin())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TQDM_DISABLE": disable},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (run.stderr == "") is silent
    assert silent or ("timeout=" in run.stderr and "success" not in run.stderr)


def test_an_error_that_is_no_text_ends_no_run(tmp_path: Path) -> None:
    def play(opened: Any, task: str, rng: np.random.Generator) -> Outcome:
        raise OSError("no file \udcff")

    setup = Setup("a", ["x"], trials=1, retries=0)
    attempts = run_suite(
        setup, Harness(lambda task, seed: nullcontext(), play), tmp_path / "log.jsonl"
    )
    assert attempts["error"].tolist() == ["OSError: no file \\udcff"]
    assert read_log(tmp_path / "log.jsonl")["error"].tolist() == attempts["error"].tolist()
