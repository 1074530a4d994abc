"""Reading ``.bin`` and ``.idx``: what they promise is checked before anything is mapped.

Opening looks at the header, the sizes and the ends, which takes the same time for any number of
documents. Everything between is checked where it is touched, or as a whole by ``check``.
"""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from .format import DTYPE_OF_CODE, HEADER, MAGIC, VERSION

__all__ = ["IndexedDataset"]

_STEP = 1 << 20  # sequences checked at once: memory stays bounded for any index


class IndexedDataset:
    """A read-only, memory-mapped view of ``PREFIX.bin`` and ``PREFIX.idx``.

    Raises DataError when either file is missing, cut, or says what cannot be: an index comes from
    elsewhere and must not make a reader touch memory that is not there. So does reading a sequence.

    Attributes:
        dtype: dtype of the ids as stored.
        n_sequences, n_documents, n_tokens: counts.
        lengths: int32[n_sequences], tokens in each sequence.
        pointers: int64[n_sequences], where each starts in ``.bin``, in bytes.
        document_indices: int64[n_documents + 1], first sequence of each document.
        tokens: dtype[n_tokens], every id in file order.
    """

    def __init__(self, prefix: str | Path) -> None:
        self.prefix = Path(prefix)
        bin_path, idx_path = (Path(f"{prefix}{ending}") for ending in (".bin", ".idx"))
        for path in (bin_path, idx_path):
            if not path.is_file():
                raise DataError(
                    f"There is no dataset at {prefix}: {path} is missing.",
                    "Give the name without its ending, as it was given to `dataprep build --out`.",
                )
        self.dtype, self.n_sequences, n_indices = _header(idx_path)
        self.n_documents = n_indices - 1
        n, start = self.n_sequences, HEADER.size
        self.lengths = _mapped(idx_path, "<i4", start, n)
        self.pointers = _mapped(idx_path, "<i8", start + 4 * n, n)
        self.document_indices = _mapped(idx_path, "<i8", start + 12 * n, n_indices)
        self._bin_path, self._idx_path = bin_path, idx_path
        self.n_tokens = self._count()
        self.tokens = _mapped(bin_path, self.dtype, 0, self.n_tokens)

    def __len__(self) -> int:
        return self.n_sequences

    def __reduce__(self) -> tuple[type[IndexedDataset], tuple[Path]]:
        # By name: pickle would copy what is mapped.
        return type(self), (self.prefix,)

    def __getitem__(self, index: int) -> npt.NDArray[Any]:
        """The ids of one sequence, as a view; negative indices count from the end."""
        if not -self.n_sequences <= index < self.n_sequences:
            raise IndexError(
                f"sequence {index} of {self.prefix}, which has {self.n_sequences:,} sequences"
            )
        length, pointer = int(self.lengths[index]), int(self.pointers[index])
        start, rest = divmod(pointer, self.dtype.itemsize)
        if rest or start < 0 or length < 0 or start + length > self.n_tokens:
            raise DataError(
                f"{self._idx_path} is damaged: sequence {index} has length {length} and points to "
                f"byte {pointer}, which is not in {self._bin_path}."
            )
        return self.tokens[start : start + length]

    def sequence_at(self, token: int) -> int:
        """The sequence that a token stands in. Raises IndexError when there is no such token."""
        if not 0 <= token < self.n_tokens:
            raise IndexError(f"token {token} of {self.prefix}, which has {self.n_tokens:,} tokens")
        pointer = token * self.dtype.itemsize
        # The last that starts there: those before it are empty. numpy.searchsorted would first copy
        # the whole column, which is not aligned in the file.
        return bisect_right(self.pointers, pointer) - 1

    def check(self) -> None:
        """Raise DataError unless every length, pointer and document index is what it must be."""
        tokens = 0
        for first in range(0, self.n_sequences, _STEP):
            part = slice(first, first + _STEP)
            lengths = self.lengths[part].astype(np.int64)
            if int(lengths.min()) < 0:
                bad = first + int(np.argmax(lengths < 0))
                raise self._damaged(f"sequence {bad} has a negative length")
            starts = tokens + np.cumsum(lengths) - lengths
            wrong = self.pointers[part] != starts * self.dtype.itemsize
            if wrong.any():
                bad = first + int(np.argmax(wrong))
                raise self._damaged(
                    f"sequence {bad} points to byte {int(self.pointers[bad])}, where the lengths "
                    "before it do not end"
                )
            tokens += int(lengths.sum())
        if tokens != self.n_tokens:
            raise self._damaged(f"its lengths are of {tokens:,} tokens, not of {self.n_tokens:,}")
        for first in range(0, self.n_documents, _STEP):
            if (np.diff(self.document_indices[first : first + _STEP + 1]) < 0).any():
                raise self._damaged(f"its document indices fall after document {first:,}")

    def _count(self) -> int:
        """The number of tokens, after the ends were found to fit the sizes."""
        size, item = self._bin_path.stat().st_size, self.dtype.itemsize
        expected = 0
        if self.n_sequences:
            expected = int(self.pointers[-1]) + int(self.lengths[-1]) * item
        if size != expected:
            raise DataError(
                f"{self._bin_path} has {size:,} bytes, but {self._idx_path} describes "
                f"{expected:,}: one of them is cut or belongs to another dataset."
            )
        first = int(self.pointers[0]) if self.n_sequences else 0
        indices = (int(self.document_indices[0]), int(self.document_indices[-1]))
        if first or size % item or indices != (0, self.n_sequences):
            raise self._damaged(
                f"its pointers start at byte {first}, its document indices go from {indices[0]} to "
                f"{indices[1]}, of {self.n_sequences} sequences"
            )
        return size // item

    def _damaged(self, why: str) -> DataError:
        return DataError(f"{self._idx_path} is damaged: {why}.", "Copy it again, or build again.")


def _header(path: Path) -> tuple[np.dtype[np.generic], int, int]:
    """Dtype, number of sequences and number of document indices, checked against the size."""
    with path.open("rb") as file:
        head = file.read(HEADER.size)
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        raise DataError(f"{path} is not a dataset index: it does not start with {MAGIC!r}.")
    _, version, code, n_sequences, n_indices = HEADER.unpack(head)
    if version != VERSION:
        raise DataError(f"{path} has index version {version}; this reader knows {VERSION}.")
    if code not in DTYPE_OF_CODE:
        known = ", ".join(f"{key} ({value})" for key, value in DTYPE_OF_CODE.items())
        raise DataError(f"{path} has dtype code {code}; known codes: {known}.")
    size = path.stat().st_size
    expected = HEADER.size + 12 * n_sequences + 8 * n_indices
    if size != expected or n_indices < 1:
        raise DataError(
            f"{path} has {size:,} bytes, but its header promises {n_sequences:,} sequences and "
            f"{n_indices:,} document indices, which take {expected:,}: it is cut or damaged."
        )
    return DTYPE_OF_CODE[code], n_sequences, n_indices


def _mapped(
    path: Path, dtype: str | np.dtype[np.generic], offset: int, count: int
) -> npt.NDArray[Any]:
    if count == 0:  # an empty range cannot be mapped
        return np.zeros(0, dtype)
    return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=(count,))
