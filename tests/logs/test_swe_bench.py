"""SWE-bench: what is listed must be seen to pass, and a log that its exit status belies is none."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit import counts
from evalkit.logs import LogError
from evalkit.logs.swe_bench import log_statuses, read_swe_bench, swe_verdict

REPORT: dict[str, Any] = {
    "submitted_ids": ["a__a-1", "b__b-2", "c__c-3", "d__d-4", "e__e-5"],
    "resolved_ids": ["a__a-1"],
    "resolved_instances": 1,
    "unresolved_ids": ["b__b-2"],
    "empty_patch_ids": ["c__c-3"],
    "error_ids": ["d__d-4"],
    "error_instances": 1,
    "incomplete_ids": ["f__f-6"],
}


def read(folder: Path, content: Any) -> Any:
    path = folder / "log.json"
    path.write_text(json.dumps(content))
    return read_swe_bench(path)


def test_each_instance_is_read_by_the_list_it_stands_in(tmp_path: Path) -> None:
    table = read(tmp_path, REPORT).set_index("task")
    assert table["success"].dropna().to_dict() == {"a__a-1": 1.0, "b__b-2": 0.0, "c__c-3": 0.0}
    assert table["ended"].to_dict() == {
        "a__a-1": "resolved_ids",
        "b__b-2": "unresolved_ids",
        "c__c-3": "empty_patch_ids",
        "d__d-4": "error_ids",
        "e__e-5": "no list",
        "f__f-6": "incomplete_ids",
    }
    tally = counts(table.reset_index())
    assert tally[["n", "c", "planned", "infra"]].sum().tolist() == [3, 1, 6, 0]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"unresolved_ids": ["a__a-1"]}, "unresolved_ids: 'a__a-1' is no id, or is listed twice"),
        ({"resolved_ids": ["x", "x"], "resolved_instances": 2}, "resolved_ids: 'x' .*twice"),
        ({"resolved_ids": [1]}, "resolved_ids: 1 is no id"),
        ({"resolved_instances": 2}, "resolved_ids: holds 1 ids; the report counts 2"),
        ({"resolved_ids": None}, "resolved_ids: is missing"),
        ({"resolved_ids": "a__a-1"}, "resolved_ids: is 'a__a-1'; expected a list"),
        ({"submitted_ids": [["a__a-1"]]}, "submitted_ids: .* is no id"),
        ({"unresolved_ids": None}, "unresolved_ids: is missing"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(
    tmp_path: Path, wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(LogError, match=f"log.json, {says}"):
        read(tmp_path, REPORT | wrong)


def test_a_report_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="resolved_ids: \\[\\] is no object"):
        read(tmp_path, [])
    with pytest.raises(LogError, match="there is no trial"):
        read(tmp_path, {"resolved_ids": [], "unresolved_ids": []})


def test_an_instance_passes_only_if_each_listed_test_passes() -> None:
    assert swe_verdict({"a": "PASSED", "c": "XFAIL"}, ["a"], ["c"]) == ("pass", "")
    for status in ("FAILED", "ERROR", "SKIPPED"):
        assert swe_verdict({"a": status, "c": "PASSED"}, ["a"], ["c"])[0] == "fail"
        assert swe_verdict({"a": "PASSED", "c": status}, ["a"], ["c"])[0] == "fail"


def test_a_skipped_or_missing_test_never_resolves() -> None:
    skipped = {"a": "SKIPPED", "c": "PASSED"}
    assert swe_verdict(skipped, ["a"], ["c"]) == ("fail", "a: SKIPPED")
    assert swe_verdict({"c": "PASSED"}, ["a"], ["c"]) == ("fail", "a: missing")


def test_nothing_required_and_unknown_statuses_are_not_evaluated() -> None:
    assert swe_verdict({}, [], [])[0] == "not evaluated"
    assert swe_verdict({"c": "PASSED"}, [], ["c"])[0] == "not evaluated"
    assert swe_verdict({"a": "OK"}, ["a"], [])[0] == "not evaluated"


def test_a_cut_id_is_completed_from_the_reference_run_only() -> None:
    cut, full = "t[log(photon", "t[log(photon / m]"
    passed = {full: "PASSED"}
    assert swe_verdict(passed, [cut], [], reference=[full, "t[other]"]) == ("pass", "")
    assert swe_verdict(passed, [cut], [])[0] == "not evaluated"
    both = [full, "t[log(photon / s]"]
    assert swe_verdict(passed, [cut], [], reference=both)[0] == "not evaluated"
    forged = {"t[log(photon) forged]": "PASSED"}
    assert swe_verdict(forged, [cut], [], reference=[full]) == ("fail", f"{full}: missing")


def test_a_log_that_its_exit_status_belies_is_inconsistent_and_never_resolved() -> None:
    spoofed = log_statuses("PASSED test_a\n")
    verdict, reason = swe_verdict(spoofed, ["test_a"], [], exit_status=1)
    assert (verdict, reason.split(":")[0]) == ("not evaluated", "inconsistent")
    odd = {"test_a": "PASSED", "other": "FAILED"}
    assert swe_verdict(odd, ["test_a"], [], exit_status=0)[0] == "not evaluated"


def test_the_exit_status_alone_decides_nothing() -> None:
    honest = {"test_a": "PASSED", "unrelated": "FAILED"}
    assert swe_verdict(honest, ["test_a"], [], exit_status=1) == ("pass", "")
    assert swe_verdict({"test_a": "FAILED"}, ["test_a"], [], exit_status=0)[0] == "fail"
    assert swe_verdict({}, ["test_a"], [], exit_status=139)[0] == "fail"


def test_a_log_is_read_by_its_summary_lines() -> None:
    log = (
        "collected 4 items\nPASSED a.py::t[x y]\nFAILED a.py::b - assert 1 == 2\n"
        "SKIPPED [1] a.py:3: no network\nERROR a.py::c\n  PASSED indented\n"
    )
    assert log_statuses(log) == {"a.py::t[x y]": "PASSED", "a.py::b": "FAILED", "a.py::c": "ERROR"}


@pytest.mark.parametrize("lines", ["PASSED t\nFAILED t - no\n", "FAILED t - no\nPASSED t\n"])
def test_a_test_with_two_statuses_has_not_passed(lines: str) -> None:
    assert log_statuses(lines) == {"t": "FAILED"}
