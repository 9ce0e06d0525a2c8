"""The ablations of the appendix: what each part of the architecture is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kenyon.paper import paper_table
from kenyon.reproduce._configurations import READING, chosen, single
from kenyon.reproduce._setting import Setting
from kenyon.reproduce._wanted import EMPTY, Gap, Line, Part, Sheet, Wanted

MLP = "kenyon.reproduce.feature_mlp:FeatureMLP"
ONE_EPOCH = {"The same, 1 epoch": "mlp once", "The same, 1 epoch, learning rate 0.03": "mlp slow once"}
FEATURE_LAYER = ("n_hidden", "density", "inhibitory", "threshold")
NOTE = (
    "MNIST as a single task, half a pass, but for the MLP, which learns the sparse features by SGD, batches of 10. Its "
    "learning rate, 0.3, was chosen on held-out samples: features of length 1 spread over thousands of units move an "
    "MLP slowly, and a rate that suits pixels leaves it far behind. No threshold: x_e = ReLU(W_e u). No feature "
    "layer: the pixels, scaled to length 1. "
)


def ablations(setting: Setting) -> list[Part]:
    """One table, a column for the paper's configuration and one for ours."""
    table = paper_table("ablations")
    ours = chosen("mnist", "single-task")
    columns = {
        "The paper's configuration (INEL)": single("mnist", "inel"),
        "Kenyon's, chosen on held-out samples": ours,
    }
    lines = []
    for row in table.rows:
        which = row.keys["ablation"]
        cells = [_cell(setting, which, options, row.values[0]) for options in columns.values()]
        lines.append(Line(row.label, tuple(cells), outside=True))
        if which == "mlp":
            for label, ablation in ONE_EPOCH.items():
                once = [_cell(setting, ablation, options, None) for options in columns.values()]
                lines.append(Line(label, tuple(once), outside=True))
    return [Sheet("ablations", "Ablations", tuple(columns), tuple(lines), table.source, NOTE + READING)]


def _cell(
    setting: Setting, ablation: str, options: Mapping[str, Any] | None, paper: tuple[float, ...] | None
) -> Wanted:
    if options is None:
        return Gap("no configuration was chosen for it yet")
    if ablation.startswith("mlp"):
        if options.get("rule") != "inel":
            return EMPTY  # the layer is replaced as the paper did it, once
        layer = {key: options[key] for key in FEATURE_LAYER}
        if "slow" in ablation:
            layer["lr"] = 0.03
        epochs, seeds = (1.0, setting.seeds[:3]) if "once" in ablation else (10.0, setting.seeds[:1])
        return setting.runs("mnist", "single-task", MLP, layer, epochs=epochs, tests="last", seeds=seeds, paper=paper)
    changes: dict[str, dict[str, Any]] = {
        "none": {},
        "threshold": {"threshold": "off"},
        "features": {"features": "identity"},
    }
    changed = {**options, **changes[ablation]}
    return setting.kenyon("mnist", "single-task", changed, epochs=0.5, paper=paper)
