"""The trials table on engines that are no part of the default installation."""

import os
import shutil
from typing import Any

import pandas as pd
import pytest

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
def spark() -> Any:
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is in the group 'engines'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs Java")
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}
    settings["spark.ui.showConsoleProgress"] = "false"
    builder = sql.SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield lambda log: session.createDataFrame(
        log.astype(object).where(log.notna(), None).to_numpy().tolist(),
        "task string, trial int, success double, infra boolean",
    )
    session.stop()


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
