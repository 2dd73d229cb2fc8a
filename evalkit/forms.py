"""Declared forms: where a field may be written in more than one way, one normal form for it.

Without a declaration a value is compared as it is stored (`evalkit.values.same`). With one, the same
normal form decides the verdict and words its explanation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any
from unicodedata import normalize

from evalkit.paths import Path, View, format_path, matches, split_path
from evalkit.values import (
    MISSING,
    PLAIN,
    SCALARS,
    StateError,
    check_value,
    exact,
    show,
    unsupported,
)

#: Declared forms, ready for use: (pattern, names of the forms at that place).
Forms = tuple[tuple["str | Path", tuple[str, ...]], ...]


class _Form(tuple):
    """A normal form already reached, e.g. of a number; no further form applies to it."""


def canonical(value: Any, path: Path = (), forms: Forms = ()) -> Any:
    """The normal form of a value: hashable, and equal for two values exactly if they are the same.

    Parameters
    ----------
    value
        A supported value (see `same`).
    path
        Where the value stands; declared forms apply to the places that their pattern names.
    forms
        Declared forms, from `declare`.

    Returns
    -------
    tuple
        Tagged with the type, so that normal forms of different types never compare equal.

    Raises
    ------
    StateError
        If the type is not supported, or a list declared keyed has no unique keys.

    Examples
    --------
    >>> canonical(True) == canonical(1)
    False
    >>> numeric = declare({"refunds/*/amount": "number"})
    >>> place = ("refunds", 1, "amount")
    >>> canonical("130.0", place, numeric) == canonical("130.00", place, numeric)
    True
    """
    kind = type(value)
    names = forms_at(path, forms)
    if kind is dict:
        items = ((canonical(k), canonical(v, (*path, k), forms)) for k, v in value.items())
        return ("dict", frozenset(items))
    if kind is list or kind is tuple:
        lists = {name for name in names if name not in _SCALAR_FORMS and kind is list}
        if len(lists) > 1:
            kinds = " and ".join(sorted(lists))
            raise ValueError(f"{format_path(path)}: patterns declare it {kinds}; choose one")
        if kind is list and key_field(names):
            return ("keyed", canonical(keyed(value, path, forms), path, forms))
        parts = [canonical(v, (*path, i), forms) for i, v in enumerate(value)]
        if "set" in lists:
            return ("set", frozenset(parts))
        if "multiset" in lists:
            return ("multiset", frozenset(Counter(parts).items()))
        return (kind.__name__, tuple(parts))
    for name in names:
        value = _SCALAR_FORMS.get(name, _as_is)(value)
    kind = type(value)
    if kind is _Form:
        return value
    if kind in PLAIN:
        return (kind.__name__, value)
    if kind in SCALARS:
        return (kind.__name__, exact(value))
    raise StateError(unsupported(value, path))


def declare(forms: Mapping[str | Path, str | Sequence[str]]) -> Forms:
    """Declared forms, checked and ready for `canonical` and for the diff.

    Parameters
    ----------
    forms
        Path pattern to the name of a form, or to several names:
        ``number`` (33, 33.0 and "33.00" are one), ``instant`` (one moment, in any zone),
        ``caseless`` (ß is ss, but no sign that looks like a letter is one), ``spaces`` (runs of white space are one blank, none at the ends);
        for lists ``sequence``, ``multiset``, ``set``, and ``keyed by FIELD``.
        A value that does not have the declared form (text that is no number) stays as it is.

    Returns
    -------
    tuple of (pattern, names)

    Raises
    ------
    ValueError
        If a form is unknown; the message names the pattern.

    Examples
    --------
    >>> declare({"notes/*/text": ["spaces", "caseless"], "orders/*/items": "keyed by sku"})
    (('notes/*/text', ('spaces', 'caseless')), ('orders/*/items', ('keyed by sku',)))
    """
    ready = []
    for pattern, names in forms.items():
        split_path(pattern)
        names = (names,) if isinstance(names, str) else names
        if not isinstance(names, Iterable) or not all(isinstance(n, str) for n in names):
            raise ValueError(f"forms[{pattern!r}]: {names!r}; write the name of a form, or a list")
        names = tuple(names)
        for name in names:
            if name not in _SCALAR_FORMS and name not in _LIST_FORMS and not key_field((name,)):
                known = ", ".join([*_SCALAR_FORMS, *_LIST_FORMS, "'keyed by FIELD'"])
                raise ValueError(f"forms[{pattern!r}]: unknown form {name!r}; known are {known}")
        if len([n for n in names if n not in _SCALAR_FORMS]) > 1:
            raise ValueError(f"forms[{pattern!r}]: {names} name two kinds of list; choose one")
        ready.append((pattern, names))
    return tuple(ready)


def forms_at(path: Path, forms: Forms) -> tuple[str, ...]:
    """The names of the forms declared for one place, in the order of their declaration."""
    return tuple(n for pattern, names in forms if matches(pattern, path) for n in names)


def key_field(names: Iterable[str]) -> str:
    """The field by which a list is declared keyed, or the empty text."""
    for name in names:
        if name.startswith("keyed by ") and name[9:].strip():
            return name[9:].strip()
    return ""


def keyed(items: Any, path: Path, forms: Forms) -> dict:
    """A list declared ``keyed by FIELD`` as a mapping from that field's value to the item.

    Raises
    ------
    StateError
        If an item lacks the field, or two items have one key once brought to normal form.
    """
    field = key_field(forms_at(path, forms))
    found: dict[Any, Any] = {}
    where = format_path(path)
    for i, item in enumerate(items):
        if type(item) is not dict or field not in item:
            raise StateError(f"{where}: item {i} has no field {field!r}, by which it is keyed")
        key = item[field]
        if type(key) not in SCALARS or (type(key) in (float, Decimal) and "N" in str(key).upper()):
            raise StateError(f"{where}: item {i} has {show(key)} as its {field!r}, which is no key")
        key = _readable(canonical(key, (*path, key, field), forms), key)
        if key in found:
            raise StateError(f"{where}: two items have one key, {field} = {show(key)}")
        found[key] = item
    return found


def _readable(normal: Any, key: Any) -> Any:
    """The key that stands for a normal form: as stored, unless a form rewrote it."""
    if type(normal) is not _Form:
        return key if normal[0] != "str" else normal[1]
    kind, *parts = normal
    if kind != "number":
        return parts[0].isoformat()
    sign, digits, exponent = parts if len(parts) == 3 else (0, "0", 0)
    if 0 <= exponent < 30:
        return int(digits) * 10**exponent * (-1 if sign else 1)
    return f"{'-' * sign}{digits}e{exponent}"


def keyed_view(forms: Forms) -> View:
    """The view in which a list that is declared keyed is a mapping, for `paths.resolve`.

    A list that breaks its form is left as it is, so that a path into it leads nowhere.
    """

    def view(node: Any, path: Path) -> Any:
        if type(node) is not list or not key_field(forms_at(path, forms)):
            return node
        try:
            return keyed(node, path, forms)
        except StateError:
            return node

    return view


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)


def _number(value: Any) -> Any:
    """33, 33.0, Decimal("33.00") and "33.0" have one form; True is no number."""
    kind = type(value)
    if kind is float:
        value = Decimal(repr(value))  # the shortest text, so that 0.1 is "0.1"
    elif kind is int or (kind is str and _NUMBER.fullmatch(value)):
        try:
            value = Decimal(value)
        except InvalidOperation:  # an exponent beyond what Decimal holds
            return value
    if type(value) is not Decimal:
        return value
    if not value.is_finite():
        return _Form(("number", str(value)))
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    kept = text.rstrip("0")
    if not kept:
        return _Form(("number", "0"))
    assert isinstance(exponent, int)
    return _Form(("number", sign, kept, exponent + len(text) - len(kept)))


def _instant(value: Any) -> Any:
    """One moment has one form, whatever its zone; a moment without a zone is not one with it."""
    moment = value
    if type(value) is str and value[10:11] in ("T", " "):  # a bare date is not midnight
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return value
    if type(moment) is not datetime:
        return value
    if moment.utcoffset() is None:
        return _Form(("instant without a zone", moment.replace(fold=0)))
    try:
        return _Form(("instant", moment.astimezone(UTC)))
    except OverflowError:  # year 1 or 9999, moved out of the calendar
        return value


def _caseless(value: Any) -> Any:
    if type(value) is not str:
        return value
    return value.casefold() if value.isascii() else "".join(map(_folded, value))


def _folded(letter: str) -> str:
    """A letter in lower case; a ligature or a sign that only looks like a letter stays itself."""
    fold = letter.casefold()
    return letter if fold.isascii() and normalize("NFKC", letter) != letter else fold


def _spaces(value: Any) -> Any:
    return " ".join(value.split()) if type(value) is str else value


def _as_is(value: Any) -> Any:
    return value


_SCALAR_FORMS = {
    "number": _number,
    "instant": _instant,
    "caseless": _caseless,
    "spaces": _spaces,
}
_LIST_FORMS = ("sequence", "multiset", "set")


def has_form(value: Any, name: str) -> bool:
    """Whether a value can be read as a finite ``number`` or an ``instant``.

    Examples
    --------
    >>> has_form("2026-03-01T12:00:00Z", "instant"), has_form("soon", "instant")
    (True, False)
    """
    form = _SCALAR_FORMS[name](value)
    return type(form) is _Form and (name != "number" or form[1:] == ("0",) or len(form) == 4)


def equals(stated: Any, found: Any, path: Path, forms: Forms) -> bool:
    """Whether a stated value and the one found are the same under the declared forms.

    A value found that breaks its form is not the stated one; a stated one raises `StateError`.
    """
    if found is MISSING:
        return False
    normal = canonical(stated, path, forms)
    try:
        return bool(canonical(check_value(found, path), path, forms) == normal)
    except StateError:  # a list of the agent's that breaks its form
        return False


def digest(value: Any) -> str:
    """Sixteen hexadecimal digits, the same for values that are the same as stored.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": True})
    True
    """

    def text(normal: Any) -> str:
        if isinstance(normal, frozenset):  # its order differs from run to run
            return f"{{{','.join(sorted(map(text, normal)))}}}"
        return f"({','.join(map(text, normal))})" if isinstance(normal, tuple) else repr(normal)

    return sha256(text(canonical(check_value(value))).encode()).hexdigest()[:16]
