"""ER, DER++, iCaRL and NCM in a given number of bytes, as a learner for `frontier_baselines.py`.

A budget is divided between a network and remembered samples. Both are as small as they can be made without changing
the method: samples are bytes (features of a backbone are the bytes of their roots), images may be averaged down, and
vectors go through a random projection that is drawn from the seed and kept as that seed, as Kenyon's is. Weights are
float32, or rounded to 16 or 8 bits after every call of `learn`. Counted are weights, remembered samples with one byte
for a label, iCaRL's teacher and pool, and DER++'s float32 logits; the random generator counts as a seed of 8 bytes,
though PyTorch's keeps 5,056.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner, StreamInfo
from kenyon.errors import ConfigError
from kenyon.learners import make_learner

SMALL = 200
"""Bytes of counters and flags, at the most."""
WIDEST = {"cnn": 32, "mlp": 512}
"""Filters and hidden units beyond which bytes go into remembered samples: a larger network learns more slowly here."""
POOL = 1 / 3
"""Share of iCaRL's samples that hold the current task."""
GAIN = 60.0
"""Of projected roots, so that they fill a byte."""


class WithinBytes:
    """A method of the comparison within a budget.

    Args:
        info: the stream.
        seed: of the projection, the weights and the draws.
        method: `er`, `der++`, `icarl` or `ncm`.
        memory_budget: the most bytes of state.
        share: of the budget that goes to remembered samples; more where the network needs less.
        network: `linear` (none but the output layer), `mlp` (one hidden layer) or `cnn`.
        inputs: the side of an image after averaging, or the width of a vector after projection; 0 for as they are
            (for `linear`, as wide as there is room for).
        lr: learning rate.
        replay_size: remembered samples that are learned with each batch of ten.
        alpha: DER++'s weight of old logits, as tuned for Split-MNIST.
        beta: DER++'s weight of old labels, as tuned for Split-MNIST.
        metric: NCM's.
        bits: of a weight of the network: 32, 16 (float16) or 8 (integers, rounded up or down at random).
    """

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        method: str = "er",
        memory_budget: int = 20_000,
        share: float = 0.5,
        network: str = "mlp",
        inputs: int = 0,
        lr: float = 0.1,
        replay_size: int = 10,
        alpha: float = 1.0,
        beta: float = 2.0,
        metric: str = "euclidean",
        bits: int = 32,
    ) -> None:
        if bits not in (8, 16, 32):
            raise ConfigError(f"bits is {bits}: expected 8, 16 or 32")
        copies = {"ncm": 1, "icarl": 2}.get(method, 1)
        room = int(memory_budget if method == "ncm" else memory_budget * (1 - share)) // copies
        if network == "linear" and len(info.shape) == 1:
            inputs = min(inputs or info.n_features, (room - SMALL) // (4 * info.n_classes) - 4)
            if inputs < 1:
                raise ConfigError(f"memory_budget is {memory_budget}: no room for {info.n_classes} classes")
        self._view, shape, value_range = view_of(info, inputs, seed)
        seen = replace(info, shape=shape, value_range=value_range)
        if method == "ncm":
            if network_bytes("linear", seen, 0) + 8 * info.n_classes + SMALL > room:
                raise ConfigError(f"memory_budget is {memory_budget}: no room for means of {seen.n_features} inputs")
            options: dict[str, Any] = {"metric": metric, "batch_size": 100}
        else:
            width = widest(network, seen, room * 32 // bits)
            net = {"network": "cnn" if network == "cnn" else "mlp", "width": max(width, 1)}
            net["hidden"] = [] if network == "linear" else [width]
            sample = seen.n_features + 1 + (4 * info.n_classes if method == "der++" else 0)
            rows = (memory_budget - SMALL - copies * (network_bytes(network, seen, width) * bits // 32)) // sample
            rows = min(rows, info.n_train)
            pool = {"pool_size": round(rows * POOL)} if method == "icarl" else {}
            enough = rows - pool["pool_size"] >= info.n_classes if pool else rows > 0
            if width < (0 if network == "linear" else 1) or not enough:
                raise ConfigError(f"memory_budget is {memory_budget}: no room for {network} of {inputs} inputs")
            dark = {"alpha": alpha, "beta": beta} if method == "der++" else {}
            options = {**net, **pool, **dark, "lr": lr, "replay_size": replay_size}
            options["buffer_size"] = rows - pool.get("pool_size", 0)
        self._inner: Learner = make_learner(method, seen, seed, "class-incremental", **options)
        self.batch_size, self._bits = self._inner.batch_size, bits
        self._rng = np.random.default_rng(seed)

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        self._inner.learn(self._view(X), y, task)
        self._round()

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        found = self._inner.test_then_learn(self._view(X), y, task)
        self._round()
        return found

    def _round(self) -> None:
        """Weights as they are kept between calls."""
        if self._bits == 32:
            return
        inner: Any = self._inner
        for weights in inner.params:
            w: NDArray[np.float32] = weights.data.numpy()
            if self._bits == 16:
                w[...] = w.astype(np.float16)
            else:
                unit = np.float32(max(float(np.abs(w).max()), 1e-6) / 127)
                w[...] = unit * np.floor(w / unit + self._rng.random(w.shape, dtype=np.float32))

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        return self._inner.predict(self._view(X), task)

    def end_task(self, last: bool) -> None:
        self._inner.end_task(last)

    def state(self) -> dict[str, NDArray]:
        return self._inner.state()

    def restore(self, state: dict[str, NDArray]) -> None:
        self._inner.restore(state)

    @property
    def state_bytes(self) -> int:
        """What the method must keep; the module says what is counted as less than it takes here."""
        arrays = self.state()
        weights = sum(array.nbytes for name, array in arrays.items() if name.startswith("net."))
        return sum(_bytes(name, array) for name, array in arrays.items()) - weights * (32 - self._bits) // 32

    @property
    def synaptic_updates(self) -> int:
        return self._inner.synaptic_updates


def _bytes(name: str, array: NDArray) -> int:
    return {"generator.state": 8}.get(name, array.size if name.endswith("column.y") else array.nbytes)


def network_bytes(network: str, info: StreamInfo, width: int) -> int:
    """Bytes of a network's weights; `width` is of its hidden layer or its first convolution."""
    n, c = info.n_features, info.n_classes
    if network == "cnn":
        planes, sides = (info.shape[0], info.shape[1:]) if len(info.shape) == 3 else (1, info.shape)
        places = math.prod(max((side + 3) // 4 // 2, 1) for side in sides)
        return 4 * ((25 * planes + 1) * width + (9 * width + 1) * 2 * width + (2 * width * places + 1) * c)
    return 4 * ((n + 1) * c if network == "linear" else (n + 1) * width + (width + 1) * c)


def widest(network: str, info: StreamInfo, room: int) -> int:
    """The widest network that fits; -1 where none does, 0 for a linear one that does."""
    fitting = [w for w in range(WIDEST.get(network, 0) + 1) if network_bytes(network, info, w) + SMALL <= room]
    return max(fitting, default=-1)


View = Callable[[NDArray], NDArray[np.uint8]]


def view_of(info: StreamInfo, inputs: int, seed: int) -> tuple[View, tuple[int, ...], tuple[float, float]]:
    """(Samples to bytes; the shape of what comes out; the values that are to become 0 and 1.)"""
    if len(info.shape) > 1:
        return (*_averaged(info.shape, inputs or info.shape[-1]), info.value_range)
    n, (_, high) = info.n_features, info.value_range
    if inputs in (0, n):
        scale = np.float32(255 / math.sqrt(high))
        return lambda X: np.minimum(np.rint(np.sqrt(X) * scale), 255).astype(np.uint8), (n,), (0.0, 255.0)
    signs = np.random.default_rng(seed).choice(np.array([-1, 1], np.float32), (n, inputs))
    signs *= np.float32(GAIN / math.sqrt(n))

    def projected(X: NDArray) -> NDArray[np.uint8]:
        return np.clip(np.rint(np.sqrt(X) @ signs + 128), 0, 255).astype(np.uint8)

    return projected, (inputs,), (128.0, 192.0)


def _averaged(shape: tuple[int, ...], side: int) -> tuple[View, tuple[int, ...]]:
    """Images of one plane, or of several one after the other."""
    planes, (height, width) = shape[:-2], shape[-2:]
    if height != width or height % side:
        raise ConfigError(f"inputs is {side}: expected a side that divides {height}")
    block = height // side

    def averaged(X: NDArray) -> NDArray[np.uint8]:
        blocks = np.asarray(X).reshape(-1, side, block, side, block)
        return np.rint(blocks.mean((2, 4))).astype(np.uint8).reshape(len(X), -1) if block > 1 else X

    return averaged, (*planes, side, side)
