"""JSON and CSV text: what readers agree on is read, and the rest is refused with its line."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.strict import TextError, strict_csv, strict_json, utf8

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip
CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(VALUES, st.sampled_from([None, 2]))
def test_what_json_can_hold_is_read_as_it_was_written(value: Any, indent: int | None) -> None:
    assert strict_json(json.dumps(value, indent=indent)) == value


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('[{"a": 1},\n{"b"', 2, "cut off"),
        ("\n", 1, "it is empty"),
        ('{"a": 1}\n]', 2, "Extra data"),
        ('{"a": 1,\n\n"b" 2}', 3, "delimiter"),
        ('{"a": 1,\n "b": {"c": 1,\n "c": 2}}', 3, "the key 'c' is there twice"),
        ('{"}": 1, "x": "{",\n "a\\"": {"q": []}, "q": 1,\n "a\\u0022": 2}', 3, "the key"),
        ('{"a": [{"k": 1},\n{"k": 1, "k": 1}]}', 2, "the key 'k'"),
        ('{"a": "\n"}', 1, "control character"),
        ('[1,\n{"a": 1e400}]', 2, "'1e400' is no number that both JSON and a float can hold"),
        ('{"a":\n[-1.5e999]}', 2, "'-1.5e999' is no number"),
        ('["NaN",\nNaN]', 2, "'NaN' is no number"),
        ("\n\nInfinity", 3, "'Infinity' is no number"),
        ('{"-Infinity":\n-Infinity}', 2, "'-Infinity' is no number"),
        ('{"a": 1,\n"b": ' + "1" * 5000 + "}", 2, "4300 digits"),
        ('{"a":\n' + "[" * 200_000, 2, "nested too deeply"),
        ('{"a":\n' + "[" * 20_000 + "}" * 200_000, 2, "nested too deeply"),
        ('\ufeff{"a": 1}', 1, "byte order mark"),
        ('{"a": 1,\n\n}', 1, "nothing between a comma and '}'"),
        ('{"a": [1,\n2 , ], "b": 1}', 2, "nothing between a comma and ']'"),
        ('{"a": 1,\n', 2, "cut off"),
        ('{"a": ",\n}"}', 1, "control character"),
        ('[",]", 1 2]', 1, "delimiter"),
    ],
)
def test_json_that_readers_do_not_agree_on_is_refused_with_its_line(
    text: str, line: int, says: str
) -> None:
    with pytest.raises(TextError, match=says) as caught:
        strict_json(text)
    assert caught.value.line == line


@given(st.text(st.characters(exclude_categories=["Cs"])), st.binary())
def test_bytes_are_read_as_utf8_and_nothing_else(text: str, data: bytes) -> None:
    assert utf8(text.encode()) == text
    wrong = text.encode() + b"\n\xff" + data
    with pytest.raises(TextError, match="byte 0xff is not UTF-8 text") as caught:
        utf8(wrong)
    assert caught.value.line == text.count("\n") + 2


def test_the_line_of_a_text_of_nothing_but_brackets_is_sought_in_little_memory() -> None:
    text = "[" * 2_000_000
    tracemalloc.start()
    try:
        with pytest.raises(TextError, match="nested too deeply"):
            strict_json(text)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def test_an_object_of_very_many_keys_is_searched_once_for_a_repeated_one() -> None:
    keys = [*map(str, range(200_000)), "199999"]  # two by two it would take an hour
    with pytest.raises(TextError, match="'199999'"):
        strict_json("{" + ", ".join(f'"{key}": 0' for key in keys) + "}")


@given(st.lists(CELLS, min_size=2, max_size=3, unique=True), st.data())
def test_what_csv_can_hold_is_read_as_it_was_written(columns: list[str], data: Any) -> None:
    rows = data.draw(st.lists(st.tuples(*(CELLS for _ in columns)), max_size=3))
    quoted = [
        ",".join('"{}"'.format(cell.replace('"', '""')) for cell in row) for row in [columns, *rows]
    ]
    read = strict_csv("\n".join(quoted))
    assert [tuple(row.items()) for _, row in read] == [tuple(zip(columns, r)) for r in rows]  # noqa: B905
    assert [line for line, _ in read] == [
        1 + "\n".join(quoted[:i]).count("\n") + 1 for i in range(1, len(quoted))
    ] or any(set(cell) & {"\r", "\n"} for row in [columns, *rows] for cell in row)


def test_a_mark_line_ends_and_blank_lines_at_the_end_do_not_count() -> None:
    rows = [(2, {"a": "1", "b": ""}), (3, {"a": "x\r\ny", "b": "2"}), (5, {"a": "3", "b": "4"})]
    assert strict_csv('\ufeffa,b\r\n1,\r\n"x\r\ny",2\r\n3,4\r\n\r\n') == rows


def test_a_long_cell_is_read_and_the_limit_of_the_process_is_as_before() -> None:
    import csv

    limit = csv.field_size_limit()
    assert strict_csv("a\n" + "x" * 200_000)[0][1]["a"] == "x" * 200_000
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "there is no header"),
        ("\na,b\n", 1, "there is no header"),
        ("a,b,a\n1,2,3\n", 1, "a column twice"),
        ("a,b\n1,2\n3\n", 3, "1 fields under 2 columns, as if cut off"),
        ('a,b\n"1\n1",2\n3,4,5\n', 4, "3 fields under 2 columns$"),
        ("a,b\n1,2\n\n3,4\n", 3, "0 fields under 2 columns"),
        ('a,b\n1,"2"x\n', 2, "',' expected after"),
        ('a,b\n1,"2\n', 2, "end of data"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(TextError, match=says) as caught:
        strict_csv(text)
    assert caught.value.line == line
