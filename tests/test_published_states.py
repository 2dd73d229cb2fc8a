"""The diff and the grader on 807 real episodes of two public benchmarks, and on rewritten goals."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from evalkit import Task, grade, state_diff

STATES = Path(__file__).parents[2] / "shared" / "data" / "states"
pytestmark = pytest.mark.skipif(
    not STATES.is_dir(), reason="needs the published states in ../shared"
)


@pytest.fixture(scope="module")
def episodes() -> list[dict[str, Any]]:
    rows = []
    for name in ("tau1", "tau2"):
        with gzip.open(STATES / f"state_pairs_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    return rows


def test_the_strict_diff_agrees_with_the_recorded_verdict_on_every_episode(episodes: list) -> None:
    assert len(episodes) == 807
    agree = [(not state_diff(e["gold"], e["after"])) == e["db_match"] for e in episodes]
    assert all(agree)


def test_the_task_made_of_each_goal_agrees_too(episodes: list) -> None:
    for e in episodes:
        verdict = grade(e["before"], e["after"], Task.from_goal(e["before"], e["gold"]))
        assert verdict.passed == e["db_match"], (e["source"], e["task_id"], str(verdict))


def test_goals_that_equal_the_start_are_flagged(episodes: list) -> None:
    noop = [e for e in episodes if Task.from_goal(e["before"], e["gold"]).unchanged]
    assert len(noop) == sum(e["gold_noop"] for e in episodes) == 214
    untouched = [e for e in episodes if not (e["before"] or e["after"] or e["gold"])]
    assert len(untouched) == 169
    assert all(grade({}, {}, Task.from_goal({}, {})).passed for _ in untouched[:1])


FORMS = {
    "address lower-cased": {("*", "address", "*"): "caseless"},
    "int -> float args": {
        ("*", "total_baggages"): "number",
        ("*", "nonfree_baggages"): "number",
        ("*", "payment_history", "*", "amount"): "number",
        ("*", "payment_methods", "*", "amount"): "number",
    },
    "reverse list args (paired)": {
        ("*", "passengers"): "multiset",
        ("*", "flights"): "multiset",
        ("*", "payment_history"): "multiset",
    },
}


def test_goals_rewritten_without_a_change_of_meaning_pass_as_soon_as_the_field_says_so() -> None:
    with gzip.open(STATES / "rewritten_goals.json.gz", "rt", encoding="utf-8") as file:
        goals = json.load(file)
    assert len(goals) == 66
    for g in goals:
        assert state_diff(g["gold"], g["after"]), "the strict comparison rejects every one"
        if g["rewrite"] in FORMS:
            task = Task.from_goal(g["before"], g["gold"], forms=FORMS[g["rewrite"]])
            assert grade(g["before"], g["after"], task).passed, g["task"]
