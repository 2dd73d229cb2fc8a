"""Tasks as plain dicts and as JSON files.

Example of a file::

    {
      "required": {"orders/W1001/status": "cancelled"},
      "created": [{"table": "refunds", "columns": {"amount": 42.5}, "free": ["id"]}],
      "deleted": ["cart/7"],
      "allowed": [{"path": "audit_log/*", "only": "added"},
                  {"path": "orders/W1001/updated_at", "when": "instant"}],
      "forms": {"refunds/*/amount": "number"}
    }

What JSON has no word for is an object with one key: ``{"$tuple": ["files", "a/b"]}``,
``{"$bytes": "00ff"}``, ``{"$decimal": "1.50"}``, ``{"$instant": "2026-03-01T12:00:00"}``,
``{"$date": "2026-03-01"}``, ``{"$float": "nan"}``, ``{"$between": [0, 10]}``, and a mapping whose
keys are not all text, ``{"$dict": [[{"$tuple": ["cart", 7]}, "the value"]]}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path as FilePath
from typing import Any

from evalkit.strict import MARK, TextError, strict_json, unique, utf8
from evalkit.tasks import Allowed, Between, Created, Task, TaskError
from evalkit.values import a_kind

_ENTRIES = ("required", "created", "deleted", "allowed", "forms", "unchanged")
_CREATED = ("table", "columns", "free")
_ALLOWED = ("path", "only", "when", "whole")


def task_to_dict(task: Task) -> dict[str, Any]:
    """A task as plain data that JSON can hold.

    Raises
    ------
    TaskError
        If it is no task, or holds a Python function (a condition or an invariant), which no file can hold.

    Examples
    --------
    >>> task_to_dict(Task(required={"orders/W1/status": "cancelled"}))
    {'required': {'orders/W1/status': 'cancelled'}}
    """
    if not isinstance(task, Task):
        raise TaskError(
            f"task is {a_kind(task)}, not a Task; to save, give the task, then the path"
        )
    if task.invariants:
        raise TaskError(
            f"invariants[0] ({task.invariants[0].name!r}) is a Python function, which a task file "
            "cannot hold; add it with dataclasses.replace after loading"
        )
    spec = {name: getattr(task, name) for name in _ENTRIES}
    spec["created"] = [_stated(row, _CREATED) for row in task.created]
    spec["allowed"] = [_stated(entry, _ALLOWED) for entry in task.allowed]
    return {name: _out(value, name) for name, value in spec.items() if value}


def _stated(entry: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of an entry that say something."""
    found = {name: value for name in names if (value := getattr(entry, name))}
    return found | ({"free": list(found["free"])} if "free" in found else {})


def task_from_dict(spec: Mapping[str, Any]) -> Task:
    """The task that plain data states.

    Raises
    ------
    TaskError
        If an entry is unknown or impossible; the message names it.

    Examples
    --------
    >>> task_from_dict({"requierd": {}})
    Traceback (most recent call last):
    ...
    evalkit.entries.TaskError: unknown entry 'requierd'; known are required, created, deleted,
    allowed, forms, unchanged
    """
    entries = {name: _in(value, name) for name, value in _known(spec, _ENTRIES, "").items()}
    for name, kind, fields in (("created", Created, _CREATED), ("allowed", Allowed, _ALLOWED)):
        made = []
        rows = entries.get(name, [])
        if not isinstance(rows, list):
            raise TaskError(f"{name}: {rows!r}: write a list")
        for i, row in enumerate(rows):
            where = f"{name}[{i}]"
            arguments = _known(row, fields, f"{where}: ")
            if fields[0] not in arguments:
                raise TaskError(f"{where}: has no {fields[0]!r}")
            try:
                made.append(kind(arguments.pop(fields[0]), **arguments))
            except TaskError as error:
                raise TaskError(f"{where}: {error}") from None
        entries[name] = made
    return Task(**entries)


def _known(spec: Any, names: tuple[str, ...], where: str) -> dict[str, Any]:
    """A copy of an object, once it is known to have no other entries than these."""
    if not isinstance(spec, Mapping):
        raise TaskError(f"{where}{spec!r} is no object")
    for name in spec:
        if name not in names:
            raise TaskError(f"{where}unknown entry {name!r}; known are {', '.join(names)}")
    return dict(spec)


def save_task(task: Task, path: str | FilePath) -> None:
    """Write a task to a JSON file."""
    text = json.dumps(task_to_dict(task), indent=2, ensure_ascii=False) + "\n"
    # What is no UTF-8 text, such as the name of an odd file, is written as JSON escapes.
    FilePath(path).write_bytes(text.encode("utf-8", "backslashreplace"))


def load_task(path: str | FilePath) -> Task:
    """The task in a JSON file.

    Raises
    ------
    TaskError
        If the file is missing, is no JSON, or states something impossible. The message names the
        file, the line where it can be told, and the entry.
    """
    text = ""
    try:
        text = utf8(FilePath(path).read_bytes()).removeprefix(MARK)
        return task_from_dict(strict_json(text))
    except OSError as error:
        raise TaskError(f"{path}: cannot be read: {error.strerror}") from None
    except TextError as error:
        hint = (
            '; write {"$float": "nan"}, "inf" or "-inf"' if "a float can hold" in str(error) else ""
        )
        raise TaskError(f"{path}, line {error.line}: {error}{hint}") from None
    except TaskError as error:
        raise TaskError(f"{path}{_line_of(str(error), text)}: {error}") from None


def _line_of(message: str, text: str) -> str:
    """``, line N`` of the first line that holds a text which the message quotes, if there is one."""
    quoted = [json.dumps(q, ensure_ascii=False) for q in message.split("'")[1::2] if q]
    lines = enumerate(text.splitlines(), 1)
    return next(
        (f", line {number}" for number, line in lines if any(q in line for q in quoted)), ""
    )


def _listed(pair: Any) -> list[Any]:
    if not isinstance(pair, list):
        raise TaskError("write a list of lists, each a key and its value")
    return pair


_OUT: dict[type, Callable[[Any, str], Any]] = {
    bytes: lambda v, _: {"$bytes": v.hex()},
    Decimal: lambda v, _: {"$decimal": str(v)},
    datetime: lambda v, _: {"$instant": v.isoformat()},
    date: lambda v, _: {"$date": v.isoformat()},
    tuple: lambda v, where: {"$tuple": [_out(x, where) for x in v]},
    list: lambda v, where: [_out(x, where) for x in v],
    Between: lambda v, where: {"$between": [_out(v.low, where), _out(v.high, where)]},
}
_IN: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "$bytes": (str, bytes.fromhex),
    "$decimal": (str, Decimal),
    "$instant": (str, datetime.fromisoformat),
    "$date": (str, date.fromisoformat),
    "$float": (str, float),
    "$tuple": (list, tuple),
    "$dict": (list, lambda pairs: unique((key, value) for key, value in map(_listed, pairs))),
    "$between": (list, lambda ends: Between(*ends)),
}


def _out(value: Any, where: str) -> Any:
    """A value as JSON can hold it; what JSON would change is an object with one ``$`` key."""
    if isinstance(value, Mapping):
        items = [(_out(k, where), _out(v, where)) for k, v in value.items()]
        if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return dict(items)
        return {"$dict": items}
    kind = type(value)
    if kind is datetime and value.fold:
        raise TaskError(f"{where}: a task file cannot hold {value!r}; give the instant in UTC")
    if kind in _OUT:
        return _OUT[kind](value, where)
    if kind is float and value - value != 0:  # nan, inf
        return {"$float": repr(value)}
    if kind in (type(None), bool, int, float, str):
        return value
    if callable(value):
        raise TaskError(
            f"{where}: when is a Python function, which a task file cannot hold; "
            "use Between(...), 'instant' or 'number'"
        )
    raise TaskError(f"{where}: a task file cannot hold {a_kind(value)}")


def _in(spec: Any, where: str) -> Any:
    """The value that JSON stands for."""
    if isinstance(spec, list):
        return [_in(item, where) for item in spec]
    if not isinstance(spec, Mapping):
        return spec
    name = next(iter(spec), "")
    if not name.startswith("$"):
        return {key: _in(value, where) for key, value in spec.items()}
    if len(spec) > 1 or name not in _IN:
        raise TaskError(f"{where}: unknown {name!r}; known are {', '.join(_IN)}, each alone")
    kind, read = _IN[name]
    try:
        if type(spec[name]) is not kind:
            raise TaskError(f"write {'text' if kind is str else 'a list'}")
        return read(_in(spec[name], where))
    except (ValueError, TypeError, InvalidOperation) as error:
        told = f": {error}" if isinstance(error, ValueError) else ""
        raise TaskError(f"{where}: {spec!r} cannot be read as {name!r}{told}") from None
