"""How commands end: a sentence and an exit code, never a traceback unless asked for."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from typing import Annotated

import typer

from dataprep.errors import JimuError
from zoo.engine.ranks import leave, rank, world_size

__all__ = ["Debug", "reported", "run"]

Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]
_INTERRUPTED = 130


@contextlib.contextmanager
def reported(debug: bool) -> Iterator[None]:
    """Turns what the body raises into a message on stderr and an exit code."""
    try:
        yield
    except JimuError as error:
        if debug:
            traceback.print_exc()
        _tell(str(error), error.hint)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        _tell("Interrupted.", None)
        raise typer.Exit(_INTERRUPTED) from None
    except Exception as error:
        if debug:
            raise
        _tell(
            f"{type(error).__name__}: {error}",
            "This is a fault of the program; --debug shows where it comes from.",
        )
        raise typer.Exit(1) from None


def run(app: typer.Typer) -> None:
    """Runs a command line to its end and leaves with its exit code."""
    try:
        app()
    except SystemExit as end:
        # A rank that ends by itself waits for the others, and they for it.
        if end.code and world_size() > 1:
            leave(end.code if isinstance(end.code, int) else 1)
        raise


def _tell(message: str, hint: str | None) -> None:
    where = f"rank {rank()} of {world_size()}: " if world_size() > 1 else ""
    typer.echo(f"{where}error: {message}", err=True)
    if hint:
        typer.echo(hint, err=True)
