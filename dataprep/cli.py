"""The command line: ``dataprep build | inspect | verify | ...``.

Only what --help needs is imported here; a command imports the rest when it runs.
"""

from __future__ import annotations

import json
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from vocab.cli import app as vocab_app

from . import cli_datasets, cli_tokenizers
from .errors import UsageError
from .plainly import Debug, Json, error_json, plainly
from .settings import BuildSettings, help_of, read_config

__all__ = ["app", "main"]

app = typer.Typer(
    help="Raw Chinese/English text to indexed, memory-mapped token datasets.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[str, typer.Argument(help="Name of the dataset, as given to build --out.")]


def _option(name: str, *flags: str) -> Any:
    return typer.Option(*flags, help=help_of(name), show_default=False)


@app.command()
def build(
    inputs: Annotated[
        Optional[list[str]],  # noqa: UP045  (typer reads it at run time, on Python 3.10)
        typer.Argument(metavar="INPUT...", help=help_of("inputs"), show_default=False),
    ] = None,
    out: Annotated[str | None, _option("out", "--out", "-o")] = None,
    tokenizer: Annotated[str | None, _option("tokenizer", "--tokenizer", "-t")] = None,
    special_in_text: Annotated[str | None, _option("special_in_text", "--special-in-text")] = None,
    add_bos: Annotated[bool, _option("add_bos", "--add-bos")] = False,
    append_eod: Annotated[
        bool | None, _option("append_eod", "--append-eod/--no-append-eod")
    ] = None,
    simplify: Annotated[
        bool,
        typer.Option("--simplify", help="Make traditional Chinese simplified first, by OpenCC."),
    ] = False,
    traditionalize: Annotated[
        bool, typer.Option("--traditionalize", help="The other way.")
    ] = False,
    words: Annotated[bool, _option("words", "--words")] = False,
    sentences: Annotated[bool, _option("sentences", "--sentences")] = False,
    segmenter: Annotated[str | None, _option("segmenter", "--segmenter")] = None,
    user_dict: Annotated[str | None, _option("user_dict", "--user-dict")] = None,
    hmm: Annotated[bool, _option("hmm", "--hmm")] = False,
    workers: Annotated[int | None, _option("workers", "--workers", "-w")] = None,
    doc_per: Annotated[str | None, _option("doc_per", "--doc-per")] = None,
    text_key: Annotated[str | None, _option("text_key", "--text-key")] = None,
    on_error: Annotated[str | None, _option("on_error", "--on-error")] = None,
    max_errors: Annotated[int | None, _option("max_errors", "--max-errors")] = None,
    max_dropped: Annotated[float | None, _option("max_dropped", "--max-dropped")] = None,
    keep_rejects: Annotated[str | None, _option("keep_rejects", "--keep-rejects")] = None,
    overwrite: Annotated[bool, _option("overwrite", "--overwrite")] = False,
    config: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="TOML file of settings; flags come over it."),
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the resolved settings and end.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Make a dataset: NAME.bin, NAME.idx, NAME.json, NAME.tokenizer.json (and NAME.words).

    Run again after an interruption, it goes on where it stopped.
    """
    flags = {
        "inputs": tuple(inputs or ()) or None,
        "out": out,
        "tokenizer": tokenizer,
        "special_in_text": special_in_text,
        "add_bos": add_bos or None,
        "append_eod": append_eod,
        "convert": "simplify" if simplify else "traditionalize" if traditionalize else None,
        "words": words or None,
        "sentences": sentences or None,
        "segmenter": segmenter,
        "user_dict": user_dict,
        "hmm": hmm or None,
        "workers": workers,
        "doc_per": doc_per,
        "text_key": text_key,
        "on_error": on_error,
        "max_errors": max_errors,
        "max_dropped": max_dropped,
        "keep_rejects": keep_rejects,
        "overwrite": overwrite or None,
    }
    with plainly(debug, as_json):
        if simplify and traditionalize:
            raise UsageError("--simplify and --traditionalize exclude each other.")
        given = {name: value for name, value in flags.items() if value is not None}
        settings = BuildSettings.from_values({**(read_config(config) if config else {}), **given})
        if print_config:
            typer.echo(json.dumps(settings.to_json(), indent=2, ensure_ascii=False))
            return
        from .builder import run_build
        from .progress import observer_for
        from .report import closing_report

        result = run_build(settings, observer_for(sys.stderr, as_json=as_json))
        if as_json:
            typer.echo(json.dumps({**result.manifest, "existed": result.existed}))
        else:
            typer.echo(closing_report(settings, result))


@app.command()
def inspect(
    name: Name,
    objective: Annotated[
        str | None,
        typer.Option(help="Show training samples instead: causal, mlm-wwm, t5, …, coloured."),
    ] = None,
    seq_len: Annotated[int, typer.Option(help="Tokens in such a sample.")] = 128,
    count: Annotated[int, typer.Option(help="How many of them.")] = 3,
    seed: Annotated[int, typer.Option(help="Which order they come in.")] = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print counts, a histogram of document lengths and decoded documents, or samples."""
    with plainly(debug, as_json):
        if objective is None:
            from .inspect import describe, facts

            typer.echo(json.dumps(facts(name)) if as_json else describe(name))
            return
        from .inspect_samples import sample_arrays, sample_texts

        if as_json:
            arrays = sample_arrays(name, objective, seq_len=seq_len, count=count, seed=seed)
            typer.echo(json.dumps(arrays))
            return
        texts = sample_texts(name, objective, seq_len=seq_len, count=count, seed=seed)

        from rich.console import Console

        console = Console(highlight=False)
        for number, text in enumerate(texts):
            console.print(f"Sample {number}", style="bold")
            console.print(text, "")


@app.command()
def verify(name: Name, as_json: Json = False, debug: Debug = False) -> None:
    """Check every hash and every bound of a dataset; exit status 0 when all is well, else 1."""
    with plainly(debug, as_json):
        from .verify import verify as check

        counts = check(name)
        if as_json:
            typer.echo(json.dumps({"ok": True, **counts}))
        else:
            typer.echo(
                f"{name} is whole: {counts['documents']:,} documents, {counts['tokens']:,} tokens, "
                f"{counts['files']} files with the right hashes."
            )


cli_datasets.add_to(app)
cli_tokenizers.add_to(app)
app.add_typer(vocab_app, name="vocab")


def main() -> None:
    """Run the command line and end the process: 0 done, 1 data or run failed, 2 usage."""
    # numpy's OpenBLAS starts a thread for each core at import: half of the CPU time of a small
    # command, for linear algebra that none of them does.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # None where it was closed
            stream.reconfigure(errors="backslashreplace")  # any file name can be shown
    if "--json" in sys.argv:
        sys.exit(_run_for_machines())
    app()


def _run_for_machines() -> int:
    """What ends a command before it starts, as an object too."""
    # typer brings its own copy of click, or not, by its version.
    refusal: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
    try:
        return app(standalone_mode=False) or 0
    except refusal as error:
        status = error.exit_code
        message = error.format_message()
        typer.echo(error_json(message, "See --help.", status))
        error.show()
        return int(status)
