"""A dataset in LiBai's convention: characters within a Chinese word have the ids of ``##`` pieces.

LiBai's BERT finds whole words by ``##``. Its tokenizer cuts Chinese with jieba, without the hidden
Markov model, and gives each word to WordPiece, so that 生命 becomes 生 and ##命.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .dataset import open_dataset
from .durable import writing
from .errors import UsageError
from .tokenizers.word_cuts import is_han

__all__ = ["export_libai"]

_STEP = 1 << 22


def export_libai(name: str | Path, out: str | Path) -> None:
    """Write ``OUT.bin`` and ``OUT.idx``, of as many tokens as the dataset ``name``.

    A character that does not start a word, and follows another Chinese one, gets the id of its
    ``##`` piece, if the vocabulary has that. Raises UsageError unless the dataset was built with
    --words and a WordPiece vocabulary, and when ``out`` is there.
    """
    dataset = open_dataset(name)
    file = json.loads(Path(f"{dataset.prefix}.tokenizer.json").read_bytes())
    if file.get("model", {}).get("type") != "WordPiece":
        raise UsageError(
            f"{name} was built with {dataset.manifest['tokenizer']['name']}, which has no ## pieces.",
            "LiBai's convention is for BERT's vocabularies: build with --tokenizer vocab.txt.",
        )
    starts = dataset.word_starts
    targets = [Path(f"{out}{ending}") for ending in (".bin", ".idx")]
    for path in (*targets, Path(f"{out}.json")):
        if path.exists():
            raise UsageError(f"{path} exists.", "Choose another --out.")
    within = _within(file["model"], dataset.vocab_size)
    is_character = within >= 0
    targets[0].parent.mkdir(parents=True, exist_ok=True)
    with writing(targets[0]) as sink:
        before = False  # whether the token before the portion is a Chinese character
        for first in range(0, dataset.n_tokens, _STEP):
            ids = dataset.tokens[first : first + _STEP]
            character = is_character[ids]
            follows = np.concatenate([[before], character[:-1]])
            inside = ~starts[first : first + len(ids)] & character & follows
            sink.write(np.where(inside, within[ids], ids).astype(dataset.dtype).data)
            before = bool(character[-1])
    with writing(targets[1]) as sink, Path(f"{dataset.prefix}.idx").open("rb") as source:
        shutil.copyfileobj(source, sink)


def _within(model: dict[str, dict[str, int]], vocab_size: int) -> npt.NDArray[np.int64]:
    """int64[vocab_size]: of a Chinese character its id within words, -1 of any other token."""
    vocab = model["vocab"]
    table = np.full(vocab_size, -1, np.int64)
    for token, number in vocab.items():
        if len(token) == 1 and is_han(token):
            table[number] = vocab.get(f"##{token}", number)
    return table
