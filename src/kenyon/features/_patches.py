"""Patches: a feature layer for images, each unit with one small filter that it looks for in a part of the image.

    z(q) = f . u[q] / sqrt(var u[q] + eps)                       a filter f on the patch u[q] at a place q
    a    = sqrt(mean over q of max(0, z(q) - theta))             over the (2 r + 1)^2 places around one of g x g points
    x    = min(255, 128 mean of a)                               over views of the sample, and their mirror images

Filters are whitened patches (`_whitening.py`), by default of pictures of dead leaves, drawn from the seed
(`_leaves.py`, `_filters.py`): nothing is stored. `fit_filters` makes them of samples. Samples are bytes, or become
bytes each by its own range (`_own_range.py`). Everything is in integers; `core/patches.h` has them in detail. The
mirror image of a sample under a filter is the sample under the mirror image of the filter, at the mirrored points.
Views are the sample itself, then the sample turned by 12 degrees to either side and zoomed by 0.87 or 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon import core
from kenyon.errors import ConfigError, unknown
from kenyon.features._base import Active, Case, FeaturesPart, Setting, Workspace, aligned, make_active
from kenyon.features._filters import LEAVES, as_text, filters_of_leaves, filters_of_samples, from_text
from kenyon.features._own_range import as_bytes
from kenyon.features._shape import MOST_CHANNELS, Layout, layout_of
from kenyon.features._whitening import MOST, SCALE
from kenyon.utils.options import Auto, option

SHIFTS = 6 / 32
"""How far units look where that is left open, as a share of the shorter side."""
BYTE = 255

FULL = 128
"""The byte of a mean response of one deviation above the threshold."""

SYMMETRIES = ("none", "mirror")

VIEWS = ((64, 0), (72, 15), (54, -12), (54, 12), (72, -15))
"""Cosine and sine of each view's turn, times 64 and over its zoom: `core/patches.h` says how they are made."""

SLACK = 16
"""Words behind a row that a vector may reach; `core/patches.h` has it too."""

MOST_VALUES = 192
"""Of a patch: its rows are kept in registers."""


@dataclass(frozen=True, repr=False)
class Patches(FeaturesPart):
    """Units that look for a small filter in a part of an image: for images in colour, before a second-order layer.

    Example:
        >>> Patches(shape=(32, 32, 3), units=500)
        Patches(shape=(32, 32, 3), units=500)
    """

    name: ClassVar[str] = "patches"

    shape: Sequence[int] | Auto = option(
        "auto", "Shape of a sample, such as (32, 32, 3); 'auto' is the classifier's shape.", "shape", auto=True
    )
    units: int | Auto = option("auto", "Units; 'auto' is the classifier's n_hidden.", "integer", auto=True)
    size: int = option(4, "Side of a patch, in pixels.", "integer", low=2, high=13)
    shifts: int | Auto = option(
        "auto", "How far from its point a unit looks, in pixels; 'auto' is 6/32 of the shorter side.", "integer", low=0,
        auto=True,
    )  # fmt: skip
    grid: int = option(5, "Points along each axis, which units take in turn.", "integer", high=64)
    threshold: float = option(
        0.5, "Least response of a patch that counts, in standard deviations.", "number", low=0.0, high=10.0
    )
    contrast: int = option(
        10, "Variance added to that of each patch, so that noise in flat parts does not count.", "integer", high=10_000
    )
    symmetry: Literal["none", "mirror"] = option(
        "mirror", "Whether a unit answers with its mean over a sample and the mirror image.", "choice"
    )
    views: int = option(
        3, "Views of a sample that a unit answers to: itself, then turned by 12 degrees and zoomed.", "integer", high=5
    )
    filters: str = option(
        LEAVES, "Filters: those of dead leaves, from the seed, or what fit_filters made of samples.", "text"
    )

    def fit_filters(self, X: ArrayLike, seed: int = 0) -> Patches:
        """The same part with filters made of samples, which need no labels.

        The filters are kept with the model and count in its bytes. Models that share them merge exactly. The samples
        may be learned afterwards like all others.

        Args:
            X: samples of bytes, (n, features) or (n, *shape).
            seed: patches are drawn from it.

        Example:
            >>> import numpy as np
            >>> X = np.random.default_rng(0).integers(0, 256, (20, 192)).astype(np.uint8)
            >>> len(Patches(shape=(8, 8, 3), units=30).fit_filters(X).filters)
            1920
        """
        samples = np.asarray(X)
        if isinstance(self.shape, str) or isinstance(self.units, str):
            raise ConfigError(f"features is {self!r}: expected a shape and a number of units, for fit_filters")
        if samples.dtype != np.uint8 or not len(samples):
            raise ConfigError(
                f"X has {len(samples)} samples of type {samples.dtype}: expected bytes (uint8), one at least"
            )
        layout = layout_of(self.shape, None, 0, prod(samples.shape[1:]))
        _check(layout, self.size)
        order = [1 + layout.axes.index(axis) for axis in "hwc" if axis in layout.axes]
        images = samples.reshape(-1, *self.shape).transpose(0, *order)
        images = images.reshape(len(samples), layout.height, layout.width, layout.channels)
        how = (self.size, self.contrast, self.grid, self.symmetry == "mirror")
        return replace(self, filters=as_text(filters_of_samples(images, seed, self.units, *how)))

    def settled(self, case: Case) -> Patches:
        if case.layout is None:
            return self
        side = min(case.layout.height, case.layout.width)
        shifts = max(1, round(side * SHIFTS)) if self.shifts == "auto" else self.shifts
        return replace(self, shape=case.shape or self.shape, shifts=shifts)

    def build(self, setting: Setting) -> PatchUnits:
        part: Any = self
        names = ("size", "shifts", "grid", "threshold", "contrast", "symmetry", "views", "filters")
        options = {name: getattr(self, name) for name in names}
        return PatchUnits(
            part.shape, part.units, axes=setting.axes, seed=setting.seed, n_inputs=setting.n_inputs, **options
        )

    @property
    def nested(self) -> bool:
        return True

    def table_bytes(self, setting: Setting) -> int:
        return 64 * int(self.units) * self.size * self.size * MOST_CHANNELS


class PatchUnits:
    """Images to M units, each with a filter and a part of the image of its own; activity is in bytes.

    Args:
        shape: entries of a sample along each axis.
        n_units: M.
        axes: "hw", "hwc" or "chw"; None to tell by the shape.
        size: side of a patch.
        shifts: r, how far from its point a unit looks; the image has a border of as many zeros.
        grid: g, points along each axis, evenly spread.
        threshold: theta, in deviations of a response.
        contrast: eps, the variance of a patch that has as much contrast as noise.
        symmetry: "mirror" for the mean of the answers to a sample and to its mirror image, or "none".
        views: how many views of a sample a unit answers to, 1 to 5.
        filters: "leaves" for filters from the seed, or those of `fit_filters`, at least M.
        seed: filters are drawn from it, the same everywhere.
        n_inputs: width of a sample, checked against the shape.

    Example:
        >>> import numpy as np
        >>> features = PatchUnits((8, 8, 3), n_units=50, shifts=2)
        >>> sample = np.arange(192, dtype=np.uint8)[np.newaxis]
        >>> units, values, counts = features.activate(sample, features.workspace())
        >>> bool(counts[0] > 0)
        True
    """

    in_bytes, exact = True, True

    def __init__(
        self,
        shape: Sequence[int],
        n_units: int,
        *,
        axes: str | None = None,
        size: int = 4,
        shifts: int = 6,
        grid: int = 5,
        threshold: float = 0.5,
        contrast: int = 10,
        symmetry: str = "mirror",
        views: int = 1,
        filters: str = LEAVES,
        seed: int = 0,
        n_inputs: int | None = None,
    ) -> None:
        if symmetry not in SYMMETRIES:
            raise unknown("symmetry", symmetry, SYMMETRIES)
        self.layout = layout = layout_of(shape, axes, shifts, n_inputs)
        self.n_outputs, self.seed, self.size = n_units, seed, size
        _check(layout, size)
        values = size * size * layout.channels
        if filters == LEAVES:
            self.filters = filters_of_leaves(seed, n_units, size, layout.channels, contrast, grid, symmetry == "mirror")
        else:
            self.filters = from_text(filters, values)[:n_units]
        if len(self.filters) < n_units:
            raise ConfigError(f"there are {len(self.filters)} filters: expected {n_units}, one for each unit")
        copies = 1 + (symmetry == "mirror")
        self._table, self._corners = (
            _table(self.filters, layout, size, copies),
            _corners(layout, size, grid, n_units, copies),
        )
        pool, largest = 2 * shifts + 1, MOST * values
        bits = 31 - (largest + round(threshold * SCALE) + 1).bit_length()
        down = max(0, (pool * pool * largest << bits).bit_length() - 31)
        unit = max(1, round(pool * pool * SCALE * 2.0 ** (bits - down) / (2 * FULL) ** 2))
        self._shape = (layout.padded[0], layout.padded[1] * layout.channels + 4 * SLACK)
        rows, columns = (side - size + 1 for side in layout.padded)
        self._words = (layout.padded[0], -(-size * layout.channels // 4), columns + SLACK)
        self._scales = (rows, columns + SLACK)
        row, place = np.divmod(layout.places() % (layout.padded[0] * layout.padded[1]), layout.padded[1])
        channel = layout.places() // (layout.padded[0] * layout.padded[1])
        self._places = (row * self._shape[1] + place * layout.channels + channel).astype(np.int32)
        theta, floor = round(threshold * SCALE * 2.0**bits), contrast * values * values
        numbers = (pool, copies, floor, bits, down, _narrow(self._table), theta, unit)
        turns = np.array(VIEWS[:views], np.int32)
        self._plan = core.pack(self._table, self._corners, turns, size, layout.channels, *numbers, self._places)
        self._numbers = {"pool": pool, "border": shifts, "copies": copies, "floor": floor, "scale_bits": bits}
        self._numbers |= {"patch_down": down, "patch_threshold": theta, "patch_unit": unit, "grid": grid, "size": size}
        self._numbers |= {"views": views}

    def plan(self) -> dict[str, int]:
        """The numbers of `core/patches.h`, for an export."""
        return dict(self._numbers)

    def tables(self) -> dict[str, NDArray]:
        """The filters of units, the points of the grid along each axis, and the turns of views, for an export."""
        most = (self.layout.height - self.size, self.layout.width - self.size)
        own = np.stack([points(each, self._numbers["grid"]) for each in most])
        return {"filters": self.filters, "points": own, "views": np.array(VIEWS[: self._numbers["views"]])}

    def workspace(self) -> Workspace:
        return Workspace(make_active(self.n_outputs, dtype=np.uint8))

    def prepare(self) -> None:
        """Nothing to prepare."""

    def activate(self, samples: NDArray, workspace: Workspace) -> Active:
        core.patches(as_bytes(samples), self._plan, workspace.pack(self._scratch))
        return workspace.active

    def _scratch(self) -> tuple[NDArray, ...]:
        images, roots = aligned((2, *self._shape), np.uint8), aligned((self.n_outputs,), np.int32)
        return images, aligned(self._words, np.uint32), aligned(self._scales, np.int32), roots

    @property
    def nbytes(self) -> int:
        return self.filters.nbytes + self._table.nbytes + self._corners.nbytes + self._places.nbytes


def _check(layout: Layout, size: int) -> None:
    if "t" in layout.axes:
        raise ConfigError(f"axes are {layout.axes!r}: expected an image for patches, 'hw', 'hwc' or 'chw'")
    if not 2 <= size <= min(layout.height, layout.width):
        least = min(layout.height, layout.width)
        raise ConfigError(f"size is {size}: expected a patch of 2 to {least}, the shorter side of a sample")
    if size * size * layout.channels > MOST_VALUES:
        raise ConfigError(
            f"a patch of {size} x {size} x {layout.channels} has {size * size * layout.channels} values: expected at "
            f"most {MOST_VALUES}"
        )


def _table(filters: NDArray[np.int8], layout: Layout, size: int, copies: int) -> NDArray[np.int8]:
    """Filters row by row, each row padded to words; their mirror images behind them."""
    own = filters.reshape(-1, 1, size, size, layout.channels)
    both = np.concatenate([own, own[:, :, :, ::-1]][:copies], axis=1)
    rows = both.reshape(-1, size, size * layout.channels)
    padded = np.zeros((len(rows), size, -(-rows.shape[2] // 4) * 4), np.int8)
    padded[:, :, : rows.shape[2]] = rows
    return padded.reshape(len(rows), -1)


def _narrow(table: NDArray[np.int8]) -> bool:
    """Whether sums of products of either half of each filter fit into 16 bits, two neighbours of a word in one sum."""
    pairs = table.astype(np.int64).reshape(len(table), -1, 2, 2)
    halves = np.split(pairs, [pairs.shape[1] // 2], axis=1)
    sums = [np.maximum(sign * half, 0).sum(axis=(1, 3)).max(initial=0) for half in halves for sign in (1, -1)]
    return bool(max(sums) * BYTE <= np.iinfo(np.int16).max)


def _corners(layout: Layout, size: int, grid: int, n_units: int, copies: int) -> NDArray[np.int32]:
    """The first place of each unit, and of its mirror image; units take the points in turn."""
    down, right = (points(side - size, grid) for side in (layout.height, layout.width))
    row, column = np.divmod(np.arange(n_units) % (grid * grid), grid)
    own, mirrored = (np.stack([down[row], to], axis=1) for to in (right[column], layout.width - size - right[column]))
    return np.stack([own, mirrored][:copies], axis=1).reshape(-1, 2).astype(np.int32)


def points(most: int, n: int) -> NDArray[np.int64]:
    """n numbers from 0 to `most`, evenly spread, the same from both ends; the middle where there is one."""
    first = np.arange(n) * most // max(n - 1, 1) if n > 1 else np.array([most // 2])
    return np.where(np.arange(n) < n / 2, first, most - first[::-1])
