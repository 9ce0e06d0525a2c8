"""The binding of the core: what it takes, what it refuses, and that packs and instruction sets change nothing."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from kenyon import core
from making import CASES, held, make, stream

X = np.ones((3, 5))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((X, 1e30), "takes 3 values: got 2"),
        ((X, 1e30, 0, 1), "takes 3 values: got 4"),
        ((X.astype(np.int32), 1e30, 0), "value 0 is not an array of 2 axes with items .fd."),
        ((X[0], 1e30, 0), "value 0 is not an array of 2 axes"),
        ((X[:, :, np.newaxis, np.newaxis], 1e30, 0), "4 axes"),
        ((X.astype(">f8"), 1e30, 0), "items"),
        ((np.frombuffer(bytes(121), np.uint8)[1:].view(np.float64).reshape(3, 5), 1e30, 0), "not aligned"),
        ((1.0, 1e30, 0), "value 0 is not an array"),
        ((X, X, 0), "value 1 is not a number"),
        ((X, None, 0), "value 1 is not a number"),
        ((X, "1", 0), "real number"),
        ((X, 1e30, 0.5), "value 2 is not an integer"),
        ((X, 1e30, 2**63), "value 2 is not an integer"),
        (([[1.0]], 1e30, 0), "real number"),
        (tuple(range(65)), "more than 64"),
    ],
)
def test_wrong_values_are_refused(values: tuple[Any, ...], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        core.first_unbearable(*values)


def test_numbers_of_numpy_are_numbers() -> None:
    assert core.first_unbearable(X, np.float32(0.5), np.int8(0)) == 0
    assert core.first_unbearable(X, np.int64(2), False) == -1


def test_a_pack_stands_for_its_values_and_keeps_their_arrays() -> None:
    samples = np.ones((2, 2))
    packed = core.pack(samples, 1e30)
    assert core.first_unbearable(packed, False) == -1
    samples[1, 0] = np.inf
    assert core.first_unbearable(packed, False) == 2
    with pytest.raises(ValueError, match="resize"):
        samples.resize((3, 3))
    del samples
    assert core.first_unbearable(core.pack(packed, False)) == 2
    for other in (copy.deepcopy(packed), pickle.loads(pickle.dumps(packed))):
        assert core.first_unbearable(other, False) == 2


def test_every_instruction_set_can_be_forced() -> None:
    best = core.isa()
    assert core.isas()[0] == "baseline" and core.isas()[-1] == best
    try:
        for name in core.isas():
            assert core.use_isa(name) == core.isa() == name
            assert core.first_unbearable(X, 0.5, False) == 0
        with pytest.raises(ValueError, match="is 'mmx'"):
            core.use_isa("mmx")
    finally:
        core.use_isa(best)
    said = subprocess.run(
        [sys.executable, "-c", "from kenyon import core; print(core.isa())"],
        env=os.environ | {"KENYON_ISA": "baseline"},
        capture_output=True,
        text=True,
    )
    assert said.stdout == "baseline\n"


@pytest.mark.parametrize("case", CASES)
def test_every_instruction_set_learns_the_same_bits(case: str) -> None:
    (X, y), best, states = stream(), core.isa(), []
    for name in core.isas():
        core.use_isa(name)
        try:
            model = make(case).partial_fit(X[:60], y[:60])
            states.append((held(model.learn_one(X[60], y[60])), model.decision_function(X).tobytes()))
        finally:
            core.use_isa(best)
    assert states == states[:1] * len(states)
