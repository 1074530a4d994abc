"""What all commands share: errors become lines for people, and an exit status."""

from __future__ import annotations

import json
import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

from .errors import JimuError

_GO_ON = "What was done is kept: run the same command again to go on."

__all__ = ["Debug", "Json", "error_json", "plainly"]

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]


@contextmanager
def plainly(debug: bool, as_json: bool = False) -> Iterator[None]:
    """Errors and warnings become lines for people, and an exit status.

    With ``as_json`` an error is also one JSON object on standard output.
    """
    try:
        with _interruptible(as_json), warnings.catch_warnings(record=False):
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
            message, status, hint = "Interrupted.", 128 + signal.SIGINT, _GO_ON
        if as_json:
            typer.echo(error_json(message, hint, status))
        typer.echo(f"Error: {message}", err=True)
        if hint:
            typer.echo(hint, err=True)
        raise typer.Exit(status) from None


@contextmanager
def _interruptible(as_json: bool) -> Iterator[None]:
    """Ctrl-C, or SIGTERM, ends what runs in good order; a second one ends the process at once.

    Workers and trainers end by themselves when this process is gone.
    """

    def first(number: int, frame: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, second)
        signal.default_int_handler(number, frame)

    def second(*_: object) -> None:
        message = "Interrupted twice: ended at once."
        if as_json:
            os.write(1, f"{error_json(message, _GO_ON, 1)}\n".encode())
        os.write(2, f"Error: {message}\n{_GO_ON}\n".encode())
        os._exit(1)

    signals = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signals.append(signal.SIGINT)
    before = [signal.signal(each, first) for each in signals]
    yield
    # Not restored after an exception: a second Ctrl-C may come while the first is being told.
    for each, handler in zip(signals, before, strict=True):
        signal.signal(each, handler)


def error_json(message: str, hint: str | None, status: int) -> str:
    """An error, for machines."""
    return json.dumps({"error": message, "hint": hint, "exit_code": status})


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    typer.echo(f"Warning: {message}", err=True)
