"""Whole documents, put together where they fit best.

Ding et al., "Fewer truncations improve language modeling" (2024): a document is cut only when it is
longer than a sample, and what is left over of each sample is small.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError, UsageError
from dataprep.samples.opened import Opened
from dataprep.samples.order import BlockOrder, Order

__all__ = ["IGNORED", "Borders", "PackedSamples", "Pieces", "pack", "pieces_of"]

_BLOCK = 1 << 16
"""Documents that are packed together."""
_KEPT = 4
"""Blocks whose packing is kept: a batch touches two where one ends."""
IGNORED = -100


class Borders(Protocol):
    """Where documents start: DocumentOffsets, or what is like them."""

    def __len__(self) -> int:
        """The number of documents, and one."""

    def range(self, first: int, last: int, /) -> npt.NDArray[np.int64]:
        """The tokens that documents ``first`` to ``last - 1`` start with, int64."""


class Pieces(NamedTuple):
    """What the bins of a block hold: pieces ``first[b]`` to ``first[b + 1]`` are in bin ``b``.

    ``starts`` int64 is the token that each begins with, ``lengths`` int64 the number of its inputs;
    one token more is its last label.
    """

    first: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]


def pieces_of(
    offsets: npt.NDArray[np.int64], seq_len: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Starts and lengths of what is packed, of documents between ``offsets`` int64[n + 1].

    A document of L tokens has L - 1 inputs, each with the next token as its label; more than
    ``seq_len`` of them are cut.
    """
    inputs = np.maximum(np.diff(offsets) - 1, 0)
    counts = -(-inputs // seq_len)
    document = np.repeat(np.arange(len(inputs)), counts)
    within = np.arange(len(document)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = offsets[document] + within * seq_len
    return starts, np.minimum(inputs[document] - within * seq_len, seq_len)


def pack(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], seq_len: int) -> Pieces:
    """Put pieces into as few samples as best fit finds; in a sample they stand as stored."""
    from dataprep.samples.pack_kernel import best_fit

    bins = np.empty(len(lengths), np.int64)
    count = best_fit(lengths, seq_len, bins)
    order = np.argsort(bins, kind="stable")
    first = np.concatenate(([0], np.cumsum(np.bincount(bins, minlength=count))))
    return Pieces(first, starts[order], lengths[order])


class PackedSamples(Opened):
    """Samples of ``seq_len`` inputs made of whole documents.

    Documents are packed in blocks of 65,536 neighbours, when a block's turn comes; a run works
    through the blocks in random order and through each in random order (``BlockOrder``). What is
    kept of the whole is one number a block. To know how many samples there are, every block is
    packed once at the start: about a second for 10 million documents.

    ``ranges`` are the documents to use. ``pad`` fills what is left over. ``learnt``, packed bits as
    of ``numpy.packbits(bitorder="little")``, says of each token whether it is to be predicted.
    """

    def __init__(
        self,
        tokens: npt.NDArray[np.integer[Any]],
        offsets: Borders,
        *,
        seq_len: int,
        seed: int | None = None,
        ranges: Sequence[range] | None = None,
        pad: int = 0,
        learnt: npt.NDArray[np.uint8] | None = None,
    ) -> None:
        if seq_len < 1:
            raise UsageError(f"seq_len is {seq_len}: it must be at least 1")
        self.seq_len = seq_len
        self._tokens = np.asarray(tokens)
        self._learnt = np.zeros(0, np.uint8) if learnt is None else learnt
        self._offsets = offsets
        self._pad = pad
        self._blocks = [
            range(first, min(first + _BLOCK, part.stop))
            for part in ([range(len(offsets) - 1)] if ranges is None else ranges)
            for first in range(part.start, part.stop, _BLOCK)
        ]
        self._packed: OrderedDict[int, Pieces] = OrderedDict()
        counts = [self._count(documents) for documents in self._blocks]
        if not sum(counts):
            raise DataError(
                f"none of {len(offsets) - 1} documents has two tokens: there is nothing to predict",
                hint="use more text",
            )
        self._before = np.cumsum([0, *counts])
        self._order = Order(len(self), None) if seed is None else BlockOrder(np.array(counts), seed)

    def __len__(self) -> int:
        """The number of samples in one epoch."""
        return int(self._before[-1])

    def __getitem__(self, position: int) -> dict[str, npt.NDArray[np.int64]]:
        """The sample at one position of a run: the arrays of ``batch`` without their first axis."""
        return {name: array[0] for name, array in self.batch([position]).items()}

    def batch(self, positions: npt.ArrayLike) -> dict[str, npt.NDArray[np.int64]]:
        """The samples at ``positions`` of a run: integers [n], from 0 upwards without end.

        Returns ``tokens``, ``labels``, ``segments`` and ``positions``, int64 [n, seq_len]. Labels
        never reach into the next document; on padding they are -100, and segments -1. Raises
        ``IndexError`` for a negative position.
        """
        from dataprep.samples.pack_kernel import lay_out

        samples = self._order(np.atleast_1d(np.asarray(positions, np.int64)))
        n = len(samples)
        arrays = {
            "tokens": np.full((n, self.seq_len), self._pad, np.int64),
            "labels": np.full((n, self.seq_len), IGNORED, np.int64),
            "segments": np.full((n, self.seq_len), -1, np.int64),
            "positions": np.zeros((n, self.seq_len), np.int64),
        }
        block_of = np.searchsorted(self._before, samples, side="right") - 1
        rows = []
        for sample, block in zip(samples.tolist(), block_of.tolist(), strict=True):
            pieces = self._pieces(block)
            b = sample - int(self._before[block])
            rows.append((pieces, slice(pieces.first[b], pieces.first[b + 1])))
        if rows:
            lay_out(
                self._tokens,
                self._learnt,
                np.cumsum([0, *(here.stop - here.start for _, here in rows)]),
                np.concatenate([pieces.starts[here] for pieces, here in rows]),
                np.concatenate([pieces.lengths[here] for pieces, here in rows]),
                *arrays.values(),
            )
        return arrays

    def _count(self, documents: range) -> int:
        from dataprep.samples.pack_kernel import best_fit

        borders = self._offsets.range(documents.start, documents.stop + 1)
        _, lengths = pieces_of(borders, self.seq_len)
        return best_fit(lengths, self.seq_len, np.empty(len(lengths), np.int64))

    def _pieces(self, block: int) -> Pieces:
        # Threads of a loader share this: what one of them drops, another makes again.
        found = self._packed.get(block)
        if found is None:
            documents = self._blocks[block]
            borders = self._offsets.range(documents.start, documents.stop + 1)
            found = pack(*pieces_of(borders, self.seq_len), self.seq_len)
            self._packed[block] = found
            while len(self._packed) > _KEPT:
                self._packed.popitem(last=False)
        return found
