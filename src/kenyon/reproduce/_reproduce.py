"""Plan, run, report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kenyon.report._data import FILE, ReportData, write_report
from kenyon.report._markdown import write_markdown
from kenyon.report._page import write_page
from kenyon.reproduce._execute import Told, execute
from kenyon.reproduce._experiments import EXPERIMENTS, Experiment
from kenyon.reproduce._plan import Plan, make_plan
from kenyon.reproduce._report import Words, make_report
from kenyon.reproduce._setting import Setting, check_present
from kenyon.reproduce._speeds import Clock
from kenyon.reproduce._wanted import Part, Results
from kenyon.system import replace_file

TITLE = "The paper, reproduced"
PAPER = (
    "Every table and figure of “Neuromodulated Neural Architectures with Local Error Signals for Memory-Constrained "
    "Online Continual Learning” (Madireddy, Yanguas-Gil and Balaprakash, 2021), our numbers beside the paper's."
)


@dataclass(frozen=True)
class Outcome:
    """How it ended.

    Attributes:
        report: what was written.
        path: where.
        page: the same for a person to read.
        failures: reason by name of the job that failed.
    """

    report: ReportData
    path: Path
    page: Path
    failures: Mapping[str, str]


@dataclass(frozen=True)
class Reproduction:
    """Some experiments under some circumstances.

    Attributes:
        experiments: which.
        setting: where and how large.
        command: what makes the report again.
    """

    experiments: Sequence[Experiment]
    setting: Setting
    command: str = "kenyon reproduce"

    @cached_property
    def parts(self) -> dict[str, Sequence[Part]]:
        check_present(self.setting)
        return {experiment.name: experiment.parts(self.setting) for experiment in self.experiments}

    def plan(self) -> Plan:
        """What is to be done; nothing is run."""
        return make_plan(self.parts, self.setting.store, Clock(self.setting), self.setting.workers)

    def run(self, plan: Plan, told: Told) -> Outcome:
        """Do what is left and write the report; a job that fails is named in it."""
        setting = self.setting
        failures = execute(plan.left, setting.store, setting.data_dir, setting.workers, told)
        return self.write(failures)

    def write(self, failures: Mapping[str, str]) -> Outcome:
        """Write `report.json` from what the store has."""
        parts = [part for own in self.parts.values() for part in own]
        results = Results(self.setting.store, dict(failures))
        report = make_report(parts, results, self.setting, Words(TITLE, self._subtitle, self.command))
        path = self.setting.store / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        write_report(report, path)
        page = path.with_suffix(".html")
        write_page(report, page)
        return Outcome(report, path, page, failures)

    @property
    def _subtitle(self) -> str:
        words = PAPER
        if len(self.experiments) < len(EXPERIMENTS):
            words += f" Of it here: {'; '.join(experiment.regenerates for experiment in self.experiments)}."
        return words


def write_results(report: ReportData, path: Path) -> tuple[Path, Path]:
    """Write a report's data, without spaces, and its text, beside each other: `PATH.json` and `PATH.md`."""
    data, text = path.with_suffix(".json"), path.with_suffix(".md")
    data.parent.mkdir(parents=True, exist_ok=True)
    replace_file(data, (json.dumps(report.to_dict(), allow_nan=False, separators=(",", ":")) + "\n").encode())
    write_markdown(report, text)
    return data, text
