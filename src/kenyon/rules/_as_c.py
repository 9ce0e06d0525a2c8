"""An expression as C: the same bits as Python and NumPy give. Functions of `LIBRARY` have no form in C here."""

from __future__ import annotations

import math
from collections.abc import Collection

from kenyon.rules._expressions import LIBRARY, Node, Untranslatable, shared_nodes

C_TYPES = {"f": "float", "d": "double", "q": "int64_t", "b": "int"}
VECTOR_TYPES = {"f": "kn_f8", "d": "kn_d8", "b": "kn_i8"}


def c_body(value: Node, result: str) -> list[str]:
    """The lines of a C function that returns a value as a `result` (`_expressions.py`).

    Example:
        >>> from kenyon.rules._expressions import argument
        >>> c_body(Node("q", "//", (argument("z", "q"), argument("n", "q"))), "q")
        ['return floor_divide(z, n);']
    """
    value = value.cast(result)
    writer = _CWriter(shared_nodes(value))
    text = writer.text(value)
    return [*writer.lines, f"return {_bare(text)};"]


def c_vector_body(value: Node, vectors: Collection[str]) -> list[str] | None:
    """The same for eight values side by side, in the vector types of `core/eight.h`; None where it has no such form.

    Args:
        vectors: the arguments that are vectors; all others are numbers.
    """
    try:
        writer = _VectorWriter(value.cast("f"), vectors)
        text = writer.text(value.cast("f"))
    except _NoVector:
        return None
    text = text if writer.is_vector(value) else f"all_floats({_bare(text)})"
    return [*writer.lines, f"return {_bare(text)};"]


class _CWriter:
    def __init__(self, shared: set[Node]) -> None:
        self._shared, self._names = shared, dict[Node, str]()
        self.lines: list[str] = []

    def text(self, node: Node) -> str:
        if node in self._names:
            return self._names[node]
        text = self._plain(node)
        if node in self._shared:
            name = f"t{len(self._names)}"
            self._names[node] = name
            self.lines.append(f"const {self._declared(node)} {name} = {_bare(text)};")
            return name
        return text

    def _declared(self, node: Node) -> str:
        return C_TYPES[node.type]

    def _plain(self, node: Node) -> str:
        if node.what == "argument":
            return str(node.value)
        if node.what == "constant":
            return _c_number(node)
        if node.what in LIBRARY:
            raise Untranslatable(f"{node.what} depends on a library, so that it has no form in C that gives equal bits")
        parts = [self.text(one) for one in node.inputs]
        kind = node.inputs[0].type
        match node.what:
            case "cast":
                return f"({C_TYPES[node.type]}){parts[0]}"
            case "negative":
                return f"(-{parts[0]})"
            case "not":
                return f"(!{parts[0]})"
            case "and":
                return f"({parts[0]} && {parts[1]})"
            case "or":
                return f"({parts[0]} || {parts[1]})"
            case "where":
                return f"({parts[0]} ? {parts[1]} : {parts[2]})"
            case "sqrt":
                return f"{'sqrtf' if kind == 'f' else 'sqrt'}({_bare(parts[0])})"
            case "abs":
                name = {"f": "fabsf", "d": "fabs", "q": "absolute"}[kind]
                return f"{name}({_bare(parts[0])})"
            case "min" | "max":
                names = {"f": "_float", "d": "_double", "q": "64"}
                return f"{node.what}{names[kind]}({_bare(parts[0])}, {_bare(parts[1])})"
            case "//" | "%":
                name = "floor_divide" if node.what == "//" else "floor_rest"
                return f"{name}({_bare(parts[0])}, {_bare(parts[1])})"
            case ">>" | "<<":
                return f"{'down' if node.what == '>>' else 'up'}({_bare(parts[0])}, (int){parts[1]})"
        return f"({parts[0]} {node.what} {parts[1]})"


class _NoVector(Exception):
    """An expression that is computed one value after the other."""


class _VectorWriter(_CWriter):
    """Expressions of which some nodes are eight floats, eight doubles, or a mask of eight."""

    def __init__(self, value: Node, vectors: Collection[str]) -> None:
        super().__init__(shared_nodes(value))
        self._vectors = vectors
        self._is_vector: dict[Node, bool] = {}

    def is_vector(self, node: Node) -> bool:
        if node not in self._is_vector:
            own = node.what == "argument" and node.value in self._vectors
            self._is_vector[node] = own or any(self.is_vector(one) for one in node.inputs)
        return self._is_vector[node]

    def _declared(self, node: Node) -> str:
        return VECTOR_TYPES[node.type] if self.is_vector(node) else super()._declared(node)

    def _plain(self, node: Node) -> str:
        if not self.is_vector(node):
            return super()._plain(node)
        if node.what == "argument":
            return str(node.value)
        if node.type == "q" or any(one.type == "q" for one in node.inputs):
            raise _NoVector
        kind = node.inputs[0].type
        number = "floats" if kind == "f" else "doubles"
        match node.what:
            case "cast" if kind != "b":
                return f"__builtin_convertvector({_bare(self.text(node.inputs[0]))}, {VECTOR_TYPES[node.type]})"
            case "negative":
                return f"(-{self.text(node.inputs[0])})"
            case "not":
                return f"(~{self.text(node.inputs[0])})"
            case "abs" | "sqrt":
                return f"{node.what}_{number}({_bare(self.text(node.inputs[0]))})"
            case "and" | "or":
                first, second = (self._mask(one) for one in node.inputs)
                return f"({first} {'&' if node.what == 'and' else '|'} {second})"
            case "min" | "max":
                first, second = (self._all(one) for one in node.inputs)
                return f"{node.what}_{number}({first}, {second})"
            case "where":
                test, (first, second) = self._mask(node.inputs[0]), (self._all(one) for one in node.inputs[1:])
                return f"choose_{'floats' if node.type == 'f' else 'doubles'}({test}, {first}, {second})"
            case "+" | "-" | "*" | "/":
                return f"({self.text(node.inputs[0])} {node.what} {self.text(node.inputs[1])})"
            case "<" | "<=" | ">" | ">=" | "==" | "!=":
                mask = f"({self.text(node.inputs[0])} {node.what} {self.text(node.inputs[1])})"
                return mask if kind == "f" else f"__builtin_convertvector({mask}, kn_i8)"
        raise _NoVector

    def _all(self, node: Node) -> str:
        """A value as a vector, whether it is one or not."""
        text = _bare(self.text(node))
        return text if self.is_vector(node) else f"all_{'floats' if node.type == 'f' else 'doubles'}({text})"

    def _mask(self, node: Node) -> str:
        return self.text(node) if self.is_vector(node) else f"(kn_i8){{0}} - ({self.text(node)} != 0)"


def _c_number(node: Node) -> str:
    value = node.value
    if node.type in "qb":
        if abs(value) < 2**31:
            return str(value) if value >= 0 else f"({value})"
        return f"INT64_C({value})" if value > -(2**63) else "INT64_MIN"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(value) if value == int(value) and abs(value) < 1e15 else float.hex(value)
    text += "f" if node.type == "f" else ""
    return text if value >= 0 and not text.startswith("-") else f"({text})"


def _bare(text: str) -> str:
    """An expression without brackets around the whole of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[1:-1] if place == len(text) - 1 else text
    return text
