"""Which tokens start a word or a sentence, for any tokenizer, from the bytes they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from .batch import Batch
from .segment import Segmenter, sentence_starts, word_starts

if TYPE_CHECKING:
    from .tokenizers.protocol import Spans, Tokenizer

__all__ = ["Marked", "Marker", "token_starts"]

Marked: TypeAlias = tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.bool_]]
"""``ids`` and ``offsets`` of Encoded, and ``marks`` bool[n_planes, n_tokens]."""


class Marker:
    """Encodes documents and marks their tokens, on one plane for each thing that is asked for.

    The planes are words, when there is a ``segmenter``, and sentences, in this order.
    """

    def __init__(
        self, tokenizer: Tokenizer, segmenter: Segmenter | None, *, sentences: bool
    ) -> None:
        self._tokenizer, self._segmenter, self._sentences = tokenizer, segmenter, sentences

    def encode(self, batch: Batch) -> Marked:
        """The ids of the documents, and where a word and a sentence starts among them."""
        words = None if self._segmenter is None else word_starts(batch, self._segmenter)
        sentences = sentence_starts(batch) if self._sentences else None
        if words is not None and sentences is not None:
            words |= sentences  # one that is too long may have been cut within a word
        planes = [starts for starts in (words, sentences) if starts is not None]
        if not planes:
            ids, offsets = self._tokenizer.encode_batch(batch)
            return ids, offsets, np.zeros((0, len(ids)), np.bool_)
        encoded = self._tokenizer.encode_spans(batch)
        marks = np.stack([token_starts(batch, encoded, starts) for starts in planes])
        return encoded[0], encoded[1], marks


def token_starts(
    batch: Batch, encoded: Spans, starts: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """bool[n_tokens]: whether each token starts a unit of text.

    ``starts`` bool[len(batch.data)] says at which bytes units start. A token owns the bytes from
    the end of the one before it to its own end: what gave no token, as blanks do in BERT's
    vocabularies, belongs to what comes after. It starts a unit if the first byte of one is among
    them, and if it is the first of its document. Two kinds of token go with what follows them: one
    that is a single blank before the first byte of a unit, and one without bytes, as the first
    pieces of a character have in SentencePiece.
    """
    from .words_kernel import mark

    ids, offsets, spans = encoded
    marks = np.zeros(len(ids), np.bool_)
    data = np.frombuffer(batch.data, np.uint8)
    mark(data, np.ascontiguousarray(batch.offsets), offsets, spans, starts, marks)
    return marks
