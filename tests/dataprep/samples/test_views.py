from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from dataprep.disk import IndexedDataset
from dataprep.errors import DataError, UsageError
from dataprep.samples import DocumentOffsets, open_samples

# Documents of several sequences, one of them empty: lengths of the sequences of each document.
DOCUMENTS = [[5, 7], [40], [], [3, 0, 9], [20]]
STARTS = [0, 12, 52, 52, 64, 84]


@pytest.fixture
def dataset(tmp_path: Path) -> IndexedDataset:
    lengths = np.array([n for document in DOCUMENTS for n in document], np.int32)
    (tmp_path / "d.bin").write_bytes(np.arange(lengths.sum(), dtype=np.uint16).tobytes())
    pointers = 2 * (np.cumsum(lengths, dtype=np.int64) - lengths)
    indices = np.cumsum([0, *map(len, DOCUMENTS)])
    head = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(lengths), len(indices))
    body = lengths.tobytes() + pointers.tobytes() + indices.astype(np.int64).tobytes()
    (tmp_path / "d.idx").write_bytes(head + body)
    return IndexedDataset(tmp_path / "d")


def test_offsets_of_documents(dataset: IndexedDataset) -> None:
    offsets = DocumentOffsets(dataset)
    assert list(offsets) == STARTS
    assert offsets[1:3] == STARTS[1:3]
    assert offsets[-1] == 84


def test_parts_hold_the_tokens_of_their_documents(dataset: IndexedDataset) -> None:
    train = open_samples(dataset, "causal", seq_len=8, split="train", weights=(3, 1))
    validation = open_samples(dataset, "causal", seq_len=8, split="validation", weights=(3, 1))
    assert train.batch(np.arange(len(train)))["tokens"].ravel().tolist() == list(range(56))
    assert validation.batch(np.arange(len(validation)))["tokens"].ravel().tolist() == list(
        range(64, 80)
    )
    whole = open_samples(dataset, "causal", seq_len=8)
    assert len(whole) == 83 // 8


def test_samples_outlive_the_dataset(dataset: IndexedDataset) -> None:
    samples = open_samples(dataset, "causal", seq_len=8, seed=1)
    del dataset
    assert np.array_equal(np.unique(samples.batch(np.arange(10))["tokens"]), np.arange(80))


def test_what_cannot_be_is_refused(dataset: IndexedDataset) -> None:
    with pytest.raises(UsageError, match="kind 'casual'; known: causal"):
        open_samples(dataset, "casual", seq_len=8)
    with pytest.raises(UsageError, match="part 'test' of a split; known: train, validation"):
        open_samples(dataset, "causal", seq_len=8, split="test")
    with pytest.raises(DataError, match="5 documents with 84 tokens cannot be split by 99,1"):
        open_samples(dataset, "causal", seq_len=50, split="train")
