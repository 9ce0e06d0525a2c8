"""Split-CIFAR from pixels, the paper's protocol: ResNet-18, and the networks of methods that have their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kenyon.learners import LEARNERS
from kenyon.paper.reproduce._setting import FULL_WIDTH, NAMES, Setting
from kenyon.paper.reproduce._wanted import EMPTY, Line, Runs, Section, Sheet, Wanted
from kenyon.paper.reproduce.experiments._methods import methods
from kenyon.paper.tables import paper_table

DATASET = "cifar10"
SCENARIOS = ("task-incremental", "class-incremental")
REDUCED = 20
"""Filters in the first stage of the reduced ResNet-18 of the literature."""

SHOWN = (
    *("iid-offline", "fine-tune", "online-ewc", "si", "lwf", "a-gem", "icarl", "gss", "er-mir", "er", "der++"),
    *("rpsnet", "instaparam", "cn-dpm"),
)
"""The methods of the table: those of the paper, and ER."""

PUBLISHED: dict[str, dict[str, Any]] = {
    "fine-tune": {"lr": 0.1},
    "si": {"lr": 0.03, "strength": 1.0, "xi": 1.0},
    "lwf": {"lr": 0.01, "alpha": 3.0},
    "a-gem": {"lr": 0.03},
    "der++": {"lr": 0.03, "alpha": 0.2, "beta": 0.5},
}
"""What Mammoth, the implementation behind DER++'s tables, has for Split-CIFAR-10 with a buffer of 500, where that is
not the usual value of a method here (`er` and `iid-offline`: 0.1). SI's strength is twice the c there."""

SMALLER: dict[str, dict[str, Any]] = {"a-gem": {"replay_size": 10}}
"""Options of methods at reduced width: A-GEM's reference gradients of 128 samples would take an hour a run."""

OWN: dict[str, tuple[str, str, dict[str, Any]]] = {
    "rpsnet": ("its nine layers of parallel residual modules", "more than ten hours", {}),
    "instaparam": ("its gated ResNet of nested kernels, ten updates a batch", "days", {}),
    "cn-dpm": ("its convolutional experts", "an hour or more", {"network": "cnn"}),
}
"""Methods with a network of their own: what it is, how long a run takes, and the options that ask for it."""

BELOW = (
    "A narrower network, and no image is cropped or mirrored, as the authors of most of these methods do; how much of "
    "the difference is due to which was not measured."
)

ABOVE = "The paper has the same batches and one pass, ResNet-18 at full width, and does not state its rates."

NOTE = (
    "One pass over the 50,000 images (iid-offline: five), batches of 10, a buffer of 500 where there is one. "
    "Nothing was tuned here: rates and weights are those that DER++'s authors publish for this stream with fifty "
    "passes and batches of 32, and no image is cropped or mirrored. "
    f"ResNet-18 has {FULL_WIDTH} filters in its first stage; where that was not run, the network with {REDUCED} of the "
    "online continual learning literature stands in, one seed, A-GEM's reference gradient of 10 samples in place of "
    "128. kenyon reproduce pixels --resnet runs all of it, on a GPU or a cluster with --device cuda --engine ray "
    f"--gpus 1; --width {REDUCED} the stand-ins."
)


HUNDRED = ("fine-tune", "er", "der++")
"""The methods of the table of Split-CIFAR-100, beside ours in the bytes of a memory budget."""

BUDGET = "5MB"

HUNDRED_NOTE = (
    "Ten tasks of ten classes, one pass, one seed; networks, rates, weights and the buffer as for Split-CIFAR-10, of "
    f"which nothing was tuned. Kenyon has {BUDGET} of state and no other option. The paper has its numbers for this "
    "stream from features alone."
)


def pixels(setting: Setting) -> list[Section]:
    """A table for each data set."""
    lines = []
    for learner, label in methods().items():
        if learner in SHOWN:
            cells = tuple(_cell(setting, learner, scenario) for scenario in SCENARIOS)
            lines.append(Line(label, cells, outside=learner == "iid-offline"))
    columns = tuple(f"{scenario.capitalize()}, Split-{NAMES[DATASET]}" for scenario in SCENARIOS)
    ten = Sheet("cifar-pixels", "Split-CIFAR-10 from pixels", columns, tuple(lines), note=NOTE)
    return [ten, _hundred(setting)]


def _hundred(setting: Setting) -> Sheet:
    lines = []
    for learner, label in methods().items():
        if learner in HUNDRED:
            given = PUBLISHED.get(learner, {}) | ({} if setting.device == "cpu" else {"device": setting.device})
            cells = tuple(_narrower(setting, learner, scenario, given, None, "cifar100") for scenario in SCENARIOS)
            lines.append(Line(label, cells))
    own = (
        setting.runs("cifar100", s, "kenyon", {"memory_budget": BUDGET}, tests="last", seeds=(0,)) for s in SCENARIOS
    )
    lines.append(Line(f"Kenyon, {BUDGET}", tuple(own)))
    columns = tuple(f"{scenario.capitalize()}, Split-{NAMES['cifar100']}" for scenario in SCENARIOS)
    return Sheet("cifar100-pixels", "Split-CIFAR-100 from pixels", columns, tuple(lines), note=HUNDRED_NOTE)


def _cell(setting: Setting, learner: str, scenario: str) -> Wanted:
    if scenario not in LEARNERS[learner].scenarios:
        return EMPTY
    paper = paper_table("comparison_extended").value(f"{DATASET}/{scenario}", learner=learner)
    network, time, own = OWN.get(learner, ("ResNet-18", "from 40 minutes to many hours", {}))
    own = own | ({} if setting.device == "cpu" else {"device": setting.device})
    reason = f"{network}: {time} a run on a processor core; ask for it with --resnet"
    if learner not in OWN:
        reason += f", or at reduced width, 5 to 40 minutes a run, with --resnet --width {REDUCED}"
    options = own | PUBLISHED.get(learner, {})
    whole = setting.runs(DATASET, scenario, learner, options, tests="last", paper=paper)
    asked = setting.resnet and setting.width == FULL_WIDTH
    full = setting.on_request(whole, asked, reason)
    if isinstance(full, Runs):
        return full
    if learner in OWN:
        return full if paper else EMPTY
    narrower = _narrower(setting, learner, scenario, options, paper)
    return narrower if isinstance(narrower, Runs) else full if paper else EMPTY


def _narrower(
    setting: Setting,
    learner: str,
    scenario: str,
    options: dict[str, Any],
    paper: tuple[float, ...] | None,
    dataset: str = DATASET,
) -> Wanted:
    """The reduced network, where it was asked for or has been run."""
    width = setting.width if setting.resnet else REDUCED
    given = options | {"width": width} | SMALLER.get(learner, {})
    cell = setting.runs(dataset, scenario, learner, given, tests="last", seeds=(0,), paper=paper)
    if isinstance(cell, Runs):
        narrower = f"ResNet-18 with {width} filters in its first stage in place of {FULL_WIDTH}"
        cell = replace(cell, stand_in=narrower, below=BELOW, above=ABOVE)
    reason = f"ResNet-18 of width {width}: 5 to 40 minutes a run on a processor core; --resnet --width {width} runs it"
    return setting.on_request(cell, setting.resnet, reason)
