"""What MkDocs also does for this site: write reference and gallery, run the examples, refuse what is fetched."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import gallery
from public_names import public_modules, public_names

NUMBERS = re.compile(r"(?<=\d) (?=±)|(?<=±) (?=\d)|(?<=\d) (?=%|[kKMG]?B\b)|(?<=[\d)]) (?=\(\d+\))")
HARD_SPACE = "\u00a0"
QUOTED = 3 * "<blockquote>"  # what Markdown makes of `>>>`
RUNNER = Path(__file__).parent / "examples.py"
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?![^>]*rel=["']?(?:canonical|prev|next))[^>]*?\bhref\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|(?:url\(|@import)\s*["']?((?:https?:)?//[^"'\s)]+)""",
    re.I,
)
"""A link to click on is none of them."""


def on_config(config: Any) -> None:
    """Add the gallery and the reference to the navigation."""
    config.nav.append({"Examples": [f"gallery/{name}.md" for name in gallery.names()]})
    pages = [{"Command line": "reference/cli.md"}, "parameters.md", "reference/configuration.md"]
    pages += ["reference/runs.md", "reference/files.md", {"C API": "reference/c-api.md"}]
    modules = [{name: _reference(name)} for name in public_modules()]
    config.nav.append({"Reference": [*pages, {"Python": modules}]})


def _reference(module: str) -> str:
    return f"reference/{module}.md"


def on_files(files: Any, config: Any) -> Any:
    """Add the reference and the gallery, and run the examples of every page, each page in a process of its own."""
    for module in public_modules():
        files.append(File.generated(config, _reference(module), content=module_page(module)))
    files.append(File.generated(config, "reference/cli.md", content=command_line()))
    files.append(File.generated(config, "reference/c-api.md", content=c_api()))
    for name in gallery.names():
        for file, content in gallery.files(name).items():
            files.append(File.generated(config, f"gallery/{file}", content=content))
    pages = [file.abs_src_path for file in files.documentation_pages() if file.abs_src_path]
    with ThreadPoolExecutor(2) as pool:
        for page, done in zip(pages, pool.map(_run, pages), strict=True):
            if done.returncode:
                raise PluginError(f"An example of {page} fails:\n{done.stderr}")
    return files


def module_page(module: str) -> str:
    """The page of a module; a package that forwards names links to them, or has those of modules without a page."""
    lines, shown = [f"# {module}", f"::: {module}"], public_modules()
    for part, names in getattr(importlib.import_module(module), "_NAMES", {}).items():
        home = f"{module}.{part}"
        if home in shown:
            lines.append(f"From [{home}]({home}.md): {', '.join(f'`{name}`' for name in names.split())}")
        else:
            lines.append(f"::: {home}\n    options:\n      members: [{', '.join(names.split())}]")
    return "\n\n".join(lines) + "\n"


def command_line() -> str:
    """The help of every command."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from kenyon.cli import app
    from kenyon.cli._help import GROUPS

    commands = get_command(app).commands
    parts = ["# Command line", "This page is for users of `kenyon`: every command with all of its options."]
    for title, names in GROUPS.items():
        parts.append(f"## {title}")
        for name in names:
            below = getattr(commands[name], "commands", None)
            for words in [[name, each] for each in below] if below else [[name]]:
                shown = CliRunner().invoke(app, [*words, "--help-all"], prog_name="kenyon")
                parts += [f"### kenyon {' '.join(words)}", f"```text\n{shown.stdout.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def c_api() -> str:
    """The header of the C export."""
    from importlib.resources import files as package_files

    header = package_files("kenyon.export").joinpath("c", "kenyon.h").read_text(encoding="utf-8")
    first = "This page is for users of `kenyon export --to c`: the header, which explains each call."
    return f"# C API\n\n{first}\n\n```c\n{header}```\n"


def _run(page: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RUNNER), page], capture_output=True, text=True)


def on_page_markdown(markdown: str, page: Any = None, **_: Any) -> str:
    """Take `no-run: reason` out of the fences, which Markdown does not know; keep numbers of a table on one line."""
    if page and page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    markdown = re.sub(r"^(```\w+) no-run:.*$", r"\1", markdown, flags=re.M)
    return re.sub(r"^\|.*$", lambda line: NUMBERS.sub(HARD_SPACE, line[0]), markdown, flags=re.M)


def on_post_build(config: Any) -> None:
    """Fail where the reference is not whole, or where something would be fetched from elsewhere."""
    site = Path(config.site_dir)
    listed = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    explained = {line.split(" ", 1)[0] for line in listed.splitlines()}
    names = {f"{module}.{name}" for module, names in public_names().items() for name in names}
    if missing := sorted(names - explained):
        raise PluginError(f"The reference does not have {', '.join(missing)}.")
    for path in sorted((site / "reference").glob("*.html")):
        if QUOTED in re.sub(r"\s", "", path.read_text(encoding="utf-8")):
            raise PluginError(f"{path.name} has an example that is not shown as code.")
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".css", ".svg") and (foreign := fetched(path.read_text(encoding="utf-8"))):
            raise PluginError(f"{path.relative_to(site)} would fetch {', '.join(foreign)}.")


def fetched(text: str) -> list[str]:
    """The addresses elsewhere that a browser requests when it opens a page or a style."""
    return sorted({url for match in FETCHED.findall(text) for url in match if url})
