"""Read plain values out of a pickle without running it.

A pickle is a program for a small stack machine, and the two instructions that make it dangerous
are "import this name" and "call that". Here an imported name is an inert token out of a fixed list
of four, nothing is ever called, and the only thing a "call" can describe is a NumPy array of
bytes, which becomes a view of the memory-mapped file. Everything else is refused.

The instructions are those of protocols 2 (as CIFAR was published, from Python 2) to 4.
Reference: the instruction table in CPython's `pickletools` documentation.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kenyon.data.streams._reading import reading

_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy._core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
}


LONGEST_TEXT = 1000
"""Bytes of a text: one that is named again and again is written out as often."""


@dataclass(frozen=True)
class _Name:
    """An imported name: a token that can be compared and nothing else."""

    kind: str


@dataclass
class _Described:
    """What a call would have made: an array or a type, still without its content."""

    kind: str
    array: np.ndarray | None = None


class _Mark:
    pass


@dataclass
class _Machine:
    data: mmap.mmap
    at: int = 0
    stack: list[Any] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    # reading the arguments of an instruction

    def take(self, n: int) -> memoryview:
        if n < 0 or self.at + n > len(self.data):
            raise ValueError("the file ends inside an instruction")
        self.at += n
        return memoryview(self.data)[self.at - n : self.at]

    def number(self, form: str) -> int:
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def line(self) -> str:
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise ValueError("the file ends inside a name")
        return bytes(self.take(end + 1 - self.at)[:-1]).decode("ascii")

    def since_mark(self) -> list[Any]:
        values: list[Any] = []
        while not isinstance(value := self.stack.pop(), _Mark):
            values.append(value)
        return values[::-1]

    # instructions

    def string(self, form: str) -> None:
        """A Python 2 string: short ones are names and keys, long ones the bytes of an array."""
        self.stack.append(self.take(self.number(form)))

    def text(self, form: str) -> None:
        self.stack.append(bytes(self.take(self.number(form))).decode())

    def name(self, module: object, name: object) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise ValueError("it asks to import something whose name is not text")
        kind = _ALLOWED.get((module, name))
        if kind is None:
            raise ValueError(f"it asks to import {module}.{name}, which no CIFAR file needs")
        self.stack.append(_Name(kind))

    def stack_global(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.name(module, name)

    def call(self) -> None:
        """`_reconstruct(ndarray, ...)` and `dtype("u1", ...)` are described, any other call refused."""
        arguments, function = self.stack.pop(), self.stack.pop()
        if function == _Name("reconstruct") and arguments and arguments[0] == _Name("ndarray"):
            self.stack.append(_Described("array"))
        elif function == _Name("dtype") and arguments and _plain(arguments[0]) in ("u1", "|u1"):
            self.stack.append(_Described("bytes"))
        else:
            raise ValueError("it asks for a call that no CIFAR file needs")

    def build(self) -> None:
        """Fill a described array with its state (version, shape, type, Fortran order, content)."""
        state, target = self.stack.pop(), self.stack[-1]
        if not isinstance(target, _Described):
            raise ValueError("it sets the state of something that is not an array")
        if target.kind == "bytes":
            return
        _, shape, dtype, fortran, content = state
        if dtype != _Described("bytes") or not isinstance(content, memoryview):
            raise ValueError("an array is not of bytes")
        target.array = np.frombuffer(content, np.uint8).reshape(shape, order="F" if fortran else "C")

    def append(self, values: list[Any]) -> None:
        self.stack[-1].extend(values)

    def set_items(self, values: list[Any]) -> None:
        for key, value in zip(values[::2], values[1::2], strict=True):
            self.stack[-1][_plain(key)] = value

    def put(self, slot: int) -> None:
        self.memo[slot] = self.stack[-1]

    def tuple_of(self, n: int) -> None:
        values = tuple(self.stack[len(self.stack) - n :])
        if len(values) != n:
            raise ValueError("it takes more values than there are")
        self.stack[len(self.stack) - n :] = [values]

    def long(self) -> None:
        self.stack.append(int.from_bytes(self.take(self.number("B")), "little", signed=True))


_INSTRUCTIONS: dict[bytes, Callable[[_Machine], object]] = {
    b"\x80": lambda m: m.take(1),  # protocol number
    b"\x95": lambda m: m.take(8),  # frame
    b"(": lambda m: m.stack.append(_Mark()),
    b"N": lambda m: m.stack.append(None),
    b"\x88": lambda m: m.stack.append(True),
    b"\x89": lambda m: m.stack.append(False),
    b"K": lambda m: m.stack.append(m.number("B")),
    b"M": lambda m: m.stack.append(m.number("H")),
    b"J": lambda m: m.stack.append(m.number("i")),
    b"\x8a": lambda m: m.long(),
    b"U": lambda m: m.string("B"),
    b"T": lambda m: m.string("i"),
    b"C": lambda m: m.string("B"),
    b"B": lambda m: m.string("I"),
    b"\x8e": lambda m: m.string("Q"),
    b"\x8c": lambda m: m.text("B"),
    b"X": lambda m: m.text("I"),
    b"]": lambda m: m.stack.append([]),
    b"}": lambda m: m.stack.append({}),
    b")": lambda m: m.stack.append(()),
    b"\x85": lambda m: m.tuple_of(1),
    b"\x86": lambda m: m.tuple_of(2),
    b"\x87": lambda m: m.tuple_of(3),
    b"t": lambda m: m.stack.append(tuple(m.since_mark())),
    b"a": lambda m: m.append([m.stack.pop()]),
    b"e": lambda m: m.append(m.since_mark()),
    b"s": lambda m: m.set_items([m.stack.pop(-2), m.stack.pop()]),
    b"u": lambda m: m.set_items(m.since_mark()),
    b"q": lambda m: m.put(m.number("B")),
    b"r": lambda m: m.put(m.number("I")),
    b"\x94": lambda m: m.put(len(m.memo)),
    b"h": lambda m: m.stack.append(m.memo[m.number("B")]),
    b"j": lambda m: m.stack.append(m.memo[m.number("I")]),
    b"c": lambda m: m.name(m.line(), m.line()),
    b"\x93": lambda m: m.stack_global(),
    b"R": lambda m: m.call(),
    b"b": lambda m: m.build(),
}


def _plain(value: Any) -> Any:
    """Text for a string, an array for a description; numbers and texts as they are, nothing else."""
    if isinstance(value, memoryview):
        if len(value) > LONGEST_TEXT:
            raise ValueError(f"it holds a text of {len(value):,} bytes, which no CIFAR file does")
        return bytes(value).decode("latin-1")
    if isinstance(value, _Described) and value.array is not None:
        return value.array
    if value is None or isinstance(value, bool | int | str):
        return value
    raise ValueError(f"it holds a {type(value).__name__.strip('_')} where a plain value was expected")


def _entries(top: Any) -> dict[Any, Any]:
    """The top-level dictionary with its lists of plain values, each list converted once however often it is named."""
    if not isinstance(top, dict):
        raise ValueError(f"it holds a {type(top).__name__.strip('_')}, a dictionary was expected")
    lists = {id(value): value for value in top.values() if isinstance(value, list)}
    done = {name: [_plain(item) for item in value] for name, value in lists.items()}
    return {_plain(key): done[id(value)] if id(value) in done else _plain(value) for key, value in top.items()}


def read_pickle(path: Path) -> dict[Any, Any]:
    """The dictionary of numbers, texts, byte arrays and lists in a pickle; the arrays are memory-mapped.

    Raises:
        DataError: the file is damaged, or asks for anything else. Nothing in it has run.
    """
    with reading(path, "is not a CIFAR file in the python version. Nothing in it was run"):
        with path.open("rb") as file:
            machine = _Machine(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        while (code := bytes(machine.take(1))) != b".":
            if code not in _INSTRUCTIONS:
                raise ValueError(f"instruction {code!r} is not among those a CIFAR file uses")
            _INSTRUCTIONS[code](machine)
        return _entries(machine.stack.pop())
