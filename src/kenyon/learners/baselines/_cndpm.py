"""CN-DPM: a Dirichlet-process mixture of neural experts that grows with the data.

Each expert k is a classifier p(y | x, k) and a density p(x | k) (an autoencoder's bound), with N_k
samples so far. For a sample (x, y) and every expert, and for "none of them" (k = 0),

    log r_k = log N_k + log p(x | k) + log p(y | x, k) / chill,      log r_0 = log alpha

A sample whose largest r is r_0 goes to the short-term memory; any other trains the experts in
proportion to r_k. When the memory is full the learner sleeps: a new expert is trained on it from
scratch, and the memory is emptied. Prediction is the mixture

    p(y | x) = sum_k N_k p(x | k) p(y | x, k) / sum_k N_k p(x | k)

No task boundary is used. Where the task is given, the mixture is restricted to its classes. The paper
lets a later expert read the hidden units of earlier ones; here every expert has its own units.

Reference: S. Lee, J. Ha, D. Zhang, G. Kim, "A neural Dirichlet process mixture model for task-free
continual learning", ICLR 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError
from kenyon.learners.baselines._buffer import ReplayBuffer
from kenyon.learners.baselines._cndpm_experts import ExpertSizes, Mixture
from kenyon.learners.baselines._devices import to_array
from kenyon.learners.baselines._networks import Network, convolutional
from kenyon.learners.baselines._trainer import Batch, Trainer, positive

_SLEEP_BATCH = 50
_MIN_USAGE = 0.1  # an expert is trained on a batch only when at least this much of a sample is its own


class CNDPM(Trainer):
    """Experts that are added when the data no longer fit.

    Args:
        lr: learning rate (Adam) of the autoencoders.
        lr_classifier: learning rate (Adam) of the classifiers.
        buffer_size: samples that the short-term memory holds before the learner sleeps; at most half of
            the stream's share per class, so that a short stream is learned too.
        log_alpha: log of the concentration: how ready the learner is to open a new expert.
        chill: temperature of the classifier in r_k; a small one makes a wrong label decisive.
        network: `"mlp"`, or `"cnn"` for convolutional experts of images, as published.
        hidden: hidden layers of the encoder, mirrored in the decoder, and of the classifier.
        width: filters of a convolutional expert's first layer, twice as many in its second.
        code: width of the autoencoder's code.
        variance: sigma^2 of the pixels, scaled to 0..1.
        sleep: passes of the autoencoder over the memory in a sleep, batches of 50.
        sleep_classifier: passes of the classifier.
        draws: of the code, when a density is evaluated.
    """

    name = "cn-dpm"
    defaults: ClassVar[dict[str, float]] = {"lr": 1e-3, "lr_classifier": 1e-4, "log_alpha": -400.0, "variance": 0.1}

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        lr_classifier: float | None = None,
        buffer_size: int = 500,
        log_alpha: float | None = None,
        chill: float = 0.01,
        network: str = "mlp",
        hidden: Sequence[int] = (128, 128),
        width: int = 32,
        code: int = 16,
        variance: float | None = None,
        sleep: int = 200,
        sleep_classifier: int = 50,
        draws: int = 4,
        **common: Any,
    ) -> None:
        images = convolutional(network, info)
        if images and any(side % 4 for side in info.shape[1:]):
            raise ConfigError(
                f"a sample has shape {info.shape}: convolutional experts need sides that are multiples of 4"
            )
        super().__init__(info, seed, hidden=hidden, width=width, network="mlp", **common)
        self.log_alpha = self.option("log_alpha", log_alpha)
        self.chill = positive("chill", chill)
        self.passes = int(positive("sleep", sleep)), int(positive("sleep_classifier", sleep_classifier))
        sizes = ExpertSizes(
            info.n_features,
            info.n_classes,
            tuple(hidden),
            int(positive("code", code)),
            positive("variance", self.option("variance", variance)),
            self.lr,
            positive("lr_classifier", self.option("lr_classifier", lr_classifier)),
            info.shape if images else (),
            int(positive("width", width)),
        )
        noise = torch.randn(1, int(positive("draws", draws)), code, generator=torch.Generator().manual_seed(seed))
        self.net = self.keep("net", Network())  # the experts are the network
        self.mixture = self.keep("mixture", Mixture(sizes, noise.to(self.device)))
        capacity = max(self.batch_size, min(buffer_size, info.n_train // (2 * info.n_classes)))
        self.memory = self.keep("memory", ReplayBuffer(capacity, self.generator, self.device))

    def scores(self, x: Tensor, task: int | Tensor | None) -> Tensor:
        """`log p(y, x)` of the mixture."""
        if not self.mixture.experts:
            return self.mask(x.new_zeros(len(x), self.info.n_classes), task)
        joint = self.mixture.log_densities(x)[:, :, None] + self.mixture.log_classes(x)
        return self.mask(joint.logsumexp(1), task)

    def step(self, batch: Batch) -> Tensor:
        if not self.mixture.experts:
            before = self.scores(batch.x, batch.task)
            self._remember(batch, torch.ones(len(batch.y), dtype=torch.bool, device=self.device))
            return before
        densities, classes = self.mixture.log_densities(batch.x), self.mixture.log_classes(batch.x)
        labels = batch.y[:, None, None].expand(-1, len(self.mixture.experts), 1)
        log_r = densities + classes.gather(2, labels).squeeze(2) / self.chill
        novel = log_r.amax(1) < self.log_alpha
        self._train(batch, log_r.softmax(1) * ~novel[:, None])
        self._remember(batch, novel)
        return self.mask((densities[:, :, None] + classes).logsumexp(1), batch.task)

    def _train(self, batch: Batch, shares: Tensor) -> None:
        """Each expert learns its share of every sample."""
        usage = shares.sum(0)
        self.mixture.counts += to_array(usage)
        for k, expert in enumerate(self.mixture.experts):
            if usage[k] > _MIN_USAGE:
                expert.learn_g(batch.x, shares[:, k], self.generator)
                expert.learn_d(batch.x, batch.y, shares[:, k])
                self._updates += expert.n_weights

    def _remember(self, batch: Batch, novel: Tensor) -> None:
        """Samples that no expert fits, one by one, so that the memory never holds more than its size."""
        for row in torch.nonzero(novel).squeeze(1).tolist():
            self.memory.put([len(self.memory)], {"x": batch.raw[row : row + 1], "y": batch.y[row : row + 1]})
            if len(self.memory) == self.memory.capacity:
                self._sleep()

    def _sleep(self) -> None:
        """Train a new expert on the short-term memory, and empty it."""
        x, y = self.normalise(self.memory["x"]), self.memory["y"]
        expert = self.mixture.add(self.generator, len(y))
        weight = torch.ones(_SLEEP_BATCH, device=self.device)
        batches = -(-len(y) // _SLEEP_BATCH)
        for _ in range(self.passes[0] * batches):
            rows = torch.randint(len(y), (_SLEEP_BATCH,), generator=self.generator)
            expert.learn_g(x[rows], weight, self.generator)
        for _ in range(self.passes[1] * batches):
            rows = torch.randint(len(y), (_SLEEP_BATCH,), generator=self.generator)
            expert.learn_d(x[rows], y[rows], weight)
        self._updates += expert.optimizer_g.steps * expert.optimizer_g.values.numel()
        self._updates += expert.optimizer_d.steps * expert.optimizer_d.values.numel()
        self.memory.size.zero_()
