"""How often intervals for pass^k hold the truth: `python -m evalkit.simulate.coverage`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.intervals import clopper_pearson, effective_tasks, normal, wilson
from evalkit.passk import pass_hat_k
from evalkit.simulate.suites import draw_suite, run_suite

STEPS = (4, 30)


@dataclass(frozen=True)
class Regime:
    """A kind of suite and experiment: tasks, trials of each, k, and the beta law of r."""

    tasks: int
    trials: int
    k: int
    reliability: tuple[float, float]

    @property
    def true_pass_hat_k(self) -> float:
        """pass^k over all tasks of the kind, exactly: the mean over n of E r^(nk)."""
        from scipy.special import betaln

        a, b = self.reliability
        n = np.arange(STEPS[0], STEPS[1] + 1)
        return float(np.exp(betaln(a + n * self.k, b) - betaln(a, b)).mean())


HARD, MIDDLING, EASY, SURE = (55.8, 4.2), (58.0, 2.0), (59.7, 0.3), (59.98, 0.02)
REGIMES = (
    Regime(30, 8, 8, HARD),
    Regime(30, 16, 8, HARD),
    Regime(120, 16, 8, HARD),
    Regime(500, 16, 8, HARD),
    Regime(30, 8, 8, MIDDLING),
    Regime(120, 8, 8, MIDDLING),
    Regime(120, 16, 8, MIDDLING),
    Regime(60, 2, 1, MIDDLING),
    Regime(120, 16, 8, EASY),
    Regime(30, 16, 8, SURE),
    Regime(120, 8, 8, SURE),
    Regime(500, 16, 8, SURE),
)


def coverage_table(
    suites: int = 2000,
    seed: int = 0,
    *,
    question: str = "new tasks",
    regimes: Sequence[Regime] = REGIMES,
    level: float = 0.95,
) -> pd.DataFrame:
    """The share of simulated suites whose interval holds the true pass^k, and its mean width.

    Parameters
    ----------
    suites : int
        Simulated for each regime. The Monte Carlo error of a coverage of .95 is .22 over the
        root of it.
    seed : int
    question : {"new tasks", "these tasks"}
        Whether the truth is that of all tasks of the kind, or of the suite that was drawn; for
        the second, regimes with fewer than 2k trials are left out.
    regimes : sequence of Regime
    level : float
        Nominal coverage.

    Returns
    -------
    DataFrame
        One row for each regime: tasks, trials, k, the true pass^k, then for each interval its
        coverage and, under its name and "width", its mean width.

    Examples
    --------
    >>> table = coverage_table(suites=50, regimes=[Regime(30, 8, 8, (58, 2))])
    >>> bool(table["pooled p^k"][0] < 0.5 < table["wilson"][0])
    True
    """
    rng = np.random.default_rng(seed)
    rows = []
    for regime in regimes:
        if question == "these tasks" and regime.trials < 2 * regime.k:
            continue
        suite = draw_suite(
            rng, regime.tasks, redraws=suites, reliability=regime.reliability, steps=STEPS
        )
        found = _intervals(run_suite(suite, regime.trials, rng), regime, question, level)
        new = question == "new tasks"
        truth = regime.true_pass_hat_k if new else suite.pass_hat_k(regime.k)
        row: dict[str, float] = {"tasks": regime.tasks, "trials": regime.trials, "k": regime.k}
        row["true pass^k"] = regime.true_pass_hat_k
        for name, (low, high) in found.items():
            row[name] = float(np.mean((low <= truth) & (truth <= high)))
            row[f"{name} width"] = float(np.mean(high - low))
        rows.append(row)
    return pd.DataFrame(rows)


def _intervals(
    c: np.ndarray, regime: Regime, question: str, level: float
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each interval's ends, one for each suite (row) of success counts."""
    tasks, n, k = regime.tasks, regime.trials, regime.k
    possible = pass_hat_k(n, np.arange(n + 1), k)
    values = possible[c]
    if question == "new tasks":
        blocks, df, se = 1, tasks - 1, values.std(axis=-1, ddof=1) / np.sqrt(tasks)
    else:
        within = possible**2 - pass_hat_k(n, np.arange(n + 1), 2 * k)
        blocks, df, se = n // k, tasks * (n - 1), np.sqrt(within[c].sum(axis=-1)) / tasks
    mean, careful = values.mean(axis=-1), effective_tasks(values, se, blocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.where(se > 0, mean * (1 - mean) / se**2, tasks)
    pooled = wilson(c.mean(axis=-1) / n, tasks * n, tasks * n - 1, level)
    return {
        "wilson": wilson(mean, careful, df, level),
        "plain wilson": wilson(mean, plain, df, level),
        "clopper-pearson": clopper_pearson(mean, careful, df, level),
        "normal": normal(mean, se, level),
        "pooled p^k": (pooled[0] ** k, pooled[1] ** k),
    }


if __name__ == "__main__":
    for asked in ("new tasks", "these tasks"):
        print(f"Coverage of nominal 95% intervals for {asked}, and their mean width:")
        print(coverage_table(question=asked).round(3).to_string(index=False), end="\n\n")
