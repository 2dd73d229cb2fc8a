"""The trials table on engines that are no part of the default installation."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalkit.batches import COLUMNS, SCHEMA, verdicts
from evalkit.logs.streams import log_frames, streamed_counts
from evalkit.simulate.agents import AGGRESSIVE
from evalkit.simulate.records import recorded_episodes, recorded_tasks, write_episodes
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.trials import counts, trials_table

LOG = pd.DataFrame(
    {
        "task": ["a", "a", "b", "b", "c"],
        "trial": [0, 1, 0, 1, 0],
        "success": [1.0, 0.0, None, 1.0, None],
        "infra": [False, False, True, False, False],
    }
)


@pytest.fixture(scope="module")
def dask() -> Any:
    frames = pytest.importorskip(
        "dask.dataframe", reason="Dask is in the group 'engines'", exc_type=ImportError
    )
    return lambda log: frames.from_pandas(log, npartitions=2)


@pytest.fixture(scope="module")
def session() -> Any:
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is in the group 'engines'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs Java")
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    settings["spark.ui.showConsoleProgress"] = "false"
    settings["spark.sql.execution.arrow.maxRecordsPerBatch"] = "1000"
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def spark(session: Any) -> Any:
    return lambda log: session.createDataFrame(
        log.astype(object).where(log.notna(), None).to_numpy().tolist(),
        "task string, trial int, success double, infra boolean",
    )


def check(engine: Any) -> None:
    table = trials_table(engine(LOG), infra="infra")
    assert type(table) is type(engine(LOG))  # not brought here
    assert counts(table, planned={"a": 2, "b": 2, "c": 1, "d": 1}).to_dict("list") == {
        "task": ["a", "b", "c", "d"],
        "n": [2, 1, 0, 0],
        "c": [1, 1, 0, 0],
        "planned": [2, 2, 1, 1],
        "infra": [0, 1, 0, 0],
    }
    twice = pd.concat([LOG, LOG.iloc[:1]], ignore_index=True)
    with pytest.raises(ValueError, match="task 'a', trial 0 has 2 rows"):
        trials_table(engine(twice), infra="infra")
    dropped = trials_table(engine(twice), infra="infra", duplicates="drop")
    assert counts(dropped)["n"].tolist() == [2, 1, 0]
    graded = LOG.assign(success=[0.005, 0.0, None, 1.0, None])
    with pytest.raises(ValueError, match="state a threshold. Rows: 1; one has task 'a', trial 0"):
        trials_table(engine(graded), infra="infra")
    assert counts(trials_table(engine(graded), infra="infra", threshold=0.5))["c"].sum() == 1
    wrong = LOG.assign(infra=[True, False, True, False, False])
    with pytest.raises(ValueError, match="tagged infra has passed"):
        trials_table(engine(wrong), infra="infra")


@pytest.mark.filterwarnings("ignore:Dask support is moving out of Narwhals:FutureWarning")
def test_dask_counts_where_the_log_is(dask: Any) -> None:
    check(dask)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_counts_where_the_log_is(spark: Any) -> None:
    check(spark)


# Grading at scale: 20,000 recorded episodes, graded where they are.

TASKS = recorded_tasks(CUSTOMER_OPERATIONS)
READ = [*COLUMNS, "infra"]


@pytest.fixture(scope="module")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 20,000 episodes: 400 that were really played, under many trial numbers."""
    folder, rng = tmp_path_factory.mktemp("scale") / "episodes", np.random.default_rng(0)
    write_episodes(folder, recorded_episodes(AGGRESSIVE, CUSTOMER_OPERATIONS, rng, 20_000))
    return folder


@pytest.fixture(scope="module")
def in_one_process(episodes: Path) -> pd.DataFrame:
    """The counts of one process that reads a batch at a time."""
    batches = log_frames(episodes, READ)
    return streamed_counts((verdicts(batch, TASKS) for batch in batches), infra="infra")


def test_one_process_counts_every_episode(in_one_process: pd.DataFrame) -> None:
    assert len(in_one_process) == len(TASKS)
    # Of the 1,000 trials of a task, the environment failed 10 and 10 records are cut off.
    assert in_one_process["planned"].tolist() == [1_000] * 20
    assert in_one_process["infra"].tolist() == [10] * 20
    assert in_one_process["n"].tolist() == [980] * 20
    assert 300 * 20 < in_one_process["c"].sum() < 680 * 20


@pytest.mark.filterwarnings("ignore:Dask support is moving out of Narwhals:FutureWarning")
def test_dask_grades_on_two_processes_and_counts_the_same(
    dask: Any, episodes: Path, in_one_process: pd.DataFrame, tmp_path: Path
) -> None:
    frames, distributed = pytest.importorskip("dask.dataframe"), pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster):
        read = frames.read_parquet(episodes, columns=READ)
        assert read.npartitions > 2
        read.map_partitions(verdicts, TASKS).to_parquet(tmp_path, write_index=False)
        found = counts(trials_table(frames.read_parquet(tmp_path), infra="infra"))
    pd.testing.assert_frame_equal(found, in_one_process)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_grades_on_two_processes_and_counts_the_same(
    session: Any, episodes: Path, in_one_process: pd.DataFrame, tmp_path: Path
) -> None:
    read = session.read.parquet(str(episodes)).select(READ)
    rows = read.mapInPandas(lambda parts: (verdicts(p, TASKS) for p in parts), SCHEMA)
    rows.write.parquet(str(tmp_path / "graded"))
    graded = session.read.parquet(str(tmp_path / "graded"))
    found = counts(trials_table(graded, infra="infra"))
    pd.testing.assert_frame_equal(found, in_one_process)
