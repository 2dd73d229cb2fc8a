"""What goes between the judge and the player: plain data, and calls of one another's functions.

A line of JSON is a message. A value that JSON does not have is a pair of its kind and its content,
and only the kinds below exist: nothing that arrives can name other code to run, and an object that
is equal to everything cannot arrive at all. A function stays where it is and is called from afar.
"""

from __future__ import annotations

import builtins
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields
from typing import Any

import numpy as np

from evalkit.entries import Allowed, Between, Created, Invariant
from evalkit.grading import Finding, Verdict
from evalkit.process import Action, Rule
from evalkit.simulate.store import ToolError
from evalkit.statediff import Change, Diff
from evalkit.tasks import Task
from evalkit.values import MISSING

LINE_BYTES = 4_000_000
TEXT_LENGTH = 1000  # of an error's text
_TASKS = (Allowed, Between, Created, Invariant, Task)
_OUTCOMES = (Action, Change, Diff, Finding, Rule, Verdict)
RECORDS: dict[str, Any] = {cls.__name__: cls for cls in _TASKS + _OUTCOMES}
SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
SINGLE = {"...": ..., "MISSING": MISSING}
_BUILT_IN = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)}


class Gone(BaseException):
    """The other side ended, or broke the rules of the wire."""


class TooLong(Gone):
    """The other side did not answer in time."""


class Passing(BaseException):
    """An error of the other side that is no ``Exception``, so that none may catch it."""


class NotPlain(TypeError):
    """A value that cannot leave its process."""


ERRORS = {name: kind for name, kind in _BUILT_IN.items() if issubclass(kind, Exception)}
ERRORS |= {"NotPlain": NotPlain, "ToolError": ToolError}


class Wire:
    """One end of the line between two processes.

    ``deadline`` is the time, by `time.monotonic`, up to which messages are waited for.
    """

    def __init__(self, line: socket.socket) -> None:
        self.deadline: float | None = None
        self._line = line
        self._file = line.makefile("rwb")
        self._functions: list[Callable[..., Any]] = []
        self._errors: list[BaseException] = []

    def close(self) -> None:
        """Hang up."""
        with suppress(OSError):
            self._file.close()

    def send(self, kind: str, *content: Any) -> None:
        """Send a message."""
        try:
            self._file.write(json.dumps([kind, *content]).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise Gone("the process ended") from error

    def receive(self) -> list[Any]:
        """Return the next message."""
        if self.deadline is not None:
            self._line.settimeout(max(0.001, self.deadline - time.monotonic()))
        try:
            line = self._file.readline(LINE_BYTES)
            message = json.loads(line)
        except TimeoutError as error:
            raise TooLong("no end in the time allowed") from error
        except (OSError, ValueError, RecursionError) as error:
            raise Gone("the process ended, or sent what is no message") from error
        return message if isinstance(message, list) else [message]

    def packed(self, value: Any) -> Any:
        """Return a value as JSON can hold it; raise `NotPlain` if it is not plain."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        name = type(value).__name__
        if SEQUENCES.get(name) is type(value):
            return [name, [self.packed(item) for item in value]]
        if isinstance(value, Iterator):
            return ["iterator", [self.packed(item) for item in value]]
        if isinstance(value, dict):
            return ["dict", [[self.packed(k), self.packed(v)] for k, v in value.items()]]
        for single, meant in SINGLE.items():
            if value is meant:
                return [single, []]
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufU":
            return ["array", [value.dtype.str, value.tolist()]]
        if isinstance(value, np.random.Generator):
            return ["generator", self.packed(value.bit_generator.state)]
        if RECORDS.get(name) is type(value):
            return [name, [self.packed(getattr(value, field.name)) for field in fields(value)]]
        if callable(value) and not isinstance(value, type):
            self._functions.append(value)
            return ["function", len(self._functions) - 1]
        raise NotPlain(f"a value of type {name} must be scored by hand")

    def unpacked(self, value: Any) -> Any:
        """Return what the other side packed."""
        match value:
            case None | bool() | int() | float() | str():
                return value
            case [str(kind), list(items)] if kind in SEQUENCES:
                return SEQUENCES[kind](self.unpacked(item) for item in items)
            case ["iterator", list(items)]:
                return iter([self.unpacked(item) for item in items])
            case ["dict", list(items)]:
                return {self.unpacked(k): self.unpacked(v) for k, v in items}
            case [str(kind), []] if kind in SINGLE:
                return SINGLE[kind]
            case ["array", [str(dtype), items]] if np.dtype(dtype).kind in "biufU":
                return np.array(items, dtype)[()]
            case ["generator", state]:
                generator = np.random.default_rng(0)
                generator.bit_generator.state = self.unpacked(state)
                return generator
            case [str(kind), list(items)] if kind in RECORDS:
                return _record(RECORDS[kind], [self.unpacked(item) for item in items])
            case ["function", int(number)]:
                return lambda *args, **kwargs: self.call(number, args, kwargs)
        raise ValueError("what arrived is no value")

    def call(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the other side; return what it returns, or raise what it raises."""
        self.send("call", number, self.packed(args), self.packed(kwargs))
        while True:
            match self.receive():
                case ["call", int(wanted), given, named]:
                    self.answer(wanted, given, named)
                case ["return", value]:
                    return self.unpacked(value)
                case ["raise", int(known), str(name), str(text)]:
                    error = ERRORS[name](text) if name in ERRORS else RuntimeError(text)
                    raise _numbered(error, known)
                case ["pass", int(known), str(text)]:
                    raise _numbered(Passing(text), known)
                case ["yours", int(known)] if 0 <= known < len(self._errors):
                    raise self._errors[known]
                case _:
                    raise Gone("the process sent what is no message")

    def answer(self, number: int, args: Any, kwargs: Any) -> None:
        """Call a function of this side for the other, and send how it went."""
        try:
            result = self._functions[number](*self.unpacked(args), **self.unpacked(kwargs))
            self.send("return", self.packed(result))
        except Gone:
            raise
        except BaseException as error:
            if (known := number_of(error)) is not None:
                self.send("yours", known)
                return
            self._errors.append(error)
            here, name = len(self._errors) - 1, type(error).__name__
            if isinstance(error, Exception):
                text = str(error) if name in ERRORS else f"{name}: {error}"
                self.send("raise", here, name, text[:TEXT_LENGTH])
            else:
                self.send("pass", here, name)


def number_of(error: BaseException) -> int | None:
    """Return the number of an error that came from the other side, else None."""
    known = getattr(error, "wire_number", None)
    return known if isinstance(known, int) else None


def _numbered(error: BaseException, known: int) -> BaseException:
    error.wire_number = known  # type: ignore[attr-defined]
    return error


def _record(cls: type, values: list[Any]) -> Any:
    """A frozen record with these fields, as it was on the other side."""
    record: Any = object.__new__(cls)
    for field, value in zip(fields(cls), values, strict=True):
        object.__setattr__(record, field.name, value)
    return record
