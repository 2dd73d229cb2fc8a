"""A real Inspect evaluation on our store, graded by our verdict: both find the same pass^k."""

import asyncio
import gc
import json
import math
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from evalkit import StateError, Task, counts, estimate, pass_hat_k, snapshot
from evalkit.inspect_scorer import state_scorer
from evalkit.logs.inspect import read_inspect
from evalkit.simulate.store import CUSTOMER_OPERATIONS as SCENARIO
from evalkit.simulate.world import World

inspect_ai = pytest.importorskip("inspect_ai", reason="needs inspect_ai: the extra inspect")
pytestmark = [
    # Inspect's own, of its use of tenacity and of streams that it leaves to the collector.
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
]

EPOCHS, KS = 4, (1, 2, 3)
RIGHT = [edit.right for edit in SCENARIO.edits]
ACTS = {
    "right": RIGHT,
    "short": RIGHT[:-1],
    "stray": [*RIGHT, SCENARIO.strays[0].call],
    "nothing": [],
    "crash": None,
}
#: What the model does in each epoch of each sample.
SCRIPT = {
    "a": ["right", "right", "right", "right"],
    "b": ["right", "short", "crash", "right"],
    "c": ["stray", "right", "right", "short"],
    "vacuous": ["nothing"] * EPOCHS,
    "broken": ["right"] * EPOCHS,
}
VERDICTS = {"right": "pass", "short": "fail", "stray": "fail", "nothing": "not evaluated"}
TASKS = {
    "vacuous": Task(required={"orders/W1002/status": "delivered"}),
    "broken": Task(required={"no such table/1/status": "delivered"}),
}


def outputs() -> Iterator[Any]:
    """What the mock model answers: the calls to make, as JSON, in the order of the samples."""
    from inspect_ai.model import ModelOutput, ModelUsage

    for epoch in range(EPOCHS):
        for acts in SCRIPT.values():
            calls = ACTS[acts[epoch]]
            plain = (
                calls if calls is None else [(call.tool, dict(call.arguments)) for call in calls]
            )
            answer = ModelOutput.from_content("mockllm/model", json.dumps(plain))
            answer.usage = ModelUsage()  # else the mock fetches a tokeniser to count with
            yield answer


def agent() -> Any:
    from inspect_ai.solver import solver

    @solver
    def on_the_store() -> Any:
        async def solve(state: Any, generate: Callable[..., Awaitable[Any]]) -> Any:
            with World(SCENARIO) as world:
                state.store.set("before", snapshot(world.connection))
                state = await generate(state)
                calls = json.loads(state.output.completion)
                if calls is None:
                    raise ConnectionError("the store is gone")
                for tool, arguments in calls:
                    world.call(tool, **arguments)
                state.store.set("after", snapshot(world.connection))
            return state

        return solve

    return on_the_store()


async def episode(state: Any) -> tuple[Any, Any, Task]:
    task = TASKS.get(state.sample_id, SCENARIO.task)
    return state.store.get("before"), state.store.get("after"), task


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The log of the evaluation, which leaves nothing outside the test's own folder."""
    from inspect_ai.dataset import Sample
    from inspect_ai.model import get_model

    folder = tmp_path_factory.mktemp("inspect")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATA", "CACHE", "CONFIG", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / name))
        (log,) = inspect_ai.eval(
            inspect_ai.Task(
                dataset=[Sample(SCENARIO.instruction, id=name) for name in SCRIPT],
                solver=agent(),
                scorer=state_scorer(episode),
                epochs=inspect_ai.Epochs(EPOCHS, [f"pass_k_{k}" for k in KS]),
                version=3,
                name="shop",
            ),
            model=get_model("mockllm/model", custom_outputs=outputs()),
            log_dir=str(folder / "logs"),
            log_realtime=False,
            display="none",
            fail_on_error=False,
            max_samples=1,
        )
        yield log
    gc.collect()  # what Inspect leaves unclosed is collected here, where its warning is let be


def test_the_evaluation_runs_to_its_end_with_one_error(log: Any) -> None:
    assert log.status == "success"
    table = read_inspect(log.location)
    assert table["status"].unique().tolist() == ["success"]
    assert table[["evaluation", "version", "model"]].iloc[0].tolist() == [
        "shop",
        "3",
        "mockllm/model",
    ]
    crashed = table[table["infra"]]
    assert crashed[["task", "trial", "ended"]].values.tolist() == [["b", 3, "error"]]
    assert "the store is gone" in crashed["error"].iloc[0]


def test_each_verdict_is_the_score_and_its_text_the_explanation(log: Any) -> None:
    values = {"pass": "C", "fail": "I", "not evaluated": "nan"}
    for sample in log.samples:
        act = SCRIPT[sample.id][sample.epoch - 1]
        if act == "crash":
            assert not sample.scores
            continue
        score = sample.scores["state"]
        verdict = "not evaluated" if sample.id == "broken" else VERDICTS[act]
        assert str(score.value) == values[verdict]
        assert score.explanation.startswith(verdict)
        assert ("customers/C5/tier" in score.explanation) == (act == "stray")


def test_what_is_not_evaluated_is_counted_by_neither(log: Any) -> None:
    tally = counts(read_inspect(log.location)).set_index("task")
    assert tally[["n", "c", "planned", "infra"]].T.to_dict("list") == {
        "a": [4, 4, 4, 0],
        "b": [3, 2, 4, 1],
        "broken": [0, 0, 4, 0],
        "c": [4, 2, 4, 0],
        "vacuous": [0, 0, 4, 0],
    }
    for scores in log.results.scores:
        assert (scores.scored_samples, scores.unscored_samples) == (3, 2)
    reasons = read_inspect(log.location).groupby("task")["reason"].first().dropna()
    assert reasons.to_dict() == {"broken": "scoring_failed", "vacuous": "not evaluated"}


@pytest.mark.parametrize("k", KS)
def test_pass_hat_k_is_the_same_by_inspects_reducer_and_from_the_log(log: Any, k: int) -> None:
    tally = counts(read_inspect(log.location))
    ours = dict(zip(tally["task"], pass_hat_k(tally["n"], tally["c"], k), strict=True))
    (theirs,) = (r for r in log.reductions if r.reducer == f"pass_k_{k}")
    assert len(theirs.samples) == len(SCRIPT)
    for sample in theirs.samples:
        assert sample.value == pytest.approx(ours[sample.sample_id], nan_ok=True)
    (scores,) = (s for s in log.results.scores if s.reducer == f"pass_k_{k}")
    assert scores.metrics["accuracy"].value == pytest.approx(estimate(tally, k).value)
    assert 0 < estimate(tally, k).value < 1


def scored(*states_and_task: Any) -> Any:
    async def given(state: Any) -> Any:
        return states_and_task

    return asyncio.run(state_scorer(given)(None, None))  # type: ignore[arg-type]


def test_an_agent_cannot_escape_by_writing_what_cannot_be_compared() -> None:
    task = Task(required={"orders/W1": "paid"})
    before = {"orders": {"W1": "new"}}
    score = scored(before, {"orders": {"W1": {"a", "set"}}}, task)
    assert score.value == "I"
    assert score.explanation.startswith("fail; the state after the sample: orders/W1: a set")


def test_states_that_nobody_took_are_an_error_and_no_failure() -> None:
    task, good = Task(required={"orders/W1": "paid"}), {"orders": {"W1": "new"}}
    odd = [{"orders": {"W1": "new", "W2": {number}}} for number in (1, 2)]
    for before, after, says in (
        (None, good, "no state before the sample, but None"),
        (good, None, "no state after the sample"),
        (*odd, "orders/W2: a set"),
    ):
        with pytest.raises(StateError, match=says):
            scored(before, after, task)


def test_unscored_is_nan_and_so_neither_a_pass_nor_a_failure() -> None:
    state = {"orders": {"W1": "new"}}
    for task in (Task(), Task(required={"orders/W1": "new"}), Task(required={"none/W1": "new"})):
        assert math.isnan(scored(state, state, task).value)


@pytest.mark.usefixtures("without_inspect")
def test_without_inspect_the_scorer_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install -e .\[inspect\]"):
        state_scorer(episode)
