"""Byte-level BPE trained on the corpus itself: nothing to download, nothing that cannot be said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from dataprep.batch import Batch
from dataprep.errors import DataError
from dataprep.tokenizers.spec import TrainSpec

__all__ = ["EOD_TOKEN", "WORDS", "train_tokenizer"]

EOD_TOKEN = "<|endoftext|>"  # noqa: S105  (no password)

WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)
"""Merges never cross the ends of these matches. It is the pattern that Qwen2 published: fastokens
knows it by heart, digits stay single, and line ends stay with the punctuation before them."""


def train_tokenizer(spec: TrainSpec, batches: Iterator[Batch]) -> bytes:
    """Train on all ``batches`` and return the bytes of a ``tokenizer.json``.

    The same documents in the same order give the same bytes, on any number of threads. Ids: 0 is
    ``<|endoftext|>``, 1 to 256 are the bytes, then the merges by falling frequency. The vocabulary
    is smaller than ``spec.vocab_size`` when the corpus has no more pairs to merge.

    Memory grows with the number of distinct words, time with their total length: give it a sample
    of a large corpus. Raises DataError for documents that are not UTF-8.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=spec.vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[AddedToken(EOD_TOKEN, special=True, normalized=False)],
        show_progress=False,
    )
    with _all_threads():
        tokenizer.train_from_iterator(_texts(batches), trainer)
    json: str = tokenizer.to_str()
    return json.encode()


def _texts(batches: Iterator[Batch]) -> Iterator[list[str]]:
    for number, batch in enumerate(batches):
        try:
            yield batch.texts()
        except UnicodeDecodeError as error:
            raise DataError(
                f"Batch {number} of the training text is not valid UTF-8: {error}.",
                hint="Clean the text before a tokenizer is trained on it.",
            ) from error


@contextmanager
def _all_threads() -> Iterator[None]:
    """Undo what the reference engine asks of Hugging Face's package, for as long as this lasts."""
    name = "TOKENIZERS_PARALLELISM"
    before = os.environ.get(name)
    os.environ[name] = "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
