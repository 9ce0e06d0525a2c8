"""Domains: parts of a data set whose inputs differ, such as people, months, sessions; one task after the other.

Every sample has a domain, by number, in the splits of a `Dataset`; `Dataset.domain_names` names them in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import InputError

if TYPE_CHECKING:
    from kenyon.data.streams._dataset import Dataset, Split


def number_domains(name: str, *parts: tuple[Any, int] | None) -> tuple[tuple[str, ...], list[NDArray[np.int64] | None]]:
    """Names of domains in the order in which they first come, and each part's by number.

    Args:
        name: of the data set, in errors.
        parts: the domains of each part as given (any values), and how many samples it has; None for a part that
            is not there.
    """
    names: dict[str, int] = {}
    numbered: list[NDArray[np.int64] | None] = []
    for part in parts:
        if part is None:
            numbered.append(None)
            continue
        values, n = np.asarray(part[0]), part[1]
        if values.shape != (n,):
            raise InputError(f"{name}: domains have shape {values.shape}: expected ({n},), one for each sample")
        texts = [str(value) for value in values.tolist()]
        numbered.append(np.array([names.setdefault(text, len(names)) for text in texts], np.int64))
    return tuple(names), numbered


def joined(parts: Sequence[Dataset], names: Sequence[str], name: str) -> Dataset:
    """Data sets one after the other as one, each a domain; classes of one name are one class.

    Args:
        parts: the data sets; all have samples of one shape.
        names: a name for each.
        name: of the whole.
    """
    from kenyon.data.streams._dataset import Dataset, Split

    if not parts:
        raise InputError(f"{name} has 0 episodes: expected at least one")
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise InputError(f"{name}: samples of different shapes, {' and '.join(map(str, sorted(shapes)))}")
    classes = _classes([part.class_names for part in parts])
    place = {label: number for number, label in enumerate(classes)}

    def split(which: str) -> Split:
        own: list[Split] = [getattr(part, which) for part in parts]
        tables = [np.array([place[label] for label in part.class_names] + [-1]) for part in parts]
        y = np.concatenate([table[part.y] for table, part in zip(tables, own, strict=True)])
        X = [np.asarray(part.X) for part in own]
        kind = np.uint8 if all(x.dtype == np.uint8 for x in X) else np.float32
        domain = np.repeat(np.arange(len(own)), [len(part) for part in own])
        return Split(np.concatenate([x.astype(kind, copy=False) for x in X]), y, domain)

    ranges = np.array([part.value_range for part in parts], float)
    value_range = (float(ranges[:, 0].min()), float(ranges[:, 1].max()))
    return Dataset(
        name,
        parts[0].shape,
        classes,
        lambda: split("train"),
        lambda: split("test"),
        value_range,
        domain_names=tuple(names),
    )


def _classes(named: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Every class once: sorted by number where all are numbers, so that 10 comes after 9, else as texts."""
    every = {label for names in named for label in names}
    whole = all(label.lstrip("-").isdigit() for label in every)
    return tuple(sorted(every, key=int) if whole else sorted(every))
