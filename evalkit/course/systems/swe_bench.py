"""SWE-bench: the tests of a repository, run after the agent's patch.

A task is a repository at a commit and an issue. Its two lists of tests are had by running the tests
before and after the reference patch: FAIL_TO_PASS failed before and pass after, PASS_TO_PASS pass
both times. A patch resolves the issue if, with the tests put back as they were, every test of both
lists passes. So damage is seen where an old test looks, and nowhere else.

Here the repository is a module with the rules for refunds, and each patch does to it what an agent
did to the store. The tests really run. How they came out is read from pytest's own report. The
original reads what was printed, and the agent's code can print a line that says PASSED. That code
runs in the process that writes the report, though: who forges the report itself is not caught.

The verdict is that of `evalkit.logs.swe_bench.swe_verdict`, to which a skipped test is none that
passed; the original's harness counts a skipped test of PASS_TO_PASS as kept.

Jimenez et al. 2023, *SWE-bench*, arXiv:2310.06770; ``swebench/harness/grading.py`` in its
repository.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree

from evalkit.course.systems.episode import Grade, grade_of, not_evaluated
from evalkit.isolation import run_apart
from evalkit.logs.swe_bench import PASSED, swe_verdict

PATIENCE = 60.0  # seconds for a run of the tests, which take one

BASE = '''"""Rules for refunds. Amounts are in cents."""

FEES = {"standard": 250, "silver": 100, "gold": 0}


def left(total, refunds):
    return total


def may_refund(amount, total, refunds):
    return amount <= left(total, refunds)


def fee(tier):
    return FEES[tier]
'''
TESTS = """from refunds import fee, left, may_refund


def test_earlier_refunds_count():
    assert left(4250, [500]) == 3750


def test_nothing_is_no_refund():
    assert not may_refund(0, 4250, [])


def test_the_whole_order():
    assert left(4250, []) == 4250


def test_too_much():
    assert not may_refund(5000, 4250, [])


def test_the_standard_fee():
    assert fee("standard") == 250
"""
_HALF = BASE.replace("return total", "return total - sum(refunds)")
_GOOD = _HALF.replace("return amount <=", "return 0 < amount <=")
#: The module as each agent left it. Collateral changed a fee besides, which no test looks at.
#: Undone had changed it too and put it back, and a patch is the difference from start to end.
PATCHES = {
    "good": _GOOD,
    "collateral": _GOOD.replace('"gold": 0', '"gold": 250'),
    "unfinished": _HALF,
    "undone": _GOOD,
}


class Run(NamedTuple):
    """How a run of the tests went."""

    statuses: dict[str, str]
    exit_status: int
    printed: str


@cache
def pytest_run(module: str) -> Run:
    """A run of the repository's tests on a version of the module, in a folder that is then gone.

    Examples
    --------
    >>> run = pytest_run(BASE)
    >>> run.exit_status, run.statuses["test_refunds.py::test_earlier_refunds_count"]
    (1, 'FAILED')
    """
    with TemporaryDirectory() as parent:
        folder, report = Path(parent, "repository"), Path(parent, "report.xml")
        folder.mkdir()
        files = {"refunds.py": module, "test_refunds.py": TESTS, "pytest.ini": "[pytest]\n"}
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        run = _in_this_process if sys.platform == "emscripten" else _apart
        status, printed = run(folder, ["-rA", "-p", "no:cacheprovider", f"--junitxml={report}"])
        return Run(_statuses(report), status, printed)


def _apart(folder: Path, options: list[str]) -> tuple[int, str]:
    # The plugins that happen to be installed here are no part of the repository.
    bare = "import os; os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'"
    code = f"{bare}; import pytest, sys; sys.exit(pytest.main(sys.argv[1:]))"
    try:
        done = run_apart([sys.executable, "-B", "-c", code, *options], folder, PATIENCE)
    except TimeoutExpired:
        return 1, f"no end within {PATIENCE} seconds"
    return done.returncode, done.stdout


def _in_this_process(folder: Path, options: list[str]) -> tuple[int, str]:
    import pytest

    here = [f"--rootdir={folder}", f"--override-ini=pythonpath={folder}", "--capture=no"]
    here += ["-p", "no:faulthandler"]  # which is this process's own
    try:
        with redirect_stdout(io.StringIO()) as printed:
            status = pytest.main([str(folder), *here, *options])
    finally:
        for name in ("refunds", "test_refunds"):  # the next patch has modules of these names too
            sys.modules.pop(name, None)
    return int(status), printed.getvalue()


def _statuses(report: Path) -> dict[str, str]:
    """The status of each test in the report; none where there is no report that can be read."""
    try:
        cases = ElementTree.parse(report).iter("testcase")
    except (OSError, ElementTree.ParseError):
        return {}
    names = {"failure": "FAILED", "error": "ERROR", "skipped": "SKIPPED"}
    found: dict[str, str] = {}
    for case in cases:
        test = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        status = next((names[child.tag] for child in case if child.tag in names), "PASSED")
        if found.get(test, "PASSED") in PASSED:  # one that failed and was then torn down
            found[test] = status
    return found


def both_lists() -> tuple[list[str], list[str]]:
    """FAIL_TO_PASS and PASS_TO_PASS, from a run before the reference patch and one after it.

    Examples
    --------
    >>> [len(tests) for tests in both_lists()]
    [2, 3]
    """
    before, after = pytest_run(BASE).statuses, pytest_run(PATCHES["good"]).statuses
    passing = [test for test, status in after.items() if status in PASSED]
    fail_to_pass = [test for test in passing if before.get(test) not in PASSED]
    return fail_to_pass, [test for test in passing if before.get(test) in PASSED]


def resolution(module: str) -> Grade:
    """Whether a patch resolves the issue.

    Parameters
    ----------
    module : str
        The module as the agent left it.

    Examples
    --------
    >>> print(resolution(PATCHES["collateral"]), resolution(PATCHES["unfinished"]))
    pass 1.00 fail 0.00
    """
    run, lists = pytest_run(module), both_lists()
    reference = pytest_run(PATCHES["good"]).statuses
    verdict, why = swe_verdict(
        run.statuses, *lists, reference=reference, exit_status=run.exit_status
    )
    if verdict == "not evaluated":
        return not_evaluated(why)
    parts = {test: run.statuses.get(test) in PASSED for tests in lists for test in tests}
    return grade_of(parts)
