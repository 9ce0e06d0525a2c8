"""The examples of the gallery as notebooks and as pages: `python tools/gallery.py OUT [NAME ...]`.

An example is a Python file in cells: `# %%` starts code, `# %% [markdown]` a comment that is text. The notebook is
executed; an example that fails ends the command. A page has the text, the code, and what each cell printed or drew.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "gallery"


def cells(source: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of each cell; kind is `code` or `markdown`.

    Example:
        >>> list(cells("# %% [markdown]\\n# # Title\\n# text\\n\\n# %%\\nprint(1)\\n"))
        [('markdown', '# Title\\ntext'), ('code', 'print(1)')]
    """
    for part in f"\n{source}".split("\n# %%")[1:]:
        head, _, body = part.partition("\n")
        if head.strip() == "[markdown]":
            yield "markdown", "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines())
        else:
            yield "code", body.strip()


def executed(path: Path) -> Any:
    """The notebook of an example, run from top to bottom in an empty folder of its own."""
    from tempfile import TemporaryDirectory

    from nbclient import NotebookClient
    from nbformat import v4

    make = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}
    notebook = v4.new_notebook(
        cells=[make[kind](text) for kind, text in cells(path.read_text(encoding="utf-8"))],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # otherwise redrawn each time
    with TemporaryDirectory() as folder:
        quiet = ["--Application.log_level=ERROR"]
        NotebookClient(notebook, timeout=None, kernel_name="python3", extra_arguments=quiet).execute(cwd=folder)
    return notebook


def page(name: str, notebook: Any) -> tuple[str, dict[str, bytes]]:
    """The Markdown of an executed notebook, and its pictures by name."""
    lines, pictures = [], {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines.append(cell.source)
            continue
        lines.append(f"```python\n{cell.source}\n```")
        printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout").rstrip()
        if printed:
            lines.append(f"```text\n{printed}\n```")
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                picture = f"{name}-{len(pictures) + 1}.png"
                pictures[picture] = base64.b64decode(output["data"]["image/png"])
                lines.append(f"![What the cell above draws]({picture})")
    lines.append(f"[Download this page as a notebook]({name}.ipynb).")
    return "\n\n".join(lines) + "\n", pictures


def files(name: str) -> dict[str, bytes]:
    """What the site has of an example: page, notebook and pictures."""
    import nbformat

    notebook = executed(FOLDER / f"{name}.py")
    text, pictures = page(name, notebook)
    return {f"{name}.md": text.encode(), f"{name}.ipynb": nbformat.writes(notebook).encode(), **pictures}


def names() -> list[str]:
    """Every example, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def main(arguments: Sequence[str]) -> None:
    out = Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    for name in arguments[1:] or names():
        for file, content in files(name).items():
            (out / file).write_bytes(content)
        print(out / f"{name}.md")


if __name__ == "__main__":
    main(sys.argv[1:])
