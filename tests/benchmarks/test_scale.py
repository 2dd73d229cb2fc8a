"""Grading at scale: ``uv run --all-groups pytest -n0 -s tests/benchmarks/test_scale.py``.

Episodes are read from Parquet and graded in one process, on Dask with two processes and on Spark
with two. Each engine runs in a process of its own, which times itself from reading to counts, its
start left out. From outside, the memory and the CPU time of it and of all its children are sampled,
start and end included. Seconds depend on the machine, so each is given as a ratio to one process of
the same run; where others use the machine too, the ratio of CPU time says more.

``EPISODES="100000 1000000"`` in the environment sets the sizes, and ``SCALE_CSV=FILE`` adds the
table to a file. A million takes half an hour on two cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
import pandas as pd
import pytest

from evalkit.batches import COLUMNS, SCHEMA, verdicts
from evalkit.logs.streams import log_frames, streamed_counts
from evalkit.simulate.agents import AGGRESSIVE
from evalkit.simulate.records import recorded_episodes, recorded_tasks, write_episodes
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.trials import counts, trials_table

TASKS = recorded_tasks(CUSTOMER_OPERATIONS)
READ = [*COLUMNS, "infra"]
SHOWN = ["episodes", "engine", "seconds", "ratio", "CPU seconds", "CPU ratio"]
SHOWN += ["driver MB", "worker MB", "java MB"]
SIZES = os.environ.get("EPISODES", "20000").split()


def one_process(folder: str) -> tuple[float, pd.DataFrame]:
    start = perf_counter()
    table = streamed_counts((verdicts(f, TASKS) for f in log_frames(folder, READ)), infra="infra")
    return perf_counter() - start, table


def on_dask(folder: str) -> tuple[float, pd.DataFrame]:
    from dask import dataframe
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster):
        start = perf_counter()
        episodes = dataframe.read_parquet(folder, columns=READ, aggregate_files=False)
        graded = f"{folder}-dask"
        episodes.map_partitions(verdicts, TASKS).to_parquet(graded, write_index=False)
        table = counts(trials_table(dataframe.read_parquet(graded), infra="infra"))
        return perf_counter() - start, table


def on_spark(folder: str) -> tuple[float, pd.DataFrame]:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
        "spark.driver.memory": "1g",
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else whatever python3 comes first
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    start = perf_counter()
    episodes = session.read.parquet(folder).select(READ)
    rows = episodes.mapInPandas(lambda parts: (verdicts(p, TASKS) for p in parts), SCHEMA)
    rows.write.parquet(f"{folder}-spark")
    table = counts(trials_table(session.read.parquet(f"{folder}-spark"), infra="infra"))
    seconds = perf_counter() - start
    session.stop()
    return seconds, table


ENGINES: dict[str, Callable[[str], tuple[float, pd.DataFrame]]] = {
    "one process": one_process,
    "Dask, two processes": on_dask,
    "Spark, two processes": on_spark,
}


def measured(engine: str, folder: Path) -> dict[str, object]:
    """What an engine that runs by itself found, and what it took: time, and memory in MB."""
    import psutil

    command = [sys.executable, "-W", "ignore", __file__, engine, str(folder)]
    peaks, cpu = {"driver MB": 0, "worker MB": 0, "java MB": 0}, dict[int, float]()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as run:
        driver = psutil.Process(run.pid)
        while run.poll() is None:
            with suppress(psutil.NoSuchProcess):  # it ended while we looked
                for process in (driver, *driver.children(recursive=True)):
                    role = "driver MB" if process == driver else "worker MB"
                    role = "java MB" if process.name() == "java" else role
                    peaks[role] = max(peaks[role], process.memory_info().rss // 2**20)
                    cpu[process.pid] = sum(process.cpu_times()[:2])
            sleep(0.2)
        answer = json.loads(run.communicate()[0].splitlines()[-1])
    return answer | {"CPU seconds": sum(cpu.values())} | peaks


@pytest.mark.parametrize("episodes", list(map(int, SIZES)))
def test_the_time_and_memory_of_grading(tmp_path: Path, episodes: int) -> None:
    folder, rng = tmp_path / "episodes", np.random.default_rng(0)
    write_episodes(folder, recorded_episodes(AGGRESSIVE, CUSTOMER_OPERATIONS, rng, episodes))
    found = {engine: measured(engine, folder) for engine in ENGINES}
    table = pd.DataFrame(found).T.rename_axis("engine").reset_index()
    assert all(one == table["counts"][0] for one in table["counts"])
    for name in ("seconds", "CPU seconds"):
        table[name] = table[name].astype(float).round(1)
        table[name.replace("seconds", "ratio")] = (table[name] / table[name][0]).round(2)
    table["episodes"] = episodes
    table = table[SHOWN]
    print(table.to_string(index=False))
    if out := os.environ.get("SCALE_CSV"):
        table.to_csv(out, mode="a", index=False, header=not Path(out).exists())


if __name__ == "__main__":
    seconds, table = ENGINES[sys.argv[1]](sys.argv[2])
    print(json.dumps({"seconds": seconds, "counts": table.to_dict("list")}))
