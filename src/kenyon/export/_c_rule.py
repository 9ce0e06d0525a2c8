"""The whole-number functions of a rule as C: plain Python arithmetic in, one C function out.

A rule that learns in whole numbers says how in `whole_step`, `whole_limit` and `whole_score` (`kenyon.rules.Rule`).
They are arithmetic on whole numbers of 64 bits, so that C can be written from their source: rules from outside the
package are exported like those inside it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping

from kenyon.errors import ConfigError

_OPERATORS: Mapping[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|"}
_CALLED: Mapping[type, str] = {ast.RShift: "down", ast.LShift: "up", ast.FloorDiv: "divide"}
_COMPARISONS: Mapping[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_FUNCTIONS: Mapping[str, str] = {"min": "min64", "max": "max64", "abs": "absolute"}


def c_function(name: str, function: Callable[..., int] | None, arguments: int, constants: tuple[int, ...]) -> str:
    """A rule's function in C, or one that gives its first argument where the rule has none.

    Args:
        name: of the C function.
        function: a static method of the rule.
        arguments: how many of its parameters are arguments; the others are the constants.
        constants: their values.

    Example:
        >>> print(c_function("rule_score", lambda z, n: z // n, 2, ()))
        static int64_t rule_score(int64_t z, int64_t n)
        {
            return divide(z, n);
        }
    """
    if function is None:
        return c_function(name, _first, arguments, ())
    node = _source(name, function)
    names = [argument.arg for argument in node.args.args]
    head = f"static int64_t {name}({', '.join(f'int64_t {one}' for one in names[:arguments])})"
    body = [f"const int64_t {one} = INT64_C({value});" for one, value in zip(names[arguments:], constants, strict=True)]
    statements = node.body if isinstance(node.body, list) else [ast.Return(node.body)]
    used = {one.id for part in statements for one in ast.walk(part) if isinstance(one, ast.Name)}
    body += [f"UNUSED({one});" for one in names if one not in used]
    writer = _Writer(name, set(names))
    body += [line for statement in statements for line in writer.statement(statement)]
    return "\n".join([head, "{", *(f"    {line}" for line in body), "}"])


def _first(z: int, n: int) -> int:
    return z


def _source(name: str, function: Callable[..., int]) -> ast.FunctionDef | ast.Lambda:
    """The function as it was written. A lambda is looked for in the line that it stands in."""
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
    raise ConfigError(f"{name} cannot be read: expected a function whose source is there")


class _Writer:
    """Statements and expressions as C."""

    def __init__(self, name: str, known: set[str]) -> None:
        self._name, self._known = name, known

    def statement(self, node: ast.stmt) -> list[str]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return []  # a docstring
        if isinstance(node, ast.Return) and node.value is not None:
            return [f"return {self._outer(node.value)};"]
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            target = node.targets[0].id
            value, kind = self._outer(node.value), "" if target in self._known else "int64_t "
            self._known.add(target)
            return [f"{kind}{target} = {value};"]
        if isinstance(node, ast.If):
            inner = [line for part in node.body for line in self.statement(part)]
            other = [line for part in node.orelse for line in self.statement(part)]
            lines = [f"if ({self._outer(node.test)}) {{", *(f"    {line}" for line in inner)]
            return [*lines, *(["} else {", *(f"    {line}" for line in other)] if other else []), "}"]
        raise self._refused(node)

    def _outer(self, node: ast.expr) -> str:
        """An expression without brackets around the whole of it."""
        text = self._expression(node)
        return text[1:-1] if text.startswith("(") and _closes_at_end(text) else text

    def _expression(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            if node.id not in self._known:
                raise ConfigError(f"{self._name} uses {node.id!r}: expected its own arguments and names only")
            return node.id
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return str(node.value) if abs(node.value) < 2**31 else f"INT64_C({node.value})"
        if isinstance(node, ast.BinOp):
            left, right = node.left, node.right
            if type(node.op) in _OPERATORS:
                return f"({self._expression(left)} {_OPERATORS[type(node.op)]} {self._expression(right)})"
            if type(node.op) in _CALLED:
                cast = "" if isinstance(node.op, ast.FloorDiv) else "(int)"
                return f"{_CALLED[type(node.op)]}({self._outer(left)}, {cast}{self._expression(right)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return f"(-{self._expression(node.operand)})"
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            sign = _COMPARISONS[type(node.ops[0])]
            return f"({self._expression(node.left)} {sign} {self._expression(node.comparators[0])})"
        if isinstance(node, ast.BoolOp):
            sign = " && " if isinstance(node.op, ast.And) else " || "
            return f"({sign.join(map(self._expression, node.values))})"
        if isinstance(node, ast.IfExp):
            parts = (self._expression(part) for part in (node.test, node.body, node.orelse))
            return "({} ? {} : {})".format(*parts)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return self._call(_FUNCTIONS[node.func.id], [self._outer(one) for one in node.args])
        raise self._refused(node)

    def _call(self, function: str, arguments: list[str]) -> str:
        while len(arguments) > 2:  # min and max of several
            arguments = [f"{function}({arguments[0]}, {arguments[1]})", *arguments[2:]]
        return f"{function}({', '.join(arguments)})"

    def _refused(self, node: ast.AST) -> ConfigError:
        return ConfigError(
            f"{self._name} has {ast.unparse(node)!r}, which has no form in C: expected arithmetic on whole numbers, "
            "if, min, max and abs"
        )


def _closes_at_end(text: str) -> bool:
    """Whether the first bracket of a text closes at its end."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return place == len(text) - 1
    return False
