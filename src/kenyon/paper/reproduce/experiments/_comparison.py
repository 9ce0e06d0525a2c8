"""Tables 3 and 8: every method on the split data sets, task- and class-incrementally."""

from __future__ import annotations

from dataclasses import replace

from kenyon.learners import LEARNERS
from kenyon.paper.reproduce._setting import COLOUR, NAMES, Setting
from kenyon.paper.reproduce._wanted import EMPTY, Gap, Line, Runs, Section, Sheet, Wanted, paper_value
from kenyon.paper.reproduce.experiments._configurations import ONE_HEAD, READ_AS, chosen, lengths, published, why
from kenyon.paper.reproduce.experiments._features import on_features
from kenyon.paper.reproduce.experiments._methods import ON_FEATURES, RIVALS
from kenyon.paper.tables import PaperRow, PaperTable, paper_table

STAND_IN = (
    "features of EfficientNet-Lite0 and an MLP in place of ResNet-18 from pixels; how much of the difference from the "
    "paper is the network's was not measured"
)

SINGLE, CLASSES = "single_configurations", "class_configurations"

NOTES = {
    "comparison": "The paper has a single run per cell here; ours are means of all seeds.",
    "comparison_extended": "Mean and standard deviation over the seeds, as in the paper.",
}
COMMON = (
    "One pass, batches of 10 and a buffer of 500 samples for the baselines (iCaRL also has a pool of 1,000 samples of "
    "the present task). Baselines learn an MLP 400-400 on MNIST; on CIFAR everybody learns features of a frozen "
    "network here, and what the baselines reach from pixels, as in the paper, has a table of its own. Tuning: on "
    "MNIST a grid of 2 to 18 combinations for each baseline, on a tenth of the training set, most of them on 2,000 "
    "samples per task; for Kenyon's own configurations a search of hundreds of evaluations, which is more effort; on "
    "CIFAR as the table of the same features says. A mean without a deviation is one seed. iid-offline is an upper "
    "bound and never marked best. "
)


def comparison(setting: Setting) -> list[Section]:
    """Tables 3 and 8."""
    titles = {"comparison": "Continual learning: all methods", "comparison_extended": "With CIFAR-100 and repetitions"}
    return [_sheet(setting, name, title) for name, title in titles.items()]


def _sheet(setting: Setting, name: str, title: str) -> Sheet:
    table = paper_table(name)
    streams = [(dataset, scenario) for dataset, _, scenario in (c.partition("/") for c in table.columns)]
    lines = [_paper_line(setting, row, streams) for row in table.rows]
    for learner, label in RIVALS.items():
        cells = tuple(_baseline(setting, learner, dataset, scenario, None) for dataset, scenario in streams)
        lines.append(Line(label, cells, "Not in the paper"))
    lines += _our_lines(setting, table, streams)
    columns = tuple(f"{scenario.capitalize()}, Split-{NAMES[dataset]}" for dataset, scenario in streams)
    note = COMMON + NOTES[name] + " " + READ_AS + " " + ONE_HEAD
    return Sheet(f"table-{table.number}", title, columns, tuple(lines), table.source, note)


def _paper_line(setting: Setting, row: PaperRow, streams: list[tuple[str, str]]) -> Line:
    """A row of the paper's table, filled with our runs."""
    cells = []
    for (dataset, scenario), paper in zip(streams, row.values, strict=True):
        if "learner" in row.keys:
            cells.append(_baseline(setting, row.keys["learner"], dataset, scenario, paper))
        else:
            what, _, which = row.keys["configuration"].partition("-")
            home = "cifar10" if dataset in COLOUR else "mnist"
            where = (SINGLE, home, which) if what == "transfer" else (CLASSES, which or home, "inel")
            cells.append(published_cell(setting, where, dataset, scenario, paper))
    group = row.group if "learner" in row.keys else "The paper's configurations, run here"
    return Line(row.label, tuple(cells), group, outside=row.keys.get("learner") == "iid-offline")


def published_cell(
    setting: Setting,
    where: tuple[str, str, str],
    dataset: str,
    scenario: str,
    paper: tuple[float, ...] | None,
    epochs: float = 1.0,
) -> Wanted:
    """A configuration of the paper's; INEL's task-incremental streams have one head. Empty where the paper has a dash.

    Args:
        where: a row of the paper's Table 1 or 7: the table, the data set it was found on, and its rule.
        dataset, scenario, epochs: the stream.
    """
    table, found, rule = where
    if paper is None or dataset not in lengths(table, found, rule):
        return EMPTY
    run_as = "domain-incremental" if rule == "inel" and scenario == "task-incremental" else scenario
    below, above = why(scenario, table == SINGLE, dataset in COLOUR)
    options = published(table, found, rule, dataset)
    return setting.kenyon(dataset, run_as, options, epochs=epochs, paper=paper, below=below, above=above)


def _baseline(setting: Setting, learner: str, dataset: str, scenario: str, paper: tuple[float, ...] | None) -> Wanted:
    if scenario not in LEARNERS[learner].scenarios:
        return (
            EMPTY
            if paper is None
            else Gap(f"{learner} is not defined for {scenario} streams", None, paper_value(paper))
        )
    if dataset not in COLOUR:
        return setting.runs(dataset, scenario, learner, paper=paper)
    cell = on_features(setting, learner, dataset, scenario)
    if isinstance(cell, Gap):
        return replace(cell, paper=paper_value(paper))
    stand_in = None if learner in ON_FEATURES else STAND_IN
    return replace(cell, paper=paper_value(paper), stand_in=stand_in) if isinstance(cell, Runs) else cell


def _our_lines(setting: Setting, table: PaperTable, streams: list[tuple[str, str]]) -> list[Line]:
    """What Kenyon reaches with configurations chosen on held-out samples."""

    def cell(dataset: str, scenario: str, features: str | bool | None = None) -> Wanted:
        options = chosen(dataset, scenario)
        if options is None:
            return Gap("no configuration was chosen for this stream yet")
        ours = [row.values[table.columns.index(f"{dataset}/{scenario}")] for row in table.rows if row.group == "Ours"]
        paper = None if features is False else max((value for value in ours if value), default=None)
        return setting.kenyon(dataset, scenario, options, paper=paper, features=features)

    group = "Kenyon, chosen on held-out samples (beside the best of the paper's own)"
    lines = [Line("Kenyon", tuple(cell(*stream) for stream in streams), group)]
    cells = tuple(cell(*stream, False) if stream[0] in COLOUR else EMPTY for stream in streams)
    return [*lines, Line("Kenyon, raw pixels", cells, group)]
