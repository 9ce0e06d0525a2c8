"""What every gradient baseline shares: one pass, small batches, plain SGD, one shared output layer.

A baseline subclasses `Trainer`, names itself, and overrides `step` (what one batch does) and, if it cares about
task boundaries, `boundary`. Everything it must carry from one batch to the next is handed to `keep`, which puts it
into `state()`, `restore()` and `state_bytes` at once.

Heads: the output layer has one unit per class. Where the task is given, the logits of all other tasks' classes are
pushed to -1e9 before the loss and before the prediction; since tasks share no output weights, that is a head per task.

Threads: at batch 10 a second thread costs more than it brings, and a fixed count keeps the bits the same on every
machine with the same processor; so PyTorch runs on `threads` threads (1) inside a call and is put back after it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, InputError, require
from kenyon.learners.baselines._tuned import tuned
from kenyon.utils.options import is_number

torch = require("torch", "baselines", "a gradient baseline")

from torch import Tensor  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from kenyon.learners.baselines._devices import load_part, open_device, part_arrays, to_array, torch_threads  # noqa: E402
from kenyon.learners.baselines._networks import build_network  # noqa: E402

OTHER_HEAD = -1e9  # finite, so that a label from another task gives a large loss rather than NaN
PREDICT_BLOCK = 500


class Batch(NamedTuple):
    """Samples that are learned together: as received, normalised, labels, and the task.

    The task is None where it is not given, and a tensor with a number per sample for samples from memory.
    """

    raw: Tensor
    x: Tensor
    y: Tensor
    task: int | Tensor | None


class Part(Protocol):
    """Anything else that is part of the state: it gives named arrays (views, not copies) and takes them back."""

    def arrays(self) -> dict[str, NDArray]: ...

    def load(self, arrays: Mapping[str, NDArray]) -> None: ...


Kept = TypeVar("Kept")


MOST_THREADS = 1024
"""PyTorch starts as many as requested, and crashes where the system has no more."""


class Trainer:
    """One network, learned by SGD batch by batch.

    Args:
        info: what is known of the stream.
        seed: of the initial weights and of every later draw; the global generator is never used.
        lr: learning rate of SGD (no momentum). None: the tuned value for this kind of data and scenario.
        batch_size: samples learned together.
        network: `"mlp"`, `"cnn"`, `"resnet18"`, or `"auto"`: ResNet-18 for three-channel images, else the MLP.
        hidden: units of the MLP's hidden layers.
        width: filters of a convolutional network's first stage.
        threads: PyTorch threads used while learning and predicting.
        device: where the network and everything else that is learned lives: `"cpu"`, `"cuda"`, `"cuda:1"`, `"mps"`.
        mixed_precision: whether the network computes in bfloat16; weights and losses stay in float32.

    Example:
        >>> from kenyon.data.protocol import StreamInfo
        >>> import numpy as np
        >>> info = StreamInfo((4,), n_classes=2, tasks=((0, 1),), n_train=20, task_heads=False, value_range=(0.0, 1.0))
        >>> learner = Trainer(info, seed=0, lr=0.5, hidden=(8,))
        >>> X = np.eye(4, dtype=np.float32)[np.arange(20) % 4]
        >>> learner.learn(X, np.arange(20) % 2)
        >>> learner.predict(X[:2]).shape
        (2,)
    """

    name: ClassVar[str]
    defaults: ClassVar[dict[str, float]] = {"lr": 0.05}
    """Hyperparameters as published, used where `tuned.toml` has no row for the data and scenario."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Inherited options that the method sets itself and does not offer."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Show the options of the whole chain of classes: `inspect.signature(cls)` lists the inherited ones too."""
        super().__init_subclass__(**kwargs)
        merged: dict[str, inspect.Parameter] = {}
        for base in cls.__mro__:
            if "__init__" in vars(base) and base is not object:
                for key, parameter in list(inspect.signature(vars(base)["__init__"]).parameters.items())[1:]:
                    if parameter.kind is not inspect.Parameter.VAR_KEYWORD and key not in cls.fixed:
                        merged.setdefault(key, parameter)
        cls.__signature__ = inspect.Signature(list(merged.values()))  # type: ignore[attr-defined]

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        lr: float | None = None,
        batch_size: int = 10,
        network: str = "auto",
        hidden: Sequence[int] = (400, 400),
        width: int = 64,
        threads: int = 1,
        device: str = "cpu",
        mixed_precision: bool = False,
    ) -> None:
        if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
            raise ConfigError(f"threads is {threads!r}: expected an integer from 1 to {MOST_THREADS}")
        self.info, self.seed, self.threads = info, seed, threads
        self.device, self.mixed_precision = open_device(device), mixed_precision
        self._network = partial(build_network, network, hidden=hidden, width=width)
        self.batch_size = positive("batch_size", batch_size)
        self.options: dict[str, float] = {}  # hyperparameters in force, tuned ones included
        self.lr = positive("lr", self.option("lr", lr))
        self._parts: dict[str, Any] = {}
        self._updates = 0
        self.generator = self.keep("generator", torch.Generator().manual_seed(seed))
        with torch.random.fork_rng(devices=[]):  # the global generator is left as it was
            torch.manual_seed(seed)
            net = self.build()
        self.net = self.keep("net", net.to(self.device))
        self.params = list(self.net.parameters())
        self._heads = torch.full((len(info.tasks), info.n_classes), OTHER_HEAD, device=self.device)
        for row, classes in zip(self._heads, info.tasks, strict=True):
            row[list(classes)] = 0.0
        low, high = info.value_range
        self._low, self._scale = low, 1.0 / (high - low)

    # What a baseline overrides

    def build(self) -> Any:
        """The network, on the host: normalised samples in, one score for each class out. A module of your own gets
        PyTorch's usual first weights, drawn by the seed."""
        return self._network(self.info, self.generator)

    def step(self, batch: Batch) -> Tensor:
        """Learn one batch; return its scores from before the update (their argmax is the prediction)."""
        logits = self.logits(batch.x, batch.task)
        self.descend(F.cross_entropy(logits, batch.y))
        return logits

    def boundary(self, last: bool) -> None:
        """A task has ended (`last`: and the stream with it). Nothing to do by default."""

    def scores(self, x: Tensor, task: int | Tensor | None) -> Tensor:
        """Scores of normalised samples, for prediction."""
        return self.logits(x, task)

    # What a baseline uses

    def option(self, key: str, value: float | None) -> float:
        """`value`, or where it is None the tuned (else the published) hyperparameter; recorded in `options`."""
        if value is None:
            value = tuned(self.name, self.info).get(key, self.defaults[key])
        self.options[key] = value
        return value

    def keep(self, name: str, part: Kept) -> Kept:
        """Carry `part` through `state()` and count its bytes.

        A module, a generator, a tensor or a list of tensors (changed in place only), or any `Part`.
        """
        self._parts[name] = part
        return part

    def logits(self, x: Tensor, task: int | Tensor | None) -> Tensor:
        """The network's output for normalised samples, other tasks' heads masked; `task` may differ by sample."""
        return self.mask(self.forward(x), task)

    def forward(self, x: Tensor) -> Tensor:
        """The network's output, in float32 whatever it computes in."""
        if not self.mixed_precision:
            return self.net(x)
        with torch.autocast(self.device.type, torch.bfloat16):
            return self.net(x).float()

    def mask(self, logits: Tensor, task: int | Tensor | None) -> Tensor:
        return logits if task is None or not self.info.task_heads else logits + self.heads(task)

    def heads(self, task: int | Tensor | None) -> Tensor:
        """What `mask` adds: 0 for the classes of the task, -1e9 for all others; a row per sample for a tensor."""
        return self._heads[task]

    def normalise(self, raw: Tensor) -> Tensor:
        """float32 in [0, 1], by the stream's value range."""
        x = raw.float()
        return x.mul_(self._scale) if self._low == 0 and x is not raw else (x - self._low) * self._scale

    def gradient(self, loss: Tensor, params: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
        return torch.autograd.grad(loss, self.params if params is None else params)

    def apply(self, gradients: Sequence[Tensor], params: Sequence[Tensor] | None = None) -> None:
        """One SGD step; every weight that has a gradient counts as one synaptic update."""
        with torch.no_grad():
            for p, g in zip(self.params if params is None else params, gradients, strict=True):
                p.sub_(g, alpha=self.lr)
                self._updates += p.numel()

    def descend(self, loss: Tensor) -> None:
        self.apply(self.gradient(loss))

    # The learner protocol

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        self._learn(X, y, task, predict=False)

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        """Learn; the predictions are those of the learning pass itself, made for each batch before its update."""
        return self._learn(X, y, task, predict=True)

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        raw = self._tensor(X, task)
        with torch_threads(self.threads):
            return to_array(self._predict(raw, task))

    def class_scores(self, X: NDArray, task: int | None = None) -> NDArray:
        """One score per sample and class: the log of the share that the network gives it."""
        raw = self._tensor(X, task)
        with torch_threads(self.threads):
            blocks = [F.log_softmax(self.evaluate(block, task), 1) for block in raw.split(PREDICT_BLOCK)]
            return to_array(torch.cat(blocks))

    def end_task(self, last: bool) -> None:
        with torch_threads(self.threads):
            self.boundary(last)

    def state(self) -> dict[str, NDArray]:
        return {name: array.copy() for name, array in self._views().items()}

    def restore(self, state: dict[str, NDArray]) -> None:
        self._updates = int(state["synaptic_updates"])
        for name, part in self._parts.items():
            prefix = f"{name}."
            load_part(part, {key.removeprefix(prefix): a for key, a in state.items() if key.startswith(prefix)})

    @property
    def state_bytes(self) -> int:
        return sum(array.nbytes for array in self._views().values())

    @property
    def synaptic_updates(self) -> int:
        return self._updates

    # Inside

    def _learn(self, X: NDArray, y: NDArray[np.int64], task: int | None, predict: bool) -> NDArray[np.int64]:
        raw, labels = self._tensor(X, task), torch.from_numpy(np.array(y, dtype=np.int64)).to(self.device)
        if len(raw) != len(labels):
            raise InputError(f"{len(raw)} samples came with {len(labels)} labels: expected one label for each")
        complete = bool((labels >= 0).all())
        scores: list[Tensor] = []
        with torch_threads(self.threads):
            for start in range(0, len(raw), self.batch_size):
                r, t = raw[start : start + self.batch_size], labels[start : start + self.batch_size]
                known = None if complete else t >= 0
                if known is None or known.all():
                    before = self.step(Batch(r, self.normalise(r), t, task)).detach()
                else:  # unlabelled samples are predicted and not learned
                    before = self.evaluate(r, task) if predict else r.new_empty(0)
                    if known.any():
                        r = r[known]
                        self.step(Batch(r, self.normalise(r), t[known], task))
                if predict:
                    scores.append(before)
        return to_array(torch.cat(scores).argmax(1)) if scores else np.empty(0, np.int64)

    def evaluate(self, raw: Tensor, task: int | Tensor | None) -> Tensor:
        """Scores of raw samples, the network in evaluation mode; changes nothing."""
        self.net.eval()
        with torch.no_grad():
            scores = self.scores(self.normalise(raw), task)
        self.net.train()
        return scores

    def _predict(self, raw: Tensor, task: int | None) -> Tensor:
        blocks = [self.evaluate(block, task).argmax(1) for block in raw.split(PREDICT_BLOCK)]
        return torch.cat(blocks)

    def _tensor(self, X: NDArray, task: int | None) -> Tensor:
        if X.ndim != 2 or X.shape[1] != self.info.n_features:
            raise InputError(f"samples have shape {X.shape}: expected (n, {self.info.n_features})")
        if self.info.task_heads and (task is None or not 0 <= task < len(self.info.tasks)):
            raise InputError(f"task is {task!r}: expected a number from 0 to {len(self.info.tasks) - 1}")
        whole = X if X.flags.writeable and X.flags.c_contiguous else np.array(X, order="C")
        return torch.from_numpy(whole).to(self.device)

    def _views(self) -> dict[str, NDArray]:
        views: dict[str, NDArray] = {"synaptic_updates": np.array(self._updates)}
        for name, part in self._parts.items():
            views |= {f"{name}.{key}": array for key, array in part_arrays(part).items()}
        return views


def positive(name: str, value: Any) -> Any:
    """`value` if it is a number above zero; otherwise an error."""
    if not is_number(value) or not 0 < value < math.inf:
        raise ConfigError(f"{name} is {value!r}: expected a number above 0")
    return value
