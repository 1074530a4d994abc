"""``dataprep inspect``: what is in a dataset, for people and for machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .dataset import Dataset, open_dataset
from .manifest import COLUMNS

__all__ = ["describe", "facts", "histogram", "visible"]

_BAR = 40
_SAMPLES = 3
_SAMPLE_TOKENS = 60


def facts(name: str | Path) -> dict[str, Any]:
    """Counts of a dataset, as plain values."""
    dataset = open_dataset(name)
    lengths = dataset.lengths
    quantiles = np.quantile(lengths, [0, 0.5, 0.9, 0.99, 1]) if len(lengths) else np.zeros(5)
    names = ("min", "median", "p90", "p99", "max")
    return {
        "name": str(dataset.prefix),
        "documents": dataset.n_documents,
        "sequences": dataset.n_sequences,
        "tokens": dataset.n_tokens,
        "dtype": dataset.dtype.name,
        "vocab_size": dataset.vocab_size,
        "eod_id": dataset.eod_id,
        **{kind: dataset.manifest[kind] for kind in COLUMNS if kind in dataset.manifest},
        "tokens_per_document": {
            key: round(float(value), 1) for key, value in zip(names, quantiles, strict=True)
        },
        "tokenizer": dataset.manifest["tokenizer"],
        "books": {
            key: value for key, value in dataset.manifest["books"].items() if key != "problems"
        },
    }


def describe(name: str | Path) -> str:
    """Counts, a histogram of document lengths and decoded samples, as text."""
    dataset = open_dataset(name)
    books = dataset.manifest["books"]
    size = dataset.n_tokens * dataset.dtype.itemsize
    per_token = books["bytes_read"] / dataset.n_tokens if dataset.n_tokens else 0.0
    lines = [
        f"{dataset.prefix}",
        f"  documents   {dataset.n_documents:,}",
        f"  tokens      {dataset.n_tokens:,} ({dataset.dtype.name}, {size / 1e6:,.1f} MB)",
        f"  input       {books['bytes_read'] / 1e6:,.1f} MB of text, {per_token:.2f} bytes a token",
        f"  vocabulary  {dataset.vocab_size:,} ({dataset.manifest['tokenizer']['name']})",
        *(
            f"  {kind:<11} {count:,}, {dataset.n_tokens / max(count, 1):.2f} tokens each"
            for kind in COLUMNS
            if (count := dataset.manifest.get(kind)) is not None
        ),
        "",
        "Tokens in a document",
        *histogram(dataset.lengths),
    ]
    for number, text in _samples(dataset):
        lines += ["", f"Document {number:,}", f"  {text}"]
    return "\n".join(lines)


def histogram(lengths: npt.NDArray[np.int32]) -> list[str]:
    """One line for each power of two that occurs, with a bar and a count."""
    if not len(lengths):
        return ["  (no documents)"]
    powers = np.bincount(np.frexp(lengths)[1])  # length in [2^(p-1), 2^p)
    first, last = np.flatnonzero(powers)[[0, -1]]
    widest = max(len(f"{1 << int(last):,}"), 5)
    lines = []
    for power in range(int(first), int(last) + 1):
        count = int(powers[power])
        bar = "█" * round(_BAR * count / int(powers.max())) or ("▏" if count else "")
        low = (1 << power) >> 1
        lines.append(f"  {low:>{widest},} - {(1 << power) - 1:<{widest},} {bar:<{_BAR}} {count:,}")
    return lines


def _samples(dataset: Dataset) -> list[tuple[int, str]]:
    """A few documents, evenly spread, the beginning of each decoded on one line.

    Where words are known, ``|`` stands between them.
    """
    if not dataset.n_sequences:
        return []
    tokenizer = dataset.tokenizer()
    numbers = sorted({dataset.n_sequences * part // _SAMPLES for part in range(_SAMPLES)})
    found = []
    for number in numbers:
        ids = dataset[number]
        if dataset.eod_id is not None:
            ids = ids[:-1]
        first = int(dataset.pointers[number]) // dataset.dtype.itemsize
        shown = ids[:_SAMPLE_TOKENS]
        cuts = []
        if "words" in dataset.manifest:
            cuts = np.flatnonzero(dataset.word_starts[first : first + len(shown)]).tolist()[1:]
        words = [tokenizer.decode(part) for part in np.split(shown, cuts)]
        text = "".join(map(visible, " ".join("|".join(words).split())))
        found.append((number, text + ("…" if len(ids) > _SAMPLE_TOKENS else "")))
    return found


def visible(character: str) -> str:
    """A corpus may hold what moves a terminal's cursor or changes its title."""
    return character if character.isprintable() else character.encode("unicode_escape").decode()
