"""Regenerate the paper's tables and figures: plan, run what the store lacks, write `report.json`."""

from kenyon.reproduce._plan import Plan, recorded_on
from kenyon.reproduce._reproduce import Reproduced, Reproduction, write_results
from kenyon.reproduce._setting import Setting
from kenyon.reproduce.experiments import EXPERIMENTS, Experiment, find_experiments

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Plan",
    "Reproduced",
    "Reproduction",
    "Setting",
    "find_experiments",
    "recorded_on",
    "write_results",
]
