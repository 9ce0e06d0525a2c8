"""The front end of a model in C: what it is compiled with, and how labels become events."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from math import prod
from typing import Any

from kenyon.errors import ConfigError
from kenyon.features.front import Events, FrontPart, Motion, Spectra

SOURCE, HEADER = "kenyon_front.c", "kenyon_front.h"
SPECTRA, MOTION = 1, 2
"""KENYON_FRONT of either."""


def front_numbers(front: FrontPart | None, n_inputs: int) -> dict[str, int]:
    """The macros of a front end, which models have to share to exchange their states."""
    if front is None:
        return {}
    if prod(front.shape) != n_inputs:
        raise ConfigError(f"the model learned samples of {n_inputs} bytes: expected {prod(front.shape)}, as {front}")
    if type(front) not in (Spectra, Motion):
        raise ConfigError(f"front is {front}: expected Spectra or Motion, which there are in C")
    if isinstance(front, Spectra):
        names: tuple[str, ...] = ("rate", "low", "high", "size", "bands", "frames", "kept", "gap")
        kind = SPECTRA
    else:
        names, kind = ("length", "hop", "step", "fine"), MOTION
    numbers = {f"front_{name}": getattr(front, name) for name in names}
    return {"front": kind, "channels_in": getattr(front, "inputs", 1), **numbers}


def event_numbers(front: FrontPart, events: Events, labels: Mapping[int, Any], second_order: bool) -> dict[str, int]:
    """The macros of events; labels are those of the device by their number."""
    if events.reject is not None and not second_order:
        raise ConfigError(
            f"reject is {events.reject}: expected None, since only a second-order layer in integers has distances"
        )
    hold = front.hold if events.hold is None else events.hold
    numbers = {"agree": events.agree, "hold": hold, "reject": events.limit or 0}
    numbers["feed_most"] = hold * getattr(front, "inputs", 1)
    if events.nothing is not None:
        found = [number for number, label in labels.items() if label == events.nothing]
        if not found:
            raise ConfigError(f"nothing is {events.nothing!r}: expected one of the classes {list(labels.values())}")
        numbers["nothing"] = found[0]
    return numbers


def front_lines(front: FrontPart) -> list[str]:
    """What kenyon_model.h has besides macros of numbers."""
    lines = [f'#include "{HEADER}"']
    if isinstance(front, Spectra):
        lines.append(f"#define KENYON_FRONT_EDGES {', '.join(map(str, front.edges))}")
    return lines


def front_sources(front: FrontPart) -> dict[str, str]:
    """The front end as a header and a source of its own, with the memory that it needs and no more."""
    core = files("kenyon") / "core" / "front"
    if isinstance(front, Spectra):
        sizes = {"SPECTRA_SIZE": front.size, "SPECTRA_BANDS": front.bands, "SPECTRA_KEPT": front.kept}
        name = "spectra.c"
    else:
        assert isinstance(front, Motion)
        sizes, name = {"MOTION_LENGTH": front.length}, "motion.c"
    header = (core / "front.h").read_text(encoding="utf-8")
    guard = "#define KENYON_FRONT_H\n"
    header = header.replace(guard, guard + "".join(f"#define KENYON_{key} {size}\n" for key, size in sizes.items()))
    source = (core / name).read_text(encoding="utf-8").replace('"front.h"', f'"{HEADER}"')
    return {HEADER: header, SOURCE: source}
