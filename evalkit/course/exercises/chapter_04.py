"""Exercises of chapter 04: a diff of one's own, forms, a task, and a real grading fault."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from evalkit.course.exercises import Exercise, Wrong
from evalkit.grading import Verdict, grade
from evalkit.snapshots import StateError, snapshot
from evalkit.statediff import State, state_diff
from evalkit.tasks import Task, TaskError

MISSES_ADDED = "A field that only the after state has is a change too. Look at the keys of both."
MISSES_REMOVED = "A field that is gone is a change too. Look at the keys of both states."
NONE_IS_GONE = (
    "A field that holds `None` and a field that is not there are two things. "
    "Use a default that no record can hold: `MISSING`."
)
EQUALS = (
    "`==` takes `True` for 1 and 2.0 for 2. Compare the type as well, inside lists too: `same`."
)
NAN = "A not-a-number that stayed is no change, although `!=` says that it differs from itself."
KEY_ORDER = "Two dictionaries with the same keys and values are one value, in whatever order the keys stand."
NOT_A_SET = "Return a set of the names of the fields that changed."

PAIRS: tuple[tuple[State, State, set[str], str], ...] = (
    ({"a": 1}, {"a": 1, "b": 2}, {"b"}, MISSES_ADDED),
    ({"a": 1, "b": 2}, {"a": 1}, {"b"}, MISSES_REMOVED),
    ({"a": None}, {}, {"a"}, NONE_IS_GONE),
    ({}, {"a": None}, {"a"}, NONE_IS_GONE),
    ({"a": 1, "b": [0]}, {"a": True, "b": [0.0]}, {"a", "b"}, EQUALS),
    ({"a": float("nan")}, {"a": float("nan")}, set(), NAN),
    ({"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"b"}, "A field with another value is a change."),
    ({"a": [{"x": 1, "y": 2}]}, {"a": [{"y": 2, "x": 1}]}, set(), KEY_ORDER),
)


def check_a(changed_fields: Callable[[State, State], Any]) -> str | None:
    """What a diff of one flat record gets wrong, if anything."""
    for before, after, expected, message in PAIRS:
        found = changed_fields(copy.deepcopy(before), copy.deepcopy(after))
        if not isinstance(found, set | frozenset):
            return NOT_A_SET
        if found != expected:
            return message
    return None


FORM_TOTAL = "`130.00` and `130.0` are one total, and your form tells them apart."
FORM_LINES_ORDER = "The lines came in another order, and your form fails the agent for it."
FORM_LINES_COUNT = "Two equal lines became one, and your form does not notice. Which form counts?"
FORM_ID = "`00170` and `170` are two customers. An identifier is not a number: leave it as stored."
FORM_SENT = "10:00 in London and 11:00 in Paris are one moment, and your form tells them apart."
FORM_ID_TOO = "Nothing of an identifier is to be forgiven: leave it as stored."
FORM_KEYED = (
    "An invoice may hold two equal lines, so no field of a line can serve as its key. `evalkit` says: "
    "{}."
)
FORM_LOOSE = "One of your forms forgives a real change. Forgive only what the prompt says."

INVOICE: State = {
    "total": "130.00",
    "lines": [{"sku": "k", "n": 1}, {"sku": "t", "n": 1}, {"sku": "k", "n": 1}],
    "customer_id": "00170",
    "sent_at": "2026-01-05T10:00:00+00:00",
}
HARMLESS: tuple[tuple[State, str], ...] = (
    ({"total": "130.0"}, FORM_TOTAL),
    ({"lines": [INVOICE["lines"][i] for i in (1, 0, 2)]}, FORM_LINES_ORDER),
    ({"sent_at": "2026-01-05T11:00:00+01:00"}, FORM_SENT),
)
HARMFUL: tuple[tuple[State, str], ...] = (
    ({"customer_id": "170"}, FORM_ID),
    ({"lines": INVOICE["lines"][:2]}, FORM_LINES_COUNT),
    ({"total": "131.00"}, FORM_LOOSE),
    ({"sent_at": "2026-01-05T11:00:00+00:00"}, FORM_LOOSE),
)


def check_b(forms: Any) -> str | None:
    """Whether declared forms forgive the export's habits and nothing else."""
    fields = {f"invoice/{name}" for name in INVOICE}
    if not isinstance(forms, dict) or set(forms) - fields:
        return f"Keep the dictionary, with these places as its keys: {', '.join(sorted(fields))}."
    declared = {place: form for place, form in forms.items() if form != "as stored"}
    try:
        state_diff({}, {}, declared)
    except ValueError as error:
        return f"{error}. To declare nothing for a field, write 'as stored'."
    for cases, forgiven in ((HARMLESS, True), (HARMFUL, False)):
        for change, message in cases:
            after = {"invoice": copy.deepcopy(INVOICE) | change}
            try:
                diff = state_diff({"invoice": INVOICE}, after, declared)
            except StateError as error:
                return FORM_KEYED.format(error)
            if bool(diff) is forgiven:
                return message
    return FORM_ID_TOO if "invoice/customer_id" in declared else None


JOB_FAILS = (
    "Your task fails an agent that does exactly the job. Every edit moves the row's time stamp and "
    "adds a line to the log. In your verdict, {}."
)
TOO_WIDE = (
    "Your task passes an agent that also touched another customer's time stamp. Name the row."
)
LOG_REWRITTEN = (
    "Your task passes an agent that rewrote an old line of the log. Allow additions only."
)
ANYTHING_AS_TIME = (
    "Your task passes an agent that wrote 'never' as a time stamp. Say `when='instant'`."
)
NOT_REQUIRED = "Your task passes an agent that never changed the address."
ANOTHER_ADDED = "Your task passes an agent that also entered a new customer."
REFUSED = "Your task does not fit the shop, so no episode can be graded. `evalkit` says: {}."
OLD_ADDRESS = "2 Elm Court, Leeds"


def _shop(lines: int = 1) -> State:
    row = {"name": "Ada", "address": OLD_ADDRESS, "updated_at": "2026-01-01T08:00:00Z"}
    return {
        "customers": {"C1": dict(row), "C2": {**row, "name": "Ben"}},
        "log": {n: {"line": "C2 edited"} for n in range(1, lines + 1)},
    }


def _moved(lines: int = 1, **changes: Any) -> State:
    state = _shop(lines)
    state["customers"]["C1"] |= {
        "address": "9 Oak Row, York",
        "updated_at": "2026-01-02T08:00:00Z",
    } | changes
    state["log"][lines + 1] = {"line": f"C1 edited after {lines}"}
    return state


def _left_over(verdict: Verdict) -> str:
    """What keeps a verdict from a pass, by place, in words."""
    kinds = {
        "still collateral": verdict.collateral,
        "missing": verdict.missing,
        "true from the start": verdict.vacuous,
    }
    told = [f"{kind}: `{'`, `'.join(f.place for f in fs)}`" for kind, fs in kinds.items() if fs]
    return "; ".join(told) or f"the status is: {verdict.status}"


def check_c(task: Any) -> str | None:
    """Whether a task passes the job done, and only that."""
    if not isinstance(task, Task):
        return "Write a `Task(...)`."
    for lines in (1, 3):  # the number of the new log line is not known beforehand
        try:
            job = grade(snapshot(_shop(lines)), _moved(lines), task)
        except TaskError as error:
            return REFUSED.format(error)
        if not job:
            return JOB_FAILS.format(_left_over(job))
    before = snapshot(_shop())
    touched, rewritten, entered = _moved(), _moved(), _moved()
    touched["customers"]["C2"]["updated_at"] = "2026-01-02T08:00:00Z"
    rewritten["log"][1]["line"] = "nothing happened"
    entered["customers"]["C3"] = dict(entered["customers"]["C2"])
    for after, message in (
        (_moved(address=OLD_ADDRESS), NOT_REQUIRED),
        (touched, TOO_WIDE),
        (rewritten, LOG_REWRITTEN),
        (_moved(updated_at="never"), ANYTHING_AS_TIME),
        (_moved(name="Eve"), "Your task passes an agent that also renamed the customer."),
        (entered, ANOTHER_ADDED),
    ):
        if grade(before, after, task):
            return message
    return None


CARDS = {
    "A": "Then the legs of a journey in the wrong order pass as well. Not every list is unordered.",
    "B": "A set forgets how often an item occurs: charging one gift card twice would pass.",
    "D": "The order of the two cards means nothing to the customer. A good agent fails for it.",
}


def check_d(answer: Any) -> str | None:
    """The one remedy that forgives the order of the gift cards and nothing else."""
    letter = str(answer).strip().upper()
    if letter == "C":
        return None
    return CARDS.get(letter, "Answer with one letter, such as `'A'`.")


EXERCISES = (
    Exercise(
        id="04.a",
        title="A diff of your own",
        minutes=10,
        difficulty=2,
        prompt="""
Write `changed_fields(before, after)` for one flat record: two dictionaries in, the set of the names
of the fields that changed out. Field values may be anything that JSON can hold, lists included.

`evalkit.values` has `same(a, b)` and `MISSING`, which you can import.
""",
        answer="changed_fields",
        given="from evalkit.values import MISSING, same",
        stub="""\
def changed_fields(before, after):
    return ...""",
        hints=(
            "Which fields do you look at? A field can be in one of the two dictionaries only.",
            "Go through `before.keys() | after.keys()`, read each side with "
            "`.get(name, MISSING)`, and compare with `same`.",
        ),
        solution="""\
from evalkit.values import MISSING, same


def changed_fields(before, after):
    names = before.keys() | after.keys()
    return {n for n in names if not same(before.get(n, MISSING), after.get(n, MISSING))}""",
        wrong=(
            Wrong(
                """\
def changed_fields(before, after):
    return {n for n in before if before[n] != after.get(n)}""",
                MISSES_ADDED,
            ),
            Wrong(
                """\
def changed_fields(before, after):
    return {n for n in after if not same(before.get(n, MISSING), after[n])}""",
                MISSES_REMOVED,
            ),
            Wrong(
                """\
def changed_fields(before, after):
    names = before.keys() | after.keys()
    return {n for n in names if not same(before.get(n), after.get(n))}""",
                NONE_IS_GONE,
            ),
            Wrong(
                """\
def changed_fields(before, after):
    names = before.keys() | after.keys()
    return {n for n in names if before.get(n, MISSING) != after.get(n, MISSING)}""",
                EQUALS,
            ),
            Wrong(
                """\
def changed_fields(before, after):
    names = before.keys() | after.keys()
    pairs = {n: (before.get(n, MISSING), after.get(n, MISSING)) for n in names}
    return {n for n, (a, b) in pairs.items() if a != b or repr(a) != repr(b)}""",
                NAN,
            ),
            Wrong(
                """\
def changed_fields(before, after):
    names = before.keys() | after.keys()
    return [n for n in names if not same(before.get(n, MISSING), after.get(n, MISSING))]""",
                NOT_A_SET,
            ),
            Wrong(
                """\
def changed_fields(before, after):
    names = before.keys() | after.keys()
    return {n for n in names if repr(before.get(n, MISSING)) != repr(after.get(n, MISSING))}""",
                KEY_ORDER,
            ),
        ),
        check=check_a,
    ),
    Exercise(
        id="04.b",
        title="Which form for which field?",
        minutes=8,
        difficulty=1,
        prompt="""
An export writes invoices. Its habits are harmless: it may drop trailing zeros of the `total`, put
the `lines` in any order, and write `sent_at` in another time zone. Nothing else is to be forgiven.
In particular, customers `00170` and `170` are two people, and an invoice may hold two equal lines.

Complete the dictionary: for each place the name of its form, or `"as stored"`.
""",
        answer="forms_for_the_export",
        stub="""\
forms_for_the_export = {
    "invoice/total": ...,
    "invoice/lines": ...,
    "invoice/customer_id": ...,
    "invoice/sent_at": ...,
}""",
        hints=(
            "The table in Break 5 lists the forms, each with two values that it makes one or not.",
            "Which list form keeps the count? And what would `number` do to leading zeros?",
        ),
        solution="""\
forms_for_the_export = {
    "invoice/total": "number",
    "invoice/lines": "multiset",
    "invoice/customer_id": "as stored",
    "invoice/sent_at": "instant",
}""",
        wrong=(
            Wrong(
                """\
forms_for_the_export = {
    "invoice/total": "number",
    "invoice/lines": "multiset",
    "invoice/customer_id": "number",
    "invoice/sent_at": "instant",
}""",
                FORM_ID,
            ),
            Wrong(
                """\
forms_for_the_export = {
    "invoice/total": "number",
    "invoice/lines": "set",
    "invoice/customer_id": "as stored",
    "invoice/sent_at": "instant",
}""",
                FORM_LINES_COUNT,
            ),
            Wrong(
                """\
forms_for_the_export = {
    "invoice/total": "as stored",
    "invoice/lines": "multiset",
    "invoice/customer_id": "as stored",
    "invoice/sent_at": "instant",
}""",
                FORM_TOTAL,
            ),
            Wrong(
                """\
forms_for_the_export = {
    "invoice/total": "number",
    "invoice/lines": "sequence",
    "invoice/customer_id": "as stored",
    "invoice/sent_at": "instant",
}""",
                FORM_LINES_ORDER,
            ),
            Wrong(
                """\
forms_for_the_export = {
    "invoice/total": "number",
    "invoice/lines": "multiset",
    "invoice/customer_id": "as stored",
    "invoice/sent_at": "as stored",
}""",
                FORM_SENT,
            ),
            Wrong(
                """\
forms_for_the_export = {
    "invoice/total": "number",
    "invoice/lines": "multiset",
    "invoice/customer_id": "caseless",
    "invoice/sent_at": "instant",
}""",
                FORM_ID_TOO,
            ),
            Wrong(
                """\
forms_for_the_export = {
    "invoice/total": "number",
    "invoice/lines": "keyed by sku",
    "invoice/customer_id": "as stored",
    "invoice/sent_at": "instant",
}""",
                FORM_KEYED.format("invoice/lines: two items have one key, sku = 'k'"),
            ),
        ),
        check=check_b,
    ),
    Exercise(
        id="04.c",
        title="State the task",
        minutes=12,
        difficulty=3,
        prompt="""
A shop has two tables. `customers` has rows `C1` and `C2` with the fields `name`, `address` and
`updated_at`; `log` has numbered rows with the field `line`. Each edit of a customer moves that
row's `updated_at` and adds a row to the log.

The agent is asked: *Ada (C1) has moved to `9 Oak Row, York`.* Write the `Task`. It is graded on
endings that you do not see: the job done well, and the job done with damage beside it.
""",
        answer="move_house",
        given="from evalkit import Allowed, Task",
        stub="move_house = ...",
        hints=(
            "One required field. What else changes when the job is done well? Only that is allowed.",
            "Two `Allowed` entries: one row's time stamp with a condition, and additions to the log.",
        ),
        solution="""\
move_house = Task(
    required={"customers/C1/address": "9 Oak Row, York"},
    allowed=[
        Allowed("customers/C1/updated_at", when="instant"),
        Allowed("log/*", only="added"),
    ],
)""",
        wrong=(
            Wrong(
                'move_house = Task(required={"customers/C1/address": "9 Oak Row, York"})',
                JOB_FAILS.format("still collateral: `customers/C1/updated_at`, `log/2`"),
            ),
            Wrong(
                """\
move_house = Task(
    required={"customers/C1/address": "9 Oak Row, York"},
    allowed=[Allowed("log/*", only="added")],
)""",
                JOB_FAILS.format("still collateral: `customers/C1/updated_at`"),
            ),
            Wrong(
                """\
move_house = Task(
    required={"customers/C1/address": "9 Oak Row"},
    allowed=[
        Allowed("customers/C1/updated_at", when="instant"),
        Allowed("log/*", only="added"),
    ],
)""",
                JOB_FAILS.format("missing: `customers/C1/address`"),
            ),
            Wrong(
                """\
move_house = Task(
    required={"customers/C1/address": "9 Oak Row, York"},
    allowed=[Allowed("customers/*/updated_at", when="instant"), Allowed("log/*", only="added")],
)""",
                TOO_WIDE,
            ),
            Wrong(
                """\
move_house = Task(
    required={"customers/C1/address": "9 Oak Row, York"},
    allowed=[Allowed("customers/C1/updated_at", when="instant"), Allowed("log", whole=True)],
)""",
                LOG_REWRITTEN,
            ),
            Wrong(
                """\
move_house = Task(
    required={"customers/C1/address": "9 Oak Row, York"},
    allowed=[Allowed("customers/C1/updated_at"), Allowed("log/*", only="added")],
)""",
                ANYTHING_AS_TIME,
            ),
            Wrong(
                """\
move_house = Task(
    unchanged=True,
    allowed=[Allowed("customers/C1"), Allowed("log/*", only="added")],
)""",
                NOT_REQUIRED,
            ),
            Wrong(
                """\
move_house = Task(
    required={"customers/C1/address": "9 Oak Row, York"},
    allowed=[Allowed("customers/C1/updated_at", when="instant"), Allowed("log/2")],
)""",
                JOB_FAILS.format("still collateral: `log/4`"),
            ),
            Wrong(
                """\
move_house = Task(
    required={"customers/C1/address": "9 Oak Row, York"},
    allowed=[
        Allowed("customers/C1/updated_at", when="instant"),
        Allowed("customers/*", only="added"),
        Allowed("log/*", only="added"),
    ],
)""",
                ANOTHER_ADDED,
            ),
            Wrong(
                """\
move_house = Task(
    required={"customers/Ada/address": "9 Oak Row, York"},
    allowed=[Allowed("log/*", only="added")],
)""",
                REFUSED.format(
                    "required['customers/Ada/address']: customers has no 'Ada' (there are: 'C1', 'C2')"
                ),
            ),
        ),
        check=check_c,
    ),
    Exercise(
        id="04.d",
        title="A real fault: two gift cards",
        minutes=6,
        difficulty=2,
        prompt="""
A public benchmark keeps the goal of a flight booking as a state and compares hashes of the two
states. The hash sorts the keys of dictionaries, not the items of lists. A customer pays with two
gift cards. The agent names them in the other order, and fails
([report](https://github.com/sierra-research/tau2-bench/issues/514)). Other lists in the same state
hold the legs of a journey. What is the right repair?

- `"A"`: sort every list before it is hashed.
- `"B"`: compare every list as a set.
- `"C"`: declare the payments a multiset, and leave the other lists as they are.
- `"D"`: none; the goal states an order, and the agent did not keep to it.
""",
        answer="gift_cards",
        stub="gift_cards = ...",
        hints=(
            "Ask of each repair: which good agent does it fail, and which bad agent does it pass?",
            "A journey from Rome to Oslo by way of Bonn is not one from Bonn. A card charged twice "
            "is not a card charged once.",
        ),
        solution='gift_cards = "C"',
        wrong=(
            Wrong('gift_cards = "A"', CARDS["A"]),
            Wrong('gift_cards = "B"', CARDS["B"]),
            Wrong('gift_cards = "D"', CARDS["D"]),
        ),
        check=check_d,
    ),
)
