"""The layer of patches against `kenyon.reference`, and what its filters are."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases import all_pairs
from kenyon import KenyonClassifier, Patches, recommend
from kenyon.core import _core
from kenyon.errors import ConfigError, InputError, MergeError
from kenyon.features import PatchUnits
from kenyon.features._filters import filters_of_leaves, whitening_of_leaves
from kenyon.features._whitening import inverse_root, normalised
from kenyon.reference import Learner, _patches

SHAPES = {"hw": (9, 11), "hwc": (12, 10, 3), "chw": (2, 8, 13)}


def images(n: int, shape: tuple[int, ...], kind: str = "bytes") -> NDArray:
    """Noise of any contrast, and the extremes: black, white, flat."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, rng.integers(2, 257, n)[:, np.newaxis], (n, prod(shape))).astype(np.uint8)
    X[0], X[1], X[2] = 0, 255, np.arange(X.shape[1]) % 256
    return X if kind == "bytes" else (X.astype(np.float32) - 64) / np.float32(101)


def dense(features: PatchUnits, X: NDArray) -> NDArray[np.uint8]:
    units, values, counts = features.activate(X, features.workspace())
    out = np.zeros((len(X), features.n_outputs), np.uint8)
    for s in range(len(X)):
        out[s, units[s, : counts[s]]] = values[s, : counts[s]]
        assert (values[s, : counts[s]] > 0).all()
    return out


@all_pairs(
    axes=list(SHAPES),
    size=[2, 4],
    shifts=[0, 2, 6],
    grid=[1, 2, 5],
    symmetry=["mirror", "none"],
    views=[1, 2, 5],
    threshold=[0.5, 0.0],
    kind=["bytes", "floats"],
)
def test_activity_is_that_of_the_reference(
    axes: str, size: int, shifts: int, grid: int, symmetry: str, views: int, threshold: float, kind: str
) -> None:
    n_units: int = 40
    options: dict[str, Any] = {"contrast": 10, "size": size, "shifts": shifts, "grid": grid}
    options |= {"symmetry": symmetry, "views": views, "threshold": threshold}
    features = PatchUnits(SHAPES[axes], n_units, axes=axes, seed=3, **options)
    part = Patches(shape=SHAPES[axes], units=n_units, **options)
    plain = _patches.Patches(SimpleNamespace(features=part, axes=axes, shape=SHAPES[axes]), 3)
    np.testing.assert_array_equal(features.filters, plain.filters)
    X = images(6, SHAPES[axes], kind)
    x = dense(features, X)
    for row, u in zip(x, X, strict=True):
        units, values = plain(u)
        np.testing.assert_array_equal(np.flatnonzero(row), units)
        np.testing.assert_array_equal(row[units], values)
    assert x[3:].any(axis=1).all()


def test_instruction_sets_give_the_same_bits() -> None:
    features, X = PatchUnits((32, 32, 3), 60, views=3, seed=1), images(4, (32, 32, 3))
    best = dense(features, X)
    try:
        for isa in _core.isas():
            _core.use_isa(isa)
            np.testing.assert_array_equal(dense(features, X), best)
    finally:
        _core.use_isa(_core.isas()[-1])


def test_a_unit_answers_to_a_sample_as_to_its_mirror_image_and_does_not_see_brightness() -> None:
    features, (image,) = PatchUnits((16, 16, 3), 80, seed=2, shifts=3), images(4, (16, 16, 3))[3:]
    mirrored = image.reshape(16, 16, 3)[:, ::-1].reshape(1, -1)
    x = dense(features, np.concatenate([image[np.newaxis], mirrored]))
    np.testing.assert_array_equal(x[0], x[1])
    inner = PatchUnits((16, 16, 3), 80, seed=2, shifts=0, symmetry="none")  # without a border of zeros
    dark = (image // 2)[np.newaxis]
    np.testing.assert_array_equal(dense(inner, dark), dense(inner, dark + 100))


def test_filters_are_small_integers_without_a_mean_and_do_not_depend_on_their_number() -> None:
    filters = filters_of_leaves(5, 70, 4, 3, 10, 5, True)
    assert filters.dtype == np.int8
    assert np.abs(filters).max() <= 63
    assert not filters.sum(axis=1, dtype=int).any()
    assert len(np.unique(filters, axis=0)) == 70
    np.testing.assert_array_equal(filters_of_leaves(5, 20, 4, 3, 10, 5, True), filters[:20])
    assert not np.array_equal(filters_of_leaves(6, 70, 4, 3, 10, 5, True), filters)


def test_whitening_is_the_inverse_root_and_responses_have_deviation_one() -> None:
    rng = np.random.default_rng(0)
    some = rng.standard_normal((30, 12))
    matrix = some.T @ some + 0.1 * np.eye(12)
    root = inverse_root(matrix)
    np.testing.assert_allclose(root @ matrix @ root, np.eye(12), atol=1e-9)
    whitening = whitening_of_leaves(4, 1, 10)
    values, _ = normalised(rng.integers(0, 256, (50, 16)), 10)
    filters = whitening.filters(whitening.white(values)).astype(float) / 30
    np.testing.assert_allclose(filters * whitening.deviation, whitening.exact(whitening.white(values)), atol=0.06)


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((8, 8, 3), {"size": 9}, "size is 9: expected a patch of 2 to 8, the shorter side of a sample"),
        ((8, 8, 3), {"size": 1}, "size is 1: expected a patch of 2 to 8"),
        ((32, 32, 3), {"size": 9}, "has 243 values: expected at most 192"),
        ((40,), {}, "axes are 't': expected an image for patches"),
        ((8, 8), {"symmetry": "miror"}, "symmetry"),
    ],
)
def test_bad_options_are_named(shape: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PatchUnits(shape, 30, **options)
    with pytest.raises(ConfigError, match="views is 6: expected an integer from 1 to 5"):
        Patches(views=6)


# ---- in a classifier

COLOUR: dict[str, Any] = {"memory_budget": "60KB", "shape": (12, 12, 3), "random_state": 4, "expected_classes": 3}


def stream(n: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Stripes of three directions, at random places and in random colours, with noise."""
    rng = np.random.default_rng(1)
    y = np.arange(n) % 3
    rows, columns = np.mgrid[:12, :12]
    ramps = np.stack([rows, columns, rows + columns])[y] + rng.integers(0, 4, n)[:, np.newaxis, np.newaxis]
    images = (ramps // 2 % 2)[..., np.newaxis] * rng.integers(60, 200, (n, 1, 1, 3)) + rng.integers(
        0, 56, (n, 12, 12, 3)
    )
    return images.reshape(n, -1).astype(np.uint8), y


def test_the_dial_takes_patches_for_images_in_colour_only() -> None:
    assert isinstance(recommend(3072, shape=(32, 32, 3), memory_budget="1MB").features, Patches)
    assert isinstance(recommend(3072, shape=(3, 32, 32), memory_budget="20KB").features, Patches)
    for shape, more in (((28, 28), {}), ((6, 6, 3), {}), ((50, 3), {}), ((32, 32, 3), {"rule": "gen"})):
        features = recommend(prod(shape), shape=shape, memory_budget="1MB", **more).features
        assert not isinstance(features, Patches), shape
    shifts = recommend(64 * 64 * 3, shape=(64, 64, 3), memory_budget="1MB").features
    assert isinstance(shifts, Patches)
    assert shifts.shifts == 12


@pytest.mark.parametrize("budget", ["20KB", "60KB", "600KB"])
def test_any_cut_of_the_stream_and_the_reference_give_the_same_state(budget: str) -> None:
    X, y = stream(90)
    params = {**COLOUR, "memory_budget": budget}
    whole = KenyonClassifier(**params).partial_fit(X, y)
    parts = KenyonClassifier(**params)
    for first, last in ((0, 1), (1, 50), (50, 52), (52, 90)):
        parts.partial_fit(X[first:last], y[first:last])
    arrays = whole.to_arrays()
    for name, array in parts.to_arrays().items():
        np.testing.assert_array_equal(array, arrays[name], err_msg=name)
    assert whole.state_bytes <= {"20KB": 20_000, "60KB": 60_000, "600KB": 600_000}[budget]
    test = stream(150)
    assert whole.score(test[0][90:], test[1][90:]) > 0.9
    if budget == "20KB":
        plain = Learner(**params).partial_fit(X[:30], y[:30])
        few = KenyonClassifier(**params).partial_fit(X[:30], y[:30]).to_arrays()
        for name, array in plain.to_arrays().items():
            np.testing.assert_array_equal(array, few[name], err_msg=name)


def test_models_merge_unlearn_and_come_back_from_a_file(tmp_path: Path) -> None:
    X, y = stream(90)
    params = {**COLOUR, "memory_budget": "600KB"}
    whole = KenyonClassifier(**params).partial_fit(X, y)
    merged = KenyonClassifier(**params).partial_fit(X[:40], y[:40])
    merged.merge(KenyonClassifier(**params).partial_fit(X[40:], y[40:]))
    np.testing.assert_array_equal(merged.decision_function(X), whole.decision_function(X))
    less = KenyonClassifier(**params).partial_fit(X[:40], y[:40])
    whole.unlearn(X[40:], y[40:])
    np.testing.assert_array_equal(whole.decision_function(X), less.decision_function(X))
    less.save(tmp_path / "colour.kenyon")
    again = KenyonClassifier.load(tmp_path / "colour.kenyon")
    np.testing.assert_array_equal(again.decision_function(X), less.decision_function(X))
    assert (tmp_path / "colour.kenyon").stat().st_size < 601_000
    other = KenyonClassifier(**{**params, "random_state": 5}).partial_fit(X[40:], y[40:])
    with pytest.raises(ValueError, match="seed 4 in the first and 5 in the second"):
        less.merge(other)


def test_a_narrower_model_is_cut_from_a_wider_one() -> None:
    """What benchmarks/frontier.py --share counts on."""
    source = Path(__file__).parents[1] / "benchmarks" / "narrower.py"
    spec = spec_from_file_location("narrower", source)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    X, y = stream(90)
    narrow, wide = ({**COLOUR, "memory_budget": budget} for budget in ("300KB", "600KB"))
    own = KenyonClassifier(**narrow).partial_fit(X, y)
    cut = module.narrower(KenyonClassifier(**wide).partial_fit(X, y), **narrow)
    arrays = cut.to_arrays()
    for name, array in own.to_arrays().items():
        if name != "counters":
            np.testing.assert_array_equal(array, arrays[name], err_msg=name)
    np.testing.assert_array_equal(cut.decision_function(X), own.decision_function(X))
    with pytest.raises(ValueError, match="expected exact sums"):
        module.narrower(own, **wide)


@pytest.mark.parametrize("tasks", [[[2], [0], [1]], [[1, 2], [0]], [[0, 1, 2]]])
def test_classes_in_any_number_of_tasks_and_any_order_give_the_same_model(tasks: list[list[int]]) -> None:
    """Why 10, 20 and 50 tasks of CIFAR-100 have one figure."""
    X, y = stream(90)
    params = {**COLOUR, "memory_budget": "300KB"}
    whole = KenyonClassifier(**params).partial_fit(X, y)
    split = KenyonClassifier(**params)
    for task in tasks:
        where = np.random.default_rng(0).permutation(np.flatnonzero(np.isin(y, task)))
        split.partial_fit(X[where], y[where])
    np.testing.assert_array_equal(split.to_arrays()["pairs.0"], whole.to_arrays()["pairs.0"])
    np.testing.assert_array_equal(split.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"features": "patches"}, "features is 'patches' and shape is None"),
        ({"features": "patches", "shape": (16, 27), "layer": "plastic"}, "expected layer='second-order'"),
        ({"features": Patches(size=13), "shape": (12, 12, 3)}, "size is 13: expected a patch of 2 to 12"),
        ({"features": "patches", "shape": (432,), "layer": "second-order"}, "expected an image"),
        ({"features": "patches", "shape": (36, 12), "axes": "tc"}, "axes are 'tc': expected an image for patches"),
        ({"features": "patches", "shape": (12, 12)}, "has 144 entries, a sample has 432"),
        ({"features": "patches", "shape": (12, 12, 3), "scale": True}, "scale is True and features is 'patches'"),
    ],
)
def test_bad_models_are_refused(params: dict[str, Any], message: str) -> None:
    X, y = stream(6)
    with pytest.raises(ConfigError, match=message):
        KenyonClassifier(**params).partial_fit(X, y)


def test_text_is_refused() -> None:
    with pytest.raises(InputError, match=r"'a dog'.*: expected numbers in X"):
        KenyonClassifier(features="patches", shape=(1, 5)).partial_fit(["a dog", "a cat"], [0, 1])


def test_filters_made_of_samples_are_kept_counted_and_shared(tmp_path: Path) -> None:
    X, y = stream(90)
    part = Patches(shape=(12, 12, 3), units=60).fit_filters(X[:30], seed=2)
    assert part == Patches(shape=(12, 12, 3), units=60).fit_filters(X[:30].reshape(-1, 12, 12, 3), seed=2)
    params = {"features": part, "random_state": 4}
    whole = KenyonClassifier(**params).partial_fit(X, y)
    merged = KenyonClassifier(**params).partial_fit(X[:40], y[:40])
    merged.merge(KenyonClassifier(**params).partial_fit(X[40:], y[40:]))
    np.testing.assert_array_equal(merged.decision_function(X), whole.decision_function(X))
    leaves = KenyonClassifier(features=Patches(shape=(12, 12, 3), units=60), random_state=4).partial_fit(X, y)
    assert whole.state_bytes >= leaves.state_bytes + 60 * 48
    whole.save(tmp_path / "fitted.kenyon")
    again = KenyonClassifier.load(tmp_path / "fitted.kenyon")
    np.testing.assert_array_equal(again.decision_function(X), whole.decision_function(X))
    few = Learner(**params).partial_fit(X[:12], y[:12]).to_arrays()
    arrays = KenyonClassifier(**params).partial_fit(X[:12], y[:12]).to_arrays()
    for name, array in few.items():
        np.testing.assert_array_equal(array, arrays[name], err_msg=name)
    drawn_again = Patches(shape=(12, 12, 3), units=60).fit_filters(X[:30], seed=3)
    before = whole.decision_function(X)
    for other in (leaves, KenyonClassifier(**{**params, "features": drawn_again}).partial_fit(X, y)):
        with pytest.raises(MergeError, match="features__filters") as caught:
            whole.merge(other)
        assert len(str(caught.value)) < 500
    np.testing.assert_array_equal(whole.decision_function(X), before)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ("leafs", "expected 'leaves', or filters of 48 values"),
        ("AAAA", "expected 'leaves', or filters of 48 values"),
        ("f" * 64, "beyond 63"),
        ("A" * 64, "there are 1 filters: expected 60"),
    ],
)
def test_texts_that_are_no_filters_are_refused(filters: str, message: str) -> None:
    X, y = stream(6)
    with pytest.raises(ConfigError, match=message):
        KenyonClassifier(features=Patches(shape=(12, 12, 3), units=60, filters=filters)).partial_fit(X, y)


def test_filters_need_samples_with_contrast_a_shape_and_units() -> None:
    X, _ = stream(6)
    with pytest.raises(ConfigError, match="expected a shape and a number of units"):
        Patches().fit_filters(X)
    with pytest.raises(ConfigError, match="float64: expected bytes"):
        Patches(shape=(12, 12, 3), units=60).fit_filters(X / 255)
    with pytest.raises(ConfigError, match="no patch of the samples has contrast"):
        Patches(shape=(12, 12, 3), units=60).fit_filters(X * 0)
