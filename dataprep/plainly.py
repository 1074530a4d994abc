"""What all commands share: errors become lines for people, and an exit status."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from .errors import JimuError

__all__ = ["Debug", "Json", "plainly"]

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]


@contextmanager
def plainly(debug: bool) -> Iterator[None]:
    """Errors and warnings become lines for people, and an exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, cleanly
    try:
        with warnings.catch_warnings(record=False):
            warnings.showwarning = _warn
            yield
    except (JimuError, KeyboardInterrupt) as error:
        if debug:
            raise
        if isinstance(error, JimuError):
            message, hint, status = str(error), error.hint, error.exit_code
        else:
            message, status = "Interrupted.", 128 + signal.SIGINT
            hint = "What was done is kept: run the same command again to go on."
        typer.echo(f"Error: {message}", err=True)
        if hint:
            typer.echo(hint, err=True)
        raise typer.Exit(status) from None


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    typer.echo(f"Warning: {message}", err=True)
