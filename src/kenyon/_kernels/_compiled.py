"""What kernels that are built around a rule have in common: how they are compiled, and a key to keep them by."""

import hashlib
from types import FunctionType

import numpy as np

from kenyon._kernels.vector import lanes_side_by_side


class SideBySide:
    """A compiled function whose first call, on no samples, compiles it with LLVM's superword vectoriser.

    Its arguments from `place` on are the activity of a block, and the first and the last of its samples.
    """

    def __init__(self, function, place):
        self._function, self._place = function, place
        self._ready = set()

    def __call__(self, *arguments):
        place = self._place
        kind = arguments[place][1].dtype
        if kind not in self._ready:
            with lanes_side_by_side():
                self._function(*arguments[: place + 1], 0, 0, *arguments[place + 3 :])
            self._ready.add(kind)
        return self._function(*arguments)


def digest_of(function):
    """Of a function's code, and of the constants and functions it refers to, which are compiled into it."""
    code = function.__code__
    digest = hashlib.sha256(code.co_code + repr((code.co_consts, code.co_names)).encode())
    outside = [function.__globals__.get(name) for name in code.co_names]
    outside += [cell.cell_contents for cell in function.__closure__ or ()]
    for value in outside:
        inner = getattr(value, "py_func", value)
        if isinstance(inner, FunctionType):
            digest.update(digest_of(inner).encode() if inner is not function else b"itself")
        elif isinstance(value, (int, float, str, tuple, np.generic)):
            digest.update(repr(value).encode())
    return digest.hexdigest()
