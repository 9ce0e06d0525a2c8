"""The layer of windows against `kenyon.reference`, and the block path against the single-sample path."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases import all_pairs
from kenyon.errors import ConfigError
from kenyon.features import BLOCK, Active, WindowUnits
from kenyon.reference import _windows
from making import plain_spec, window_units

AXES = {"t": (23,), "hw": (9, 11), "tc": (15, 3), "ct": (2, 19), "hwc": (8, 7, 3), "chw": (3, 7, 8)}


def samples(n: int, shape: tuple[int, ...], kind: str, seed: int = 0) -> NDArray:
    """Bytes, or floats."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, (n, prod(shape))).astype(np.uint8)
    X[rng.random(X.shape) < 0.4] = 0
    if kind == "bytes":
        return X
    return (X.astype(np.float32) - 64) / np.float32(101)


def dense(active: Active, n: int, n_units: int) -> NDArray:
    """x of each sample; checks that units are ascending and distinct, and that no zero is active."""
    units, values, counts = active
    out = np.zeros((n, n_units), values.dtype)
    for s in range(n):
        mine = units[s, : counts[s]].astype(np.int64)
        assert (np.diff(mine) > 0).all()
        assert (values[s, : counts[s]] > 0).all()
        out[s, mine] = values[s, : counts[s]]
    return out


def run(features: WindowUnits, X: NDArray) -> NDArray:
    """x of each sample, in blocks; checks that samples one by one give the same bits."""
    scratch, n_units = features.workspace(), features.n_outputs
    parts = [X[first : first + BLOCK] for first in range(0, len(X), BLOCK)]
    blocks = [dense(features.activate(part, scratch), len(part), n_units) for part in parts]
    singles = [dense(features.activate(x[np.newaxis], scratch), 1, n_units) for x in X]
    np.testing.assert_array_equal(np.concatenate(blocks), np.concatenate(singles))
    return np.concatenate(blocks)


def connections(features: WindowUnits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(M, K) inputs of each unit as numbers of a sample's entries, and their signs."""
    layout = features.layout
    height, width = layout.padded
    inputs = features.inputs.astype(np.int64)
    channel, y, x = inputs // (height * width), inputs // width % height, inputs % width
    at = {"c": channel, "h": y, "w": x, "t": x}
    size = {"c": layout.channels, "h": layout.height, "w": layout.width, "t": layout.width}
    flat = np.zeros_like(inputs)
    for axis in layout.axes:
        flat = flat * size[axis] + at[axis]
    signs = np.where(np.arange(inputs.shape[1]) < features._n_excitatory, 1, -1)
    return flat, np.broadcast_to(signs, inputs.shape)


def plain(features: WindowUnits, X: NDArray, shape: tuple[int, ...], k: int, **options: Any) -> NDArray:
    """x of each sample by the reference."""
    how = {"signs": "random", "unit_norm": True, "window": 6, "arithmetic": "float"} | options
    more = {"shape": shape, "axes": features.layout.axes, "n_hidden": features.n_outputs, "density": k}
    reference = _windows.Windows(
        plain_spec(**{**how, **more, "in_bytes": options["activity"] == "byte"}), features.seed
    )
    out = np.zeros((len(X), features.n_outputs), np.uint8 if options["activity"] == "byte" else np.float32)
    for row, (units, values) in zip(out, map(reference, X), strict=True):
        row[units] = values
    return out


@all_pairs(
    axes=list(AXES),
    pooling=["max", "sum"],
    signs=["random", "oriented"],
    threshold=[None, 0.4, -0.3],
    root=[False, True],
    kind=["bytes", "floats"],
    activity=["float", "byte"],
)
def test_features_are_the_reference_and_blocks_are_singles(
    axes: str, pooling: str, signs: str, threshold: float | None, root: bool, kind: str, activity: str
) -> None:
    shape, number = AXES[axes], list(AXES).index(axes)
    shifts, n_units, inhibitory = (0, 1, 2, 3, 1, 4)[number], (1, 33, 64, 40, 71, 50)[number], (0.5, 0.3)[number % 2]
    options: dict[str, Any] = {
        "axes": axes,
        "window": 5,
        "shifts": shifts,
        "pooling": pooling,
        "signs": signs,
        "inhibitory": inhibitory,
        "threshold": threshold,
        "root": root,
        "activity": activity,
        "unit_norm": number % 2 == 0,
    }
    features = window_units(shape, n_units, 4, **options, seed=number)
    X = samples(41, shape, kind, seed=number)
    X[7] = 0
    x = run(features, X)
    assert x.dtype == (np.uint8 if activity == "byte" else np.float32)
    np.testing.assert_array_equal(x, plain(features, X, shape, 4, **options))


@pytest.mark.parametrize("pooling", ["max", "sum"])
@pytest.mark.parametrize("shifts", [0, 1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("axes", ["hw", "chw", "tc"])
def test_float_sums_have_one_order(axes: str, shifts: int, pooling: str) -> None:
    features = window_units(
        AXES[axes], 37, 9, axes=axes, window=4, shifts=shifts, pooling=pooling, threshold=0.3, seed=5
    )
    x = run(features, samples(40, AXES[axes], "floats"))
    assert (x > 0).any(axis=1).all()


@pytest.mark.parametrize(
    ("k", "inhibitory", "pooling", "narrow"),
    [
        (128, 0.0, "max", True),
        (129, 0.0, "max", False),
        (256, 0.5, "max", True),
        (64, 0.0, "sum", True),
        (65, 0.0, "sum", True),
        (128, 0.0, "sum", True),
        (129, 0.0, "sum", False),
        (128, 0.5, "sum", True),
        (400, 0.5, "sum", False),
        (140, 0.95, "max", False),
    ],
)
@pytest.mark.parametrize("activity", ["float", "byte"])
def test_sums_near_16_bits_are_exact(k: int, inhibitory: float, pooling: str, narrow: bool, activity: str) -> None:
    options: dict[str, Any] = {
        "window": 20,
        "shifts": 2,
        "pooling": pooling,
        "inhibitory": inhibitory,
        "threshold": None,
        "root": pooling == "sum",
        "unit_norm": False,
        "activity": activity,
    }
    features = window_units((20, 20), 35, k, **options)
    assert (features._arithmetics[np.dtype(np.uint8)][0][0] is np.int16) == narrow
    X = np.full((20, 400), 255, np.uint8)
    X[1::2] = samples(10, (20, 20), "bytes")
    flat, signs = connections(features)
    X[4], X[6] = 0, 255
    X[4, flat[0, signs[0] > 0]] = 255  # as much as unit 0 can answer
    X[6, flat[0, signs[0] > 0]] = 0  # and as little
    np.testing.assert_array_equal(run(features, X), plain(features, X, (20, 20), k, **options))


@pytest.mark.parametrize("pooling", ["max", "sum"])
@pytest.mark.parametrize("shifts", [0, 1, 5])
def test_roots_fill_a_byte_and_never_pass_it(shifts: int, pooling: str) -> None:
    """A sample on which every unit answers as much as it can."""
    for k in (1, 4, 16, 31):
        features = window_units(
            (30, 30), 8, k, inhibitory=0.0, shifts=shifts, pooling=pooling, root=True, activity="byte", window=6
        )
        for n in (1, 9):
            _, values, counts = features.activate(np.full((n, 900), 255, np.uint8), features.workspace())
            assert 180 <= values[0, : counts[0]].max() <= 255


def test_more_places_than_16_bits_can_number() -> None:
    shape = (300, 300)
    options: dict[str, Any] = {
        "shifts": 1, "pooling": "max", "inhibitory": 0.5, "threshold": None, "root": False, "unit_norm": False,
        "activity": "float",
    }  # fmt: skip
    features = window_units(shape, 6, 5, **options)
    X = samples(9, shape, "bytes")
    np.testing.assert_array_equal(run(features, X), plain(features, X, shape, 5, **options))


@pytest.mark.parametrize("kind", ["bytes", "floats"])
def test_threads_and_cuts_change_nothing(kind: str) -> None:
    features = window_units((9, 9), 70, 6, shifts=1, threshold=0.5, window=4)
    X = samples(BLOCK, (9, 9), kind)
    whole = dense(features.activate(X, features.workspace()), BLOCK, 70)
    for cuts in ([], [1, 2, 40, 41, 90], [8, 17, 31, 63, 100], [32, 64, 96]):
        parts = np.split(X, cuts)
        with ThreadPoolExecutor(4) as pool:
            done = pool.map(lambda part: dense(features.activate(part, features.workspace()), len(part), 70), parts)
            np.testing.assert_array_equal(np.concatenate(list(done)), whole)


@pytest.mark.parametrize("signs", ["random", "oriented"])
@pytest.mark.parametrize("axes", AXES)
def test_inputs_lie_in_a_window_and_are_distinct(axes: str, signs: str) -> None:
    shape = AXES[axes]
    features = window_units(shape, 300, 4, axes=axes, window=4, shifts=2, signs=signs, inhibitory=0.3, seed=3)
    flat, _ = connections(features)
    at = dict(zip(axes, np.unravel_index(flat, shape), strict=True))
    for axis, index in at.items():
        size = shape[axes.index(axis)]
        spread = index.max(axis=1) - index.min(axis=1)
        assert set(index.ravel()) == set(range(size)), "every row, column and channel is looked at"
        assert axis == "c" or spread.max() == 3
    assert features._n_excitatory == 3
    assert all(len(set(row)) == 4 for row in flat.tolist())


def test_oriented_signs_are_parted_by_a_line() -> None:
    """The middle of the excitatory inputs of an edge is away from that of the inhibitory ones, in all directions."""
    features = window_units((20, 20), 2000, 16, window=8, signs="oriented", seed=1)
    flat, signs = connections(features)
    y, x = np.divmod(flat, 20)
    away = np.stack([(signs * part).sum(axis=1) / 8 for part in (y, x)])
    bars, edges = np.hypot(*away)[::2], np.hypot(*away)[1::2]
    assert edges.min() > 1.5 and np.median(bars) < np.median(edges) / 2
    octants = np.bincount(((np.arctan2(*away[:, 1::2]) + np.pi) / (np.pi / 4)).astype(int) % 8, minlength=8)
    assert octants.min() > 90
    series = window_units((40,), 500, 6, window=9, signs="oriented", seed=1)
    flat, signs = connections(series)
    early_late = np.sort(flat[1::2, :3].max(axis=1) - flat[1::2, 3:].min(axis=1))
    assert (early_late < 0).sum() > 80 and (flat[1::2, :3].min(axis=1) > flat[1::2, 3:].max(axis=1)).sum() > 80


def test_the_windows_of_a_seed_never_change() -> None:
    """A model file keeps the seed alone, so these numbers are part of its format."""
    first = window_units((12, 10, 3), 3, 4, window=5, shifts=0, seed=12345)
    assert first.inputs.tolist() == SEED_12345
    digests = {
        (axes, signs): hashlib.sha256(
            connections(window_units(AXES[axes], 50, 4, axes=axes, window=5, shifts=2, signs=signs, seed=7))[
                0
            ].tobytes()
        ).hexdigest()[:16]
        for axes in AXES
        for signs in ("random", "oriented")
    }
    assert digests == DIGESTS


SEED_12345 = [[253, 255, 25, 34], [263, 283, 12, 22], [109, 319, 305, 339]]
DIGESTS = {
    ("t", "random"): "8b87435e525ff150",
    ("t", "oriented"): "159b6b2e643f8221",
    ("hw", "random"): "3a7ad63ec784b068",
    ("hw", "oriented"): "e268a23a49239ee4",
    ("tc", "random"): "d880dbe681c2bb69",
    ("tc", "oriented"): "a2c09b2c2c1bfec9",
    ("ct", "random"): "f3f7616684bdcade",
    ("ct", "oriented"): "8ea6041203136a71",
    ("hwc", "random"): "3a7f6614de7fcdc7",
    ("hwc", "oriented"): "df1a9e0949c7b097",
    ("chw", "random"): "603782b996bf7aa8",
    ("chw", "oriented"): "1afd345035b23eec",
}


def test_seeds_differ_and_shifts_leave_the_drawing_alone() -> None:
    one, other = (connections(window_units((9, 9), 40, 5, seed=seed))[0] for seed in (0, 1))
    assert (one != other).any(axis=1).mean() > 0.9
    for shifts in (1, 3):
        np.testing.assert_array_equal(connections(window_units((9, 9), 40, 5, shifts=shifts))[0], one)


def test_axes_are_told_by_the_shape() -> None:
    shapes = {(30,): "t", (9, 3): "hw", (3, 8, 8): "chw", (8, 8, 3): "hwc", (4, 8, 4): "hwc", (8, 8, 8): "hwc"}
    for shape, axes in shapes.items():
        assert window_units(shape, 2, 2, window=2).layout.axes == axes


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_inputs": 783}, r"shape \(28, 28\) has 784 entries, a sample has 783"),
        ({"shape": (28, 0)}, r"shape is \(28, 0\): expected one to three positive integers"),
        ({"shape": ()}, "expected one to three positive integers"),
        ({"shape": (2, 2, 2, 2)}, "expected one to three positive integers"),
        ({"axes": "hcw"}, "unknown axes 'hcw': expected one of chw, ct, hw, hwc, t, tc"),
        ({"axes": "hwc"}, r"axes are 'hwc' and shape is \(28, 28\): expected 3 numbers"),
        ({"window": 29}, "window is 29: expected 1 to 28"),
        ({"window": 0}, "window is 0: expected an integer, at least 1"),
        ({"shape": (30, 5), "window": 6}, "window is 6: expected 1 to 5"),
        ({"density": 37}, "a unit has 37 inputs: expected 1 to 36"),
        ({"density": 0}, "density is 0: expected a share above 0"),
        ({"shape": (28,), "density": 7}, "a unit has 7 inputs: expected 1 to 6"),
        ({"shifts": -1}, "shifts is -1: expected an integer, at least 0"),
        ({"pooling": "mean"}, "unknown pooling 'mean'"),
        ({"signs": "orientated"}, "unknown signs 'orientated'.*did you mean 'oriented'"),
        ({"shape": (200, 200), "window": 190, "density": 30_000, "shifts": 20, "pooling": "sum"}, "Lower shifts"),
    ],
)
def test_what_cannot_be_says_so(changed: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"shape": (28, 28), "units": 10, "density": 4} | changed
    with pytest.raises(ConfigError, match=message):
        window_units(**options)


def test_bytes_held_are_counted() -> None:
    features = window_units((9, 9), 70, 6, shifts=1, window=4)
    tables = 2 * (70 * 6 * 2 + 81 * 4)  # the units' inputs and their places, for blocks and for single samples
    assert features.nbytes == tables
    workspace = features.workspace()
    active = BLOCK * (70 * 8 + 8)
    assert workspace.nbytes == active
    features.activate(samples(9, (9, 9), "bytes"), workspace)
    block = 121 * 32 * 2 + 70 * 32 * 4
    assert workspace.nbytes == active + block
    features.activate(samples(1, (9, 9), "bytes"), workspace)
    assert workspace.nbytes == active + block + 2 * (121 + 64) + 2 * (121 * 3 + 64) + 3 * 32 * 4
    assert features.nbytes == tables
