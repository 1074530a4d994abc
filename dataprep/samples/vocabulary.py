"""What objectives need to know of a tokenizer: special ids by role, and those of text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from dataprep.errors import UsageError

if TYPE_CHECKING:
    from dataprep.tokenizers.protocol import Tokenizer

__all__ = ["Vocabulary", "vocabulary_of"]

# Rows of an embedding that published vocabularies keep free.
_RESERVED = re.compile(r"\[unused\d+\]|<\|?(unused|reserved|extra_id)\w*\|?>")


class _Model(msgspec.Struct):
    vocab: Any = None


class _File(msgspec.Struct):
    model: _Model | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Vocabulary:
    """Ids of a tokenizer.

    Attributes:
        size: largest id + 1.
        roles: ids of special tokens by role: ``mask``, ``cls``, ``sep``, ``pad``, ``eod``,
            ``extra_id_0``, … (those of ``Tokenizer.specials``).
        special: all ids that are no text.
    """

    size: int
    roles: Mapping[str, int]
    special: frozenset[int] = frozenset()

    def role(self, *names: str) -> int:
        """The id of the first of these roles that the tokenizer has; UsageError if it has none."""
        for name in names:
            if name in self.roles:
                return self.roles[name]
        raise UsageError(
            f"The tokenizer has no token for the role {' or '.join(map(repr, names))}, which this "
            f"objective needs; it has: {', '.join(sorted(self.roles)) or 'none'}.",
            f"Use a tokenizer that has it, or name an id yourself: roles={{{names[0]!r}: ID}}.",
        )

    def sentinels(self, count: int) -> npt.NDArray[np.int64]:
        """The ids of ``extra_id_0`` and those after it, int64[count]; UsageError if too few."""
        found = 0
        while f"extra_id_{found}" in self.roles:
            found += 1
        if found < count:
            raise UsageError(
                f"A sample has up to {count} spans, and the tokenizer {found} sentinels "
                "(extra_id_0, extra_id_1, …).",
                "Use a tokenizer with sentinels, such as T5's, a shorter seq_len or longer spans; "
                "or name ids yourself: roles={'extra_id_0': ID, …}.",
            )
        return np.array([self.roles[f"extra_id_{i}"] for i in range(count)], np.int64)

    @cached_property
    def is_special(self) -> npt.NDArray[np.bool_]:
        """Whether each id is no text, bool[size]."""
        return _table(self.size, self.special)

    @cached_property
    def ordinary(self) -> npt.NDArray[np.int64]:
        """The ids that a masked token may be replaced with: those of text, int64, ascending."""
        ids = np.flatnonzero(~self.is_special)
        if not len(ids):
            raise UsageError("Every id of the tokenizer is special: there is nothing to draw from.")
        return ids


def _table(size: int, ids: frozenset[int]) -> npt.NDArray[np.bool_]:
    table = np.zeros(size, bool)
    table[[i for i in ids if i < size]] = True
    return table


def vocabulary_of(
    tokenizer: Tokenizer, *, file: Path | None = None, roles: Mapping[str, int] | None = None
) -> Vocabulary:
    """The vocabulary of a tokenizer; ``roles`` come over those that it names itself.

    ``file`` is the tokenizer as it was saved; rows that it keeps free (``[unused1]``) then count
    as special.
    """
    named = dict(roles or {})
    size = max([tokenizer.vocab_size, *(i + 1 for i in named.values())])
    known = {**tokenizer.specials, **named}
    special = {*tokenizer.special_tokens.values(), *known.values(), *_reserved(file)}
    return Vocabulary(
        size=size,
        roles=known,
        special=frozenset(special),
    )


def _reserved(file: Path | None) -> set[int]:
    if file is None:
        return set()
    model = msgspec.json.decode(file.read_bytes(), type=_File).model
    pieces = model.vocab if model else None
    if not isinstance(pieces, dict):  # unigram models list pieces with scores
        return set()
    return {i for piece, i in pieces.items() if _RESERVED.fullmatch(piece)}
