from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from evalkit.forms import canonical, declare, has_form
from evalkit.statediff import state_diff
from evalkit.values import MAX_DEPTH, MISSING, StateError, check_value, same, show, show_apart

NOON = datetime(2026, 3, 1, 12)
# No two of these are the same, though Python's == takes many pairs of them for equal.
DISTINCT = [
    None, False, True, 0, 1, 0.0, -0.0, 1.0, float("nan"), float("inf"), "", "0", "1", "True", b"", b"1",
    Decimal("1"), Decimal("1.0"), Decimal("0"), Decimal("NaN"), 10**28, 10**28 + 1, 1e28, [], {}, (),
    [1], [True], [1.0], (1,), {"a": 1}, {"a": True}, {"a": None}, {1: "a"}, {"1": "a"}, {True: "a"},
    {1.0: "a"}, [[1]], [[True]], date(2026, 3, 1), NOON, NOON.replace(tzinfo=UTC),
    NOON.replace(tzinfo=timezone(timedelta(hours=1))), NOON.replace(fold=1), time(12),
    time(12, tzinfo=UTC), timedelta(0), timedelta(hours=12), UUID(int=1), "é", "e\u0301", "null",
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(DISTINCT)))
def test_a_value_is_the_same_as_itself_and_as_no_other(i: int) -> None:
    a = DISTINCT[i]
    copy = check_value(a)
    assert same(a, copy)
    assert canonical(a) == canonical(copy)
    for j, b in enumerate(DISTINCT):
        if i != j:
            assert not same(a, b), (a, b)
            assert canonical(a) != canonical(b), (a, b)
            assert not same([a], [b])
            assert not same({"x": a}, {"x": b})


def test_nan_is_nan_whether_one_object_or_two() -> None:
    one = float("nan")
    assert same(one, one)
    assert same(one, float("nan"))
    assert same([float("nan")], [float("nan")])


NUMBERS = [33, 33.0, "33", "33.0", "33.00", "+33", "3.3e1", Decimal("33.000"), "0033"]


def test_a_declared_number_has_one_form_however_it_is_written() -> None:
    forms = declare({"n": "number"})
    assert len({canonical(x, ("n",), forms) for x in NUMBERS}) == 1
    assert len({canonical(x, ("n",), forms) for x in (0, -0.0, "0.0", "-0", Decimal("0E+5"))}) == 1
    assert canonical(0.1, ("n",), forms) == canonical("0.1", ("n",), forms)


@pytest.mark.parametrize(
    "other",
    [
        True,
        None,
        "33,0",
        "3 3",
        "33.01",
        34,
        "٣٣",
        "33\n",
        " 33",
        "1e9999999999",
        b"33",
        [33],
        "NaN",
    ],
)
def test_what_is_not_that_number_keeps_another_form(other: object) -> None:
    forms = declare({"n": "number"})
    assert canonical(33, ("n",), forms) != canonical(other, ("n",), forms)


def test_neighbouring_huge_numbers_differ_under_the_number_form() -> None:
    forms = declare({"n": "number"})
    assert canonical(10**40, ("n",), forms) != canonical(10**40 + 1, ("n",), forms)
    assert canonical(10**40, ("n",), forms) == canonical("1e40", ("n",), forms)


def test_an_instant_is_one_moment_in_any_zone_and_never_one_without_a_zone() -> None:
    forms = declare({"t": "instant"})

    def form(x: object) -> object:
        return canonical(x, ("t",), forms)

    assert form("2026-03-01T12:00:00Z") == form("2026-03-01T13:00:00+01:00")
    assert form("2026-03-01T12:00:00Z") == form(NOON.replace(tzinfo=UTC))
    assert form("2026-03-01T12:00:00") == form(NOON)
    assert form("2026-03-01T12:00:00") != form("2026-03-01T12:00:00Z")
    assert form("2026-03-01") != form("2026-03-01T00:00:00")
    assert form("0001-01-01T00:00:00+10:00") != form("0001-01-01T00:00:00")
    assert not has_form("2026-03-01", "instant")


def test_text_forms_ignore_only_what_they_name() -> None:
    forms = declare({"a": "spaces", "b": "caseless", "c": ["spaces", "caseless"]})
    assert canonical(" two\t words\n", ("a",), forms) == canonical("two words", ("a",), forms)
    assert canonical("Two", ("a",), forms) != canonical("two", ("a",), forms)
    assert canonical("STRASSE", ("b",), forms) == canonical("Straße", ("b",), forms)
    assert canonical("ΟΔΟΣ", ("b",), forms) == canonical("οδος", ("b",), forms)
    assert canonical("Å", ("b",), forms) == canonical("å", ("b",), forms)
    for other, text in (("ﬁx", "fix"), ("ſix", "six"), ("5 \u212a", "5 k"), ("ﬆop", "stop")):
        assert canonical(other, ("b",), forms) != canonical(text, ("b",), forms)
    assert canonical(" A  b", ("c",), forms) == canonical("a B ", ("c",), forms)


def test_a_multiset_counts_and_a_set_does_not() -> None:
    forms = declare({"m": "multiset", "s": "set"})
    assert canonical([1, 2, 1], ("m",), forms) == canonical([1, 1, 2], ("m",), forms)
    assert canonical([1, 2, 1], ("m",), forms) != canonical([1, 2], ("m",), forms)
    assert canonical([1, 2, 1], ("s",), forms) == canonical([2, 1], ("s",), forms)
    assert canonical([1], ("s",), forms) != canonical([True], ("s",), forms)


def test_forms_reach_into_the_items_of_a_list() -> None:
    forms = declare({"pay": "multiset", "pay/*/amount": "number"})
    a = [{"id": "x", "amount": 1}, {"id": "y", "amount": 2}]
    b = [{"id": "y", "amount": "2.0"}, {"id": "x", "amount": 1.0}]
    assert canonical(a, ("pay",), forms) == canonical(b, ("pay",), forms)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{"sku": 1}, {"sku": 1}], "two items have one key, sku = 1"),
        ([{"sku": 1}, {"sku": True}], "two items have one key, sku = True"),
        ([{"sku": 1}, {}], "item 1 has no field 'sku'"),
        ([{"sku": float("nan")}], "item 0 has nan as its 'sku', which is no key"),
        ([{"sku": Decimal("sNaN")}], r"item 0 has Decimal\('sNaN'\) as its 'sku', which is no key"),
        ([{"sku": 1}, 5], "item 1 has no field 'sku'"),
        ([{"sku": []}], r"item 0 has \[\] as its 'sku', which is no key"),
    ],
)
def test_keys_that_become_one_are_an_error(items: list, message: str) -> None:
    with pytest.raises(StateError, match="items: " + message):
        canonical({"items": items}, (), declare({"items": "keyed by sku"}))


def test_keys_that_become_one_under_their_form_are_an_error() -> None:
    forms = declare({"items": "keyed by sku", "items/*/sku": "number"})
    with pytest.raises(StateError, match="two items have one key"):
        canonical([{"sku": 1}, {"sku": "1.0"}], ("items",), forms)


def test_keys_that_are_one_under_their_form_find_each_other() -> None:
    old, new = {"items": [{"sku": "7.0", "n": 1}]}, {"items": [{"sku": 7, "n": 2}]}
    forms = {"items": "keyed by sku", "items/*/sku": "number"}
    assert state_diff(old, new, forms).changed == {("items", 7, "n"): (1, 2)}
    forms["items/*/sku"] = "caseless"
    assert not state_diff({"items": [{"sku": "A"}]}, {"items": [{"sku": "a"}]}, forms)


def test_two_patterns_that_declare_one_list_in_two_ways_are_an_error() -> None:
    forms = declare({"t/*": "set", "t/a": "multiset"})
    with pytest.raises(ValueError, match="t/a: patterns declare it multiset and set; choose one"):
        canonical([1], ("t", "a"), forms)


def test_a_number_is_finite_and_an_instant_is_written_as_one() -> None:
    assert has_form("1e3", "number")
    assert not has_form(float("nan"), "number")
    assert not has_form("2026-03-01\n12:00:00", "instant")


def test_values_that_look_alike_are_shown_where_they_differ() -> None:
    assert show_apart("caf\u00e9", "cafe\u0301") == (
        "at character 3: '\\xe9'",
        "at character 3: 'e\\u0301'",
    )
    assert show_apart(1, 1.0) == ("1", "1.0")
    assert show_apart("same", "same") == ("'same'", "'same'")


def test_an_unknown_form_is_named_with_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"forms\['a/b'\]: unknown form 'numeric'; known are number"
    ):
        declare({"a/b": "numeric"})
    with pytest.raises(ValueError, match="two kinds of list"):
        declare({"a": ["set", "multiset"]})


class Liar:
    """Equal to everything, with a hash to match."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("x")


class LyingText(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


CYCLE: list = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": Liar()}, "a: a Liar is not a supported value"),
        (
            {"a": [LyingText("x")]},
            "a/0: a LyingText is not a supported value; convert it to a plain str",
        ),
        ({LyingText("x"): 1}, "LyingText .*as a key"),
        ({"a": {1, 2}}, "a: a set is not a supported value; use a list"),
        ({"a": np.float64(1)}, r"a: a float64 is not a supported value; convert it with .item\(\)"),
        ({"a": np.array([1])}, r"a: a ndarray .*\.tolist\(\)"),
        ({"a": CYCLE}, f"nested deeper than {MAX_DEPTH} levels"),
        ({("a", ("b", "c")): 1}, "as a key"),
        ({"a": 1j}, "a: a complex is not"),
        ({"a": object}, "a: a type is not"),
    ],
)
def test_an_unsupported_value_is_refused_with_its_path(value: object, message: str) -> None:
    with pytest.raises(StateError, match=message):
        check_value(value)


def test_a_lying_equality_is_never_asked() -> None:
    with pytest.raises(StateError):
        same(Liar(), Liar())
    assert not same(LyingText("x"), "y")
    assert not same(Liar(), 1)


def test_a_copy_shares_nothing_that_can_change() -> None:
    live = {"o": {"items": [1, {"n": []}]}}
    copy = check_value(live)
    live["o"]["items"][1]["n"].append(2)  # type: ignore[index]
    assert copy == {"o": {"items": [1, {"n": []}]}}


def test_a_part_that_stands_in_many_places_is_copied_once_and_counted_each_time() -> None:
    row = {"n": [1, 2]}
    copy = check_value(dict.fromkeys(range(1000), row))
    assert copy == dict.fromkeys(range(1000), row)
    assert copy[0] is not row
    assert copy[0]["n"] is not row["n"]
    bomb: list = ["x"]
    for _ in range(60):
        bomb = [bomb, bomb]
    with pytest.raises(
        StateError, match="^a/b/0/0/0/0: the same lists or mappings stand in it too often"
    ):
        check_value({"a": {"b": bomb}})
    with pytest.raises(StateError, match="the same lists or mappings"):
        check_value([[[0] * 2**19] * 10])


class Zone(tzinfo):
    """A zone that can be moved."""

    offset: timedelta | None = timedelta(hours=1)

    def utcoffset(self, when: datetime | None) -> timedelta | None:
        return self.offset if self.offset != timedelta(0) else timedelta(days=2)

    def dst(self, when: datetime | None) -> None:
        return None


def test_a_zone_is_its_offset_when_the_copy_is_made() -> None:
    zone = Zone()
    noon = datetime(2026, 3, 1, 12, tzinfo=zone)
    copy = check_value(noon)
    assert same(copy, noon)
    zone.offset = timedelta(hours=2)
    assert not same(copy, noon)
    zone.offset = None
    assert check_value(noon) == datetime(2026, 3, 1, 12)
    zone.offset = timedelta(0)
    for read in (lambda: check_value({"at": noon}), lambda: same(noon, noon.replace(year=2027))):
        with pytest.raises(StateError, match="the zone of a datetime cannot be read"):
            read()
    berlin = datetime(2026, 3, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    assert same(check_value(berlin), berlin)
    assert check_value(time(12, tzinfo=berlin.tzinfo)) == time(12)


def test_show_never_raises() -> None:
    assert show(10**5000) == "an int too large to show"
    assert show(CYCLE)
    assert len(show("x" * 1000)) == 60
    assert show(MISSING) == "nothing"
