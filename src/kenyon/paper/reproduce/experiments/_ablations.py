"""The ablations of the appendix: how much each part of the architecture contributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kenyon.paper.reproduce._setting import Setting
from kenyon.paper.reproduce._wanted import EMPTY, Gap, Line, Runs, Section, Sheet, Wanted
from kenyon.paper.reproduce.experiments._configurations import AS_PRINTED, READ_AS, chosen, single
from kenyon.paper.tables import paper_table

MLP = "kenyon.learners.baselines:FeatureMLP"
CHANGES: dict[str, dict[str, Any]] = {
    "none": {},
    "threshold": {"features__threshold": "off"},
    "features": {"features": "identity"},
}
TUNED, SLOW = 0.3, 0.03
"""Learning rates of the MLP: the one that was chosen on held-out samples, and a tenth of it."""
FEATURE_LAYER = ("n_hidden", "features__density", "features__inhibitory", "features__threshold")
SCALES = {"threshold": 88.14, "features": 9.30}
"""The length of the activity without the threshold and without the feature layer (`lengths.toml` has the others)."""
NOTE = (
    "MNIST as a single task, half a pass, but for the MLP, which learns the sparse features by SGD, batches of 10, at "
    "a learning rate chosen on held-out samples (0.3). No threshold: x_e = ReLU(W_e u). No feature layer: the pixels. "
    "The output is divided by the mean of |x_e|^2 of what is left. The collapse that the paper reports of the MLP and "
    "of the layer without a threshold does not show here: an MLP learns these features well, at a tenth of that rate "
    "too, and without a threshold few points are lost; docs/reproduce.md has readings under which it collapses. "
)


def ablations(setting: Setting) -> list[Section]:
    """One table, with a column for the paper's configuration and one for ours."""
    table = paper_table("ablations")
    papers, ours = single("mnist", "inel"), chosen("mnist", "single-task")
    printed = {which: single("mnist", "inel", length=length) for which, length in SCALES.items()}
    lines = []
    cells: tuple[Wanted, Wanted]
    for row in table.rows:
        which, paper = row.keys["ablation"], row.values[0]
        if which == "mlp":  # as in the paper, the learning layer is replaced in its configuration only
            cells = _mlp(setting, papers, setting.seeds[:3], 10.0, TUNED, paper), EMPTY
        else:
            options = printed.get(which, papers)
            cells = _kenyon(setting, options, which, paper), _kenyon(setting, ours, which, paper)
        lines.append(Line(row.label, cells, outside=True))
        if which == "mlp":
            for label, rate in {"1 epoch": TUNED, f"1 epoch, learning rate {SLOW:g}": SLOW}.items():
                once = _mlp(setting, papers, setting.seeds[:3], 1.0, rate, None)
                lines.append(Line(f"The same, {label}", (once, EMPTY), outside=True))
    columns = ("The paper's configuration (INEL)", "Kenyon's, chosen on held-out samples")
    return [Sheet("ablations", "Ablations", columns, tuple(lines), table.source, NOTE + READ_AS)]


def _mlp(
    setting: Setting,
    options: Mapping[str, Any],
    seeds: tuple[int, ...],
    epochs: float,
    rate: float,
    paper: tuple[float, ...] | None,
) -> Wanted:
    layer = {key.removeprefix("features__"): options[key] for key in FEATURE_LAYER} | {"lr": rate}
    cell = setting.runs("mnist", "single-task", MLP, layer, epochs=epochs, tests="last", seeds=seeds, paper=paper)
    return replace(cell, above=AS_PRINTED) if isinstance(cell, Runs) and not setting.quick else cell


def _kenyon(
    setting: Setting,
    options: Mapping[str, Any] | None,
    ablation: str,
    paper: tuple[float, ...] | None,
) -> Wanted:
    if options is None:
        return Gap("no configuration was chosen for it yet")
    changed = {**options, **CHANGES[ablation]}
    if ablation == "features":  # the pixels have no options
        changed = {key: value for key, value in changed.items() if key not in FEATURE_LAYER}
    return setting.kenyon("mnist", "single-task", changed, epochs=0.5, paper=paper, below=AS_PRINTED, above=AS_PRINTED)
