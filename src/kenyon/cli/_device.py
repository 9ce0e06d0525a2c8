"""`kenyon device`: what a device has learned, as a model file and back."""

from pathlib import Path
from typing import Annotated

import typer

device = typer.Typer(name="device", help="What a device has learned, as a model file and back.", no_args_is_help=True)


@device.command()
def pack(
    model: Annotated[Path, typer.Argument(help="The model's file.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The buffer to write, for kenyon_load.")] = Path("state.bin"),
) -> None:
    """Write what a model has learned as the flat buffer of its C sources."""
    from kenyon.classifier import KenyonClassifier
    from kenyon.export import to_buffer
    from kenyon.utils.system import replace_file

    buffer = to_buffer(KenyonClassifier.load(model))
    replace_file(out, buffer)
    typer.echo(f"{len(buffer):>12,} bytes  {out}")


@device.command()
def unpack(
    model: Annotated[Path, typer.Argument(help="The file of the model that was exported.", show_default=False)],
    buffer: Annotated[Path, typer.Argument(help="What kenyon_save wrote.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.safetensors"),
) -> None:
    """Make a model file of what a device has learned."""
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
