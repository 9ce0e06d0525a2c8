"""What a model costs on a device: bytes of RAM and flash, and instructions for one sample, counted from its sizes.

Factors are those of a Cortex-M4, compiled with -O2; `benchmarks/device.py` measures them, and
`tests/device/test_device_emulated.py` compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kenyon.export._c_front import SPECTRA
from kenyon.export._c_model import Parts

CODE_BYTES = 9_000
"""About what the code takes on a Cortex-M; `benchmarks/device.py` measures it."""


class Cost(NamedTuple):
    """Bytes and instructions of a model on a device; `device_costs` counts them.

    Attributes:
        state: bytes that are learned, all classes there is room for included.
        ram: bytes of `kenyon_model`.
        flash: bytes of tables and of what the model had learned, without the code.
        learn, predict: instructions for one sample.
        solve: those of a readout that is solved when a prediction is asked for after learning.
        again: the same, where one sample was learned since the last prediction.

    Example:
        >>> Cost(state=1000, ram=1200, flash=900, learn=5000, predict=4000, solve=0).ram
        1200
    """

    state: int
    ram: int
    flash: int
    learn: int
    predict: int
    solve: int
    again: int = 0


ROWS = {
    "state": "what is learned, with room for all classes, bytes",
    "ram": "RAM in all, `sizeof (kenyon_model)`, besides the stack, bytes",
    "flash": f"flash for tables and start, besides about {CODE_BYTES:,} bytes of code, bytes",
    "learn": "instructions of a Cortex-M4 to learn a sample, about",
    "predict": "instructions to predict a sample, about",
    "solve": "instructions to solve the readout, once after learning, about",
    "again": "instructions to solve it after one more sample, about",
}
"""What each number is, in words."""


def rows_of(costs: Mapping[str, Cost]) -> list[tuple[str, ...]]:
    """What costs mean and how much they are, those that are zero everywhere left out.

    Example:
        >>> rows_of({"flash": Cost(1000, 1200, 900, 5000, 4000, 0)})[0]
        ('what is learned, with room for all classes, bytes', '1,000')
    """
    rows = [(words, *(f"{getattr(cost, name):,}" for cost in costs.values())) for name, words in ROWS.items()]
    return [row for row in rows if set(row[1:]) != {"0"}]


def table_of(costs: Mapping[str, Cost]) -> str:
    """The same as a Markdown table."""
    head = [("", *(f"`--tables {name}`" for name in costs)), ("---",) * (len(costs) + 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*head, *rows_of(costs)])


def cost_of(parts: Parts, n_classes: int, table: bool, start: int) -> Cost:
    """What a model costs.

    Args:
        n_classes: how many there is room for.
        table: whether the units' inputs lie in flash.
        start: bytes of what it had learned.
    """
    flash = start + (parts.inputs.nbytes if table and parts.inputs is not None else 0)
    flash += sum(array.size * (1 if array.dtype.itemsize == 1 else 2) for array in parts.tables.values())
    if parts.fixed is not None:
        flash += sum(array.nbytes for array in parts.fixed)
    learn, predict, *solve = _layer_instructions(parts, n_classes)
    features = _feature_instructions(parts, table)
    state = 16 + 4 * n_classes
    if parts.learns:
        state += n_classes * parts.sizes["class_bytes"] + parts.sizes["shared_bytes"]
    return Cost(state, ram_of(parts, n_classes, table), flash, features + learn, features + predict, *solve)


def ram_of(parts: Parts, n_classes: int, table: bool) -> int:
    """`sizeof (kenyon_model)`, with every type aligned to its size."""
    n, units = parts.numbers, parts.numbers["units"]
    fields = [(8, 2), (4, 1), (4, n_classes)]
    if n["second_order"]:
        fields += [(8, n_classes), (2, n_classes * units), (1, 2)]
        fields += [(2, parts.sizes["pairs"])] if n["bits"] == 16 else [(1, 3 * parts.sizes["pairs"])]
        fields += [(2, n_classes * units), (8, n_classes), (1, n_classes), (1, 2), (2, 1)]
    elif parts.learns:
        fields += [(4, n_classes), (1, n_classes), (1, n_classes * parts.sizes["column"])]
    workplace = _workplace(parts, table)
    scratch, alignment = _structure(workplace), max(size for size, _ in workplace)
    if n["second_order"]:
        scratch, alignment = max(scratch, _structure([(4, 3 * units), (8, units), (2, units)])), 8
    fields += [(alignment, -(-scratch // alignment))]
    fields += [(response_bytes(n), units)]
    return _structure([*fields, *([(4, front_ram(n) // 4)] if n.get("front") else [])])


def front_ram(n: Mapping[str, int]) -> int:
    """`sizeof (kenyon_ear)`: the front end, the last segment and its sample, and the state of events."""
    if n["front"] == SPECTRA:
        bands, size = n["front_bands"], n["front_size"]
        front = [(2, 10), (1, 1), (4, 1), (2, bands + 2 + 2 * size), (1, n["front_kept"] * (bands + 1))]
    else:
        front = [(2, 10), (1, 1), (4, 1 + 6 + 11), (1, n["front_length"] * 11)]
    return _structure([(4, _structure(front) // 4 + 4), (1, n["inputs"]), (4, 4 + 2), (1, 5)])


def response_bytes(n: dict[str, int]) -> int:
    """Bytes of a unit's response."""
    if n["kind"] in (2, 4) or (n["kind"] == 3 and n["root"]):
        return 1
    return 2 if n["largest"] <= 32767 else 4


def _workplace(parts: Parts, table: bool) -> list[tuple[int, int]]:
    """(bytes, number) of each field of `kenyon_workplace`."""
    n = parts.numbers
    each = 2 if parts.inputs is None else parts.inputs.itemsize
    if n["kind"] == 3:
        window = n["channels"] * n["window_height"] * n["window_width"]
        fields = [(4, n["places"] + parts.sizes["slack"])]
        fields += [] if table else [(8, 1), (each, window), (each, n["connections"])]
        return fields + ([(4, window)] if n["oriented"] and not table else [])
    if n["kind"] == 4:
        s = parts.sizes
        view = s["padded_height"] * s["padded_width"] * n["channels"]
        return [(1, view), (4, s["place_rows"] * s["place_columns"]), (2, n["units"])]
    return [(1, 1)] if table or n["kind"] == 2 else [(8, 1), (each, n["inputs"])]


def _structure(fields: list[tuple[int, int]]) -> int:
    size = 0
    for each, number in fields:
        size = -(-size // each) * each + each * number
    widest = max(each for each, _ in fields)
    return -(-size // widest) * widest


def _feature_instructions(parts: Parts, table: bool) -> int:
    n, units = parts.numbers, parts.numbers["units"]
    if n["kind"] == 2:
        return 6 * units
    if n["kind"] == 4:
        values, places = n["size"] ** 2 * n["channels"], parts.sizes["place_rows"] * parts.sizes["place_columns"]
        return n["views"] * (9 * values * places // 2 + units * n["copies"] * n["pool"] ** 2 * (9 * values // 2 + 9))
    inputs = units * n["connections"]
    if n["kind"] == 1:
        return 3 * inputs + (0 if table else 43 * inputs)
    drawing = 0 if table else 56 * inputs
    if not table and n["oriented"]:
        window = n["channels"] * n["window_height"] * n["window_width"]
        drawing += units * window * (26 + 13 * window.bit_length())
    shifts = units * n["rows"] * n["columns"]
    return 6 * n["places"] + 7 * n["connections"] * shifts // 4 + (0 if n["best"] else 12 * shifts) + drawing


def _layer_instructions(parts: Parts, n_classes: int) -> tuple[int, int, int, int]:
    """(learn, predict, solve, again)."""
    n, units = parts.numbers, parts.numbers["units"]
    if not parts.learns:
        return 0, 7 * n_classes * units, 0, 0
    if not n["second_order"]:
        learn, predict = (66, 7) if n["kind"] == 2 else (33, 5)  # all units may be active, or about half of them
        return learn * units, predict * n_classes * units, 0, 0
    pairs = parts.sizes["pairs"]
    step = n_classes * (14 * pairs + 230 * units)
    return 6 * pairs + 60 * units, 7 * n_classes * units, n["steps"] * step, 3 * step
