"""The small tables of published results that chapter 12 reads, counted from the public files.

``python -m evalkit.course.tables FOLDER`` makes them anew in ``evalkit/course/data``. The folder holds
the public result files and is no part of the course; what each of them is, and where it comes from,
is told in ``evalkit/course/data/README.md``.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import Task, counts, grade, state_diff, trials_table
from evalkit.logs.tau2_bench import read_tau2_bench
from evalkit.logs.tau_bench import read_tau_bench
from evalkit.logs.the_agent_company import read_the_agent_company
from evalkit.logs.webarena import read_webarena

DATA = Path(__file__).with_name("data")
DIGITS = 6  # of a published percentage, where more are given
RAW = {
    ("τ-bench", "airline", "gpt-4o"): "tau-bench_gpt-4o-airline",
    ("τ-bench", "retail", "fork 0618"): "tau-bench_fork_assertions_retail_0618",
    ("τ²-bench", "airline", "gpt-4.1, 20 tasks"): "tau2_sierra_gpt-4.1_airline_1trials_20tasks",
    ("τ²-bench", "airline", "gpt-5"): "tau2_toolorchestra_airline_gpt-5_1trial",
    ("τ²-bench", "airline", "adaptive cascata"): "tau2_pr185_adaptive_cascata_airline_infra_error",
    ("τ²-bench", "airline", "ironshell"): "tau2_pr_ironshell_opus46_airline_44of50",
}
# Published runs of which there is a table of trials, and what it calls them.
LISTED = {
    ("τ²-bench", "retail", "gpt-5"): "toolorchestra-retail",
    ("τ²-bench", "airline", "aide, sonnet 4.5"): "aide-sonnet45-airline",
    ("τ²-bench", "airline", "nori, gpt-oss-120b"): "nori-gptoss120b-airline",
    ("τ²-bench", "airline", "button agent, opus 4.6"): "button-opus46-airline",
}
ALL_FORMS = ("number", "spaces", "caseless", "multiset")
WAYS = {
    "order in lists": ALL_FORMS[3:],
    "type of number": ALL_FORMS[:1],
    "case": ALL_FORMS[2:3],
    "spaces": ALL_FORMS[1:2],
    "all four": ALL_FORMS,
}


def published_runs(folder: Path) -> pd.DataFrame:
    """Return how many tasks of each run have so many trials, successes and infra failures."""
    tables = {run: counts(_raw(folder, run)) for run in RAW}
    tables |= {run: counts(_listed(folder, name)) for run, name in LISTED.items()}
    tally = pd.concat(tables, names=["benchmark", "domain", "run"]).reset_index()
    by = ["benchmark", "domain", "run", "planned", "n", "c", "infra"]
    return tally.groupby(by).size().rename("tasks").reset_index()


def _raw(folder: Path, run: tuple[str, str, str]) -> pd.DataFrame:
    path = folder / "raw" / f"{RAW[run]}.json.gz"
    if run[0] == "τ-bench":
        return read_tau_bench(path)
    return read_tau2_bench(path, repair=run[2] == "gpt-5")


def _listed(folder: Path, name: str) -> pd.DataFrame:
    """Return the trials of a run of τ²-bench, under the true numbers of their tasks."""
    log = pd.read_csv(folder / "tau" / "tau2_trials.csv", dtype={"task_id_true": str})
    log = log[log["source"] == name]
    log = log.assign(task=log["task_id_true"].fillna("row " + log["task_id"].astype(str)))
    table: pd.DataFrame = trials_table(log, success="reward")
    return table


def tau2_leaderboard(folder: Path) -> pd.DataFrame:
    """Return the rows of τ²-bench's public leaderboard that state pass^1 to pass^4."""
    rows = pd.read_csv(folder / "tau" / "tau2_published_passk.csv", dtype=str)
    points = [f"pass_{k}" for k in range(1, 5)]
    rows = rows.dropna(subset=points)
    rows = rows[~rows["submission"].str.contains("EXAMPLE")].reset_index(drop=True)
    digits = rows[points].apply(lambda column: column.str.partition(".")[2].str.len()).max(axis=1)
    rows["decimals"] = digits.clip(upper=DIGITS)
    rows[points] = rows[points].astype(float).round(DIGITS)
    return rows[["domain", "submission", "user_sim", "decimals", *points]].sort_values(
        ["domain", "submission"], ignore_index=True
    )


def pairs(folder: Path) -> pd.DataFrame:
    """Return, for two runs at a time, on how many tasks neither, one or both succeeded."""
    names = pd.read_csv(DATA / "the_agent_company.csv").set_index("date")["submission"]
    path = folder / "budget" / "tac_pertask_6submissions.csv"
    office = {
        names[f"{label[:4]}-{label[4:6]}-{label[6:8]}"]: read_the_agent_company(
            path, submission=label
        )
        for label in pd.read_csv(path)["submission"].unique()
    }
    airline = {run[2]: _listed(folder, name) for run, name in LISTED.items() if run[1] == "airline"}
    airline["gpt-5"] = _raw(folder, ("τ²-bench", "airline", "gpt-5"))
    groups = {"TheAgentCompany": office, "τ²-bench airline": airline}
    rows = [
        {"benchmark": group, "first": a, "second": b} | _cells(runs[a], runs[b])
        for group, runs in groups.items()
        for a, b in itertools.combinations(runs, 2)
    ]
    return pd.DataFrame(rows)


def _cells(a: pd.DataFrame, b: pd.DataFrame) -> dict[str, int]:
    """Return on how many of the tasks that both were judged on neither, one or both succeeded."""
    first, second = (table.set_index("task")["success"].dropna() for table in (a, b))
    both = pd.crosstab(*first.align(second, join="inner")).reindex(
        index=[0.0, 1.0], columns=[0.0, 1.0], fill_value=0
    )
    (neither, second), (first, together) = both.to_numpy().tolist()
    return {"neither": neither, "first_only": first, "second_only": second, "both": together}


def _episodes(folder: Path) -> Iterator[dict[str, Any]]:
    for name in ("tau1", "tau2"):
        path = folder / "states" / f"state_pairs_{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def state_verdicts(folder: Path) -> pd.DataFrame:
    """Return how many real episodes have which verdict: the benchmark's, ours, and the reward."""
    rows = []
    for e in _episodes(folder):
        verdict = grade(e["before"], e["after"], Task.from_goal(e["before"], e["gold"]))
        rows.append(
            {
                "benchmark": e["system"].replace("tau2", "τ²").replace("tau", "τ"),
                "domain": e["domain"],
                "changes_wanted": int(not e["gold_noop"]),
                "db_match": int(e["db_match"]),
                "same_state": int(not state_diff(e["gold"], e["after"])),
                "missing": int(bool(verdict.missing)),
                "collateral": int(bool(verdict.collateral)),
                "reward": int(e["reward"]),
            }
        )
    table = pd.DataFrame(rows)
    return table.groupby(list(table.columns)).size().rename("episodes").reset_index()


def missed_answers(folder: Path) -> pd.DataFrame:
    """Return the episodes whose database matches the goal and whose reward is 0, with the reason."""
    rows = []
    for e in _episodes(folder):
        said = e.get("recorded_outputs") or e.get("communicate") or {}
        if e["db_match"] and not e["reward"]:
            unsaid = ", ".join(answer for answer, found in said.items() if not found)
            rows.append(
                {
                    "benchmark": e["system"].replace("tau2", "τ²").replace("tau", "τ"),
                    "run": e["source"],
                    "task": e["task_id"],
                    "changes_wanted": int(not e["gold_noop"]),
                    "not_said": unsaid,
                }
            )
    return pd.DataFrame(rows)


def loosened(folder: Path) -> pd.DataFrame:
    """Return how many unequal states become equal when differences of one kind are ignored."""
    groups = {"real mismatch": [e for e in _episodes(folder) if not e["db_match"]]}
    with gzip.open(folder / "states" / "rewritten_goals.json.gz", "rt", encoding="utf-8") as file:
        for goal in json.load(file):
            groups.setdefault(f"rewritten: {goal['rewrite']}", []).append(goal)
    rows = []
    for group, cases in groups.items():
        row: dict[str, Any] = {"group": group, "cases": len(cases)}
        for way, names in {"nothing": (), **WAYS}.items():
            forms: dict[Any, Any] = {("*",) * d: names for d in range(1, 10) if names}
            row[way] = sum(not state_diff(c["gold"], c["after"], forms=forms) for c in cases)
        rows.append(row)
    return pd.DataFrame(rows)


def appworld(folder: Path) -> pd.DataFrame:
    """Return the published completion of tasks and of scenarios on AppWorld, in per cent."""
    rows = pd.read_csv(folder / "tau" / "appworld_leaderboard.csv").query("level == 'all'")
    return rows[["method", "llm", "date", "split", "tgc", "sgc"]]


def webarena_templates(folder: Path) -> pd.DataFrame:
    """Return how many templates have so many tasks with and without a verdict, and so many passed."""
    path = folder / "budget" / "aatm_step_webarena_pertask.csv"
    log = read_webarena(path, suite="step_full").assign(rows=1)
    sums = log.groupby("template").agg({"rows": "sum", "success": ["count", "sum"]})
    sums.columns = pd.Index(["tasks", "judged", "passed"])
    table = sums.astype(int).groupby(["tasks", "judged", "passed"]).size()
    return table.rename("templates").reset_index()


TABLES: dict[str, Callable[[Path], pd.DataFrame]] = {
    "published_runs.csv": published_runs,
    "tau2_leaderboard.csv": tau2_leaderboard,
    "published_pairs.csv": pairs,
    "state_verdicts.csv": state_verdicts,
    "missed_answers.csv": missed_answers,
    "loosened_states.csv": loosened,
    "appworld.csv": appworld,
    "webarena_templates.csv": webarena_templates,
}


def main(folder: str) -> None:
    """Write all tables, made from the public result files in a folder."""
    for name, table in TABLES.items():
        table(Path(folder)).to_csv(DATA / name, index=False, lineterminator="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
