"""`kenyon sweep`: every configuration that a file stands for."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kenyon.cli._help import FAILURE
from kenyon.cli._options import (
    FILES,
    AddressOption,
    DataDirOption,
    EngineOption,
    GpusOption,
    JsonOption,
    WorkersOption,
    option,
)

if TYPE_CHECKING:
    from kenyon.lab.sweeps import Sweep, SweepResult


def sweep(
    file: Annotated[Path, typer.Argument(help="TOML: a run's configuration in which any key may be a list.")],
    seeds: Annotated[str | None, option("How many (5), or which (0,3,7). [the file's; 5]")] = None,
    out: Annotated[Path | None, option("The runs store. [the file's; runs]")] = None,
    plan: Annotated[bool, option("Print what would be run and leave.", "--plan")] = False,
    again: Annotated[bool, option("Run again what the store already has.", "--again", panel=FILES)] = False,
    save_model: Annotated[bool, option("Keep the trained model of each run.", "--save-model", panel=FILES)] = False,
    log: Annotated[
        list[str] | None, option("Log to tensorboard, mlflow, wandb or file.py:Class; repeatable.", panel=FILES)
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    gpus: GpusOption = 0.0,
) -> None:
    """Run every configuration of a sweep file with every seed. What the store has is not run again."""
    from kenyon.cli._progress import make_display
    from kenyon.lab.evaluation import parse_seeds
    from kenyon.lab.sweeps import Sweep
    from kenyon.lab.sweeps import sweep as run_sweep

    wanted = Sweep.read(file)
    wanted = wanted if seeds is None else replace(wanted, seeds=parse_seeds(seeds))
    wanted = wanted if data_dir is None else replace(wanted, data_dir=data_dir)
    wanted = replace(wanted, save_model=wanted.save_model or save_model, log=tuple(log or wanted.log))
    store = out or wanted.out
    if plan:
        _print_plan(wanted, store)
        return
    with make_display(quiet=as_json) as watch:
        result = run_sweep(
            wanted, store, again=again, watch=watch, workers=workers, engine=engine, address=address, gpus=gpus
        )
    if as_json:
        failures = [{"config": f.config.to_dict(), "seed": f.seed, "reason": f.reason} for f in result.failures]
        reports = [report.to_dict() for report in result.reports]
        typer.echo(json.dumps({"reports": reports, "failures": failures}, indent=2, allow_nan=False, default=str))
    else:
        _print(wanted, store, result)
    if result.failures:
        raise typer.Exit(FAILURE)


def _print_plan(plan: "Sweep", store: Path) -> None:
    from kenyon.lab.evaluation import Store, labels

    done = 0
    for config, label in zip(plan.configs, labels(plan.configs), strict=True):
        complete = sum(Store(store).folder(config, seed).complete for seed in plan.seeds)
        done += complete
        typer.echo(f"{complete} of {len(plan.seeds)} done  {label}")
    typer.echo(f"{len(plan.configs)} configurations, {plan.n_runs} runs, {done} of them in {store}")


def _print(plan: "Sweep", store: Path, result: "SweepResult") -> None:
    from kenyon.cli._tables import print_as
    from kenyon.lab.comparison import sort_groups, tabulate
    from kenyon.lab.evaluation import Store, group_runs
    from kenyon.utils.wording import duration

    folders = [Store(store).folder(config, seed) for config in plan.configs for seed in plan.seeds]
    groups = group_runs([folder for folder in folders if folder.path.exists()]).groups
    if groups:
        print_as(tabulate(sort_groups(groups)), csv=False, latex=False, markdown=False)
    for failure in result.failures:
        typer.echo(f"failed: {failure.config.folder_name(failure.seed)}: {failure.reason}", err=True)
    new = plan.n_runs - result.found - len(result.failures)
    typer.echo(f"\n{new} runs in {duration(result.seconds)}, {result.found} found, {len(result.failures)} failed")
    typer.echo(f"kept in {store}")
