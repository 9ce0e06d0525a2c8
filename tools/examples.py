"""Run the examples of a Markdown page: `python tools/examples.py docs/running.md ...`.

A page is run from top to bottom in an empty folder. Of its fenced blocks,

- ```` ```python ```` is executed, in one namespace for the whole page,
- ```` ```sh ```` is executed by the shell, and stops at the first command that fails,
- any block with a title (```` ```toml title="run.toml" ````) is written to that file instead,
- ```` ```text ```` right after an executed block is what that block must print; `...` stands for anything,
- ```` ```sh no-run: needs MNIST ```` is not executed, for the reason it gives.

Everything else is text. The first example that fails ends the page with an error that names its line.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(?P<language>\w*)(?P<info>[^\n`]*)\n(?P<code>.*?)^```[ ]*$", re.M | re.S)
NO_RUN = re.compile(r"\s*no-run(?::\s*(?P<reason>.*))?")
TITLE = re.compile(r"""\btitle=["']([^"']+)["']""")
PYTHON, SHELL = ("python", "py"), ("sh", "bash", "shell")


class ExampleError(Exception):
    """An example that does not run, or does not print what the page says."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    code: str
    line: int
    file: str | None = None
    """Its title: the file it is."""
    skipped: str | None = None
    """Why it is not run."""
    expected: str | None = None
    """What it must print."""

    @property
    def executable(self) -> bool:
        return self.file is None and self.skipped is None and self.language in PYTHON + SHELL


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, outputs joined to what prints them."""
    found = list(FENCE.finditer(text))
    for number, match in enumerate(found):
        line = text.count("\n", 0, match.start()) + 1
        info, title, no_run = match["info"], TITLE.search(match["info"]), NO_RUN.match(match["info"])
        if no_run and not no_run["reason"]:
            raise ExampleError(f"line {line}: no-run needs a reason, as in `no-run: needs MNIST`; this has {info!r}.")
        after = found[number + 1] if number + 1 < len(found) else None
        printed = after and after["language"] == "text" and not text[match.end() : after.start()].strip()
        yield Block(
            match["language"],
            match["code"],
            line,
            title[1] if title else None,
            no_run["reason"].strip() if no_run else None,
            after["code"] if after and printed else None,
        )


def run_page(page: Path) -> int:
    """Run the examples of a page in an empty folder, and return how many there were."""
    count = 0
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        sys.path.insert(0, folder)
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.file:
                path = Path(block.file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.code, encoding="utf-8")
            elif block.executable:
                count += 1
                _check(block, _run_python(block, page, namespace) if block.language in PYTHON else _run_shell(block))
        sys.path.remove(folder)
    return count


def _run_python(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    code = "\n" * block.line + block.code  # so that a traceback has the line of the page
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), namespace)
    except Exception:
        raise ExampleError(f"line {block.line}: {traceback.format_exc()}") from None
    return printed.getvalue()


def _run_shell(block: Block) -> str:
    here = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    done = subprocess.run(["sh", "-e", "-c", block.code], env=here, capture_output=True, text=True)
    if done.returncode:
        raise ExampleError(f"line {block.line}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _check(block: Block, printed: str) -> None:
    if block.expected is None:
        return
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if not doctest.OutputChecker().check_output(block.expected, printed, flags):
        raise ExampleError(f"line {block.line}: expected\n{block.expected}\nand this was printed:\n{printed}")


def main(pages: list[str]) -> int:
    for name in pages:
        try:
            print(f"{name}: {run_page(Path(name).resolve())} examples")
        except ExampleError as error:
            print(f"{name}, {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
