"""The paper's configurations on activity as its equation has it, beside activity of length 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kenyon.paper.reproduce._setting import COLOUR, NAMES, Setting
from kenyon.paper.reproduce._trials import trial
from kenyon.paper.reproduce._wanted import EMPTY, Gap, Line, Runs, Section, Sheet, Wanted
from kenyon.paper.reproduce.experiments._configurations import READ_AS, published
from kenyon.paper.tables import paper_table

SMALLER = 1e-8
"""A factor of the published learning rates for bytes, whose activity has a squared length of about 1e8."""

NOTE = (
    "x_e = ReLU(W_e u - mu - beta sigma) is the paper's equation; here x_e is then scaled to length 1 unless unit_norm "
    "is off. Without that its squared length is about 1e8 for bytes, and the delta rule is stable only up to 2 / "
    "length squared: at the published learning rates MSE diverges, and INEL's window freezes what the first samples "
    f"left. The last column has these rates times {SMALLER:g}, chosen by hand. INEL's window is left at its factor. "
    "Columns without a deviation are of one seed. "
)


def normalisation(setting: Setting) -> list[Section]:
    """One table: each configuration of Tables 1 and 7 on the stream it was found on."""
    lines = []
    for name, scenario in (("single_configurations", "single-task"), ("class_configurations", "class-incremental")):
        table = paper_table(name)
        for row in table.rows:
            dataset, rule = row.keys["dataset"], row.keys["rule"]
            if dataset not in (*COLOUR, "mnist", "fashion-mnist"):
                continue
            options = published(name, dataset, rule)
            small = {"unit_norm": False, "layer__learning_rate": options["layer__learning_rate"] * SMALLER}
            whole = _cell(setting, dataset, scenario, options, row.values[0])
            others = [
                _cell(setting, dataset, scenario, {**options, **changed}, row.values[0])
                for changed in ({"unit_norm": False}, small)
            ]
            if dataset in COLOUR:  # features are floats of another length
                others = others[:1]
            cells: tuple[Wanted, ...] = (
                whole,
                *(trial(cell.config, cell.paper) if isinstance(cell, Runs) else cell for cell in others),
            )
            cells += (EMPTY,) * (3 - len(cells))
            label = f"{'' if scenario == 'single-task' else 'Split-'}{NAMES[dataset]}, {rule.upper()}"
            lines.append(Line(label, cells, outside=True))
    columns = ("Length 1", "Length as it is", f"Length as it is, rate times {SMALLER:g}")
    title = "The paper's configurations with and without normalisation"
    return [Sheet("normalisation", title, columns, tuple(lines), note=NOTE + READ_AS, needed=(1, 2))]


def _cell(
    setting: Setting, dataset: str, scenario: str, options: Mapping[str, Any], paper: tuple[float, ...] | None
) -> Runs | Gap:
    return setting.kenyon(dataset, scenario, options, epochs=0.5 if scenario == "single-task" else 1.0, paper=paper)
