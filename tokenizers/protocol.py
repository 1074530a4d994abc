"""What every tokenizer offers, whichever engine does the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch

__all__ = ["Encoded", "Spans", "Tokenizer"]

Encoded: TypeAlias = tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]
"""``ids`` uint32[n_tokens] of all documents in a row, and ``offsets`` int64[n_docs + 1]: document
``i`` is ``ids[offsets[i]:offsets[i + 1]]``. Both may be read-only."""

Spans: TypeAlias = tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""``ids`` and ``offsets`` as in Encoded, and ``spans`` int64[n_tokens, 2]: token ``t`` comes from
the bytes ``spans[t, 0]`` to ``spans[t, 1]`` of the UTF-8 of its own document."""


class Tokenizer(Protocol):
    """Text to ids and back.

    A tokenizer can be pickled: the copy uses the engine that was chosen and checked here, without
    checking it again. That is how worker processes get theirs.
    """

    @property
    def name(self) -> str:
        """What the user called it; for people, never compared."""

    @property
    def vocab_size(self) -> int:
        """Largest id + 1, added tokens included."""

    @property
    def eod_id(self) -> int | None:
        """The id that ends a document, or None where the vocabulary has none."""

    @property
    def specials(self) -> Mapping[str, int]:
        """Ids of special tokens by role: ``eod``, ``bos``, ``pad``, ``mask``, ``extra_id_0``, …"""

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of all special tokens by how they are written."""

    @property
    def fingerprint(self) -> str:
        """Hex sha256 over everything that decides ids."""

    @property
    def engine(self) -> str:
        """Name and version of the engine that runs, as in ``fastokens 0.3.5``."""

    def encode_batch(self, batch: Batch | Sequence[str]) -> Encoded:
        """Ids of each document, as plain text.

        No special token is added, none is recognised in the text (a literal ``<|endoftext|>`` is
        13 characters, not an end of document), and truncation or padding stored with the
        vocabulary is not applied. Raises DataError for text that is not valid Unicode.
        """

    def encode_spans(self, batch: Batch | Sequence[str]) -> Spans:
        """The same, and the bytes that each token comes from.

        Starts never fall within a document. Bytes that give no token, as white space in BERT's
        vocabularies, are in no span; tokens that share a character share its bytes, unless each is
        some of them.
        """

    def decode(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> str:
        """The text of ``ids``; special tokens appear as they are written in the vocabulary."""

    def save(self, path: Path) -> None:
        """Write the bytes that ``fingerprint`` is the hash of."""
