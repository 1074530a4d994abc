"""Reading ``.bin`` and ``.idx``: everything is checked before anything is mapped."""

from __future__ import annotations

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
    elsewhere and must not make a reader touch memory that is not there.

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
        self.n_tokens = self._check(idx_path, bin_path)
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
        start = int(self.pointers[index]) // self.dtype.itemsize
        return self.tokens[start : start + int(self.lengths[index])]

    def _check(self, idx_path: Path, bin_path: Path) -> int:
        """The number of tokens, after every length, pointer and index was found possible."""
        tokens = 0
        for first in range(0, self.n_sequences, _STEP):
            part = slice(first, first + _STEP)
            lengths = self.lengths[part].astype(np.int64)
            if int(lengths.min()) < 0:
                bad = first + int(np.argmax(lengths < 0))
                raise DataError(f"{idx_path} is damaged: sequence {bad} has a negative length.")
            starts = tokens + np.cumsum(lengths) - lengths
            wrong = self.pointers[part] != starts * self.dtype.itemsize
            if wrong.any():
                bad = first + int(np.argmax(wrong))
                raise DataError(
                    f"{idx_path} is damaged: sequence {bad} points to byte "
                    f"{int(self.pointers[bad])}, where the lengths before it do not end."
                )
            tokens += int(lengths.sum())
        size, expected = bin_path.stat().st_size, tokens * self.dtype.itemsize
        if size != expected:
            raise DataError(
                f"{bin_path} has {size:,} bytes, but {idx_path} describes {expected:,}: one of "
                "them is cut or belongs to another dataset."
            )
        indices = self.document_indices
        ends = (int(indices[0]), int(indices[-1]))
        if ends != (0, self.n_sequences) or any(
            (np.diff(indices[first : first + _STEP + 1]) < 0).any()
            for first in range(0, self.n_documents, _STEP)
        ):
            raise DataError(
                f"{idx_path} is damaged: its document indices do not rise from 0 to "
                f"{self.n_sequences}."
            )
        return tokens


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
