"""Chapter 04: what a task lets through, and what it fails wrongly, on twelve endings of one episode."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evalkit.course.figures import COLOURS, INK, label, mark, new_axes
from evalkit.course.panels import Panel, View, choice
from evalkit.grading import grade
from evalkit.statediff import State, state_diff
from evalkit.tasks import Allowed, Created, Task

BEFORE: State = {
    "orders": {
        "W1": {
            "status": "open",
            "tags": ["gift", "fragile", "gift"],
            "updated_at": "2026-03-01T09:00:00Z",
        },
        "W2": {"status": "open", "tags": [], "updated_at": "2026-03-01T09:00:00Z"},
        "W3": {"status": "sent", "tags": [], "updated_at": "2026-03-01T09:00:00Z"},
    },
    "refunds": {1: {"order": "W3", "amount": "5.00"}},
    "log": {1: {"line": "W3 refunded"}},
}


def _job_done() -> State:
    state = copy.deepcopy(BEFORE)
    state["orders"]["W1"] |= {"status": "cancelled", "updated_at": "2026-03-02T10:00:00Z"}
    state["refunds"][2] = {"order": "W1", "amount": "42.50"}
    state["log"][2] = {"line": "W1 cancelled, refunded"}
    return state


def _then(change: Callable[[State], Any]) -> State:
    state = _job_done()
    change(state)
    return state


#: Name of an ending, whether it should pass, and the state that it leaves.
ENDINGS: tuple[tuple[str, bool, State], ...] = (
    ("the job, and nothing else", True, _job_done()),
    ("the amount written 42.5", True, _then(lambda s: s["refunds"][2].update(amount="42.5"))),
    (
        "the tags in another order",
        True,
        _then(lambda s: s["orders"]["W1"].update(tags=["fragile", "gift", "gift"])),
    ),
    ("another amount", False, _then(lambda s: s["refunds"][2].update(amount="425.0"))),
    ("a tag lost", False, _then(lambda s: s["orders"]["W1"].update(tags=["gift", "fragile"]))),
    (
        "the refund paid twice",
        False,
        _then(lambda s: s["refunds"].update({3: dict(s["refunds"][2])})),
    ),
    (
        "the time stamp is not a time",
        False,
        _then(lambda s: s["orders"]["W1"].update(updated_at="-")),
    ),
    (
        "another order touched",
        False,
        _then(lambda s: s["orders"]["W2"].update(updated_at="2026-03-02T10:00:00Z")),
    ),
    (
        "another order cancelled",
        False,
        _then(lambda s: s["orders"]["W2"].update(status="cancelled")),
    ),
    ("another order deleted", False, _then(lambda s: s["orders"].pop("W2"))),
    ("a log line rewritten", False, _then(lambda s: s["log"][1].update(line="-"))),
    ("nothing done", False, copy.deepcopy(BEFORE)),
)

ORDERS: dict[str, list[Allowed]] = {
    "its time stamp, if it is a time": [Allowed("orders/W1/updated_at", when="instant")],
    "its time stamp": [Allowed("orders/W1/updated_at")],
    "time stamps of all orders": [Allowed("orders/*/updated_at")],
    "the whole orders table": [Allowed("orders", whole=True)],
}
LOG: dict[str, list[Allowed]] = {
    "new lines": [Allowed("log/*", only="added")],
    "the whole log": [Allowed("log", whole=True)],
    "nothing": [],
}
AMOUNT = {"as a number": "number", "as stored": ""}
TAGS = {"as a multiset": "multiset", "as a set": "set", "as stored": ""}


#: Name of a form to two values; a list of rows is keyed by a field of theirs.
FORMS: dict[str, tuple[Any, Any]] = {
    "number": ("42.50", "42.5"),
    "instant": ("2026-01-05T10:00Z", "2026-01-05T11:00+01:00"),
    "caseless": ("Ada", "ADA"),
    "spaces": ("Ada  Okafor", " Ada Okafor"),
    "sequence": (["a", "b"], ["b", "a"]),
    "multiset": (["a", "b", "a"], ["b", "a", "a"]),
    "set": (["a", "b", "a"], ["a", "b"]),
    "keyed by sku": ([{"sku": 1}, {"sku": 2}], [{"sku": 2}, {"sku": 1}]),
}


def forms_table() -> pd.DataFrame:
    """One row a form: two values that are not the same as stored, and whether the form says so."""
    rows = [
        (form, repr(one), repr(other), not state_diff({"f": one}, {"f": other}, {"f": form}))
        for form, (one, other) in FORMS.items()
    ]
    return pd.DataFrame(rows, columns=["form", "one value", "another", "the same"])


def task(orders: str, log: str, amount: str, tags: str) -> Task:
    """The task that the panel's controls state."""
    allowed = [*ORDERS[orders], *LOG[log]]
    forms = {"refunds/*/amount": AMOUNT[amount], "orders/*/tags": TAGS[tags]}
    # A status that a whole allowed table covers cannot be required as well.
    covered = orders == "the whole orders table"
    return Task(
        required={} if covered else {"orders/W1/status": "cancelled"},
        created=[Created("refunds", order="W1", amount="42.50")],
        allowed=allowed,
        forms={path: form for path, form in forms.items() if form},
    )


def verdicts(stated: Task) -> pd.DataFrame:
    """One row an ending: what it should get, what it gets, and whether that is right."""
    rows = []
    for name, should_pass, after in ENDINGS:
        passed = grade(BEFORE, after, stated).passed
        rows.append((name, should_pass, passed, passed == should_pass))
    return pd.DataFrame(rows, columns=["ending", "should pass", "passes", "right"])


def draw_verdicts(figure: Figure, orders: str, log: str, amount: str, tags: str) -> View:
    """The verdict on each ending: a ring for a pass, a cross for a fail, a box if it is wrong."""
    stated = task(orders, log, amount, tags)
    table = verdicts(stated)
    axes = new_axes(figure, x="", y="")
    figure.subplots_adjust(left=0.33, right=0.98, top=0.9, bottom=0.04)
    axes.set_yticks(range(len(table)), list(table["ending"]))
    axes.set_xticks([0, 1], ["fails", "passes"], fontsize=10)
    axes.xaxis.tick_top()
    axes.set_xlim(-0.4, 2.3)
    axes.set_ylim(len(table) - 0.5, -0.5)
    for i, (passed, right) in enumerate(zip(table["passes"], table["right"], strict=True)):
        mark(axes, int(passed), i, passed, wrong=not right)
        if not right:
            word = "passes wrongly" if passed else "fails wrongly"
            label(axes, int(passed) + 0.14, i, word, COLOURS["failure"], fontsize=9)
    _split(axes, int(table["should pass"].sum()), len(table))
    escaped = int((~table["should pass"] & table["passes"]).sum())
    alarms = int((table["should pass"] & ~table["passes"]).sum())
    share = grade(BEFORE, BEFORE, stated).allowed_share
    finding = (
        f"{escaped} of 9 harmful endings pass and {alarms} of 3 harmless endings fail; "
        f"what is allowed covers {share:.0%} of the state."
    )
    shown = table.replace({True: "yes", False: "no"})
    return View(shown, finding)


def _split(axes: Axes, good: int, number: int) -> None:
    """Set the endings that should pass apart from the others."""
    axes.axhline(good - 0.5, color=INK, linewidth=0.8)
    for text, middle in (("should pass", good / 2), ("should fail", (good + number) / 2)):
        label(axes, 2.22, middle - 0.5, text, rotation=90, ha="center", fontsize=9)
    axes.tick_params(length=0, colors=INK)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def draw_width(figure: Figure, table: pd.DataFrame) -> None:
    """Harmful endings that pass, against the share of the state that allowed changes cover."""
    axes = new_axes(
        figure, x="share of the state that may change (%)", y="harmful endings that pass (of 9)"
    )
    axes.plot(table["covered %"], table["harmful passing"], "o-", color=COLOURS["failure"])
    for _, row in table.iterrows():
        label(
            axes,
            row["covered %"] + 1.5,
            row["harmful passing"] - 0.35,
            str(row["allowed"]),
            fontsize=9,
        )
    axes.set_xlim(0, 105)
    axes.set_xticks(range(0, 101, 20))
    axes.set_ylim(-1, 9)


def verdicts_panel() -> Panel:
    """Return the panel of `draw_verdicts`."""
    return Panel(
        draw_verdicts,
        height=400,
        orders=choice("Allowed in the orders", list(ORDERS), "the whole orders table"),
        log=choice("Allowed in the log", list(LOG)),
        amount=choice("Amounts are compared", list(AMOUNT), "as stored"),
        tags=choice("Tags are compared", list(TAGS), "as stored"),
    )
