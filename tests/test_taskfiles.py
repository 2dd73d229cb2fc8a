import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from evalkit import (
    Allowed,
    Between,
    Created,
    Invariant,
    Task,
    TaskError,
    load_task,
    save_task,
    task_from_dict,
    task_to_dict,
)

EVERYTHING = Task(
    required={
        "orders/W1/status": "cancelled",
        ("files", "a/b"): b"\x00\xff",
        ("lines", ("W1", 3)): {"n": Decimal("1.50"), "at": datetime(2026, 3, 1, tzinfo=UTC)},
        ("t", 1): {2: "int key", "$odd": date(2026, 3, 1)},
    },
    created=[
        Created("refunds", order_id="W1", amount=42.5, free=["id"]),
        Created(("a/b",), columns={7: 1}),
    ],
    deleted=["cart/7", ("cart", "8")],
    allowed=[
        Allowed("log/*", only="added"),
        Allowed("orders/W1/at", when=Between("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z")),
        Allowed(("orders", "W1", "by"), when="instant", only="changed"),
        Allowed("views", whole=True),
    ],
    forms={"refunds/*/amount": "number", "orders/*/tags": ["multiset", "caseless"]},
)


def test_a_task_survives_its_file(tmp_path: Path) -> None:
    save_task(EVERYTHING, tmp_path / "task.json")
    loaded = load_task(tmp_path / "task.json")
    assert repr(task_to_dict(loaded)) == repr(task_to_dict(EVERYTHING))
    assert loaded.required == EVERYTHING.required
    assert loaded.created == EVERYTHING.created
    assert loaded.deleted == EVERYTHING.deleted
    assert loaded.allowed == EVERYTHING.allowed


def test_free_columns_are_written_as_the_list_that_people_write(tmp_path: Path) -> None:
    task = Task(created=[Created("refunds", amount=42.5, free=["id", "created_at"])])
    assert task_to_dict(task)["created"][0]["free"] == ["id", "created_at"]
    assert task_from_dict(task_to_dict(task)) == task


def test_the_largest_and_the_least_task_survive() -> None:
    for task in (Task(), Task(unchanged=True), Task(required={"x": float("nan")})):
        assert repr(task_from_dict(json.loads(json.dumps(task_to_dict(task))))) == repr(task)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"required": {,}}', ", line 1: "),
        ('{\n "required": {"a": NaN}\n}', "'NaN' is no number .*write {.\\$float"),
        ('{\n "deleted": [],\n "deleted": ["a"]\n}', "the key 'deleted' is there twice"),
        ("[]", r": \[\] is no object"),
        ('{"requierd": {}}', ", line 1: unknown entry 'requierd'; known are required"),
        ('{"created": [\n{"tabel": "t"}]}', r", line 2: created\[0\]: unknown entry 'tabel'"),
        ('{"created": [{"table": "t"}]}', r"created\[0\]: .*name at least one column"),
        ('{"created": {}}', "created: {}: write a list"),
        ('{"deleted": [""]}', r"deleted\[0\]: .*empty segment"),
        (
            '{"allowed": [\n\n{"path": "orders/*"}]}',
            r", line 3: allowed\[0\]: .*covers a whole table",
        ),
        ('{"allowed": [{"path": "a/b", "when": "later"}]}', r"allowed\[0\].*when='later'"),
        (
            '{"allowed": [{"path": "a/b", "when": {"$between": [1]}}]}',
            "cannot be read as '\\$between'",
        ),
        ('{"allowed": [{"path": "a/b", "whole": "yes"}]}', "whole='yes'; write True or False"),
        ('{"required": {"a": {"$bytes": "xyz"}}}', "cannot be read as '\\$bytes'"),
        ('{"required": {"a": {"$eval": "1"}}}', "unknown '\\$eval'"),
        ('{"allowed": [{"only": "added"}]}', r"allowed\[0\]: has no 'path'"),
        ('{"created": [{"table": "t", "columns": [1]}]}', r"created\[0\]: .*write column names"),
        (
            '{"created": [{"table": "t", "columns": {"a": 1}, "free": 5}]}',
            "write a list of columns",
        ),
        ('{"required": {"a": {"$bytes": "00", "x": 1}}}', "each alone"),
        ('{"required": 5}', "required=5: write paths with their values"),
        ('{"unchanged": "false"}', "unchanged='false'; write True or False"),
        ('{"forms": {"a": 5}}', r"forms\['a'\]: .*write the name of a form"),
        ('{"forms": {"a": [1]}}', r"forms\['a'\]: .*write the name of a form"),
        ('{"created": [{"table": "t", "columns": {"a": 1}, "free": [["x"]]}]}', "free"),
        ('{"deleted": [{"$tuple": "cart"}]}', "cannot be read as '\\$tuple': write a list"),
        ('{"required": {"a": {"$dict": [["b", 1], ["b", 2]]}}}', "the key 'b' is there twice"),
        ('{"required": {"a": {"$dict": ["ab"]}}}', "cannot be read as"),
        ('{"required": {"a": {"$decimal": 42.1}}}', "cannot be read as '\\$decimal': write text"),
        ('{"required": {"a": {"$float": true}}}', "write text"),
        ('{"required": {"a": ' + "1" * 5000 + "}}", "digits"),
        ('{"forms": {"a": "numeric"}}', ", line 1: forms.*unknown form 'numeric'"),
    ],
)
def test_a_wrong_file_says_which_line_and_why(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "task.json"
    path.write_text(text)
    with pytest.raises(TaskError, match=message) as error:
        load_task(path)
    assert str(error.value).startswith(str(path))


def test_a_missing_or_foreign_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="none.json: cannot be read"):
        load_task(tmp_path / "none.json")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\xff")
    with pytest.raises(TaskError, match="image.png, line 1: byte 0x89 is not UTF-8"):
        load_task(tmp_path / "image.png")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(TaskError, match="deep.json, line 1: it is nested too deeply"):
        load_task(tmp_path / "deep.json")


def test_what_a_file_cannot_hold_is_refused_and_not_dropped() -> None:
    with pytest.raises(TaskError, match="invariants.0. .'x'. is a Python function"):
        task_to_dict(Task(invariants=[Invariant("x", lambda s: True)]))
    with pytest.raises(TaskError, match="when is a Python function"):
        task_to_dict(Task(unchanged=True, allowed=[Allowed("a/b", when=bool)]))


def test_a_path_in_the_place_of_the_task_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(TaskError, match="is a str, not a Task; to save, give the task, then the p"):
        save_task(str(path), Task(unchanged=True))  # type: ignore[arg-type]
    assert not path.exists()


def test_a_lone_surrogate_survives(tmp_path: Path) -> None:
    task = Task(required={("files", "\udcff"): "x"})
    save_task(task, tmp_path / "task.json")
    assert load_task(tmp_path / "task.json").required == task.required


def test_a_repeated_hour_is_refused_and_not_lost() -> None:
    with pytest.raises(TaskError, match="cannot hold .*fold=1.*give the instant in UTC"):
        task_to_dict(Task(required={"x": datetime(2026, 10, 25, 2, fold=1)}))
