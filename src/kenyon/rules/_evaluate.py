"""An expression of a rule on whole arrays: the same operations in the same types as in C, and so the same bits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.rules._expressions import Node

TYPES: Mapping[str, type[np.generic]] = {"f": np.float32, "d": np.float64, "q": np.int64, "b": np.bool_}

_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": np.divide, "//": np.floor_divide, "%": np.remainder,
    ">>": operator.rshift, "<<": operator.lshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "negative": operator.neg, "abs": np.abs,
    "sqrt": np.sqrt, "where": np.where,
    "min": lambda a, b: np.where(b < a, b, a),
    "max": lambda a, b: np.where(b > a, b, a),
}  # fmt: skip


def evaluate(value: Node, names: Mapping[str, Any]) -> NDArray:
    """The value of an expression, in its own type.

    Args:
        names: what its arguments are: arrays, or scalars of NumPy, of the types that they have in the expression.
    """
    known: dict[Node, Any] = {}
    with np.errstate(all="ignore"):  # a division by zero is infinite, as it is in C
        return _value(value, names, known)


def _value(node: Node, names: Mapping[str, Any], known: dict[Node, Any]) -> Any:
    if node in known:
        return known[node]
    if node.what == "argument":
        result = names[node.value]
    elif node.what == "constant":
        result = TYPES[node.type](node.value)
    else:
        inputs = [_value(one, names, known) for one in node.inputs]
        if node.what == "cast":
            result = np.asarray(inputs[0]).astype(TYPES[node.type])[()]
        else:
            result = _OPERATIONS.get(node.what, getattr(np, node.what, None))(*inputs)  # type: ignore[misc]
    known[node] = result
    return result
