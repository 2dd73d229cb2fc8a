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

A path that the shorthand cannot say is a list: ``[{"path": ["files", "a/b"], "value": 1}]``. What
JSON has no word for is an object with one key: ``{"$bytes": "00ff"}``, ``{"$decimal": "1.50"}``,
``{"$instant": "2026-03-01T12:00:00"}``, ``{"$date": "2026-03-01"}``, ``{"$tuple": ["W1", 3]}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path as FilePath
from typing import Any

from evalkit.paths import Path
from evalkit.tasks import Allowed, Between, Created, Task, TaskError


def task_to_dict(task: Task) -> dict[str, Any]:
    """A task as plain data that JSON can hold.

    Raises
    ------
    TaskError
        If the task holds a Python function (a condition or an invariant), which no file can hold.

    Examples
    --------
    >>> task_to_dict(Task(required={"orders/W1/status": "cancelled"}))
    {'required': {'orders/W1/status': 'cancelled'}}
    """
    if task.invariants:
        raise TaskError(
            f"invariants[0] ({task.invariants[0].name!r}) is a Python function, which a task file "
            "cannot hold; add it with dataclasses.replace after loading"
        )
    spec: dict[str, Any] = {
        "required": _pairs_out(task.required, "value"),
        "created": [
            {"table": _path_out(c.table), "columns": _out(c.columns)}
            | ({"free": [_out(x) for x in c.free]} if c.free else {})
            for c in task.created
        ],
        "deleted": [_path_out(p) for p in task.deleted],
        "allowed": [_allowed_out(a) for a in task.allowed],
        "forms": _pairs_out(
            {k: v if isinstance(v, str) else list(v) for k, v in task.forms.items()}, "form"
        ),
        "unchanged": task.unchanged,
    }
    return {name: value for name, value in spec.items() if value}


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
    evalkit.tasks.TaskError: unknown entry 'requierd'; known are required, created, deleted,
    allowed, forms, unchanged
    """
    known = [f.name for f in fields(Task) if f.name != "invariants"]
    _only_known(spec, known, "")
    unchanged = spec.get("unchanged", False)
    if type(unchanged) is not bool:
        raise TaskError(f"unchanged: {unchanged!r}; write true or false")
    return Task(
        required=_pairs_in(spec.get("required", {}), "value", "required"),
        created=[_created_in(c, f"created[{i}]") for i, c in _entries(spec, "created")],
        deleted=[_path_in(p, f"deleted[{i}]") for i, p in _entries(spec, "deleted")],
        allowed=[_allowed_in(a, f"allowed[{i}]") for i, a in _entries(spec, "allowed")],
        forms=_pairs_in(spec.get("forms", {}), "form", "forms"),
        unchanged=unchanged,
    )


def save_task(task: Task, path: str | FilePath) -> None:
    """Write a task to a JSON file."""
    text = json.dumps(task_to_dict(task), indent=2, ensure_ascii=False) + "\n"
    FilePath(path).write_text(text, encoding="utf-8")


def load_task(path: str | FilePath) -> Task:
    """The task in a JSON file.

    Raises
    ------
    TaskError
        If the file is missing, is no JSON, or states something impossible. The message names the
        file, the line where it can be told, and the entry.
    """
    try:
        text = FilePath(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: cannot be read: {error}") from None
    try:
        spec = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise TaskError(f"{path}:{error.lineno}: {error.msg}") from None
    except TaskError as error:
        raise TaskError(f"{path}: {error}") from None
    except RecursionError:
        raise TaskError(f"{path}: nested too deeply") from None
    if not isinstance(spec, dict):
        raise TaskError(f"{path}:1: a task file holds one object")
    try:
        return task_from_dict(spec)
    except TaskError as error:
        raise TaskError(f"{path}{_line_of(str(error), text)}: {error}") from None


def _line_of(message: str, text: str) -> str:
    """``:line`` of the first line that holds a text which the message quotes, if there is one."""
    quoted = message.split("'")[1::2]
    for number, line in enumerate(text.splitlines(), 1):
        if any(q and json.dumps(q, ensure_ascii=False) in line for q in quoted):
            return f":{number}"
    return ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise TaskError(f"the key {twice[0]!r} stands twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise TaskError(f'{name} is no JSON; write {{"$float": "{name}"}}')


def _only_known(spec: Any, known: list[str], entry: str) -> None:
    where = f"{entry}: " if entry else ""
    if not isinstance(spec, Mapping):
        raise TaskError(f"{where}{spec!r} is no object")
    for name in spec:
        if name not in known:
            raise TaskError(f"{where}unknown entry {name!r}; known are {', '.join(known)}")


def _entries(spec: Mapping[str, Any], name: str) -> list[tuple[int, Any]]:
    entries = spec.get(name, [])
    if not isinstance(entries, list):
        raise TaskError(f"{name}: {entries!r} is no list")
    return list(enumerate(entries))


def _created_in(spec: Any, entry: str) -> Created:
    _only_known(spec, ["table", "columns", "free"], entry)
    free = spec.get("free", [])
    if not isinstance(free, list):
        raise TaskError(f"{entry}: free: {free!r} is no list")
    columns = _in(spec.get("columns", {}), f"{entry}: columns")
    if not isinstance(columns, dict):
        raise TaskError(f"{entry}: columns: {columns!r} is no object")
    try:
        return Created(
            _path_in(spec.get("table"), f"{entry}: table"),
            columns=columns,
            free=[_in(x, entry) for x in free],
        )
    except TaskError as error:
        raise TaskError(f"{entry}: {error}") from None


def _allowed_out(allowed: Allowed) -> dict[str, Any]:
    spec: dict[str, Any] = {"path": _path_out(allowed.path)}
    if allowed.only:
        spec["only"] = allowed.only
    if isinstance(allowed.when, Between):
        spec["when"] = {"between": [_out(allowed.when.low), _out(allowed.when.high)]}
    elif isinstance(allowed.when, str):
        spec["when"] = allowed.when
    elif allowed.when is not None:
        raise TaskError(
            f"{allowed}: when is a Python function, which a task file cannot hold; "
            "use Between(...), 'instant' or 'number'"
        )
    return spec | ({"whole": True} if allowed.whole else {})


def _allowed_in(spec: Any, entry: str) -> Allowed:
    _only_known(spec, ["path", "only", "when", "whole"], entry)
    when = spec.get("when")
    if isinstance(when, Mapping):
        _only_known(when, ["between"], f"{entry}: when")
        ends = when["between"] if when else None
        if not isinstance(ends, list) or len(ends) != 2:
            raise TaskError(f'{entry}: when: write {{"between": [low, high]}}')
        when = Between(*(_in(end, entry) for end in ends))
    whole = spec.get("whole", False)
    if type(whole) is not bool or not isinstance(spec.get("only", ""), str):
        raise TaskError(f"{entry}: whole is true or false, and only is a word")
    try:
        return Allowed(
            _path_in(spec.get("path"), f"{entry}: path"), spec.get("only", ""), when, whole
        )
    except TaskError as error:
        raise TaskError(f"{entry}: {error}") from None


def _path_out(path: str | Path) -> Any:
    return path if isinstance(path, str) else [_out(key) for key in path]


def _path_in(spec: Any, entry: str) -> str | Path:
    if isinstance(spec, list) and spec:
        return tuple(_in(key, entry) for key in spec)
    if isinstance(spec, str) and spec:
        return spec
    raise TaskError(f"{entry}: {spec!r} is no path; write 'a/b/c' or a list of keys")


def _pairs_out(mapping: Mapping[Any, Any], name: str) -> Any:
    """A JSON object where every key is text, else a list of path and value."""
    if all(isinstance(key, str) for key in mapping):
        return {key: _out(value) for key, value in mapping.items()}
    return [{"path": _path_out(k), name: _out(v)} for k, v in mapping.items()]


def _pairs_in(spec: Any, name: str, entry: str) -> dict[Any, Any]:
    if isinstance(spec, Mapping):
        return {key: _in(value, f"{entry}[{key!r}]") for key, value in spec.items()}
    if not isinstance(spec, list):
        raise TaskError(f"{entry}: {spec!r} is neither an object nor a list")
    found: dict[Any, Any] = {}
    for i, pair in enumerate(spec):
        _only_known(pair, ["path", name], f"{entry}[{i}]")
        if name not in pair:
            raise TaskError(f"{entry}[{i}]: has no {name!r}")
        path = _path_in(pair.get("path"), f"{entry}[{i}]: path")
        if path in found:
            raise TaskError(f"{entry}[{i}]: {path!r} stands twice")
        found[path] = _in(pair[name], f"{entry}[{i}]")
    return found


_OUT: dict[type, Callable[[Any], dict[str, Any]]] = {
    bytes: lambda v: {"$bytes": v.hex()},
    Decimal: lambda v: {"$decimal": str(v)},
    datetime: lambda v: {"$instant": v.isoformat()},
    date: lambda v: {"$date": v.isoformat()},
    tuple: lambda v: {"$tuple": [_out(x) for x in v]},
}
_IN: dict[str, Callable[[Any], Any]] = {
    "$bytes": bytes.fromhex,
    "$decimal": Decimal,
    "$instant": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$float": float,
    "$tuple": lambda v: tuple(_in(x, "$tuple") for x in v),
    "$dict": lambda v: {_in(k, "$dict"): _in(x, "$dict") for k, x in v},
}


def _out(value: Any) -> Any:
    """A value as JSON can hold it; what JSON would change is an object with one ``$`` key."""
    kind = type(value)
    if kind is dict:
        if all(type(k) is str for k in value) and not any(k.startswith("$") for k in value):
            return {k: _out(v) for k, v in value.items()}
        return {"$dict": [[_out(k), _out(v)] for k, v in value.items()]}
    if kind is list:
        return [_out(v) for v in value]
    if kind is float and value - value != 0:  # nan, inf
        return {"$float": repr(value)}
    if kind in _OUT:
        return _OUT[kind](value)
    if kind in (type(None), bool, int, float, str):
        return value
    raise TaskError(f"a task file cannot hold a {kind.__name__}: {value!r}")


def _in(spec: Any, entry: str) -> Any:
    if isinstance(spec, list):
        return [_in(v, entry) for v in spec]
    if not isinstance(spec, dict):
        return spec
    name = next(iter(spec), "")
    if len(spec) != 1 or not name.startswith("$"):
        return {k: _in(v, entry) for k, v in spec.items()}
    if name not in _IN:
        raise TaskError(f"{entry}: unknown {name!r}; known are {', '.join(_IN)}")
    try:
        return _IN[name](spec[name])
    except (ValueError, TypeError, InvalidOperation):
        raise TaskError(f"{entry}: {spec!r} cannot be read as {name!r}") from None
