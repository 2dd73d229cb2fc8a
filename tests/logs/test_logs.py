"""What all readers of result files share: strict opening, fields, verdicts, one row a trial."""

import gzip
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from evalkit import counts, trials_table
from evalkit.logs import LogError, csv_rows, field, json_value, judged, trials
from evalkit.logs.the_agent_company import read_the_agent_company

ROW: dict[str, Any] = {
    "task": "a", "trial": 0, "success": 1, "infra": False, "steps": 3, "cost": None
}  # fmt: skip


def written(folder: Path, content: bytes | str, name: str = "log.json") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", ["log.json", "log.json.gz", "log"])
def test_json_is_read_packed_or_not_whatever_its_name(tmp_path: Path, name: str) -> None:
    for content in (b'{"a": [1, null]}', gzip.compress(b'{"a": [1, null]}')):
        assert json_value(written(tmp_path, content, name)) == {"a": [1, None]}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('[{"a": 1},\n{"b"', "line 2: .*cut off"),
        ("", "line 1: it is empty"),
        ('{"a": 1}\n]', "line 2: .*no JSON"),
        ('{"a": 1,\n "a": 2}', "the key 'a' is there twice"),
        ('{"a": NaN}', "'NaN' is no number"),
        ('{"a": 1e999}', "'1e999' is no number"),
        ('{"a": "\\ud800"}', "half a character"),
        ('{"\\uDC00\\ud800": 1}', "half a character"),
        ("[" * 100_000, "nested too deeply"),
        (b'"\xff"', "byte 0xff is not UTF-8"),
        (gzip.compress(b'{"a": 1}' * 50, mtime=0)[:-12], "cut off"),
        (gzip.compress(b'{"a": 1}', mtime=0)[:10] + b"\xff" * 20, "cannot be read"),
    ],
)
def test_a_file_that_readers_would_not_agree_on_is_refused(
    tmp_path: Path, content: bytes | str, says: str
) -> None:
    with pytest.raises(LogError, match=rf"(?s)log\.json.*{says}"):
        json_value(written(tmp_path, content))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        LogError, match=r"nowhere.json: cannot be read, or is cut off: No such file or directory\.$"
    ):
        json_value(tmp_path / "nowhere.json")


def test_a_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, gzip.compress(b"1" * 100))
    monkeypatch.setattr("evalkit.logs.LOG_BYTES", 99)
    with pytest.raises(LogError, match="more than 99 bytes"):
        json_value(path)


def test_nothing_pickled_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(LogError):
        json_value(written(tmp_path, b"cos\nsystem\n(S'exit 1'\ntR."))


def test_csv_is_read_as_text_by_its_header(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeffa,b\r\n1,\r\n", "log.csv")
    assert csv_rows(path) == [(f"{path}, line 2", {"a": "1", "b": ""})]


def test_a_row_of_more_than_one_line_is_placed_where_it_begins(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b\n1,"x\ny"\n2,z\n', "log.csv")
    assert [where.rpartition(" ")[2] for where, _ in csv_rows(path)] == ["2", "4"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "line 1: there is no header"),
        ("a,a\n1,2\n", "line 1: .*twice"),
        ("a,b\n1,2\n3\n", r"line 3: 1 fields under 2 columns, as if cut off\.$"),
        ('a,b\n1,"2\n', "line 2"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(
    tmp_path: Path, content: str, says: str
) -> None:
    with pytest.raises(LogError, match=rf"log.csv, {says}"):
        csv_rows(written(tmp_path, content, "log.csv"))


@pytest.mark.parametrize(
    ("value", "kind", "says"),
    [
        (None, int, "is missing; expected a whole number"),
        (True, int, "is True"),
        (True, float, "is True; expected a number"),
        (1, bool, "is 1; expected true or false"),
        (1.0, int, "is 1.0"),
        ("1", float, "is '1'; expected a number"),
        ({}, list, "is {}; expected a list"),
    ],
)
def test_a_field_of_another_kind_is_named_with_its_row(value: Any, kind: type, says: str) -> None:
    with pytest.raises(LogError, match=f"a.json, row 4, info.n: {says}"):
        field("a.json, row 4", {"info": {"n": value}}, "info.n", kind)


@pytest.mark.parametrize("content", ["x,a,4,4,{},0.5", "x,a,4,4,1,{}"])
def test_a_number_of_more_than_64_bits_is_refused_and_never_another(
    tmp_path: Path, content: str
) -> None:
    header = "submission,task,total_points,result_points,steps,cost_usd\n"
    path = written(tmp_path, header + content.replace("{}", "1" + "0" * 400), "log.csv")
    with pytest.raises(LogError, match=r"log\.csv"):
        read_the_agent_company(path)
    for kind in (int, float):
        with pytest.raises(LogError, match="row 0, n: is .*no number has more than 64 bits"):
            field("a.json, row 0", {"n": 2**63}, "n", kind)


def test_an_optional_field_may_be_missing_but_not_of_another_kind() -> None:
    assert field("a", {}, "info.n", int, optional=True) is None
    assert field("a", {"info": {"n": None}}, "info.n", int, optional=True) is None
    assert field("a", {"n": 1}, "n", float, optional=True) == 1
    assert field("a", {"n": False}, "n", bool) is False
    with pytest.raises(LogError):
        field("a", {"n": "x"}, "n", int, optional=True)
    with pytest.raises(LogError, match="a, n.x: 1 is no object"):
        field("a", {"n": 1}, "n.x", int, optional=True)


def test_a_score_is_a_verdict_only_where_the_environment_held() -> None:
    assert [judged("a", "reward", score) for score in (1, 0.0, None)] == [1.0, 0.0, None]
    assert judged("a", "reward", 0, infra=True) is None
    with pytest.raises(LogError, match="a, reward: 0.5 is neither"):
        judged("a", "reward", 0.5)
    with pytest.raises(LogError, match="a, reward: is 1, yet"):
        judged("a", "reward", 1, infra=True)


def test_the_table_goes_into_counts_and_through_trials_table_as_it_is() -> None:
    failed = ROW | {"trial": 1, "success": None, "infra": True, "steps": None}
    table = trials([ROW, failed], "x/log.json", "error")
    assert counts(table)[["n", "c", "planned", "infra"]].values.tolist() == [[1, 1, 2, 1]]
    again = trials_table(table, infra="infra", steps="steps", cost="cost")
    assert counts(again).equals(counts(table))
    assert set(table["file"]) == {"log.json"}


def test_a_repeated_trial_is_an_error_or_dropped_where_its_rows_agree() -> None:
    with pytest.raises(LogError, match="log.json: task 'a', trial 0 has 2 rows"):
        trials([ROW, ROW], "log.json", "error")
    assert len(trials([ROW, ROW | {"note": "seen later"}], "log.json", "drop")) == 1
    with pytest.raises(LogError, match="its rows disagree"):
        trials([ROW, ROW | {"success": 0}], "log.json", "drop")


def test_a_file_without_a_trial_is_refused() -> None:
    with pytest.raises(LogError, match="log.json: there is no trial"):
        trials([], "log.json", "error")


def test_a_small_log_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("[1]", encoding="utf-8")
    tracemalloc.start()
    json_value(tmp_path / "log.json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
