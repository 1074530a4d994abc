"""How people name a tokenizer on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from dataprep.errors import UsageError

__all__ = ["MIN_VOCAB_SIZE", "TokenizerKind", "TrainSpec", "parse_tokenizer_spec"]

TokenizerKind = Literal["bpe", "wordpiece", "unigram", "chars"]

MIN_VOCAB_SIZE = 257
"""256 bytes and the end-of-document token."""


@dataclass(frozen=True, kw_only=True)
class TrainSpec:
    """A tokenizer to be trained on the corpus itself.

    ``vocab_size`` counts everything, special tokens and the 256 bytes too; a corpus with too few
    distinct pairs gives a smaller vocabulary.
    """

    vocab_size: int
    kind: TokenizerKind = "bpe"
    respect_words: bool = False
    """Whether no token may come to span two Chinese words."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(TokenizerKind):
            raise UsageError(
                f"There is no kind of tokenizer {self.kind!r}; there are "
                f"{', '.join(get_args(TokenizerKind))}."
            )
        if self.vocab_size < MIN_VOCAB_SIZE:
            raise UsageError(
                f"A vocabulary of {self.vocab_size} is too small: 256 bytes and <|endoftext|> need "
                f"{MIN_VOCAB_SIZE}.",
                hint="Ask for a few thousand, as in train:bpe:8000.",
            )

    def __str__(self) -> str:
        return f"train:{self.kind}:{self.vocab_size}"


def parse_tokenizer_spec(spec: str) -> TrainSpec | Path:
    """``train:bpe:8000`` or the path of a ``tokenizer.json`` or of its folder.

    Raises UsageError for a ``train:`` spec that is none. The path is not looked at here.
    """
    if not spec.startswith("train:"):
        return Path(spec)
    match = re.fullmatch(r"train:bpe:([0-9]{1,9})", spec)
    if match is None:
        raise UsageError(
            f"{spec!r} is no training spec: the form is train:bpe:N, N the vocabulary size.",
            hint="For example train:bpe:8000. A path that starts with 'train:' needs ./ before it.",
        )
    return TrainSpec(vocab_size=int(match[1]))
