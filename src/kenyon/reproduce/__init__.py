"""Regenerate the paper's tables and figures: plan, run what the store lacks, write `report.json`."""

from kenyon.reproduce._experiments import EXPERIMENTS, Experiment, find_experiments
from kenyon.reproduce._reproduce import Outcome, Reproduction, write_results
from kenyon.reproduce._setting import Setting

__all__ = ["EXPERIMENTS", "Experiment", "Outcome", "Reproduction", "Setting", "find_experiments", "write_results"]
