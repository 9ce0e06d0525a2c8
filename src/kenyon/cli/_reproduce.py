"""`kenyon reproduce`: regenerate the paper's tables and figures."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kenyon.cli._options import FILES, AddressOption, DataDirOption, EngineOption, GpusOption, ManyWorkersOption, option

if TYPE_CHECKING:
    from kenyon.paper.reproduce import Plan, Reproduced

BACKBONE = "efficientnet-lite0"
NETWORKS = "Networks"


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Which experiments. [all]", metavar="NAME")] = None,
    quick: Annotated[bool, option("One seed and small samples: minutes.", "--quick")] = False,
    out: Annotated[Path | None, option("The store. [runs; with --quick runs-quick]")] = None,
    data_dir: DataDirOption = None,
    plan: Annotated[bool, option("Print the plan and leave.", "--plan")] = False,
    as_is: Annotated[bool, option("Run nothing: write the report from what the store has.", "--as-is")] = False,
    earlier: Annotated[
        Path | None, option("A report whose runs replace those that the store lacks.", panel=FILES)
    ] = None,
    results: Annotated[Path | None, option("Also write the report as PATH.json and PATH.md.")] = None,
    resnet: Annotated[
        bool, option("Run the baselines on CIFAR's pixels too: days on a CPU.", "--resnet", panel=NETWORKS)
    ] = False,
    width: Annotated[
        int, option("With --resnet: filters of the first stage; 20 is the reduced ResNet-18. [64]", panel=NETWORKS)
    ] = 64,
    device: Annotated[
        str, option("With --resnet: where PyTorch computes: cpu, cuda, cuda:1, mps. [cpu]", panel=NETWORKS)
    ] = "cpu",
    long: Annotated[
        bool, option("Run pHSIC for its 100 epochs too: half an hour per run.", "--long", panel=NETWORKS)
    ] = False,
    backbone: Annotated[
        str, option(f"Network that looks at colour images first. [{BACKBONE}]", panel=NETWORKS)
    ] = BACKBONE,
    workers: ManyWorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    gpus: GpusOption = 0.0,
) -> None:
    """Regenerate the paper's tables and figures. What the store has is not run again."""
    from kenyon.cli._progress import make_display
    from kenyon.paper.reproduce import Earlier, Reproduction, Setting, find_experiments, write_results
    from kenyon.utils.parallel import Workers

    store = out or Path("runs-quick" if quick else "runs")
    Workers(workers, engine, address, gpus)  # what cannot be is refused before anything else
    setting = Setting(store, data_dir, quick, resnet, long, backbone, workers, engine, address, gpus, width, device)
    if earlier is not None:
        setting = replace(setting, earlier=Earlier.read(earlier))
    flags = {"--quick": quick, "--resnet": resnet, "--long": long}
    words = ["kenyon", "reproduce", *(names or []), *(flag for flag, given in flags.items() if given)]
    words += ["--backbone", backbone] if backbone != BACKBONE else []
    words += ["--width", str(width)] if width != 64 else []
    words += ["--device", device] if device != "cpu" else []
    words += ["--as-is"] if as_is and earlier else []
    words += ["--earlier", str(earlier)] if earlier else []
    made = Reproduction(find_experiments(names or []), setting, shlex.join(words))
    wanted = made.plan()
    print_plan(wanted, details=plan)
    if plan:
        return
    if as_is:
        outcome = made.write({})
    else:
        with make_display(quiet=False) as watch:
            outcome = made.run(wanted, watch)
    finish(outcome)
    if results is not None:
        for path in write_results(outcome.report, results):
            typer.echo(path)
    if outcome.failures:
        raise typer.Exit(1)


def print_plan(plan: "Plan", details: bool) -> None:
    """Print the experiments with their jobs, and how long the rest is expected to take."""
    from kenyon.cli._tables import print_text_table
    from kenyon.paper.reproduce import recorded_on
    from kenyon.utils.wording import duration

    if details:
        for entry in plan.entries:
            expected = "" if entry.state == "done" else f"  {duration(entry.estimate.seconds)}"
            typer.echo(f"{entry.state:8}{entry.job.name}{expected}")
        typer.echo("")
    rows = []
    for name in dict.fromkeys(entry.experiment for entry in plan.entries):
        own = [entry for entry in plan.entries if entry.experiment == name]
        left = [entry for entry in own if entry.state != "done"]
        seconds = sum(entry.estimate.seconds or 0.0 for entry in left) / plan.workers
        rows.append((name, str(len(own)), str(len(own) - len(left)), str(len(left)), duration(seconds)))
    print_text_table(("experiment", "jobs", "done", "to do", "expected"), rows)
    if not plan.left:
        typer.echo("nothing is left to run")
        return
    bases = {entry.estimate.basis for entry in plan.entries if entry.state != "done"}
    words = [f"{duration(plan.seconds)} expected with {plan.workers} at a time"]
    if "store" in bases:
        words.append("from runs of the same kind in the store")
    if "recorded" in bases:
        words.append(f"{'else ' if 'store' in bases else ''}from speeds recorded on {recorded_on()}")
    if plan.unknown:
        words.append(f"{plan.unknown} jobs of unknown length not counted")
    typer.echo("; ".join(words))


def finish(outcome: "Reproduced") -> None:
    """Say where the report is, and what failed."""
    for name, reason in outcome.failures.items():
        typer.echo(f"failed: {name}: {reason}", err=True)
    typer.echo(f"{outcome.path} holds {len(outcome.report.tables)} tables and {len(outcome.report.figures)} figures")
    typer.echo(f"{outcome.page} shows them")
