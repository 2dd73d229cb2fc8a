import csv
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalkit import Created, Task, grade
from evalkit.credit import (
    Checkpoint,
    all_of,
    any_of,
    averages,
    bonus_for_any,
    bonus_for_final,
    credit,
    half_and_half,
    product_of_parts,
    progress_rate,
    verdict_credit,
)


def part(name: str, weight: float = 1, needs: Sequence[str] = ()) -> Checkpoint:
    return Checkpoint(name, lambda state: state[name], weight, needs)


def state(names: str = "") -> dict[str, Any]:
    """A state in which the named parts are done."""
    return dict.fromkeys(names.split(), True)


def earned(parts: Sequence[Checkpoint], *states: str, groups: Any = None) -> set[str]:
    found = credit([state(s) for s in states], parts, groups or {})
    return {name for name, counts in found.earned.items() if counts}


ABC = [part("a"), part("b", 2), part("c", 5)]


def test_credit_is_the_weight_of_what_is_done() -> None:
    found = credit([state(), state("a c")], ABC)
    assert found.value == 6 / 8
    assert found.earned == {"a": True, "b": False, "c": True}
    assert not found.complete
    assert credit([state(), state("a b c")], ABC).value == 1


def test_only_a_complete_task_is_true() -> None:
    assert not credit([state(), state("b c")], ABC)
    assert credit([state(), state("a b c")], ABC)
    assert not credit([state(), state()], [])


def test_the_credit_of_doing_nothing_is_always_shown() -> None:
    found = credit([state("b"), state("b c")], ABC)
    assert found.of_doing_nothing == 2 / 8
    assert str(found) == "not complete; credit 0.88, for doing nothing 0.25"
    assert credit([state("b")], ABC).value == credit([state("b")], ABC).of_doing_nothing == 2 / 8
    half_done = credit([state("a"), state()], ABC, {("a", "b"): 4})
    assert half_done.of_doing_nothing == -4 / 8


def test_nothing_to_earn_is_not_full_credit() -> None:
    for parts in ([], [part("a", 0)]):
        found = credit([state(), state("a")], parts)
        assert math.isnan(found.value)
        assert math.isnan(found.of_doing_nothing)
    assert not credit([state(), state()], [])


def test_a_part_counts_only_with_what_it_needs() -> None:
    chain = [part("a"), part("b", needs=["a"]), part("c", needs=["b"])]
    assert earned(chain, "", "b c") == set()
    assert earned(chain, "", "a c") == {"a"}
    assert earned(chain, "", "a b c") == {"a", "b", "c"}
    assert earned(chain, "", "a b c", "b c") == set()


def test_a_part_counts_only_if_it_came_no_sooner_than_what_it_needs() -> None:
    chain = [part("a"), part("b", needs=["a"])]
    assert earned(chain, "", "a", "a b") == {"a", "b"}
    assert earned(chain, "", "a b") == {"a", "b"}
    assert earned(chain, "", "b", "a b") == {"a"}
    assert earned(chain, "", "b", "a", "a b") == {"a"}


def test_a_part_whose_state_cannot_be_read_is_not_done() -> None:
    odd = Checkpoint("odd", lambda s: s["refunds"][2]["paid"] > 0)
    assert earned([odd, part("a")], "", "a") == {"a"}


REFUND = {("refund", "note"): 0.5}
REFUND_PARTS = [part("address"), part("refund"), part("note")]


@pytest.mark.parametrize(
    ("done", "penalised", "value"),
    [
        ("", REFUND, 0),
        ("address", REFUND, 1 / 3),
        ("refund", REFUND, -0.5 / 3),
        ("address note", REFUND, 0.5 / 3),
        ("address refund", {("refund", "note"): 0}, 1 / 3),
        ("address refund", {}, 2 / 3),
        ("refund note", REFUND, 2 / 3),
        ("address refund note", REFUND, 1),
    ],
)
def test_a_group_counts_whole_or_not_at_all_and_half_of_it_may_cost(
    done: str, penalised: dict, value: float
) -> None:
    found = credit([state(), state(done)], REFUND_PARTS, penalised)
    assert found.value == pytest.approx(value)
    assert found.complete is (value == 1)


@pytest.mark.parametrize(
    ("parts", "groups", "message"),
    [
        ([part("a"), part("a")], {}, "'a': list it once"),
        ([part("b", needs=["a"]), part("a")], {}, "'b': list it once, after what it needs"),
        ([part("a", needs=["a"])], {}, "after what it needs"),
        ([part("a", -1)], {}, "a weight >= 0"),
        ([part("a")], {("a", "refnud"): 0}, "'refnud'.* must be among"),
        ([part("a")], {("a",): -1}, "a penalty >= 0"),
    ],
)
def test_a_list_of_checkpoints_that_makes_no_sense_is_refused(
    parts: list, groups: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        credit([state()], parts, groups)


# --- of a verdict -------------------------------------------------------------------------

BEFORE = {"orders": {"W1": {"status": "open", "paid": 0}}, "refunds": {}, "notes": {}}
TASK = Task(
    required={"orders/W1/status": "cancelled", "orders/W1/paid": 0},
    created=[Created("refunds", order="W1"), Created("notes", text="done")],
)
REFUND_ROW, NOTE_ROW = "refunds: a new row", "notes: a new row"


def after(status: str = "open", refunds: int = 0, notes: int = 0, **more: Any) -> dict:
    return {
        "orders": {"W1": {"status": status, "paid": 0}},
        "refunds": {n: {"order": "W1"} for n in range(refunds)},
        "notes": {n: {"text": "done"} for n in range(notes)},
        **more,
    }


def test_with_equal_weights_it_is_the_credit_of_the_verdict() -> None:
    for end in (after(), after("cancelled"), after(refunds=1), after("cancelled", 1, 1)):
        verdict = grade(BEFORE, end, TASK)
        found = verdict_credit(verdict, {})
        assert found.value == verdict.credit
        assert found.complete is verdict.passed
        assert found.of_doing_nothing == 0
        assert "orders/W1/paid" not in found.earned


def test_a_verdict_has_weights_and_groups() -> None:
    verdict = grade(BEFORE, after("cancelled", refunds=1), TASK)
    assert verdict_credit(verdict, {"orders/W1/status": 2}).value == 3 / 4
    both = {(REFUND_ROW, NOTE_ROW): 1.0}
    assert verdict_credit(verdict, {"orders/W1/status": 2}, both).value == 1 / 4
    assert verdict_credit(grade(BEFORE, after("cancelled"), TASK), {}, both).value == 1 / 3


def test_collateral_damage_leaves_the_credit_and_not_the_completion() -> None:
    verdict = grade(BEFORE, after("cancelled", 1, 1, extra={}), TASK)
    found = verdict_credit(verdict, {})
    assert found.value == 1
    assert not found


def test_what_held_before_earns_nothing_and_may_still_be_named() -> None:
    verdict = grade(BEFORE, after("cancelled"), TASK)
    weights = {"orders/W1/paid": 9}
    group = {("orders/W1/paid", "orders/W1/status"): 1.0, ("orders/W1/paid",): 1.0}
    assert verdict_credit(verdict, weights, group).value == verdict.credit
    assert verdict_credit(grade(BEFORE, after(), TASK), weights, group).value == 0


def test_an_unknown_place_is_named() -> None:
    verdict = grade(BEFORE, after(), TASK)
    with pytest.raises(ValueError, match="no requirement stands at orders/W2/status"):
        verdict_credit(verdict, {"orders/W2/status": 2})
    with pytest.raises(ValueError, match="orders/W2/status.* must be among"):
        verdict_credit(verdict, {}, {("orders/W2/status",): 1})


def test_twin_rows_are_one_place() -> None:
    twins = Task(created=[Created("refunds", order="W1")] * 2)
    assert verdict_credit(grade(BEFORE, after(refunds=1), twins), {}).value == 0
    assert verdict_credit(grade(BEFORE, after(refunds=2), twins), {}).value == 1


# --- published forms ----------------------------------------------------------------------


def test_three_averages_of_one_table_are_named_apart() -> None:
    found = averages([4, 4, 0], [4, 8, 1])
    assert found["micro"] == 8 / 13
    assert found["macro"] == 0.5
    assert found["half and half"] == pytest.approx(0.417, abs=5e-4)
    assert found["complete"] == pytest.approx(1 / 3)
    assert (found["tasks"], found["not evaluated"]) == (3, 0)


def test_a_task_with_nothing_to_earn_is_left_out_and_counted() -> None:
    found = averages([4, 0], [4, 0])
    assert [found[name] for name in ("micro", "macro", "half and half", "complete")] == [1] * 4
    assert (found["tasks"], found["not evaluated"]) == (1, 1)
    nothing = averages([0], [0])
    assert all(math.isnan(nothing[name]) for name in ("micro", "macro", "half and half"))
    assert math.isnan(averages([], [])["complete"])


def test_half_and_half_is_half_the_ratio_and_half_for_completion() -> None:
    scores = half_and_half([0, 1, 3, 4, 0], [4, 4, 4, 4, 0])
    assert scores[:4].tolist() == [0, 0.125, 0.375, 1]
    assert math.isnan(scores[4])
    assert half_and_half(3, 4) == 0.375


@pytest.mark.parametrize(("points", "totals"), [([5], [4]), ([-1], [4]), ([np.nan], [1])])
def test_points_beyond_the_total_are_refused(points: list, totals: list) -> None:
    for form in (half_and_half, averages, bonus_for_any, bonus_for_final):
        with pytest.raises(ValueError, match="from 0 to the total"):
            form(points, totals)


@pytest.mark.parametrize(
    ("points", "totals", "final", "first"),
    [
        ([0, 0, 2], [1, 2, 2], [1, 2, 2], [1, 0, 2]),
        ([0, 2, 1], [1, 2, 2], [0, 2, 1], [1, 2, 1]),
        ([0, 1, 1], [1, 2, 2], [0, 1, 1], [0, 1, 1]),
        ([0, 1, 0], [1, 2, 0], [0, 1, 0], [0, 1, 0]),  # a checkpoint worth nothing gives nothing
        ([], [], [], []),
    ],
)
def test_the_two_bonus_strategies(points: list, totals: list, final: list, first: list) -> None:
    assert bonus_for_final(points, totals).tolist() == final
    assert bonus_for_any(points, totals).tolist() == first


def test_the_progress_rate_never_falls_even_where_the_work_was_lost() -> None:
    assert progress_rate([0.2, 0.6, 0.1, 0.6, 0.8]).tolist() == [0.2, 0.6, 0.6, 0.6, 0.8]
    assert progress_rate([0.5, 0]).tolist()[-1] == 0.5
    assert math.isnan(progress_rate([])[-1])


def test_a_right_answer_does_not_make_up_for_a_wrong_state() -> None:
    database, answer = grade(BEFORE, after(), TASK).passed, True
    assert product_of_parts([database, answer]) == 0
    assert all_of([database, answer]) == 0
    assert any_of([database, answer]) == 1  # the fault that was seen: "or" where "and" is meant


def test_no_parts_are_no_score() -> None:
    for form in (product_of_parts, all_of, any_of):
        assert math.isnan(form([]))
        with pytest.raises(ValueError, match="from 0 to the total"):
            form([1.5])


def test_and_is_the_mean_unless_a_part_is_zero_and_or_the_best() -> None:
    assert all_of([0.5, 1]) == 0.75
    assert all_of([0.5, 1, 0]) == 0
    assert any_of([0.5, 0, 0.25]) == 0.5
    assert product_of_parts([0.5, 0.5]) == 0.25


TASKS = Path(__file__).parents[2] / "shared" / "data" / "budget" / "tac_pertask_6submissions.csv"
# Completion and score in per cent, as published.
PUBLISHED = {
    (24.00, 34.40),
    (30.64, 39.66),
    (33.14, 43.19),
    (41.14, 51.78),
    (42.86, 52.40),
    (44.57, 54.91),
}


@pytest.mark.skipif(not TASKS.is_file(), reason="needs the published tables in ../shared")
def test_the_published_scores_of_six_submissions_come_out() -> None:
    points, totals = defaultdict(list), defaultdict(list)
    with TASKS.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            points[row["submission"]].append(float(row["result_points"]))
            totals[row["submission"]].append(float(row["total_points"]))
    found = set()
    for name in points:
        means = averages(points[name], totals[name])
        # One task of one submission has 0 of 0 points; the publisher counts it as failed.
        share = means["tasks"] / (means["tasks"] + means["not evaluated"])
        found.add(tuple(round(100 * share * means[n], 2) for n in ("complete", "half and half")))
    assert found == PUBLISHED
