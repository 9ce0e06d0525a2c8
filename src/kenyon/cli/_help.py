"""The classes of commands: first steps, commands in groups, help that fits on a screen, and errors in one sentence.

`--help` of a command explains its options where they fit on a screen, else the common ones; `--help-all` explains all
of them. An error that the user caused or can correct is one sentence on stderr and an exit code, never a traceback.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from textwrap import shorten
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from kenyon.errors import ConfigError, KenyonError

FIRST = """\
Kenyon learns continuously from a stream without storing it.

First steps:
  kenyon teach               draw something, name it, and it is learned
  kenyon run --seeds 1       five tasks of two digits each, one after the other
  kenyon run --learner ncm   the same with another method (see kenyon learners)
  kenyon show runs           what was run, side by side
  kenyon data list           data sets that are here, and where others come from

`kenyon --help` lists every command."""

GROUPS = {
    "Learn": ("teach", "learn", "data"),
    "Experiments": ("run", "sweep", "show", "compare", "plot", "report", "learners", "new", "search"),
    "Deploy": ("export", "device", "card"),
    "Paper": ("reproduce", "transfer", "distances"),
}
OTHERS = "Others"

EXAMPLES = {
    "run": (
        "kenyon run --dataset mnist --set memory_budget=20KB --seeds 5",
        "kenyon run --dataset table.csv --learner slda --out runs",
    ),
    "sweep": ("kenyon sweep sweep.toml --plan", "kenyon sweep sweep.toml --workers 2"),
    "learn": ("kenyon learn learn.toml --data 'part-*.parquet' --out model.safetensors",),
    "show": ("kenyon show runs", "kenyon show runs --where dataset=mnist --latex"),
    "compare": ("kenyon compare kenyon er --where dataset=mnist",),
    "plot": ("kenyon plot runs --format pdf --out figures",),
    "report": ("kenyon report runs --out report.html",),
    "learners": ("kenyon learners", "kenyon learners kenyon"),
    "new": ("kenyon new learner my_idea", "kenyon new rule my_rule"),
    "search": ("kenyon search --dataset mnist --evals 60 --out search",),
    "export": ("kenyon export model.safetensors --to c --out device",),
    "card": ("kenyon card model.safetensors --out CARD.md",),
    "teach": ("kenyon teach", "kenyon teach model.safetensors --out page.html"),
    "reproduce": ("kenyon reproduce --plan", "kenyon reproduce --quick"),
    "transfer": ("kenyon transfer mnist --to fashion-mnist/single-task",),
    "distances": ("kenyon distances mnist fashion-mnist",),
}


SCREEN = 23
"""Lines of a terminal of 24, with one left for the prompt."""
VALUES = {"str": "TEXT", "int": "NUMBER", "float": "NUMBER", "path": "PATH", "list[str]": "TEXT"}


class HelpCommand(TyperCommand):
    """A command whose `--help` fits on a screen: common options first, the others by name, examples at the end."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help-all" in args:
            typer.echo(super().get_help(ctx), color=ctx.color)
            ctx.exit()
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        whole = super().get_help(ctx)
        if len(whole.splitlines()) <= SCREEN:
            return whole
        ctx.meta["kenyon.short"] = True
        return super().get_help(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = ["[OPTIONS]"]
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                name = _argument(parameter)
                pieces.append(name if parameter.required else f"[{name}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        short = ctx.meta.get("kenyon.short", False)
        panels: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                if parameter.param_type_name == "argument":
                    panels["Arguments"].append((_argument(parameter), record[1]))
                elif not (short and parameter.name == "help"):
                    value = re.sub(r"<(.+?)>", lambda match: VALUES.get(match[1], match[1].upper()), record[0])
                    text = (getattr(parameter, "help", None) or record[1]).splitlines()[0] if short else record[1]
                    panels[getattr(parameter, "rich_help_panel", None) or "Options"].append((value, text))
        others = [panel for panel in panels if panel not in ("Arguments", "Options")]
        for panel in ("Arguments", "Options", *([] if short else others)):
            if panel in panels:
                with formatter.section(panel):
                    formatter.write_dl(panels[panel])
        if short:
            with formatter.section("More options (--help-all explains them)"):
                width = max(map(len, others), default=0) + 2
                for panel in others:
                    names = [record[0].split()[0].rstrip(",").split("/")[0] for record in panels[panel]]
                    shown = shorten(
                        ", ".join(names), formatter.width - width - 2, break_on_hyphens=False, placeholder=" ..."
                    )
                    formatter.write(f"  {panel:{width}}{shown}\n")

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if examples := EXAMPLES.get(self.name or ""):
            with formatter.section("Examples"):
                for example in examples:
                    formatter.write(f"  {example}\n")


def _argument(parameter: Any) -> str:
    return f"{parameter.name.upper()}{'...' if parameter.nargs == -1 else ''}"


class HelpGroup(TyperGroup):
    """Commands under one name, each with the whole of its first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(120)) for name in self.list_commands(ctx)]
            )


def write_commands(group: Any, ctx: Any, formatter: Any) -> None:
    """The commands of a group, those that belong together under one heading."""
    left = {name: group.get_command(ctx, name) for name in group.list_commands(ctx)}
    left = {name: command for name, command in left.items() if command is not None and not command.hidden}
    for title, names in {**GROUPS, OTHERS: tuple(left)}.items():
        rows = [(name, left.pop(name)) for name in names if name in left]
        if rows:
            with formatter.section(title):
                formatter.write_dl([(name, command.get_short_help_str(120)) for name, command in rows])


USAGE, FAILURE, INTERRUPTED, CLOSED = 2, 1, 130, 141
"""Exit codes: the last two are those of a program that a signal ends (128 + SIGINT, 128 + SIGPIPE)."""


class RootCommand(TyperGroup):
    """The root command. Exit codes: 2 for a mistake in the command line or a configuration, 130 for Ctrl-C, 141 if the
    reader of the output has closed it, 1 for any other error."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        write_commands(self, ctx, formatter)
        with formatter.section("Options"):
            formatter.write(f"  {', '.join(parameter.opts[0] for parameter in self.get_params(ctx))}\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.format_commands(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()
            return answer
        except ConfigError as error:
            _fail(error, USAGE)
        except BrokenPipeError:
            _leave_quietly()
        except (KenyonError, OSError) as error:
            _fail(error, FAILURE)
        except MemoryError as error:
            _fail(f"there is not enough memory: {error or 'lower n_hidden, workers or the like'}", FAILURE)
        except KeyboardInterrupt:
            _fail("stopped; the same command continues from the last checkpoint", INTERRUPTED)


def _fail(error: object, code: int) -> NoReturn:
    typer.echo(f"kenyon: {error}", err=True)
    raise typer.Exit(code)


def _leave_quietly() -> NoReturn:
    """`kenyon show | head`: what is left in the buffer must not be written to the closed pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(CLOSED)
