"""Write docs/parameters.md from the options of the classifier and its parts: `python benchmarks/parameters_page.py`."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path

from kenyon.features import FEATURES
from kenyon.layers import HIDDEN, LAYERS
from kenyon.model.options import OPTIONS
from kenyon.rules import RULES
from kenyon.utils.options import Option, Part, options_of

PAGE = Path(__file__).parents[1] / "docs" / "parameters.md"
PARTS: dict[str, Mapping[str, type[Part]]] = {
    "features": FEATURES, "layer": LAYERS, "hidden": HIDDEN, "rule": dict(sorted(RULES.items())),
}  # fmt: skip


def row(entry: Option) -> str:
    """One line of the table."""
    default = "off" if entry.default is None else entry.default
    return f"| `{entry.name}` | `{default}` | {entry.wanted} | {entry.description} |"


def table(options: Mapping[str, Option]) -> list[str]:
    """A Markdown table of options."""
    return ["| option | default | may be | description |", "|---|---|---|---|", *map(row, options.values()), ""]


def main() -> None:
    """Write the page."""
    lines = [
        "# Parameters",
        "",
        "This page is for users of `KenyonClassifier`: every option of every part.",
        "",
        "A model is composed of parts, each of which has options of its own:",
        "`KenyonClassifier(features=Windows(window=6), layer=SecondOrder(bits=16))`. A name stands for a part with its",
        'defaults (`features="windows"`), and `module:Class` or `file.py:Class` for a part from outside the package.',
        "",
        "In configuration files, presets, search spaces and on the command line, and in `set_params`, options of parts",
        "have nested names: `--set layer__bits=16`, `features__window = 6`, `rule__b2`. There `off` stands for None.",
        "Where options of a part are given and the part is not, it is the first kind that may have them; where",
        "a layer may be plastic or of second order, the one that is chosen without them, or an error that asks for it.",
        "`benchmarks/parameters_page.py` writes this page from the dataclasses.",
        "",
        "## The classifier",
        "",
        *table(OPTIONS),
    ]
    for option, kinds in PARTS.items():
        for name, part in kinds.items():
            lines += [
                f"## {option}: {part.__name__}",
                "",
                f'`{option}="{name}"`. ' + cleandoc(part.__doc__ or "").splitlines()[0],
                "",
            ]
            lines += table(options_of(part)) if options_of(part) else []
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
