"""What is asked of an engine, which turns text into ids, and what all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.tokenizers.protocol import Encoded, Spans

__all__ = ["Engine", "bounds", "splice"]


Scalar = TypeVar("Scalar", bound=np.generic)


class Engine(Protocol):
    """Built from the text of a ``tokenizer.json``.

    It reads the strings or the bytes of a batch; broken Unicode in them is a UnicodeError. It is
    kept to one thread: documents are spread over processes, and a process without threads may fork.
    """

    def encode(self, batch: Batch) -> Encoded:
        """Ids of plain text: nothing added, truncated or padded, no special token recognised."""

    def encode_spans(self, batch: Batch) -> Spans:
        """The same, with the bytes of each token."""

    def decode(self, ids: list[int]) -> str:
        """Text of ids, special tokens written out."""


def bounds(lengths: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64[n + 1]: where parts of these lengths begin in a row, and where the last ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.asarray(lengths, np.int64), out=offsets[1:])
    return offsets


def splice(
    values: npt.NDArray[Scalar],
    offsets: npt.NDArray[np.int64],
    others: npt.NDArray[Scalar],
    other_offsets: npt.NDArray[np.int64],
    documents: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[Scalar], npt.NDArray[np.int64]]:
    """``values`` with those of the documents numbered in ``documents`` replaced by ``others``.

    Document ``documents[k]`` gets ``others[other_offsets[k]:other_offsets[k + 1]]``.
    """
    parts: list[npt.NDArray[Scalar]] = []
    lengths = np.diff(offsets)
    done = 0
    for k, document in enumerate(documents.tolist()):
        parts += [
            values[offsets[done] : offsets[document]],
            others[other_offsets[k] : other_offsets[k + 1]],
        ]
        lengths[document] = other_offsets[k + 1] - other_offsets[k]
        done = document + 1
    parts.append(values[offsets[done] :])
    return np.concatenate(parts), bounds(lengths)
