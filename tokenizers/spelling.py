"""Which bytes the tokens of a byte-level vocabulary come from: those that they spell."""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.tokenizers.engine import Engine, bounds, splice
from dataprep.tokenizers.protocol import Spans

__all__ = ["Spelling", "byte_alphabet"]


def byte_alphabet() -> list[str]:
    """The 256 characters that stand for bytes in vocabularies: ``byte_alphabet()[32]`` is ``Ġ``.

    Bytes that Latin-1 prints stand for themselves, the others for U+0100 and on, in order.
    """
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = itertools.count(0x100)
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


class Spelling:
    """The bytes of every token of a ``tokenizer.json`` whose model is a byte-level BPE.

    Where the tokens of a document spell it byte for byte, their lengths are its spans: that is its
    own proof. ``reference`` gives the spans of the others.
    """

    def __init__(self, json: str, reference: Engine) -> None:
        file = msgspec.json.decode(json, type=_File)
        byte_of = {character: byte for byte, character in enumerate(byte_alphabet())}
        size = max([*file.model.vocab.values(), *(token.id for token in file.added_tokens)]) + 1
        spelt = [b""] * size
        for token, i in file.model.vocab.items():
            # A special token may hold other characters; it never comes out of an engine.
            spelt[i] = bytes(byte_of.get(character, 0) for character in token)
        for added in file.added_tokens:
            spelt[added.id] = added.content.encode()
        self._data = np.frombuffer(b"".join(spelt), np.uint8)
        self._starts = bounds(list(map(len, spelt)))
        self._reference = reference

    def spans(
        self, batch: Batch, ids: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]
    ) -> Spans:
        """Spans of ``ids``, which an exact engine gave for ``batch``."""
        lengths = np.diff(self._starts)[ids]
        ends = np.cumsum(lengths)
        edges = np.concatenate([[0], ends])[offsets]
        firsts = np.repeat(edges[:-1], np.diff(offsets))
        spans = np.stack([ends - lengths - firsts, ends - firsts], axis=1)
        bad = self._misspelt(batch, ids, lengths, edges)
        if not len(bad):
            return ids, offsets, spans
        texts = batch.texts()
        theirs = self._reference.encode_spans(Batch.from_texts([texts[i] for i in bad.tolist()]))
        new_ids, _ = splice(ids, offsets, theirs[0], theirs[1], bad)
        spans, offsets = splice(spans, offsets, theirs[2], theirs[1], bad)
        return new_ids, offsets, spans

    def _misspelt(
        self,
        batch: Batch,
        ids: npt.NDArray[np.uint32],
        lengths: npt.NDArray[np.int64],
        edges: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64]:
        """Numbers of the documents that their tokens do not spell; ``edges`` lie in that."""
        total = int(edges[-1])
        first = np.cumsum(lengths) - lengths
        spelt = self._data[np.arange(total) + np.repeat(self._starts[ids] - first, lengths)]
        data = np.frombuffer(batch.data, np.uint8)
        if np.array_equal(edges, batch.offsets) and np.array_equal(spelt, data):
            return np.empty(0, np.int64)
        source = batch.offsets
        return np.array(
            [
                i
                for i in range(len(batch))
                if not np.array_equal(
                    spelt[edges[i] : edges[i + 1]], data[source[i] : source[i + 1]]
                )
            ],
            np.int64,
        )


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _Added(msgspec.Struct):
    id: int
    content: str


class _File(msgspec.Struct):
    model: _Model
    added_tokens: list[_Added] = []
