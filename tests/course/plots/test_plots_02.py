"""The episodes, the panel and the figures of chapter 02."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from evalkit.course.figures import new_figure
from evalkit.course.panels import View
from evalkit.course.plots import chapter_02 as plots
from evalkit.simulate import SCENARIO
from evalkit.tasks import Created, Task

OFF = dict.fromkeys(("confirmed", "reads", "leaks", "how_often", "put_back"), plots.OFF)
RIGHT = {
    "confirmed": "before it, of the same",
    "reads": "only the job's two records",
    "leaks": "no email of anybody else",
    "how_often": "once at most",
    "put_back": "none",
}


def view(**chosen: str) -> View:
    return plots.draw_rules(new_figure(), **{**OFF, **chosen})


def failed(shown: View) -> list[str]:
    return list(shown.table["episode"][shown.table["gets"] == "fail"])


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def test_no_action_of_any_episode_is_refused() -> None:
    assert [a for run in plots.runs().values() for a in run.trajectory if a.error] == []


def test_the_confirmation_is_in_no_state() -> None:
    run = plots.runs()["the reference way"]
    i = [action.tool for action in run.trajectory].index("confirm")
    assert run.states[i] == run.states[i + 1]


def test_without_a_rule_the_full_diff_fails_the_undone_job_only() -> None:
    assert failed(view()) == ["writes a wrong address", "does nothing"]
    assert view().finding == (
        "The full diff alone fails 2 of 8 bad episodes, and 0 of 2 good ones."
    )


def test_the_right_five_rules_catch_every_bad_episode_and_no_good_one() -> None:
    assert failed(view(**RIGHT)) == [name for name in plots.ROUTES if not plots.GOOD[name]]


@pytest.mark.parametrize(
    ("control", "caught"),
    [
        ("confirmed", {"no confirmation", "confirms another number"}),
        ("reads", {"reads a stranger's record", "leaks a stranger's email"}),
        ("leaks", {"leaks a stranger's email"}),
        ("how_often", {"adds, deletes, adds again"}),
        ("put_back", {"does damage and undoes it"}),
    ],
)
def test_each_rule_alone_catches_its_own(control: str, caught: set[str]) -> None:
    alone = view(**{control: RIGHT[control]})
    assert set(failed(alone)) - set(failed(view())) == caught
    assert "with 1 rule fails" in alone.finding


def test_a_confirmation_of_anything_lets_another_number_pass() -> None:
    loose = failed(view(confirmed="before the edit"))
    assert "no confirmation" in loose
    assert "confirms another number" not in loose


@pytest.mark.parametrize(
    ("chosen", "victim"),
    [
        ({"reads": "only the second of them"}, "the reference way"),
        ({"leaks": "no email at all"}, "another valid way"),
    ],
)
def test_a_rule_too_narrow_fails_a_good_agent(chosen: dict[str, str], victim: str) -> None:
    shown = view(**chosen)
    assert victim in failed(shown)
    assert shown.finding.endswith("and 1 of 2 good ones.")


@pytest.mark.parametrize("control", list(OFF))
def test_each_control_changes_picture_finding_and_table(control: str) -> None:
    panel = plots.rules_panel()
    before = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    widget = panel.controls[control]
    widget.value = widget.options[-1]
    after = panel.picture.value, panel.view.finding, panel.view.table.to_string()
    assert [a != b for a, b in zip(after, before, strict=True)] == [True] * 3


def test_every_form_of_every_rule_draws() -> None:
    panel = plots.rules_panel()
    for widget in panel.controls.values():
        for option in widget.options:
            widget.value = option
            assert len(panel.view.table) == len(plots.ROUTES)


def marks_of_size(figure: Figure, size: int) -> np.ndarray:
    """The places of all marks of one size: 60 for a ring, 80 for a cross, 260 for a box."""
    groups = [c for c in figure.axes[0].collections if list(c.get_sizes()) == [size]]
    return np.concatenate([np.asarray(group.get_offsets()) for group in groups])


def test_passes_fails_and_wrong_verdicts_have_marks_of_their_own() -> None:
    passed = pd.DataFrame({"a": plots.GOOD, "b": ~plots.GOOD})
    figure = new_figure()
    plots.draw_graders(figure, passed)
    assert [len(marks_of_size(figure, size)) for size in (60, 80, 260)] == [10, 10, 10]
    assert set(marks_of_size(figure, 260)[:, 0]) == {1}


@pytest.mark.parametrize(("chosen", "boxes"), [(OFF, 6), (RIGHT, 0)])
def test_the_panel_boxes_what_is_wrong_in_its_last_column(
    chosen: dict[str, str], boxes: int
) -> None:
    figure = new_figure()
    plots.draw_rules(figure, **chosen)
    boxed = marks_of_size(figure, 260)
    assert len(boxed) == boxes
    assert set(boxed[:, 0]) <= {len(plots.RULES) + 1}


def test_only_the_text_of_a_note_is_left_to_the_agent() -> None:
    task = Task(created=[Created("notes", who="C1", text="done", free=["id"])])
    (row,) = plots.in_own_words(task).created
    assert (row.columns, row.free) == ({"who": "C1"}, ("id", "text"))
    assert plots.JOB.task.required == SCENARIO.task.required


def test_no_secret_is_in_a_valid_trajectory() -> None:
    secrets = re.compile("|".join(map(re.escape, plots.OTHERS)))
    for name in plots.GOOD[plots.GOOD].index:
        assert not any(secrets.search(str(action)) for action in plots.runs()[name].trajectory)


def test_the_estimates_stand_beside_the_truth() -> None:
    table = pd.DataFrame({"estimate": [50.0], "low": [45.0], "high": [55.0]}, index=["labels"])
    figure = new_figure()
    plots.draw_estimates(figure, table, 48.0)
    assert "truth: 48.0" in texts(figure)
    assert "labels" in [tick.get_text() for tick in figure.axes[0].get_yticklabels()]


def test_both_agents_are_labelled_where_their_lines_end() -> None:
    judged = pd.DataFrame({"Careful": [50.0, 51.0], "Aggressive": [43.0, 56.0]}, index=[0, 15])
    figure = new_figure()
    plots.draw_lift(figure, judged)
    ends = {t.get_text(): t.get_position()[1] for t in figure.axes[0].texts}
    assert ends == {"Careful": 51.0, "Aggressive": 56.0}
