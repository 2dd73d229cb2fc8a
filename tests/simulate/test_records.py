"""Recorded episodes: states that were really played, under as many trial numbers as asked for."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import grade
from evalkit.batches import verdicts
from evalkit.logs.streams import log_frames
from evalkit.simulate.agents import AGGRESSIVE, simulated
from evalkit.simulate.episodes import play
from evalkit.simulate.records import (
    played_states,
    recorded_episodes,
    recorded_tasks,
    write_episodes,
)
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import World

TASKS = recorded_tasks(CUSTOMER_OPERATIONS, 2)


def frames(episodes: int = 500, rows: int = 200) -> list[pd.DataFrame]:
    rng = np.random.default_rng(1)
    parts = recorded_episodes(
        AGGRESSIVE, CUSTOMER_OPERATIONS, rng, episodes, tasks=2, played=3, rows=rows
    )
    return list(parts)


def test_states_as_text_have_the_verdicts_of_the_played_episodes() -> None:
    policy = simulated(AGGRESSIVE, CUSTOMER_OPERATIONS)
    states = played_states(AGGRESSIVE, CUSTOMER_OPERATIONS, np.random.default_rng(4), 20, seed=3)
    with World(CUSTOMER_OPERATIONS, 3) as world:
        rng = np.random.default_rng(4)
        played = [play(policy, world, rng).verdict for _ in range(20)]
    task = CUSTOMER_OPERATIONS.task
    recorded = [grade(json.loads(before), json.loads(after), task) for before, after in states]
    assert [v.status for v in recorded] == [v.status for v in played]
    assert [len(v.findings) for v in recorded] == [len(v.findings) for v in played]
    assert {v.status for v in played} == {"pass", "fail"}


def test_every_trial_is_recorded_once_and_a_few_went_wrong() -> None:
    parts = frames()
    assert [len(part) for part in parts] == [200, 200, 100]
    table = pd.concat(parts, ignore_index=True)
    assert not table.duplicated(["task", "trial"]).any()
    assert table.groupby("task")["trial"].agg(["min", "max"]).values.tolist() == [[0, 249]] * 2
    wrong = verdicts(table, TASKS).query("verdict == 'not evaluated'")
    assert sorted(wrong["trial"]) == sorted([98, 99, 198, 199] * 2)
    assert wrong["infra"].tolist() == wrong["trial"].isin([98, 198]).tolist()


def test_batches_do_not_change_what_is_recorded() -> None:
    pd.testing.assert_frame_equal(
        pd.concat(frames(rows=7), ignore_index=True), pd.concat(frames(), ignore_index=True)
    )


def test_parquet_gives_back_what_was_written(tmp_path: Path) -> None:
    write_episodes(tmp_path / "episodes", iter(frames()))
    read = pd.concat(log_frames(tmp_path / "episodes", list(frames()[0].columns)))
    recorded = pd.concat(frames()).astype(object)
    recorded = recorded.where(recorded.notna(), None)
    assert read.values.tolist() == recorded.values.tolist()
