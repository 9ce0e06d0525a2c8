"""Errors that the user caused or can correct: one sentence on stderr and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from kenyon.cli._help import write_commands
from kenyon.errors import ConfigError, KenyonError

USAGE, FAILURE, INTERRUPTED, CLOSED = 2, 1, 130, 141
"""Exit codes: the last two are those of a program that a signal ends (128 + SIGINT, 128 + SIGPIPE)."""


class RootCommand(TyperGroup):
    """The root command. Exit codes: 2 for a mistake in the command line or a configuration, 130 for Ctrl-C, 141 where
    nobody reads the output any more, 1 for any other error."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        write_commands(self, ctx, formatter)

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
            _fail("stopped; the same command goes on from the last checkpoint", INTERRUPTED)


def _fail(error: object, code: int) -> NoReturn:
    typer.echo(f"kenyon: {error}", err=True)
    raise typer.Exit(code)


def _leave_quietly() -> NoReturn:
    """`kenyon show | head`: what is left in the buffer must not be written to the closed pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(CLOSED)
