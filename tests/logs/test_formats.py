"""Formats by content: what is in a file decides, never its name, and a doubt is an error."""

import gzip
import json
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest

from evalkit.logs import LogError
from evalkit.logs.formats import FORMATS, format_of, option_types, read_trials, reader_of

RAW = Path(__file__).parents[3] / "shared" / "data" / "raw"
published = pytest.mark.skipif(not RAW.is_dir(), reason="needs the published logs in ../shared")

ATTEMPT = {"task": "a", "trial": 0, "attempt": 0, "tag": "agent success", "success": True}
ROW = {"task": "a", "trial": 0, "success": True}
TAU = [{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": []}]

FILES: dict[str, tuple[str, Any]] = {
    "run log": ("run-log", json.dumps(ATTEMPT) + "\n" + json.dumps(ATTEMPT | {"trial": 1})),
    "run log of one line": ("run-log", json.dumps(ATTEMPT)),
    "CSV": ("table", "task,trial,success\na,0,1\n"),
    "CSV with a mark": ("table", "\ufefftask,trial,success\na,0,1\n"),
    "CSV with quotes": ("table", '"task","trial","success"\n"a",0,1\n'),
    "JSON Lines": ("table", json.dumps(ROW) + "\n" + json.dumps(ROW | {"trial": 1}) + "\n"),
    "tau-bench": ("tau-bench", json.dumps(TAU)),
    "tau-bench, indented": ("tau-bench", json.dumps(TAU, indent=1)),
    "tau2-bench": ("tau2-bench", json.dumps({"simulations": []})),
    "swe-bench": ("swe-bench", json.dumps({"resolved_ids": []}, indent=2)),
    "TheAgentCompany": ("the-agent-company", "submission,task,total_points,result_points\n"),
    "WebArena": ("webarena", "task_id,success,n_steps\n"),
    "HAL": ("hal", json.dumps({"config": {}, "results": {}})),
    "AppWorld": ("appworld", json.dumps({"aggregate": {}, "individual": {}})),
    "Inspect": ("inspect", json.dumps({"version": 2, "status": "success", "eval": {}})),
}


def written(folder: Path, content: str | bytes, name: str = "log") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
@pytest.mark.parametrize("name", FILES)
def test_the_content_says_the_format(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    expected, content = FILES[name]
    assert format_of(written(tmp_path, pack(content.encode()), "log.txt")) == expected


def test_each_format_is_known_by_a_file_of_these_tests() -> None:
    assert {expected for expected, _ in FILES.values()} == set(FORMATS)


def test_a_folder_of_results_is_the_agent_company(tmp_path: Path) -> None:
    written(tmp_path, "{}", "eval_a.json")
    assert format_of(tmp_path) == "the-agent-company"


def test_parquet_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "log"
    pd.DataFrame([ROW]).to_parquet(path)
    assert format_of(path) == "table"
    assert read_trials(path)["success"].tolist() == [1.0]


def test_an_archive_of_inspect_is_known(tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="needs inspect_ai: the extra inspect")
    spec = log.EvalSpec(
        created="2026-01-31T12:00:00+00:00", task="shop", model="m",
        dataset=log.EvalDataset(), config=log.EvalConfig(),
    )  # fmt: skip
    path = tmp_path / "log.eval"
    log.write_eval_log(log.EvalLog(eval=spec, status="success"), str(path))
    assert format_of(path) == "inspect"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "it is empty"),
        ("a,b\n1,2\n", "not known: csv with a, b"),
        ("task,success\na,1\n", "csv with success, task"),
        ("[]", "list with nothing"),
        ("[1]", "list with nothing"),
        ("{}", "lines, object with nothing"),
        ('{"a": 1}\n{"a": 2}\n', "lines with a"),
        ("PK\x03\x04", "cannot be read"),
        ("PAR1", "cannot be read"),
        ('{"simulations": [', "cut off"),
        ('{"simulations": [],\n "simulations": []}', "twice"),
        (b"\xff\xfe", "line 1: byte 0xff is not UTF-8"),
        (gzip.compress(b"task,trial,success\n" * 99, mtime=0)[:-12], "cut off"),
    ],
)
def test_what_is_of_no_format_is_one_error(tmp_path: Path, content: str | bytes, says: str) -> None:
    with pytest.raises(LogError, match=says) as raised:
        format_of(path := written(tmp_path, content))
    assert str(path) in str(raised.value)
    if "not known" in str(raised.value):
        assert all(name in str(raised.value) for name in FORMATS)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("task,trial,suxess\na,0,1\n", "success is missing, and 'suxess' is in its place. Name"),
        ("task,trial,Success\na,0,1\n", "success is missing, and 'Success' is in its place"),
        (
            "TASK,Trial,Success\na,0,1\n",
            "task is missing, and 'TASK' is .*; trial is missing, and 'T",
        ),
        ("task,success,total\na,1,2\n", "table: trial is missing. Name"),
        ("task,success,success_rate\na,1,2\n", "table: trial is missing. Name"),
        ('{"task": "a", "trail": 0, "success": true}', "trial is missing, and 'trail' is in its"),
        ("task;trial;success\na;0;1\n", "one cell: .* separated by commas. Name"),
        ("task\ttrial\tsuccess\na\t0\t1\n", "one cell: .* separated by commas"),
        ('[{"task": "a", "trial": 0, "success": true}]', "one object a line, and no list"),
    ],
)
def test_a_table_but_for_a_column_is_told_which(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(LogError, match=says):
        format_of(written(tmp_path, content))


def test_a_table_of_other_names_is_read_by_them_and_the_message_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, "id,run,passed\na,0,1\n")
    with pytest.raises(LogError, match=r"as in success='\.\.\.', task='\.\.\.', trial='\.\.\.'\.$"):
        read_trials(path)
    found = read_trials(path, task="id", trial="run", success="passed")
    assert found[["task", "trial", "success"]].to_numpy().tolist() == [["a", 0, 1.0]]
    others = [option_types(reader) for name, (reader, _) in FORMATS.items() if name != "table"]
    assert not {"task", "trial", "success"} & set().union(*others)


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "name,total\nx,1\n", '{"a": 1}', "[1]"])
def test_what_is_no_table_is_not_called_nearly_one(tmp_path: Path, content: str) -> None:
    with pytest.raises(LogError, match=r"\. Name the format") as raised:
        format_of(written(tmp_path, content))
    assert "As a table" not in str(raised.value)
    assert "one cell" not in str(raised.value)


def test_a_column_of_parquet_that_is_misspelt_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    pd.DataFrame([{"task": "a", "trials": 0, "success": True}]).to_parquet(path)
    with pytest.raises(LogError, match="trial is missing, and 'trials' is in its place"):
        format_of(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="nowhere: cannot be read"):
        format_of(tmp_path / "nowhere")


def test_a_format_can_be_named_and_a_wrong_name_lists_them(tmp_path: Path) -> None:
    path = written(tmp_path, FILES["CSV"][1])
    assert len(read_trials(path, "table")) == 1
    with pytest.raises(LogError, match="webarena|task_id: is missing"):
        read_trials(path, "webarena")
    with pytest.raises(LogError, match="'tables' is no format; they are run-log, table"):
        read_trials(path, "tables")


def test_options_go_to_the_reader_and_an_unknown_one_lists_those_it_has(tmp_path: Path) -> None:
    path = written(tmp_path, "task,trial,success\na,0,1\na,0,1\n")
    with pytest.raises(LogError, match="2 rows"):
        read_trials(path)
    assert len(read_trials(path, duplicates="drop")) == 1
    with pytest.raises(LogError, match="has no option 'repair'; it has task, .*, duplicates"):
        read_trials(path, repair=True)
    with pytest.raises(LogError, match="has no option 'name'"):
        read_trials(path, **{"name": "table"})


def test_an_option_may_be_text_of_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def reader(
        path: str, *, repair: bool = False, threshold: float = 0, submission: str = ""
    ) -> Any:
        return repair, threshold, submission

    monkeypatch.setitem(FORMATS, "table", (reader, ()))
    options = {"repair": "True", "threshold": "0.5", "submission": "2"}
    assert read_trials("log", "table", **options) == (True, 0.5, "2")
    assert read_trials("log", "table", repair="false") == (False, 0, "")
    assert read_trials("log", "table", repair=True, threshold=1) == (True, 1, "")
    for option in ({"repair": "maybe"}, {"threshold": "high"}):
        with pytest.raises(LogError, match="log: (repair=maybe|threshold=high) is not of type"):
            read_trials("log", "table", **option)


@pytest.mark.parametrize("name", FORMATS)
def test_a_reader_takes_a_path_and_options_by_name(name: str) -> None:
    path, *options = signature(reader_of(name)).parameters.values()
    assert path.name == "path"
    assert all(option.kind == option.KEYWORD_ONLY for option in options)
    assert list(option_types(reader_of(name))) == [option.name for option in options]


@published
def test_published_files_are_known() -> None:
    found = {path.name: format_of(path) for path in sorted(RAW.glob("*.json.gz"))}
    assert len(found) >= 7
    assert all(name.startswith(kind.split("-")[0]) for name, kind in found.items())


@published
def test_the_malformed_file_is_refused_by_its_reader() -> None:
    with pytest.raises(LogError, match="FIRST_malformed.*simulation 0, task_id: is missing"):
        read_trials(RAW / "tau2_toolorchestra_airline_FIRST_malformed.json.gz")


@pytest.mark.parametrize("content", ['task,trial\r"\na,0\n', "x" * 200_000 + ",success\n"])
def test_a_header_that_csv_cannot_have_is_one_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(LogError, match="log, line 1: "):
        format_of(written(tmp_path, content))


def test_an_archive_of_a_kind_that_nobody_has_yet_is_one_error(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "log", "w") as archive:
        archive.writestr("header.json", "{}")
    data = bytearray((tmp_path / "log").read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 123  # the version that is needed to unpack it
    with pytest.raises(LogError, match="log: cannot be read"):
        format_of(written(tmp_path, bytes(data)))
