from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evalkit.passk import pass_hat_k_curve
from evalkit.trials import counts, trials_table

LOG = {
    "task": ["a", "a", "b", "b", "c", "d"],
    "trial": [0, 1, 0, 1, 0, 0],
    "success": [True, False, None, True, None, False],
    "infra": [False, False, True, False, False, True],
    "steps": [3, 9, 1, 4, 2, 1],
}
COUNTED = {
    "task": ["a", "b", "c", "d"],
    "n": [2, 1, 0, 0],
    "c": [1, 1, 0, 0],
    "planned": [2, 2, 1, 1],
    "infra": [0, 1, 0, 1],
}

ENGINES = {
    "pandas objects": pd.DataFrame,
    "pandas floats": lambda log: pd.DataFrame(log).astype({"success": float}),
    "pandas nullable": lambda log: pd.DataFrame(log).convert_dtypes(),
    "pandas on Arrow": lambda log: pd.DataFrame(log).convert_dtypes(dtype_backend="pyarrow"),
    "Polars": pl.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "PyArrow": pa.table,
    "DuckDB": lambda log: duckdb.from_arrow(pa.table(log)),
}


@pytest.fixture(params=ENGINES)
def engine(request: Any) -> Any:
    return ENGINES[request.param]


def log_of(*rows: Any) -> Any:
    task, trial, success = zip(*rows, strict=True)
    return pd.DataFrame({"task": task, "trial": trial, "success": success})


def test_each_engine_gives_the_same_counts(engine: Any) -> None:
    table = counts(trials_table(engine(LOG), infra="infra"))
    assert table.to_dict("list") == COUNTED
    assert all(table[name].dtype == "int64" for name in ("n", "c", "planned", "infra"))


def test_the_table_stays_in_its_engine_and_keeps_what_is_named(engine: Any) -> None:
    log = engine(LOG)
    table = trials_table(log, infra="infra", steps="steps")
    assert type(table) is type(log)
    columns = table.collect_schema().names() if isinstance(log, pl.LazyFrame) else table.columns
    if isinstance(log, pa.Table):
        columns = table.column_names
    assert list(columns) == ["task", "trial", "success", "infra", "steps"]


def test_a_table_goes_through_a_second_time_unchanged(engine: Any) -> None:
    once = trials_table(engine(LOG), infra="infra")
    again = trials_table(once, infra="infra")
    assert counts(again).to_dict("list") == COUNTED


def test_the_order_of_the_rows_does_not_matter(engine: Any) -> None:
    backwards = {name: values[::-1] for name, values in LOG.items()}
    assert counts(trials_table(engine(backwards), infra="infra")).to_dict("list") == COUNTED


def test_a_repeated_trial_is_refused_by_each_engine(engine: Any) -> None:
    twice = {name: [*values, values[0]] for name, values in LOG.items()}
    with pytest.raises(ValueError, match="task 'a', trial 0 has 2 rows: number the runs"):
        trials_table(engine(twice), infra="infra")
    dropped = trials_table(engine(twice), infra="infra", duplicates="drop")
    assert counts(dropped).to_dict("list") == COUNTED


def test_rows_that_disagree_about_a_trial_are_never_dropped(engine: Any) -> None:
    twice = {name: [*values, values[0]] for name, values in LOG.items()}
    twice["success"][-1] = False
    with pytest.raises(ValueError, match="its rows disagree"):
        trials_table(engine(twice), infra="infra", duplicates="drop")


def test_a_graded_score_is_refused_until_a_threshold_is_stated(engine: Any) -> None:
    graded = LOG | {"success": [0.005, 0.0, None, 1.0, 0.5, 0.0]}
    with pytest.raises(ValueError, match="state a threshold. Rows: 2; one has task"):
        trials_table(engine(graded), infra="infra")
    table = counts(trials_table(engine(graded), infra="infra", threshold=0.5))
    assert table["c"].tolist() == [0, 1, 1, 0]
    assert table["n"].tolist() == [2, 1, 1, 0]


def test_a_trial_that_passed_cannot_be_an_infra_failure(engine: Any) -> None:
    wrong = LOG | {"infra": [True, False, True, False, False, True]}
    with pytest.raises(ValueError, match="tagged infra has passed.*task 'a', trial 0"):
        trials_table(engine(wrong), infra="infra")


@pytest.mark.parametrize("name", ["task", "trial", "infra"])
def test_what_every_trial_needs_is_not_guessed(engine: Any, name: Any) -> None:
    wrong = LOG | {name: [None, *LOG[name][1:]]}
    with pytest.raises(ValueError, match=f"{name} is missing. Rows: 1"):
        trials_table(engine(wrong), infra="infra")


def test_not_a_number_is_a_missing_verdict_not_a_failure() -> None:
    scores = [1.0, float("nan"), None]
    log = {"task": ["a"] * 3, "trial": [0, 1, 2], "success": scores}
    for frame in (pl.DataFrame(log), pd.DataFrame(log), duckdb.from_arrow(pa.table(log))):
        for threshold in (None, 0.5):
            row = counts(trials_table(frame, threshold=threshold)).loc[0]
            assert (row["n"], row["c"], row["planned"]) == (1, 1, 3)


def test_zeros_and_ones_are_verdicts_in_any_type_of_number() -> None:
    for kind in ("int8", "uint8", "int64", "float32", "Int64", "boolean", "object"):
        log = log_of(("a", 0, 1), ("a", 1, 0), ("a", 2, 0)).astype({"success": kind})
        assert counts(trials_table(log))[["n", "c"]].to_numpy().tolist() == [[3, 1]]


def test_an_infra_flag_may_be_zeros_and_ones_but_nothing_else() -> None:
    log = log_of(("a", 0, 1), ("a", 1, 0))
    assert counts(trials_table(log.assign(tag=[0, 1]), infra="tag"))["infra"].tolist() == [1]
    with pytest.raises(ValueError, match="infra is neither boolean nor 0 or 1"):
        trials_table(log.assign(tag=[0, 2]), infra="tag")
    with pytest.raises(ValueError, match="infra: column 'tag' must hold booleans"):
        trials_table(log.assign(tag=["", "timeout"]), infra="tag")


def test_a_column_named_infra_is_used_though_nobody_names_it(engine: Any) -> None:
    assert counts(trials_table(engine(LOG))).to_dict("list") == COUNTED
    # Another that is named goes before it.
    log = log_of(("a", 0, 0), ("a", 1, 0)).assign(infra=[True, True], tag=[True, False])
    assert counts(trials_table(log, infra="tag"))["infra"].tolist() == [1]


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ("own.csv", r"frame: it is of type str, .*read_trials\('own.csv'\)"),
        (Path("own.csv"), r"read_trials\('own.csv'\)"),
        ([{"task": "a"}], r"frame: it is of type list, .*pandas.DataFrame\(rows\)"),
    ],
)
def test_what_is_no_frame_is_refused_with_what_makes_one(frame: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        trials_table(frame)


def test_a_number_of_steps_or_a_cost_must_be_a_number() -> None:
    log = log_of(("a", 0, 1)).assign(cost=["$3"])
    with pytest.raises(ValueError, match="cost: column 'cost' must hold numbers"):
        trials_table(log, cost="cost")


def test_text_is_no_verdict() -> None:
    with pytest.raises(
        ValueError, match=r"success: column 'success' must hold booleans.*log\['success'\] == 'yes'"
    ):
        trials_table(log_of(("a", 0, "true")))


def test_a_missing_column_is_named_with_what_there_is() -> None:
    with pytest.raises(ValueError, match="trial: no column 'trial'; the frame has task, run"):
        trials_table(pd.DataFrame({"task": ["a"], "run": [0], "success": [1]}))


def test_a_frame_without_rows_is_refused(engine: Any) -> None:
    with pytest.raises(ValueError, match="no rows"):
        trials_table(engine({"task": [], "trial": [], "success": np.array([], float)}))


@pytest.mark.parametrize(
    "wrong", [{"duplicates": "keep"}, {"threshold": float("nan")}, {"threshold": float("inf")}]
)
def test_a_choice_that_means_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        trials_table(log_of(("a", 0, 1)), **wrong)


def test_counting_needs_a_checked_table() -> None:
    with pytest.raises(ValueError, match="not made by trials_table"):
        counts(log_of(("a", 0, 1)))
    table = trials_table(log_of(("a", 0, 1), ("a", 1, 0)))
    with pytest.raises(ValueError, match="repeats a trial"):
        counts(pd.concat([table, table]))
    with pytest.raises(ValueError, match="holds scores"):
        counts(table.assign(success=0.5))
    with pytest.raises(ValueError, match="no rows"):
        counts(table.iloc[:0])
    assert counts(table.assign(infra=True))[["n", "c", "infra"]].to_numpy().tolist() == [[0, 0, 2]]


def test_a_task_that_was_never_run_stays_in_the_counts() -> None:
    table = counts(trials_table(log_of(("a", 0, 1))), planned={"a": 2, "z": 2})
    assert table.to_dict("list") == {
        "task": ["a", "z"],
        "n": [1, 0],
        "c": [1, 0],
        "planned": [2, 2],
        "infra": [0, 0],
    }


def test_one_number_plans_every_task_that_has_a_row() -> None:
    table = counts(trials_table(log_of(("a", 0, 1), ("b", 0, 0), ("b", 1, 0))), planned=4)
    assert table["planned"].tolist() == [4, 4]
    assert table["n"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        (1, "task 'a' has 2 trials, and 1 were planned"),
        ({"b": 2}, "planned does not name the task 'a'"),
        (2.5, r"planned\[0\] is 2.5"),
        ({"a": -1}, r"planned\[0\] is -1"),
    ],
)
def test_a_plan_that_does_not_fit_the_log_is_refused(planned: Any, message: Any) -> None:
    with pytest.raises(ValueError, match=message):
        counts(trials_table(log_of(("a", 0, 1), ("a", 1, 0))), planned=planned)


def test_task_names_of_any_type_are_kept_apart_and_sorted() -> None:
    numbers = counts(trials_table(log_of((10, 0, 1), (9, 0, 0))))
    assert numbers["task"].tolist() == [9, 10]
    mixed = log_of((1, 0, 1), ("1", 0, 0)).astype({"task": object})
    assert counts(trials_table(mixed))["task"].tolist() == ["1", 1]
    categories = log_of(("b", 0, 1), ("a", 0, 0)).astype({"task": "category"})
    assert counts(trials_table(categories))["task"].tolist() == ["a", "b"]


def test_a_task_with_fewer_rows_is_not_scored_as_if_the_others_had_failed() -> None:
    table = counts(trials_table(log_of(("a", 0, 1), ("a", 1, 1), ("b", 0, 1))))
    assert pass_hat_k_curve(table).value.tolist() == [1]
    longer = pass_hat_k_curve(table, K=2)
    assert longer.value.tolist() == [1, 1]
    assert longer.excluded == ("b",)


def test_stale_rows_cannot_lift_pass_hat_k_above_one() -> None:
    log = log_of(("a", 0, 1), ("a", 0, 1), ("a", 1, 1), ("b", 0, 0), ("b", 1, 0))
    with pytest.raises(ValueError, match="task 'a', trial 0 has 2 rows"):
        trials_table(log)
    table = counts(trials_table(log, duplicates="drop"))
    assert pass_hat_k_curve(table).value.tolist() == [0.5, 0.5]


def test_a_trial_column_that_holds_the_task_number_leaves_one_trial_for_each_task() -> None:
    table = counts(trials_table(log_of((0, 0, 1), (1, 1, 1), (2, 2, 1), (3, 3, 0))))
    assert pass_hat_k_curve(table).value.tolist() == [0.75]
