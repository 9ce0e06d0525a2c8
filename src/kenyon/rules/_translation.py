"""The functions of a rule as one expression each, and that expression as C or as NumPy: both give the same bits.

A rule is plain arithmetic on numbers (`kenyon.rules.Rule`). Its functions are read from their source and carried out
once on symbols: assignments are put in, `if` becomes a choice between two values. What is left is an expression whose
every node has a type, by the rules that Python's own numbers suggest:

    f    float32: activities, weights, parameters, counts
    d    float64: numbers that are written in the rule, and everything that is computed with them
    q    int64: the integer functions of a rule, and integers that are written in it
    b    a condition

`+ - * /`, comparisons, `and`, `or`, `not`, `abs`, `min`, `max`, `sqrt` and powers of a fixed integer are exact or are
rounded once, the same everywhere. Other functions (`exp`, `log`, `tanh`, ..) depend on a library: they have no form in
C here.

This file imports nothing but the standard library, since the build uses it before the package can be imported.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

C_TYPES = {"f": "float", "d": "double", "q": "int64_t", "b": "int"}
VECTOR_TYPES = {"f": "kn_f8", "d": "kn_d8", "b": "kn_i8"}

_OPERATORS: Mapping[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.RShift: ">>", ast.LShift: "<<", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_INTEGERS_ONLY = ("//", "%", ">>", "<<", "&", "|", "^")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_NAMED = {"min": "min", "max": "max", "abs": "abs", "minimum": "min", "maximum": "max", "fabs": "abs", "where": "where"}
_NAMED |= {"sqrt": "sqrt", "absolute": "abs", "float": "float", "float64": "float", "float32": "float32"}
_LIBRARY = ("exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "tanh", "sinh", "cosh")
MOST_POWER = 8


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
        return self._hash  # type: ignore[attr-defined,no-any-return]

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


def _joint(*nodes: Node, division: bool = False) -> str:
    """The type in which several values are computed together."""
    types = {"q" if node.type == "b" else node.type for node in nodes}
    if types == {"q"}:
        return "d" if division else "q"
    return "f" if types == {"f"} else "d"


# ---- reading


Resolver = Callable[[str], Any]
"""What a name stands for that is neither an argument nor assigned in the function: a number, a function, a module."""


def read(function: Callable[..., Any], arguments: Sequence[Node]) -> Node:
    """What a function returns for these arguments, as an expression.

    Example:
        >>> value = read(lambda z, n: z // n, [argument("z", "q"), argument("n", "q")])
        >>> value.type, value.what
        ('q', '//')
    """
    return read_tree(source_of(function), arguments, _resolver(function))


def read_tree(tree: ast.FunctionDef | ast.Lambda, arguments: Sequence[Node], resolve: Resolver) -> Node:
    """The same for a function that is given as its syntax tree."""
    names = [one.arg for one in tree.args.args]
    if len(names) != len(arguments) or tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs:
        raise Untranslatable(f"its arguments are {ast.unparse(tree.args)!r}: expected {len(arguments)} of them")
    return _Reader(resolve).call(tree, dict(zip(names, arguments, strict=True)))


def source_of(function: Callable[..., Any]) -> ast.FunctionDef | ast.Lambda:
    """A function as it was written. A lambda is looked for in the lines that it stands in."""
    try:
        text = textwrap.dedent(inspect.getsource(function)).strip()
    except (OSError, TypeError):
        text = ""
    start = 0 if text.startswith(("def ", "@")) else max(0, text.find("lambda"))
    for end in range(len(text), start, -1):
        try:
            tree = ast.parse(text[start:end])
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                return node
        break
    raise Untranslatable("it cannot be read: expected a function whose source is there")


def _resolver(function: Callable[..., Any]) -> Resolver:
    inner = inspect.unwrap(function)
    if not isinstance(inner, FunctionType):
        raise Untranslatable("it cannot be read: expected a function of Python")
    outer = dict(zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True))

    def resolve(name: str) -> Any:
        if name in outer:
            return outer[name].cell_contents
        if name in inner.__globals__:
            return inner.__globals__[name]
        return getattr(__import__("builtins"), name, None)

    return resolve


class _Reader:
    """Carries a function out on symbols."""

    def __init__(self, resolve: Resolver, depth: int = 0) -> None:
        self._resolve, self._depth = resolve, depth

    def call(self, tree: ast.FunctionDef | ast.Lambda, names: dict[str, Node]) -> Node:
        if isinstance(tree, ast.Lambda):
            return self._value(tree.body, names)
        value = self._carry_out(tree.body, dict(names))
        if value is None:
            raise Untranslatable("it ends without returning a number")
        return value

    def _carry_out(self, statements: Sequence[ast.stmt], names: dict[str, Node]) -> Node | None:
        """The value returned, or None where the end is reached; `names` then hold what they are at the end."""
        for place, one in enumerate(statements):
            if isinstance(one, ast.Pass) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
                continue
            if isinstance(one, ast.Return) and one.value is not None:
                return self._value(one.value, names)
            if isinstance(one, ast.Assign) and len(one.targets) == 1:
                self._assign(one.targets[0], one.value, names)
            elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
                change = ast.BinOp(ast.Name(one.target.id, ast.Load()), one.op, one.value)
                names[one.target.id] = self._value(change, names)
            elif isinstance(one, ast.AnnAssign) and one.value is not None:
                self._assign(one.target, one.value, names)
            elif isinstance(one, ast.If):
                return self._choose(one, statements[place + 1 :], names)
            else:
                raise Untranslatable(f"it has {ast.unparse(one)!r}: expected assignments, if and return")
        return None

    def _assign(self, target: ast.expr, value: ast.expr, names: dict[str, Node]) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            values = [self._value(part, names) for part in value.elts]
            for part, node in zip(target.elts, values, strict=True):
                if not isinstance(part, ast.Name):
                    raise Untranslatable(f"it assigns to {ast.unparse(part)!r}: expected a name")
                names[part.id] = node
        elif isinstance(target, ast.Name):
            names[target.id] = self._value(value, names)
        else:
            raise Untranslatable(f"it assigns to {ast.unparse(target)!r}: expected a name")

    def _choose(self, one: ast.If, rest: Sequence[ast.stmt], names: dict[str, Node]) -> Node | None:
        """`if`, and everything behind it: each way is carried out to its end."""
        test = self._test(one.test, names)
        ways = [dict(names), dict(names)]
        ends = [self._carry_out([*one.body, *rest], ways[0]), self._carry_out([*one.orelse, *rest], ways[1])]
        if (ends[0] is None) != (ends[1] is None):
            raise Untranslatable("one way through it ends without returning a number")
        if ends[0] is None or ends[1] is None:
            names.clear()
            for name in ways[0].keys() & ways[1].keys():
                names[name] = _select(test, ways[0][name], ways[1][name])
            return None
        return _select(test, ends[0], ends[1])

    def _test(self, tree: ast.expr, names: Mapping[str, Node]) -> Node:
        value = self._value(tree, names)
        return value if value.type == "b" else Node("b", "!=", (value, constant(0).cast(value.type)))

    def _value(self, tree: ast.expr, names: Mapping[str, Node]) -> Node:
        if isinstance(tree, ast.Name) and tree.id in names:
            return names[tree.id]
        if isinstance(tree, (ast.Name, ast.Attribute)):
            found = self._found(tree)
            if isinstance(found, (bool, int, float)) or type(found).__name__ in ("float32", "float64"):
                return constant(found)
            if type(found).__module__ == "numpy" and hasattr(found, "item") and getattr(found, "ndim", 1) == 0:
                return constant(found.item())
            raise Untranslatable(f"it uses {ast.unparse(tree)!r}: expected its arguments, names of its own and numbers")
        if isinstance(tree, ast.Constant) and isinstance(tree.value, (bool, int, float)):
            return constant(tree.value)
        if isinstance(tree, ast.BinOp):
            if isinstance(tree.op, ast.Pow):
                return self._power(tree, names)
            if type(tree.op) in _OPERATORS:
                left, right = self._value(tree.left, names), self._value(tree.right, names)
                return _operation(_OPERATORS[type(tree.op)], left, right, tree)
        if isinstance(tree, ast.UnaryOp):
            inner = self._value(tree.operand, names)
            if isinstance(tree.op, ast.Not):
                return Node("b", "not", (self._test(tree.operand, names),))
            if isinstance(tree.op, ast.USub):
                if inner.what == "constant" and inner.type in "qd":
                    return constant(-inner.value)
                inner = inner.cast("q") if inner.type == "b" else inner
                return Node(inner.type, "negative", (inner,))
            if isinstance(tree.op, ast.UAdd):
                return inner
        if isinstance(tree, ast.Compare):
            return self._compare(tree, names)
        if isinstance(tree, ast.BoolOp):
            tests = [self._test(one, names) for one in tree.values]
            while len(tests) > 1:
                tests[:2] = [Node("b", "and" if isinstance(tree.op, ast.And) else "or", (tests[0], tests[1]))]
            return tests[0]
        if isinstance(tree, ast.IfExp):
            test = self._test(tree.test, names)
            return _select(test, self._value(tree.body, names), self._value(tree.orelse, names))
        if isinstance(tree, ast.Call) and not tree.keywords and isinstance(tree.func, (ast.Name, ast.Attribute)):
            return self._called(tree, [self._value(one, names) for one in tree.args])
        raise _refused(tree)

    def _found(self, tree: ast.expr) -> Any:
        if isinstance(tree, ast.Name):
            return self._resolve(tree.id)
        if isinstance(tree, ast.Attribute):
            owner = self._found(tree.value)
            if isinstance(owner, ModuleType):
                return getattr(owner, tree.attr, None)
        raise _refused(tree)

    def _compare(self, tree: ast.Compare, names: Mapping[str, Node]) -> Node:
        values = [self._value(one, names) for one in (tree.left, *tree.comparators)]
        result: Node | None = None
        for op, left, right in zip(tree.ops, values, values[1:], strict=False):
            if type(op) not in _OPERATORS:
                raise _refused(tree)
            one = _operation(_OPERATORS[type(op)], left, right, tree)
            result = one if result is None else Node("b", "and", (result, one))
        assert result is not None
        return result

    def _power(self, tree: ast.BinOp, names: Mapping[str, Node]) -> Node:
        base, exponent = self._value(tree.left, names), self._value(tree.right, names)
        if exponent.what == "constant" and exponent.value == 0.5:
            return _root(base)
        if exponent.what != "constant" or exponent.type != "q" or not 1 <= exponent.value <= MOST_POWER:
            raise Untranslatable(f"it has {ast.unparse(tree)!r}: expected a power from 1 to {MOST_POWER}")
        result = base
        for _ in range(exponent.value - 1):
            result = _operation("*", result, base, tree)
        return result

    def _called(self, tree: ast.Call, values: list[Node]) -> Node:
        found = self._found(tree.func)
        found = getattr(found, "py_func", found)
        if isinstance(found, FunctionType) and not (found.__module__ or "").startswith("numpy"):
            if self._depth > 16:
                raise Untranslatable(f"it has {ast.unparse(tree)!r}, which never ends")
            inner = source_of(found)
            names = [one.arg for one in inner.args.args]
            if len(names) != len(values):
                raise _refused(tree)
            reader = _Reader(_resolver(found), self._depth + 1)
            return reader.call(inner, dict(zip(names, values, strict=True)))
        name = getattr(found, "__name__", "")
        if name in _LIBRARY and len(values) == 1:
            return Node("d", name, (values[0].cast("d"),))
        how, n = _NAMED.get(name), len(values)
        if how in ("min", "max") and n > 1:
            type = _joint(*values)
            result = values[0].cast(type)
            for one in values[1:]:
                result = Node(type, how, (result, one.cast(type)))
            return result
        if how == "abs" and n == 1:
            value = values[0].cast("q") if values[0].type == "b" else values[0]
            return Node(value.type, "abs", (value,))
        if how == "sqrt" and n == 1:
            return _root(values[0])
        if how in ("float", "float32") and n == 1:
            return values[0].cast("d" if how == "float" else "f")
        if how == "where" and n == 3:
            test = (
                values[0] if values[0].type == "b" else Node("b", "!=", (values[0], constant(0).cast(values[0].type)))
            )
            return _select(test, values[1], values[2])
        raise _refused(tree)


def _operation(sign: str, left: Node, right: Node, tree: ast.AST) -> Node:
    type = _joint(left, right, division=sign == "/")
    if sign in _INTEGERS_ONLY and type != "q":
        raise _refused(tree)
    return Node("b" if sign in _COMPARISONS else type, sign, (left.cast(type), right.cast(type)))


def _root(value: Node) -> Node:
    value = value.cast("d") if value.type in "qb" else value
    return Node(value.type, "sqrt", (value,))


def _select(test: Node, first: Node, second: Node) -> Node:
    if first == second:
        return first
    type = "b" if first.type == second.type == "b" else _joint(first, second)
    return Node(type, "where", (test, first.cast(type), second.cast(type)))


def _refused(tree: ast.AST) -> Untranslatable:
    return Untranslatable(f"it has {ast.unparse(tree)!r}: expected arithmetic on numbers, if, min, max, abs and sqrt")


# ---- as C


def c_body(value: Node, result: str) -> list[str]:
    """The lines of a C function that returns a value as a `result` (a type of this file).

    Example:
        >>> c_body(read(lambda z, n: z // n, [argument("z", "q"), argument("n", "q")]), "q")
        ['return floor_divide(z, n);']
    """
    value = value.cast(result)
    writer = _CWriter(_shared(value))
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


def _shared(value: Node) -> set[Node]:
    """The nodes that are used more than once, arguments and constants aside."""
    uses: dict[Node, int] = {}
    for node in _walk(value):
        for one in node.inputs:
            uses[one] = uses.get(one, 0) + 1
    return {node for node, n in uses.items() if n > 1 and node.inputs}


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
        if node.what in _LIBRARY:
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
        super().__init__(_shared(value))
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
