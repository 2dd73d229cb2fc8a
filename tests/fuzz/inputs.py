"""Strategies for inputs that are nearly right: valid samples, altered in a few places."""

import copy
import csv
import gzip
import io
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

DEEP: Any = 0
for _ in range(120):
    DEEP = [DEEP]
ODD: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        0.5,
        -0.0,
        1e308,
        10**30,
        10**400,
        float("nan"),
        float("inf"),
    ),
    *("", "a", "0", "1", "nan", "*", "a/b", "\ud800", "\u200b", "x" * 300, "2026-03-01T12:00:00Z"),
    *([], {}, [[]], {"": {}}, [None], [{}], {"a": 1}, DEEP),
]
TOKENS = [b"", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"\0", b"\xff", b"\\", b"0"]
TOKENS += [
    b"-",
    b"1e999",
    b"NaN",
    b"null",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b'"task":1,',
    b"PAR1",
    b"PK",
]


def altered(value: Any, draw: st.DrawFn) -> Any:
    """A value with one part of it replaced, doubled, taken away, renamed or moved."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 5)) == 0:
        return copy.deepcopy(draw(st.sampled_from(ODD)))
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, other = draw(st.sampled_from(keys)), draw(st.sampled_from(keys))
    what = draw(st.sampled_from(["go on", "go on", "go on", "double", "drop", "rename", "move"]))
    if what == "drop":
        del value[key]
    elif what == "double" and isinstance(value, list):
        value.append(copy.deepcopy(value[key]))
    elif what == "rename" and isinstance(value, dict):
        value[draw(st.sampled_from(["", "$dict", "$tuple", "x", other]))] = value.pop(key)
    elif what == "move":
        value[key] = copy.deepcopy(value[other])
    else:
        value[key] = altered(value[key], draw)
    return value


@st.composite
def alterations(draw: st.DrawFn, samples: Sequence[Any]) -> Any:
    """One of the samples of plain data, with up to four alterations."""
    value = copy.deepcopy(draw(st.sampled_from(samples)))
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 4]))):
        value = altered(value, draw)
    return value


def edited(data: bytes, draw: st.DrawFn, most: int = 3) -> bytes:
    """Bytes with a few of them replaced by a token, or cut off."""
    for _ in range(draw(st.integers(0, most))):
        at = draw(st.integers(0, len(data)))
        end = at + draw(st.sampled_from([0, 0, 1, 1, 2, 10, len(data)]))
        data = data[:at] + draw(st.sampled_from(TOKENS)) + data[end:]
    return data


@st.composite
def json_files(draw: st.DrawFn, samples: Sequence[Any], lines: bool = False) -> bytes:
    """A sample as JSON, or a line for each item of it, altered as data and then as text."""
    value = draw(alterations(samples))
    if lines and isinstance(value, list):
        text = "".join(json.dumps(item) + "\n" for item in value)
    else:
        text = json.dumps(value, indent=draw(st.sampled_from([None, 1])))
    return packed(text.encode(), draw)


@st.composite
def csv_files(draw: st.DrawFn, samples: Sequence[list[list[Any]]]) -> bytes:
    """The rows of a sample as CSV, altered as data and then as text."""
    rows = draw(alterations(samples))
    text = io.StringIO(newline="")
    for row in rows if isinstance(rows, list) else [rows]:
        csv.writer(text).writerow(row if isinstance(row, list) else [row])
    return packed(text.getvalue().encode("utf-8", "surrogatepass"), draw)


def packed(data: bytes, draw: st.DrawFn) -> bytes:
    """Bytes as they are, edited, or edited before or after they are packed."""
    how = draw(st.sampled_from([*["plain"] * 6, "edited", "edited", "packed", "broken"]))
    if how == "plain":
        return data
    data = edited(data, draw)
    if how == "edited":
        return data
    data = gzip.compress(data, 1, mtime=0)
    return data if how == "packed" else edited(data, draw)
