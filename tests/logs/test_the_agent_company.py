"""TheAgentCompany results: all points or no success, and no points to be had is no verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit import counts
from evalkit.credit import half_and_half
from evalkit.logs import LogError
from evalkit.logs.the_agent_company import read_the_agent_company

TABLE = Path(__file__).parents[3] / "shared" / "data" / "budget" / "tac_pertask_6submissions.csv"
HEADER = "submission,task,total_points,result_points,steps,cost_usd\n"


def read(folder: Path, content: str, **options: Any) -> Any:
    path = folder / "log.csv"
    path.write_text(content)
    return read_the_agent_company(path, **options)


def checkpoints(folder: Path, task: str, totals: list[int], result: int, total: int) -> None:
    parts = [{"total": n, "result": 0} for n in totals]
    content = {"checkpoints": parts, "final_score": {"total": total, "result": result}}
    (folder / f"eval_{task}-image.json").write_text(json.dumps(content))


def test_a_success_has_all_the_points(tmp_path: Path) -> None:
    table = read(tmp_path, HEADER + "x,a,4,4,12,0.5\nx,b,4,3,,\n")
    assert list(table["success"]) == [1.0, 0.0]
    assert list(table["points"]) == [4, 3]
    assert table["steps"].isna().tolist() == table["cost"].isna().tolist() == [False, True]


def test_a_task_without_points_to_be_had_is_not_evaluated(tmp_path: Path) -> None:
    tally = counts(read(tmp_path, HEADER + "x,a,4,4,,\nx,b,0,0,,\n"))
    assert tally[["n", "c", "planned"]].sum().tolist() == [1, 1, 2]


def test_a_directory_of_checkpoint_files_gives_the_same_table(tmp_path: Path) -> None:
    folder = tmp_path / "agent-1" / "results"
    folder.mkdir(parents=True)
    checkpoints(folder, "a", [1, 3], 4, 4)
    checkpoints(folder, "b", [2], 1, 2)
    table = read_the_agent_company(folder)
    columns = ["submission", "task", "success", "points", "total"]
    assert table[columns].values.tolist() == [
        ["agent-1", "a", 1.0, 4, 4],
        ["agent-1", "b", 0.0, 1, 2],
    ]


def test_checkpoints_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    checkpoints(tmp_path, "a", [1, 2], 1, 4)
    with pytest.raises(LogError, match="eval_a-image.json, final_score.total: is 4; .* 3"):
        read_the_agent_company(tmp_path)


def test_a_checkpoint_file_that_is_cut_off_or_foreign_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="there is no trial"):
        read_the_agent_company(tmp_path)
    (tmp_path / "eval_a.json").write_text('{"checkpoints": [')
    with pytest.raises(LogError, match="eval_a.json, line 1: .*cut off"):
        read_the_agent_company(tmp_path)
    (tmp_path / "eval_a.json").write_text('{"score": 1}')
    with pytest.raises(LogError, match="eval_a.json, checkpoints: is missing"):
        read_the_agent_company(tmp_path)


def test_submissions_are_read_one_at_a_time(tmp_path: Path) -> None:
    content = HEADER + "x,a,4,4,,\ny,a,4,0,,\n"
    with pytest.raises(LogError, match="log.csv, submission: holds x, y; choose"):
        read(tmp_path, content)
    assert list(read(tmp_path, content, submission="y")["success"]) == [0.0]
    with pytest.raises(LogError, match="there is no 'z'"):
        read(tmp_path, content, submission="z")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("task,points\na,1\n", "line 1, submission: is no column"),
        (HEADER + "x,a,4,5,,\n", "line 2, points: 5.0 is not between 0 and the total, 4.0"),
        (HEADER + "x,a,4,nan,,\n", "line 2, points: nan"),
        (HEADER + "x,a,4,,,\n", "line 2: .*blank"),
        (HEADER + "x,a,4,four,,\n", "line 2, result_points: 'four' is no number"),
        (HEADER + "x,a,4,4,,\nx,a,4,4,,\n", "task 'a', trial 0 has 2 rows"),
        (HEADER, "there is no trial"),
    ],
)
def test_what_cannot_be_relied_on_is_refused(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(LogError, match=f"log.csv.*{says}"):
        read(tmp_path, content)


@pytest.mark.skipif(not TABLE.is_file(), reason="needs the published table in ../shared")
@pytest.mark.parametrize(
    ("submission", "rows", "of", "complete", "score"),
    [
        ("20241217_OpenHands-0.14.2_claude-3.5-sonnet-20241022", 175, 175, 24.00, 34.40),
        ("20250510_OpenHands-0.28.1_gemini-2.5-pro", 173, 173, 30.64, 39.66),
        ("20250614_OpenHands-Versa_claude-sonnet-4", 175, 175, 33.14, 43.19),
        ("20251013_MUSE_gemini-2.5-flash", 175, 175, 41.14, 51.78),
        ("20251110_TTE-MatrixAgent_deepseek-v3.2", 175, 175, 42.86, 52.40),
        ("20260430_ARIA_deepseek-v3.2", 175, 175, 44.57, 54.91),
    ],
)
def test_the_published_submissions_come_to_their_scores(
    submission: str, rows: int, of: int, complete: float, score: float
) -> None:
    table = read_the_agent_company(TABLE, submission=submission)
    graded = table[table["total"] > 0]
    assert len(table) == rows
    assert round(100 * table["success"].sum() / of, 2) == complete
    points = half_and_half(graded["points"], graded["total"])
    assert round(100 * float(points.sum()) / of, 2) == score
