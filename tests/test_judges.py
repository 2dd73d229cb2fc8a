from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalkit.judges import (
    cohen_kappa,
    corrected_rate,
    gwet_ac1,
    judged_ranking,
    judged_rate,
    prediction_powered_rate,
    sensitivity,
    specificity,
)

# What is used throughout: of 100 labelled, 50 passed; the judge passes 45 of those and 15 others.
TRUTH = [True] * 50 + [False] * 50
JUDGE = [True] * 45 + [False] * 5 + [True] * 15 + [False] * 35


def draw(
    rng: np.random.Generator, rate: float, sens: float, spec: float, labels: int, others: int
) -> tuple[Any, Any, Any]:
    """The judge's verdicts on unlabelled episodes, and on labelled ones with their labels."""
    truth = rng.random(labels + others) < rate
    judge = rng.random(truth.size) < np.where(truth, sens, 1 - spec)
    return judge[labels:], judge[:labels], truth[:labels]


# --- the judge's errors ---------------------------------------------------------------------


def test_sensitivity_and_specificity_are_counted_on_their_own_half() -> None:
    assert sensitivity(JUDGE, TRUTH).value == 0.9
    assert specificity(JUDGE, TRUTH).value == 0.7


def test_their_intervals_are_wilsons() -> None:
    # 45 of 50: published values of the Wilson interval.
    _, low, high = sensitivity(JUDGE, TRUTH)
    assert (low, high) == (pytest.approx(0.7864, abs=5e-5), pytest.approx(0.9565, abs=5e-5))
    assert specificity(np.invert(JUDGE), np.invert(TRUTH), 0.8) == sensitivity(JUDGE, TRUTH, 0.8)
    _, low, high = sensitivity([True] * 20, [True] * 20)
    assert (low, high) == (pytest.approx(0.8389, abs=5e-5), 1)


def test_a_wider_level_gives_a_wider_interval() -> None:
    for estimate in (corrected_rate, prediction_powered_rate):
        _, low, high = estimate(JUDGE, JUDGE, TRUTH, 0.95)
        _, lower, higher = estimate(JUDGE, JUDGE, TRUTH, 0.99)
        assert lower < low < high < higher


@pytest.mark.parametrize("label", [True, False])
def test_labels_of_one_kind_cannot_tell_both_error_rates(label: bool) -> None:
    truth = [label] * 10
    with pytest.raises(ValueError, match="truth: it must hold passes and failures"):
        (specificity if label else sensitivity)(truth, truth)
    with pytest.raises(ValueError, match="truth: it must hold passes and failures"):
        corrected_rate(truth, truth, truth)


# --- the corrected rate ---------------------------------------------------------------------


def test_the_corrected_rate_undoes_the_judges_errors() -> None:
    for rate in (0.0, 0.2, 0.6, 1.0):
        seen = rate * 0.9 + (1 - rate) * 0.3
        judged = np.arange(1000) < round(1000 * seen)
        assert corrected_rate(judged, JUDGE, TRUTH).value == pytest.approx(rate)


def test_the_interval_is_that_of_lang_and_reiczigel() -> None:
    # By hand from their formulas: p' .65939, sens' 46/52, spec' 36/52, z 1.95996.
    z, n = 1.959964, 1000
    p, se, sp = (660 + z**2 / 2) / (n + z**2), 46 / 52, 36 / 52
    centre = (p + sp - 1) / (se + sp - 1)
    shift = 2 * z**2 * (centre * se * (1 - se) / 52 - (1 - centre) * sp * (1 - sp) / 52)
    parts = (
        p * (1 - p) / (n + z**2),
        centre**2 * se * (1 - se) / 52,
        (1 - centre) ** 2 * sp * (1 - sp) / 52,
    )
    half = z * np.sqrt(sum(parts)) / (se + sp - 1)
    _, low, high = corrected_rate(np.arange(n) < 660, JUDGE, TRUTH)
    assert (low, high) == pytest.approx((centre + shift - half, centre + shift + half))


@pytest.mark.parametrize(("seen", "rate"), [(0.27, 0), (0.93, 1)])
def test_a_rate_just_beyond_what_the_judge_can_show_is_cut_and_keeps_an_interval(
    seen: float, rate: float
) -> None:
    value, low, high = corrected_rate(np.arange(200) < 200 * seen, JUDGE, TRUTH)
    assert value == rate
    assert 0 <= low <= value <= high <= 1
    assert 0.05 < high - low < 0.4


@pytest.mark.parametrize("seen", [0.0, 0.05, 1.0])
def test_a_share_that_no_true_rate_gives_is_refused(seen: float) -> None:
    # The judge passes three in ten of the labelled failures: it cannot pass so few of the others.
    with pytest.raises(ValueError, match="judged: no true rate"):
        corrected_rate(np.arange(200) < 200 * seen, JUDGE, TRUTH)


def test_a_perfect_judge_is_believed_yet_not_beyond_doubt() -> None:
    judged = np.arange(400) < 100
    for estimate in (corrected_rate, prediction_powered_rate):
        value, low, high = estimate(judged, TRUTH, TRUTH)
        assert low < value < high
        assert high - low > 2 * 1.96 * np.sqrt(0.25 * 0.75 / 400)
    assert corrected_rate(judged, TRUTH, TRUTH).value == 0.25


@pytest.mark.parametrize("judge", [[True, False] * 50, [True] * 100, [False] * 50 + [True] * 50])
def test_a_judge_no_better_than_a_coin_cannot_be_corrected(judge: list[bool]) -> None:
    with pytest.raises(ValueError, match=r"judge: sens\. .* is not clearly over 1"):
        corrected_rate(JUDGE, judge, TRUTH)


def test_a_judge_hardly_better_than_a_coin_on_few_labels_cannot_be_corrected() -> None:
    truth = [True] * 100 + [False]  # sensitivity .1, and one failure, rightly failed
    judge = [True] * 10 + [False] * 90 + [False]
    with pytest.raises(ValueError, match=r"sens\. 0.10 \+ spec\. 1.00 is not clearly over 1"):
        corrected_rate(JUDGE, judge, truth)


def test_a_judge_that_looks_useful_only_by_the_doubt_about_it_cannot_be_corrected() -> None:
    truth = [True] * 10 + [False] * 100
    judge = [True] * 2 + [False] * 8 + [True] * 20 + [False] * 80
    with pytest.raises(ValueError, match=r"sens\. 0.20 \+ spec\. 0.80 is not clearly over 1"):
        corrected_rate(JUDGE, judge, truth)


def test_the_interval_holds_its_estimate_even_with_one_labelled_failure() -> None:
    truth = [True] * 25 + [False]
    value, low, high = corrected_rate(np.arange(28) < 4, truth, truth)
    assert value == pytest.approx(4 / 28)
    assert low <= value <= high


# --- the prediction-powered rate ------------------------------------------------------------


def test_the_estimate_is_that_of_its_formula() -> None:
    f, y = np.array([*JUDGE, 1, 0]), np.array([*TRUTH, 0, 1])
    lam = np.cov(y, f)[0, 1] / np.var(f, ddof=1) / (1 + 100 / 400)
    value = prediction_powered_rate(np.arange(400) < 300, JUDGE, TRUTH).value
    assert value == pytest.approx(0.5 + lam * (0.75 - 0.6))


def test_a_useless_judge_leaves_the_labelled_share() -> None:
    judge = [True, False] * 50
    value, low, high = prediction_powered_rate([True] * 1000, judge, TRUTH)
    assert value == pytest.approx(0.5, abs=0.01)
    assert 0.38 < low < 0.42 < 0.58 < high < 0.62


def test_a_good_judge_moves_the_labelled_share_and_narrows_its_interval() -> None:
    judge = [True] * 48 + [False] * 2 + [True] * 2 + [False] * 48
    value, low, high = prediction_powered_rate(np.arange(2000) < 1200, judge, TRUTH)
    assert value == pytest.approx(0.5 + 0.9 * 0.1, abs=0.02)
    assert high - low < 0.75 * 2 * 1.96 * np.sqrt(0.25 / 100)


@pytest.mark.parametrize("label", [True, False])
def test_labels_of_one_kind_still_have_an_interval(label: bool) -> None:
    labels = np.array([label] * 30)
    value, low, high = prediction_powered_rate([label] * 300, labels, labels)
    assert value == label
    assert 0.02 < high - low < 0.2


def test_one_label_is_too_few() -> None:
    with pytest.raises(ValueError, match="truth: one label"):
        prediction_powered_rate([True, False], [True], [True])


# --- coverage, by simulation ----------------------------------------------------------------

SETTINGS = [
    # rate, sensitivity, specificity, labelled, judged by the judge alone
    (0.5, 0.9, 0.8, 60, 600),
    (0.9, 0.9, 0.8, 100, 1000),
    (0.2, 0.7, 0.95, 100, 400),
    (0.6, 0.99, 0.99, 50, 500),
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_intervals_hold_the_true_rate_about_as_often_as_they_say(setting: Any) -> None:
    rng = np.random.default_rng(20261201)
    runs = [draw(rng, *setting) for _ in range(400)]
    runs = [run for run in runs if 0 < run[2].sum() < run[2].size]
    for estimate, least in ((corrected_rate, 0.93), (prediction_powered_rate, 0.92)):
        ends = np.array([estimate(*run) for run in runs])
        held = (ends[:, 1] <= setting[0]) & (setting[0] <= ends[:, 2])
        assert held.mean() >= least, estimate.__name__
        assert abs(ends[:, 0].mean() - setting[0]) < 0.02, estimate.__name__


def test_the_judges_own_rate_holds_it_never() -> None:
    rng = np.random.default_rng(1)
    shares = np.array([draw(rng, 0.5, 0.9, 0.7, 2, 1000)[0].mean() for _ in range(200)])
    assert (np.abs(shares - 0.5) > 1.96 * np.sqrt(0.25 / 1000)).all()


def test_the_judge_makes_the_labels_go_further() -> None:
    rng = np.random.default_rng(2)
    runs = [draw(rng, 0.5, 0.9, 0.9, 60, 2000) for _ in range(200)]
    ends = np.array([prediction_powered_rate(*run) for run in runs])
    assert np.diff(ends[:, 1:]).mean() < 0.8 * 2 * 1.96 * np.sqrt(0.25 / 60)


# --- agreement ------------------------------------------------------------------------------


def test_kappa_of_a_textbook_table() -> None:
    # 20 both pass, 5 and 10 they differ, 15 both fail: (.70 - .50) / .50.
    a = [True] * 25 + [False] * 25
    b = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4)
    assert cohen_kappa(b, a) == pytest.approx(0.4)
    # q = 27.5 / 50, chance 2 q (1 - q) = .495
    assert gwet_ac1(a, b) == pytest.approx((0.7 - 0.495) / 0.505)


def test_full_agreement_is_one_and_full_disagreement_minus_one() -> None:
    a = np.array([True, False])
    for agreement in (cohen_kappa, gwet_ac1):
        assert agreement(a, a) == 1
        assert agreement(a, ~a) == -1


def test_two_judges_that_flip_coins_agree_by_chance_alone() -> None:
    a, b = np.random.default_rng(0).random((2, 20_000)) < 0.5
    assert abs(cohen_kappa(a, b)) < 0.02
    assert abs(gwet_ac1(a, b)) < 0.02


def test_where_nearly_all_pass_kappa_is_low_and_ac1_is_not() -> None:
    a = [True] * 96 + [True, True, False, False]
    b = [True] * 96 + [False, False, True, True]
    assert cohen_kappa(a, b) < 0
    assert gwet_ac1(a, b) > 0.95


def test_kappa_is_undefined_where_both_always_say_the_same() -> None:
    assert np.isnan(cohen_kappa([True] * 5, [True] * 5))
    assert gwet_ac1([True] * 5, [True] * 5) == 1


# --- bias -----------------------------------------------------------------------------------


def test_a_judge_without_bias_keeps_the_order_and_shrinks_the_lead() -> None:
    agents = pd.DataFrame({"rate": [0.5, 0.7], "showy": [1.0, 0.0]}, index=["a", "b"])
    table = judged_ranking(agents, 0.9, 0.8, lift=0)
    assert list(table["rank by rate"]) == list(table["rank by judged"]) == [2, 1]
    assert table["judged"]["b"] - table["judged"]["a"] == pytest.approx(0.2 * (0.9 + 0.8 - 1))


def test_a_taste_for_showy_reports_turns_a_ranking_round() -> None:
    agents = pd.DataFrame({"rate": [0.5, 0.6], "showy": [0.9, 0.1]}, index=["verbose", "terse"])
    tastes = [judged_ranking(agents, 0.9, 0.8, x)["rank by judged"]["verbose"] for x in (0, 0.3)]
    assert tastes == [2, 1]
    assert list(agents.columns) == ["rate", "showy"]  # left as it was


def test_equal_agents_share_a_rank() -> None:
    agents = pd.DataFrame({"rate": [0.5, 0.5, 0.1], "showy": [0, 0, 0]})
    assert list(judged_ranking(agents, 0.9, 0.8, 0)["rank by judged"]) == [1, 1, 3]


def test_a_simulated_judge_errs_at_its_rates() -> None:
    rng = np.random.default_rng(3)
    truth, showy = rng.random((2, 40_000)) < [[0.6], [0.5]]
    judge = rng.random(truth.size) < judged_rate(truth, showy, 0.9, 0.8, lift=0.15)
    assert sensitivity(judge[~showy], truth[~showy]).value == pytest.approx(0.9, abs=0.01)
    assert specificity(judge[~showy], truth[~showy]).value == pytest.approx(0.8, abs=0.015)
    assert sensitivity(judge[showy], truth[showy]).value == 1  # .9 + .15, cut to 1
    assert specificity(judge[showy], truth[showy]).value == pytest.approx(0.65, abs=0.015)
    assert judge.mean() == pytest.approx(judged_rate(0.6, 0.5, 0.9, 0.8, lift=0.15), abs=0.01)


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad", [[], [1, 0], [True, None], ["pass", "fail"], [0.2, 0.9], [[True, False]], [True]]
)
def test_what_is_no_list_of_truth_values_is_named(bad: Any) -> None:
    with pytest.raises(ValueError, match="^truth: give True and False"):
        sensitivity([True, False], bad)
    with pytest.raises(ValueError, match="^b: give True and False"):
        cohen_kappa([True, False], bad)


@pytest.mark.parametrize("estimate", [corrected_rate, prediction_powered_rate])
def test_without_a_single_judged_episode_there_is_no_rate(estimate: Any) -> None:
    with pytest.raises(ValueError, match="^judged: give True and False"):
        estimate(np.array([], bool), JUDGE, TRUTH)
