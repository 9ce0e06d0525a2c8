"""`arithmetic="integer"`: whole numbers from bytes to scores, as the docstrings define them, against plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier
from kenyon.errors import ConfigError, InputError
from kenyon.features import Identity, SparseProjection, Windows
from kenyon.layers import SecondOrderLayer
from kenyon.rules import as_shifted
from making import held, make, stream

DIGITS, NAMES = (array.astype(np.uint8) for array in load_digits(return_X_y=True))
X, Y = stream()


# ---- the features


def active_bytes(features: Any, samples: np.ndarray) -> list[dict[int, int]]:
    """The activity of each sample as a dictionary, by blocks and one by one, which must agree."""
    workspace = features.workspace()
    found = []
    for rows in (samples, *(samples[s : s + 1] for s in range(len(samples)))):
        units, values, counts = features.activate(np.ascontiguousarray(rows), workspace)
        assert values.dtype == np.uint8
        pairs = zip(units, values, counts, strict=True)
        found += [dict(zip(u[:n].tolist(), v[:n].tolist(), strict=True)) for u, v, n in list(pairs)[: len(rows)]]
    assert found[: len(samples)] == found[len(samples) :]
    return found[: len(samples)]


def bar_of(answers: list[int], beta: float | None) -> int:
    """The threshold as `features/_windows.py` defines it."""
    if beta is None:
        return 0
    n, total, squares = len(answers), sum(answers), sum(a * a for a in answers)
    return (4096 * total + round(4096 * beta) * isqrt(n * squares - total**2)) // (4096 * n)


@pytest.mark.parametrize("beta", [None, -1.0, 0.0, 1.3])
@pytest.mark.parametrize(("connections", "inhibitory"), [(7, 0.0), (9, 0.4), (38, 0.5), (200, 0.2)])
def test_the_projection_gives_bytes(connections: int, inhibitory: float, beta: float | None) -> None:
    features = SparseProjection(230, 70, connections, inhibitory=inhibitory, threshold=beta, exact=True, seed=5)
    samples = np.random.default_rng(0).integers(0, 256, (40, 230)).astype(np.uint8)
    samples[3], samples[4] = 0, 255
    n_excitatory = connections - round(inhibitory * connections)
    largest = 255 * max(n_excitatory, connections - n_excitatory)
    for sample, found in zip(samples.astype(int), active_bytes(features, samples), strict=True):
        answers = (sample @ features.matrix().astype(int)).tolist()
        bar, b = bar_of(answers, beta), max(0, largest.bit_length() - 11)
        wanted = {u: min(255, v - bar >> b) for u, v in enumerate(answers) if v > bar and v - bar >> b}
        assert found == wanted


@pytest.mark.parametrize("beta", [0.5, 1.6])
@pytest.mark.parametrize("how", [{"pooling": "max"}, {"pooling": "sum", "root": True}])
def test_windows_have_a_whole_threshold(how: dict[str, Any], beta: float) -> None:
    given = {"n_units": 60, "n_connections": 6, "window": 3, "shifts": 1, "seed": 2, "activity": "byte", **how}
    plain = Windows((6, 7), threshold=None, **given)
    features = Windows((6, 7), threshold=beta, exact=True, **given)
    samples = np.random.default_rng(1).integers(0, 256, (20, 42)).astype(np.uint8)
    for sample, found in zip(samples, active_bytes(features, samples), strict=True):
        answers = list(responses(plain, sample))
        bar = bar_of(answers, beta)
        b = 0 if "root" in how else max(0, (255 * 3).bit_length() - 8)
        assert found == {u: min(255, v - bar >> b) for u, v in enumerate(answers) if v > bar and v - bar >> b}


def responses(features: Windows, sample: np.ndarray) -> Iterator[int]:
    """What each unit answers, from the numbers that the features give to other implementations."""
    plan = features.plan()
    image = np.zeros(plan["places"], int)
    image[features.layout.places()] = sample
    offsets = [row * plan["stride"] + column for row in range(plan["rows"]) for column in range(plan["columns"])]
    for inputs in features.inputs.astype(int):
        signs = np.where(np.arange(len(inputs)) < plan["excitatory"], 1, -1)
        sums = [int(signs @ image[inputs + offset]) for offset in offsets]
        pooled = max(sums) if plan["best"] else sum(max(0, one) for one in sums)
        yield isqrt((pooled << 32) >> 32 + plan["root_shift"]) if plan["root"] else pooled


# ---- the readout


def bits(value: int) -> int:
    return abs(value).bit_length()


def up(value: int, n: int) -> int:
    return value << n if n >= 0 else value >> -n


def clip(value: int) -> int:
    return max(-(2**31 - 1), min(2**31 - 1, value))


def conjugate_gradients(P: list[list[int]], shrinkage: int, b: list[int]) -> tuple[list[int] | None, int]:
    d = len(b)
    Z = (62 - bits(d)) // 2
    R = min(26, Z)
    Q = min(28, 62 - bits(d) - R)
    f = 30 - max(0, (bits(sum(v * v for v in b)) + 1) // 2 - bits(shrinkage) + 1)
    x, u = [0] * d, R - bits(max(map(abs, b)))
    r = [up(v, u) for v in b]
    p, g = list(r), -u

    def over(a: int, b: int) -> tuple[int, int]:
        u, v = 62 - bits(a), bits(b) - 31
        return (a << u) // up(b, -v), u + v

    def times(k: int, t: int, v: int) -> int:
        assert abs(k * v) < 2**63
        return clip(k * v >> min(62, max(0, t)))

    for _ in range(16 + d // 4):
        rr = sum(v * v for v in r)
        if not rr:
            break
        q = [sum(w * v for w, v in zip(row, p, strict=True)) + shrinkage * own for row, own in zip(P, p, strict=True)]
        s = bits(max(map(abs, q))) - Q
        q = [up(v, -s) for v in q]
        pq = sum(v * w for v, w in zip(p, q, strict=True))
        if pq <= 0:
            return None, f
        assert max(rr, pq) < 2**63
        k, t = over(rr, pq)
        x = [clip(v + times(k, t + s - g - f, w)) for v, w in zip(x, p, strict=True)]
        r = [clip(v - times(k, t, w)) for v, w in zip(r, q, strict=True)]
        z = max(0, bits(max(map(abs, r))) - Z)
        k, t = over(sum((v >> z) ** 2 for v in r), rr)
        p = [clip(v + times(k, t - 2 * z, w)) for v, w in zip(r, p, strict=True)]
        u = R - bits(max(map(abs, r + p)))
        r, p, g = [up(v, u) for v in r], [up(v, u) for v in p], g - u
    return x, f


def plain_readout(P: np.ndarray, means: np.ndarray, shrinkage: float) -> tuple[list[list[int]], list[int], list[int]]:
    """(weights, offsets, shifts) of each class, as `layers/_whole_readout.py` defines them."""
    d, n = means.shape
    matrix, columns = P.tolist(), means.T.tolist()
    mantissa, shift = as_shifted(shrinkage)
    amount = min(2**30, max(1, (sum(matrix[i][i] for i in range(d)) * mantissa >> shift) // d))
    centre = [(2 * sum(column[i] for column in columns) + n) // (2 * n) for i in range(d)]
    while True:
        solved = [
            conjugate_gradients(matrix, amount, [v - c for v, c in zip(column, centre, strict=True)])
            for column in columns
        ]
        if all(x is not None for x, _ in solved):
            break
        amount = min(2**30, 10 * amount)
    weights, offsets, exponents = [], [], []
    for (x, f), column in zip(solved, columns, strict=True):
        assert x is not None
        e = bits(max(map(abs, x))) - 15
        weights.append([up(v, -e) for v in x])
        offsets.append(-sum(w * (m + c) for w, m, c in zip(weights[-1], column, centre, strict=True)) >> 9)
        exponents.append(e - f if any(x) else -1000)
    K = max(0, bits(d * 511 * 32767) - 22)
    return weights, offsets, [min(62, max(exponents) - e + K) for e in exponents]


@pytest.mark.parametrize(("bits_", "shrinkage"), [(16, 0.001), (16, 0.0), (16, 3.0), (24, 0.001), (24, 1e6)])
def test_the_readout_is_as_defined(bits_: int, shrinkage: float) -> None:
    clf = make("whole numbers, second order", bits=bits_, shrinkage=shrinkage, n_hidden=33).partial_fit(X, Y)
    layer = clf.parts()[1][-1]
    assert isinstance(layer, SecondOrderLayer)
    views, readout = layer.state.views(), layer.present()
    triangle = layer.coactivity.unpacked(views["pairs"])
    P = np.zeros((33, 33), np.int64)
    P[np.tril_indices(33)] = triangle
    P = P + np.tril(P, -1).T
    weights, offsets, shifts = plain_readout(P, views["means"].astype(np.int64), shrinkage)
    assert readout.weights[:, :7].T.tolist() == weights
    assert readout.offsets[:7].tolist() == offsets and readout.shifts[:7].tolist() == shifts
    neurons = [clf.neurons()[label] for label in clf.classes_.tolist()]
    scores = clf.decision_function(X) / readout.scale
    activity = active_bytes(clf.parts()[0], X)
    for found, sample in zip(scores, activity, strict=True):
        sums = [sum(w[u] * a for u, a in sample.items()) + o for w, o in zip(weights, offsets, strict=True)]
        assert np.rint(found).tolist() == [sums[j] >> shifts[j] for j in neurons]


def test_a_matrix_that_is_not_positive_gives_way() -> None:
    """As few bits can make it, here by hand: two units that are more alike than themselves."""
    clf = make("whole numbers, second order", n_hidden=20, threshold=None).partial_fit(X, Y)
    arrays = clf.to_arrays()
    arrays["pairs.0"][1] = 30_000  # units 1 and 0
    clf = KenyonClassifier.from_arrays(arrays)
    layer = clf.parts()[1][-1]
    assert isinstance(layer, SecondOrderLayer)
    P = np.zeros((20, 20), np.int64)
    P[np.tril_indices(20)] = arrays["pairs.0"]
    P = P + np.tril(P, -1).T
    assert np.linalg.eigvalsh(P).min() < 0
    assert layer.present().weights[:, :7].T.tolist() == plain_readout(P, arrays["means.0"].astype(int), 0.001)[0]
    assert np.isfinite(clf.decision_function(X)).all()


def test_whole_numbers_cost_little() -> None:
    train = np.arange(len(NAMES)) % 4 != 0
    for given in (
        {"memory_budget": "20KB", "shape": (8, 8)},
        {"rule": "gen", "n_hidden": 2000, "bits": 4},
        {"rule": "mean", "n_hidden": 2000, "bits": 4},
    ):
        scores = [
            KenyonClassifier(**given, random_state=0, arithmetic=arithmetic)
            .partial_fit(DIGITS[train], NAMES[train])
            .score(DIGITS[~train], NAMES[~train])
            for arithmetic in ("float", "integer")
        ]
        assert scores[1] > scores[0] - 0.01, (given, scores)


# ---- what is chosen, and what is refused


@pytest.mark.parametrize(
    ("given", "kind", "wanted"),
    [
        ({"memory_budget": "20KB", "shape": (8, 8)}, np.uint8, "integer"),
        ({"memory_budget": "20KB", "shape": (8, 8)}, np.float32, "integer"),
        ({"memory_budget": "20KB", "shape": (8, 8), "scale": False}, np.float32, "float"),
        ({"memory_budget": "20KB", "shape": (64,), "axes": "t"}, np.float32, "float"),
        ({"memory_budget": "20KB", "shape": (8, 8), "arithmetic": "float"}, np.uint8, "float"),
        ({"memory_budget": "20KB", "shape": (8, 8), "readout": "ridge"}, np.uint8, "float"),
        ({"memory_budget": "20KB", "shape": (8, 8), "shrinkage": "auto"}, np.uint8, "float"),
        ({"memory_budget": "2MB", "shape": (8, 8)}, np.uint8, "float"),
        ({"memory_budget": "20KB", "shape": (8, 8), "bits": 16}, np.uint8, "float"),
        ({"memory_budget": "20KB"}, np.uint8, "float"),
        ({"memory_budget": "20KB", "arithmetic": "integer"}, np.uint8, "integer"),
        ({"layer": "second-order", "n_hidden": 90, "arithmetic": "integer"}, np.uint8, "integer"),
        ({"features": "identity", "arithmetic": "integer"}, np.uint8, "integer"),
    ],
)
def test_what_is_chosen(given: dict[str, Any], kind: type, wanted: str, tmp_path: Any) -> None:
    clf = KenyonClassifier(**given, random_state=0).partial_fit(DIGITS[:300].astype(kind), NAMES[:300])
    features = clf.parts()[0]
    assert isinstance(features, (Identity, SparseProjection, Windows))
    assert features.exact == (wanted == "integer")
    if "memory_budget" in given:
        assert clf.state_bytes <= int(given["memory_budget"].replace("KB", "000").replace("MB", "000000"))
    clf.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert again.parts()[0].exact == features.exact  # type: ignore[attr-defined]
    assert np.array_equal(again.decision_function(DIGITS), clf.decision_function(DIGITS))
    assert held(again.partial_fit(DIGITS, NAMES)) == held(clf.partial_fit(DIGITS, NAMES))


@pytest.mark.parametrize("case", ["whole numbers", "whole numbers, counting", "whole numbers, second order"])
def test_floats_are_refused_and_nothing_is_lost(case: str) -> None:
    clf = make(case, **({} if case == "whole numbers" else {"scale": False})).partial_fit(X, Y)
    before = held(clf)
    for wrong in (X.astype(np.float32), X.astype(np.int64), X / 255):
        for call in (clf.partial_fit, clf.test_then_learn, lambda X, _: clf.predict(X)):
            with pytest.raises(InputError, match=r"type float32: expected bytes \(uint8\).*arithmetic='integer'"):
                call(wrong, Y)
        with pytest.raises(InputError, match="expected bytes"):
            clf.learn_one(wrong[0], 0)
    assert held(clf) == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": "mse"}, r"rule is MSE\(\), which cannot"),
        ({"rule": "gen", "bits": 32}, r"bits is 32 and arithmetic is 'integer': expected bits=8, 4, 3 or 2"),
        ({"layer": "second-order", "bits": 32}, r"bits is 32 and arithmetic is 'integer': expected bits=16 or bits=24"),
        ({"layer": "second-order", "readout": "ridge"}, r"readout is 'ridge': expected 'discriminant'"),
        ({"layer": "second-order", "shrinkage": "auto"}, r"shrinkage is 'auto': expected a number"),
        ({"layer": "second-order", "features": "dense"}, r"features is 'dense' and arithmetic is 'integer'"),
        ({"features": "identity", "root": True}, r"root is True: expected False"),
        ({"rule": "gen", "unit_norm": False}, r"unit_norm is False"),
        ({"rule": "mean", "hidden_layers": (9,)}, r"hidden_layers is \[9\]: expected none"),
        ({"arithmetic": "whole"}, r"unknown arithmetic 'whole': expected one of float, integer"),
        (
            {"features": "windows", "shape": (40,), "window": 40, "density": 40, "shifts": 20, "pooling": "sum",
             "n_hidden": 20_000},
            r"20,000 units that answer with up to 209,100: expected at most 10,270",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_in_whole_numbers_is_said(given: dict[str, Any], message: str) -> None:
    clf = KenyonClassifier(**{"arithmetic": "integer", "random_state": 0, "n_hidden": 50, **given})
    with pytest.raises(ConfigError, match=message):
        clf.partial_fit(X, Y)
    assert not clf.__sklearn_is_fitted__()


def test_long_streams_count_beyond_what_floats_hold() -> None:
    """A class that was taught 2^33 samples still moves its mean by chance, in whole numbers."""
    clf = make("whole numbers, second order").partial_fit(X, Y)
    arrays = clf.to_arrays()
    arrays["taught.0"] = np.full(7, 2**33, np.uint64)
    clf = KenyonClassifier.from_arrays(arrays)
    before = clf.to_arrays()["means.0"].astype(int)
    clf.partial_fit(X, Y)
    after = clf.to_arrays()
    assert np.abs(after["means.0"].astype(int) - before).max() <= 1
    assert after["taught.0"].sum() == 7 * 2**33 + np.count_nonzero(Y >= 0)
