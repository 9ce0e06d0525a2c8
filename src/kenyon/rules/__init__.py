"""Plasticity rules `f`: one rule, one file, its equation on top.

>>> "gen" in RULES
True
>>> get_rule("gen")
GEN(b1=0.0, b2=-1.0)
"""

from kenyon.rules._base import RULES, Rule, get_rule
from kenyon.rules._gen import GEN
from kenyon.rules._inel import INEL
from kenyon.rules._integers import as_shifted, rounded
from kenyon.rules._kernels import Kernels, kernels_of
from kenyon.rules._mean import MEAN
from kenyon.rules._mse import MSE
from kenyon.rules._oja import OJA
from kenyon.rules._programs import device_functions

__all__ = [
    "GEN",
    "INEL",
    "MEAN",
    "MSE",
    "OJA",
    "RULES",
    "Kernels",
    "Rule",
    "as_shifted",
    "device_functions",
    "get_rule",
    "kernels_of",
    "rounded",
]
