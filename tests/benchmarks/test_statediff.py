"""State diff against others': ``uv run --all-groups pytest -n0 -s tests/benchmarks``."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from evalkit.statediff import state_diff
from tests.benchmarks.measure import measured, report

SIZES = [int(size) for size in os.environ.get("LEAVES", "1000 10000 100000").split()]
CHANGED = 5
NOTE = (
    "The two states differ in five texts. The loop with == skips whole tables that are equal for ==\n"
    "and so takes True for 1, and a None that is gone for one that is there: its speed is that."
)

State = dict[str, Any]


def state(leaves: int) -> State:
    """Two tables of rows of ten fields, keyed by text, as JSON gives them."""
    rows = {
        f"W{i:07}": {
            "status": "pending",
            "total": i + 0.5,
            "items": i % 7,
            "paid": i % 2 == 0,
            "note": None,
            "user": f"user_{i % 1000}",
            "address": {"city": "Leeds", "zip": f"{i % 9999:05}", "street": f"{i} High Street"},
            "country": "GB",
        }
        for i in range(leaves // 10)
    }
    names = list(rows)
    half = len(names) // 2
    return {"orders": {n: rows[n] for n in names[:half]}, "old": {n: rows[n] for n in names[half:]}}


def changed(before: State) -> State:
    """A copy on write in which five orders are cancelled: what is the same, is the same object."""
    orders = dict(before["orders"])
    for name in list(orders)[:: max(len(orders) // CHANGED, 1)][:CHANGED]:
        orders[name] = orders[name] | {"status": "cancelled"}
    return before | {"orders": orders}


def by_equality(before: State, after: State) -> list[tuple[Any, Any]]:
    """The ten lines that everybody writes first, and that are fooled in chapter 04."""
    found = []
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            found += by_equality(old, new) if old != new else []
        elif old != new:
            found.append((old, new))
    return found


def peers(before: State, after: State) -> dict[str, Callable[[], Any]]:
    import dictdiffer
    import jsondiff
    import jsonpatch
    from deepdiff import DeepDiff

    return {
        "evalkit": lambda: state_diff(before, after),
        "loop with ==": lambda: by_equality(before, after),
        "jsondiff": lambda: jsondiff.diff(before, after),
        "dictdiffer": lambda: list(dictdiffer.diff(before, after)),
        "jsonpatch": lambda: jsonpatch.make_patch(before, after).patch,
        "deepdiff": lambda: DeepDiff(before, after),
    }


def number(name: str, found: Any) -> int:
    """How many changes a peer found."""
    if name == "jsondiff":
        return len(found["orders"]) if found else 0
    if name == "deepdiff":
        return sum(map(len, found.values()))
    return len(found)


@pytest.mark.parametrize("made", ["fresh", "copy_on_write"])
def test_the_diff_of_two_states(made: str) -> None:
    pytest.importorskip("deepdiff")
    rows = []
    for leaves in SIZES:
        before = state(leaves)
        after = changed(before)
        if made == "fresh":
            before, after = (json.loads(json.dumps(side)) for side in (before, after))
        found, results = measured(leaves, peers(before, after))
        rows += found
        for name, diff in results.items():
            assert number(name, diff) == CHANGED, name
    report(f"state_diff_{made}", rows, x="leaves", note=NOTE)


SEEN = {
    "1 -> True": (1, True),
    "1 -> 1.0": (1, 1.0),
    "0.0 -> -0.0": (0.0, -0.0),
    "[1] -> [True]": ([1], [True]),
    "None -> gone": (None, "gone"),
}


def test_which_changes_each_sees() -> None:
    """Not a time, but what the times are worth: a dot is a change that goes unseen."""
    pytest.importorskip("deepdiff")
    print()
    for words, (old, new) in SEEN.items():
        before = {"orders": {"a": {"x": old}}}
        after = copy.deepcopy(before)
        if new == "gone":
            del after["orders"]["a"]["x"]
        else:
            after["orders"]["a"]["x"] = new
        works = peers(before, after)
        seen = {name: bool(work()) for name, work in works.items()}
        print(f"{words:15}", "  ".join(f"{n} {'x' if s else '.'}" for n, s in seen.items()))
        assert seen["evalkit"]
