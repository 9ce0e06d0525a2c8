"""`kenyon learners`: the table of learners."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer


def learners(
    name: Annotated[str | None, typer.Argument(help="Show one learner with its options.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON alone.")] = False,
) -> None:
    """List the learners, or one learner's options."""
    from kenyon.cli._tables import print_table
    from kenyon.learners import LEARNERS, find_learner, learner_options

    if name is None:
        if as_json:
            typer.echo(json.dumps([asdict(spec) for spec in LEARNERS.values()], indent=2))
            return
        print_table(("name", "memory", "how"), [(s.name, s.memory, s.summary) for s in LEARNERS.values()])
        return
    spec, options = find_learner(name), learner_options(name)
    if as_json:
        typer.echo(json.dumps(asdict(spec) | {"options": options}, indent=2, default=str))
        return
    typer.echo(f"{spec.name}: {spec.summary}")
    typer.echo(f"memory     {spec.memory}")
    typer.echo(f"scenarios  {', '.join(spec.scenarios)}")
    if spec.reference:
        typer.echo(f"reference  {spec.reference}")
    typer.echo("")
    print_table(("option", "default"), [(key, str(default)) for key, default in options.items()])
