"""A scorer for Inspect whose score is the verdict of `grade`. It needs the extra ``inspect``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from evalkit.grading import grade
from evalkit.statediff import State
from evalkit.tasks import Task, TaskError
from evalkit.values import StateError, check_value, show

#: What the grader is told of a sample: the state before it, the state after it, and its task.
StatesAndTask = Callable[[Any], Awaitable[tuple[State, State, Task]]]


def state_scorer(episode: StatesAndTask) -> Any:
    """An Inspect scorer that grades by the states before and after a sample.

    A pass is Inspect's ``C`` and a fail its ``I``. What is *not evaluated* is `Score.unscored`,
    a NaN that Inspect's metrics and reducers leave out and its results count by itself, so that
    it is neither a pass nor a fail. A task that is wrong is unscored too: raised, its error would
    end the whole evaluation by default, or run the sample again, which cannot mend it. Whatever
    `episode` raises is raised: the environment could not be read, and Inspect records the error.

    Parameters
    ----------
    episode
        An async function of Inspect's ``TaskState``: gives the state before, the state after
        (`snapshot` takes both) and the `Task`. It takes them from wherever they are: the
        sample's store, sandbox or metadata.

    Returns
    -------
    inspect_ai.scorer.Scorer
        The explanation of each score is the verdict's text, and its reason is ``not evaluated``
        or, where the task is wrong, ``scoring_failed``.

    Raises
    ------
    ImportError
        If `inspect_ai` is not installed.

    Examples
    --------
    >>> async def episode(state):
    ...     return state.store.get("before"), state.store.get("after"), task
    >>> inspect_task = inspect_ai.Task(..., scorer=state_scorer(episode))  # doctest: +SKIP
    """
    try:
        from inspect_ai.scorer import accuracy, scorer, stderr
    except ModuleNotFoundError as error:
        raise ImportError(
            "the scorer needs inspect_ai: run `pip install -e .[inspect]` in the project's folder."
        ) from error

    @scorer(metrics=[accuracy(), stderr()], name="state")
    def build() -> Any:
        async def score(state: Any, target: Any) -> Any:
            return _score(*await episode(state))

        return score

    return build()


def _score(before: State, after: State, task: Task) -> Any:
    """The verdict as a score of Inspect's."""
    from inspect_ai.scorer import CORRECT, INCORRECT, Score

    for name, state in (("before", before), ("after", after)):
        if type(state) is not dict:  # nobody took it, so the agent is not judged
            raise StateError(f"episode gave no state {name} the sample, but {show(state)}")
    try:
        verdict = grade(before, after, task)
    except TaskError as error:
        return Score.unscored(reason="scoring_failed", explanation=f"not evaluated; {error}")
    except StateError as error:
        check_value(before)  # raises, unless it is the agent who wrote what cannot be compared
        return Score(value=INCORRECT, explanation=f"fail; the state after the sample: {error}")
    if verdict.status == "not evaluated":
        return Score.unscored(reason="not evaluated", explanation=str(verdict))
    return Score(value=CORRECT if verdict.passed else INCORRECT, explanation=str(verdict))
