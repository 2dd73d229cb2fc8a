"""SWE-bench: the report of a run, and the verdict that two lists of tests and a log give."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from evalkit.logs import LogError, PathLike, field, json_value, trials

#: The lists of a report: what an instance in one of them is. None: not evaluated.
LISTS: dict[str, float | None] = {
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": 0.0,
    "error_ids": None,
    "incomplete_ids": None,
}
PASSED, FAILED = ("PASSED", "XFAIL"), ("FAILED", "ERROR")
STATUSES = (*PASSED, *FAILED, "SKIPPED")


def read_swe_bench(path: PathLike) -> pd.DataFrame:
    """One row for each instance in the report of a SWE-bench run; all are trial 0.

    An instance in ``error_ids`` is not evaluated: the report does not say whether its patch or
    the harness was at fault. Nor is one that was never completed, or stands in no list.

    Parameters
    ----------
    path
        The ``.json`` or ``.json.gz`` report that the harness writes at the end of a run.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says, and ``ended``: the list that the instance stands in, or
        ``no list``.

    Raises
    ------
    LogError
        If the file is cut off or of another format; if an instance is in two lists, or twice in
        one; if a list is not as long as the report says.

    References
    ----------
    Jimenez et al. 2023, *SWE-bench*, arXiv:2310.06770.
    """
    report, where = json_value(path), str(path)
    ended: dict[str, str] = {}
    for name in LISTS:
        needed = name in ("resolved_ids", "unresolved_ids")
        ids = field(where, report, name, list, optional=not needed) or []
        total = field(where, report, name.replace("_ids", "_instances"), int, optional=True)
        if total not in (None, len(ids)):
            raise LogError(f"{where}, {name}: holds {len(ids)} ids; the report counts {total}.")
        for instance in ids:
            if not isinstance(instance, str) or instance in ended:
                raise LogError(f"{where}, {name}: {instance!r} is no id, or is listed twice.")
            ended[instance] = name
    for instance in field(where, report, "submitted_ids", list, optional=True) or []:
        if not isinstance(instance, str):
            raise LogError(f"{where}, submitted_ids: {instance!r} is no id.")
        ended.setdefault(instance, "no list")
    blank: dict[str, Any] = {"trial": 0, "infra": False, "steps": None, "cost": None}
    rows = [
        blank | {"task": instance, "success": LISTS.get(name), "ended": name}
        for instance, name in ended.items()
    ]
    return trials(rows, path, "error")


def swe_verdict(
    statuses: Mapping[str, str],
    fail_to_pass: Sequence[str],
    pass_to_pass: Sequence[str],
    *,
    reference: Collection[str] = (),
    exit_status: int | None = None,
) -> tuple[str, str]:
    """The verdict on an instance, and why: it passes only if each listed test is seen to pass.

    A listed test that is skipped, or has no status, did not pass. An id that was cut inside its
    brackets is completed from the reference run, where exactly one id begins with it; never from
    the agent's own log, which the agent can write to.

    Parameters
    ----------
    statuses
        The status of each test in the agent's run, as `log_statuses` gives it.
    fail_to_pass, pass_to_pass
        The tests that must pass: those that failed before, and those that passed.
    reference
        The ids of the tests in the run of the reference patch.
    exit_status
        Of the test command. Where it is not 0 though no test in the log failed, or 0 though one
        did, one of the two is not to be trusted, and what would be a pass is none.

    Returns
    -------
    verdict, reason : str
        ``pass``, ``fail`` or ``not evaluated``; the reason is empty for a pass.

    Examples
    --------
    >>> swe_verdict({"a": "SKIPPED", "c": "PASSED"}, ["a"], ["c"])
    ('fail', 'a: SKIPPED')
    >>> swe_verdict({"test_a": "PASSED"}, ["test_a"], [], exit_status=1)
    ('not evaluated', 'inconsistent: exit status 1, and 0 tests failed in the log')
    """
    if not fail_to_pass:
        return "not evaluated", "FAIL_TO_PASS is empty, so nothing is required"
    if unknown := [test for test, status in statuses.items() if status not in STATUSES]:
        return "not evaluated", f"{unknown[0]}: {statuses[unknown[0]]!r} is no known status"
    for test in (*fail_to_pass, *pass_to_pass):
        name = _completed(test, reference)
        if name is None:
            return "not evaluated", f"{test}: the id is cut, and no one reference id begins so"
        if statuses.get(name) not in PASSED:
            return "fail", f"{name}: {statuses.get(name, 'missing')}"
    failed = sum(status in FAILED for status in statuses.values())
    if exit_status is not None and (exit_status == 0) != (failed == 0):
        reason = f"exit status {exit_status}, and {failed} tests failed in the log"
        return "not evaluated", f"inconsistent: {reason}"
    return "pass", ""


def _completed(test: str, reference: Collection[str]) -> str | None:
    """The id as it is, or completed where it was cut; None where it cannot be."""
    if test in reference or test.count("[") <= test.count("]"):
        return test
    whole = [name for name in reference if name.startswith(test)]
    return whole[0] if len(whole) == 1 else None


def log_statuses(log: str) -> dict[str, str]:
    """The status of each test in the summary that ``pytest -rA`` prints.

    Parameters
    ----------
    log
        What the test command printed.

    Returns
    -------
    dict
        By test id. A test with two statuses keeps the one that is no pass.

    Examples
    --------
    >>> log_statuses("PASSED a.py::test_b\\nFAILED a.py::test_c - assert 1 == 2\\n")
    {'a.py::test_b': 'PASSED', 'a.py::test_c': 'FAILED'}
    """
    found: dict[str, str] = {}
    for status, test in re.findall(rf"^({'|'.join(STATUSES)}) (?!\[\d+\] )(.+)$", log, re.M):
        name = test.split(" - ")[0].rstrip()
        if found.get(name, "PASSED") in PASSED:
            found[name] = status
    return found
