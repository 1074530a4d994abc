"""``python -m zoo``."""

from __future__ import annotations

import typer

from zoo.cli.generate import generate
from zoo.cli.report import run

__all__ = ["app", "main"]

app = typer.Typer(
    name="zoo", add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True
)
app.command()(generate)


@app.callback()
def _commands() -> None:
    """Models of plain blocks. To train one: python zoo/train.py RECIPE --data NAME."""


def main() -> None:
    """The command line."""
    run(app)
