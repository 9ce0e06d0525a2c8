"""A layer whose weights are integers of 8, 4, 3 or 2 bits, several to a byte, each step rounded by chance.

What follows defines every bit, so that an implementation in another language can give the same. Numbers are integers
in two's complement of 64 bits unless said otherwise; `>>` and `/` round down, and shifts bind weaker than products.

**Levels.** The synapse of unit i and neuron j holds a level q in low .. top: -top .. top with top = 2^(bits - 1) - 1
where weights have a sign, 0 .. top with top = 2^bits - 1 where they have none. Its weight is q * level * 2^e, `level`
being a constant of the layer and e an exponent of neuron j, which stays 0 unless the rule has a limit. All start at 0.

**Packing.** The bits of q are bits `bits * i` and up of column j; bit b of a column is bit b mod 8 of its byte in row
b / 8. A row holds a byte of each neuron. Bits beyond the last unit are 0.

**Chance.** 32 bits, everything modulo 2^32, for a neuron j that learns its n-th sample (the first is 1):

    key    = mix(mix(seed + G n) + G (j + 1))          G = 0x9E3779B9
    r[i]   = mix(key + G (i + 1))                      for the step of unit i
    h[i]   = mix(mix(key + e + 1) + G (i + 1))         for halving the level of unit i while the exponent is e
    mix(x) : x ^= x >> 16; x *= 0x85EBCA6B; x ^= x >> 13; x *= 0xC2B2AE35; x ^= x >> 16

A neuron's own count is its time: what it learns does not depend on what other neurons learn in between.

**Activity in bytes.** With a[i] the bytes of a sample's active units, n and e those of neuron j, f the layer's bits of
fraction, and p = max(0, 7 - bits) where the rule has a limit, else 0:

    R      = 2^32 / isqrt(2^8 * sum of a[i]^2)         isqrt rounds down; R is 0 where no unit is active
    limit  = min(top << p, integer_limit(max(n, 1), top) << p >> e)
    acc    = sum over active units of min(q[i, j] << p, limit) * a[i]     q[i, j] where the rule has no limit
    score  = integer_score((acc * R >> 28 - f + p) << e, max(n, 1))         the first argument where it has no score

A score s is the output s * level / 2^f for the sample scaled to length 1. f is the largest number up to 12 for which
no score can reach 2^22, so that outputs in float32 tell all scores apart. `acc` fits into 32 bits. For each neuron that
a sample teaches:

    1. z = score
    2. n = min(n + 1, 2^31 - 1)
    3. while integer_limit(n, top) > top << e:  q[i, j] = q[i, j] + (h[i] >> 31) >> 1 for every unit i;  e = e + 1
    4. for each active unit i:
           d       = integer_step(z, q[i, j], n, ...) clipped to -2^34 .. 2^34
           c       = a[i] * (d * R >> 12) >> e
           q[i, j] = q[i, j] + (c + r[i] >> 32) clipped to low .. top

**Activity in float32**, x[i], of length 1 already. The output is the sum in float32, over active units in order, of
readout(float32(q) * float32(level * 2^e), n, ...) * x[i]; and c is d * (2^32 / (level * 2^e)), clipped to 512 levels
and cut to an integer, with d the rule's change of that weight in float32, the rest in float64. Everything else is
as above.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ConfigError, ModelFileError
from kenyon.features import Active, Setting
from kenyon.layers._base import Layer, Samples
from kenyon.layers._few_bit_limits import MOST_COUNT, check_bits, check_integers, check_rule, fraction_of, parts_of
from kenyon.layers._few_bit_merge import merged_levels, narrowed_levels
from kenyon.layers._plastic import Plastic
from kenyon.layers._state import Declared, State
from kenyon.layers._sums import check_additive, check_neurons
from kenyon.rules import Kernels, Rule, get_rule, kernels_of
from kenyon.utils.modulation import Moving, locals_of

COUNTS = Declared("counts", ("neurons",), np.uint32)
EXPONENTS = Declared("exponents", ("neurons",), np.uint8)


def few_bits_declared(rule: Rule, bits: int) -> tuple[Declared, ...]:
    """Packed levels, the neurons' counts, and their exponents where the rule has a limit."""
    weights = Declared("weights", ("units", "neurons"), np.uint8, bits)
    return (weights, COUNTS, *([EXPONENTS] if rule.plasticity.integer_limit is not None else []))


def few_bit_layer(part: Plastic, n_inputs: int, seed: int, setting: Setting) -> FewBitLayer:
    """The layer of a plastic part whose weights have few bits."""
    if part.initial_weight != "auto":
        raise ConfigError(
            f"initial_weight is {part.initial_weight!r} and bits is {part.bits}: expected 'auto', since only float32 "
            "synapses begin anywhere but at zero"
        )
    if part.output != "linear":
        raise ConfigError(f"output is {part.output!r} and bits is {part.bits}: expected 'linear' with few bits")
    if setting.in_bytes and not setting.unit_norm:
        raise ConfigError("unit_norm is False: expected True, since integers are learned at length 1")
    if setting.in_bytes and setting.hidden:
        raise ConfigError(f"hidden has widths of {setting.hidden!r}: expected None, since their output is not in bytes")
    return FewBitLayer(n_inputs, get_rule(part.rule), part.bounds, int(part.bits), seed, part.rate, setting.in_bytes)


class FewBitLayer(Layer):
    """Synapses of few bits.

    Args:
        n_inputs: presynaptic units.
        rule: the plasticity rule; one that can be learned in few bits.
        clamp: lowest and highest weight.
        bits: of a weight: 8, 4, 3 or 2.
        seed: of the rounding.
        rate: the learning rate.
        in_bytes: whether activity comes in bytes and everything is learned in integers, or in float32.

    Example:
        >>> from kenyon.layers import clamp_bounds
        >>> from kenyon.rules import GEN
        >>> layer = FewBitLayer(1000, GEN(), clamp_bounds(0.1, "symmetric"), bits=4, rate=0.02)
        >>> layer.add_class()
        >>> layer.state.state_bytes  # 500 bytes of weights and a count
        504
    """

    def __init__(
        self,
        n_inputs: int,
        rule: Rule,
        clamp: tuple[np.float32, np.float32],
        bits: int,
        seed: int = 0,
        rate: Moving = 1.0,
        in_bytes: bool = False,
    ) -> None:
        check_bits(bits)
        check_rule(rule)
        super().__init__(n_inputs, 0, few_bits_declared(rule, bits))
        self.rule, self.bits, self.in_bytes = rule, bits, in_bytes
        self.signed = rule.signed and bool(clamp[0] < 0)
        self.top = (1 << (bits - self.signed)) - 1
        self.level = rule.level(float(clamp[1]), self.top, n_inputs)
        if not 0 < self.level < math.inf:
            raise ConfigError(f"clamp is None and the rule {rule.name!r} needs one: expected the largest weight")
        self.fraction = fraction_of(n_inputs, self.top)
        self.constants = np.zeros(0, np.int64)
        if in_bytes:
            check_integers(rule, rate, n_inputs, self.top << parts_of(bits, rule.integer_limit))
            constants = rule.integer_constants(self.level, float(rate), self.fraction)  # type: ignore[arg-type]
            self.constants = np.array(constants, np.int64)
        self.seed, self._local = seed, locals_of([rate])
        self._kept: NDArray[np.uint8] | None = None

    def add_class(self) -> None:
        self.add_classes(1)

    def add_classes(self, n: int) -> None:
        self.n_classes += n
        self.state = self.state.grown(self.n_neurons + n)

    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        active, first, last, labels, _, beta, _ = samples
        scores = None if outputs is None else self._room(last - first)
        signal = (labels, samples.plastic_in(self), self.seed % 2**32)
        self._run(active, first, last, signal, beta, scores)
        if outputs is not None and scores is not None:
            outputs[...] = self._as_outputs(scores)
        return last

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        return self._as_outputs(self.scores(active, first, last))

    def scores(self, active: Active, first: int, last: int) -> NDArray[np.int32] | NDArray[np.float32]:
        """The scores of samples first .. last - 1, (samples, width): integers, or `x_o` of float activity."""
        out = self._room(last - first)
        self._run(active, first, last, (None, None, 0), self._parameters(), out)
        return out

    def _run(
        self, active: Active, first: int, last: int, signal: tuple, beta: NDArray[np.float32], out: NDArray | None
    ) -> None:
        """Score samples where there is `out`, and learn each behind it where there are labels."""
        if (active[1].dtype == np.uint8) != self.in_bytes:
            wanted = "bytes" if self.in_bytes else "float32"
            raise ConfigError(f"the features give activity in {active[1].dtype}: expected {wanted} before this layer")
        arrays = self.state.arrays
        levels = (self.bits, self.signed, arrays["weights"], arrays["counts"], arrays.get("exponents"))
        block = (*levels, *active, first, last, self.n_inputs, *signal)
        if self.in_bytes:
            self._kernels.call("integers", last - first, *block, 28 - self.fraction, self.constants, out)
        else:
            self._kernels.call("levels", last - first, *block, self.level, beta, out)

    @property
    def scale(self) -> np.float32:
        """The output of a score of 1."""
        return np.float32(self.level / 2**self.fraction) if self.in_bytes else np.float32(1)

    def _as_outputs(self, scores: NDArray) -> NDArray[np.float32]:
        return scores.astype(np.float32) * self.scale if self.in_bytes else scores

    def _room(self, n_samples: int) -> NDArray:
        return np.empty((n_samples, self.width), np.int32 if self.in_bytes else np.float32)

    @cached_property
    def _kernels(self) -> Kernels:
        """What learns by the rule, which is no part of a layer that is copied or pickled."""
        return kernels_of(self.rule, self._local)

    def _parameters(self) -> NDArray[np.float32]:
        """A row of `beta` for reading: the parameters are numbers where there is a readout, else they are not used."""
        numbers = [0.0 if callable(value) else value for value in self.rule.parameters.values()]
        return np.array([[0.0, 0.0, *numbers]], np.float32)

    def unlike_one_pass(self) -> str | None:
        check_additive(self.rule)
        return f"its weights have {self.bits} bits, and chance rounds them"

    def merge(self, other: State, neurons: NDArray[np.int64]) -> None:
        self.unlike_one_pass()
        check_neurons(self.state, other, neurons)
        neuron = (self.n_inputs, self.bits, self.signed, self.rule.integer_limit, self.seed)
        self.state = merged_levels(self.state, other, neurons, *neuron)

    def take(self, counted: State) -> None:
        """Take over what a `CountingLayer` with the same rule and as many neurons has counted, in fewer bits."""
        check_additive(self.rule)
        self.state = narrowed_levels(counted, self.state, self.n_inputs, self.bits, self.level, self.seed)

    def updates(self, samples: Samples, labelled: NDArray[np.bool_], n_plastic: int) -> int:
        return int(samples.active[2][samples.first : samples.last] @ labelled) * (
            self.n_hidden // 2 if self.n_hidden else 1
        )

    @property
    def levels(self) -> NDArray[np.int16]:
        """(n_inputs, n_neurons): the levels, unpacked."""
        levels = np.empty((self.n_inputs, self.n_neurons), np.int16)
        core.unpack_levels(self.bits, self.signed, self.state.arrays["weights"], levels)
        return levels

    @property
    def weights(self) -> NDArray[np.float32]:
        arrays, read = self.state.arrays, self.rule.readout
        levels = self.levels
        exponents = arrays.get("exponents", np.zeros(self.width, np.uint8))[: self.n_neurons]
        each = (self.level * 2.0 ** exponents.astype(np.float64)).astype(np.float32)
        if read is None:
            return levels * each
        known, parameters = np.arange(-self.top if self.signed else 0, self.top + 1), self._parameters()[0, 2:].tolist()
        weights = np.empty(levels.shape, np.float32)
        for j, n in enumerate(np.maximum(arrays["counts"][: self.n_neurons], 1).tolist()):
            table = [read(float(w), n, self.n_inputs, *parameters) for w in known.astype(np.float32) * each[j]]
            weights[:, j] = np.array(table, np.float32)[levels[:, j] - known[0]]
        return weights

    def weight_means(self) -> NDArray[np.float64]:
        return self.weights.mean(axis=0, dtype=np.float64)

    def load(self, tensors: Mapping[str, NDArray], where: str, n_classes: int) -> None:
        super().load(tensors, where, n_classes)
        levels, spare = self.levels, self.n_inputs * self.bits % 8
        last = self.state.views()["weights"][-1:]
        wanted = {
            f"levels from {-self.top if self.signed else 0} to {self.top}": np.abs(levels).max(initial=0) <= self.top,
            "zeros behind the last unit": not spare or not (last >> spare).any(),
            f"counts up to {MOST_COUNT}": self.state.views()["counts"].max(initial=0) <= MOST_COUNT,
            "exponents up to 31": self.state.views().get("exponents", _NONE).max(initial=0) <= 31,
        }
        for what, true in wanted.items():
            if not true:
                raise ModelFileError(f"weights{where} of {self.bits} bits do not fit together: expected {what}")

    def mark(self) -> FewBitUndo:
        return FewBitUndo(self)

    def room_to_keep(self) -> NDArray[np.uint8]:
        """Room for the weights as a call found them; used again by every call."""
        weights = self.state.arrays["weights"]
        if self._kept is None or self._kept.shape != weights.shape:
            self._kept = np.empty_like(weights)
        return self._kept

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.state.arrays["weights"].nbytes  # a journal, needed or not

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_kernels"} | {"_kept": None}


_NONE = np.zeros(0, np.uint8)


class FewBitUndo:
    """A snapshot of a layer. The packed weights are small enough to copy, once a call is about to change them."""

    def __init__(self, layer: FewBitLayer) -> None:
        self._layer, self._state, self._n_classes = layer, layer.state, layer.n_classes
        self._small = {name: array.copy() for name, array in layer.state.arrays.items() if name != "weights"}
        self._room = layer.room_to_keep()
        self._is_kept = False

    def note(self, active: Active, first: int, last: int) -> None:
        weights = self._state.arrays["weights"]
        if not self._is_kept and self._layer.state.arrays["weights"] is weights:
            self._room[...] = weights
            self._is_kept = True

    def undo(self) -> None:
        layer, arrays = self._layer, self._state.arrays
        if self._is_kept:
            arrays["weights"][...] = self._room
        for name, array in self._small.items():
            arrays[name][...] = array
        layer.state, layer.n_classes = self._state, self._n_classes
