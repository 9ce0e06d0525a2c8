"""What a call of the core costs: the binding, beside ctypes and cffi with the same values.

    python benchmarks/binding.py

An array of one number and two numbers are passed, and next to nothing is computed with them. Processor time of a
call, the median of a few rounds, less that of the loop around it. Wanted: at most 1 microsecond.
"""

from __future__ import annotations

import ctypes
import statistics
from collections.abc import Callable
from importlib.util import find_spec
from time import process_time

import numpy as np

from kenyon import core

CALLS, ROUNDS = 200_000, 7


def microseconds(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS):
        begin = process_time()
        for _ in range(CALLS):
            call()
        middle = process_time()
        for _ in range(CALLS):
            pass
        taken.append(middle - begin - (process_time() - middle))
    return statistics.median(taken) / CALLS * 1e6


def main() -> None:
    x = np.ones((1, 1))
    packed, entry = core.pack(x, 1e30, False), core.first_unbearable
    rows: dict[str, Callable[[], object]] = {
        "kenyon.core, an array and two numbers": lambda: entry(x, 1e30, False),
        "kenyon.core, a pack of them": lambda: entry(packed),
    }
    compare = ctypes.CDLL(None).memcmp
    compare.argtypes, compare.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t], ctypes.c_int
    address = x.ctypes.data
    rows["ctypes, the address of an array and two numbers"] = lambda: compare(x.ctypes.data, address, 8)
    rows["ctypes, three numbers"] = lambda: compare(address, address, 8)
    if find_spec("cffi"):
        import cffi

        ffi = cffi.FFI()
        ffi.cdef("int memcmp(const void *, const void *, size_t);")
        library = ffi.dlopen(None)
        pointer = ffi.from_buffer(x)
        rows["cffi, an array and two numbers"] = lambda: library.memcmp(ffi.from_buffer(x), pointer, 8)
    for name, call in rows.items():
        print(f"{name:50} {microseconds(call):6.2f} microseconds")


if __name__ == "__main__":
    main()
