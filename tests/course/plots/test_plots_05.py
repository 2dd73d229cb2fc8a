"""The panel, the figures and the published counts of chapter 05."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from evalkit.audit import audit_grader
from evalkit.course.figures import new_figure
from evalkit.course.panels import View
from evalkit.course.plots import chapter_05 as plots
from evalkit.grading import grade
from evalkit.simulate import SCENARIO

SHARED = Path(__file__).parents[3].parent / "shared/data"
WIDEST = len(plots.WIDTHS) - 1
TOTAL = "all mutants"


def view(allowed: int = 2, grader: str = "full diff", per_kind: int = 20) -> View:
    return plots.draw_panel(new_figure(), allowed, grader, per_kind)


def passing(shown: View) -> pd.Series[int]:
    return shown.table.set_index("kind")["pass"]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


# --- the panel ----------------------------------------------------------------------------


def test_the_right_end_state_passes_its_task() -> None:
    assert grade(plots.START, plots.DONE, SCENARIO.task)


def test_the_task_as_it_stands_lets_nothing_through() -> None:
    shown = view(allowed=0)
    assert set(passing(shown)) == {0}
    assert shown.finding == (
        "Full diff passes 0 of 159 harmful mutants, from 0 of the 10 kinds. "
        "What is allowed covers 1% of the fields."
    )


def test_each_step_allows_more_and_lets_more_through() -> None:
    escaped = [passing(view(allowed=width))[TOTAL] for width in range(WIDEST + 1)]
    covered = [plots.covered(width) for width in range(WIDEST + 1)]
    assert escaped == sorted(set(escaped))
    assert covered == sorted(covered)


@pytest.mark.parametrize(
    ("step", "kind"),
    [(1, "write outside scope"), (3, "row added twice"), (4, "row deleted")],
)
def test_a_step_opens_its_own_kind(step: int, kind: str) -> None:
    assert passing(view(allowed=step - 1))[kind] == 0
    assert passing(view(allowed=step))[kind] > 0


def test_the_job_itself_is_never_let_off() -> None:
    escaped = passing(view(allowed=WIDEST))
    assert escaped[["wrong value", "reverted requirement"]].tolist() == [0, 0]


def test_the_panel_says_what_an_audit_of_the_same_grader_says() -> None:
    wide = plots.wider(3)
    audit = audit_grader(
        lambda b, a: grade(b, a, wide),
        plots.START,
        plots.DONE,
        SCENARIO.task,
        per_kind=plots.MOST,
        fields=0,
    )
    ours = plots.escapes_of("full diff", 3, plots.MOST)
    pd.testing.assert_frame_equal(ours, plots.escapes(audit))


@pytest.mark.parametrize(("grader", "escaped"), [("targets only", 103), ("partial credit", 159)])
def test_a_grader_that_looks_at_targets_does_not_care_what_is_allowed(
    grader: str, escaped: int
) -> None:
    narrow, wide = view(0, grader), view(WIDEST, grader)
    assert passing(narrow)[TOTAL] == escaped
    assert narrow.table.equals(wide.table)
    assert narrow.finding.endswith("It does not look at what is allowed.")


def test_more_mutants_narrow_the_interval() -> None:
    few, many = (plots.escapes_of("full diff", 0, n).loc[TOTAL] for n in (10, plots.MOST))
    assert few["of"] < many["of"]
    assert few["high"] > many["high"] > 0


@pytest.mark.parametrize("control", ["allowed", "grader", "per_kind"])
def test_each_control_changes_picture_finding_and_table(control: str) -> None:
    panel = plots.escape_panel()
    before = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    panel.controls[control].value = {"allowed": 3, "grader": "targets only", "per_kind": 10}[
        control
    ]
    after = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 3


@pytest.mark.parametrize("grader", list(plots.TITLES))
def test_every_corner_of_the_panel_draws(grader: str) -> None:
    for allowed in (0, WIDEST):
        for per_kind in (10, plots.MOST):
            assert list(view(allowed, grader, per_kind).table["kind"]) == [*plots.KINDS, TOTAL]


def test_a_crash_is_neither_an_escape_nor_a_catch() -> None:
    before, after = ({"a": {1: {"x": x}}, "b": {1: {"z": 0}}} for x in (0, 1))
    audit = audit_grader(lambda _, end: end["a"][1]["x"] == 1, before, after)
    counts = plots.escapes(audit)[["pass", "of", "unanswered"]].to_dict("index")
    assert counts["row deleted"] == {"pass": 1, "of": 1, "unanswered": 1}


# --- the figures --------------------------------------------------------------------------


def test_the_bars_are_as_long_as_the_rates() -> None:
    table = plots.escapes_of("targets only", 0, 20)
    figure = new_figure()
    plots.draw_escapes(figure, {"targets only": table, "again": table})
    for axes in figure.axes:
        bars = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
        assert bars == list(table["escape rate (%)"])
    named = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert named == list(table.index)


def test_the_unseen_fields_are_counted_table_by_table() -> None:
    blind = audit_grader(
        lambda _, after: after["a"] == {1: {"x": 1, "y": 2}},
        {"a": {1: {"x": 0, "y": 2}}, "b": {1: {"z": 0}}},
        {"a": {1: {"x": 1, "y": 2}}, "b": {1: {"z": 0}}},
    )
    table = plots.unseen(blind)
    assert table.to_dict("index") == {
        "a": {"fields": 2, "unseen": 0},
        "b": {"fields": 1, "unseen": 1},
    }
    figure = new_figure()
    plots.draw_unseen(figure, {"blind": table})
    assert {"2 of 2", "0 of 1"} <= set(texts(figure))


def test_the_pairs_of_bars_carry_their_numbers() -> None:
    table = pd.DataFrame({"does nothing": [100, 38], "gpt-4o": [72, 42]}, index=["held", "all"])
    figure = new_figure()
    plots.draw_do_nothing(figure, table)
    assert {"does nothing\n100", "gpt-4o\n72", "38", "42"} <= set(texts(figure))


# --- the published counts -----------------------------------------------------------------


def test_the_counts_come_to_the_published_shares() -> None:
    table = plots.do_nothing()
    tasks = table["tasks"].unstack("doing nothing")
    earned = 100 * tasks["passes"] / tasks.sum(axis=1)
    assert earned.round().to_dict() == {"airline": 38, "retail": 6}
    airline = table.loc["airline"]
    assert airline["gpt-4o passed"].sum() / airline["gpt-4o trials"].sum() == 0.42
    assert (airline["gpt-4o trials"] == 4 * airline["tasks"]).all()


@pytest.mark.skipif(not SHARED.exists(), reason="the published results are not beside this folder")
def test_the_counts_are_those_of_the_published_results() -> None:
    nothing = pd.read_csv(SHARED / "budget/tau_bench_donothing.csv")
    nothing["doing nothing"] = np.where(nothing["do_nothing_reward"] == 1, "passes", "fails")
    groups = nothing.set_index(["domain", "task_index"])["doing nothing"]
    table = plots.do_nothing()
    assert table["tasks"].to_dict() == groups.groupby("domain").value_counts().to_dict()

    trials = pd.read_csv(SHARED / "tau/tau1_trials.csv").query("source == 'gpt-4o-airline'")
    passed = trials.groupby(trials["task_id"].map(groups["airline"]))["reward"]
    airline = table.loc["airline"]
    assert airline["gpt-4o trials"].to_dict() == passed.size().to_dict()
    assert airline["gpt-4o passed"].to_dict() == passed.sum().to_dict()


# --- agents kept apart --------------------------------------------------------------------


def test_an_agent_runs_in_its_folder_and_what_it_prints_is_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import os; print(os.path.basename(os.getcwd()))"]
    assert plots.run_or_say(command, tmp_path) == tmp_path.name


def test_in_a_browser_nothing_is_run_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert plots.run_or_say(["no such program"], tmp_path).startswith("not run: a browser")
