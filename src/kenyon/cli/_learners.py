"""`kenyon learners`: the table of learners."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kenyon.cli._options import JsonOption

if TYPE_CHECKING:
    from kenyon.data.protocol import LearnerSpec


def learners(
    name: Annotated[str | None, typer.Argument(help="Show one learner with its options.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the learners, or the options of one."""
    from kenyon.cli._tables import print_text_table
    from kenyon.learners import LEARNERS, find_learner, learner_class, learner_descriptions, learner_options

    if name is None:
        if as_json:
            typer.echo(json.dumps([asdict(spec) for spec in LEARNERS.values()], indent=2))
            return
        rows = [(s.name, s.memory, _scenarios(s), s.reference) for s in LEARNERS.values()]
        print_text_table(("name", "memory", "scenarios", "reference"), rows)
        return
    spec, options, descriptions = find_learner(name), learner_options(name), learner_descriptions(name)
    if (every := getattr(learner_class(name), "every_option", None)) is not None:
        options = {key: entry.default for key, entry in every().items()}
    if as_json:
        typer.echo(json.dumps(asdict(spec) | {"options": options}, indent=2, default=str))
        return
    typer.echo(f"{spec.name}: {spec.summary}")
    typer.echo(f"memory     {spec.memory}")
    typer.echo(f"scenarios  {', '.join(spec.scenarios)}")
    if spec.reference:
        typer.echo(f"reference  {spec.reference}")
    typer.echo("")
    table = [(key, str(default), descriptions.get(key, "")) for key, default in options.items()]
    print_text_table(("option", "default", "description"), table)


def _scenarios(spec: "LearnerSpec") -> str:
    """The scenarios of a method, as text."""
    from kenyon.data.streams import SCENARIOS

    without = [scenario for scenario in SCENARIOS if scenario not in spec.scenarios]
    if len(without) > 1:
        return ", ".join(spec.scenarios)
    return f"all but {without[0]}" if without else "all"
