"""How people name a tokenizer on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from dataprep.errors import UsageError

__all__ = ["TokenizerKind", "TrainSpec", "parse_tokenizer_spec"]

TokenizerKind = Literal["bpe", "wordpiece", "unigram", "chars"]

_LEAST: dict[str, tuple[int, str]] = {
    "bpe": (257, "256 bytes and <|endoftext|>"),
    "unigram": (260, "256 bytes, <unk>, <|endoftext|>, a space and a letter"),
    "wordpiece": (8, "its six special tokens, a letter and ##letter"),
    "chars": (3, "<|endoftext|>, <|unknown|> and a character"),
}
"""The smallest vocabulary of each kind, and what is in it."""


@dataclass(frozen=True, kw_only=True)
class TrainSpec:
    """A tokenizer to be trained on the corpus itself.

    ``vocab_size`` counts everything, special tokens and bytes too; a corpus with too few distinct
    pairs or characters gives a smaller vocabulary.
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
        if self.vocab_size < self._least:
            raise UsageError(
                f"A vocabulary of {self.vocab_size} is too small for {self.kind}, which needs "
                f"{self._least} for {_LEAST[self.kind][1]}.",
                hint=f"Ask for a few thousand, as in train:{self.kind}:8000.",
            )

    @property
    def _least(self) -> int:
        return _LEAST[self.kind][0]

    def __str__(self) -> str:
        return f"train:{self.kind}:{self.vocab_size}"


def parse_tokenizer_spec(spec: str) -> TrainSpec | Path:
    """``train:KIND:N``, N the vocabulary size, or a path or name of a tokenizer.

    Raises UsageError for a ``train:`` spec that is none. The path is not looked at here.
    """
    if not spec.startswith("train:"):
        return Path(spec)
    match = re.fullmatch(rf"train:({'|'.join(get_args(TokenizerKind))}):([0-9]{{1,9}})", spec)
    if match is None:
        raise UsageError(
            f"{spec!r} is no training spec: the form is train:KIND:N, N the vocabulary size, KIND "
            f"one of {', '.join(get_args(TokenizerKind))}.",
            hint="For example train:bpe:8000. A path that starts with 'train:' needs ./ before it.",
        )
    return TrainSpec(kind=match[1], vocab_size=int(match[2]))  # type: ignore[arg-type]
