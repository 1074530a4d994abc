"""``dataprep vocab``: the manifest and the cache from a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataprep.plainly import Debug, plainly

from . import store
from .manifest import Vocabulary, known, names

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Public vocabularies: list, fetch, find, verify.")

Name = Annotated[str, typer.Argument(help="A name that 'dataprep vocab list' shows.")]


@app.command("list")
def list_() -> None:
    """Names, kinds, sizes and licences of all that is known."""
    for name in names():
        entry = known(name)
        entries = f"{entry.entries:,}" if entry.entries else "?"
        size = sum(file.bytes or 0 for file in entry.files)
        megabytes = f"{size / 1e6:.1f} MB" if size else "?"
        row = f"{name:18} {entry.kind:22} {entries:>8} {megabytes:>8}  {entry.licence:20} "
        typer.echo((row + _state(entry)).rstrip())


@app.command()
def where(name: Name, debug: Debug = False) -> None:
    """The folder in the cache, whether anything is in it or not."""
    with plainly(debug):
        typer.echo(store.where(name))


@app.command()
def fetch(
    name: Name,
    offline: Annotated[
        bool, typer.Option("--offline", help="Take what the cache has, or fail.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Download what the cache lacks, check it, print the folder."""
    with plainly(debug):
        typer.echo(store.fetch(name, offline=offline))


@app.command()
def add(
    name: Name,
    source: Annotated[
        Path, typer.Argument(help="The file, or the folder with the files, that you have.")
    ],
    debug: Debug = False,
) -> None:
    """Check files that were downloaded by other means, copy them into the cache, print the folder.

    For publishers who ask for a login, and for machines without a network.
    """
    with plainly(debug):
        typer.echo(store.add(name, source))


@app.command()
def verify(name: Name, debug: Debug = False) -> None:
    """Check the sha256 of each file in the cache."""
    with plainly(debug):
        store.verify(name)
        typer.echo(f"{name} is whole.")


def _state(entry: Vocabulary) -> str:
    if any(file.sha256 is None for file in entry.files):
        return "no sha256 known: not fetched"
    folder = store.where(entry.name)
    return "here" if all((folder / file.name).exists() for file in entry.files) else ""
