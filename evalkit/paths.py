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


class Loose(str):
    """A segment of the shorthand: it stands for the key that has this text."""

    __slots__ = ()


def split_path(path: str | Path) -> Path:
    """The segments of a path; those of the shorthand are `Loose`.

    Examples
    --------
    >>> split_path("orders/W1001/status")
    ('orders', 'W1001', 'status')
    >>> split_path(("files", "a/b"))
    ('files', 'a/b')
    """
    if isinstance(path, str):
        path = tuple(map(Loose, path.split("/")))
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


def same_key(a: Any, b: Any) -> bool:
    """Whether two keys are the same, type included: a dict takes True, 1 and 1.0 for one.

    Examples
    --------
    >>> same_key(("W1", 1), ("W1", True))
    False
    """
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        return len(a) == len(b) and all(map(same_key, a, b))
    return bool(a == b) if type(a) in (str, int, bytes) else repr(a) == repr(b)


def format_path(path: Path) -> str:
    """A path as text: the shorthand where it says the same, the tuple where it does not.

    What cannot be printed is escaped, so that a name cannot pass for another line of a table.

    Examples
    --------
    >>> format_path(("cart", 7, "qty"))
    'cart/7/qty'
    >>> format_path(("cart", "7")), format_path(("files", "a/b"))
    ("('cart', '7')", "('files', 'a/b')")
    """
    return "/".join(map(str, path)) if path and all(map(_is_plain, path)) else repr(path)


def _is_plain(key: Any) -> bool:
    if type(key) is int:
        return True
    text = isinstance(key, str) and key.isprintable() and "/" not in key
    return text and key not in ("", "*") and not key.lstrip("-").isdigit()


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
    return len(segments) == len(path) and all(map(segment_matches, segments, path))


def segment_matches(segment: Any, key: Any) -> bool:
    """Whether one segment of a pattern names a key."""
    if segment == "*":
        return True
    return key_text(key) == segment if type(segment) is Loose else same_key(segment, key)


def _as_stored(node: Any, path: Path) -> Any:
    return node


class Lookup:
    """Finds places in one state, typed and without reading a table twice.

    Parameters
    ----------
    state
        A nested dict. It must not change while the lookup is used.
    view : callable, optional
        What to look into in place of a node, given the node and its path: a list that is declared
        keyed is looked into as a mapping (`evalkit.forms.keyed_view`).
    """

    def __init__(self, state: Any, view: View = _as_stored) -> None:
        self.state = state
        self._view = view
        self._mappings: dict[int, Any] = {}
        self._indices: dict[int, dict | None] = {}

    def mapping(self, node: Any, path: Path) -> dict | None:
        """What a node is looked into as, or None for a single value."""
        if type(node) is not dict:
            if id(node) not in self._mappings:
                self._mappings[id(node)] = self._view(node, path)
            node = self._mappings[id(node)]
        return node if type(node) is dict else None

    def _index(self, mapping: dict) -> dict | None:
        """The stored keys of a mapping by themselves; None if all are text, the usual table."""
        if id(mapping) not in self._indices:
            text = set(map(type, mapping)) <= {str}
            self._indices[id(mapping)] = None if text else {key: key for key in mapping}
        return self._indices[id(mapping)]

    def _keys(self, mapping: dict, segment: Any) -> list:
        """The keys of a mapping that one segment of a pattern names."""
        index = self._index(mapping)
        if segment == "*":
            return list(mapping)
        if type(segment) is Loose and index is not None:
            return [key for key in mapping if key_text(key) == segment]
        if segment not in mapping:
            return []
        key = str(segment) if index is None else index[segment]
        return [key] if type(segment) is Loose or same_key(key, segment) else []

    def find(self, path: Path, missing: Any) -> Any:
        """The value at a typed path, or ``missing`` where the path leads nowhere."""
        node = self.state
        for i, key in enumerate(path):
            mapping = self.mapping(node, path[:i])
            if mapping is None or key not in mapping:
                return missing
            index = self._index(mapping)
            if index is not None and not same_key(index[key], key):
                return missing
            node = mapping[key]
        return node

    def resolve(self, path: str | Path) -> Path:
        """The typed path that a shorthand finds; a tuple is returned as it is.

        From the first segment that is not found on, the segments stay as text, but for the key of
        a new row in a table of integer keys.

        Raises
        ------
        PathError
            If two keys have the text of a segment: the message says to write the tuple.
        """
        found = self.resolve_pattern(path)
        return tuple(str(s) if type(s) is Loose else s for s in found)

    def resolve_pattern(self, pattern: str | Path) -> Path:
        """The same for a pattern: what is not found, and what follows a star, stays as it is."""
        segments = split_path(pattern)
        node, found = self.state, list[Any]()
        for i, segment in enumerate(segments):
            mapping = self.mapping(node, tuple(found))
            if type(segment) is not Loose or segment == "*" or mapping is None:
                break
            keys = self._keys(mapping, segment)
            if len(keys) > 1:
                names = " and ".join(map(repr, keys[:3]))
                better = (*found, keys[0], *map(str, segments[i + 1 :]))
                raise PathError(
                    f"{'/'.join(segments)}: the keys {names} have that text; "
                    f"write a tuple, {better!r}"
                )
            if not keys:
                numbered = bool(mapping) and set(map(type, mapping)) == {int}
                if numbered and segment.isascii() and segment.isdigit():
                    found.append(int(segment))
                break
            found.append(keys[0])
            node = mapping[keys[0]]
        return (*found, *segments[len(found) :])

    def places(self, pattern: str | Path) -> dict[Path, Any]:
        """The places that a pattern names, with what they hold."""
        found: dict[Path, Any] = {(): self.state}
        for segment in split_path(pattern):
            mappings = {path: self.mapping(node, path) for path, node in found.items()}
            found = {
                (*path, key): mapping[key]
                for path, mapping in mappings.items()
                if mapping is not None
                for key in self._keys(mapping, segment)
            }
        return found

    def leads_nowhere(self, pattern: str | Path) -> bool:
        """Whether a pattern names no place because no mapping has one of its names.

        A star in an empty table is no such case, as rows may come, nor is anything in a list.
        """
        segments = split_path(pattern)
        reached = self._reach(self.state, (), segments)
        return reached < len(segments) and bool(segments[reached] != "*")

    def _reach(self, node: Any, path: Path, segments: Path) -> int:
        """How many segments of a pattern can be followed, at most."""
        best, end = len(path), len(segments)
        if best == end or isinstance(node, list | tuple):
            return end
        mapping = self.mapping(node, path) or {}
        for key in self._keys(mapping, segments[best]):
            best = max(best, self._reach(mapping[key], (*path, key), segments))
            if best == end:
                break
        return best


def resolve(path: str | Path, state: Any) -> Path:
    """The typed path that a shorthand finds in a state; see `Lookup.resolve`.

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
    return Lookup(state).resolve(path)


def find(state: Any, path: Path, missing: Any) -> Any:
    """The value at a typed path of a state, or ``missing`` where the path leads nowhere."""
    return Lookup(state).find(path, missing)


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
