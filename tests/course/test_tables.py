"""The small tables of chapter 12: what they hold, and that the public files still give them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from evalkit.course.leaderboard import histograms
from evalkit.course.plots.chapter_12 import PUBLISHED, TASKS
from evalkit.course.tables import DATA, TABLES, main

SHARED = Path(__file__).parents[3] / "shared" / "data"
with_sources = pytest.mark.skipif(not SHARED.exists(), reason="the public results are not here")


@with_sources
@pytest.mark.parametrize("name", TABLES)
def test_the_public_files_give_the_stored_table(name: str) -> None:
    made = TABLES[name](SHARED).to_csv(index=False, lineterminator="\n")
    assert made == (DATA / name).read_text(encoding="utf-8")


@with_sources
def test_the_command_writes_every_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("appworld.csv", "webarena_templates.csv")
    monkeypatch.setattr("evalkit.course.tables.TABLES", {name: TABLES[name] for name in names})
    monkeypatch.setattr("evalkit.course.tables.DATA", tmp_path)
    main(str(SHARED))
    assert {file.name for file in tmp_path.iterdir()} == set(names)
    for name in names:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_a_few_kilobytes_with_its_source_and_licence(name: str) -> None:
    assert (DATA / name).stat().st_size < 8_000
    (row,) = [
        line
        for line in (DATA / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and name in line.split(" | ")[0]
    ]
    assert "licence" in row.lower() or "facts" in row
    assert "20" in row


@with_sources
def test_the_inversion_agrees_with_the_one_that_came_with_the_published_rows() -> None:
    path = SHARED / "tau" / "tau2_published_inverted_counts.csv"
    known = pd.read_csv(path, keep_default_na=False).set_index(["domain", "submission"])
    rows = pd.read_csv(DATA / "tau2_leaderboard.csv")
    assert len(rows) == len(known) == 74
    stated = rows[["pass_1", "pass_2", "pass_3", "pass_4"]].to_numpy().tolist()
    names = zip(rows["domain"], rows["submission"], rows["decimals"], strict=True)
    for points, (domain, submission, decimals) in zip(stated, names, strict=True):
        found = histograms(points, TASKS[domain], decimals)
        theirs = known.xs((domain, submission))
        assert len(found) == theirs["n_solutions"]
        ours = [" ".join(map(str, one)) for one in found]
        assert ours == [text for text in [theirs["hist_c0_c1_c2_c3_c4"]] if text]


@with_sources
def test_the_runs_come_to_what_was_published() -> None:
    runs = pd.read_csv(DATA / "published_runs.csv")
    runs["passed"] = runs["c"] * runs["tasks"]
    sums = runs.groupby(["domain", "run"])[["passed", "tasks"]].sum()
    claims = pd.read_csv(SHARED / "tau" / "published_vs_computed.csv").query("match_3dp == 1")
    checked = 0
    for (domain, run), published in PUBLISHED.items():
        row = sums.xs((domain, run))
        if run != "ironshell":  # which counts the best of several models
            assert row["passed"] / row["tasks"] == pytest.approx(published, abs=5e-4)
            assert published in claims["published"].round(3).tolist()
            checked += 1
    assert checked == len(PUBLISHED) - 1
