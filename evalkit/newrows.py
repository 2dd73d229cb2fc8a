"""New rows matched one to one with what a task says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evalkit.entries import Created
from evalkit.forms import Forms, equals
from evalkit.paths import format_path, same_key
from evalkit.statediff import Change
from evalkit.values import MISSING, show


def matching(wanted: list[Created], rows: list[Change], forms: Forms) -> dict[int, int]:
    """The index of the row that each specification gets, by optimal assignment.

    As many as possible match and, among such matchings, as few columns as possible are left
    unexplained. A specification that no row fits has no entry.
    """
    from scipy.optimize import linear_sum_assignment

    never = 1 + sum(len(row.after) for row in rows)
    cost = np.array(
        [
            [never if _wrong(spec, row, forms) else len(unexplained(spec, row)) for row in rows]
            for spec in wanted
        ]
    ).reshape(len(wanted), len(rows))
    pairs = zip(*linear_sum_assignment(cost), strict=True)
    return {int(i): int(j) for i, j in pairs if cost[i, j] < never}


def _wrong(spec: Created, row: Change, forms: Forms) -> list[Any]:
    """The stated columns that a row does not hold as stated."""
    return [
        column
        for column, value in spec.columns.items()
        if not equals(value, _cell(row, column), (*row.path, column), forms)
    ]


def _cell(row: Change, column: Any) -> Any:
    found = [value for name, value in row.after.items() if same_key(name, column)]
    return found[0] if found else MISSING


def unexplained(spec: Created, row: Change) -> list[Change]:
    """The columns of a new row that are neither stated nor free, each as a change."""
    return [
        Change((*row.path, column), MISSING, value)
        for column, value in row.after.items()
        if not any(same_key(column, stated) for stated in (*spec.columns, *spec.free))
    ]


def nearest(spec: Created, rows: list[Change], forms: Forms, others: bool) -> str:
    """The new row that comes closest to a specification, in words."""
    if not rows:
        return "no further new row" if others else "no new row"
    row = min(rows, key=lambda r: len(_wrong(spec, r, forms)))
    wrong = [f"{c} {show(_cell(row, c))}" for c in _wrong(spec, row, forms)]
    return f"{format_path(row.path)} comes closest, with {', '.join(wrong)}"
