"""Plain tables: three kinds of file, one result, and no value that is guessed."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalkit.logs import LogError
from evalkit.logs.formats import format_of
from evalkit.logs.tables import read_table

ROWS: list[dict[str, Any]] = [
    {"task": "a", "trial": 0, "success": True, "infra": False, "steps": 3, "cost": 0.5, "note": "x"},
    {"task": "a", "trial": 1, "success": False, "infra": False, "steps": 4, "cost": 1.0, "note": ""},
    {"task": "b", "trial": 0, "success": None, "infra": True, "steps": None, "cost": None,
     "note": None},
]  # fmt: skip


def csv_text(rows: list[dict[str, Any]]) -> str:
    cells = [["" if v is None else str(v) for v in row.values()] for row in rows]
    return "\n".join(",".join(line) for line in [list(rows[0]), *cells]) + "\n"


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(folder: Path, content: str | bytes, **options: Any) -> pd.DataFrame:
    path = folder / "log"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **options)


def test_csv_json_lines_and_parquet_give_the_same_trials(tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_parquet(tmp_path / "log")
    columns = ["task", "trial", "success", "infra", "steps", "cost", "file"]
    parquet = read_table(tmp_path / "log")[columns]
    for content in (csv_text(ROWS), lines(ROWS), "\ufeff" + lines(ROWS), "\ufeff" + csv_text(ROWS)):
        pd.testing.assert_frame_equal(read(tmp_path, content)[columns], parquet)
    packed = gzip.compress(csv_text(ROWS).encode())
    pd.testing.assert_frame_equal(read(tmp_path, packed)[columns], parquet)
    assert parquet["success"].tolist()[:2] == [1.0, 0.0]
    assert parquet["infra"].tolist() == [False, False, True]
    assert parquet["steps"].tolist()[:2] == [3, 4]


def test_parquet_is_read_by_its_columns_whatever_pandas_wrote_beside_them(tmp_path: Path) -> None:
    pd.DataFrame(ROWS).set_index("task").to_parquet(tmp_path / "log")
    assert read_table(tmp_path / "log")["task"].tolist() == [row["task"] for row in ROWS]
    broken = (tmp_path / "log").read_bytes().replace(b"numpy_type", b"numpy_tyqe")
    (tmp_path / "log").write_bytes(broken)
    assert read_table(tmp_path / "log")["task"].tolist() == [row["task"] for row in ROWS]


def test_a_column_of_parquet_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    names = ["task", "trial", "success", "success"]
    parquet.write_table(pa.table([["a"], [0], [1.0], [0.0]], names=names), tmp_path / "log")
    with pytest.raises(LogError, match="log: names a column twice"):
        read_table(tmp_path / "log")


@pytest.mark.parametrize("read_it", [read_table, format_of])
def test_without_pyarrow_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_it: Callable[[Path], Any]
) -> None:
    pd.DataFrame(ROWS).to_parquet(tmp_path / "log")
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(LogError, match=r"log: install PyArrow .*pip install pyarrow"):
        read_it(tmp_path / "log")


def test_further_columns_are_kept(tmp_path: Path) -> None:
    rows = [row | {"violations": ["never delete"]} for row in ROWS]
    assert read(tmp_path, lines(rows))["violations"].tolist() == [["never delete"]] * 3
    credited = csv_text([{"task": "a", "trial": 0, "success": 1, "credit": 0.25, "note": 7}])
    found = read(tmp_path, credited)
    assert found["credit"].tolist() == [0.25]
    assert found["note"].tolist() == ["7"]


THEIRS = {"task": "id", "trial": "run", "success": "Passed", "infra": "crashed"}
THEIRS |= {"steps": "n", "cost": "usd"}


def test_columns_of_other_names_give_the_same_trials(tmp_path: Path) -> None:
    wanted = read(tmp_path, csv_text(ROWS))
    named = [{THEIRS.get(name, name): value for name, value in row.items()} for row in ROWS]
    pd.DataFrame(named).to_parquet(tmp_path / "parquet")
    packed = (tmp_path / "parquet").read_bytes()
    columns = ["task", "trial", "success", "infra", "steps", "cost", "file"]
    for content in (csv_text(named), lines(named), packed):
        found = read(tmp_path, content, **THEIRS)
        pd.testing.assert_frame_equal(found[columns], wanted[columns])
        assert set(found) == set(wanted)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"success": "pass"}, "line 2: has no column 'pass'; it has task, trial, success, infra"),
        ({"success": "note"}, "line 2: has 'success' beside 'note'"),
        ({"infra": "crashed"}, "has no column 'crashed'"),
        ({"task": "note", "trial": "note"}, "beside|two things"),
    ],
)
def test_a_column_that_is_not_there_or_not_one_thing_is_an_error(
    tmp_path: Path, options: dict[str, str], says: str
) -> None:
    with pytest.raises(LogError, match=says):
        read(tmp_path, csv_text(ROWS), **options)


def test_a_trial_may_be_named(tmp_path: Path) -> None:
    found = read(tmp_path, "task,trial,success\na,first,1\na,second,0\n")
    assert found["trial"].tolist() == ["first", "second"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("task,trial,success\na,0,yes\n", "line 2, success: 'yes' is not true or false"),
        ("task,trial,success\na,0,0.5\n", "line 2, success: '0.5' is not"),
        ("task,trial,success\na,0,1\n,1,1\n", "line 3, task: is blank"),
        ("task,trial,success\na,,1\n", "line 2, trial: is blank"),
        ("task,trial,success,infra\na,0,1,\n", "line 2, infra: is None"),
        ("task,trial,success,infra\na,0,1,1\n", "success: is 1, yet .* environment failed"),
        ("task,trial,success,cost\na,0,1,free\n", "cost: 'free' is not a number"),
        ("task,trial,success,steps\na,0,1,2.5\n", "steps: 2.5 is no whole number"),
        ("task,trial\na,0\n", "success: is missing"),
        ("task,trial,success\na,0\n", "line 2: 2 fields under 3 columns"),
        ("task,trial,success\na,0,1\na,0,0\n", "has 2 rows"),
        ("task,trial,success\n", "there is no trial in it"),
        (lines([ROWS[0] | {"success": 0.5}]), "success: 0.5 is neither 0 nor 1"),
        (lines([ROWS[0] | {"success": "true"}]), "success: is 'true'; expected true"),
        (lines([ROWS[0] | {"success": [1]}]), "success"),
        (lines([ROWS[0] | {"task": ["a"]}]), r"task: is \['a'\]"),
        (lines([ROWS[0] | {"trial": True}]), "trial: is True"),
        (lines([ROWS[0] | {"infra": "no"}]), "infra: is 'no'"),
        (lines([ROWS[0] | {"steps": "3"}]), "steps: is '3'"),
        (lines(ROWS)[:-9], r"line 3: [A-Z][^:]*; it is no JSON, or cut off\.$"),
        ('{"task": "a", "task": "b"}\n', "line 1: .*twice"),
        (lines(ROWS[:1]) + "[1]\n", r"line 2: \[1\] is no object"),
        (b"PAR1 and no more", "cannot be read"),
        (b"task,trial,success\n\xff,0,1\n", "line 2: byte 0xff is not UTF-8 text"),
        (lines(ROWS).encode() + b'{"task": "\xff"}', "line 4: byte 0xff is not UTF-8 text"),
        ("task,trial,success\n,0,1\n", "task: is blank; expected text or a whole number"),
    ],
)
def test_what_is_no_table_of_trials_is_refused(
    tmp_path: Path, content: str | bytes, says: str
) -> None:
    with pytest.raises(LogError, match=rf"(?s)log.*{says}"):
        read(tmp_path, content)
