"""`kenyon device`: convert between model files and device buffers."""

from pathlib import Path
from typing import Annotated

import typer

from kenyon.cli._help import HelpCommand, HelpGroup

device = typer.Typer(
    name="device", cls=HelpGroup, help="Convert between model files and device buffers.", no_args_is_help=True
)


@device.command(cls=HelpCommand)
def pack(
    model: Annotated[Path, typer.Argument(help="The model's file.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The buffer to write, for kenyon_load.")] = Path("state.bin"),
) -> None:
    """Write the state of a model as a buffer for kenyon_load."""
    from kenyon.classifier import KenyonClassifier
    from kenyon.export import to_buffer
    from kenyon.utils.system import replace_file

    buffer = to_buffer(KenyonClassifier.load(model))
    replace_file(out, buffer)
    typer.echo(f"{len(buffer):>12,} bytes  {out}")


@device.command(cls=HelpCommand)
def unpack(
    model: Annotated[Path, typer.Argument(help="The file of the model that was exported.", show_default=False)],
    buffer: Annotated[Path, typer.Argument(help="The buffer that kenyon_save wrote.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.safetensors"),
) -> None:
    """Make a model file of a buffer that kenyon_save wrote."""
    from kenyon.classifier import KenyonClassifier
    from kenyon.errors import ModelFileError
    from kenyon.export import from_buffer

    try:
        learned = buffer.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{buffer}: cannot be read ({error})") from error
    classifier = from_buffer(KenyonClassifier.load(model), learned)
    classifier.save(out)
    labels = ", ".join(map(str, classifier.classes_))
    typer.echo(f"{out.stat().st_size:>12,} bytes  {out} (classes {labels})")
