"""A dataset in LiBai's convention: characters within a Chinese word have the ids of ``##`` pieces.

LiBai's BERT finds whole words by ``##``. Its tokenizer cuts Chinese with jieba, without the hidden
Markov model, and gives each word to WordPiece, so that 生命 becomes 生 and ##命.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .dataset import open_dataset
from .durable import writing
from .errors import UsageError
from .tokenizers.word_cuts import is_han

__all__ = ["export_libai", "libai_ids"]

if TYPE_CHECKING:
    from .tokenizers.protocol import Tokenizer

Convert: TypeAlias = Callable[
    [npt.NDArray[np.integer[Any]], npt.NDArray[np.bool_]], npt.NDArray[np.int64]
]

_STEP = 1 << 22


def export_libai(name: str | Path, out: str | Path) -> None:
    """Write ``OUT.bin`` and ``OUT.idx``, of as many tokens as the dataset ``name``.

    Raises UsageError unless the dataset was built with --words and a WordPiece vocabulary, and when
    ``out`` is there.
    """
    dataset = open_dataset(name)
    convert = libai_ids(dataset.tokenizer())
    starts = dataset.word_starts
    targets = [Path(f"{out}{ending}") for ending in (".bin", ".idx")]
    for path in (*targets, Path(f"{out}.json")):
        if path.exists():
            raise UsageError(f"{path} exists.", "Choose another --out.")
    targets[0].parent.mkdir(parents=True, exist_ok=True)
    with writing(targets[0]) as sink:
        for first in range(0, dataset.n_tokens, _STEP):
            # With the token before them, on which the first of them may depend.
            begin = max(first - 1, 0)
            ids = dataset.tokens[begin : first + _STEP]
            converted = convert(ids, starts[begin : begin + len(ids)])[first - begin :]
            sink.write(converted.astype(dataset.dtype).data)
    with writing(targets[1]) as sink, Path(f"{dataset.prefix}.idx").open("rb") as source:
        shutil.copyfileobj(source, sink)


def libai_ids(tokenizer: Tokenizer) -> Convert:
    """What turns ``ids`` and ``starts`` bool[n_tokens] into LiBai's ids.

    A character that does not start a word, and follows another Chinese one, gets the id of its
    ``##`` piece, if the vocabulary has that. LiBai itself makes one [UNK] of a word that has a
    character the vocabulary lacks; here the others are kept. UsageError unless it is a WordPiece.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        tokenizer.save(path)
        model = json.loads(path.read_bytes()).get("model", {})
    if model.get("type") != "WordPiece":
        raise UsageError(
            f"{tokenizer.name} has no ## pieces.",
            "LiBai's convention is for BERT's vocabularies: build with --tokenizer vocab.txt.",
        )
    within = np.full(tokenizer.vocab_size, -1, np.int64)
    for token, number in model["vocab"].items():
        if len(token) == 1 and is_han(token):
            within[number] = model["vocab"].get(f"##{token}", number)

    def convert(
        ids: npt.NDArray[np.integer[Any]], starts: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int64]:
        character = within[ids] >= 0
        follows = np.concatenate([[False], character[:-1]])
        return np.where(~starts & character & follows, within[ids], ids)

    return convert
