"""Runs and measurements of a report that was made before, for what the store does not have.

A report holds the numbers of every run behind it, under the name of the run's folder, and that name says what decides
the results. So a number of an earlier report may stand in a new one as long as its run would have the same name now:
it is left out where its configuration, its learner or the protocol has changed since. Measurements and trials have no
run in a report: what a table had in the same place stands while the command beside it is the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kenyon.data.backbones import DEFAULT_BACKBONE, find_backbone
from kenyon.data.streams import canonical_name
from kenyon.errors import KenyonError
from kenyon.lab.evaluation import Metrics, RunConfig, RunResult
from kenyon.lab.figures import Figure, Lines, Scatter
from kenyon.lab.report import ReportData, Run, read_report
from kenyon.lab.tables import Cell, Result, Text
from kenyon.utils.outside import looking

_REFERS = re.compile(r"# As (\S+), but for\nseeds = \[(\d+)\]\n")
_SEEDS = re.compile(r"^seeds = .*$", re.MULTILINE)


@dataclass(frozen=True)
class Earlier:
    """The runs of an earlier report.

    Attributes:
        report: what `report.json`, or `docs/results.json`, holds.
    """

    report: ReportData

    @classmethod
    def read(cls, path: Path) -> Earlier:
        """The runs of a file that `kenyon reproduce` wrote."""
        return cls(read_report(path))

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Every run by name, each with its whole configuration."""
        return {name: replace(run, config=self._config(run)) for name, run in self.report.runs.items()}

    def name(self, config: RunConfig, seed: int) -> str | None:
        """The name of a run in that report; None where it is not there."""
        name = config.folder_name(seed)
        return name if name in self.report.runs else None

    def result(self, name: str) -> RunResult:
        """The numbers of a run. Its accuracy matrix and its curves are not part of a report."""
        run = self.report.runs[name]
        metrics = Metrics({"accuracy": run.accuracy} | run.metrics)
        return RunResult(run.seed, "test", (), (), (), metrics, (), (), 0, "", folder=Path(name))

    def cell(self, table: str, group: str | None, row: str, column: str, command: str) -> Cell | None:
        """What that report has in a place of a table; None where it has nothing there, or of another command."""
        for old in self.report.tables:
            if old.id == table and column in old.columns:
                place = old.columns.index(column)
                found = [line.cells[place] for line in old.rows if (line.group, line.label) == (group, row)]
                return next((c for c in found if isinstance(c, (Result, Text)) and c.command == command), None)
        return None

    def figures(self, drawn: Sequence[Figure]) -> list[Figure]:
        """Figures with more runs behind them in that report than now, each in its place; those not drawn now come last.

        Accuracy matrices, curves and searches cannot be drawn without their runs. A figure counts as long as every run
        behind it would have the same name now.
        """
        before = {figure.id: figure for figure in self.report.figures if self._stands(figure)}
        kept = []
        for figure in drawn:
            old = before.pop(figure.id, figure)
            fuller = isinstance(old, type(figure)) and _fullness(old) > _fullness(figure)
            kept.append(old if fuller else figure)
        return kept + list(before.values())

    def _stands(self, figure: Figure) -> bool:
        names = [point.run for point in figure.points if point.run] if isinstance(figure, Scatter) else figure.runs
        return all(self._still(name) for name in names)

    def _still(self, name: str) -> bool:
        """Whether a run would have the same name now.

        Its configuration is somebody's file: one that names code, weights or data outside the package is not followed.
        """
        run = self.runs[name]
        try:
            values = {key: value for key, value in tomllib.loads(run.config).items() if key != "seeds"}
            if not _is_published(values):
                return False
            with looking():
                return self.name(RunConfig.from_dict(values), run.seed) == name
        except (KenyonError, tomllib.TOMLDecodeError):
            return False

    def _config(self, run: Run) -> str:
        refers = _REFERS.fullmatch(run.config)
        if refers is None:
            return run.config
        home, seed = refers.groups()
        return _SEEDS.sub(f"seeds = [{seed}]", self.report.runs[home].config)


def _is_published(values: Mapping[str, Any]) -> bool:
    """Whether a configuration names no file: neither a data set by its path nor weights of its own."""
    backbone = values.get("backbone", {})
    named = backbone if isinstance(backbone, Mapping) else {"name": backbone}
    try:
        canonical_name(str(values.get("dataset")))
        find_backbone(str(named.get("name", DEFAULT_BACKBONE)))
    except KenyonError:
        return False
    return "weights" not in named


def _fullness(figure: Figure) -> tuple[int, int]:
    """How many lines and runs are shown; a scatter, whose points need no more than a report has, is redrawn."""
    if isinstance(figure, Scatter):
        return 0, 0
    return len(figure.series) if isinstance(figure, Lines) else 0, len(figure.runs)
