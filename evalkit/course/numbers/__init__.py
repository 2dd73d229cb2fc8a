"""Every number that the note states, and ours beside it.

    uv run python -m evalkit.course.numbers

prints the table and ends with status 1 if one disagrees. Each section's numbers are the tuple
``NUMBERS`` of a file in this folder, found by being there. How a number must agree depends on
where it comes from:

- an input must be equal, and a closed form equal as printed;
- a simulated number must lie within three standard errors of the note's, taking both runs' chance
  and the note's rounding into account. Where we drew the whole thing again many times, the note's
  and ours must both lie within the middle 99.7% of these redraws; the table says at which percentile
  the note's does.
"""

from __future__ import annotations

import ast
import importlib
import math
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm

STANDARD_ERRORS = 3.0
MIDDLE = (0.15, 99.85)  # percentiles: as unlikely as three standard errors


@dataclass(frozen=True)
class Estimate:
    """A number of ours that chance had a part in.

    Parameters
    ----------
    value : float
        In the unit of the note's number.
    error : float
        Its standard error; 0 for a count or a comparison that chance cannot have moved.
    note_error : float, optional
        The standard error of the note's figure; ours unless given, as if both drew as much.
    redraws : array_like, optional
        The same quantity from many independent redraws; both figures are ranked among them.
    """

    value: float
    error: float = 0.0
    note_error: float | None = None
    redraws: ArrayLike | None = None


@dataclass(frozen=True)
class Number:
    """A number of the note and how we come to it.

    Parameters
    ----------
    id, section, chapter : str
        What it is called, the note's section, and the chapter that shows it (``"01"``).
    quantity : str
        What it is the value of.
    note : float
        The note's value, in `unit`, printed with `digits` decimals.
    unit : str
        Percent, points, probability, count, ...
    digits : int
        Decimals that the note prints.
    kind : {"input", "closed form", "simulated"}
        Where it comes from.
    ours : callable
        Computes our value, in the same unit: a float, or an `Estimate` if it is simulated.
    relation : {"=", ">"}
        ``">"`` where the note says "above".
    """

    id: str
    section: str
    chapter: str
    quantity: str
    note: float
    unit: str
    digits: int
    kind: Literal["input", "closed form", "simulated"]
    ours: Callable[[], float | Estimate]
    relation: Literal["=", ">"] = "="


def mean(values: ArrayLike, scale: float = 1.0) -> Estimate:
    """Return the mean of independent draws with its standard error.

    Examples
    --------
    >>> mean([0, 1, 1, 0], scale=100)
    Estimate(value=50.0, error=28.867513459481287, note_error=None, redraws=None)
    """
    draws = scale * np.asarray(values, dtype=float)
    return Estimate(float(draws.mean()), float(draws.std(ddof=1) / np.sqrt(draws.size)))


def numbers() -> tuple[Number, ...]:
    """Return all numbers of all sections, in the order of the chapters."""
    files = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in files]
    found = [number for module in modules for number in module.NUMBERS]
    return tuple(sorted(found, key=lambda number: number.chapter))


def table(which: Iterable[Number] | None = None) -> pd.DataFrame:
    """Return one row a number: the note's value, ours, its uncertainty, and whether they agree.

    Parameters
    ----------
    which : iterable of Number, optional
        All unless given.
    """
    return pd.DataFrame([_row(number) for number in (numbers() if which is None else which)])


def _row(number: Number) -> dict[str, object]:
    ours = computed(number)
    agrees, how = agreement(number, ours)
    return {
        "id": number.id,
        "chapter": number.chapter,
        "quantity": number.quantity,
        "unit": number.unit,
        "note": ("> " if number.relation == ">" else "") + _printed(number, number.note),
        "ours": _printed(number, ours.value),
        "uncertainty": f"± {ours.error:.2g}" if ours.error else "",
        "how": how,
        "agrees": "yes" if agrees else "NO",
    }


def computed(number: Number) -> Estimate:
    """Return our value of a number."""
    ours = number.ours()
    return ours if isinstance(ours, Estimate) else Estimate(float(ours))


def line(number: Number) -> str:
    """Return the line of code that computes our value, as it stands in its file."""
    if isinstance(number.ours, partial):
        words = [repr(word) for word in number.ours.args]
        words += [f"{name}={value!r}" for name, value in number.ours.keywords.items()]
        return f"{number.ours.func.__name__}({', '.join(words)})"
    code = number.ours.__code__
    tree = ast.parse(Path(code.co_filename).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            return ast.unparse(node.body)
    return f"{number.ours.__name__}()"


def standard_errors_apart(number: Number, ours: Estimate) -> float:
    """Return how far the note's figure lies above ours, in standard errors.

    Where the whole thing was drawn again many times, it is the normal score of the percentile at
    which the note's figure falls; where chance had no part, it is 0 for equal as printed.
    """
    if ours.redraws is not None:
        size = np.size(ours.redraws)
        below = _percentile(number.note, ours.redraws) / 100 * size
        return float(norm.ppf((below + 0.5) / (size + 1)))
    note_error = ours.error if ours.note_error is None else ours.note_error
    error = float(np.hypot(ours.error, note_error))
    difference = number.note - ours.value
    if error == 0:
        same = number.relation == ">" or _equal(number, ours.value)
        return 0.0 if same else float(np.copysign(np.inf, difference))
    return difference / error


def agreement(number: Number, ours: Estimate) -> tuple[bool, str]:
    """Return whether a number agrees with the note's, and by which rule, in words."""
    if number.relation == ">":
        return ours.value > number.note, "above"
    if ours.redraws is not None:
        note, own = (_percentile(value, ours.redraws) for value in (number.note, ours.value))
        inside = all(MIDDLE[0] <= percentile <= MIDDLE[1] for percentile in (note, own))
        return inside, f"percentile {note:.0f} of redraws"
    note_error = ours.error if ours.note_error is None else ours.note_error
    error = float(np.hypot(ours.error, note_error))
    if number.kind != "simulated" or error == 0:
        how = "equal" if number.kind == "input" else "equal as printed"
        return _equal(number, ours.value), how
    # The note's rounding may have moved its figure by half a unit of its last digit.
    apart = max(0.0, abs(ours.value - number.note) - 0.5 * 10**-number.digits) / error
    return apart <= STANDARD_ERRORS, f"{apart:.1f} standard errors apart"


def _equal(number: Number, value: float) -> bool:
    """Whether a value without chance is the note's: of an input to the last digit, else as printed.

    A choice of 86.4 is another choice than 86, though it is printed alike.
    """
    if number.kind == "input":
        return math.isclose(value, number.note)
    return _printed(number, value) == _printed(number, number.note)


def _percentile(value: float, redraws: ArrayLike) -> float:
    """At which percentile of the redraws a value lies; those equal to it count half."""
    drawn = np.asarray(redraws, dtype=float)
    return 100 * float(np.mean(drawn < value) + np.mean(drawn == value) / 2)


def _printed(number: Number, value: float) -> str:
    return f"{value:.{number.digits}f}"
