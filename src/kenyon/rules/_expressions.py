"""Expressions: what a function of a rule is once it has been read, with a type for every node.

The types follow from the rules that Python's own numbers suggest:

    f    float32: activities, weights, parameters, counts
    d    float64: numbers that are written in the rule, and everything that is computed with them
    q    int64: the integer functions of a rule, and integers that are written in it
    b    a condition
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LIBRARY = ("exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "tanh", "sinh", "cosh")
"""Functions whose last bits depend on a library."""


class Untranslatable(ValueError):
    """A function that is no plain arithmetic."""


@dataclass(frozen=True)
class Node:
    """One value of an expression.

    Attributes:
        type: f, d, q or b.
        what: `argument`, `constant`, `cast`, an operator or the name of a function.
        inputs: what it is computed from.
        value: of a constant; the name of an argument.
    """

    type: str
    what: str
    inputs: tuple[Node, ...] = ()
    value: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.type, self.what, self.inputs, repr(self.value))))

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined]

    def cast(self, type: str) -> Node:
        if type == self.type:
            return self
        if self.what == "constant" and type == "d":
            return constant(float(self.value))
        return Node(type, "cast", (self,))

    def given(self, known: Mapping[str, int | float]) -> Node:
        """The same with numbers in the place of some arguments."""
        if self.what == "argument":
            return constant(known[self.value]) if self.value in known else self
        return Node(self.type, self.what, tuple(one.given(known) for one in self.inputs), self.value)


def argument(name: str, type: str) -> Node:
    """An argument of the function."""
    return Node(type, "argument", value=name)


def constant(value: Any) -> Node:
    """A number that is written in the rule."""
    if isinstance(value, bool):
        return Node("b", "constant", value=int(value))
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise Untranslatable(f"the integer {value}: expected one of 64 bits")
        return Node("q", "constant", value=int(value))
    if type(value).__name__ == "float32":
        return Node("f", "constant", value=float(value))
    return Node("d", "constant", value=float(value))


def joint_type(*nodes: Node, division: bool = False) -> str:
    """The type in which several values are computed together."""
    types = {"q" if node.type == "b" else node.type for node in nodes}
    if types == {"q"}:
        return "d" if division else "q"
    return "f" if types == {"f"} else "d"


def used_arguments(value: Node) -> set[str]:
    """The names of the arguments that a value depends on."""
    return {node.value for node in _walk(value) if node.what == "argument"}


def _walk(value: Node) -> Iterator[Node]:
    """Every node of an expression once, inputs first."""
    seen: set[Node] = set()
    waiting = [(value, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting.extend((one, False) for one in node.inputs)


def shared_nodes(value: Node) -> set[Node]:
    """The nodes that are used more than once, arguments and constants aside."""
    uses: dict[Node, int] = {}
    for node in _walk(value):
        for one in node.inputs:
            uses[one] = uses.get(one, 0) + 1
    return {node for node, n in uses.items() if n > 1 and node.inputs}
