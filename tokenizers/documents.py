"""Documents on their way into an engine: strings or a batch, without broken Unicode."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.errors import DataError

__all__ = ["readable", "valid_bytes"]


@contextmanager
def readable(documents: Batch | Sequence[str]) -> Iterator[Batch]:
    """The documents as a batch.

    A UnicodeError inside the ``with``, where an engine reads strings or bytes as it likes best,
    becomes a DataError that names the document with a lone surrogate or broken UTF-8.
    """
    try:
        if isinstance(documents, Batch):
            yield documents
        else:
            texts = list(documents)
            "".join(texts).encode()
            yield Batch.from_texts(texts)
    except UnicodeError as error:
        raise DataError(
            f"Document {_first_bad(documents)} of the batch holds a lone surrogate or broken "
            "UTF-8.",
            hint="Clean the text before it is tokenized.",
        ) from error


def valid_bytes(batch: Batch) -> npt.NDArray[np.uint8]:
    """The data of the batch; UnicodeError unless each document is valid UTF-8."""
    data = batch.data  # made of strings, this raises for a lone surrogate
    array = np.frombuffer(data, np.uint8)
    if batch.is_text:
        return array
    str(data, "utf-8")
    starts = batch.offsets[:-1]
    if ((array[starts[starts < len(array)]] & 0xC0) == 0x80).any():
        raise UnicodeError("a document starts within a character")
    return array


def _first_bad(documents: Batch | Sequence[str]) -> int:
    return next(i for i, part in enumerate(_parts(documents)) if not _is_utf8(part))


def _parts(documents: Batch | Sequence[str]) -> Iterator[bytes]:
    try:
        texts = documents.texts() if isinstance(documents, Batch) else documents
    except UnicodeDecodeError:
        data = bytes(documents.data)  # type: ignore[union-attr]
        bounds = itertools.pairwise(documents.offsets.tolist())  # type: ignore[union-attr]
        return (data[start:end] for start, end in bounds)
    return (text.encode("utf-8", "surrogatepass") for text in texts)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
