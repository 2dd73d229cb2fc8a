"""τ-bench trajectories: crashes are not failures, and a task's number is not a trial's."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evalkit import counts, estimate
from evalkit.logs import LogError
from evalkit.logs.tau_bench import read_tau_bench

RAW = Path(__file__).parents[3] / "shared" / "data" / "raw"
published = pytest.mark.skipif(not RAW.is_dir(), reason="needs the published logs in ../shared")


def episode(task: int, trial: int, reward: float, **info: Any) -> dict[str, Any]:
    graded = {"task": {"instruction": f"Task {task}."}, "source": "user", "user_cost": 0.01}
    traj = [{"role": role} for role in ("system", "user", "assistant", "tool", "assistant")]
    info = info or graded | {"reward_info": {"reward": reward}}
    return {"task_id": task, "trial": trial, "reward": reward, "info": info, "traj": traj}


def read(folder: Path, episodes: Any, **options: Any) -> Any:
    path = folder / "log.json"
    path.write_text(json.dumps(episodes))
    return read_tau_bench(path, **options)


def test_a_row_a_trial_with_the_steps_of_the_agent(tmp_path: Path) -> None:
    table = read(tmp_path, [episode(3, 0, 1.0), episode(3, 1, 0.0)])
    assert table[["task", "trial", "success", "infra", "steps"]].values.tolist() == [
        [3, 0, 1.0, False, 2],
        [3, 1, 0.0, False, 2],
    ]
    assert table["cost"].isna().all()
    assert list(table["user_cost"]) == [0.01, 0.01]


def test_a_crash_is_an_infra_failure_and_no_failure_of_the_agent(tmp_path: Path) -> None:
    crash = episode(0, 1, 0.0, error="connection reset", traceback="") | {"traj": []}
    table = read(tmp_path, [episode(0, 0, 1.0), crash])
    row = counts(table).iloc[0]
    assert (row.n, row.c, row.planned, row.infra) == (1, 1, 2, 1)
    assert table["error"][1] == "connection reset"
    assert table["steps"].isna().tolist() == [False, True]


def test_an_episode_that_ran_out_of_steps_is_a_failure_and_says_so(tmp_path: Path) -> None:
    late = episode(0, 1, 0.0, source="search", reward_info=None)
    table = read(tmp_path, [episode(0, 0, 1.0), late])
    assert list(table["ended"]) == ["user", "step limit"]
    assert list(table["success"]) == [1.0, 0.0]


def test_a_trial_that_repeats_the_task_number_is_no_trial(tmp_path: Path) -> None:
    table = read(tmp_path, [episode(i, i, r) for i, r in enumerate([1, 1, 1, 0])])
    assert list(table["trial"]) == [0, 0, 0, 0]
    assert list(table["recorded_trial"]) == [0, 1, 2, 3]
    tally = counts(table)
    assert estimate(tally, 1).value == 0.75
    with pytest.raises(ValueError, match="pass\\^2 is undefined"):
        estimate(tally, 2)
    kept = read(tmp_path, [episode(0, 0, 1.0), episode(1, 1, 1.0), episode(1, 0, 0.0)])
    assert list(kept["trial"]) == [0, 1, 0]


def test_two_such_runs_in_one_file_are_duplicates(tmp_path: Path) -> None:
    rows = [episode(i, i, 1.0) for i in (0, 1, 0, 1)]
    with pytest.raises(LogError, match="has 2 rows"):
        read(tmp_path, rows)
    assert len(read(tmp_path, rows, duplicates="drop")) == 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"reward": 0.5}, "row 1, reward: 0.5"),
        ({"reward": None}, "row 1, reward: is missing"),
        ({"task_id": "1"}, "row 1, task_id: is '1'"),
        ({"trial": None}, "row 1, trial: is missing"),
        ({"info": {"error": "x"}}, "row 1, reward: is 1, yet"),
        ({"info": {}}, "row 1, info: has neither"),
        ({"traj": None}, "row 1, traj"),
        ({"traj": [{}]}, "row 1, role"),
    ],
)
def test_a_wrong_field_is_named_with_its_row(
    tmp_path: Path, wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(LogError, match=f"log.json, {says}"):
        read(tmp_path, [episode(0, 0, 1.0), episode(0, 1, 1.0) | wrong])


def test_two_versions_of_a_task_in_one_file_are_refused(tmp_path: Path) -> None:
    other = episode(0, 1, 1.0)
    other["info"]["task"] = {"instruction": "Another."}
    with pytest.raises(LogError, match="row 1, info.task: differs"):
        read(tmp_path, [episode(0, 0, 1.0), other])


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="is no list"):
        read(tmp_path, {"simulations": []})
    with pytest.raises(LogError, match="row 0, info: 1 is no object"):
        read(tmp_path, [1])


@published
def test_the_published_airline_run_comes_to_its_pass_hat_k() -> None:
    table = read_tau_bench(RAW / "tau-bench_gpt-4o-airline.json.gz")
    tally = counts(table)
    values = [round(estimate(tally, k).value, 3) for k in (1, 2, 3, 4)]
    assert values == [0.420, 0.273, 0.220, 0.200]
    assert tally["c"].value_counts().sort_index().tolist() == [14, 12, 10, 4, 10]
    assert (table["ended"] == "step limit").sum() == 5
    assert (len(tally), set(tally["n"])) == (50, {4})


@published
@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("gpt-4o-airline", "tau-bench_gpt-4o-airline"),
        ("fork-assertions-0618-retail", "tau-bench_fork_assertions_retail_0618"),
    ],
)
def test_each_row_agrees_with_the_published_table_of_trials(source: str, name: str) -> None:
    with open(RAW.parent / "tau" / "tau1_trials.csv", encoding="utf-8", newline="") as lines:
        known = [r for r in csv.DictReader(lines) if r["source"] == source]
    expected = {(int(r["task_id"]), int(r["trial"])): float(r["reward"]) for r in known}
    table = read_tau_bench(RAW / f"{name}.json.gz")
    keys = zip(table["task"], table["recorded_trial"], strict=True)
    found = dict(zip(keys, table["success"].fillna(0), strict=True))
    assert len(found) == len(known)
    assert found == expected


@published
def test_the_published_fork_is_read_without_its_crashes() -> None:
    table = read_tau_bench(RAW / "tau-bench_fork_assertions_retail_0618.json.gz")
    tally = counts(table)
    assert tally[["c", "n", "planned", "infra"]].sum().tolist() == [35, 66, 100, 34]
    assert set(table["trial"]) == {0}
    assert estimate(tally).coverage == 0.66
