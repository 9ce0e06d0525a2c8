"""INEL, the modulated inelastic rule: a window of plasticity on top of another rule.

    dW[i, j] = l_ij * dW_rule[i, j],   l_ij = H(1 - beta * |W[i, j] - mean_i W[:, j]|)

with H the Heaviside step (H(0) = 1). Synapses that stand out from the others of their neuron are
frozen, and thaw when the mean moves towards them. The paper puts the window on MSE; here it goes on
any rule: `INEL(beta=30, rule=GEN())`. `beta` is in units of 1 / weight.

Reference: Madireddy, Yanguas-Gil and Balaprakash, section 3.3, "Modulated Inelastic rule".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from kenyon.errors import ConfigError
from kenyon.rules._base import Rule, get_rule
from kenyon.rules._mse import MSE
from kenyon.utils.modulation import Moving, Schedule
from kenyon.utils.options import option, options_of


@dataclass(frozen=True)
class INEL(Rule):
    """The step of `rule` where beta |W - mean| <= 1, none elsewhere.

    Example:
        >>> INEL(beta=30.0).plasticity
        MSE()
    """

    name: ClassVar[str] = "inel"

    beta: Moving = option(
        30.0, "Inverse half-width of the window of plasticity; 0 leaves every synapse plastic.", "moving", low=0.0
    )
    rule: Rule | str = option(MSE(), "Rule inside the window.", "rule")

    def __post_init__(self) -> None:
        replace(options_of(INEL)["beta"], name="inel.beta").check(self.beta)
        if isinstance(self.rule, str):
            object.__setattr__(self, "rule", get_rule(self.rule))
        if not isinstance(self.rule, Rule) or isinstance(self.rule, INEL):
            raise ConfigError(f"inel.rule is {self.rule!r}: expected a rule without a window, such as MSE()")

    @property
    def window(self) -> float | Schedule | Callable[[int], float] | None:
        return self.beta

    @property
    def plasticity(self) -> Rule:
        return get_rule(self.rule)
