"""A pandas data frame as a table of a state.

The index labels are the keys. NumPy scalars and pandas times become Python values; ``pd.NA``,
``NaT``, and whatever is missing from a text or categorical column become None; NaN stays NaN.
"""

from __future__ import annotations

import sys
from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeGuard

from evalkit.statediff import State
from evalkit.values import StateError, is_key

if TYPE_CHECKING:
    import pandas as pd


def is_frame(value: Any) -> TypeGuard[pd.DataFrame]:
    pandas = sys.modules.get("pandas")  # nobody can hold a frame before pandas is imported
    return pandas is not None and issubclass(type(value), pandas.DataFrame)


def frame_rows(frame: pd.DataFrame, name: str) -> State:
    """The rows of a data frame by index label."""
    import pandas as pd

    labels = [_python(label, f"{name}, index") for label in frame.index]
    columns = [_python(label, f"{name}, columns") for label in frame.columns]
    _check_unique(labels, f"{name}, index", "set_index(...) or reset_index(drop=True)")
    _check_unique(columns, f"{name}, columns", "rename the column")
    rows: State = {label: {} for label in labels}
    for i, column in enumerate(columns):
        series = frame.iloc[:, i]
        values = series.tolist()
        if isinstance(series.dtype, pd.StringDtype | pd.CategoricalDtype):
            gone = series.isna().tolist()
            values = [None if g else v for g, v in zip(gone, values, strict=True)]
        for label, value in zip(labels, values, strict=True):
            rows[label][column] = _python(value, f"{name}, row {label!r}, column {column!r}")
    return rows


def _check_unique(labels: list[Any], where: str, remedy: str) -> None:
    for label in labels:
        parts = label if isinstance(label, tuple) else (label,)
        if any(part is None or part != part for part in parts):
            raise StateError(f"{where}: a label is missing; {remedy}")
        if not is_key(label):
            raise StateError(f"{where}: {label!r} cannot be a key; {remedy}")
    for label, count in Counter(labels).items():
        if count > 1:
            raise StateError(f"{where}: the label {label!r} is there twice; {remedy}")


def _python(value: Any, where: str) -> Any:
    """A NumPy or pandas scalar as the Python value that says exactly the same."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    import numpy as np
    import pandas as pd

    if isinstance(value, tuple):
        return tuple(_python(part, where) for part in value)
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    elif isinstance(value, np.timedelta64):
        value = pd.Timedelta(value)
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, pd.Timestamp | pd.Timedelta):
        return _python_time(value, where)
    if issubclass(type(value), np.generic):  # a subclass may say what it likes
        return np.generic.item(value)
    return value


def _python_time(value: pd.Timestamp | pd.Timedelta, where: str) -> datetime | timedelta:
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise StateError(f"{where}: {value} has nanoseconds, which Python cannot hold; round it")
    try:
        return value.to_pydatetime() if isinstance(value, datetime) else value.to_pytimedelta()
    except (ValueError, OverflowError) as error:
        raise StateError(f"{where}: {value}: {error}") from error
