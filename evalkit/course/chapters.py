"""The chapters, in order: which of them stand in the folder, and what is done of them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from evalkit.course.exercises import chapters, exercises
from evalkit.course.progress import remembered

SIGNS = {"right": "✓", "not yet": "✗", "open": "○"}
CHAPTERS = {
    "00_start_here": "how the course works; is this machine ready?",
    "01_four_scoreboards": "two agents, four graders, a ranking that flips",
    "02_outcome_or_trajectory": "what the end state cannot show; process rules",
    "03_partial_credit": "what checkpoints reward, and what they hide",
    "04_state_diff": "a grader from ten lines up, fooled and mended",
    "05_audit_your_grader": "testing the test: what a grader lets through",
    "06_reliability_compounds": "why long tasks fail, and what recovery is worth",
    "07_every_time": "pass^k beside pass@k; what reliability it takes",
    "08_real_tasks_differ": "suites of unlike tasks: estimates and plans",
    "09_flaky_environments": "when the environment fails; the honest retry",
    "10_budgets": "success within a budget; the cost frontier",
    "11_when_assumptions_break": "clustered and silent errors: what still holds",
    "12_published_logs": "real results, graded and estimated again",
    "13_your_own_agent": "your agent on the store, with a report card",
    "14_every_number": "each number of the note, with ours beside it",
}


def chapter_map(folder: Path | str = ".") -> pd.DataFrame:
    """Return one row a chapter: its name, what it teaches, and whether it is there.

    Parameters
    ----------
    folder : path
        Where the notebooks are.

    Examples
    --------
    >>> chapter_map("no/such/folder")["ready"].unique().tolist()
    ['not yet']
    """
    rows = [
        {
            "chapter": name,
            "teaches": teaches,
            "ready": "yes" if _is_in(Path(folder), name) else "not yet",
        }
        for name, teaches in CHAPTERS.items()
    ]
    return pd.DataFrame(rows).set_index("chapter")


def progress() -> pd.DataFrame:
    """Return one row a chapter: how many exercises are right, and each: ✓ right, ✗ tried, ○ open.

    Examples
    --------
    >>> progress().columns.tolist()
    ['right', 'exercises']
    """
    found = remembered()
    rows = {}
    for name in CHAPTERS:
        ids = [e.id for e in exercises(name[:2])] if name[:2] in chapters() else []
        verdicts = [found.get(exercise_id, "open") for exercise_id in ids]
        if ids:
            rows[name] = {
                "right": f"{verdicts.count('right')} of {len(ids)}",
                "exercises": "  ".join(
                    f"{SIGNS[verdict]} {exercise_id.split('.')[1]}"
                    for exercise_id, verdict in zip(ids, verdicts, strict=True)
                ),
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("chapter")


def _is_in(folder: Path, name: str) -> bool:
    # A chapter whose script is there is about to be executed: it counts itself.
    return (folder / f"{name}.ipynb").exists() or (folder / "scripts" / f"{name}.py").exists()
