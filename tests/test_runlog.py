"""The log read back, one row a trial, and what public harnesses got wrong about it.

The inputs of the last part are known from public issues and published results; each stands for its
kind.
"""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalkit.infra import (
    AGENT_FAILURE,
    INFRA_FAILURE,
    NOT_EVALUATED,
    NOT_RUN,
    SUCCESS,
    BudgetExhausted,
    outcome_tag,
)
from evalkit.passk import Curve, pass_hat_k_curve
from evalkit.runlog import (
    RunError,
    attempts_table,
    check_comparable,
    identical_trials,
    open_log,
    read_log,
    trial_rows,
)
from evalkit.runner import Harness, Outcome, Setup, run_suite
from evalkit.trials import counts, trials_table

TAGS = {
    "ok": SUCCESS,
    "fail": AGENT_FAILURE,
    "infra": INFRA_FAILURE,
    "unknown": NOT_EVALUATED,
}


def attempts(*rows: tuple[str, int, int, str], **columns: Any) -> pd.DataFrame:
    """Attempts by (task, trial, attempt, short tag)."""
    return attempts_table(
        [
            {
                "task": task,
                "trial": trial,
                "attempt": attempt,
                "tag": TAGS[tag],
                "success": {"ok": True, "fail": False}.get(tag),
                "infra": tag == "infra",
            }
            | columns
            for task, trial, attempt, tag in rows
        ]
    )


def suite(trials: dict[str, list[str]], planned: int | None = None) -> Curve:
    """The pass^1 of a suite, by what became of each task's trials."""
    log = attempts(
        *((task, i, 0, tag) for task, tags in trials.items() for i, tag in enumerate(tags))
    )
    table = trial_rows(log, list(trials), planned or max(map(len, trials.values())))
    return pass_hat_k_curve(counts(trials_table(table, infra="infra")), K=1)


def test_a_log_reads_back_as_the_run_gave_it(tmp_path: Path) -> None:
    setup = Setup("x", ["a", "b"], 2, user_settings={"temperature": 1.0})
    outcomes = iter([Outcome("pass", 3, 0.5), TimeoutError(), Outcome("fail"), KeyError("é")] * 2)

    def play(*_: Any) -> Outcome:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    run = run_suite(setup, Harness(lambda task, seed: nullcontext(), play), tmp_path / "x.jsonl")
    pd.testing.assert_frame_equal(run, read_log(tmp_path / "x.jsonl"))
    assert (
        list(run["success"].astype(object))
        == [True, pd.NA, False, pd.NA, True, pd.NA, False][: len(run)]
    )
    assert {name: str(run[name].dtype) for name in ("success", "infra", "steps", "cost")} == {
        "success": "boolean",
        "infra": "boolean",
        "steps": "Int64",
        "cost": "float64",
    }


LINE = {"task": "a", "trial": 0, "attempt": 0, "tag": SUCCESS, "success": True, "infra": False}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n" + json.dumps(LINE), "line 1: is no attempt"),
        (json.dumps(LINE) + '\n{"task": "a", "trial"\n', "line 2: is no attempt"),
        (json.dumps(LINE) + "\n\n" + json.dumps(LINE), "line 2: is no attempt"),
        (json.dumps(LINE) + "\n17\n", "line 2: is no attempt"),
        (json.dumps(LINE | {"attempt": 1}).replace("task", "tusk") + "\n", "KeyError.*task"),
        (json.dumps(LINE) + "\n" + json.dumps(LINE) + "\n", "line 2: attempt .* is there twice"),
        ("task,trial\na,0\n", "line 1: is no attempt"),
        (json.dumps(LINE)[:-1] + ', "tag": "unknown"}\n', "line 1: .*'tag' is there twice"),
        (json.dumps(LINE | {"cost": float("nan")}) + "\n", "line 1: .*NaN"),
        (json.dumps(LINE | {"task": "\ud800"}) + "\n", "line 1: .*half a character"),
        (json.dumps(LINE | {"trial": None}) + "\n", "line 1, trial: .*wrong type: None"),
        (json.dumps(LINE | {"trial": True}) + "\n", "line 1, trial: .*wrong type: True"),
        (json.dumps(LINE | {"trial": 10**30}) + "\n", "line 1, trial: .*wrong type"),
        (json.dumps(LINE | {"task": 7}) + "\n", "line 1, task: .*wrong type: 7"),
        (json.dumps(LINE | {"success": 1}) + "\n", "line 1, success: .*wrong type: 1"),
        (json.dumps(LINE | {"steps": 1e308}) + "\n", "line 1, steps: .*wrong type"),
        (
            json.dumps(LINE | {"success": True, "infra": True}) + "\n",
            "line 1, success: is true, and",
        ),
        (json.dumps(LINE | {"cost": 10**400}) + "\n", "line 1, cost: .*wrong type"),
        (json.dumps(LINE | {"cost": "free"}) + "\n", "line 1, cost: .*wrong type: 'free'"),
    ],
)
def test_a_line_that_is_no_attempt_or_comes_twice_is_named(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(content)
    with pytest.raises(RunError, match=f"log.jsonl, {message}|{message}"):
        read_log(path)


def test_an_attempt_that_was_cut_off_is_left_out_and_its_trial_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + json.dumps(LINE | {"trial": 1})[:-9])
    table = trial_rows(read_log(path), ["a"], 2)
    assert list(table["tag"]) == [SUCCESS, NOT_RUN]


@pytest.mark.parametrize("whole", ["[" * 50_000, "1" * 5_000, '{"task": 1, "task": 2}'])
def test_a_last_line_that_was_not_cut_off_is_never_taken_away(tmp_path: Path, whole: str) -> None:
    if whole.startswith("["):
        whole += "]" * 50_000
    path = tmp_path / "log.jsonl"
    path.write_text(whole)
    with pytest.raises(RunError, match="line 1: is no attempt"), open_log(path):
        pass
    assert path.read_text() == whole + "\n"


@pytest.mark.skipif("os.name != 'posix'", reason="POSIX: devices and fifos")
def test_a_log_is_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(RunError, match=f"{path}: is no regular file"), open_log(path):
            pass


def test_an_empty_log_holds_no_attempt(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.touch()
    table = trial_rows(read_log(path), ["a", "b"], 2)
    assert list(table["tag"]) == [NOT_RUN] * 4
    assert list(table["attempts"]) == [0] * 4


def test_a_trial_is_its_first_attempt_that_the_environment_did_not_fail() -> None:
    log = attempts(
        ("a", 0, 1, "fail"),
        ("a", 0, 0, "infra"),
        ("a", 1, 0, "infra"),
        ("a", 1, 1, "infra"),
        ("b", 0, 0, "unknown"),
    )
    table = trial_rows(log, ["a", "b"], 2)
    assert list(table["task"] + table["trial"].astype(str)) == ["a0", "a1", "b0", "b1"]
    assert list(table["tag"]) == [AGENT_FAILURE, INFRA_FAILURE, NOT_EVALUATED, NOT_RUN]
    assert list(table["infra"]) == [False, True, False, False]
    assert list(table["success"].isna()) == [False, True, True, True]
    assert list(table["attempts"]) == [2, 2, 1, 0]


def test_a_trial_that_was_not_planned_is_refused() -> None:
    log = attempts(("a", 0, 0, "ok"), ("a", 1, 0, "ok"))
    for tasks, planned in ((["a"], 1), (["b"], 2)):
        with pytest.raises(RunError, match="which was not planned"):
            trial_rows(log, tasks, planned)


def test_trials_of_a_run_are_counted_with_all_that_is_missing() -> None:
    log = attempts(("a", 0, 0, "ok"), ("a", 1, 0, "infra"), ("b", 0, 0, "fail"))
    found = counts(trials_table(trial_rows(log, ["a", "b", "c"], 2), infra="infra"))
    assert found.to_dict("list") == {
        "task": ["a", "b", "c"],
        "n": [1, 1, 0],
        "c": [1, 0, 0],
        "planned": [2, 2, 2],
        "infra": [1, 0, 0],
    }


# --- identical trials ---------------------------------------------------------------------


def test_trials_that_are_alike_in_every_field_are_flagged_however_many() -> None:
    rows = [("a", i, 0, "ok") for i in range(8)]
    flagged = identical_trials(attempts(*rows, trace="0a"))
    assert flagged.to_dict("records") == [{"task": "a", "identical": tuple(range(8)), "of": 8}]
    some = attempts(*rows)
    some["trace"] = ["p", "q", "p", "r", "s", "q", "p", "t"]
    assert identical_trials(some)["identical"].to_list() == [(0, 2, 6), (1, 5)]


@pytest.mark.parametrize("field", ["trace", "steps", "cost", "tokens", "verdict", "start"])
def test_one_field_that_differs_clears_them(field: str) -> None:
    log = attempts(("a", 0, 0, "ok"), ("a", 1, 0, "ok"), tokens=5)
    log[field] = [1, 2]
    assert identical_trials(log).empty


def test_a_seed_and_seconds_that_differ_do_not_clear_them() -> None:
    log = attempts(("a", 0, 0, "ok"), ("a", 1, 0, "ok"))
    log["seed"], log["seconds"] = [3, 4], [0.51, 0.49]
    assert len(identical_trials(log)) == 1


def test_tasks_and_trials_that_were_not_judged_are_not_compared() -> None:
    log = attempts(("a", 0, 0, "ok"), ("b", 0, 0, "ok"), ("c", 0, 0, "infra"), ("c", 1, 0, "infra"))
    assert identical_trials(log).empty
    assert identical_trials(attempts(("c", 0, 0, "infra"))).empty


def test_a_cached_agent_is_flagged_in_a_real_run() -> None:
    setup = Setup("x", ["a"], 8)
    answers = {"cache": lambda rng: 0.5, "live": lambda rng: float(rng.random())}
    flagged = {}
    for name, answer in answers.items():
        play = lambda e, t, rng, answer=answer: Outcome("pass", 3, trace=[answer(rng)])  # noqa: E731
        log = run_suite(setup, Harness(lambda task, seed: nullcontext(), play))
        flagged[name] = len(identical_trials(log))
    assert flagged == {"cache": 1, "live": 0}


# --- what may be compared -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "a", "b"),
    [
        ("max_steps", 50, 100),
        ("max_steps", 50, None),
        ("user_model", "user-1", "user-2"),
        ("user_settings", {"temperature": 0.0}, {"temperature": 1.0}),
        ("user_settings", {"prompt": "x" * 99 + "a"}, {"prompt": "x" * 99 + "b"}),
        ("environment_version", "1.0", "1.1"),
    ],
)
def test_agents_under_two_conditions_are_not_ranked(field: str, a: Any, b: Any) -> None:
    first = attempts(("a", 0, 0, "ok"), agent="A", **{field: a})
    same = attempts(("a", 0, 0, "fail"), agent="B", **{field: a})
    other = attempts(("a", 0, 0, "fail"), agent="B", **{field: b})
    check_comparable(first, same)
    with pytest.raises(RunError, match=f"{field} differs"):
        check_comparable(first, other)
    with pytest.raises(RunError, match=f"{field} differs"):
        check_comparable(first, pd.concat([same, other.assign(trial=1)]))


def test_trials_that_were_not_run_do_not_hinder_a_comparison() -> None:
    log = attempts(("a", 0, 0, "ok"), max_steps=50, user_model="u")
    check_comparable(trial_rows(log, ["a"], 3), log)


# --- cases that public harnesses got wrong ------------------------------------------------


def test_one_success_beside_99_infra_failures_is_no_perfect_score() -> None:
    curve = suite({"a": ["ok"]} | {f"t{i}": ["infra"] for i in range(99)})
    assert (curve.value[0], curve.tasks, len(curve.excluded)) == (1.0, 1, 99)
    assert (curve.low[0], curve.high[0]) == (pytest.approx(0.01), 1.0)


@pytest.mark.parametrize(
    ("n", "success", "infra", "value", "low", "high"),
    [
        (730, 300, 36, 300 / 694, 300 / 730, 336 / 730),  # rate-limited, scored as failures
        (100, 35, 34, 0.530, 0.35, 0.69),  # crashes, scored as reward 0
        (445, 238, 40, 0.588, 0.535, 0.625),  # invalid, left out without a word
        (5, 4, 1, 1.0, 0.8, 1.0),  # errored, left out of the denominator
        (4, 1, 3, 1.0, 0.25, 1.0),
    ],
)
def test_infra_failures_are_neither_failures_nor_gone(
    n: int, success: int, infra: int, value: float, low: float, high: float
) -> None:
    tags = ["ok"] * success + ["infra"] * infra + ["fail"] * (n - success - infra)
    curve = suite({f"t{i}": [tag] for i, tag in enumerate(tags)})
    assert curve.value[0] == pytest.approx(value, abs=5e-4)
    assert curve.tasks == n - infra
    assert (curve.low[0], curve.high[0]) == (
        pytest.approx(low, abs=5e-4),
        pytest.approx(high, abs=5e-4),
    )


def test_rate_limited_trials_are_run_again_and_not_failures() -> None:
    left = iter(["pass", "fail", 429, "pass", 429, 429])

    def play(*_: Any) -> Outcome:
        end = next(left)
        return Outcome(None, 1, error=end) if isinstance(end, int) else Outcome(end, 4)

    log = run_suite(
        Setup("x", ["t"], 4, retries=1), Harness(lambda task, seed: nullcontext(), play)
    )
    table = trial_rows(log, ["t"], 4)
    assert list(table["tag"]) == [SUCCESS, AGENT_FAILURE, SUCCESS, INFRA_FAILURE]
    assert suite({"t": ["ok", "fail", "infra", "infra"]}).value[0] == 0.5


def test_runs_without_one_event_are_the_environments_whatever_ended_them() -> None:
    spent = BudgetExhausted("3600 seconds")
    ends = [outcome_tag(None, 0, spent)] * 10 + [outcome_tag("fail", 12)] * 170
    assert [tag for tag, _ in ends].count(INFRA_FAILURE) == 10
    assert ends[0] == (INFRA_FAILURE, "no activity")


def test_retrying_until_a_pass_lifts_nothing() -> None:
    first = ["ok"] * 56 + ["fail"] * 16
    rows = [(f"t{i}", 0, 0, tag) for i, tag in enumerate(first)]
    rows += [(f"t{i}", 0, 1, "ok") for i in (56, 57, 58)]  # of 59 that passed in the end
    table = trial_rows(attempts(*rows), [f"t{i}" for i in range(72)], 1)
    assert table["success"].sum() == 56
    assert (table["attempts"] - 1).sum() == 3  # the retries, by themselves


def test_a_full_context_is_the_agents_and_is_not_run_again() -> None:
    def play(*_: Any) -> Outcome:
        raise RuntimeError("litellm.BadRequestError: context window exceeded")

    log = run_suite(Setup("x", ["t"], 1), Harness(lambda task, seed: nullcontext(), play))
    assert log[["tag", "attempt"]].to_dict("list") == {"tag": [AGENT_FAILURE], "attempt": [0]}


def test_one_agent_at_two_step_budgets_is_not_ranked_as_two() -> None:
    runs = [attempts(("a", 0, 0, "ok"), agent="A", max_steps=budget) for budget in (50, 100)]
    with pytest.raises(RunError, match="max_steps differs: 50 and 100"):
        check_comparable(*runs)
