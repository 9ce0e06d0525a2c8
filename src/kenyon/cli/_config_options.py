"""Options of `kenyon run` that are keys of a configuration: of the stream, the protocol, the backbone, the learner.

Those of our own learner are read off its table; the others are listed here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from kenyon.cli import _complete
from kenyon.cli._options import option, parse_list
from kenyon.errors import ConfigError
from kenyon.model.options import OPTIONS
from kenyon.utils.options import Option
from kenyon.utils.system import parse_value

LEARNER = "Learner"
KEYS: dict[str, dict[str, tuple[str | None, str]]] = {
    "Stream": {
        "epochs": ("FLOAT", "Passes over each task. [1.0]"),
        "order": (None, "Order of the samples: shuffled, published. [shuffled]"),
        "class_order": (None, "sorted, shuffled, or a list such as 3,1,2,0. [sorted]"),
        "n_tasks": ("INTEGER", "How many tasks."),
        "task_sizes": (None, "Classes in each task, such as 5,3,2."),
        "labelled": ("FLOAT", "Share of samples that keep their label. [1.0]"),
        "label": ("COLUMN", "Column of labels of a table. [label]"),
        "domain": ("COLUMN", "Column of domains of a table, or 'folder'."),
        "tasks_by": (None, "What a task is made of: classes, domains."),
        "disjoint": ("FLOAT", "Blurry: share of classes in one task. [0.5]"),
        "blurry": ("FLOAT", "Blurry: share of samples in all tasks. [0.1]"),
        "long_tail": ("FLOAT", "Share that the last class keeps. [1.0]"),
        "repeats": ("INTEGER", "How often the tasks come. [1]"),
        "delay": ("INTEGER", "Samples until a label arrives. [0]"),
        "random_delay": ("BOOLEAN", "Whether that is random. [false]"),
        "label_noise": ("FLOAT", "Share of samples with a wrong label. [0.0]"),
        "blur": ("FLOAT", "task-free: length of each fade. [0.5]"),
        "max_per_task": ("INTEGER", "Most training samples of a task."),
        "holdout": ("FLOAT", "Test on this share of the training set instead. [0.0]"),
        "tests": (None, "Which tasks are tested after each: all, seen, last. [all]"),
        "weights_every": ("INTEGER", "Samples between two records of the weights."),
    },
    "Protocol": {
        "test_every": ("INTEGER", "Samples between tests, for accuracy at any time. [0]"),
        "compute_budget": ("FLOAT", "Operations the stream leaves time for a sample."),
        "rate": ("FLOAT", "Samples a second; a slower learner misses some."),
        "label_budget": ("FLOAT", "Share of labels it may ask for."),
        "asking": (None, "uncertainty, random, learner. [uncertainty]"),
    },
    "Backbone": {
        "backbone": (None, "Frozen network: a name (efficientnet-lite0), an .onnx file or module:function."),
        "backbone_weights": ("FILE", "Its weights file, .pth."),
        "backbone_sha256": (None, "What that file's SHA-256 begins with."),
        "resolution": ("INTEGER", "Pixels per side that it sees. [its own]"),
        "interpolation": (None, "nearest, bilinear, bicubic. [bilinear]"),
        "normalisation": (None, "imagenet, tensorflow, unit, none, or [[mean], [std]]. [its own]"),
        "greyscale": (None, "Grey images: refuse, repeat. [refuse]"),
    },
}
"""The keys of a configuration, by panel of the help: what a value is, and what it means."""
COLUMNS = ("label", "domain")
"""Keys whose value is a name, even where it looks like a number."""
_METAVARS = {"integer": "INTEGER", "number": "FLOAT", "share": "FLOAT", "moving": "FLOAT", "flag": "BOOLEAN"}


def with_config_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that ends in `**flags` an option for each key, and for each option of our own learner."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    kinds = {
        name: option(text, panel=panel, metavar=metavar)
        for panel, keys in KEYS.items()
        for name, (metavar, text) in keys.items()
    }
    kinds |= {name: _of_learner(entry) for name, entry in OPTIONS.items() if entry.of_run}
    keyword = inspect.Parameter.KEYWORD_ONLY
    flags = [
        inspect.Parameter(name, keyword, default=None, annotation=Annotated[str | None, kind])
        for name, kind in kinds.items()
    ]
    command.__signature__ = signature.replace(parameters=[*own, *flags])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in [*own, *flags]}
    return command


def _of_learner(entry: Option) -> Any:
    default = "off" if entry.default is None else entry.default
    text = entry.description if isinstance(default, tuple) else f"{entry.description} [{default}]"
    complete = _complete.rules if entry.name == "rule" else _complete.among(entry.choices)
    metavar = "|".join(entry.choices) or _METAVARS.get(entry.kind)
    return option(text, panel=LEARNER, metavar=metavar, complete=complete)


def config_values(flags: Mapping[str, str | None], backbone: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keys of a configuration that flags give, and the options of the learner.

    Args:
        flags: by name; None where one is not given.
        backbone: the backbone that the configuration has so far, a name or a table.
    """
    given = {name: text for name, text in flags.items() if text is not None}
    of_backbone = {name.removeprefix("backbone_"): text for name, text in given.items() if name in KEYS["Backbone"]}
    own = {name: text for name, text in given.items() if name in KEYS["Stream"] or name in KEYS["Protocol"]}
    values = {name: text if name in COLUMNS else parse_list(text) for name, text in own.items()}
    if of_backbone:
        if not isinstance(backbone, str | dict):
            raise ConfigError(f"backbone = {backbone!r}: expected a name or a table")
        shown = {"name" if name == "backbone" else name: text for name, text in of_backbone.items()}
        parsed = {name: parse_value(shown[name]) for name in ("resolution", "normalisation") if name in shown}
        values["backbone"] = ({"name": backbone} if isinstance(backbone, str) else backbone) | shown | parsed
    options = {name: parse_list(text) for name, text in given.items() if name in OPTIONS and OPTIONS[name].of_run}
    return values, options
