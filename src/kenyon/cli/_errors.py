"""Errors that the user caused or can correct: one sentence on stderr and an exit code, never a traceback."""

from __future__ import annotations

from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from kenyon.errors import ConfigError, KenyonError

USAGE, FAILURE = 2, 1


class RootCommand(TyperGroup):
    """The root command. Exit codes: 2 for a mistake in the command line or a configuration, 1 for any other error."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ConfigError as error:
            _fail(error, USAGE)
        except (KenyonError, OSError) as error:
            _fail(error, FAILURE)
        except MemoryError as error:
            _fail(f"there is not enough memory: {error or 'lower n_hidden, workers or the like'}", FAILURE)
        except KeyboardInterrupt:
            _fail("stopped; the same command goes on from the last checkpoint", FAILURE)


def _fail(error: object, code: int) -> NoReturn:
    typer.echo(f"kenyon: {error}", err=True)
    raise typer.Exit(code)
