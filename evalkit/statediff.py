"""What changed between two states, as a set of places with their value before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from evalkit.forms import Forms, canonical, declare, forms_at, key_field, keyed
from evalkit.paths import Path, format_path
from evalkit.values import MISSING, SCALARS, StateError, a_kind, check_value, same, show

if TYPE_CHECKING:
    import pandas as pd

#: A nested mapping as it is stored: table, row, field.
State = dict[Any, Any]


@dataclass(frozen=True)
class Change:
    """A path whose value differs between two states.

    Attributes
    ----------
    path : tuple
        The place; a whole row that was added or removed is one change at the row.
    before, after
        The values as they are stored; `MISSING` where there is none.
    note : str
        For a list in a declared form: which items came or went.
    """

    path: Path
    before: Any
    after: Any
    note: str = ""

    @property
    def kind(self) -> str:
        """``added``, ``removed`` or ``changed``."""
        if self.before is MISSING:
            return "added"
        return "removed" if self.after is MISSING else "changed"

    def __str__(self) -> str:
        values = f"{show(self.before)} -> {show(self.after)}"
        return f"{format_path(self.path)}: {self.kind}, {self.note or values}"


@dataclass(frozen=True, repr=False)
class Diff:
    """The changes between two states; true exactly if there are any.

    Examples
    --------
    >>> diff = state_diff({"cart": {7: {"qty": 1}}}, {"cart": {7: {"qty": 2}, 8: {"qty": 1}}})
    >>> print(diff)
    cart/7/qty: changed, 1 -> 2
    cart/8: added, nothing -> {'qty': 1}
    >>> list(diff.added)
    [('cart', 8)]
    """

    changes: tuple[Change, ...]

    @property
    def added(self) -> dict[Path, Any]:
        """Path to value, for what only the after state has."""
        return {c.path: c.after for c in self.changes if c.kind == "added"}

    @property
    def removed(self) -> dict[Path, Any]:
        """Path to value, for what only the before state has."""
        return {c.path: c.before for c in self.changes if c.kind == "removed"}

    @property
    def changed(self) -> dict[Path, tuple[Any, Any]]:
        """Path to the values before and after, for what both states have."""
        return {c.path: (c.before, c.after) for c in self.changes if c.kind == "changed"}

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes)) or "no change"

    __repr__ = __str__  # what a notebook shows where it has no HTML

    @property
    def table(self) -> pd.DataFrame:
        """One row a change: path, kind, before, after, note."""
        import pandas as pd

        rows = [(format_path(c.path), c.kind, show(c.before), show(c.after), c.note) for c in self]
        return pd.DataFrame(rows, columns=["path", "change", "before", "after", "note"])

    def _repr_html_(self) -> str:
        return str(self.table.to_html(index=False)) if self else "<p>no change</p>"

    def apply(self, before: State) -> State:
        """The after state: ``before`` with the changes made; ``before`` itself is untouched."""
        after = dict(before)
        copied = {()}
        for change in self.changes:
            node = after
            for i, key in enumerate(change.path[:-1]):
                if change.path[: i + 1] not in copied:
                    node[key] = dict(node[key])
                    copied.add(change.path[: i + 1])
                node = node[key]
            node.pop(change.path[-1], None)
            if change.after is not MISSING:
                node[change.path[-1]] = change.after
        return after


def check_state(name: str, state: Any) -> None:
    """Refuse what is no state, with what makes one of it.

    Examples
    --------
    >>> check_state("before", "shop.sqlite")
    Traceback (most recent call last):
    ...
    evalkit.values.StateError: before is a str, not a state; take a snapshot('shop.sqlite') of it
    first
    """
    if type(state) is not dict:
        source = repr(str(state)) if isinstance(state, str | PathLike) else "..."
        raise StateError(
            f"{name} is {a_kind(state)}, not a state; take a snapshot({source}) of it first"
        )


def state_diff(
    before: State, after: State, forms: Mapping[str | Path, str | Sequence[str]] | None = None
) -> Diff:
    """The changes from one state to another, under typed equality.

    Mappings are walked together, nested as they are; nothing is flattened. What is the same as
    stored is the same under every form, so a declared form is looked at only where values differ.

    Parameters
    ----------
    before, after
        Nested dicts, as `snapshot` gives them.
    forms
        Declared forms per path pattern (see `evalkit.forms.declare`).

    Returns
    -------
    Diff
        Empty, and so false, exactly if the states are equal under the declared forms. A change
        is reported at the field, a row that came or went at the row, an item of a list declared
        keyed at ``list/key/field``.

    Raises
    ------
    StateError
        If a state is no dict, or a value that differs is of an unsupported type; or if a list of
        the before state breaks its declared form. In the after state such a list is a change:
        an agent cannot escape a verdict by writing something odd.

    Examples
    --------
    >>> print(state_diff({"a": {"n": 1}}, {"a": {"n": True}}))
    a/n: changed, 1 -> True
    >>> forms = {"orders/*/paid": "number"}
    >>> bool(state_diff({"orders": {1: {"paid": 33}}}, {"orders": {1: {"paid": "33.0"}}}, forms))
    False
    """
    check_state("before", before)
    check_state("after", after)
    changes: list[Change] = []
    try:
        _walk(before, after, (), declare(forms or {}), changes)
    except RecursionError:
        raise StateError("a state is nested too deeply, or contains itself") from None
    return Diff(tuple(changes))


_FAST = frozenset({str, int, bool, type(None), bytes})  # types for which == is exact
_KEYS = SCALARS | {tuple}


def _walk(before: dict, after: dict, path: Path, forms: Forms, changes: list[Change]) -> None:
    """Append the changes between two mappings, in the order of ``before``, then the additions."""
    if not _KEYS.issuperset(map(type, after)):  # its == or hash would pass it for another key
        check_value(after, path)
    found = 0
    own = None
    for key, old in before.items():
        new = after.get(key, MISSING)
        if type(key) is not str and new is not MISSING:  # 1, 1.0 and True find each other
            own = own or {k: k for k in after}
            if not same(own[key], key):
                new = MISSING
        found += new is not MISSING
        if old is new:
            continue
        kind = type(old)
        if kind is type(new):
            if kind is dict:
                _walk(old, new, (*path, key), forms, changes)
                continue
            if kind in _FAST and old == new:
                continue
        _compare((*path, key), old, new, forms, changes)
    if found < len(after):
        mirror = {k: k for k in before}
        for key, new in after.items():
            if key not in mirror or not same(mirror[key], key):
                _compare((*path, key), MISSING, new, forms, changes)


def _compare(path: Path, old: Any, new: Any, forms: Forms, changes: list[Change]) -> None:
    """Append what differs at one place, if it does under its declared form."""
    if old is MISSING or new is MISSING:
        changes.append(Change(path, _copy(old, path), _copy(new, path)))
        return
    try:
        if same(old, new):
            return
    except StateError:
        check_value(old, path)  # says the same, with the path
        check_value(new, path)
        raise
    old, new = check_value(old, path), check_value(new, path)
    names = forms_at(path, forms)
    if type(old) is list and type(new) is list and key_field(names):
        items = keyed(old, path, forms)
        try:
            new_items = keyed(new, path, forms)
        except StateError as error:
            reason = str(error).removeprefix(f"{format_path(path)}: ")
            changes.append(Change(path, old, new, reason))
        else:
            _walk(items, new_items, path, forms, changes)
        return
    if not forms:
        changes.append(Change(path, old, new))
        return
    normal = canonical(old, path, forms)
    try:
        unequal = canonical(new, path, forms) != normal
    except StateError:  # a list inside the new value breaks its form, so it is not the old one
        unequal = True
    if unequal:
        changes.append(Change(path, old, new, _items_note(path, old, new, names, forms)))


def _copy(value: Any, path: Path) -> Any:
    return value if value is MISSING else check_value(value, path)


def _items_note(path: Path, old: Any, new: Any, names: tuple[str, ...], forms: Forms) -> str:
    """Which items of an unordered list came or went, by the normal form that compared them."""
    if not {"multiset", "set"} & set(names) or type(old) is not list or type(new) is not list:
        return ""
    was, now = ([(canonical(v, (*path, i), forms), v) for i, v in enumerate(s)] for s in (old, new))
    gone = _unmatched(was, now, once="set" in names)
    came = _unmatched(now, was, once="set" in names)
    return "; ".join(
        f"{word} {', '.join(v)}" for word, v in (("removed", gone), ("added", came)) if v
    )


def _unmatched(items: list, others: list, once: bool) -> list[str]:
    """The items, as text, for which ``others`` holds no counterpart; in a set one is enough."""
    left = Counter(normal for normal, _ in others)
    unmatched = []
    for normal, value in items:
        if not left[normal]:
            unmatched.append(show(value))
        elif not once:
            left[normal] -= 1
    return unmatched
