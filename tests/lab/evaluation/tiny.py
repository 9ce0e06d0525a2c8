"""A learner of thirty lines for the tests of the loop: the delta rule on raw features, one sample at a time."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from waiting import wait_until


class Tiny:
    """Linear delta rule. `delay` is an option without effect, for tests of options.

    Where the environment variable TINY_GATE names a file, the twentieth call waits until that file is there, and says
    so by a file beside it: a test can kill the process in the middle of a run, on any machine.
    """

    batch_size = 1

    def __init__(
        self, info: StreamInfo, seed: int, rate: float = 0.05, delay: float = 0.0, noise: float = 0.01
    ) -> None:
        self.scale = 1.0 / max(abs(v) for v in info.value_range)
        self.rate, self.delay, self.noise = rate, delay, noise
        self.tasks = info.tasks
        self.rng = np.random.default_rng(seed)
        self.W = self.rng.normal(0.0, 0.01, (info.n_features, info.n_classes))
        self.updates = self._calls = 0
        self.seen: list[int] = []

    def _scores(self, x: NDArray, task: int | None) -> NDArray:
        scores = x @ self.W
        if task is not None:
            mask = np.full(self.W.shape[1], -np.inf)
            mask[list(self.tasks[task])] = 0.0
            scores = scores + mask
        return scores

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        self._calls += 1
        if self._calls == 20 and (gate := os.environ.get("TINY_GATE")):
            Path(f"{gate}-{os.getpid()}").touch()
            wait_until(Path(gate).exists)
        predicted = np.empty(len(y), np.int64)
        for i, (x, label) in enumerate(zip(X.astype(np.float64) * self.scale, y, strict=True)):
            x = x / (np.linalg.norm(x) + 1e-9)
            predicted[i] = self._scores(x, task).argmax()
            if label >= 0:
                error = -(x @ self.W)
                error[label] += 1.0
                self.W += self.rate * np.outer(x, error) * (1.0 + self.noise * self.rng.normal())
                self.updates += self.W.size
        return predicted

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        self.test_then_learn(X, y, task)

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        return self._scores(X.astype(np.float64) * self.scale, task).argmax(axis=1)

    def end_task(self, last: bool) -> None:
        self.seen.append(int(last))

    def state(self) -> dict[str, NDArray]:
        generator = self.rng.bit_generator.state["state"]
        words = [generator[k] >> shift & (2**64 - 1) for k in ("state", "inc") for shift in (0, 64)]
        return {
            "W": self.W.copy(),
            "updates": np.array(self.updates),
            "seen": np.array(self.seen, np.int64),
            "rng": np.array(words, np.uint64),
        }

    def restore(self, state: dict[str, NDArray]) -> None:
        self.W, self.updates, self.seen = state["W"].copy(), int(state["updates"]), state["seen"].tolist()
        a, b, c, d = (int(w) for w in state["rng"])
        whole = self.rng.bit_generator.state
        whole["state"] = {"state": a | b << 64, "inc": c | d << 64}
        self.rng.bit_generator.state = whole

    def weight_means(self) -> NDArray[np.float32]:
        return self.W.mean(axis=0).astype(np.float32)

    @property
    def state_bytes(self) -> int:
        return self.W.nbytes + 32

    @property
    def synaptic_updates(self) -> int:
        return self.updates
