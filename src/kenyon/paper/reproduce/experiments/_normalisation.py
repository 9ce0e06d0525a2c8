"""The paper's configurations under three scales of the activity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kenyon.paper.reproduce._setting import COLOUR, NAMES, Setting
from kenyon.paper.reproduce._trials import trial
from kenyon.paper.reproduce._wanted import Line, Runs, Section, Sheet, Wanted
from kenyon.paper.reproduce.experiments._configurations import READ_AS, on_length_1, published, undivided, why
from kenyon.paper.tables import paper_table

NOTE = (
    "As printed: x_o is W^T x_e over the mean of |x_e|^2, clipped to [0, 1]. Length 1: every sample's activity is "
    "scaled to length 1, and INEL's window, published in units of W, is wider by the length of the activity. Not "
    "divided: x_o = W^T x_e, clipped. The delta rule is stable only up to a rate of 2 / |x_e|^2, about 0.002 here: at "
    "the published rates a linear output diverges, and a clipped one loses 5 to 13 points. Columns without a deviation "
    "are of one seed. "
)


def normalisation(setting: Setting) -> list[Section]:
    """One table: each configuration of Tables 1 and 7 on the stream it was found on."""
    lines = []
    for name, scenario in (("single_configurations", "single-task"), ("class_configurations", "class-incremental")):
        for row in paper_table(name).rows:
            dataset, rule = row.keys["dataset"], row.keys["rule"]
            paper, key = row.values[0], (name, dataset, rule)
            cells = [
                _cell(setting, dataset, scenario, options(*key), paper)
                for options in (published, on_length_1, undivided)
            ]
            if isinstance(cells[-1], Runs):
                cells[-1] = trial(cells[-1].config, cells[-1].paper)
            label = f"{'' if scenario == 'single-task' else 'Split-'}{NAMES[dataset]}, {rule.upper()}"
            lines.append(Line(label, tuple(cells), outside=True))
    title = "The paper's configurations under three scales of the activity"
    columns = ("As printed", "Length 1", "Not divided")
    return [Sheet("normalisation", title, columns, tuple(lines), note=NOTE + READ_AS, needed=(0, 1))]


def _cell(
    setting: Setting, dataset: str, scenario: str, options: Mapping[str, Any], paper: tuple[float, ...] | None
) -> Wanted:
    epochs, (below, above) = 0.5 if scenario == "single-task" else 1.0, why(scenario, False, dataset in COLOUR)
    return setting.kenyon(dataset, scenario, options, epochs=epochs, paper=paper, below=below, above=above)
