"""C99 sources of a classifier that keeps learning on a device: integers only, no memory but its own.

The core lies in `c/` in parts, one idea each; what a model needs of it becomes one source, `kenyon.c`. Everything
that depends on the model is in `kenyon_model.h`: sizes, constants, the rule, the units' inputs or their seed, and what
the model had learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError, unknown
from kenyon.export._buffer import to_buffer
from kenyon.export._c_cost import Cost, cost_of, table_of
from kenyon.export._c_front import event_numbers, front_lines, front_sources
from kenyon.export._c_model import Parts, macros, parts_of
from kenyon.export._packages import PACKAGES, as_package
from kenyon.features.front import Events
from kenyon.utils.system import replace_file

TABLES = ("flash", "none")
STARTS = ("learned", "empty")
MOST_CLASSES = 65_535

BEFORE, AFTER = ["numbers.h", "roots.c", "vectors.c"], ["asking.c"]
HEARING = ["events.c"]
LEARNING = ["classes.c", "many.c", "save.c", "merge.c"]
"""Parts of the source in order: those that end in `.h` are the core's, which Python runs too."""


def write(
    classifier: KenyonClassifier,
    out: Path,
    tables: str = "flash",
    classes: int | None = None,
    start: str = "learned",
    package: str | None = None,
    **events: Any,
) -> list[Path]:
    """Write the sources, a wrapper for Python, a sketch, a Makefile and a README that says what they need.

    Args:
        classifier: one that learns in integers; any other is exported for prediction only.
        out: the folder.
        tables: `flash` for a table of the units' inputs, `none` to draw them from the seed for every sample.
        classes: how many classes there is room for; None for those expected.
        start: `learned`, or `empty` for a device that begins with nothing.
        package: what to write it as a library for, a name of `PACKAGES`; None for plain sources.
        events: of a model with a front end, how labels become events (`kenyon.features.front.Events`).
    """
    chosen: list[tuple[str, str, tuple[str, ...]]] = [("tables", tables, TABLES), ("start", start, STARTS)]
    chosen += [("package", package, tuple(PACKAGES))] if package is not None else []
    for name, value, allowed in chosen:
        if value not in allowed:
            raise unknown(name, value, allowed)
    parts = parts_of(classifier)
    n_classes = _room(classifier, parts, classes)
    values = {"max_classes": n_classes, "tables": int(tables == "flash" and parts.inputs is not None)}
    begin = to_buffer(classifier) if parts.learns and start == "learned" else b""
    values |= {"learns": int(parts.learns), "start": int(bool(begin)), "model_id": parts.model_id}
    if parts.front is None and events:
        raise ConfigError(f"{min(events)} was given: expected a model with a front end, such as front=Spectra()")
    if parts.front is not None:
        second = bool(parts.learns and parts.numbers["second_order"])
        values |= event_numbers(parts.front, Events(**events), parts.labels, second)
    else:
        values |= {"front": 0}
    if parts.learns:
        values["save_bytes"] = 36 + n_classes * (4 + parts.sizes["class_bytes"]) + parts.sizes["shared_bytes"]
    table = parts.inputs if values["tables"] else None
    costs = {name: cost_of(parts, n_classes, name == "flash", len(begin)) for name in TABLES}
    written = {
        "kenyon.h": _part("kenyon.h"),
        "kenyon.c": _source(parts),
        "kenyon_model.h": "\n".join(_header(classifier, parts, values, table, begin)) + "\n",
        "kenyon_device.py": _part("kenyon_device.py"),
        "kenyon_app.h": _part("kenyon_app.h"),
        "kenyon_slots.h": _part("kenyon_slots.h"),
        "kenyon_sketch.ino": _part("kenyon_sketch.ino"),
        "kenyon_module.c": _part("kenyon_module.c"),
        "Makefile": _part("Makefile"),
        "README.md": _part("README.md").replace("COST", table_of(costs)).replace("KIND", _kind(parts)),
    }
    if parts.front is not None:
        written |= front_sources(parts.front)
    if package is not None:
        written = as_package(package, written)
    for name, text in written.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        replace_file(out / name, text.encode())
    return [out / name for name in written]


def device_costs(classifier: KenyonClassifier, classes: int | None = None) -> dict[str, Cost]:
    """What a model needs on a device, for either kind of `tables`: bytes of RAM and flash, instructions for a sample.

    Example:
        >>> import numpy as np
        >>> X, y = np.eye(64, dtype=np.uint8), np.arange(64) % 4
        >>> model = KenyonClassifier(memory_budget="6KB", shape=(8, 8)).partial_fit(X, y)
        >>> device_costs(model)["none"].flash < device_costs(model)["flash"].flash
        True
    """
    parts = parts_of(classifier)
    room, start = _room(classifier, parts, classes), len(to_buffer(classifier)) if parts.learns else 0
    return {name: cost_of(parts, room, name == "flash", start) for name in TABLES}


def _part(name: str) -> str:
    return (files("kenyon.export") / "c" / name).read_text(encoding="utf-8")


def _core_part(name: str) -> str:
    """A file of the core without what it includes, which stands before it."""
    lines = (files("kenyon") / "core" / name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith('#include "'))


def _kind(parts: Parts) -> str:
    if parts.learns:
        return "It keeps learning on the device, with the same bits as in Python."
    return (
        '**It predicts only**: the model learned with `arithmetic="float"`, so that `kenyon_learn` and all else that '
        "would change it give `KENYON_ERROR_FIXED`. Its weights were rounded to 16 bits. A model that learns with "
        '`arithmetic="integer"` keeps learning on the device.'
    )


def _room(classifier: KenyonClassifier, parts: Parts, classes: int | None) -> int:
    known = len(parts.labels)
    if not parts.learns:
        return known
    room = max(known, int(classifier.expected_classes)) if classes is None else classes
    if isinstance(room, bool) or not isinstance(room, int) or not max(known, 1) <= room <= MOST_CLASSES:
        raise ConfigError(f"classes is {classes!r}: expected an integer from {max(known, 1)} to {MOST_CLASSES}")
    return room


def _source(parts: Parts) -> str:
    """The parts put together; the public header first."""
    names = BEFORE + parts.features + ["bar.h", "activity.c"] + parts.layer + (LEARNING if parts.learns else []) + AFTER
    names += HEARING if parts.front is not None else []
    head = (
        "/* Kenyon on a device: see kenyon.h. C99; of the C library, only memcpy and memset. */\n"
        "#define KENYON_SOURCE\n"
        '#include "kenyon.h"\n\n'
        "void *memcpy(void *to, const void *from, size_t size);\n"
        "void *memset(void *to, int value, size_t size);\n"
    )
    texts = [_core_part(name) if name.endswith(".h") else _part(name) for name in names]
    at = names.index(parts.layer[0])
    rule = "\n/* ---- the rule, as exported */\n\n" + "\n\n".join(parts.functions) + "\n" if parts.functions else ""
    return "\n".join([head, *texts[:at], *([rule] if rule else []), *texts[at:]])


def _header(
    classifier: KenyonClassifier, parts: Parts, values: dict[str, int], table: NDArray | None, begin: bytes
) -> Iterator[str]:
    """The lines of kenyon_model.h."""
    yield "/* Sizes and constants of one model, written by `kenyon export`. */"
    yield "#ifndef KENYON_MODEL_H"
    yield "#define KENYON_MODEL_H"
    yield ""
    yield "#include <stdint.h>"
    yield ""
    yield "/* Classes by their number on the device:"
    yield from (f" *     {number}: {_comment(label)}" for number, label in parts.labels.items())
    yield " */"
    if classifier.unlabelled is not None:
        yield f"#define KENYON_UNLABELLED ({int(classifier.unlabelled)})"
    if parts.front is not None:
        yield from front_lines(parts.front)
    known = macros(parts, **values)
    for name, value in known.items():
        yield f"#define {name} {_number(name, value)}"
    yield ""
    yield from _types(parts, table is not None)
    yield ""
    yield "#ifdef KENYON_SOURCE"
    if table is not None:
        yield from _array("static const kenyon_input kenyon_inputs[KENYON_UNITS][KENYON_CONNECTIONS]", table)
    for name, array in parts.tables.items():
        kind = "int8_t" if array.dtype.itemsize == 1 else "int16_t"
        yield from _array(f"static const {kind} kenyon_{name}[{len(array)}][{array.shape[1]}]", array)
    if parts.fixed is not None:
        weights, offsets = parts.fixed
        yield from _array("static const int16_t kenyon_weights[KENYON_MAX_CLASSES][KENYON_UNITS]", weights)
        yield f"static const int64_t kenyon_offsets[] = {{{', '.join(f'INT64_C({o})' for o in offsets.tolist())}}};"
        yield f"static const int32_t kenyon_labels[] = {{{', '.join(map(_signed, parts.labels))}}};"
    if begin:
        yield "/* What the model had learned: a buffer of kenyon_save. */"
        yield "static const uint8_t kenyon_start[] = {"
        yield from _rows(list(begin), 24)
        yield "};"
    yield "#endif"
    yield ""
    yield "#endif"


def _types(parts: Parts, table: bool) -> Iterator[str]:
    """The types that depend on the model, and what features work on."""
    n = parts.numbers
    kind = 0 if parts.inputs is None else parts.inputs.itemsize
    yield f"typedef {'uint32_t' if kind == 4 else 'uint16_t'} kenyon_input;"
    yield f"typedef {_response(n)} kenyon_response;"
    yield "#if defined(KENYON_WIDE) && KENYON_NARROW && (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9))"
    yield "#define KENYON_VECTORS"
    yield "#endif"
    if n["kind"] == 3:
        yield from _image(bool(parts.sizes["narrow"]))
    fields: list[str] = []
    if n["kind"] == 3:
        fields = ["kenyon_pixel image[KENYON_IMAGE];"]
        if not table:
            fields += ["uint64_t state;", "kenyon_input pool[{}];", "kenyon_input inputs[KENYON_CONNECTIONS];"]
            fields += ["int32_t order[{}];"] if n["oriented"] else []
        window = n["channels"] * n["window_height"] * n["window_width"]
        fields = [one.format(window) for one in fields]
    elif n["kind"] == 4:
        fields = ["uint8_t view[KENYON_PADDED_HEIGHT * KENYON_PADDED_WIDTH * KENYON_CHANNELS];"]
        fields += ["int32_t scales[KENYON_PLACE_ROWS * KENYON_PLACE_COLUMNS];", "uint16_t roots[KENYON_UNITS];"]
    elif n["kind"] == 1 and not table:
        fields = ["uint64_t state;", "kenyon_input pool[KENYON_INPUTS];"]
    yield "typedef struct {"
    yield from (f"    {one}" for one in fields or ["uint8_t nothing;"])
    yield "} kenyon_workplace;"


def _image(narrow: bool) -> Iterator[str]:
    """How a padded sample lies in memory: two values in a word, or side by side for vector registers."""
    if narrow:
        yield "#ifdef KENYON_VECTORS"
        yield "typedef int16_t kenyon_pixel;"
        yield "#define KENYON_IMAGE (KENYON_TOGETHER * (KENYON_PLACES + KENYON_SLACK))"
        yield "#else"
    yield f"typedef {'uint32_t' if narrow else 'int32_t'} kenyon_pixel;"
    yield "#define KENYON_IMAGE (KENYON_PLACES + KENYON_SLACK)"
    if narrow:
        yield "#endif"


def _response(n: dict[str, int]) -> str:
    """The narrowest type of a unit's response."""
    if n["kind"] in (2, 4) or (n["kind"] == 3 and n["root"]):
        return "uint8_t"
    return "int16_t" if n["largest"] <= 32767 else "int32_t"


def _number(name: str, value: int) -> str:
    if name in ("KENYON_SEED",):
        return f"UINT64_C({value})"
    if name in ("KENYON_CHANCE_SEED", "KENYON_MODEL_ID"):
        return f"{value}u"
    return _signed(value)


def _signed(value: int) -> str:
    if not -(2**31) < value < 2**31:
        return f"(-INT64_C({-value - 1}) - 1)" if value < 0 else f"INT64_C({value})"
    return f"({value})" if value < 0 else str(value)


def _comment(label: Any) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in str(label)).replace("*/", "* /")


def _array(declared: str, values: NDArray) -> Iterator[str]:
    yield f"{declared} = {{"
    for row in values.tolist():
        yield "    {"
        yield from _rows(row, 20)
        yield "    },"
    yield "};"


def _rows(numbers: Sequence[int], each: int) -> Iterator[str]:
    for start in range(0, len(numbers), each):
        yield "        " + "".join(f"{number}, " for number in numbers[start : start + each]).rstrip()
