"""The counting rule in integers: sums that never saturate, and so add up to the last bit.

    S[i, j] <- S[i, j] + c[i],   n[j] <- n[j] + 1         for a sample of class j
    x_o[j]   = sum over i of min(S[i, j] / (65536 n[j]), cap / sqrt(N)) * c[i] / 65536

or, with `readout="bayes"`, naive Bayes on the same sums, N units and a smoothing a of 1/32:

    x_o[j]   = sum over i of log((S[i, j] / 65536 + a) / (sum over i of S[i, j] / 65536 + a N)) * c[i] / 65536

with log(n[j]) added where classes are as likely as they were (`prior="counts"`). It is made for wide and sparse
samples, such as bags of words; the activity must not be negative.

c[i] is the activity of unit i in a sample of length 1, in 1/65536: a[i] * R >> 12 for activity in bytes (R as in
`_few_bit_weights.py`), and x[i] * 65536 rounded for floats. It depends on the sample alone, so the sums do not depend
on the order of the stream: models that learned parts of it merge into the one that learned all of it, to the bit, and
samples can be taken out again. An entry takes four bytes, or eight where a sum needs them. What was counted in this
way can be narrowed afterwards to the few bits of a `FewBitLayer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ConfigError, InputError
from kenyon.features import Active, Setting
from kenyon.layers._base import Layer, LayerPart, Samples
from kenyon.layers._class_sums import with_joined
from kenyon.layers._coactivity import CLASS_COUNTS
from kenyon.layers._fading import FADES, halved, learn_and_fade
from kenyon.layers._few_bit_merge import ONE
from kenyon.layers._rows_undo import KeptRows, RowsUndo, kept_bytes, kept_rows
from kenyon.layers._state import Declared, State
from kenyon.layers._sums import NARROW, added, check_neurons, narrowest, only, taken_away, wide_in, widened
from kenyon.rules import MEAN
from kenyon.utils.options import option

SUMS = Declared("sums", ("units", "neurons"), np.uint32, wide=True)

LARGEST = ONE + ONE // 8
"""No activity of a unit in a sample of length 1 is larger: the length of a sample in bytes is rounded down."""


SMOOTHING = 2048.0
"""Added to every sum by naive Bayes: 1/32 of a sample of length 1."""


@dataclass(frozen=True, repr=False)
class Counting(LayerPart):
    """The counting rule in sums that never saturate: models merge, and samples can be taken out, to the bit.

    Example:
        >>> Counting(readout="bayes", prior="counts")
        Counting(readout='bayes', prior='counts')
    """

    name: ClassVar[str] = "counting"

    cap: float = option(
        0.3, "Most that a synapse counts for, as a share of a unit's mean activity.", "number", low=1e-6
    )
    readout: Literal["capped", "bayes"] = option(
        "capped",
        "How the sums are read: means, each up to the cap, or naive Bayes, for bags of words.",
        "choice",
    )  # fmt: skip
    half_life: int | None = option(
        None, "Half-life in samples of what the layer keeps, to follow a stream that changes.", "integer", off=True
    )
    prior: Literal["equal", "counts"] = option("equal", "Class prior of naive Bayes: uniform, or empirical.", "choice")

    def declare(self, setting: Setting) -> tuple[Declared, ...]:
        return SUMS, CLASS_COUNTS

    def build(self, n_inputs: int, seed: int, setting: Setting) -> CountingLayer:
        bayes = self.readout == "bayes"
        if setting.hidden:
            raise ConfigError(f"hidden has widths of {setting.hidden!r}: expected None, with layer='counting'")
        if not setting.unit_norm:
            raise ConfigError("unit_norm is False: expected True, with layer='counting'")
        if not bayes and setting.features is not None and setting.features.signed:
            raise ConfigError(
                f"features is {setting.features!r}: expected some that are never negative, or readout='bayes', with "
                "layer='counting'"
            )
        return CountingLayer(n_inputs, MEAN(self.cap), self.half_life or 0, bayes=bayes, prior=self.prior)


class CountingLayer(Layer):
    """Sums of activity in integers, read through synapses that saturate.

    Args:
        n_inputs: presynaptic units.
        rule: the counting rule.
        half_life: half-life of what is kept, in samples; 0 for none.
        bayes: read by naive Bayes; else through synapses that saturate.
        prior: `counts` for classes as likely as they were, with naive Bayes; `equal` for equally likely ones.

    Example:
        >>> from kenyon.rules import MEAN
        >>> layer = CountingLayer(100, MEAN(cap=0.3))
        >>> layer.add_class()
        >>> layer.weights.shape, layer.state.state_bytes
        ((100, 1), 404)
    """

    def __init__(
        self, n_inputs: int, rule: MEAN, half_life: int = 0, *, bayes: bool = False, prior: str = "equal"
    ) -> None:
        super().__init__(n_inputs, 0, (SUMS, CLASS_COUNTS))
        self.rule, self.half_life, self.bayes, self._prior = rule, half_life, bayes, prior
        self.most = rule.level(np.inf, 1, n_inputs)
        self._sure = 0  # samples that are sure to fit into 32 bits
        self._kept: KeptRows | None = None

    def add_class(self) -> None:
        self.n_classes += 1
        self.state = self.state.grown(self.n_neurons + 1)

    # ---- learning and reading

    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        if self.half_life:
            return learn_and_fade(self, samples, outputs)
        self.learn_on(samples, outputs)
        return samples.last

    def learn_on(self, samples: Samples, outputs: NDArray[np.float32] | None) -> None:
        if outputs is None:
            self._add(samples)
            return
        for s in range(samples.first, samples.last):
            outputs[s - samples.first] = self.forward(samples.active, s, s + 1)[0]
            self._add(samples._replace(first=s, last=s + 1))

    def fade(self) -> None:
        """Halve the weight of everything that was learned."""
        sums, class_counts = (self.state.arrays[name] for name in ("sums", "class_counts"))
        counts = halved(class_counts)
        shares = counts / np.maximum(class_counts, 1).astype(np.float64)
        self.state = narrowest(self.state, {"sums": np.rint(sums * shares).astype(np.uint64), "class_counts": counts})
        self._sure = 0

    def _add(self, samples: Samples) -> None:
        active, first, last, labels, *_ = samples
        if self.bayes:
            self._check_counts(active, first, last)
        block = (*active, first, last, labels, samples.plastic_in(self))
        self._make_room(block, last - first)
        core.add_counts(self.state.arrays["sums"], self.state.arrays["class_counts"], *block)

    def _make_room(self, block: tuple, n: int) -> None:
        """Go over to 64 bits where these samples would pass 32, and only there."""
        sums, class_counts = self.state.arrays["sums"], self.state.arrays["class_counts"]
        if sums.dtype == class_counts.dtype == np.uint64:
            return
        if self._sure < n:
            highest = max(int(sums.max(initial=0)), int(class_counts.max(initial=0)) * LARGEST)
            self._sure = max(0, NARROW - highest) // LARGEST
        if self._sure < n:
            after = {"sums": sums.astype(np.uint64), "class_counts": class_counts.astype(np.uint64)}
            core.add_counts(after["sums"], after["class_counts"], *block)
            self.state = widened(self.state, {name for name, array in after.items() if array.max() > NARROW})
        self._sure = max(0, self._sure - n)

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        outputs = np.empty((last - first, self.width), np.float32)
        sums, class_counts = self.state.arrays["sums"], self.state.arrays["class_counts"]
        if not self.bayes:
            core.read_counts(sums, class_counts, *active, first, last, self.most, outputs)
            return outputs
        self._check_counts(active, first, last)
        totals = sums.sum(axis=0, dtype=np.float64)
        core.read_bayes(sums, class_counts, *active, first, last, totals, SMOOTHING, outputs)
        return outputs + np.log(np.maximum(class_counts, 1)).astype(np.float32) if self._prior == "counts" else outputs

    @staticmethod
    def _check_counts(active: Active, first: int, last: int) -> None:
        _, values, counts = active
        for s in range(first, last):
            if counts[s] and (lowest := values[s, : counts[s]].min()) < 0:
                raise InputError(
                    f"an input of a sample is negative ({lowest:g}): expected counts, for readout='bayes', which "
                    "is the default for sparse matrices; pass an array, or choose features and a layer"
                )

    def updates(self, samples: Samples, labelled: NDArray[np.bool_], n_plastic: int) -> int:
        return int(samples.active[2][samples.first : samples.last] @ labelled)

    @property
    def weights(self) -> NDArray[np.float32]:
        views = self.state.views()
        if self.bayes:
            smooth = views["sums"] + SMOOTHING
            return np.log(smooth / smooth.sum(axis=0)).astype(np.float32)
        means = views["sums"] / (np.maximum(views["class_counts"], 1).astype(np.float64) * ONE)
        return np.minimum(means, self.most).astype(np.float32)

    def weight_means(self) -> NDArray[np.float64]:
        return self.weights.mean(axis=0, dtype=np.float64)

    @property
    def sharpness(self) -> float:
        return 2.0 if self.bayes else self.rule.sharpness  # log-likelihoods of samples of length 1

    # ---- sums of sums

    def unlike_one_pass(self) -> str | None:
        return FADES if self.half_life else None

    def merge(self, other: State, neurons: NDArray[np.int64]) -> None:
        check_neurons(self.state, other, neurons)
        self.state, self._sure = added(self.state, other, neurons), 0

    def subtract(self, other: State, neurons: NDArray[np.int64]) -> None:
        check_neurons(self.state, other, neurons)
        self.state, self._sure = taken_away(self.state, other, neurons), 0

    def keep(self, neurons: NDArray[np.int64]) -> None:
        self.state, self.n_classes = only(self.state, neurons), len(neurons)

    def join(self, neurons: NDArray[np.int64], left: NDArray[np.int64]) -> None:
        self.state, self.n_classes, self._sure = with_joined(self.state, neurons, left), len(left), 0

    def class_counts(self) -> NDArray[np.int64]:
        return self.state.views()["class_counts"].astype(np.int64)

    # ---- keeping and undoing

    def load(self, tensors: Mapping[str, NDArray], where: str, n_classes: int) -> None:
        self.state = widened(self.state, wide_in(self.state, tensors, where))
        super().load(tensors, where, n_classes)
        self.state, self._sure = narrowest(self.state, self.state.arrays), 0

    @property
    def keeps_rows(self) -> bool:
        """Whether learning changes the synapses of active units alone."""
        return True

    def mark(self) -> RowsUndo:
        self._kept = kept_rows(self.state.arrays["sums"], self._kept)
        self._sure = 0  # a call that is undone had others to count
        return RowsUndo(self, self._kept, "sums")

    @property
    def nbytes(self) -> int:
        return super().nbytes + kept_bytes(self.state.arrays["sums"])

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": None}
