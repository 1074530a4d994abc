"""``dataprep verify``: is a dataset still what was written?"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from .dataset import open_dataset
from .errors import DataError
from .manifest import COLUMNS

__all__ = ["verify"]

_STEP = 1 << 22


def verify(name: str | Path) -> dict[str, int]:
    """Check every hash and every bound of a dataset; its counts when all is well.

    Checked are the size and sha256 of each file, the manifest included, every length, pointer and
    document index, that every id is in the vocabulary, that every document ends in the
    end-of-document token, and that it starts a word and a sentence where these are known. Raises
    DataError with all that is wrong.
    """
    dataset = open_dataset(name)
    wrong = []
    try:
        dataset.check()
    except DataError as error:
        wrong.append(str(error).rstrip("."))
    for ending, about in dataset.manifest["files"].items():
        path = Path(f"{dataset.prefix}{ending}")
        if not path.is_file():
            wrong.append(f"{path} is missing")
        elif path.stat().st_size != about["bytes"]:
            wrong.append(f"{path} has {path.stat().st_size:,} bytes instead of {about['bytes']:,}")
        elif _sha256(path) != about["sha256"]:
            wrong.append(f"{path} was changed: its sha256 is not the one in the manifest")
    for first in range(0, dataset.n_tokens, _STEP):
        part = dataset.tokens[first : first + _STEP]
        if int(part.min()) < 0 or int(part.max()) >= dataset.vocab_size:
            wrong.append(f"an id near token {first:,} is outside the vocabulary")
            break
    size = dataset.dtype.itemsize
    for first in range(0, dataset.n_sequences, _STEP):
        lengths = dataset.lengths[first : first + _STEP]
        ends = dataset.pointers[first : first + _STEP] // size + lengths - 1
        if dataset.eod_id is None:
            break
        if (lengths < 1).any() or (dataset.tokens[ends] != dataset.eod_id).any():
            wrong.append(f"a document near number {first:,} does not end in id {dataset.eod_id}")
            break
    for kind in COLUMNS:
        if f".{kind}" not in dataset.manifest["files"] or wrong:
            continue
        column = dataset.word_starts if kind == "words" else dataset.sentence_starts
        for first in range(0, dataset.n_sequences, _STEP):
            begun = dataset.pointers[first : first + _STEP] // size
            begun = begun[dataset.lengths[first : first + _STEP] > 0]
            if not column.at(begun).all():
                wrong.append(f"a document near number {first:,} does not start one of the {kind}")
                break
    if wrong:
        raise DataError(f"{name} is damaged: {'; '.join(wrong)}.", "Make it again, or copy again.")
    return {
        "documents": dataset.n_documents,
        "tokens": dataset.n_tokens,
        "files": len(dataset.manifest["files"]),
        "largest_document": int(np.max(dataset.lengths, initial=0)),
    }


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_STEP):
            digest.update(block)
    return digest.hexdigest()
