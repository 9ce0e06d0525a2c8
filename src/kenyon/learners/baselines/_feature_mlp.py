"""An MLP in place of the learning layer: Kenyon's sparse features, then SGD through two hidden layers.

    x_e = ReLU(W_e u - mu - beta sigma) / |.|,   theta <- theta - lr * grad CE(MLP(x_e), y)

The appendix of the paper replaces the neuromodulated layer in this way, to see what it is worth. It is not a method of
the comparison, so it is not in the table; its name as a learner is `kenyon.learners.baselines:FeatureMLP`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, require
from kenyon.features import BLOCK, Setting, Sparse
from kenyon.learners.baselines._devices import to_array
from kenyon.learners.baselines._trainer import Trainer

torch = require("torch", "baselines", "the MLP on sparse features")

from torch import Tensor  # noqa: E402


class FeatureMLP(Trainer):
    """The shared trainer on sparse features.

    Args:
        n_hidden: the number of units of the feature layer.
        density: the share of the inputs that each unit has.
        inhibitory: the share of these with weight -1.
        threshold: the threshold in standard deviations; `"off"` for none.

    Example:
        >>> import numpy as np
        >>> from kenyon.data.protocol import StreamInfo
        >>> info = StreamInfo((4,), n_classes=2, tasks=((0, 1),), n_train=20, task_heads=False, value_range=(0.0, 1.0))
        >>> learner = FeatureMLP(info, seed=0)
        >>> learner.predict(np.eye(4, dtype=np.float32)).shape
        (4,)
    """

    name = "feature-mlp"
    defaults: ClassVar = {"lr": 0.3}
    fixed = ("network", "width")

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        n_hidden: int = 11_000,
        density: float = 0.04,
        inhibitory: float = 0.0,
        threshold: float | str = 1.257,
        **options: Any,
    ) -> None:
        if not 0 < density <= 1:
            raise ConfigError(f"density is {density!r}: expected a share of the inputs, above 0 and at most 1")
        # only the network sees the features; everything else sees the samples
        super().__init__(replace(info, shape=(n_hidden,), value_range=(0.0, 1.0)), seed, network="mlp", **options)
        self.info = info
        part = Sparse(
            units=n_hidden,
            density=max(1, round(density * info.n_features)),
            inhibitory=inhibitory,
            threshold=None if threshold == "off" else float(threshold),
        )
        self._projection = part.build(Setting(info.n_features, seed))
        self._workspace = self._projection.workspace()

    def normalise(self, raw: Tensor) -> Tensor:
        """The sparse features of samples, as dense rows."""
        samples = to_array(raw)
        samples = np.ascontiguousarray(samples, np.uint8 if samples.dtype == np.uint8 else np.float32)
        x_e = np.zeros((len(samples), self._projection.n_outputs), np.float32)
        for start in range(0, len(samples), BLOCK):
            block = samples[start : start + BLOCK]
            units, values, counts = self._projection.activate(block, self._workspace)
            for row, (u, v, n) in enumerate(zip(units, values, counts.tolist(), strict=False)):
                if row < len(block):
                    x_e[start + row, u[:n]] = v[:n]
        return torch.from_numpy(x_e).to(raw.device)
