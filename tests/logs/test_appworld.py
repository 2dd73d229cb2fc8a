"""AppWorld evaluations: aggregates that the tasks must give, and collateral by the test's label."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit import counts
from evalkit.logs import LogError
from evalkit.logs.appworld import read_appworld


def graded(passes: int = 2, unmet: int = 0, collateral: int = 0, **other: Any) -> dict[str, Any]:
    labels = ["no_op_fail"] * unmet + ["no_op_pass"] * collateral
    failures = [{"requirement": "a test", "trace": "", "label": label} for label in labels]
    return {
        "success": not labels,
        "difficulty": 1,
        "num_tests": passes + len(labels),
        "passes": [{"requirement": "a test", "label": "no_op_fail"}] * passes,
        "failures": failures,
    } | other


def evaluation(tgc: float, sgc: float, **tasks: Any) -> dict[str, Any]:
    aggregate = {"task_goal_completion": tgc, "scenario_goal_completion": sgc}
    return {
        "aggregate": aggregate,
        "individual": {name.removeprefix("t"): task for name, task in tasks.items()},
    }


def read(folder: Path, content: Any) -> Any:
    path = folder / "test_normal.json"
    path.write_text(json.dumps(content))
    return read_appworld(path)


RIGHT = evaluation(66.7, 50.0, t82e2fac_1=graded(), t82e2fac_2=graded(1, 1, 2), t50e1ac9_1=graded())


def test_a_row_a_task_with_its_scenario_and_its_failed_tests_by_kind(tmp_path: Path) -> None:
    table = read(tmp_path, RIGHT)
    columns = ["task", "trial", "success", "scenario", "tests", "passed", "unmet", "collateral"]
    assert table[columns].values.tolist() == [
        ["82e2fac_1", 0, 1.0, "82e2fac", 2, 2, 0, 0],
        ["82e2fac_2", 0, 0.0, "82e2fac", 4, 1, 1, 2],
        ["50e1ac9_1", 0, 1.0, "50e1ac9", 2, 2, 0, 0],
    ]
    assert not table["infra"].any()
    assert table["steps"].isna().all()
    assert table["cost"].isna().all()


def test_the_published_figures_come_from_the_rows(tmp_path: Path) -> None:
    table = read(tmp_path, RIGHT)
    assert round(100 * table["success"].mean(), 1) == 66.7
    assert 100 * table.groupby("scenario")["success"].min().mean() == 50


def test_a_task_without_a_test_is_not_evaluated_though_it_counts_as_a_success(
    tmp_path: Path,
) -> None:
    table = read(tmp_path, evaluation(100.0, 100.0, ta_1=graded(0), ta_2=graded()))
    assert counts(table)[["n", "c", "planned"]].values.tolist() == [[0, 0, 1], [1, 1, 1]]


def test_a_failed_test_without_a_label_leaves_both_counts_unknown(tmp_path: Path) -> None:
    failures = [{"requirement": "a test", "trace": "", "label": None}]
    task = graded(1, failures=failures, num_tests=2, success=False)
    table = read(tmp_path, evaluation(0.0, 0.0, ta_1=task))
    assert table[["unmet", "collateral"]].isna().all(axis=None)


def test_tests_that_never_ran_are_not_passed(tmp_path: Path) -> None:
    table = read(tmp_path, evaluation(0.0, 0.0, ta_1=graded(1, num_tests=3, success=False)))
    assert list(table["success"]) == [0.0]


def test_rounding_of_the_aggregates_is_allowed_for(tmp_path: Path) -> None:
    tasks = {f"ta{i}_1": graded(1, int(i > 55)) for i in range(168)}
    assert read(tmp_path, evaluation(33.3, 33.3, **tasks))["success"].sum() == 56
    for wrong in (32.7, 33.9):  # one task fewer, one more
        with pytest.raises(LogError, match="task_goal_completion"):
            read(tmp_path, evaluation(wrong, 33.3, **tasks))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (evaluation(50.0, 50.0, ta_1=graded()), "aggregate.task_goal_completion: is 50.0; .* 100"),
        (evaluation(50.0, 50.0, ta_1=graded(), ta_2=graded(1, 1)), "scenario_goal_completion: is"),
        (evaluation(0.0, 0.0, ta=graded(1, 1)), "individual.a: is no id of a task"),
        (evaluation(0.0, 0.0, ta_1=graded(num_tests=1)), "a_1, num_tests: is 1; .* more"),
        (evaluation(0.0, 0.0, ta_1=graded(num_tests=3)), "a_1, success: is True, with 2 of 3"),
        (evaluation(0.0, 0.0, ta_1=graded(success=1)), "a_1, success: is 1, with 2 of 2"),
        (evaluation(0.0, 0.0, ta_1=graded(num_tests="2")), "a_1, num_tests: is '2'"),
        (evaluation(0.0, 0.0, ta_1={}), "a_1, num_tests: is missing"),
        (evaluation(0.0, 0.0), "there is no trial"),
        ({"individual": {"a_1": graded()}}, "aggregate.task_goal_completion: is missing"),
        (graded(), "individual: is missing"),
        ([], r"individual: \[\] is no object"),
    ],
)
def test_what_cannot_be_relied_on_is_refused(tmp_path: Path, content: Any, says: str) -> None:
    with pytest.raises(LogError, match=f"test_normal.json.*{says}"):
        read(tmp_path, content)


def test_an_unknown_label_is_named_with_its_test(tmp_path: Path) -> None:
    odd = graded(1, 1)
    odd["failures"][0]["label"] = "no_op"
    with pytest.raises(LogError, match="individual.a_1, failures 0, label: 'no_op'"):
        read(tmp_path, evaluation(0.0, 0.0, ta_1=odd))


def test_a_task_twice_or_a_cut_is_named(tmp_path: Path) -> None:
    path, text = tmp_path / "test_normal.json", json.dumps(RIGHT)
    path.write_text(text.replace("82e2fac_2", "82e2fac_1"))
    with pytest.raises(LogError, match="the key '82e2fac_1' is there twice"):
        read_appworld(path)
    path.write_text(text[:-5])
    with pytest.raises(LogError, match="test_normal.json, line 1: .*cut off"):
        read_appworld(path)
