"""HAL runs: a crash that is listed as a failure is none, and lists are held to the raw results."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalkit import counts
from evalkit.logs import LogError
from evalkit.logs.hal import read_hal

CONFIG = {
    "agent_name": "agent-1",
    "benchmark_name": "shop",
    "date": "2026-01-31",
    "run_id": "shop_agent1_1769860000",
    "prompt_sensitivity": False,
}


def run(
    successful: Any = (), failed: Any = (), raw: Any = None, cost: float = 1.5, **rest: Any
) -> dict[str, Any]:
    lists = {"successful_tasks": list(successful), "failed_tasks": list(failed)}
    return {
        "config": CONFIG,
        "results": {"accuracy": 0.5, **lists, "total_cost": cost, "latencies": {}},
        "raw_eval_results": {} if raw is None else raw,
        "total_cost": cost,
        "git_info": {"commit": "abc"},
        "task_step_counts": {},
    } | rest


def read(folder: Path, content: Any) -> Any:
    path = folder / "log.json"
    path.write_text(json.dumps(content))
    return read_hal(path)


def test_a_row_a_task_with_the_run_that_it_is_of(tmp_path: Path) -> None:
    table = read(tmp_path, run(["a"], ["b"], task_step_counts={"a": 7}))
    assert table[["task", "trial", "success", "infra", "ended"]].values.tolist() == [
        ["a", 0, 1.0, False, "completed"],
        ["b", 0, 0.0, False, "completed"],
    ]
    assert table["steps"].isna().tolist() == [False, True]
    source = table[["agent", "benchmark", "date", "run", "version"]].iloc[1].tolist()
    assert source == ["agent-1", "shop", "2026-01-31", "shop_agent1_1769860000", "abc"]


def test_the_cost_of_the_run_is_no_cost_of_a_task(tmp_path: Path) -> None:
    table = read(tmp_path, run(["a"], ["b"], cost=1.5))
    assert table["cost"].isna().all()
    assert list(table["run_cost"]) == [1.5, 1.5]


def test_a_crash_that_is_listed_as_a_failure_is_not_evaluated(tmp_path: Path) -> None:
    raw = {"a": {"reward": 1.0}, "b": "ERROR: No output file generated", "c": {"reward": 0.0}}
    table = read(tmp_path, run(["a"], ["b", "c"], raw))
    assert counts(table)[["n", "c", "planned", "infra"]].sum().tolist() == [2, 1, 3, 0]
    assert list(table["ended"]) == ["completed", "error", "completed"]
    assert table["error"][1] == "ERROR: No output file generated"


def test_an_error_of_the_swe_bench_harness_is_not_evaluated(tmp_path: Path) -> None:
    raw = {"resolved_ids": ["x-1"], "unresolved_ids": ["x-2"], "error_ids": ["x-3"]}
    table = read(tmp_path, run(["x-1"], ["x-2", "x-3"], raw))
    assert list(table["ended"]) == ["completed", "completed", "error"]
    assert table["success"].isna().tolist() == [False, False, True]


def test_a_run_that_hit_the_time_it_was_given_is_a_failure(tmp_path: Path) -> None:
    table = read(tmp_path, run([], ["a"], {"a": "TIMEOUT after 7200 seconds"}))
    assert list(table["success"]) == [0.0]


def test_a_result_without_a_verdict_is_not_dropped(tmp_path: Path) -> None:
    table = read(tmp_path, run(["a"], [], {"a": {"score": True}, "b": {"reward": 0.4}}))
    assert list(table["ended"]) == ["completed", "no list"]
    assert table["success"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (run(["a"], ["a"]), "results.failed_tasks: 'a' is no id, or is listed twice"),
        (run(["a", "a"]), "results.successful_tasks: 'a' is no id, or is listed twice"),
        (run([7]), "results.successful_tasks: 7 is no id"),
        (run(["a"], raw={"a": "ERROR: gone"}), "successful_tasks: 'a', yet .* an error"),
        (run(["a"], raw={"a": {"score": 0}}), "successful_tasks: 'a', yet .* 0.0"),
        (run(["a"], raw={"a": {"reward": 0.5}}), "successful_tasks: 'a', yet .* 0.5"),
        (run([], ["a"], {"a": {"score": True}}), "failed_tasks: 'a', yet .* 1.0"),
        (run([], ["a"], {"a": {"score": "1"}}), "raw_eval_results.a, score: is '1'"),
        (run(["a"], raw={"error_ids": [{}]}), "raw_eval_results.error_ids: {} is no id"),
        (run(["a"], total_cost=2.0), "total_cost: is 2.0, and 1.5 under results"),
        (run(["a"], config=CONFIG | {"prompt_sensitivity": True}), "prompt_sensitivity: the lists"),
        (run(["a"], config={}), "config.agent_name: is missing"),
        (run(["a"], task_step_counts={"a": "7"}), "task_step_counts.a, count: is '7'"),
        (run(["a"], results={"accuracy": 1.0}), "results.successful_tasks: is missing"),
        (run(), "there is no trial"),
        ([], r"config.agent_name: \[\] is no object"),
    ],
)
def test_what_cannot_be_relied_on_is_refused(tmp_path: Path, content: Any, says: str) -> None:
    with pytest.raises(LogError, match=f"log.json.*{says}"):
        read(tmp_path, content)


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(run(["a"]))[:-1])
    with pytest.raises(LogError, match="log.json, line 1: .*cut off"):
        read_hal(tmp_path / "log.json")


def test_runs_are_numbered_by_whoever_joins_them(tmp_path: Path) -> None:
    first, second = read(tmp_path, run(["a"])), read(tmp_path, run([], ["a"])).assign(trial=1)
    assert counts(pd.concat([first, second]))[["n", "c"]].values.tolist() == [[2, 1]]
