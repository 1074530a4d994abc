"""What all commands share: errors become lines for people, and an exit status."""

from __future__ import annotations

import json
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
def plainly(debug: bool, as_json: bool = False) -> Iterator[None]:
    """Errors and warnings become lines for people, and an exit status.

    With ``as_json`` an error is also one JSON object on standard output.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, cleanly
    try:
        with warnings.catch_warnings(record=False):
            warnings.showwarning = _warn
            yield
    except (JimuError, OSError, KeyboardInterrupt) as error:
        if debug or isinstance(error, BrokenPipeError):  # whoever reads has had enough
            raise
        hint: str | None = None
        if isinstance(error, JimuError):
            message, hint, status = str(error), error.hint, error.exit_code
        elif isinstance(error, OSError):
            message, status = f"{error.filename or 'output'}: {error.strerror or error}.", 1
        else:
            message, status = "Interrupted.", 128 + signal.SIGINT
            hint = "What was done is kept: run the same command again to go on."
        if as_json:
            typer.echo(json.dumps({"error": message, "hint": hint, "exit_code": status}))
        typer.echo(f"Error: {message}", err=True)
        if hint:
            typer.echo(hint, err=True)
        raise typer.Exit(status) from None


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    typer.echo(f"Warning: {message}", err=True)
