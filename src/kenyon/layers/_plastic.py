"""The plastic layer `F_l`: all-to-all synapses that follow a rule, each layer learning from its own local signal.

    x_o = g(W^T x_e),   W <- f(x_e, x_o, x_m; W, beta)

There is a neuron for each class, and the modulatory signal `x_m` is the one-hot label, times a number from 0 to 1 where
that is given (`Samples.modulation`). `g` is the identity, max(0, .) or the bounds 0 and 1 (`output`). With `bits` of 8
or fewer the weights are integers of few bits (`_few_bit_weights.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ConfigError, MergeError, ModelFileError
from kenyon.features import Active, Case, Setting
from kenyon.layers._base import Layer, LayerPart, Samples
from kenyon.layers._rows_undo import KeptRows, RowsUndo, kept_bytes, kept_rows
from kenyon.layers._state import Declared, State
from kenyon.layers._sums import added, check_additive, check_neurons
from kenyon.rules import Kernels, Rule, get_rule, kernels_of
from kenyon.utils.modulation import InverseTime, Locals, Moving, locals_of
from kenyon.utils.options import LARGEST, Auto, is_number, option

WEIGHTS = Declared("weights", ("units", "neurons"), np.float32)
SUMS = Declared("sums", ("neurons",), np.float64)
COUNTS = Declared("counts", ("neurons",), np.uint32)

MOST_COUNTED = 2**31
"""Most samples of a neuron that a file may state: far from what 32 bits hold, so that learning can go on."""


def declared_by(rule: Rule, local: Locals = ()) -> tuple[Declared, ...]:
    """What a plastic layer keeps for a rule: weights; their sums for a window; counts where anything needs them."""
    return (
        WEIGHTS,
        *([SUMS] if rule.window is not None else []),
        *([COUNTS] if _counts(rule.plasticity) or local else []),
    )


def _counts(rule: Rule) -> bool:
    return rule.counted or rule.readout is not None


INTEGER_BITS, INTEGER_BUDGET_BITS = 8, 4
"""Bits of weights in integers; with a memory budget more units are worth more than more bits."""
LARGEST_RATE = 100.0

OUTPUTS = {"linear": (-np.inf, np.inf), "relu": (0.0, np.inf), "clip": (0.0, 1.0)}
"""The least and the largest output, by what `output` may be."""


@dataclass(frozen=True, repr=False)
class Plastic(LayerPart):
    """All-to-all synapses that follow a plasticity rule.

    Example:
        >>> from kenyon.rules import MSE
        >>> Plastic(MSE(), learning_rate=0.1)
        Plastic(rule=MSE(), learning_rate=0.1)
    """

    name: ClassVar[str] = "plastic"

    rule: Rule | str = option(
        "auto",
        "Plasticity rule: a name, module:Class, or a rule such as GEN(b1=0.0); 'auto' is the classifier's rule.",
        "rule", auto=True,
    )  # fmt: skip
    learning_rate: Moving | Auto = option(
        "auto", "Learning rate: a number, a schedule or a function of time; 'auto' is the rule's own.", "moving",
        low=0.0, high=LARGEST_RATE, auto=True,
    )  # fmt: skip
    decay: float = option(
        0.0, "The learning rate falls with time t as rate / (1 + decay * t).", "number", low=0.0, high=1e6
    )
    clamp: float | Auto | None = option(
        "auto", "Largest weight; 'auto' is the rule's own.", "number", low=0.0, auto=True, off=True
    )
    clamp_kind: Literal["symmetric", "positive"] = option(
        "symmetric", "Weights lie in [-clamp, clamp] or in [0, clamp].", "choice"
    )
    initial_weight: float | Auto = option(
        "auto", "Weights of a neuron that has not learned yet, within the clamp; 'auto' is the rule's own.", "number",
        low=-100.0, high=100.0, auto=True,
    )  # fmt: skip
    output: Literal["linear", "relu", "clip"] = option(
        "linear",
        "Output x_o that the rule sees and predictions come from: the sum itself, rectified, or clipped to [0, 1].",
        "choice",
    )
    bits: Literal["auto", 2, 3, 4, 8, 32] = option(
        "auto",
        "Bits of a weight: 32, or 8, 4, 3 or 2 for a rule that can learn with few; 'auto' is 32, and with integer "
        "arithmetic 8, or 4 within a memory budget.",
        "integer", auto=True,
    )  # fmt: skip
    arithmetic: Literal["auto", "float", "integer"] = option(
        "auto",
        "Arithmetic of learning: float, or integer from bytes to scores, which a device can continue with; 'auto' is "
        "float.",
        "choice", auto=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clamp != "auto":
            clamp_bounds(self.clamp, self.clamp_kind)
        if self.decay and callable(self.learning_rate):
            raise ConfigError(
                f"decay is {self.decay!r} and learning_rate is {self.learning_rate!r}: expected decay with a plain "
                "number only"
            )

        if isinstance(self.rule, Rule) and self.bits not in ("auto", 32) and any(self.local[1:]):
            raise ConfigError(f"bits is {self.bits!r}: expected 32 where a rule's parameter depends on the synapse")

    def settled(self, case: Case) -> Plastic:
        integer, own = self.arithmetic == "integer", get_rule(self.rule).plasticity
        bits: Any = self.bits
        if bits == "auto":
            bits = 32 if not integer else INTEGER_BITS if case.memory_budget is None else INTEGER_BUDGET_BITS
        if integer and bits == 32:
            raise ConfigError(f"bits is {bits} and arithmetic is 'integer': expected bits=8, 4, 3 or 2 with it")
        return replace(
            self,
            learning_rate=own.learning_rate if self.learning_rate == "auto" else self.learning_rate,
            clamp=own.clamp if self.clamp == "auto" else self.clamp,
            bits=bits,
            arithmetic="integer" if integer else "float",
        )

    @property
    def rate(self) -> Moving:
        """The learning rate as it moves with time."""
        rate: Any = self.learning_rate
        return InverseTime(float(rate), self.decay) if self.decay else rate

    @property
    def local(self) -> Locals:
        """What the rate, window and parameters are multiplied with at each synapse (`Schedule.local`)."""
        return locals_of(self.moving)

    @property
    def bounds(self) -> tuple[np.float32, np.float32]:
        """Lowest and highest weight."""
        return clamp_bounds(self.clamp, self.clamp_kind)

    @property
    def moving(self) -> list[Moving]:
        rule = get_rule(self.rule)
        return [self.rate, 0.0 if rule.window is None else rule.window, *rule.plasticity.parameters.values()]

    def declare(self, setting: Setting) -> tuple[Declared, ...]:
        if self.bits != 32:
            from kenyon.layers._few_bit_weights import few_bits_declared

            return few_bits_declared(get_rule(self.rule), int(self.bits))
        return declared_by(get_rule(self.rule), self.local)

    def build(self, n_inputs: int, seed: int, setting: Setting) -> Layer:
        rule = get_rule(self.rule)
        initial = None if self.initial_weight == "auto" else float(self.initial_weight)
        if self.bits != 32:
            from kenyon.layers._few_bit_weights import few_bit_layer

            return few_bit_layer(self, n_inputs, seed, setting)
        return PlasticLayer(n_inputs, rule, self.bounds, self.local, initial, self.output)


def clamp_bounds(clamp: float | str | None, kind: str) -> tuple[np.float32, np.float32]:
    """Lowest and highest weight: [-c, c] (symmetric), [0, c] (positive), unbounded for None.

    Example:
        >>> [float(bound) for bound in clamp_bounds(0.5, "positive")]
        [0.0, 0.5]
    """
    if clamp is None:
        return np.float32(-np.inf), np.float32(np.inf)
    if not is_number(clamp) or not 0 < float(clamp) <= LARGEST:
        raise ConfigError(
            f"clamp is {clamp!r}: expected a positive number up to {LARGEST:.3g}, None, or 'auto' for the rule's own"
        )
    return np.float32(-float(clamp) if kind == "symmetric" else 0.0), np.float32(clamp)


class PlasticLayer(Layer):
    """Synapses in float32, changed by a rule.

    Args:
        n_inputs: presynaptic units.
        rule: the plasticity rule.
        clamp: lowest and highest weight.
        local: factors of the learning rate, the window and the rule's parameters that depend on the synapse.
        initial: weights of a neuron that has not learned yet; None for the rule's own.
        output: a key of `OUTPUTS`.
    """

    def __init__(
        self,
        n_inputs: int,
        rule: Rule,
        clamp: tuple[np.float32, np.float32],
        local: Locals = (),
        initial: float | None = None,
        output: str = "linear",
    ) -> None:
        super().__init__(n_inputs, 0, declared_by(rule, local))
        self.rule, self.clamp = rule, clamp
        self._local, self.outputs = local, OUTPUTS[output]
        step = rule.plasticity
        self._by_column, self._event_driven = step.gated, step.event_driven
        self._initial = np.clip(np.float32(step.initial_weight if initial is None else initial), *clamp)
        self._dense = None if step.event_driven else np.zeros(n_inputs, np.float32)
        self._kept: KeptRows | None = None
        self._start(0)

    @property
    def weights(self) -> NDArray[np.float32]:
        arrays = self.state.arrays
        if self.rule.plasticity.readout is None:
            return arrays["weights"][:, : self.n_neurons]
        read = np.empty((self.n_inputs, self.n_neurons), np.float32)
        self._kernels.call("each", 1, arrays["weights"], arrays["counts"], self._parameters(), read)
        return read

    def add_class(self) -> None:
        self.add_classes(1)

    def add_classes(self, n: int) -> None:
        self.n_classes += n
        before = self.n_neurons
        self.state = self.state.grown(before + n)
        self._start(before)

    def _start(self, first: int) -> None:
        """Neurons from `first` on as they are before they learn."""
        arrays = self.state.arrays
        new = slice(first, self.n_neurons)
        arrays["weights"][:, new] = self._initial
        if "sums" in arrays:
            arrays["sums"][new] = float(self._initial) * self.n_inputs
        if "counts" in arrays:
            arrays["counts"][new] = 0

    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        return self._step(samples, outputs, None)

    @property
    def graded(self) -> bool:
        return True

    @property
    def at_once(self) -> bool:
        return True

    def learn_one(self, sample: Samples, clock: NDArray[np.int64]) -> bool:
        return self._step(sample, None, clock) == sample.last

    def _step(self, samples: Samples, outputs: NDArray[np.float32] | None, clock: NDArray[np.int64] | None) -> int:
        active, first, last, labels, _, beta, modulation = samples
        if outputs is None and not self._by_column:
            outputs = np.empty((last - first, self.width), np.float32)
        arrays = self.state.arrays
        kept = (arrays["weights"], arrays.get("sums"), arrays.get("counts"))
        signal = (labels, samples.plastic_in(self), beta)
        more = (*self.clamp, *self.outputs, outputs, self._dense, clock, modulation)
        return self._kernels.call("learn", last - first, self._by_column, *kept, *active, first, last, *signal, *more)

    @cached_property
    def _kernels(self) -> Kernels:
        """What learns by the rule, which is no part of a layer that is copied or pickled."""
        return kernels_of(self.rule.plasticity, self._local)

    def _parameters(self) -> NDArray[np.float32]:
        """Of a rule with a readout, whose parameters are numbers."""
        return np.array(list(self.rule.plasticity.parameters.values()), np.float32)

    def updates(self, samples: Samples, labelled: NDArray[np.bool_], n_plastic: int) -> int:
        active, first, last, *_ = samples
        visits = active[2][first:last] @ labelled if self._event_driven else self.n_inputs * np.count_nonzero(labelled)
        return int(visits) * (1 if self._by_column else n_plastic)

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        outputs = np.empty((last - first, self.width), np.float32)
        arrays = self.state.arrays
        if self.rule.plasticity.readout is None:
            core.forward(arrays["weights"], *active, first, last, outputs)
        else:
            known = (arrays["weights"], arrays["counts"], *active, first, last, self._parameters())
            self._kernels.call("outputs", last - first, *known, outputs)
        return outputs if self.outputs == OUTPUTS["linear"] else outputs.clip(*self.outputs)

    def unlike_one_pass(self) -> str | None:
        check_additive(self.rule)
        if self._local:
            raise MergeError("a rate or parameter depends on the synapse: expected numbers, so that weights are sums")
        return "its weights are summed in floats, whose last bits depend on the order"

    def merge(self, other: State, neurons: NDArray[np.int64]) -> None:
        self.unlike_one_pass()
        check_neurons(self.state, other, neurons)
        total = added(self.state, other, neurons)
        total.arrays["weights"] = np.clip(total.arrays["weights"], *self.clamp)
        self.state = total

    def weight_means(self) -> NDArray[np.float64]:
        means = np.empty(self.n_neurons)
        core.column_means(self.weights, means)
        return means

    @property
    def sharpness(self) -> float:
        return self.rule.plasticity.sharpness

    def load(self, tensors: Mapping[str, NDArray], where: str, n_classes: int) -> None:
        super().load(tensors, where, n_classes)
        counts = self.state.views().get("counts")
        if counts is not None and counts.max(initial=0) > MOST_COUNTED:
            raise ModelFileError(f"counts{where} holds {counts.max()}: expected at most {MOST_COUNTED}")

    def mark(self) -> RowsUndo:
        self._kept = kept_rows(self.state.arrays["weights"], self._kept)
        return RowsUndo(self, self._kept)

    @property
    def keeps_rows(self) -> bool:
        """Whether learning changes the synapses of active units alone."""
        return self._event_driven

    @property
    def nbytes(self) -> int:
        dense = 0 if self._dense is None else self._dense.nbytes
        return super().nbytes + dense + kept_bytes(self.state.arrays["weights"])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_kernels"} | {"_kept": None}
