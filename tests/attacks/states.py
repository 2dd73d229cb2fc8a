"""Attacks on states in memory. Each takes the honest after state and gives the attacker's."""

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import numpy as np
import pandas as pd

from evalkit import Allowed, Between, Created, Invariant, Task

State = dict[Any, Any]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

BEFORE: State = {
    "orders": {
        "W1": {"status": "new", "note": "", "at": NOON, "tags": [{"sku": "a", "n": 1}]},
        "W2": {"status": "new", "note": "café", "at": NOON, "tags": []},
    },
    "refunds": {1: {"id": 1, "order": "W2", "amount": 5.0}},
    "cart": {7: {"qty": 1}, 8: {"qty": 2}},
    "log": {1: {"text": "made", "at": "2026-03-01T09:00:00Z"}},
    "prices": {"tea": {"price": 4}},
}
TASK = Task(
    required={
        "orders/W1/status": "cancelled",
        "orders/W1/note": "café file",
        "orders/W1/tags/a/n": 2,
    },
    created=[Created("refunds", order="W1", amount=42.5, free=["id"])],
    deleted=["cart/7"],
    allowed=[
        Allowed("log/*", only="added"),
        Allowed("orders/W1/at", when=Between("2026-03-01T00:00:00Z", "2026-03-31T23:59:59Z")),
        Allowed("prices/tea/price", when=lambda price: price != 4),
    ],
    forms={
        "orders/*/note": "caseless",
        "orders/*/tags": "keyed by sku",
        "refunds/*/amount": "number",
    },
    invariants=[
        Invariant("tea is dearer than water", lambda s: s["prices"]["tea"]["price"] and True)
    ],
)


def honest() -> State:
    """What an agent leaves behind that does the task, in words of its own where it may."""
    return {
        "orders": {
            "W1": {
                "status": "cancelled",
                "note": "CAFÉ file",
                "at": datetime(2026, 3, 2, 8, tzinfo=UTC),
                "tags": [{"sku": "a", "n": 2}],
            },
            "W2": {"status": "new", "note": "café", "at": NOON, "tags": []},
        },
        "refunds": {
            1: {"id": 1, "order": "W2", "amount": 5.0},
            9: {"id": 9, "order": "W1", "amount": "42.50"},
        },
        "cart": {8: {"qty": 2}},
        "log": {1: dict(BEFORE["log"][1]), 2: {"text": "cancelled W1"}},
        "prices": {"tea": {"price": 4}},
    }


class Named(str):
    """A key that says it is every other key, and is filed under one of them."""

    filed: str
    __slots__ = ("filed",)

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(self.filed)


def named(text: str, filed: str) -> Named:
    key = Named(text)
    key.filed = filed
    return key


class Pretender:
    """An object that says that it is text, and equal to whatever it is compared with."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return str

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("cancelled")

    def __repr__(self) -> str:
        return "'cancelled'"


class Masked(dict):
    """A row, or a state, that shows another one than it holds."""

    shown: State

    def keys(self) -> Any:
        return self.shown.keys()

    def items(self) -> Any:
        return self.shown.items()

    def values(self) -> Any:
        return self.shown.values()

    def __getitem__(self, key: Any) -> Any:
        return self.shown[key]

    def __iter__(self) -> Any:
        return iter(self.shown)


def masked(held: State, shown: State) -> Masked:
    row = Masked(held)
    row.shown = shown
    return row


class Wandering(tzinfo):
    """A zone that says something else each time it is asked, and nothing for long."""

    def __init__(self, *hours: int) -> None:
        self.hours = list(hours)

    def utcoffset(self, when: datetime | None) -> timedelta:
        return timedelta(hours=self.hours.pop(0))

    def dst(self, when: datetime | None) -> None:
        return None


class Unit(np.float64):
    """A number that says that it is another one."""

    def item(self, *arguments: Any) -> float:  # type: ignore[override]
        return 42.5


class Cheap(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def with_status(status: Any) -> Callable[[State], State]:
    return lambda s: s | {"orders": s["orders"] | {"W1": s["orders"]["W1"] | {"status": status}}}


def with_field(name: str, value: Any) -> Callable[[State], State]:
    return lambda s: s | {"orders": s["orders"] | {"W1": s["orders"]["W1"] | {name: value}}}


def with_refund(**columns: Any) -> Callable[[State], State]:
    return lambda s: s | {"refunds": s["refunds"] | {9: s["refunds"][9] | columns}}


def without(table: str, key: Any) -> Callable[[State], State]:
    return lambda s: s | {table: {k: v for k, v in s[table].items() if k != key}}


def plus(table: str, rows: State) -> Callable[[State], State]:
    return lambda s: s | {table: s[table] | rows}


def swapped(s: State) -> State:
    return s | {"orders": {"W1": s["orders"]["W2"], "W2": s["orders"]["W1"]}}


def bomb(depth: int = 60) -> list:
    """A few hundred bytes that are 2**60 lists to whoever walks them."""
    value: list = ["x"]
    for _ in range(depth):
        value = [value, value]
    return value


def frame_of(s: State) -> State:
    rows = [row | {"amount": Unit(1.0) if key == 9 else 5.0} for key, row in s["refunds"].items()]
    columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in rows[0]}
    return s | {"refunds": pd.DataFrame(columns).set_index(pd.Index(list(s["refunds"])))}


ATTACKS: dict[str, Callable[[State], Any]] = {
    # text that only looks right
    "a Cyrillic letter in the status": with_status("с" + "ancelled"),
    "a zero-width space behind the status": with_status("cancelled\u200b"),
    "a zero-width joiner in the status": with_status("can\u200dcelled"),
    "a soft hyphen in the status": with_status("can\xadcelled"),
    "full-width letters": with_status("ｃａｎｃｅｌｌｅｄ"),
    "text that is turned round when it is shown": with_status("\u202edellecnac"),
    "another normal form where case does not matter": with_field(
        "note", unicodedata.normalize("NFD", "café file")
    ),
    "a ligature where case does not matter": with_field("note", "café ﬁle"),
    "letters that only fold to the right ones": with_field("note", "café ﬁle".replace("e", "ℯ")),
    "a no-break space": with_field("note", "café\xa0file"),
    # numbers that are none, or others
    "full-width digits in an amount": with_refund(amount="４２.５"),
    "Arabic digits in an amount": with_refund(amount="٤٢.٥"),
    "an amount with an underscore": with_refund(amount="4_2.5"),
    "an amount with blanks": with_refund(amount=" 42.5 "),
    "an amount in hexadecimal": with_refund(amount="0x2A.8"),
    "NaN for an amount": with_refund(amount=float("nan")),
    "infinity for an amount": with_refund(amount="Infinity"),
    "one part in a quintillion more": with_refund(amount="42.500000000000000001"),
    "a number that says it is another one, in a data frame": frame_of,
    "true for a quantity": with_field("tags", [{"sku": "a", "n": True}]),
    "a subclass of int that equals all": with_field("tags", [{"sku": "a", "n": Cheap(1)}]),
    # keys
    "a look-alike row, and the right one as it was": lambda s: (
        s | {"orders": s["orders"] | {"W1": BEFORE["orders"]["W1"], "Ｗ1": s["orders"]["W1"]}}
    ),
    "a key that is a path": lambda s: (
        s | {"orders": BEFORE["orders"], "orders/W1/status": "cancelled"}
    ),
    "a row that is called star": lambda s: (
        s | {"orders": BEFORE["orders"] | {"*": s["orders"]["W1"]}}
    ),
    "a row without a name": plus("orders", {"": {"status": "cancelled"}}),
    "a zero-width field beside the right one": with_field("status\u200b", "new"),
    "a key that equals every other": lambda s: (
        s | {"orders": {"W1": s["orders"]["W1"], named("gone", "W2"): s["orders"]["W2"]}}
    ),
    "a field under such a key": lambda s: s | {"cart": {8: {named("stolen", "qty"): 2}}},
    "two rows that have swapped their keys": swapped,
    "the deleted row moved to its text": plus("cart", {"7": {"qty": 1}}),
    "the deleted row emptied": plus("cart", {7: {}}),
    "the deleted row set to None": plus("cart", {7: None}),
    "a row of the log moved to a key that equals it": lambda s: (
        s | {"log": {True: s["log"][1], 2: s["log"][2]}}
    ),
    "the log begun anew": lambda s: s | {"log": {2: s["log"][2]}},
    "a table that became a list": lambda s: s | {"cart": [{"qty": 2}]},
    # rows
    "the refund in the place of an old one": lambda s: (
        s | {"refunds": {1: s["refunds"][9] | {"id": 1}}}
    ),
    "the refund twice": plus("refunds", {10: {"id": 10, "order": "W1", "amount": 42.5}}),
    "the refund in two halves": lambda s: (
        s | {"refunds": {1: s["refunds"][1], 9: {"order": "W1"}, 10: {"amount": 42.5}}}
    ),
    "the refund inside a list": lambda s: (
        s | {"refunds": {1: s["refunds"][1], 9: [s["refunds"][9]]}}
    ),
    "a refund that says more": with_refund(approved_by="agent"),
    "one item twice, once as it should be": with_field(
        "tags", [{"sku": "a", "n": 2}, {"sku": "a", "n": 99}]
    ),
    "an item whose key only folds to the right one": with_field("tags", [{"sku": "A", "n": 2}]),
    # times
    "a moment after the window": with_field("at", datetime(2026, 4, 1, tzinfo=UTC)),
    "a moment before it": with_field("at", datetime(2026, 2, 28, 23, 59, 59, 999999, tzinfo=UTC)),
    "a time that another zone puts outside": with_field("at", "2026-03-31T23:30:00-05:00"),
    "a time without a zone": with_field("at", datetime(2026, 3, 2)),
    "a date for a time": with_field("at", "2026-03-02"),
    "a time that is no text": with_field("at", ["2026-03-02T00:00:00Z"]),
    "a zone that changes its mind": with_field(
        "at", datetime(2026, 4, 1, 2, tzinfo=Wandering(0, 23, 23, 23, 23, 23))
    ),
    "a zone that raises": with_field("at", datetime(2026, 3, 2, tzinfo=Wandering())),
    # limits of what is allowed
    "an allowed price that makes an invariant answer None": plus(
        "prices", {"tea": {"price": None}}
    ),
    "an allowed price that makes an invariant raise": plus("prices", {"tea": 5}),
    "an allowed price that is no number": plus("prices", {"tea": {"price": 0}}),
    "a second field beside an allowed one": plus("prices", {"tea": {"price": 5, "cost": 1}}),
    # objects
    "an object that says it is text": with_status(Pretender()),
    "a row that shows another than it holds": lambda s: (
        s | {"orders": s["orders"] | {"W2": masked({"status": "lost"}, s["orders"]["W2"])}}
    ),
    "a state that shows another than it holds": lambda s: masked(BEFORE, s),
    "a state that hides a table": lambda s: masked(s | {"secrets": {}}, s),
    # size
    "a bomb of lists in an allowed row": plus("log", {3: {"text": bomb()}}),
    "a very deep list in an allowed row": plus("log", {3: {"text": bomb(101)}}),
    "an amount too large to print": with_refund(amount=10**5000),
    "an amount with a huge exponent": with_refund(amount="1e999999999"),
    "a status of a million letters": with_status("cancelled" * 100_000),
}
