"""`kenyon teach`: a page to teach a model on, and to see it learn."""

from pathlib import Path
from typing import Annotated

import typer


def teach(
    model: Annotated[
        Path | None,
        typer.Argument(help="A model's file to continue from. [an empty model of 20 KB]", show_default=False),
    ] = None,
    sense: Annotated[str, typer.Option(help="What an empty model learns: draw, sound or motion.")] = "draw",
    out: Annotated[Path, typer.Option(help="The page.")] = Path("teach.html"),
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Serve the page on localhost instead, where browsers allow camera and microphone."
        ),
    ] = False,
    port: Annotated[int, typer.Option(help="The port of --serve; 0 for one that is free.")] = 0,
    open_it: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Open a page on which you train a model by drawing, sound or motion."""
    import webbrowser
    from contextlib import suppress

    from kenyon.apps.teach import make_server, page_html, write_page
    from kenyon.classifier import KenyonClassifier

    fitted = KenyonClassifier.load(model) if model is not None else None
    if not serve:
        write_page(out, fitted, sense)
        typer.echo(out)
        if open_it:
            webbrowser.open(out.resolve().as_uri())
        return

    with make_server(page_html(fitted, sense), port) as server:
        address = f"http://localhost:{server.server_port}/"
        typer.echo(f"{address}  (Ctrl+C ends it)")
        if open_it:
            webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
