"""The scoreboards in closed form: what each grader gives on average, and where the ranking flips."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

ACTIONS = (6, 7)  # of an episode on the store that ships: both numbers are equally likely


def untouched(write: ArrayLike, actions: Sequence[int] = ACTIONS) -> NDArray[np.float64]:
    """Probability that an episode makes no unintended write: the mean of (1 - w)^N.

    Parameters
    ----------
    write
        Probability w that an action brings an unintended write.
    actions
        The numbers N of actions that an episode may have, all equally likely.

    Returns
    -------
    ndarray
        Of the shape of `write`.

    Examples
    --------
    >>> (1 - untouched([0.004, 0.06])).round(4).tolist()
    [0.0257, 0.3308]
    """
    clean = 1 - np.asarray(write, dtype=float)
    return np.mean(clean[..., None] ** np.asarray(actions), axis=-1)


def expected(
    edit: ArrayLike,
    write: ArrayLike,
    claim_unfinished: ArrayLike,
    edits: int = 4,
    actions: Sequence[int] = ACTIONS,
) -> dict[str, NDArray[np.float64]]:
    """The expected score of an agent under each grader.

    With e the probability that an edit is right, m edits, w the probability that an action brings
    an unintended write, and c that of claiming unfinished work, the own report is
    e^m + (1 - e^m) c, partial credit is e, targets only e^m, and the full diff e^m times the mean
    of (1 - w)^N.

    Parameters
    ----------
    edit, write, claim_unfinished
        The rates e, w and c; arrays broadcast.
    edits
        How many edits the task requires, m.
    actions
        The numbers N of actions that an episode may have, all equally likely.

    Returns
    -------
    dict of ndarray
        Probabilities, for each of the graders and for ``collateral``.

    Examples
    --------
    >>> {name: float(value.round(3)) for name, value in expected(0.86, 0.004, 0.10).items()}
    {'own report': 0.592, 'partial credit': 0.86, 'targets only': 0.547, 'full diff': 0.533, 'collateral': 0.026}
    """
    e, w, c = np.broadcast_arrays(
        *(np.asarray(rate, float) for rate in (edit, write, claim_unfinished))
    )
    finished, clean = e**edits, untouched(w, actions)
    return {
        "own report": finished + (1 - finished) * c,
        "partial credit": e,
        "targets only": finished,
        "full diff": finished * clean,
        "collateral": 1 - clean,
    }


def break_even_edit(
    write: ArrayLike,
    rival_edit: float,
    rival_write: float,
    edits: int = 4,
    actions: Sequence[int] = ACTIONS,
) -> NDArray[np.float64]:
    """The edit accuracy at which the full diff ranks an agent equal to its rival.

    Better accuracy than this ranks it first. It is e' (G(w') / G(w))^(1/m), where G is `untouched`
    and a prime marks the rival.

    Parameters
    ----------
    write
        The agent's rate of unintended writes, w.
    rival_edit, rival_write
        The rival's rates, e' and w'.
    edits, actions
        As `expected` takes them.

    Returns
    -------
    ndarray
        Of the shape of `write`; NaN where no accuracy makes up for the writes.

    Examples
    --------
    >>> break_even_edit([0.004, 0.06, 0.2], 0.86, 0.004).round(3).tolist()
    [0.86, 0.945, nan]
    """
    clean = untouched(write, actions)
    with np.errstate(divide="ignore"):  # an agent that always strays needs endless accuracy
        edit = rival_edit * (untouched(rival_write, actions) / clean) ** (1 / edits)
    return np.where(edit <= 1, edit, np.nan)


def break_even_write(
    edit: float,
    rival_edit: float,
    rival_write: float,
    edits: int = 4,
    actions: Sequence[int] = ACTIONS,
) -> float:
    """The rate of unintended writes at which the full diff ranks an agent equal to its rival.

    More than this ranks it second. It is where e^m G(w) = e'^m G(w'), with G as `untouched`.

    Parameters
    ----------
    edit
        The agent's edit accuracy, e.
    rival_edit, rival_write
        The rival's rates, e' and w'.
    edits, actions
        As `expected` takes them.

    Returns
    -------
    float
        NaN where the agent is second even if it never strays.

    Examples
    --------
    >>> round(break_even_write(0.93, 0.86, 0.004), 4)
    0.0509
    """
    rival = rival_edit**edits * untouched(rival_write, actions)
    if edit**edits < rival:
        return float("nan")
    return float(brentq(lambda w: edit**edits * untouched(w, actions) - rival, 0.0, 1.0))
