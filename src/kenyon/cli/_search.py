"""`kenyon search`: search for a configuration."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli._options import FILES, AddressOption, DataDirOption, EngineOption, JsonOption, WorkersOption, option

if TYPE_CHECKING:
    from kenyon.lab.search import SearchResult

METHOD, SCORES = "Method", "Scores"


def search(
    dataset: Annotated[str, option("A name of `kenyon data list`, or a path. [digits]")] = "digits",
    scenario: Annotated[str, option("How classes arrive. [class-incremental]")] = "class-incremental",
    evals: Annotated[int, option("Evaluations in all, with those already there. [200]")] = 200,
    out: Annotated[Path | None, option("The folder of the search. [below searches/]")] = None,
    method: Annotated[str, option("ambs, or random for the control. [ambs]", panel=METHOD)] = "ambs",
    seed: Annotated[int, option("Seed of the suggestions. [0]", panel=METHOD)] = 0,
    space: Annotated[
        str, option("What to search: rules, bytes, or a TOML file. [rules]\nbytes: what a memory budget is spent on.")
    ] = "rules",
    memory_budget: Annotated[
        str | None, option("Most bytes of state of an evaluation, such as 20KB.", "--memory-budget")
    ] = None,
    protocol: Annotated[
        str, option("holdout, or paper: select on the test set as the paper did. [holdout]", panel=SCORES)
    ] = "holdout",
    holdout: Annotated[float, option("Share of the training set to select on. [0.1]", panel=SCORES)] = 0.1,
    epochs: Annotated[
        float | None, option("Passes over each task. [0.5 for single-task, else 1]", panel=SCORES)
    ] = None,
    stream_seeds: Annotated[
        str, option("Streams each evaluation is averaged over: how many, or which. [1]", panel=SCORES)
    ] = "1",
    max_per_task: Annotated[int | None, option("Most training samples of a task.", panel=SCORES)] = None,
    chance_after: Annotated[
        float, option("Give up at chance after this share of the stream; 1: never. [0.2]", panel=SCORES)
    ] = 0.2,
    kappa: Annotated[float | None, option("ambs: weight of the surrogate's uncertainty.", panel=METHOD)] = None,
    n_initial: Annotated[
        int | None, option("ambs: random evaluations before the surrogate is asked.", panel=METHOD)
    ] = None,
    forests: Annotated[
        str | None, option("ambs: rules (a forest for each rule), or one, as in the paper. [rules]", panel=METHOD)
    ] = None,
    backbone: Annotated[
        str | None, option("Frozen network, such as efficientnet-lite0, whose features are learned.", panel=SCORES)
    ] = None,
    label: Annotated[str | None, option("Column of labels of a table. [label]", panel=FILES)] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
    print_space: Annotated[bool, option("Print the space and leave.", "--print-space")] = False,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Search for the best rule, features and hyperparameters."""
    from kenyon.cli._progress import make_display
    from kenyon.errors import ConfigError
    from kenyon.lab.evaluation import parse_seeds
    from kenyon.lab.search import SPACES, default_space, make_objective, with_budget
    from kenyon.lab.search import search as run_search

    try:
        text = default_space(space) if space in SPACES else Path(space).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the search space {space} is neither {' nor '.join(SPACES)} nor a file: {error}") from error
    text = text if memory_budget is None else with_budget(text, memory_budget)
    if print_space:
        typer.echo(text, nl=False)
        return
    limits = {} if max_per_task is None else {"max_per_task": max_per_task}
    objective = make_objective(
        dataset,
        scenario,
        protocol=protocol,
        holdout=holdout,
        epochs=epochs,
        seeds=parse_seeds(stream_seeds),
        data_dir=None if data_dir is None else str(data_dir),
        chance_after=chance_after,
        backbone=backbone,
        label=label,
        **limits,
    )
    folder = out or Path("searches") / f"{Path(dataset).stem}-{scenario}-{method}-s{seed}"
    of_ambs = {"kappa": kappa, "n_initial": n_initial, "forests": forests}
    given: dict[str, Any] = {name: value for name, value in of_ambs.items() if value is not None}
    with make_display(quiet=as_json) as watch:
        result = run_search(
            objective,
            folder,
            evals=evals,
            method=method,
            seed=seed,
            space=text,
            engine=engine,
            workers=workers,
            address=address,
            command=shlex.join(["kenyon", *sys.argv[1:]]),
            watch=watch,
            **given,
        )
    if as_json:
        typer.echo(json.dumps(_plain(result), indent=2, allow_nan=False))
    else:
        _print(result)


def _plain(result: "SearchResult") -> dict[str, Any]:
    from kenyon.lab.search import SearchFolder

    best = None
    if result.best:
        options = SearchFolder(result.folder).space().options(result.best.point)
        best = {"number": result.best.number, "accuracy": result.best.outcome.accuracy, "options": options}
    return {
        "folder": str(result.folder),
        "evaluations": len(result.evaluations),
        "protocol": result.evaluations[0].protocol if result.evaluations else None,
        "best": best,
        "seconds": result.seconds,
        "overhead_seconds": result.overhead_seconds,
        "overhead": result.overhead,
    }


def _print(result: "SearchResult") -> None:
    from kenyon.cli._tables import print_text_table
    from kenyon.lab.search import SearchFolder, by_choice

    columns, rows = by_choice(result.evaluations)
    on = "the test set, as the paper did" if result.evaluations[0].protocol == "paper" else "held-out training samples"
    print_text_table(columns, rows, f"{len(result.evaluations)} evaluations, accuracy in % on {on}")
    if result.best:
        options = SearchFolder(result.folder).space().options(result.best.point)
        typer.echo(f"\nbest: evaluation {result.best.number}, {100 * result.best.outcome.score:.2f} %")
        typer.echo(
            "  " + ", ".join(f"{k} = {v:.4g}" if isinstance(v, float) else f"{k} = {v}" for k, v in options.items())
        )
        typer.echo(f"kept in {result.folder}; `kenyon run --config {result.folder / 'best.toml'}` runs the best")
    if result.new:
        typer.echo(
            f"{result.seconds:.1f} s for {result.new} evaluations, {result.overhead_seconds:.1f} s "
            f"({result.overhead:.1%}) of it on suggesting and recording"
        )
