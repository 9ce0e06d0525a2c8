"""The functions of a rule read as one expression each.

A rule is plain arithmetic on numbers (`kenyon.rules.Rule`). Its functions are read from their source and carried out
once on symbols: assignments are substituted, `if` becomes a choice between two values. `+ - * /`, comparisons, `and`,
`or`, `not`, `abs`, `min`, `max`, `sqrt` and powers of a fixed integer are exact, or rounded once, the same everywhere.

This file, `_expressions.py`, `_as_c.py` and `_source.py` import nothing but the standard library and each other, since
the build uses them before the package can be imported.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from kenyon.rules._expressions import LIBRARY, Node, Untranslatable, constant, joint_type

_OPERATORS: Mapping[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.RShift: ">>", ast.LShift: "<<", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_INTEGERS_ONLY = ("//", "%", ">>", "<<", "&", "|", "^")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_NAMED = {"min": "min", "max": "max", "abs": "abs", "minimum": "min", "maximum": "max", "fabs": "abs", "where": "where"}
_NAMED |= {"sqrt": "sqrt", "absolute": "abs", "float": "float", "float64": "float", "float32": "float32"}
MOST_POWER = 8


Resolver = Callable[[str], Any]
"""What a name stands for that is neither an argument nor assigned in the function: a number, a function, a module."""


def read(function: Callable[..., Any], arguments: Sequence[Node]) -> Node:
    """What a function returns for these arguments, as an expression.

    Example:
        >>> from kenyon.rules._expressions import argument
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
        return _as_test(self._value(tree, names))

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
        if name in LIBRARY and len(values) == 1:
            return Node("d", name, (values[0].cast("d"),))
        how, n = _NAMED.get(name), len(values)
        if how in ("min", "max") and n > 1:
            type = joint_type(*values)
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
            return _select(_as_test(values[0]), values[1], values[2])
        raise _refused(tree)


def _as_test(value: Node) -> Node:
    return value if value.type == "b" else Node("b", "!=", (value, constant(0).cast(value.type)))


def _operation(sign: str, left: Node, right: Node, tree: ast.AST) -> Node:
    type = joint_type(left, right, division=sign == "/")
    if sign in _INTEGERS_ONLY and type != "q":
        raise _refused(tree)
    return Node("b" if sign in _COMPARISONS else type, sign, (left.cast(type), right.cast(type)))


def _root(value: Node) -> Node:
    value = value.cast("d") if value.type in "qb" else value
    return Node(value.type, "sqrt", (value,))


def _select(test: Node, first: Node, second: Node) -> Node:
    if first == second:
        return first
    type = "b" if first.type == second.type == "b" else joint_type(first, second)
    return Node(type, "where", (test, first.cast(type), second.cast(type)))


def _refused(tree: ast.AST) -> Untranslatable:
    return Untranslatable(f"it has {ast.unparse(tree)!r}: expected arithmetic on numbers, if, min, max, abs and sqrt")
