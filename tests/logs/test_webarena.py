"""WebArena episodes: a blank is no verdict, and two suites are not one."""

from pathlib import Path
from typing import Any

import pytest

from evalkit import counts, estimate
from evalkit.logs import LogError
from evalkit.logs.webarena import read_webarena

TABLE = Path(__file__).parents[3] / "shared" / "data" / "budget" / "aatm_step_webarena_pertask.csv"


def read(folder: Path, content: str, **options: Any) -> Any:
    path = folder / "log.csv"
    path.write_text(content)
    return read_webarena(path, **options)


def test_a_row_an_episode_with_what_else_the_table_says(tmp_path: Path) -> None:
    table = read(tmp_path, "task_id,success,n_steps,site\n7,1.0,3,map\n8,0,,gitlab\n")
    assert table[["task", "trial", "success", "infra"]].values.tolist() == [
        [7, 0, 1.0, False],
        [8, 0, 0.0, False],
    ]
    assert table["steps"].isna().tolist() == [False, True]
    assert list(table["site"]) == ["map", "gitlab"]


def test_a_blank_success_is_not_evaluated(tmp_path: Path) -> None:
    tally = counts(read(tmp_path, "task_id,success\n1,1\n2,\n"))
    assert tally[["n", "c", "planned", "infra"]].sum().tolist() == [1, 1, 2, 0]


def test_two_suites_are_read_one_at_a_time(tmp_path: Path) -> None:
    content = "suite,task_id,success\nold,1,1\nnew,1,0\n"
    with pytest.raises(LogError, match="log.csv, suite: holds new, old; choose one"):
        read(tmp_path, content)
    assert list(read(tmp_path, content, suite="new")["success"]) == [0.0]
    with pytest.raises(LogError, match="there is no 'other'"):
        read(tmp_path, content, suite="other")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("id,success\n1,1\n", "line 2, task_id: is missing"),
        ("task_id,reward\n1,1\n", "line 2, success: is missing"),
        ("task_id,success\n,1\n", "line 2, task_id: is blank"),
        ("task_id,success\n1,1\nx,1\n", "line 3, task_id: 'x' is no number"),
        ("task_id,success\n1,0.5\n", "line 2, success: 0.5 is neither"),
        ("task_id,success\n1,nan\n", "line 2, success: nan is neither"),
        ("task_id,success\n1,1\n1,1\n", "trial 0 has 2 rows"),
        ("task_id,success\n", "there is no trial"),
        ("task_id,success\n1\n", "line 2: 1 fields"),
    ],
)
def test_what_cannot_be_relied_on_is_refused(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(LogError, match=f"log.csv.*{says}"):
        read(tmp_path, content)


def test_repeats_that_agree_can_be_dropped_and_trials_can_be_numbered(tmp_path: Path) -> None:
    assert len(read(tmp_path, "task_id,success\n1,1\n1,1\n", duplicates="drop")) == 1
    assert len(read(tmp_path, "task_id,trial,success\n1,0,1\n1,1,1\n")) == 2


@pytest.mark.skipif(not TABLE.is_file(), reason="needs the published table in ../shared")
def test_the_published_episodes_come_to_what_they_must() -> None:
    tally = counts(read_webarena(TABLE, suite="step_full"))
    assert tally[["c", "n", "planned"]].sum().tolist() == [201, 807, 812]
    assert round(100 * tally["c"].sum() / tally["planned"].sum(), 2) == 24.75
    assert estimate(tally).value == pytest.approx(201 / 807)
