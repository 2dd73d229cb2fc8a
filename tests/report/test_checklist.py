"""The design checklist: no line is met without evidence, and a claim never outweighs the data."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from evalkit import Allowed, Evidence, Task, grade, never
from evalkit.audit import audit_grader
from evalkit.report import report_card
from evalkit.report.checklist import FEW, MET, NARROW, NOT_MET, NOT_STATED, Check
from evalkit.report.evidence import ITEMS

BEFORE = {"orders": {1: {"status": "new", "total": "5"}, 2: {"status": "new", "total": "7"}}}
AFTER = {"orders": {1: {"status": "sent", "total": "5"}, 2: {"status": "new", "total": "7"}}}
TASK = Task({"orders/1/status": "sent"})
FORMS = Task({"orders/1/status": "sent"}, forms={"orders/*/total": "number"})
#: What the trials may not say, so that the evidence does.
TOLD = ("environment", "user", "budgets", "baselines")


def check(name: str, trials: Mapping[str, Any] | None = None, **evidence: Any) -> Check:
    """One line of the checklist, for two tasks of two trials with further columns."""
    rows = {"task": ["a", "a", "b", "b"], "trial": [0, 1, 0, 1], "success": [1.0, 0, 1, 1]}
    frame = pd.DataFrame(rows | {"infra": False} | dict(trials or {}))
    card = report_card(frame, evidence=Evidence(**evidence))
    return next(line for line in card.checklist if line.name == name)


def audit(grader: Any, task: Task = TASK) -> Any:
    return audit_grader(grader, BEFORE, AFTER, task, per_kind=3, fields=4)


def full(task: Task) -> Any:
    return lambda before, after: grade(before, after, task)


TARGET_ONLY = audit(lambda before, after: after["orders"][1].get("status") == "sent")
STRICT = audit(lambda before, after: after == AFTER, FORMS)
SOUND = audit(full(TASK))
SOUND_FORMS = audit(full(FORMS), FORMS)
RUN = {"attempts": [1, 3, 1, 1], "tag": "agent success", "kind": ""}
SPOILT = RUN | {"success": [1.0, None, 1, 1], "infra": [False, True, False, False]}
ONE_SAYS: dict[str, Any] = {"violations": [[], None, None, None]}
VIOLATIONS = {"violations": [["never delete"], [], [], []]}
UNKNOWN = {"tag": ["not evaluated", "", "", ""], "kind": ["unknown: KeyError", "", "", ""]}


@pytest.mark.parametrize(
    ("name", "status", "says", "trials", "evidence"),
    [
        ("changes", NOT_STATED, "", {}, {}),
        ("changes", NOT_MET, "harmful end states through", {}, {"audits": [TARGET_ONLY]}),
        ("changes", NOT_MET, "through", {}, {"audits": [TARGET_ONLY], "tasks": [TASK]}),
        ("changes", MET, "lets 0 of", {}, {"audits": [SOUND]}),
        ("changes", MET, "2 tasks, each graded", {}, {"tasks": [TASK, FORMS]}),
        ("changes", NOT_MET, "1 of 2 tasks state nothing", {}, {"tasks": [TASK, Task()]}),
        ("changes", NOT_STATED, "", {}, {"tasks": []}),
        ("allowed", NOT_STATED, "", {}, {}),
        ("allowed", MET, "4.0%", {"allowed_share": [0.04, 0.01, 0, 0]}, {}),
        ("allowed", NOT_STATED, "4.0% of a state, in 3 of 4", {"allowed_share": [0.04, 0.01, None, 0]}, {}),
        ("allowed", NOT_MET, "6.0%", {"allowed_share": [0.06, 0.01, None, 0]}, {}),
        ("allowed", NOT_MET, "6.0%", {"allowed_share": [0.01, 0.06, 0, 0]}, {}),
        ("allowed", MET, "nothing is allowed", {}, {"tasks": [TASK]}),
        ("allowed", NOT_STATED, "", {}, {"tasks": [Task(TASK.required, allowed=[Allowed("x/1/y")])]}),
        ("canonical", NOT_STATED, "", {}, {"tasks": [FORMS]}),
        ("canonical", MET, "fails 0 of", {}, {"audits": [SOUND_FORMS]}),
        ("canonical", NOT_MET, "fails", {}, {"audits": [SOUND_FORMS, STRICT]}),
        ("reach", NOT_STATED, "", {}, {}),
        ("reach", MET, "found none", {}, {"exposures": []}),
        ("reach", NOT_MET, "can read: x, and 1 more", {}, {"exposures": ["can read: x", "copy: y"]}),
        ("process", NOT_STATED, "", {}, {}),
        ("process", NOT_STATED, "known of no trial", {}, {"rules": [never("delete")]}),
        ("process", NOT_STATED, "only 1 trial", ONE_SAYS, {"rules": [never("delete")]}),
        ("process", NOT_STATED, "", VIOLATIONS, {}),
        ("process", MET, "never delete", VIOLATIONS, {"rules": [never("delete")]}),
        ("process", NOT_MET, "not listed: never delete", VIOLATIONS, {"rules": ["no damage"]}),
        ("process", NOT_MET, "11 rules", VIOLATIONS | {}, {"rules": ["never delete", *"abcdefghij"]}),
        ("credit", NOT_STATED, "no partial credit was given", {}, {}),
        ("credit", NOT_STATED, "was given", {"credit": None}, {}),
        ("credit", MET, "stands beside", {"credit": 0.5}, {}),
        ("credit", NOT_STATED, "no trial has a verdict", {"success": float("nan"), "credit": 0.5}, {}),
        ("trials", MET, "2 valid trials or more of each task, for pass^2; with n = k", {}, {}),
        ("trials", NOT_MET, "beyond pass^1", {"success": [1.0, None, 0, None]}, {}),
        ("trials", NOT_MET, "see k=2", {"success": [1.0, None, 0, 1]}, {}),
        ("trials", NOT_MET, "a task has 0 valid", {"success": [None, None, 0, 1]}, {}),
        ("trials", NOT_MET, "no task has", {"success": float("nan")}, {}),
        ("trials", NOT_MET, "4 trials repeat", {"trace": "same", "success": 1.0}, {}),
        ("infra", NOT_STATED, "none is tagged", {}, {}),
        ("infra", NOT_STATED, "1 trial tagged", {k: SPOILT[k] for k in ("success", "infra")}, {}),
        ("infra", MET, "3 infra failures, 2 retries, at most 2", SPOILT, {}),
        ("infra", MET, "at most 2", SPOILT, {"retries": 2}),
        ("infra", NOT_MET, "less often than 3 times in 1 trial", SPOILT, {"retries": 3}),
        ("infra", NOT_MET, "more often", SPOILT, {"retries": 1}),
        ("infra", NOT_STATED, "the limit", RUN, {}),
        ("infra", NOT_STATED, "none is tagged", {"attempts": 1}, {"retries": 3}),
        ("infra", MET, "0 infra failures, 0 retries", {"attempts": 1, "tag": ""}, {"retries": 3}),
        ("infra", MET, "2 infra failures", RUN, {"retries": 3}),
        ("infra", NOT_MET, "whose failure it was in 1 trial", SPOILT | UNKNOWN, {"retries": 2}),
        ("environment", NOT_STATED, "", {}, {}),
        ("environment", NOT_STATED, "", {"environment_version": None}, {}),
        ("environment", MET, "v1", {"environment_version": "v1"}, {}),
        ("environment", MET, "v1", {}, {"environment_version": "v1"}),
        ("environment", MET, "fingerprint", {}, {"fingerprint": {"schema": "ab", "content": "cd"}}),
        ("environment", NOT_MET, "v1 and v2", {"environment_version": ["v2", "v1", "v1", "v1"]}, {}),
        ("environment", NOT_MET, "v1 and v2", {"version": "v1"}, {"environment_version": "v2"}),
        ("environment", NOT_MET, "not recorded", {"version": ["v1", "v1", None, "v1"]}, {}),
        ("user", NOT_STATED, "", {}, {}),
        ("user", NOT_STATED, "settings are not stated", {"user": "u"}, {}),
        ("user", MET, "no simulated user", {}, {"user_model": "none"}),
        ("user", MET, "u, settings {'t': 0}", {"user_model": "u", "user_settings": [{"t": 0}] * 4}, {}),
        ("user", MET, "u, settings", {"user": "u"}, {"user_settings": {"t": 0}}),
        ("user", NOT_MET, "u and w", {"user": ["u", "u", "w", "w"]}, {}),
        ("budgets", NOT_STATED, "", {}, {}),
        ("budgets", MET, "30 steps", {"max_steps": 30}, {}),
        ("budgets", NOT_MET, "15 and 50", {"max_steps": [50, 50, 15, 15]}, {}),
        ("budgets", NOT_MET, "not recorded", {"max_steps": [50, 50, None, 50]}, {}),
        ("faults", NOT_STATED, "", {}, {}),
        ("budgets", NOT_MET, "took 30 steps, above the budget of 10", {"steps": [1, 30, 2, 3]},
         {"max_steps": 10}),
        ("budgets", NOT_MET, "above", {"steps": [1, 30, 2, 3], "max_steps": 10}, {}),
        ("budgets", MET, "30 steps", {"steps": [1, 30, 2, 3]}, {"max_steps": 30}),
        ("environment", NOT_STATED, "", {"environment_version": ""}, {}),
        ("baselines", NOT_STATED, "", {}, {}),
        ("baselines", MET, "does nothing: 1 of 2", {}, {"baselines": {"does nothing": (1, 2)}}),
        ("intervals", MET, "each rate", {}, {}),
        ("intervals", NOT_MET, "fewer than two tasks", {"success": [1.0, 0, None, None]}, {}),
    ],
)  # fmt: skip
def test_each_line_is_what_its_evidence_says(
    name: str, status: str, says: str, trials: Any, evidence: Any
) -> None:
    found = check(name, trials, **evidence)
    assert (found.status, says in found.why) == (status, True), found
    said = (name in TOLD and evidence and status == MET) or name == "reach"
    basis = "stated" if said else "data"
    assert found.basis == ("" if status == NOT_STATED else basis)
    assert bool(found.to_do) == (status != MET)


def test_the_limits_are_those_of_the_tests() -> None:
    assert 0.04 < NARROW < 0.06
    assert FEW == 10


def test_a_log_of_one_row_meets_nothing() -> None:
    row = pd.DataFrame({"task": ["a"], "trial": 0, "success": 1.0, "infra": False, "attempts": 1})
    assert report_card(row).with_status(MET) == ()
    assert report_card(row, evidence=Evidence(retries=3)).with_status(MET) == ()


@pytest.mark.parametrize("name", [name for name, _, _ in ITEMS])
def test_a_claim_fills_in_what_no_data_show_and_a_denial_always_counts(name: str) -> None:
    claimed, denied = (check(name, stated={name: claim}) for claim in ("so it is", False))
    bare = check(name)
    if bare.status == NOT_STATED:
        assert (claimed.status, claimed.basis, claimed.why) == (MET, "stated", "so it is")
    else:
        assert claimed == bare
    assert denied.status == NOT_MET
    assert denied.to_do


def test_a_limit_of_retries_that_no_log_shows_is_stated_above_and_below() -> None:
    rows = {"task": ["a", "a"], "trial": [0, 1], "success": [1.0, None], "infra": [False, True]}
    card = report_card(pd.DataFrame(rows), evidence=Evidence(retries=3))
    found = next(line for line in card.checklist if line.name == "infra")
    assert (found.status, found.basis) == (MET, "stated")
    assert found.why == "1 trial tagged; stated: retried up to 3 times"
    assert ("retries", "stated: up to 3 of one trial") in card.lines()
    assert "(stated)" not in card.to_html()  # it is said once


def test_a_claim_against_the_data_is_not_met_and_is_shown() -> None:
    versions = {"environment_version": ["v1", "v1", "v2", "v2"]}
    found = check("environment", versions, stated={"environment": "pinned"})
    assert found.status == NOT_MET
    assert "yet it was stated: pinned" in found.why


@pytest.mark.parametrize(
    ("evidence", "says"),
    [
        ({"stated": {"speed": "fast"}}, "'speed' is no line; they are changes, allowed"),
        ({"stated": {"faults": True}}, "say in words"),
        ({"stated": {"faults": " "}}, "say in words"),
        ({"baselines": {"nothing": (3, 2)}}, r"baselines\['nothing'\]: \(3, 2\) is not"),
        ({"baselines": {"nothing": (0, 0)}}, "is not"),
        ({"baselines": {"nothing": (1,)}}, "is not"),
        ({"baselines": {"nothing": (1.5, 2)}}, "is not"),
        ({"baselines": {"nothing": (True, 2)}}, "is not"),
        ({"baselines": {"nothing": ("1", "2")}}, "is not"),
        ({"baselines": {"nothing": 0.3}}, r"baselines\['nothing'\]: 0.3 is not"),
        ({"max_steps": 0}, "max_steps: 0 is not a whole number, 1 or more"),
    ],
)
def test_evidence_that_is_none_is_an_error(evidence: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Evidence(**evidence)


ODD = ("", " ", "three", True, -1, 2.5, [1], {"a": 1}, [[]])
FITS = {"environment_version": "three", "user_model": "three", "fingerprint": {"a": 1}}
FITS |= {"user_settings": {"a": 1}}


@pytest.mark.parametrize("name", Evidence.__dataclass_fields__)
def test_every_field_refuses_what_is_of_another_type_and_is_named(name: str) -> None:
    for value in ODD:
        if value != FITS.get(name):
            with pytest.raises(ValueError, match=name):
                Evidence(**{name: value})
    if name in FITS:
        assert getattr(Evidence(**{name: FITS[name]}), name) == FITS[name]
