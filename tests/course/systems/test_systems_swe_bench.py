"""SWE-bench: real runs of pytest on patches, those among them that cheat."""

from __future__ import annotations

import sys

import pytest

from evalkit.course.systems import swe_bench
from evalkit.course.systems.swe_bench import BASE, PATCHES, both_lists, pytest_run, resolution
from evalkit.logs.swe_bench import log_statuses, swe_verdict

FAIL_TO_PASS = ["earlier_refunds_count", "nothing_is_no_refund"]
PASS_TO_PASS = ["the_whole_order", "too_much", "the_standard_fee"]


def ids(names: list[str]) -> list[str]:
    return [f"test_refunds.py::test_{name}" for name in names]


def test_the_lists_are_had_from_runs_before_and_after_the_reference_patch() -> None:
    assert both_lists() == (ids(FAIL_TO_PASS), ids(PASS_TO_PASS))
    assert not resolution(BASE).passed


def test_every_patch_is_another_text_than_the_base() -> None:
    texts = [PATCHES[name] for name in ("good", "collateral", "unfinished")]
    assert len({BASE, *texts}) == 4


def test_a_patch_that_breaks_what_an_old_test_looks_at_fails() -> None:
    broken = PATCHES["good"].replace('"standard": 250', '"standard": 200')
    assert resolution(broken).why == ids(["the_standard_fee"])[0]


LINES = [f"PASSED {test}" for test in ids([*FAIL_TO_PASS, *PASS_TO_PASS])]
PRINTED = "".join(f"\nprint({line!r})" for line in LINES)
# What pytest captures never reaches the log, so this writes past it, and leaves before any summary.
SPOOF = f"""
import os
from contextlib import suppress

for number in range(3, 30):
    with suppress(OSError):
        os.write(number, {chr(10).join(LINES) + chr(10)!r}.encode())
os._exit(0)
"""


def test_a_patch_that_prints_passed_lines_fools_the_log_and_not_the_report() -> None:
    run = pytest_run(BASE + SPOOF)
    by_log = swe_verdict(log_statuses(run.printed), *both_lists(), exit_status=run.exit_status)
    assert by_log == ("pass", "")
    assert run.statuses == {}
    grade = resolution(BASE + SPOOF)
    assert grade.verdict == "fail"
    assert not any(grade.parts.values())


def test_printed_lines_change_nothing_where_the_run_goes_on() -> None:
    assert resolution(BASE + PRINTED).why == "; ".join(ids(FAIL_TO_PASS))
    assert resolution(PATCHES["good"] + PRINTED).passed


def test_a_test_that_the_patch_skips_did_not_pass() -> None:
    skipping = PATCHES["good"].replace(
        "    return FEES[tier]", "    import pytest\n\n    pytest.skip('not today')"
    )
    assert pytest_run(skipping).statuses[ids(["the_standard_fee"])[0]] == "SKIPPED"
    assert resolution(skipping).why == ids(["the_standard_fee"])[0]


@pytest.mark.parametrize("text", ["def left(:", "raise SystemExit(0)"])
def test_a_module_that_cannot_be_used_fails_every_test(text: str) -> None:
    grade = resolution(text)
    assert (grade.verdict, any(grade.parts.values())) == ("fail", False)


def test_a_run_that_hangs_is_ended_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    both_lists()  # within the usual time
    monkeypatch.setattr(swe_bench, "PATIENCE", 1.0)
    hanging = PATCHES["good"] + "\nimport time\n\ntime.sleep(60)\n"
    assert pytest_run(hanging).printed == "no end within 1.0 seconds"
    assert resolution(hanging).verdict == "fail"


def test_a_task_on_which_nothing_fails_before_is_not_evaluated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(swe_bench, "BASE", PATCHES["good"])
    grade = resolution(PATCHES["good"])
    assert (grade.verdict, grade.why) == (
        "not evaluated",
        "FAIL_TO_PASS is empty, so nothing is required",
    )


def test_an_exit_status_that_contradicts_the_report_is_not_trusted() -> None:
    ending = PATCHES["good"] + "\nimport atexit, os\n\natexit.register(os._exit, 3)\n"
    grade = resolution(ending)
    assert grade.verdict == "not evaluated"
    assert "inconsistent: exit status 3" in grade.why


def test_without_processes_the_tests_run_in_this_one_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    modules = [BASE, PATCHES["collateral"]]
    apart = [pytest_run(module) for module in modules]
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(swe_bench, "run_apart", None)
    paths, loaded = list(sys.path), {"refunds", "test_refunds"}
    for module, run in zip(modules, apart, strict=True):
        here = pytest_run.__wrapped__(module)
        assert here[:2] == run[:2]
    assert sys.path == paths
    assert not loaded & set(sys.modules)
    assert "refunds" not in capfd.readouterr().out
