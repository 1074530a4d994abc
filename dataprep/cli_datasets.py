"""Commands on datasets that are there: where things come from, auditing, joining and cutting."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Optional

import typer

from .plainly import Debug, Json, plainly

__all__ = ["add_to"]

Name = Annotated[str, typer.Argument(help="Name of the dataset, as given to build --out.")]
Out = Annotated[str, typer.Option("--out", "-o", help="Name of the new dataset.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (whence, where, audit, merge, split, export):
        app.command()(command)


def whence(
    place: Annotated[str, typer.Argument(metavar="NAME:TOKEN", help="A token, counted from 0.")],
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say which file, line and bytes a token comes from."""
    with plainly(debug, as_json):
        from .tracing import describe_place
        from .tracing import whence as find

        found = find(place)
        typer.echo(json.dumps(found) if as_json else describe_place(found))


def where(
    name: Name,
    document: Annotated[
        str, typer.Argument(metavar="DOC", help="Number of a document, from 0, or FILE:LINE.")
    ],
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say which tokens a document, or a line of an input, became."""
    with plainly(debug, as_json):
        from .tracing import describe_place
        from .tracing import where as find

        found = find(name, document)
        text = "\n\n".join(map(describe_place, found))
        typer.echo(json.dumps({"documents": found}) if as_json else text)


def audit(name: Name, as_json: Json = False, debug: Debug = False) -> None:
    """Read the inputs again and account for every byte, record and document."""
    with plainly(debug, as_json):
        from .audit import audit as recount

        counts = recount(name)
        if as_json:
            typer.echo(json.dumps({"ok": True, **counts}))
            return
        typer.echo(f"{name}: {counts['documents']:,} documents from {counts['inputs']:,} inputs.")
        for unit, amounts in counts["amounts"].items():
            typer.echo(
                f"{amounts['read']:,} {unit}s = {amounts['written']:,} written + "
                f"{sum(amounts['dropped'].values()):,} dropped + {amounts['failed']:,} failed + "
                f"{sum(amounts['framing'].values()):,} between records"
            )


def merge(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Datasets, in order.")],
    out: Out,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Put datasets one after another, by copying bytes."""
    with plainly(debug, as_json):
        from .joining import merge as join

        manifest = join(names, out)
        _say_made([(out, manifest)], as_json)


def split(
    name: Name,
    out: Out,
    by: Annotated[
        Optional[str],  # noqa: UP045  (typer reads it at run time, on Python 3.10)
        typer.Option("--by", help="Weights of the parts by tokens, as 98,1,1."),
    ] = None,
    documents: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--documents", metavar="A:B", help="Documents A to B - 1 instead."),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Cut a dataset between documents: OUT-0, OUT-1, ... by weights, or OUT of a range."""
    with plainly(debug, as_json):
        from .joining import split as cut

        _say_made(cut(name, out, by=by, documents=documents), as_json)


def export(
    name: Name,
    folder: Annotated[str, typer.Option("--out", "-o", help="Folder to make.")],
    format_: Annotated[
        str, typer.Option("--format", help="jsonl, parquet, megatron-shards or npy.")
    ] = "jsonl",
    shard_size: Annotated[
        int, typer.Option("--shard-size", help="Most bytes of tokens in one file.")
    ] = 1 << 30,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a dataset in a form that other programs read."""
    with plainly(debug, as_json):
        from .export import export as write

        files = write(name, folder, format_, shard_size)
        if as_json:
            typer.echo(json.dumps({"folder": folder, "files": files}))
        else:
            typer.echo(f"{folder}: {len(files):,} files", file=sys.stdout)


def _say_made(made: list[tuple[str, dict[str, int]]], as_json: bool) -> None:
    rows = [
        {"name": name, "documents": manifest["documents"], "tokens": manifest["tokens"]}
        for name, manifest in made
    ]
    if as_json:
        typer.echo(json.dumps({"datasets": rows}))
        return
    for row in rows:
        typer.echo(f"{row['name']}: {row['documents']:,} documents, {row['tokens']:,} tokens")
