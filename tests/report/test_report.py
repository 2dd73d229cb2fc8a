"""The card: what it counts, what it refuses, what it says of what is missing."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import (
    Action,
    Allowed,
    Evidence,
    ReportCard,
    Task,
    estimate,
    grade,
    never,
    process_verdict,
)
from evalkit.logs.formats import read_trials
from evalkit.report import episode_fields, report_card
from evalkit.runlog import trial_rows
from evalkit.runner import Harness, Outcome, Setup, run_suite

RAW = Path(__file__).parents[3] / "shared" / "data" / "raw"
published = pytest.mark.skipif(not RAW.is_dir(), reason="needs the published logs in ../shared")


def table(*successes: list[Any], **columns: Any) -> pd.DataFrame:
    """A trials table: the successes of each task; None for a trial without a verdict."""
    rows = [(f"t{i}", j, s) for i, task in enumerate(successes) for j, s in enumerate(task)]
    frame = pd.DataFrame(rows, columns=["task", "trial", "success"])
    return frame.astype({"success": float}).assign(infra=False).assign(**columns)


def data(card: ReportCard, name: str) -> Any:
    return next(measure.data for measure in card.measures if measure.name == name)


def text(card: ReportCard, name: str) -> str:
    return next(measure.text for measure in card.measures if measure.name == name)


def attempts(failures: dict[tuple[str, int], int], retries: int = 2) -> pd.DataFrame:
    """A run in which the environment fails the first attempts of some trials."""
    left = dict(failures)

    def play(opened: tuple[str, int], task: str, rng: np.random.Generator) -> Outcome:
        key = task, counted[task]
        if left.get(key, 0):
            left[key] -= 1
            raise TimeoutError
        counted[task] += 1
        return Outcome("pass", steps=3, trace=[task, key[1]])

    counted = {"a": 0, "b": 0}
    setup = Setup("agent-1", ["a", "b"], trials=2, retries=retries, environment_version="v1")
    return run_suite(setup, Harness(lambda task, seed: nullcontext((task, seed)), play))


# --- pass^k -------------------------------------------------------------------------------


def test_pass_hat_k_and_its_interval_are_those_of_estimate() -> None:
    card = report_card(table([1, 1, 0], [1, 1, 1], [0, 0, 1]))
    counts = {"n": [3, 3, 3], "c": [2, 3, 1]}
    assert [point.k for point in card.curve] == [1, 2, 3]
    for point in card.curve:
        same = estimate(counts, point.k)
        assert (point.value, point.low, point.high) == (same.value, same.low, same.high)
    assert card.pass_hat_1 == card.curve[0]


def test_the_level_is_that_of_every_interval() -> None:
    trials = table([1, 0], [1, 1], violations=[["x"], [], [], []], credit=[0.5, 0, 1, 1])
    baselines = Evidence(baselines={"nothing": (1, 2)})
    wide = report_card(trials, level=0.9, evidence=baselines)
    narrow = report_card(trials, level=0.5, evidence=baselines)
    assert "95%" not in str(wide)
    assert str(wide).count("90% interval") == str(narrow).count("50% interval") > 4
    for name in ("process rules", "partial credit"):
        assert data(wide, name)["high"] > data(narrow, name)["high"]


def test_a_curve_that_is_asked_for_names_the_tasks_that_it_leaves_out() -> None:
    trials = table([1, 1, 1], [1], [None, None])
    card = report_card(trials, k=3)
    assert [point.tasks for point in card.curve] == [1, 1, 1]
    assert card.pass_hat_1 is not None
    assert card.pass_hat_1.tasks == 2
    assert "Left out: t1 (1 valid of 3 needed), t2 (0 valid of 3 needed)" in card.left_out
    assert "33.3% or 100.0%" in card.left_out
    assert report_card(table([1, 1], [1, 0])).left_out == ""


def test_the_curve_ends_at_the_fewest_valid_trials_of_a_task_that_has_any() -> None:
    card = report_card(table([1, 1, 1], [1, 0, None], [None, None, None]))
    assert len(card.curve) == 2
    assert "t2" in card.left_out


def test_a_log_without_a_verdict_is_not_evaluated_and_still_a_card() -> None:
    card = report_card(table([None, None], [None]))
    assert card.pass_hat_1 is None
    assert card.curve == ()
    assert card.headline.startswith("Not evaluated")
    assert card.with_status("met") == ()
    assert json.loads(card.to_json())["pass^1"] is None
    assert "Not evaluated" in str(card)
    assert "Not evaluated" in card.to_html()


# --- what is missing ----------------------------------------------------------------------


def test_every_planned_trial_is_counted_once_by_its_reason() -> None:
    trials = table([1, None, 0], [1, None], infra=[False, True, False, False, False])
    card = report_card(trials, planned={"t0": 3, "t1": 3, "t2": 3})
    found = data(card, "coverage")
    assert (found["valid"], found["planned"]) == (3, 9)
    assert (found["infra failures"], found["not run"], found["not evaluated"]) == (1, 4, 1)
    assert "1 infra failure, 4 not run, 1 not evaluated" in text(card, "coverage")
    assert card.pass_hat_1 is not None
    assert found["pass^1 bracket"] == list(card.pass_hat_1.bracket)
    assert "6 of 9" in card.headline


def test_infra_failures_and_retries_are_those_of_the_attempts() -> None:
    made = attempts({("a", 0): 2, ("b", 1): 1})
    card = report_card(trial_rows(made, ["a", "b"], 2), evidence=Evidence(retries=2))
    assert (data(card, "infra failures")["infra"], data(card, "infra failures")["of"]) == (3, 7)
    assert int(made["infra"].sum()) == 3
    assert len(made) == 7
    assert data(card, "retries") == {"retries": 3, "most": 2, "limit": 2, "given up early": 0}


def test_a_trial_that_the_environment_failed_each_time_has_no_attempt_that_counts() -> None:
    made = attempts({("a", 0): 9}, retries=1)
    card = report_card(trial_rows(made, ["a", "b"], 2))
    assert data(card, "infra failures")["infra"] == int(made["infra"].sum())
    assert data(card, "infra failures")["of"] == len(made)
    assert data(card, "retries")["limit"] == 1


def test_a_planned_trial_that_has_no_attempt_is_not_run() -> None:
    made = attempts({})
    card = report_card(trial_rows(made, ["a", "b", "c"], 3))
    assert data(card, "coverage")["not run"] == 5
    assert data(card, "environment")["versions"] == ["v1"]
    assert data(card, "infra failures")["of"] == 4


def test_trials_that_repeat_one_another_are_counted_where_there_is_a_trace() -> None:
    rows = trial_rows(attempts({}), ["a", "b"], 2)
    assert data(report_card(rows), "identical trials") == {"trials": 0, "tasks": []}
    alike = data(report_card(rows.assign(trace="same")), "identical trials")
    assert alike == {"trials": 4, "tasks": ["a", "b"]}
    assert data(report_card(rows.assign(trace=None)), "identical trials") is None


# --- beside success -----------------------------------------------------------------------


def test_partial_credit_never_stands_alone() -> None:
    card = report_card(table([1, 0], [0, 0], credit=[1.0, 0.5, 0.5, 0.0]))
    found = data(card, "partial credit")
    assert found["value"] == pytest.approx(0.5)
    assert found["low"] < 0.5 < found["high"]
    assert ", beside full completion, 25.0% (95% interval" in text(card, "partial credit")


def test_credit_may_be_below_0_and_a_single_task_has_no_interval() -> None:
    card = report_card(table([0, 1], credit=[-1.0, 0.5]))
    found = data(card, "partial credit")
    assert found["value"] == -0.25
    assert json.loads(card.to_json())["measures"]["partial credit"]["low"] is None


def test_credit_that_is_not_known_of_all_trials_says_so() -> None:
    card = report_card(table([1, 0], [1, 1], credit=[1.0, None, float("nan"), 1.0]))
    assert "known of 2 of 4 trials" in text(card, "partial credit")


def test_credit_stands_beside_the_completion_of_the_same_trials() -> None:
    """Some trials have no credit, for nothing could be earned; the pass rate of all is another number."""
    card = report_card(table([1, 0], [1, 1], [0, 0], credit=[1.0, 0.5, None, 1.0, None, None]))
    same = estimate({"n": [2, 1], "c": [1, 1]})
    found = data(card, "partial credit")["completion"]
    assert found == {"value": same.value, "low": same.low, "high": same.high}
    assert (card.pass_hat_1.value, same.value) == (0.5, 0.75)
    assert ", beside full completion of the same, 75.0% (95% int" in text(card, "partial credit")


def test_a_rule_that_is_broken_twice_in_a_trial_counts_once() -> None:
    broken = [["no delete", "no delete"], [], ["confirm", "no delete"], []]
    found = data(report_card(table([1, 0], [1, 1], violations=broken)), "process rules")
    assert found["broken"] == {"confirm": 1, "no delete": 2}
    assert (found["trials"], found["rate"]) == (2, 0.5)


def test_violations_that_are_no_list_are_refused() -> None:
    with pytest.raises(ValueError, match="violations: task 't0' has 'no delete'"):
        report_card(table([1, 0], violations=["no delete", None]))


def test_a_cost_that_is_not_known_of_all_trials_gives_no_mean() -> None:
    card = report_card(table([1, 0], [1, 1], cost=[1.0, None, 2.0, 3.0]))
    assert text(card, "cost") == "known of 3 of 4 trials only"
    assert data(report_card(table([1, 0], [1, 1], cost=2.0)), "cost")["mean"] == 2.0


def test_a_trivial_agent_has_an_interval() -> None:
    card = report_card(table([1], [0]), evidence=Evidence(baselines={"nothing": (19, 50)}))
    found = data(card, "trivial agents")["nothing"]
    assert found["rate"] == pytest.approx(0.38)
    assert 0.25 < found["low"] < 0.38 < found["high"] < 0.53


def test_the_fields_of_an_episode_are_ready_for_a_log() -> None:
    before = {"t": {1: {"x": 0, "y": 0, "z": 0}}}
    task = Task({"t/1/x": 1}, allowed=[Allowed("t/1/z")])
    verdict = grade(before, {"t": {1: {"x": 1, "y": 5, "z": 0}}}, task)
    process = process_verdict([Action("delete", {})] * 2, [never("delete"), never("drop")])
    found = episode_fields(verdict, process)
    assert found["violations"] == ["never delete"]
    assert (found["credit"], found["collateral"]) == (1.0, 1)
    assert found["allowed_share"] == pytest.approx(1 / 3)
    assert episode_fields(grade(before, before, Task(unchanged=True)))["credit"] is None


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trials", "options", "says"),
    [
        (table([1]).assign(attempt=0), {}, "attempts; pass them through runlog.trial_rows"),
        (table([1, 1], agent=["x", "y"]), {}, "agent is x and y; make a card of each"),
        (table([1, 1], submission=["x", "y"]), {}, "submission is x and y"),
        (pd.concat([table([1]), table([1])]), {}, "task 't0', trial 0 has 2 rows"),
        (table([0.5]), {}, "success is neither boolean nor 0 or 1"),
        (table([1, 1], [1]), {"k": 3}, "^k=3: no task has more than 2 valid trials"),
        (table([1], [1]), {"k": 2}, "^k=2: no task has more than 1 valid trial[.]"),
        (table([None]), {"k": 1}, "^k=1: no task has more than 0 valid trials"),
        (table([1, 1]), {"k": 0}, "K|k must be one whole number, 1 or more"),
        (table([1, 1]), {"planned": 1}, "2 trials, and 1 were planned"),
        (table([1, 1]), {"level": 1.5}, "level must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_reported_is_an_error(trials: Any, options: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        report_card(trials, **options)


# --- as data and as text ------------------------------------------------------------------


def test_numbers_are_not_rounded_and_nan_is_none() -> None:
    card = report_card(table([1, 1, 0]))
    found = json.loads(card.to_json(), parse_constant=pytest.fail)
    assert found["pass^1"]["value"] == 2 / 3
    assert found["pass^1"]["se"] is None
    assert found["tasks"] == [{"task": "t0", "n": 3, "c": 2, "planned": 3, "infra": 0}]
    assert len(found["checklist"]) == 14


def test_any_engine_and_any_order_of_rows_gives_the_same_card() -> None:
    trials = table([1, 0], [1, 1], steps=[3, 4, 5, 6], credit=[1.0, 0.25, 1.0, 1.0])
    cards = [trials, trials.sample(frac=1, random_state=3), pl.from_pandas(trials)]
    cards.append(pl.from_pandas(trials).lazy())
    assert len({report_card(card).to_html() for card in cards}) == 1
    assert len({str(report_card(card)) for card in cards}) == 1


def test_a_card_is_called_after_what_its_rows_name() -> None:
    assert report_card(table([1])).title == "evaluation"
    assert report_card(table([1], agent="x", file="a.json")).title == "x, a.json"
    assert report_card(table([1], agent="x"), title="mine").title == "mine"


def test_a_name_cannot_command_the_terminal() -> None:
    card = report_card(table([1, 1], [None]).replace("t1", "a\x1b[2J\nb\u202ec"), k=2)
    assert "a\\x1b[2J\\nb\\u202ec" in str(card)
    assert "\x1b" not in str(card)


@settings(max_examples=30)
@given(st.dictionaries(st.text(), st.lists(st.sampled_from([1, 0, None]), min_size=1), min_size=1))
def test_whatever_the_names_and_verdicts_a_card_is_whole(found: dict[str, list[Any]]) -> None:
    rows = [(task, i, s) for task, successes in found.items() for i, s in enumerate(successes)]
    frame = pd.DataFrame(rows, columns=["task", "trial", "success"]).astype({"success": float})
    card = report_card(frame)
    told = json.loads(card.to_json(), parse_constant=pytest.fail)
    assert sum(task["planned"] for task in told["tasks"]) == len(rows)
    values = [point.value for point in card.curve]
    assert values == sorted(values, reverse=True)
    assert all(point.low <= point.value <= point.high for point in card.curve)
    low, high = data(card, "coverage")["pass^1 bracket"]
    assert 0 <= low <= high <= 1
    statuses = [check.status for check in card.checklist]
    assert {"changes", "allowed", "canonical", "reach", "process", "faults", "baselines"} <= {
        check.name for check in card.with_status("not stated")
    }
    assert len(statuses) == 14


# --- published results --------------------------------------------------------------------


@published
def test_the_published_pass_hat_k_of_tau_bench() -> None:
    card = report_card(read_trials(RAW / "tau-bench_gpt-4o-airline.json.gz"))
    assert [round(point.value, 3) for point in card.curve] == [0.42, 0.273, 0.22, 0.2]


@published
@pytest.mark.parametrize(
    ("name", "valid", "planned", "bracket"),
    [
        ("tau-bench_fork_assertions_retail_0618.json.gz", 66, 100, [0.35, 0.69]),
        ("tau2_pr_ironshell_opus46_airline_44of50.json.gz", 44, 50, [0.62, 0.74]),
        ("tau2_pr185_adaptive_cascata_airline_infra_error.json.gz", 49, 50, [0.98, 1.0]),
    ],
)
def test_what_published_results_leave_open(
    name: str, valid: int, planned: int, bracket: list[float]
) -> None:
    found = data(report_card(read_trials(RAW / name)), "coverage")
    assert (found["valid"], found["planned"]) == (valid, planned)
    assert found["pass^1 bracket"] == pytest.approx(bracket)
