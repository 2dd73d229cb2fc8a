"""Verdicts on batches of episodes: every row kept, and a reason for each that is no pass.

Dask and Spark over many episodes are in test_engines.py.
"""

import json
import pickle
from typing import Any

import pandas as pd
import pytest

from evalkit import Allowed, Created, Invariant, Task, counts, grade, trials_table
from evalkit.batches import COLUMNS, SCHEMA, verdicts

BEFORE: dict[str, Any] = {"orders": {"W1": {"status": "new"}, "W2": {"status": "new"}}}
TEXT = json.dumps(BEFORE)
TASK = Task(required={"orders/W1/status": "cancelled"})


def left(first: str = "cancelled", second: str = "new") -> str:
    return json.dumps({"orders": {"W1": {"status": first}, "W2": {"status": second}}})


def batch(*afters: Any, before: Any = TEXT, **columns: Any) -> pd.DataFrame:
    rows = [("cancel", trial, before, after) for trial, after in enumerate(afters)]
    return pd.DataFrame(rows, columns=COLUMNS).assign(**columns)


def graded(episodes: pd.DataFrame, task: Task = TASK) -> pd.DataFrame:
    return verdicts(episodes, {"cancel": task})


def test_each_row_has_the_verdict_that_grade_gives() -> None:
    afters = [left(), left("new"), left(second="cancelled"), left("new", "cancelled")]
    rows = graded(batch(*afters))
    alone = [grade(BEFORE, json.loads(after), TASK) for after in afters]
    assert rows["verdict"].tolist() == [v.status for v in alone] == ["pass", *["fail"] * 3]
    assert rows["success"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert rows["why"].tolist() == [
        "",
        "missing: orders/W1/status: expected 'cancelled', found 'new'",
        "collateral: orders/W2/status: expected no change, found 'new' -> 'cancelled'",
        "missing: orders/W1/status: expected 'cancelled', found 'new'; "
        "collateral: orders/W2/status: expected no change, found 'new' -> 'cancelled'",
    ]


def test_a_long_list_of_reasons_is_cut_and_says_so() -> None:
    before = {"t": {str(i): {"x": 0} for i in range(9)}}
    after = {"t": {str(i): {"x": 1} for i in range(9)}}
    episodes = batch(json.dumps(after), before=json.dumps(before))
    why = graded(episodes, Task(required={"t/0/x": 2}))["why"][0]
    assert why.count("collateral") == 2
    assert why.endswith("; and 6 more")


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (left()[:-4], "after: Unterminated string"),
        ("", "after: it is empty"),
        (None, "after: is missing"),
        (float("nan"), "after: is missing"),
        (b"{}", "after: b'{}' is no JSON text"),
        ("[1]", "after: a state is an object, not a list"),
        ('{"a": 1, "a": 2}', "after: the key 'a' is there twice"),
        ('{"a": NaN}', "after: 'NaN' is no number"),
        ('{"a": 1e999}', "after: '1e999' is no number"),
        ('{"a": ' * 100_000 + "1" + "}" * 100_000, "after: it is nested too deeply"),
        ('{"new": ' * 200 + "1" + "}" * 200, "nested deeper than 100 levels"),
    ],
)
def test_a_state_that_cannot_be_read_is_not_evaluated(after: Any, says: str) -> None:
    rows = graded(batch(left(), after, left("new")))
    assert rows["verdict"].tolist() == ["pass", "not evaluated", "fail"]
    assert rows["success"].isna().tolist() == [False, True, False]
    assert says in rows["why"][1]
    counted = counts(trials_table(rows, infra="infra"))
    assert counted[["n", "c", "planned", "infra"]].values.tolist() == [[2, 1, 3, 0]]


@pytest.mark.parametrize("kind", ["string", "object"])
def test_what_is_missing_is_missing_in_every_type_of_column(kind: str) -> None:
    episodes = batch(left(), None).astype({"before": kind, "after": kind})
    rows = graded(episodes.assign(infra=pd.array([False, None], "boolean")))
    assert rows["why"].tolist() == ["", "infra: None is neither true nor false"]
    assert graded(episodes)["why"].tolist() == ["", "after: is missing"]


def test_the_state_before_is_read_with_the_same_care() -> None:
    rows = graded(batch(left(), before='{"a": 1, "a": 2}'))
    assert rows["why"][0] == "before: the key 'a' is there twice in one object"


def test_an_unknown_task_is_not_evaluated_and_stays_in_the_counts() -> None:
    episodes = batch(left(), left()).assign(task=["cancel", "refund"])
    rows = graded(episodes)
    assert rows["verdict"].tolist() == ["pass", "not evaluated"]
    assert rows["why"][1] == "task: there is none of the name 'refund'"
    counted = counts(trials_table(rows, infra="infra"))
    assert counted.set_index("task").loc["refund", ["n", "planned"]].tolist() == [0, 1]


def test_a_task_that_does_not_fit_the_state_or_states_nothing_is_not_evaluated() -> None:
    rows = graded(batch(left()), Task(required={"ordres/W1/status": "x"}))
    assert rows["verdict"][0] == "not evaluated"
    assert "required['ordres/W1/status']: there is no 'ordres'" in rows["why"][0]
    rows = graded(batch(left()), Task())
    assert (rows["verdict"][0], rows["why"][0][:23]) == ("not evaluated", "the task states nothing")


def test_an_infra_failure_is_tagged_and_its_states_are_not_looked_at() -> None:
    rows = graded(batch(left(), None, left(), infra=[False, True, None]))
    assert rows["verdict"].tolist() == ["pass", "not evaluated", "not evaluated"]
    assert rows["infra"].tolist() == [False, True, False]
    assert rows["why"][1:].tolist() == [
        "the environment failed",
        "infra: None is neither true nor false",
    ]
    # A state that would pass earns nothing where the environment failed.
    assert graded(batch(left(), infra=True))["success"].isna().all()


def test_a_mistake_in_an_invariant_is_no_pass_and_stops_no_batch() -> None:
    odd = Task(invariants=[Invariant("raises", lambda state: 1 / 0)])
    rows = graded(batch(left(), left()), odd)
    assert set(rows["verdict"]) == {"not evaluated"}
    assert "raises on the before state too" in rows["why"][0]


def test_an_empty_batch_and_a_full_one_have_the_same_columns_and_types() -> None:
    full = graded(batch(left(), None))
    assert graded(batch(left()).iloc[:0]).dtypes.equals(full.dtypes)
    names = [entry.split()[0] for entry in SCHEMA.split(", ")]
    assert list(full.columns) == names
    assert full["success"].dtype == "float64"
    assert full["infra"].dtype == "bool"


def test_order_index_and_names_are_those_of_the_batch() -> None:
    episodes = batch(left(), left("new"), left()).set_axis([7, 3, 5])
    rows = graded(episodes)
    assert rows.index.tolist() == [7, 3, 5]
    assert rows["trial"].tolist() == [0, 1, 2]
    assert list(episodes.columns) == list(COLUMNS)  # nothing was added to it


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="no column 'after'; the columns are task, trial, before"):
        graded(batch(left()).drop(columns="after"))


def test_a_task_and_the_function_can_be_sent_to_another_process() -> None:
    task = Task(
        required={"orders/W1/status": "cancelled"},
        created=[Created("orders", status="new", free=["id"])],
        allowed=[Allowed("orders/W2/status", when="instant")],
    )
    function, sent = pickle.loads(pickle.dumps((verdicts, task)))
    assert function is verdicts
    assert sent == task
