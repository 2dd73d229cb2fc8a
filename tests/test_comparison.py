from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, ttest_rel

from evalkit.comparison import compare, holm
from evalkit.passk import pass_hat_k
from evalkit.simulate.suites import draw_suite, run_suite

TASKS = [f"t{i}" for i in range(40)]


def table(n: int, c: Any, tasks: list[str] = TASKS) -> dict[str, Any]:
    return {"task": tasks, "n": [n] * len(c), "c": list(c)}


def two_agents(n: int, seed: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    suite = draw_suite(rng, tasks=40)
    return tuple(
        table(n, run_suite(agent, n, rng)) for agent in (suite, suite.with_fewer_failures(0.5))
    )  # type: ignore[return-value]


def test_the_difference_is_that_of_the_second_less_the_first() -> None:
    a, b = two_agents(8)
    found = compare(a, b, 4)
    u, v = (pass_hat_k(8, agent["c"], 4) for agent in (a, b))
    assert found.difference == pytest.approx(v.mean() - u.mean())
    assert (found.first, found.second) == (u.mean(), v.mean())
    assert (found.better, found.worse) == ((v > u).sum(), (v < u).sum())
    assert found.low < found.difference < found.high


def test_exchanging_the_agents_only_changes_the_sign() -> None:
    a, b = two_agents(8)
    one, two = compare(a, b, 4), compare(b, a, 4)
    assert one.difference == -two.difference
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
    assert one.p_value == pytest.approx(two.p_value)


def test_tasks_are_paired_by_name_not_by_place() -> None:
    a, b = two_agents(8)
    shuffled = pd.DataFrame(b).sample(frac=1, random_state=3)
    assert compare(a, shuffled, 2) == compare(a, b, 2)


def test_where_many_tasks_differ_the_test_is_nearly_the_paired_t_test() -> None:
    rng = np.random.default_rng(1)
    names = [str(i) for i in range(2000)]
    a, b = (table(8, rng.binomial(8, p, 2000), names) for p in (0.50, 0.51))
    right = ttest_rel(np.array(b["c"]) / 8, np.array(a["c"]) / 8)
    found = compare(a, b)
    assert found.test == "paired t"
    assert found.p_value == pytest.approx(right.pvalue, rel=0.05)
    ends = right.confidence_interval()
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), rel=0.05)


def test_one_trial_each_is_mcnemars_exact_test() -> None:
    a = table(1, [1] * 13 + [0] * 16 + [1] * 11)
    b = table(1, [0] * 13 + [1] * 16 + [1] * 11)
    found = compare(a, b)
    assert found.test == "exact McNemar"
    assert (found.better, found.worse) == (16, 13)
    assert found.p_value == pytest.approx(0.711, abs=5e-4)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (3, 1), (5, 0)])
def test_mcnemar_counts_the_outcomes_at_least_as_uneven(better: int, worse: int) -> None:
    a = table(1, [0] * better + [1] * worse + [1] * (40 - better - worse))
    b = table(1, [1] * better + [0] * worse + [1] * (40 - better - worse))
    discordant = better + worse
    outcomes = [abs(2 * sum(s) - discordant) for s in product((0, 1), repeat=discordant)]
    right = np.mean([uneven >= abs(better - worse) for uneven in outcomes])
    assert compare(a, b).p_value == pytest.approx(right)


@pytest.mark.parametrize("n", [1, 8])
def test_two_agents_that_never_differ_leave_an_interval_with_a_width(n: int) -> None:
    found = compare(table(n, [n] * 40), table(n, [n] * 40))
    assert found.difference == 0
    assert found.p_value == 1
    assert found.low < -0.03
    assert found.high > 0.03


def test_no_interval_leaves_what_a_difference_can_be() -> None:
    found = compare(table(1, [0, 0], TASKS[:2]), table(1, [1, 1], TASKS[:2]))
    assert (found.difference, found.high) == (1, 1)
    assert found.low >= -1


def test_tasks_that_cannot_be_paired_are_named_with_the_reason() -> None:
    a = {"task": ["x", "y", "z", "only"], "n": [4, 4, 1, 4], "c": [4, 2, 1, 0]}
    b = {"task": ["x", "y", "z", "other"], "n": [4, 4, 4, 4], "c": [4, 4, 4, 0]}
    found = compare(a, b, 2)
    assert found.tasks == 2
    assert found.left_out == (
        ("only", "only in a"),
        ("other", "only in b"),
        ("z", "1 and 4 valid of 2 needed"),
    )
    assert "only (only in a)" in str(found)


def test_missing_trials_open_the_bracket_of_the_difference() -> None:
    a = {"task": ["x", "y"], "n": [1, 2], "c": [1, 2], "planned": [2, 2]}
    b = {"task": ["x", "y"], "n": [2, 2], "c": [2, 1]}
    found = compare(a, b)
    assert found.bracket == pytest.approx((-0.25, 0))
    assert "under missing trials" in str(found)
    assert "under missing trials" not in str(compare(b, b))


@pytest.mark.parametrize(
    ("a", "b", "k", "message"),
    [
        ({"n": [1], "c": [1]}, table(1, [1] * 40), 1, "need a column task"),
        ({"task": ["a", "a"], "success": [1, 0]}, table(1, [1] * 40), 1, "counts.trials_table"),
        (table(1, [1] * 40), table(1, [1] * 40, list(range(40))), 1, "0 of 0 common tasks"),  # type: ignore[arg-type]
        (
            table(1, [1] * 40),
            table(1, [1] * 40),
            2,
            "0 of 40 common tasks can be compared; two with 2 valid",
        ),
        (table(1, [1], ["x"]), table(1, [1], ["x"]), 1, "1 of 1 common tasks"),
        (table(1, [1] * 40), table(1, [1] * 40), 0, "k must be"),
    ],
)
def test_what_cannot_be_compared_is_refused(a: Any, b: Any, k: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(a, b, k)


def test_the_level_must_be_a_probability() -> None:
    with pytest.raises(ValueError, match="level must lie"):
        compare(table(1, [1] * 40), table(1, [1] * 40), level=95)


def test_the_page_runs_nothing_of_a_tasks_name() -> None:
    a, b = table(1, [1, 0, 1], ["x", "y", "<b>"]), table(1, [1, 1], ["x", "y"])
    assert "&lt;b&gt;" in compare(a, b)._repr_html_()


def test_holm_multiplies_the_smallest_by_all_the_next_by_one_fewer() -> None:
    assert holm([0.04, 0.01, 0.03]).tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5]).tolist() == [0.5]
    assert holm([0.9, 0.8]).tolist() == [1, 1]
    assert holm([]).tolist() == []


def test_holm_is_never_below_the_false_discovery_rate_nor_above_bonferroni() -> None:
    p = np.random.default_rng(0).random(30) ** 3
    assert (holm(p) >= false_discovery_control(p) - 1e-12).all()
    assert (holm(p) <= np.minimum(30 * p, 1) + 1e-12).all()


@pytest.mark.parametrize("wrong", [[-0.1], [1.1], [float("nan")], [[0.1]]])
def test_what_is_no_p_value_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="p_values must be"):
        holm(wrong)


@pytest.mark.parametrize(("tasks", "n", "k"), [(30, 16, 8), (120, 8, 1), (120, 8, 8)])
def test_under_no_difference_the_test_finds_one_in_at_most_one_of_twenty(
    tasks: int, n: int, k: int
) -> None:
    rng = np.random.default_rng(4)
    suites = draw_suite(rng, tasks, redraws=400)
    names = [str(i) for i in range(tasks)]
    a, b = (run_suite(suites, n, rng) for _ in range(2))
    found = [compare(table(n, x, names), table(n, y, names), k) for x, y in zip(a, b, strict=True)]
    assert np.mean([each.p_value < 0.05 for each in found]) < 0.08
    assert np.mean([each.low <= 0 <= each.high for each in found]) > 0.92


def test_pairing_finds_a_difference_that_the_spread_of_tasks_would_hide() -> None:
    rng = np.random.default_rng(5)
    suites = draw_suite(rng, redraws=300)
    names = [str(i) for i in range(120)]
    better = suites.with_fewer_failures(0.2)
    a, b = run_suite(suites, 8, rng), run_suite(better, 8, rng)
    found = [compare(table(8, x, names), table(8, y, names)) for x, y in zip(a, b, strict=True)]
    assert 0.70 < np.mean([each.p_value < 0.05 for each in found]) < 0.86
    truth = 0.0547  # over all tasks of this kind
    assert 0.92 < np.mean([each.low <= truth <= each.high for each in found]) < 0.99
