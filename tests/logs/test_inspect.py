"""Inspect logs: errors are infra, limits the agent's, NaN no score, and what is missing not run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit import counts
from evalkit.logs import LogError
from evalkit.logs.inspect import read_inspect


@pytest.mark.usefixtures("without_inspect")
def test_without_inspect_the_reader_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match=r"pip install -e .\[inspect\]"):
        read_inspect(tmp_path / "log.eval")


pytest.importorskip("inspect_ai", reason="needs inspect_ai: the extra inspect")

from inspect_ai.log import (  # noqa: E402
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalResults,
    EvalSample,
    EvalSampleLimit,
    EvalSpec,
    ProvenanceData,
    write_eval_log,
)
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelUsage  # noqa: E402
from inspect_ai.scorer import Score  # noqa: E402

MESSAGES = [ChatMessageUser(content="Go."), ChatMessageAssistant(content="Done.")]
CRASH = EvalError(message="RuntimeError('gone')", traceback="", traceback_ansi="")


def sample(id: int | str = "a", epoch: int = 1, value: Any = "C", **other: Any) -> EvalSample:
    scores = other.pop("scores", None) or ({} if value is None else {"state": Score(value=value)})
    known = {"input": "Go.", "target": "", "messages": MESSAGES, "scores": scores}
    return EvalSample(id=id, epoch=epoch, **known | other)


def log(*samples: EvalSample, ids: Any = ("a",), epochs: int = 1, **other: Any) -> EvalLog:
    spec = EvalSpec(
        created="2026-01-31T12:00:00+00:00",
        task="shop",
        task_version="2-B",
        eval_id="e1",
        model="mockllm/model",
        dataset=EvalDataset(samples=len(ids), sample_ids=list(ids)),
        config=EvalConfig(epochs=epochs),
    )
    completed = sum(s.error is None for s in samples)
    results = EvalResults(total_samples=len(ids) * epochs, completed_samples=completed)
    return EvalLog(
        **{"status": "success", "eval": spec, "results": results} | other, samples=[*samples]
    )


@pytest.fixture(params=["eval", "json"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """Write a log as Inspect does, in each of its formats, and read it back."""

    def written(content: EvalLog, **options: Any) -> Any:
        path = tmp_path / f"log.{request.param}"
        write_eval_log(content, str(path))
        return read_inspect(path, **options)

    return written


def test_a_row_a_sample_and_epoch_with_its_source(read: Callable[..., Any]) -> None:
    usage = {"m": ModelUsage(total_cost=0.25), "n": ModelUsage(total_cost=0.5)}
    first = sample("a", 1, model_usage=usage)
    table = read(log(first, sample("a", 2, "I"), epochs=2))
    assert table[["task", "trial", "success", "infra", "steps", "ended"]].values.tolist() == [
        ["a", 1, 1.0, False, 1, "completed"],
        ["a", 2, 0.0, False, 1, "completed"],
    ]
    assert table["cost"].fillna(-1).tolist() == [0.75, -1]
    source = table[["evaluation", "version", "model", "eval_id", "status"]].iloc[1].tolist()
    assert source == ["shop", "2-B", "mockllm/model", "e1", "success"]


def test_a_cost_that_is_known_in_part_is_not_known(read: Callable[..., Any]) -> None:
    usage = {"m": ModelUsage(total_cost=0.25), "n": ModelUsage()}
    assert read(log(sample(model_usage=usage)))["cost"].isna().all()


@pytest.mark.parametrize("value", ["C", None])
def test_an_error_is_an_infra_failure_scored_or_not(read: Callable[..., Any], value: Any) -> None:
    table = read(log(sample(epoch=1), sample(epoch=2, value=value, error=CRASH), epochs=2))
    assert counts(table)[["n", "c", "planned", "infra"]].values.tolist() == [[1, 1, 2, 1]]
    assert table["ended"][1] == "error"
    assert table["error"][1] == "RuntimeError('gone')"


@pytest.mark.parametrize("text", ["CancelledError()", "Cancelled('by scope')"])
def test_a_sample_that_was_cut_off_with_its_evaluation_failed_nobody(
    read: Callable[..., Any], text: str
) -> None:
    cut = sample(value=None, error=CRASH.model_copy(update={"message": text}))
    table = read(log(cut, status="error"))
    assert counts(table)[["n", "planned", "infra"]].values.tolist() == [[0, 1, 0]]
    assert list(table["ended"]) == ["cancelled"]


@pytest.mark.parametrize("kind", ["message", "token", "time", "working", "context", "custom"])
def test_a_limit_is_the_agents_and_has_its_score(read: Callable[..., Any], kind: Any) -> None:
    table = read(log(sample(value="I", limit=EvalSampleLimit(type=kind, limit=9))))
    assert table[["success", "infra", "ended"]].values.tolist() == [[0.0, False, f"{kind} limit"]]


def test_what_an_operator_ended_or_a_person_invalidated_is_not_evaluated(
    read: Callable[..., Any],
) -> None:
    stopped = sample("a", value="C", limit=EvalSampleLimit(type="operator", limit=1))
    invalid = sample("b", value="C", invalidation=ProvenanceData(author="x", reason="leak"))
    table = read(log(stopped, invalid, ids="ab"))
    assert counts(table)[["n", "planned", "infra"]].values.tolist() == [[0, 1, 0], [0, 1, 0]]
    assert list(table["ended"]) == ["operator limit", "invalidated"]


def test_a_score_that_is_none_is_neither_a_pass_nor_a_failure(read: Callable[..., Any]) -> None:
    unscored = Score.unscored(reason="not evaluated", explanation="nothing to be earned")
    table = read(log(sample("a", scores={"state": unscored}), sample("b", value=None), ids="ab"))
    assert table["success"].isna().all()
    assert not table["infra"].any()
    assert table["reason"].fillna("-").tolist() == ["not evaluated", "-"]


@pytest.mark.parametrize("status", ["cancelled", "error", "started"])
def test_a_log_that_broke_off_is_read_as_far_as_it_goes(
    read: Callable[..., Any], status: Any
) -> None:
    content = log(sample("a", 1), sample("b", 1, "I"), ids="ab", epochs=2, status=status)
    table = read(content)
    assert list(table["ended"]) == ["completed", "completed", "not run", "not run"]
    assert counts(table)[["n", "c", "planned", "infra"]].values.tolist() == [
        [1, 1, 2, 0],
        [1, 0, 2, 0],
    ]
    assert set(table["status"]) == {status}


def test_numbers_and_letters_are_scores_and_graded_ones_need_a_threshold(
    read: Callable[..., Any],
) -> None:
    values = [1, 0.0, True, False, "C", "I", "N"]
    table = read(log(*[sample(i, value=v) for i, v in enumerate(values)], ids=range(7)))
    assert table["success"].tolist() == [1, 0, 1, 0, 1, 0, 0]
    for graded in ("P", 0.5):
        with pytest.raises(
            LogError, match=r"log.\w+, sample 0, scores.state: 0.5 is neither 0 nor"
        ):
            read(log(sample(value=graded)))
        table = read(log(sample(value=graded)), threshold=0.5)
        assert table[["success", "score"]].values.tolist() == [[1.0, 0.5]]


@pytest.mark.parametrize("value", ["yes", {"a": 1}, [1, 0]])
def test_a_score_that_is_no_number_is_refused(read: Callable[..., Any], value: Any) -> None:
    with pytest.raises(LogError, match="sample 0, scores.state: .* is neither a number"):
        read(log(sample(value=value)))


def test_of_two_scorers_one_is_chosen(read: Callable[..., Any]) -> None:
    both = log(sample(scores={"match": Score(value="C"), "state": Score(value="I")}))
    with pytest.raises(LogError, match="scores: holds match, state; choose one"):
        read(both)
    assert list(read(both, scorer="state")["success"]) == [0.0]
    with pytest.raises(LogError, match="there is no 'other', only match, state"):
        read(both, scorer="other")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (log(sample("b")), "sample 0: id 'b', epoch 1 is not in the log's own plan"),
        (log(sample("a", 2)), "sample 0: id 'a', epoch 2 is not in"),
        (log(sample(1), ids=["1"]), "sample 0: id 1, epoch 1 is not in"),
        (log(results=EvalResults(completed_samples=4)), "holds 0 without error; results count 4"),
        (log(ids=[]), "there is no trial"),
    ],
)
def test_what_contradicts_the_log_itself_is_refused(
    read: Callable[..., Any], content: EvalLog, says: str
) -> None:
    with pytest.raises(LogError, match=rf"log.\w+.*{says}"):
        read(content)


def test_a_sample_twice_is_an_error_or_dropped_where_its_rows_agree(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    write_eval_log(log(sample(), sample()), str(path))
    with pytest.raises(LogError, match="log.json: task 'a', trial 1 has 2 rows"):
        read_inspect(path)
    assert len(read_inspect(path, duplicates="drop")) == 1


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
def test_a_file_that_is_cut_off_or_foreign_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_eval_log(log(sample()), str(path))
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"[]", json.dumps({"simulations": []}).encode()):
        path.write_bytes(content)
        with pytest.raises(LogError, match=f"{name}: is cut off, or no log of Inspect's: [^\n]+$"):
            read_inspect(path)


def test_an_address_is_not_fetched() -> None:
    with pytest.raises(LogError, match="there is no such file"):
        read_inspect("https://example.org/log.eval")
