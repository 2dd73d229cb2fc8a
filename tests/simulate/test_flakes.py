"""The table of the flaky suites: what chance gives, and what the closed form expects."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.simulate.flakes import RETRIED, flake_table

NOTE = {"suites": 4_000, "tasks": 200, "trials": 8, "success": 0.7, "retries": 3}


def test_the_simulation_agrees_with_the_closed_form() -> None:
    table = flake_table(np.random.default_rng(1), **NOTE)
    assert len(table) == 15
    for k in (1, 8):
        off = (table[f"pass^{k}"] - table[f"pass^{k} expected"]) / table[f"pass^{k} SE"]
        assert off.abs().max() < 4
        assert off.abs().max() > 0.1  # it is drawn, not copied


def test_flakes_cost_pass_8_a_third_and_tagged_retries_give_it_back() -> None:
    table = flake_table(np.random.default_rng(2), [0.0, 0.05], **NOTE).set_index(
        ["flake rate", "retried"]
    )
    score = table["pass^8"]
    assert score[0.05, "nothing"] / score[0.0, "nothing"] == pytest.approx(0.663, abs=0.015)
    assert table["pass^1"][0.05, "nothing"] == pytest.approx(0.665, abs=1e-3)
    assert score[0.05, "infra failures"] == pytest.approx(0.0576, abs=3 * 0.00026)
    assert score[0.05, "any failure"] > 0.9
    assert table["pass^8 SE"][0.05, "infra failures"] == pytest.approx(0.00026, abs=2e-5)


def one_by_one(
    rng: np.random.Generator, retried: str, f: float, success: float, retries: int, trials: int
) -> int:
    """How many trials of one task pass, attempt by attempt."""
    passed = 0
    for _ in range(trials):
        for _ in range(retries + 1 if retried != "nothing" else 1):
            infra = rng.random() < f
            success_now = not infra and rng.random() < success
            if success_now or (retried == "infra failures" and not infra):
                break
        passed += success_now
    return passed


@pytest.mark.parametrize("retried", RETRIED)
def test_drawing_many_at_once_follows_the_same_law_as_one_by_one(retried: str) -> None:
    rng = np.random.default_rng(3)
    f, success, retries, trials = 0.4, 0.6, 2, 3
    loop = [one_by_one(rng, retried, f, success, retries, trials) for _ in range(20_000)]
    table = flake_table(
        rng, [f], suites=500, tasks=40, trials=trials, success=success, retries=retries
    ).set_index("retried")
    for k, found in ((1, np.mean(loop) / trials), (3, np.mean(np.equal(loop, trials)))):
        assert table[f"pass^{k}"][retried] == pytest.approx(found, abs=0.015)


def test_the_same_seed_gives_the_same_table() -> None:
    tables = [flake_table(np.random.default_rng(4), suites=50) for _ in range(2)]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"flakes": [5]}, "f must be in"),
        ({"success": 70}, "P must be in"),
        ({"retries": -1}, "retries must be"),
        ({"trials": 0}, "k must be"),
    ],
)
def test_what_is_no_share_and_no_count_is_named(bad: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        flake_table(np.random.default_rng(0), **bad)
