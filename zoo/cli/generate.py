"""``python -m zoo generate CHECKPOINT --prompt TEXT``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataprep.errors import UsageError
from zoo.cli.report import Debug, reported
from zoo.engine.ranks import world_size

__all__ = ["generate"]


def generate(
    checkpoint: Annotated[
        Path, typer.Argument(help="Folder of a checkpoint, or of a run: its latest is taken.")
    ],
    prompt: Annotated[str, typer.Option(help="Text to continue.")] = "",
    max_tokens: Annotated[int, typer.Option(help="Tokens to add, at most.")] = 100,
    temperature: Annotated[float, typer.Option(help="Below 1 plays safe, above 1 dares.")] = 0.8,
    top_k: Annotated[int, typer.Option(help="Draw from so many of the best; 0: from all.")] = 40,
    seed: Annotated[int, typer.Option(help="The same seed gives the same text.")] = 0,
    greedy: Annotated[bool, typer.Option("--greedy", help="Always take the best.")] = False,
    debug: Debug = False,
) -> None:
    """Write on where a text stops. Ends with the document, or after --max-tokens."""
    with reported(debug):
        if world_size() > 1:
            raise UsageError("generate runs on one process.", hint="Start it without a launcher.")
        from zoo.generation import Sampler, load_writer
        from zoo.training.folder import find_checkpoint

        sampler = Sampler(
            temperature=0.0 if greedy else temperature, top_k=top_k or None, seed=seed
        )
        writer = load_writer(find_checkpoint(checkpoint))
        ids = writer.prompt_ids(prompt)
        if len(ids) > writer.positions:
            typer.echo(
                f"note: the prompt has {len(ids)} tokens; the model sees the last "
                f"{writer.positions}.",
                err=True,
            )
        added = writer.continue_ids(ids, max_tokens=max_tokens, sampler=sampler)
        typer.echo(prompt + writer.text(added))
