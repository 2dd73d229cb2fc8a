"""AppWorld: the evaluation of an experiment on a dataset, test by test."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalkit.logs import LogError, PathLike, field, json_value, trials

#: What doing nothing does to a test: it fails what the task asks for, and passes what must stay.
LABELS = ("no_op_fail", "no_op_pass")
#: Both aggregates are per cent, rounded first to 2 decimals and then to 1.
ROUNDING = 0.056


def read_appworld(path: PathLike) -> pd.DataFrame:
    """One row for each task in an AppWorld evaluation; all are trial 0. A success passes all tests.

    A task without a test was not graded, though the file calls it a success: it is not evaluated.
    The file names neither the agent nor the version.

    Parameters
    ----------
    path
        The ``.json`` or ``.json.gz`` file that the evaluator writes, with ``aggregate`` and
        ``individual``.

    Returns
    -------
    DataFrame
        As `evalkit.logs` says, and ``scenario`` (tasks that share one differ in detail only),
        ``difficulty``, ``tests``, ``passed``, and two kinds of failed test: ``unmet`` (doing
        nothing fails it too) and ``collateral`` (doing nothing passes it), both missing where a
        test has no label. Damage that breaks a test of the first kind is not in ``collateral``.

    Raises
    ------
    LogError
        If the file is cut off or of another format; if a task has more results than tests, or a
        success that its tests do not give; if the aggregates are not those of the tasks.

    References
    ----------
    Trivedi et al. 2024, *AppWorld*, arXiv:2407.18901.
    """
    evaluation, where = json_value(path), str(path)
    tasks = field(where, evaluation, "individual", dict)
    rows = [_row(f"{where}, individual.{task}", task, result) for task, result in tasks.items()]
    table = trials(rows, path, "error").astype(dict.fromkeys(("unmet", "collateral"), "Int64"))
    stated = [task["success"] for task in tasks.values()]
    by_scenario = pd.Series(stated, dtype=float).groupby(table["scenario"]).min()
    for name, share in (
        ("task_goal_completion", sum(stated) / len(stated)),
        ("scenario_goal_completion", by_scenario.mean()),
    ):
        published = field(where, evaluation, f"aggregate.{name}", float)
        if abs(published - 100 * share) > ROUNDING:
            raise LogError(
                f"{where}, aggregate.{name}: is {published}; the tasks give {100 * share:.1f}. "
                "Is a task missing, or from another run?"
            )
    return table


def _row(where: str, task: str, result: Any) -> dict[str, Any]:
    scenario, _, variant = task.rpartition("_")
    if not (scenario and variant.isdigit()):
        raise LogError(f"{where}: is no id of a task, such as 82e2fac_1.")
    tests = field(where, result, "num_tests", int)
    passes, failures = (field(where, result, name, list) for name in ("passes", "failures"))
    if len(passes) + len(failures) > tests:
        raise LogError(f"{where}, num_tests: is {tests}; there are results of more.")
    success = result.get("success")
    if success is not (len(passes) == tests):
        raise LogError(f"{where}, success: is {success}, with {len(passes)} of {tests} passed.")
    labels = [_label(f"{where}, failures {i}", failure) for i, failure in enumerate(failures)]
    unmet, collateral = (None if None in labels else labels.count(name) for name in LABELS)
    return {
        "task": task,
        "trial": 0,
        "success": float(success) if tests else None,
        "infra": False,
        "steps": None,
        "cost": None,
        "scenario": scenario,
        "difficulty": field(where, result, "difficulty", int, optional=True),
        "tests": tests,
        "passed": len(passes),
        "unmet": unmet,
        "collateral": collateral,
    }


def _label(where: str, failure: Any) -> str | None:
    label: str | None = field(where, failure, "label", str, optional=True)
    if label is not None and label not in LABELS:
        raise LogError(f"{where}, label: {label!r} is neither {LABELS[0]} nor {LABELS[1]}.")
    return label
