"""Units of a table's inputs: they stand still between steps, and at a step what was learned is re-expressed.

    z_i = (u_i - centre_i) / width_i,   8 r_i at most;   beyond 4   sign(z_i) (2 sqrt(4 |z_i|) - 4)

The centre of an input is its first value; its width is its first distance from there. Running moments go on beside
them. After 2, 4, .. 64 labelled samples, inputs whose units are off by more than half (a width by a factor of 1.5, a
centre by half a width) get those of the moments, and the sums are re-expressed (`features/_rescaling.py`): the first
samples, all of one class perhaps, are then where they would be had the units been known. From 64 on units stay,
whatever classes come: features only need to be on the scale of the data. But where the last half of 128, 256, 512 or
1,024 samples finds a width off by a factor of 32, since the first ones held an outlier or had other units, it is
changed all the same; and if it was too large, which hides what was learned, the input begins again.

A value is taken to be at most 8 times as far out as is usual for its input, r, so that a single outlier leaves no more
than a trace; r follows the distances, |z| - r at a time by a sixteenth, and is at least 1.

A sample is scaled by what the labelled samples before it left, and then counted, so that the stream may be cut in any
way. An absent value (NaN) is 0 and is not counted; so is an input that has not varied.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ModelFileError
from kenyon.features import Rescaling
from kenyon.layers import Declared, State, axis_sizes
from kenyon.model.scale import IN_FILE, KNEE, merge_moments, settled_moments

SETTLED, LAST = 64, 1024
"""Labelled samples after which units stay, and after which they are no longer looked at."""

OFF, SHIFTED, FAR_OFF = 1.5, 0.5, 32.0
"""Units change early where a width is off by this factor or a centre by this many widths; late by the last factor."""

BEYOND = 8.0
"""A value is at most this many times as far out as is usual."""

NAMES = ("counts", "means", "spreads", "centres", "widths", "usual")
DECLARED = (*(Declared(name, ("inputs",), np.float64) for name in NAMES), Declared("time", ("one",), np.float64))

Change = tuple[int, Rescaling]
"""After this many samples of a block, the units change like this."""


class Units:
    """Centres and widths of inputs, and the moments that they follow.

    Args:
        n_inputs: how many.

    Example:
        >>> units = Units(1)
        >>> scaled, changes = units.count(np.array([[1.0], [3.0], [5.0]]), np.ones(3, bool))
        >>> scaled.ravel().tolist(), [after for after, _ in changes]
        ([0.0, 0.0, 3.0], [2])
    """

    knee, unit = KNEE, 1.0

    def __init__(self, n_inputs: int) -> None:
        self.groups = np.arange(n_inputs)
        self.state = State(DECLARED, axis_sizes(0, 0, inputs=n_inputs))
        self.state.arrays["usual"][:], self.state.arrays["widths"][:] = 1.0, -1.0

    def _get(self, *names: str) -> list[NDArray[np.float64]]:
        return [self.state.arrays[name] for name in names]

    @property
    def centres(self) -> NDArray[np.float64]:
        return self.state.arrays["centres"]

    @property
    def deviations(self) -> NDArray[np.float64]:
        """What an input is divided by, 0 where it has not varied."""
        return np.maximum(self.state.arrays["widths"], 0.0)

    @property
    def farthest(self) -> NDArray[np.float64]:
        """How far out a value may be, in widths."""
        return BEYOND * self.state.arrays["usual"]

    def scale(self, samples: NDArray) -> NDArray[np.float32]:
        """Samples in the units as they are."""
        out = np.empty(samples.shape, np.float32)
        units = self._get("centres", "widths", "usual")
        core.scale_in_units(samples, *units, KNEE, BEYOND, np.empty(samples.shape[1]), out)
        return out

    def count(self, samples: NDArray, labelled: NDArray[np.bool_]) -> tuple[NDArray[np.float32], list[Change]]:
        """Scale each sample by what those before it left, and count it where it has a label."""
        out, changes, start = np.empty(samples.shape, np.float32), list[Change](), 0
        moments, units = self._get(*NAMES[:3]), self._get(*NAMES[3:])
        row = np.empty(samples.shape[1])
        (positions,) = np.nonzero(labelled)
        n_before = 0
        while start < len(samples):
            time = int(self.state.arrays["time"][0])
            step = 2 << max(time.bit_length() - 1, 0) if time else 2  # the next power of two
            left = step - time
            ends = time < LAST and len(positions) - n_before >= left
            stop = int(positions[n_before + left - 1]) + 1 if ends else len(samples)
            part = slice(start, stop)
            scaled = (samples[part], *units, KNEE, BEYOND, row, out[part])
            core.count_in_units(*scaled, labelled[part], *moments, time < LAST)
            n_counted = left if ends else len(positions) - n_before
            self.state.arrays["time"] += n_counted
            n_before, start = n_before + n_counted, stop
            if ends and (change := self._step(step)) is not None:
                changes.append((stop, change))
        return out, changes

    def packed(self) -> tuple:
        """What a compiled call takes that scales and counts samples; the arrays stay the same."""
        return *self.state.arrays.values(), KNEE, BEYOND

    def _step(self, time: int) -> Rescaling | None:
        """Take the units of the moments where those in use are off; how, if any are."""
        counts, means, spreads, centres, widths, usual = self._get(*NAMES)
        found = np.sqrt(spreads / np.maximum(counts, 1))
        known, early = (found > 0) & (widths > 0), time <= SETTLED
        divisor, own = np.where(known, found, 1.0), np.where(known, widths, 1.0)
        if early:
            off = known & differ(centres, own, means, found)
        else:
            off = known & ((found * FAR_OFF < own) | (found > FAR_OFF * own))
        fresh = np.where(off & (not early) & (found < own), 1.0, 0.0)
        factors = np.where(off, np.where(fresh > 0, 0.0, own / divisor), 1.0)
        offsets = np.where(off & (fresh == 0), (centres - means) / divisor, 0.0)
        centres[off], widths[off], usual[off] = means[off], found[off], 1.0
        if time >= SETTLED:
            counts[:], means[:], spreads[:] = 0.0, 0.0, 0.0
        return Rescaling(factors, offsets, fresh) if off.any() else None

    def settle(self, samples: NDArray) -> None:
        """Take the units from all of these samples, before any of them is learned; they then stay."""
        (self.state.arrays["centres"][:], widths), there = settled_moments(samples), ~np.isnan(samples).all(axis=0)
        self.state.arrays["widths"][:] = np.where(there, widths, -1.0)
        self.state.arrays["time"][0] = LAST

    # ---- keeping

    def kept(self) -> dict[str, NDArray]:
        """The arrays, copied, by their names in a file."""
        return {name + IN_FILE: view.copy() for name, view in self.state.views().items()}

    def restore(self, kept: Mapping[str, NDArray]) -> None:
        """Take over the arrays of a file, or from before a call."""
        self.state.filled(kept, IN_FILE)
        counts, spreads, widths, usual, (time,) = self._get("counts", "spreads", "widths", "usual", "time")
        low = min(counts.min(), spreads.min(), widths.min() + 1.0, usual.min() - 1.0, time)
        if low < 0 or counts.max() > LAST or time != np.floor(time) or time > 2**53:
            raise ModelFileError("the units of the inputs are not those of samples that were counted")

    # ---- merging

    def is_like(self, other: object) -> bool:
        """Whether the units are the same."""
        names = ("centres", "widths")
        return isinstance(other, Units) and all(
            np.array_equal(self.state.arrays[name], other.state.arrays[name]) for name in names
        )

    def merge(self, other: Units) -> tuple[Rescaling, Rescaling]:
        """Common units, the own ones where there are any; how both models' sums get there."""
        (centres, widths), theirs = self._get("centres", "widths"), other._get("centres", "widths")
        before = [centres.copy(), widths.copy()]
        taken = (widths < 0) | ((widths == 0) & (theirs[1] > 0))
        centres[taken], widths[taken] = theirs[0][taken], theirs[1][taken]
        steady = (widths == 0) & (theirs[1] == 0)  # in each of the models, at a value of its own perhaps
        widths[steady] = np.abs(centres - theirs[0])[steady]
        moments = ("counts", "means", "spreads")
        merge_moments(self._get(*moments), other._get(*moments), float(LAST))
        usual, time = self._get("usual", "time")
        np.maximum(usual, other.state.arrays["usual"], out=usual)
        time += other.state.arrays["time"]
        return _between(before, [centres, widths]), _between(theirs, [centres, widths])

    @property
    def state_bytes(self) -> int:
        return self.state.state_bytes


def differ(
    centres: NDArray[np.float64], widths: NDArray[np.float64], means: NDArray[np.float64], found: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether units are off those that were found."""
    return (found > OFF * widths) | (found * OFF < widths) | (np.abs(means - centres) > SHIFTED * widths)


def _between(old: list[NDArray[np.float64]], new: list[NDArray[np.float64]]) -> Rescaling:
    """From one centre and width of each input to another, where they differ enough to matter.

    An input that has not varied was at its centre."""
    (centres, widths), (to, divisor) = old, new
    safe = np.where(divisor > 0, divisor, 1.0)
    off = (widths >= 0) & ((widths == 0) | differ(centres, widths, to, safe))
    factors = np.where(off & (widths > 0), widths / safe, 1.0)
    return Rescaling(factors, np.where(off, (centres - to) / safe, 0.0), np.zeros(len(to)))
