"""Snapshots of pandas data frames."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from evalkit.snapshots import snapshot
from evalkit.statediff import state_diff
from evalkit.values import StateError, same


def test_pandas_is_imported_only_when_a_frame_is_given() -> None:
    code = (
        "import sys; from evalkit.snapshots import snapshot; snapshot({'a': 1});"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_frame_gives_plain_python_values() -> None:
    moment = datetime(2026, 3, 1, 12, tzinfo=ZoneInfo("Europe/Paris"))
    columns: dict[str, Any] = {
        "whole": np.array([1, 2], dtype=np.int8),
        "real": np.array([0.5, np.nan]),
        "flag": [True, False],
        "nullable": pd.array([1, None], dtype="Int64"),
        "text": pd.array(["a", None], dtype="string"),
        "mixed": pd.Series([1, 1.0], dtype=object),
        "odd": pd.Series([Decimal("1.0"), [1, {"a": None}]], dtype=object),
        "numpy": pd.Series([np.float32(0.5), np.datetime64("2026-03-01", "ns")], dtype=object),
        "numpy_length": pd.Series([np.timedelta64(5 * 10**9, "ns"), np.bool_(True)], dtype=object),
        "naive": pd.to_datetime(["2026-03-01", None]),
        "zoned": pd.Series([moment, None], dtype="datetime64[us, Europe/Paris]"),
        "length": pd.to_timedelta(["1s", None]),
        "category": pd.Categorical(["x", None]),
    }
    frame = pd.DataFrame(columns)
    state = snapshot(frame)
    expected = {
        0: {
            "whole": 1,
            "real": 0.5,
            "flag": True,
            "nullable": 1,
            "text": "a",
            "mixed": 1,
            "odd": Decimal("1.0"),
            "numpy": 0.5,
            "numpy_length": timedelta(seconds=5),
            "naive": datetime(2026, 3, 1),
            "zoned": moment,
            "length": timedelta(seconds=1),
            "category": "x",
        },
        1: {
            "whole": 2,
            "real": float("nan"),
            "flag": False,
            "nullable": None,
            "text": None,
            "mixed": 1.0,
            "odd": [1, {"a": None}],
            "numpy": datetime(2026, 3, 1),
            "numpy_length": True,
            "naive": None,
            "zoned": None,
            "length": None,
            "category": None,
        },
    }
    assert same(state, expected), state_diff(expected, state)


def test_a_frame_is_copied_to_the_bottom() -> None:
    frame = pd.DataFrame({"items": [[1]], "n": [1]}, index=["W1"])
    before = snapshot({"orders": frame})
    frame.loc["W1", "items"].append(2)  # type: ignore[union-attr]
    frame.loc["W1", "n"] = 2
    after = snapshot({"orders": frame})
    found = [change.path for change in state_diff(before, after)]
    assert found == [("orders", "W1", "items"), ("orders", "W1", "n")]


def test_the_index_of_a_frame_is_the_key_of_its_rows() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [3, 4]})
    assert snapshot(frame.set_index(["b", "a"])) == {("x", 1): {"c": 3}, ("y", 2): {"c": 4}}
    days = pd.to_datetime(["2026-03-01", "2026-03-02"]).tz_localize("UTC")
    expected = {datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2)}
    assert set(snapshot(frame.set_index(days))) == expected
    [key, _] = snapshot(frame.set_index([days, "a"]))
    assert list(map(type, key)) == [datetime, int]
    assert snapshot(frame[[]]) == {0: {}, 1: {}}
    assert snapshot(frame[:0]) == {}


REFUSED = {
    "index: the label 1 is there twice; set_index": pd.DataFrame({"a": [1, 2]}, index=[1, 1]),
    "index: the label 1 is there twice;": pd.DataFrame(
        {"a": [1, 2]}, index=pd.Index([1, True], dtype=object)
    ),
    r"index: \[1\] cannot be a key": pd.DataFrame({"a": [1]}, index=pd.Series([[1]])),
    "index: a label is missing": pd.DataFrame({"a": [1, 2]}, index=[1, None]),
    "index: a label is .*missing": pd.DataFrame({"a": [1]}, index=pd.Index([None], dtype=object)),
    "index: a label is missing;": pd.DataFrame(
        {"a": [1]}, index=pd.MultiIndex.from_tuples([(1, None)])
    ),
    "columns: the label 'a' is there twice; rename": pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "row 0, column 'a': .* nanoseconds": pd.DataFrame({"a": [pd.Timestamp(1)]}),
    "row 0, column 'b': .* nanoseconds": pd.DataFrame({"b": [pd.Timedelta(1)]}),
    "row 0, column 'c': .* year 20000": pd.DataFrame(
        {"c": np.array(["20000-01-01"], dtype="datetime64[s]")}
    ),
    "0/a: a Period is not a supported value": pd.DataFrame({"a": [pd.Period("2026")]}),
    "0/a: a complex is not a supported value": pd.DataFrame({"a": [1j]}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_frame_that_would_lose_something_is_refused(reason: str) -> None:
    with pytest.raises(StateError, match=reason):
        snapshot(REFUSED[reason])
    if "/" not in reason:
        with pytest.raises(StateError, match=f"'orders', {reason}"):
            snapshot({"orders": REFUSED[reason]})


def test_an_object_that_says_it_is_a_number_is_asked_what_it_holds() -> None:
    class Unit(np.float64):
        def item(self, *arguments: object) -> float:  # type: ignore[override]
            return 1.0

    class Pretender:
        __class__ = np.float64  # type: ignore[assignment]

    frame = pd.DataFrame({"x": pd.Series([Unit(2.5)], dtype=object)})
    assert snapshot({"t": frame}) == {"t": {0: {"x": 2.5}}}
    with pytest.raises(StateError, match="a Pretender is not a supported value"):
        snapshot({"t": pd.DataFrame({"x": pd.Series([Pretender()], dtype=object)})})
