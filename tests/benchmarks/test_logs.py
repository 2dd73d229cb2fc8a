"""Reading logs against parsing alone: ``uv run --all-groups pytest -n0 -s tests/benchmarks``.

The peer is ``json.load`` of the same file, or the csv module: what any reader must pay. The files
are made here, in the shape that each project writes, with conversations as long as theirs.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evalkit.logs.appworld import read_appworld
from evalkit.logs.hal import read_hal
from evalkit.logs.swe_bench import read_swe_bench
from evalkit.logs.tau2_bench import read_tau2_bench
from evalkit.logs.tau_bench import read_tau_bench
from evalkit.logs.webarena import read_webarena
from tests.benchmarks.measure import measured, report

SIZES = [int(size) for size in os.environ.get("TRIALS", "100 1000").split()]
NOTE = (
    "ratio below 1: what the checks and the table cost. json.load keeps the last of two equal keys\n"
    "and takes NaN; the readers refuse both, and half a character, and look at every field used."
)

MESSAGES = [
    {"role": role, "content": f"{role} says: {'the order is on its way. ' * 12}", "cost": 0.0125}
    for role in ("user", "assistant") * 12
]
ACTION = {"name": "cancel_order", "arguments": {"order_id": "#W1", "reason": "no longer needed"}}


def tau_bench(trials: int) -> Any:
    info = {"reward_info": {"reward": 1.0, "actions": [ACTION]}, "task": {"actions": [ACTION]}}
    return [
        {"task_id": i // 4, "trial": i % 4, "reward": 1.0, "info": info, "traj": MESSAGES}
        for i in range(trials)
    ]


def tau2_bench(trials: int) -> Any:
    action = ACTION | {"requestor": "assistant"}
    stated = {"actions": [action], "nl_assertions": None}
    return {
        "info": {"num_trials": 4, "agent_info": {"llm": "m"}, "user_info": {"llm": "u"}},
        "tasks": [{"id": str(i), "evaluation_criteria": stated} for i in range(trials // 4)],
        "simulations": [
            {
                "task_id": str(i // 4),
                "trial": i % 4,
                "termination_reason": "user_stop",
                "reward_info": {"reward": 1.0, "action_checks": [{"action": action}]},
                "messages": MESSAGES,
                "agent_cost": 0.25,
            }
            for i in range(trials)
        ],
    }


def swe_bench(trials: int) -> Any:
    ids = [f"project__project-{i}" for i in range(trials)]
    return {"resolved_ids": ids[::2], "unresolved_ids": ids[1::2], "submitted_ids": ids}


def hal(trials: int) -> Any:
    config = {"agent_name": "a", "benchmark_name": "b", "date": "2026-01-01", "run_id": "r"}
    raw = {str(i): {"reward": float(i % 2), "taken": MESSAGES} for i in range(trials)}
    passed, failed = ([t for t, r in raw.items() if r["reward"] == x] for x in (1, 0))
    results = {"successful_tasks": passed, "failed_tasks": failed, "total_cost": 1.5}
    return {"config": config, "results": results, "raw_eval_results": raw}


def appworld(trials: int) -> Any:
    tests = [{"requirement": f"assert {i}", "label": "no_op_fail"} for i in range(8)]
    result = {"success": True, "difficulty": 1, "num_tests": 8, "passes": tests, "failures": []}
    goals = {"task_goal_completion": 100.0, "scenario_goal_completion": 100.0}
    return {"aggregate": goals, "individual": {f"s{i // 3}_{i % 3}": result for i in range(trials)}}


JSON: dict[str, tuple[Callable[[int], Any], Callable[..., Any]]] = {
    "tau_bench": (tau_bench, read_tau_bench),
    "tau2_bench": (tau2_bench, read_tau2_bench),
    "swe_bench": (swe_bench, read_swe_bench),
    "hal": (hal, read_hal),
    "appworld": (appworld, read_appworld),
}


def loaded(path: Path) -> Any:
    with path.open(encoding="utf-8") as file:
        return json.load(file)


def listed(path: Path) -> list[Any]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", [*JSON, "webarena"])
def test_reading_a_log(name: str, tmp_path: Path) -> None:
    table = []
    for trials in SIZES:
        path = tmp_path / f"{name}{trials}"
        if name == "webarena":
            rows = [f"{i},{i % 2},{i % 30},answered\n" for i in range(trials)]
            path.write_text("task_id,success,n_steps,ended\n" + "".join(rows), encoding="utf-8")
            reader, peer = read_webarena, listed
        else:
            make, reader = JSON[name]
            path.write_text(json.dumps(make(trials)), encoding="utf-8")
            peer = loaded
        works = {"evalkit": partial(reader, path), "parsing alone": partial(peer, path)}
        found, results = measured(trials, works)
        assert len(results["evalkit"]) == trials
        size = path.stat().st_size / 1e6
        table += [row | {"MB of file": size, "MB / file": row["MB"] / size} for row in found]
    report(f"logs_{name}", table, x="trials", note=NOTE)
