"""``dataprep doctor`` and ``dataprep train-tokenizer``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Optional

import typer

from .plainly import Debug, Json, plainly

__all__ = ["add_to"]

_MB = 1 << 20


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(doctor)
    app.command("train-tokenizer")(train_tokenizer)


def doctor(
    tokenizer: Annotated[str, typer.Argument(help="Name or path, as for build --tokenizer.")],
    other: Annotated[
        Optional[str],  # noqa: UP045  (typer reads it at run time, on Python 3.10)
        typer.Argument(help="A second one to compare with."),
    ] = None,
    sample: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--sample", help="Folder, file or pattern to try it on (default: built-in texts)."
        ),
    ] = None,
    sample_bytes: Annotated[int, typer.Option(help="Text to read of the sample.")] = 4 * _MB,
    text_key: Annotated[str, typer.Option(help="Key of the text in .jsonl records.")] = "text",
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say how well a tokenizer suits a text: losses, byte fallback, tokens by language."""
    with plainly(debug):
        from .checkup import examine
        from .checkup_report import tables
        from .inputs import list_inputs
        from .plan import make_plan
        from .tokenizers.load import load_tokenizer
        from .tokenizers.probe import PROBES
        from .training import first_documents

        loaded = [load_tokenizer(name) for name in (tokenizer, other) if name is not None]
        texts = [text for text in PROBES if text.strip()]
        if sample:
            plan = make_plan(
                list_inputs(sample).inputs,
                tokenizer="",
                doc_per=None,
                text_key=text_key,
                keep_rejects=False,
            )
            texts = [t for batch in first_documents(plan, sample_bytes) for t in batch.texts()]
        found = [examine(one, texts) for one in loaded]
        if as_json:
            typer.echo(json.dumps([checkup.to_json() for checkup in found], ensure_ascii=False))
        else:
            from rich.console import Console

            Console(soft_wrap=False).print(tables(found))


def train_tokenizer(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT...", help="What build reads.")],
    vocab_size: Annotated[int, typer.Option(help="Entries, special tokens included.")],
    kind: Annotated[
        str, typer.Option(help="bpe (byte-level), wordpiece, unigram or chars.")
    ] = "bpe",
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", "-o", help="Folder to write (default: out/tokenizer-KIND-SIZE)."),
    ] = None,
    sample_bytes: Annotated[int, typer.Option(help="Text to train on, drawn at random.")] = 16
    * _MB,
    seed: Annotated[int, typer.Option(help="Decides which lines are drawn.")] = 0,
    balance: Annotated[
        bool, typer.Option("--balance", help="Draw as much Chinese as English as other text.")
    ] = False,
    respect_words: Annotated[
        bool, typer.Option("--respect-words", help="Learn no token that spans two Chinese words.")
    ] = False,
    text_key: Annotated[str, typer.Option(help="Key of the text in .jsonl records.")] = "text",
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Train a tokenizer on a sample of a corpus and report on text it has not seen."""
    with plainly(debug):
        from .apart import apart
        from .checkup_report import tables
        from .tokenizer_folder import TrainSettings, train_folder
        from .tokenizers.spec import TrainSpec

        spec = TrainSpec(vocab_size=vocab_size, kind=kind, respect_words=respect_words)  # type: ignore[arg-type]
        folder = out or Path("out") / f"tokenizer-{kind}-{vocab_size}"
        settings = TrainSettings(
            inputs=tuple(inputs),
            sample_bytes=sample_bytes,
            seed=seed,
            balance=balance,
            text_key=text_key,
        )
        made = apart(train_folder, spec, settings, folder)
        if as_json:
            typer.echo(json.dumps(made.to_json(), ensure_ascii=False))
        else:
            from rich.console import Console

            Console(soft_wrap=False).print(tables([made.checkup]))
            typer.echo(f"{folder}: {made.summary()}")
