"""The part that describes a second-order layer (`_second_order.py`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from kenyon.errors import ConfigError
from kenyon.features import Case, Ramps, Setting
from kenyon.layers._base import LayerPart
from kenyon.layers._second_order import SHRINKAGE, SecondOrderLayer, coactivity_of
from kenyon.layers._state import Declared
from kenyon.utils.options import Auto, option

BITS_OF_BUDGET = ((40_000, 16), (250_000, 24))
"""(most bytes, bits of an entry): the first row that holds the budget; above the last, 32, and the sums are exact."""


@dataclass(frozen=True, repr=False)
class SecondOrder(LayerPart):
    """Co-activity of units, and a readout that is solved from it when asked.

    Example:
        >>> SecondOrder(bits=16)
        SecondOrder(bits=16)
    """

    name: ClassVar[str] = "second-order"

    bits: Literal["auto", 16, 24, 32] = option(
        "auto",
        "Bits of an entry of the co-activity: 32, 24 or 16; 'auto' is 32, or what the memory budget is best spent on.",
        "integer", auto=True,
    )  # fmt: skip
    arithmetic: Literal["auto", "float", "integer"] = option(
        "auto",
        "Arithmetic of learning: float, or integer from bytes to scores, which a device can continue with; 'auto' is "
        "integer where a memory budget chooses few bits and the samples are bytes or images.",
        "choice", auto=True,
    )  # fmt: skip
    readout: Literal["discriminant", "ridge"] = option("discriminant", "The readout that is solved.", "choice")
    shrinkage: float | Auto = option(
        SHRINKAGE,
        "Shrinkage of the readout, as a share of the mean variance; 'auto' chooses it from the state, and with ramps "
        "a number is the least that is chosen.",
        "number", low=0.0, high=1e6, auto=True,
    )  # fmt: skip
    half_life: int | None = option(
        None, "Half-life in samples of what the layer keeps, to follow a stream that changes.", "integer", off=True
    )
    prior: Literal["auto", "equal", "counts"] = option(
        "auto",
        "Class prior: uniform (equal) or empirical (counts); 'auto' is equal, and counts with ramps.",
        "choice", auto=True,
    )  # fmt: skip

    def settled(self, case: Case) -> SecondOrder:
        bits = self._bits(case) if self.bits == "auto" else self.bits
        open_ = self.bits == "auto" and case.memory_budget is not None and self.arithmetic == "auto"
        plain = self.readout == "discriminant" and self.shrinkage != "auto" and self.prior != "counts"
        suits = open_ and bits < 32 and case.in_bytes and plain and not case.scaled and self.half_life is None
        integer = self.arithmetic == "integer" or suits
        if integer and self.half_life is not None:
            raise ConfigError(f"half_life is {self.half_life!r} and arithmetic is 'integer': expected None with it")
        prior: Any = "counts" if case.features == "ramps" else "equal"
        return replace(
            self,
            bits=bits,
            arithmetic="integer" if integer else "float",
            prior=prior if self.prior == "auto" else self.prior,
        )

    def _bits(self, case: Case) -> Any:
        """Bits where they are left open: those of the budget, few enough for integers if wanted."""
        if case.layout is None and self.arithmetic != "integer":
            return 32
        budget = case.memory_budget
        bits = next((bits for most, bits in BITS_OF_BUDGET if budget is not None and budget <= most), 32)
        return min(bits, BITS_OF_BUDGET[-1][1]) if self.arithmetic == "integer" else bits

    def declare(self, setting: Setting) -> tuple[Declared, ...]:
        return coactivity_of(1, setting.in_bytes, int(self.bits)).declared

    def build(self, n_inputs: int, seed: int, setting: Setting) -> SecondOrderLayer:
        if setting.hidden:
            raise ConfigError(f"hidden has widths of {setting.hidden!r}: expected None with a second-order layer")
        return SecondOrderLayer(
            n_inputs,
            in_bytes=setting.in_bytes,
            bits=int(self.bits),
            readout=self.readout,
            shrinkage=self.shrinkage,
            prior=self.prior,
            at_least=isinstance(setting.features, Ramps),
            half_life=self.half_life or 0,
            integer=setting.integer,
        )
