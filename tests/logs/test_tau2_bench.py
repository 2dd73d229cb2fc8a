"""τ²-bench results: names that contradict the record, runs that are missing, infra failures."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evalkit import counts
from evalkit.logs import LogError
from evalkit.logs.tau2_bench import read_tau2_bench

RAW = Path(__file__).parents[3] / "shared" / "data" / "raw"
published = pytest.mark.skipif(not RAW.is_dir(), reason="needs the published logs in ../shared")


def action(name: str, **arguments: Any) -> dict[str, Any]:
    return {"requestor": "assistant", "name": name, "arguments": arguments}


ACTIONS = {"a": [action("cancel", id=1)], "b": [action("cancel", id=2)], "c": [], "d": []}
SAID = {"a": ["Says so."], "b": ["Says so."], "c": ["Refuses."], "d": ["Declines."]}


def simulation(named: str, reward: float = 1.0, *, was: str = "", trial: int = 0) -> dict[str, Any]:
    """A simulation of the task ``was``, under the name ``named``."""
    was = was or named
    checks = [{"action": one, "action_match": True} for one in ACTIONS[was]]
    said = [{"nl_assertion": one, "met": True} for one in SAID[was]]
    return {
        "task_id": named,
        "trial": trial,
        "termination_reason": "user_stop",
        "agent_cost": 0.2,
        "messages": [{"role": "assistant"}, {"role": "user"}, {"role": "assistant"}],
        "reward_info": {
            "reward": reward,
            "db_check": {"db_match": bool(reward)},
            "action_checks": checks or None,
            "nl_assertions": said,
        },
    }


def log(*simulations: Any, tasks: str = "abcd", num_trials: int = 1) -> dict[str, Any]:
    stated = [
        {"id": t, "evaluation_criteria": {"actions": ACTIONS[t], "nl_assertions": SAID[t]}}
        for t in tasks
    ]
    agent, user = {"llm": "agent-1"}, {"llm": "user-1"}
    info = {"num_trials": num_trials, "git_commit": "abc", "agent_info": agent, "user_info": user}
    return {"info": info, "tasks": stated, "simulations": list(simulations)}


def read(folder: Path, content: Any, **options: Any) -> Any:
    path = folder / "log.json"
    path.write_text(json.dumps(content))
    return read_tau2_bench(path, **options)


def test_a_row_a_trial_with_its_source(tmp_path: Path) -> None:
    table = read(tmp_path, log(simulation("a"), simulation("b", 0.0), tasks="ab"))
    assert table[["task", "trial", "success", "infra", "steps", "cost"]].values.tolist() == [
        ["a", 0, 1.0, False, 2, 0.2],
        ["b", 0, 0.0, False, 2, 0.2],
    ]
    source = table[["agent", "user", "version", "ended", "db_match"]].iloc[0].tolist()
    assert source == ["agent-1", "user-1", "abc", "user_stop", True]


def test_a_planned_trial_without_a_simulation_is_a_row_without_verdict(tmp_path: Path) -> None:
    table = read(tmp_path, log(simulation("a"), tasks="ab", num_trials=2))
    assert counts(table)[["n", "c", "planned"]].values.tolist() == [[1, 1, 2], [0, 0, 2]]
    assert list(table["ended"]) == ["user_stop", "not run", "not run", "not run"]
    assert not table["infra"].any()


def test_a_null_reward_is_infra_only_where_the_termination_says_so(tmp_path: Path) -> None:
    gone = simulation("a") | {"reward_info": None, "info": {"error": "quota"}}
    table = read(tmp_path, log(gone, tasks="a"))
    assert (table["success"].isna()[0], table["infra"][0]) == (True, False)
    gone["termination_reason"] = "infrastructure_error"
    table = read(tmp_path, log(gone, tasks="a"))
    assert (table["success"].isna()[0], table["infra"][0]) == (True, True)
    assert table["error"][0] == "quota"


def test_an_infra_failure_that_passed_is_refused(tmp_path: Path) -> None:
    odd = simulation("a") | {"termination_reason": "infrastructure_error"}
    with pytest.raises(LogError, match="simulation 0, reward_info.reward: is 1, yet"):
        read(tmp_path, log(odd, tasks="a"))


def test_a_name_that_contradicts_the_record_is_refused(tmp_path: Path) -> None:
    swapped = log(simulation("a", was="b"), simulation("b", was="a"), tasks="ab")
    with pytest.raises(LogError, match="simulation 0, task_id: 'a'.* 2 of 2 rows; repair=True"):
        read(tmp_path, swapped)


def test_a_repair_names_the_rows_by_their_record(tmp_path: Path) -> None:
    content = log(
        simulation("a", 0.0, was="b"), simulation("b", was="a"), simulation("c", was="d"),
        simulation("d", was="c"),
    )  # fmt: skip
    table = read(tmp_path, content, repair=True)
    assert list(table["task"]) == ["b", "a", "d", "c"]
    assert list(table["recorded_task"]) == ["a", "b", "c", "d"]
    assert list(table["success"]) == [0.0, 1.0, 1.0, 1.0]


def test_a_record_that_fits_several_tasks_is_not_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SAID, "d", SAID["c"])
    rows = [simulation("b", was="a"), simulation("a", was="b"), simulation("c"), simulation("d")]
    table = read(tmp_path, log(*rows), repair=True)
    assert list(table["task"]) == ["a", "b", "row 2", "row 3"]
    with pytest.raises(LogError, match="1 rows fit no one task, so what was not run is unknown"):
        read(tmp_path, log(*rows[:3]), repair=True)


def test_a_repair_never_numbers_a_repeated_trial_anew(tmp_path: Path) -> None:
    content = log(simulation("b", was="a"), simulation("a"), tasks="ab", num_trials=4)
    with pytest.raises(LogError, match="task 'a', trial 0 has 2 rows"):
        read(tmp_path, content, repair=True)


def test_right_names_are_left_alone_by_a_repair(tmp_path: Path) -> None:
    table = read(tmp_path, log(*map(simulation, "abcd")), repair=True)
    assert list(table["task"]) == list("abcd")


@pytest.mark.parametrize("name", ["task_id", "trial", "termination_reason"])
def test_a_row_without_its_identity_is_refused(tmp_path: Path, name: str) -> None:
    null, absent = simulation("a") | {name: None}, simulation("a")
    del absent[name]
    for lack in (null, absent):
        with pytest.raises(LogError, match=f"log.json, simulation 0, {name}: is missing"):
            read(tmp_path, log(lack, tasks="a"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (log(simulation("a"), simulation("a"), tasks="a"), "trial 0 has 2 rows"),
        (log(simulation("a", trial=1), tasks="a"), "simulation 0, trial: is 1, and .* 1"),
        (log(simulation("a"), tasks="aa"), "task 1, id: task 'a' is there twice"),
        (log(simulation("a"), tasks="b"), "task_id: 'a' is not the task"),
        (log(simulation("a", 0.5), tasks="a"), "simulation 0, reward_info.reward: 0.5"),
        (log(), "there is no trial"),
        ([], "simulations: \\[\\] is no object"),
        ({}, "simulations: is missing"),
        (log(1), "simulation 0, task_id: 1 is no object"),
        (log(simulation("a") | {"reward_info": 1}, tasks="a"), "reward_info.reward: 1 is no obj"),
    ],
)
def test_what_cannot_be_relied_on_is_refused(tmp_path: Path, content: Any, says: str) -> None:
    with pytest.raises(LogError, match=rf"log.json.*{says}"):
        read(tmp_path, content)


@published
@pytest.mark.parametrize(
    ("name", "n", "c", "planned", "infra"),
    [
        ("sierra_gpt-4.1_airline_1trials_20tasks", 20, 10, 20, 0),
        ("pr185_adaptive_cascata_airline_infra_error", 49, 49, 50, 1),
        ("pr_ironshell_opus46_airline_44of50", 44, 31, 50, 0),
    ],
)
def test_the_published_runs_come_to_what_they_must(
    name: str, n: int, c: int, planned: int, infra: int
) -> None:
    table = read_tau2_bench(RAW / f"tau2_{name}.json.gz")
    tally = counts(table)
    assert tally[["n", "c", "planned", "infra"]].sum().tolist() == [n, c, planned, infra]
    assert (table["db_match"] == True).sum() == c  # noqa: E712  (None is neither)


@published
def test_the_published_run_with_row_numbers_for_names_is_refused_or_repaired() -> None:
    path = RAW / "tau2_toolorchestra_airline_gpt-5_1trial.json.gz"
    with pytest.raises(LogError, match="repair=True"):
        read_tau2_bench(path)
    table = read_tau2_bench(path, repair=True)
    assert counts(table)[["n", "c", "planned"]].sum().tolist() == [50, 28, 50]
    with open(RAW.parent / "tau" / "tau2_trials.csv", encoding="utf-8", newline="") as lines:
        known = [r for r in csv.DictReader(lines) if r["source"] == "toolorchestra-airline"]
    names = [r["task_id_true"] or f"row {r['task_id']}" for r in known]
    assert list(table["task"]) == names
    assert [name for name in names if name.startswith("row")] == ["row 13", "row 20"]
    assert (table["task"] == table["recorded_task"]).sum() == 1


@published
def test_the_published_run_without_names_is_refused() -> None:
    with pytest.raises(LogError, match="simulation 0, task_id: is missing"):
        read_tau2_bench(RAW / "tau2_toolorchestra_airline_FIRST_malformed.json.gz")
