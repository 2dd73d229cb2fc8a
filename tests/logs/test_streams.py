"""Logs in batches: every line read as it stands, and counts as if the log were in memory."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import counts, trials_table
from evalkit.logs import LogError
from evalkit.logs.streams import log_frames, streamed_counts

NAMES = ["task", "trial", "success", "infra"]
LOG: list[dict[str, Any]] = [
    {"task": "a", "trial": 0, "success": True, "infra": False},
    {"task": "a", "trial": 1, "success": False, "infra": False},
    {"task": "b", "trial": 0, "success": None, "infra": True},
    {"task": "b", "trial": 1, "success": 1, "infra": False},
    {"task": "c", "trial": 0, "success": None, "infra": False},
]
PARQUET = pd.DataFrame(LOG).astype({"success": "float64"}).astype({"success": "boolean"})
COUNTED = [["a", 2, 1, 2, 0], ["b", 1, 1, 2, 1], ["c", 0, 0, 1, 0]]


def written(folder: Path, *rows: Any, name: str = "log.jsonl") -> Path:
    """A file of these lines: text as it is, anything else as JSON."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def counted(path: Path, rows: int = 2, **options: Any) -> list[list[Any]]:
    frames = log_frames(path, NAMES, rows=rows)
    return streamed_counts(frames, infra="infra", **options).values.tolist()


@pytest.mark.parametrize("rows", [1, 2, 5, 100])
@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz", "log.ndjson"])
def test_the_counts_of_lines_do_not_depend_on_the_batch(
    tmp_path: Path, name: str, rows: int
) -> None:
    assert counted(written(tmp_path, *LOG, name=name), rows) == COUNTED


def test_parquet_gives_the_same_in_one_file_or_a_folder_of_them(tmp_path: Path) -> None:
    frame = PARQUET
    frame.to_parquet(tmp_path / "log.parquet", row_group_size=2)
    assert counted(tmp_path / "log.parquet") == COUNTED
    folder = tmp_path / "parts"
    folder.mkdir()
    frame[:3].to_parquet(folder / "1.parquet")
    frame[3:].astype({"success": "float64"}).to_parquet(folder / "2.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".1.parquet.crc").touch()
    assert counted(folder) == COUNTED


def test_the_table_is_the_one_that_counts_gives() -> None:
    frame = pd.DataFrame(LOG).astype({"success": "float64"})
    whole = counts(trials_table(frame, infra="infra"), planned={"a": 2, "b": 3, "c": 1, "d": 4})
    plan = {"a": 2, "b": 3, "c": 1, "d": 4}
    parts = streamed_counts([frame[:3], frame[3:]], infra="infra", planned=plan)
    pd.testing.assert_frame_equal(parts, whole)


TRIALS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 40), st.sampled_from([None, 0, 1]), st.booleans()),
    min_size=1,
    unique_by=lambda row: row[:2],
)


@settings(max_examples=25)
@given(TRIALS, st.integers(1, 9), st.booleans())
def test_a_log_in_parts_counts_like_the_whole(rows: list[Any], size: int, text: bool) -> None:
    frame = pd.DataFrame(rows, columns=NAMES).astype({"success": "float64"})
    frame["success"] = frame["success"].where(~frame["infra"] | (frame["success"] != 1))
    frame = frame.astype({"task": str}) if text else frame
    parts = [frame[i : i + size] for i in range(0, len(frame), size)]
    whole = counts(trials_table(frame, infra="infra"))
    pd.testing.assert_frame_equal(streamed_counts(parts, infra="infra"), whole)


def test_batches_hold_the_values_of_the_file_and_say_where_they_are_from(tmp_path: Path) -> None:
    path = written(tmp_path, LOG[0], "", LOG[2], "  ")
    (frame,) = log_frames(path, ["success", "trial"])
    assert frame.index.tolist() == [1, 3]
    assert frame.index.name == f"{path}, line"
    assert [list(map(type, row)) for row in frame.values] == [[bool, int], [type(None), int]]


# What engines let pass in JSON Lines: each line here once gave a wrong count in one of them.
LATE: dict[str, tuple[Any, str]] = {
    "cut off": ('{"task": "z", "trial": 0, "succ', "line 6: .*no JSON, or cut off"),
    "key twice": (
        '{"task": "z", "trial": 0, "success": true, "success": false, "infra": false}',
        "line 6: the key 'success' is there twice",
    ),
    "no key": (
        {"task": "z", "trial": 0, "infra": False},
        "line 6: has no 'success', only task, trial, infra; write null for no value",
    ),
    "graded": (LOG[0] | {"trial": 9, "success": 0.5}, "lines 5 to 6: .*state a threshold"),
    "not a number": (
        '{"task": "z", "trial": 0, "success": NaN, "infra": false}',
        "line 6: .NaN. is no number",
    ),
    "text": (LOG[0] | {"trial": 9, "success": "true"}, "line 6, success: is 'true'; expected true"),
    "task as a number": (
        LOG[0] | {"task": 5},
        "line 6, task: is 5; expected text, as in the rows before",
    ),
    "no task": (LOG[0] | {"task": None}, "line 6, task: is None; expected text"),
    "half a trial": (LOG[0] | {"trial": 1.5}, "line 6, trial: is 1.5; expected a whole number"),
    "a trial as truth": (LOG[0] | {"trial": True}, "line 6, trial: is True; expected a whole"),
    "no infra flag": (LOG[0] | {"trial": 9, "infra": None}, "lines 5 to 6: infra is missing"),
    "a list": ("[1, 2]", "line 6: \\[1, 2\\] is no object"),
    "null": ("null", "line 6: None is no object"),
    "two rows in a line": (
        json.dumps(LOG[0] | {"trial": 8}) + json.dumps(LOG[0] | {"trial": 9}),
        "line 6: Extra data",
    ),
    "a trial twice": (LOG[0], "line 6: task 'a', trial 0 was there before: number the runs"),
    "a huge trial": (LOG[0] | {"trial": 2**70}, "line 6: .*cannot be counted"),
    "half a letter": (LOG[0] | {"task": "\ud800"}, "line 6: .*half a character"),
    "a huge score": (
        LOG[0] | {"trial": 9, "success": 10**400},
        "lines 5 to 6, success: int too large",
    ),
    "nested too deeply": ("[" * 100_000, "line 6: .*too deeply"),
    "no UTF-8": ('{"task": "\udcff"}', "line 6: cannot be read"),
}


@pytest.mark.parametrize("case", LATE)
@pytest.mark.parametrize("rows", [2, 100])
def test_a_line_that_engines_let_pass_is_refused_by_its_number(
    tmp_path: Path, case: str, rows: int
) -> None:
    row, says = LATE[case]
    says = says.replace("lines 5 to 6", "lines 1 to 6") if rows == 100 else says
    if case == "a trial twice" and rows == 100:
        says = "lines 1 to 6: task 'a', trial 0 has 2 rows: number the runs"
    with pytest.raises(LogError, match=rf"log\.jsonl, {says}"):
        counted(written(tmp_path, *LOG, row), rows)


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_a_repeated_trial_is_dropped_by_choice_where_its_rows_agree(
    tmp_path: Path, rows: int
) -> None:
    again = written(tmp_path, *LOG, LOG[0], LOG[2], LOG[4])
    assert counted(again, rows, duplicates="drop") == COUNTED
    for other in (LOG[0] | {"success": False}, LOG[2] | {"infra": False}, LOG[4] | {"success": 0}):
        with pytest.raises(LogError, match="its rows disagree"):
            counted(written(tmp_path, *LOG, other), rows, duplicates="drop")


def test_a_threshold_and_a_plan_are_those_of_the_table_in_memory(tmp_path: Path) -> None:
    path = written(tmp_path, *LOG[:3], LOG[3] | {"success": 0.4})
    assert counted(path, threshold=0.5) == [["a", 2, 1, 2, 0], ["b", 1, 0, 2, 1]]
    assert counted(path, threshold=0.5, planned=9)[0][3] == 9
    with pytest.raises(ValueError, match="planned does not name the task 'b'"):
        counted(path, threshold=0.5, planned={"a": 2})


def test_other_columns_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, {"id": 1, "run": "x", "score": 0.9})
    frames = log_frames(path, ["id", "run", "score"])
    table = streamed_counts(frames, task="id", trial="run", success="score", threshold=0.5)
    assert table.values.tolist() == [[1, 1, 1, 1, 0]]
    with pytest.raises(LogError, match="success: no column 'success'; the frame has id, run"):
        streamed_counts(log_frames(path, ["id", "run"]), task="id", trial="run", infra="crashed")


def test_a_column_named_infra_is_used_though_nobody_names_it(tmp_path: Path) -> None:
    frames = log_frames(written(tmp_path, *LOG), NAMES)
    assert streamed_counts(frames).values.tolist() == COUNTED


def test_a_file_that_cannot_be_read_to_its_end_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, *LOG, name="log.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(LogError, match="log.jsonl.gz, line .*cut off"):
        counted(path)
    PARQUET.to_parquet(tmp_path / "log.parquet")
    data = (tmp_path / "log.parquet").read_bytes()
    for broken in (data[:-9], data[:40] + data[60:], b""):
        (tmp_path / "log.parquet").write_bytes(broken)
        with pytest.raises(LogError, match="log.parquet: cannot be read, or is cut off"):
            counted(tmp_path / "log.parquet")
    with pytest.raises(LogError, match="nowhere.jsonl, line 1: cannot be read"):
        counted(tmp_path / "nowhere.jsonl")


def test_a_line_without_an_end_is_not_read_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalkit.logs.streams.LINE_BYTES", 200)
    with pytest.raises(LogError, match="line 2: it is longer than 200 bytes"):
        counted(written(tmp_path, LOG[0], '{"task": "' + "x" * 300))


def test_a_parquet_file_without_a_column_is_refused_though_its_neighbour_has_it(
    tmp_path: Path,
) -> None:
    frame = PARQUET
    frame[:3].to_parquet(tmp_path / "1.parquet")
    frame[3:].drop(columns="success").to_parquet(tmp_path / "2.parquet")
    with pytest.raises(LogError, match="2.parquet: no column 'success'; it has task, trial, infra"):
        counted(tmp_path)


def test_files_of_other_kinds_are_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="holds nothing; expected files of one kind"):
        counted(tmp_path)
    written(tmp_path, *LOG)
    (tmp_path / "log.parquet").touch()
    with pytest.raises(LogError, match="holds .jsonl, .parquet; expected files of one kind"):
        counted(tmp_path)
    (tmp_path / "log.csv").touch()
    with pytest.raises(LogError, match="log.csv: holds .csv.*through an engine"):
        counted(tmp_path / "log.csv")
    (tmp_path / "below" / "below").mkdir(parents=True)
    with pytest.raises(LogError, match="below: holds a folder"):
        counted(tmp_path / "below")


def test_no_rows_are_no_counts(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no row in them"):
        counted(written(tmp_path, ""))
    with pytest.raises(LogError, match="no row in them"):
        streamed_counts([pd.DataFrame(LOG)[:0]])


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(LogError, match="log.parquet: install PyArrow"):
        counted(tmp_path / "log.parquet")


# The most memory that a process of its own ever held, SQLite's included.
PEAK = """
import re, sys
from pathlib import Path
from evalkit.logs.streams import log_frames, streamed_counts
table = streamed_counts(log_frames(sys.argv[1], ["task", "trial", "success", "trace"], rows=200))
print(table["planned"].sum(), re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc, as Linux has it")
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_memory_does_not_grow_with_the_log(tmp_path: Path, suffix: str) -> None:
    peaks = []
    for trials in (2_000, 20_000):  # 5 and 50 MB
        keys = {"task": [f"t{i % 50}" for i in range(trials)], "trial": list(range(trials))}
        columns = keys | {"success": [True] * trials, "trace": ["x" * 2_500] * trials}
        path = tmp_path / f"{trials}.{suffix}"
        if suffix == "jsonl":
            pd.DataFrame(columns).to_json(path, orient="records", lines=True)
        else:
            plain = {"use_dictionary": False, "compression": "none"}
            parquet.write_table(pa.table(columns), path, row_group_size=500, **plain)
        assert path.stat().st_size > trials * 2_500
        command = [sys.executable, "-c", PEAK, path]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        found, peak = map(int, run.stdout.split())
        assert found == trials
        peaks.append(peak)
    assert peaks[1] < 1.1 * peaks[0]
