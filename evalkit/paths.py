"""A path is a tuple of keys that names a place in a state; ``"a/b/c"`` is its shorthand.

A segment of the shorthand finds the key that has that text, so ``"cart/7"`` finds the integer
key 7. A tuple is taken as it is written: ``("cart", 7)`` never finds the text key ``"7"``, and a
key that holds a slash is written in a tuple. In a pattern ``*`` stands for one segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

#: A place in a state: the keys from the top down.
Path = tuple[Any, ...]

#: What to look into in place of a node, given the node and its path.
View = Callable[[Any, Path], Any]


class PathError(ValueError):
    """A path that names no place, or more than one; the message says what to write instead."""


def split_path(path: str | Path) -> Path:
    """The segments of a path.

    Examples
    --------
    >>> split_path("orders/W1001/status")
    ('orders', 'W1001', 'status')
    >>> split_path(("files", "a/b"))
    ('files', 'a/b')
    """
    if isinstance(path, str):
        path = tuple(path.split("/"))
        if "" in path:
            raise PathError(f"{'/'.join(path)!r}: an empty segment; write a tuple for an empty key")
    if not isinstance(path, tuple) or not path:
        raise PathError(f"{path!r}: a path is text like 'orders/W1/status' or a non-empty tuple")
    return path


def key_text(key: Any) -> str:
    """The text by which the shorthand finds a key; the parts of a composite key joined by commas.

    Examples
    --------
    >>> key_text(7), key_text(("W1001", 3))
    ('7', 'W1001,3')
    """
    return ",".join(map(key_text, key)) if isinstance(key, tuple) else str(key)


def format_path(path: Path) -> str:
    """A path as text: the shorthand where it says the same, the tuple where it does not.

    Examples
    --------
    >>> format_path(("cart", 7, "qty"))
    'cart/7/qty'
    >>> format_path(("files", "a/b"))
    "('files', 'a/b')"
    """
    if path and all(
        type(s) is int or (type(s) is str and s and "/" not in s and s != "*") for s in path
    ):
        return "/".join(map(str, path))
    return repr(path)


def matches(pattern: str | Path, path: Path) -> bool:
    """Whether a pattern names a place.

    Examples
    --------
    >>> matches("orders/*/status", ("orders", 7, "status"))
    True
    >>> matches(("orders", "7", "status"), ("orders", 7, "status"))
    False
    """
    segments = split_path(pattern)
    if len(segments) != len(path):
        return False
    loose = isinstance(pattern, str)
    return all(segment_matches(s, key, loose) for s, key in zip(segments, path, strict=True))


def segment_matches(segment: Any, key: Any, loose: bool) -> bool:
    """Whether one segment of a pattern names a key; ``loose`` for one of the shorthand."""
    if segment == "*":
        return True
    return key_text(key) == segment if loose else type(key) is type(segment) and key == segment


def _as_stored(node: Any, path: Path) -> Any:
    return node


def resolve(path: str | Path, state: Any, view: View = _as_stored) -> Path:
    """The typed path that a shorthand finds in a state.

    Segments from the first that is not found on stay as text, but for the key of a new row in a
    table of integer keys. A tuple is returned as it is.

    Parameters
    ----------
    path, state
        The path and the nested dict to look in.
    view : callable, optional
        What to look into in place of a node, given the node and its path: a list that is declared
        keyed is looked into as a mapping.

    Raises
    ------
    PathError
        If two keys have the text of a segment: the message says to write the tuple.

    Examples
    --------
    >>> resolve("cart/7/qty", {"cart": {7: {"qty": 1}}})
    ('cart', 7, 'qty')
    >>> resolve("cart/8", {"cart": {7: {}}})
    ('cart', 8)
    >>> resolve("cart/7", {"cart": {7: {}, "7": {}}})
    Traceback (most recent call last):
    ...
    evalkit.paths.PathError: cart/7: the keys 7 and '7' have that text; write a tuple, ('cart', 7)
    """
    segments = split_path(path)
    if not isinstance(path, str):
        return segments
    found: Path = ()
    for i, segment in enumerate(segments):
        node = view(state, found)
        keys = _keys_matching(node, segment, loose=True)
        if len(keys) > 1 and segment != "*":
            names = " and ".join(map(repr, keys[:3]))
            better = (*found, keys[0], *segments[i + 1 :])
            raise PathError(f"{path}: the keys {names} have that text; write a tuple, {better!r}")
        if not keys or segment == "*":
            return (*found, _new_key(node, segment), *segments[i + 1 :])
        found += (keys[0],)
        state = node[keys[0]]
    return found


def _new_key(node: Any, segment: str) -> Any:
    """What a segment that is not found stands for: an integer, in a table of integer keys."""
    numbered = type(node) is dict and node and set(map(type, node)) == {int}
    return int(segment) if numbered and segment.isascii() and segment.isdigit() else segment


def _keys_matching(node: Any, segment: Any, loose: bool) -> list:
    """The keys of a node that one segment of a pattern names."""
    if type(node) is not dict:
        return []
    if segment != "*" and loose and set(map(type, node)) <= {str}:
        return [segment] if segment in node else []  # the usual table, without reading its keys
    return [key for key in node if segment_matches(segment, key, loose)]


def find(state: Any, path: Path, missing: Any, view: View = _as_stored) -> Any:
    """The value at a typed path, or ``missing`` where the path leads nowhere."""
    for i, key in enumerate(path):
        node = view(state, path[:i])
        if type(node) is not dict or key not in node:
            return missing
        if type(key) is not str and not any(segment_matches(key, k, loose=False) for k in node):
            return missing  # the dict takes True, 1 and 1.0 for one key
        state = node[key]
    return state


def places(pattern: str | Path, state: Any) -> dict[Path, Any]:
    """The places in a state that a pattern names, with what they hold.

    Examples
    --------
    >>> places("t/*/x", {"t": {1: {"x": "a"}, 2: {"y": "b"}}})
    {('t', 1, 'x'): 'a'}
    """
    found: dict[Path, Any] = {(): state}
    loose = isinstance(pattern, str)
    for segment in split_path(pattern):
        found = {
            (*path, key): node[key]
            for path, node in found.items()
            for key in _keys_matching(node, segment, loose)
        }
    return found


def leaves(state: Any, path: Path = ()) -> Iterator[Path]:
    """The path of each field: what is not a non-empty mapping, at any depth."""
    if type(state) is dict and state:
        for key, value in state.items():
            yield from leaves(value, (*path, key))
    else:
        yield path


def field_count(state: Any) -> int:
    """How many fields a state has: what is not a non-empty mapping, at any depth.

    Examples
    --------
    >>> field_count({"t": {1: {"x": 1, "y": [1, 2]}, 2: {}}})
    3
    """
    if type(state) is dict and state:
        return sum(map(field_count, state.values()))
    return 1
