"""Write docs/parameters.md from the table of options: `python benchmarks/parameters_page.py`."""

from __future__ import annotations

from pathlib import Path

from kenyon.model.options import OPTIONS, Option
from kenyon.rules import RULES, rule_options

PAGE = Path(__file__).parents[1] / "docs" / "parameters.md"


def row(entry: Option) -> str:
    """One line of the table."""
    default = "off" if entry.default is None else entry.default
    return f"| `{entry.name}` | `{default}` | {entry.wanted} | {entry.meaning} |"


def table(options: dict[str, Option]) -> list[str]:
    """A Markdown table of options."""
    return ["| option | default | may be | meaning |", "|---|---|---|---|", *map(row, options.values()), ""]


def main() -> None:
    """Write the page."""
    lines = [
        "# Parameters",
        "",
        "Every parameter of `KenyonClassifier`. Each is also an option of `kenyon run` (`--n-hidden 500` or `--set",
        "n_hidden=500`), a key under `[options]` in a configuration file, and a table of a search space. In files and",
        "on the command line `off` stands for None. `benchmarks/parameters_page.py` writes this page from the table in",
        "`src/kenyon/utils/options.py`.",
        "",
        *table(OPTIONS),
        "## Parameters of the rules",
        "",
        "A rule's own parameters stand beside the options by their own names (`--rule gen --set b2=-0.5`), or in the",
        "rule itself (`GEN(b2=-0.5)`). `beta` puts a window of plasticity on any rule.",
        "",
    ]
    for name in sorted(RULES):
        lines += [f"### {name}", "", *table(rule_options(name))]
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
