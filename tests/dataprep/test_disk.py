"""The indexed format: what is written is read back, and no index can lie its way in."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from dataprep.disk import IndexedDataset, SegmentWriter, token_dtype, write_index
from dataprep.disk.format import HEADER
from dataprep.errors import DataError, RunError

EOD = 3
DOCUMENTS = [[5, 6, 7], [], [8], list(range(10, 60))]


def _write(prefix: Path, documents: list[list[int]], vocab_size: int = 100) -> None:
    dtype = token_dtype(vocab_size)
    lengths = Path(f"{prefix}.lengths")
    with SegmentWriter(
        Path(f"{prefix}.bin"), lengths, dtype=dtype, eod_id=EOD, vocab_size=vocab_size
    ) as writer:
        for part in (documents[:2], documents[2:]):
            offsets = np.cumsum([0, *map(len, part)]).astype(np.int64)
            writer.add(np.array([id_ for ids in part for id_ in ids], np.uint32), offsets)
    parts = np.fromfile(lengths, "<i4")
    with Path(f"{prefix}.idx").open("wb") as file:
        write_index(
            file,
            lambda: iter([parts[:3], parts[3:]]),
            n_sequences=len(documents),
            dtype=dtype,
        )


@pytest.mark.parametrize(("vocab_size", "dtype"), [(65_499, "uint16"), (65_500, "int32")])
def test_round_trip(tmp_path: Path, vocab_size: int, dtype: str) -> None:
    _write(tmp_path / "d", DOCUMENTS, vocab_size)
    dataset = IndexedDataset(tmp_path / "d")
    assert dataset.dtype.name == dtype
    assert (dataset.n_sequences, dataset.n_documents) == (4, 4)
    assert [dataset[n].tolist() for n in range(4)] == [[*ids, EOD] for ids in DOCUMENTS]
    assert dataset[-1].tolist() == dataset[3].tolist()
    assert dataset.n_tokens == sum(map(len, DOCUMENTS)) + 4
    assert dataset.document_indices.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(IndexError, match="4 sequences"):
        dataset[4]


def test_index_bytes(tmp_path: Path) -> None:
    """The layout, byte by byte, as other readers have it."""
    _write(tmp_path / "d", [[1], [2, 4]])
    expected = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, 2, 3)
    expected += struct.pack("<2i2q3q", 2, 3, 0, 4, 0, 1, 2)
    assert (tmp_path / "d.idx").read_bytes() == expected
    assert (tmp_path / "d.bin").read_bytes() == struct.pack("<5H", 1, EOD, 2, 4, EOD)


def test_empty(tmp_path: Path) -> None:
    _write(tmp_path / "d", [])
    dataset = IndexedDataset(tmp_path / "d")
    assert (len(dataset), dataset.n_documents, dataset.n_tokens) == (0, 0, 0)
    assert dataset.document_indices.tolist() == [0]


def test_id_beyond_vocabulary_is_not_wrapped(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="70000"):
        _write(tmp_path / "d", [[70_000]], vocab_size=400)


def _patch(path: Path, offset: int, data: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[offset : offset + len(data)] = data
    path.write_bytes(content)


LENGTHS, POINTERS, INDICES = HEADER.size, HEADER.size + 16, HEADER.size + 48


@pytest.mark.parametrize(
    ("offset", "data", "message"),
    [
        (0, b"X", "not a dataset index"),
        (9, struct.pack("<Q", 2), "version 2"),
        (17, b"\x06", "dtype code 6"),
        (18, struct.pack("<Q", 2**62), "promises"),
        (26, struct.pack("<Q", 0), "promises"),
        (26, struct.pack("<Q", 2**63), "promises"),
        (LENGTHS, struct.pack("<i", -4), "negative length"),
        (LENGTHS, struct.pack("<i", 5), "points to byte"),
        (LENGTHS + 12, struct.pack("<i", 2**31 - 1), "bytes, but"),
        (POINTERS, struct.pack("<q", -8), "start at byte -8"),
        (POINTERS + 8, struct.pack("<q", 2**40), "sequence 1 points to byte"),
        (INDICES, struct.pack("<q", 1), "document indices"),
        (INDICES + 8, struct.pack("<q", 9), "document indices"),
        (INDICES + 32, struct.pack("<q", 5), "document indices"),
    ],
)
def test_malicious_index(tmp_path: Path, offset: int, data: bytes, message: str) -> None:
    _write(tmp_path / "d", DOCUMENTS)
    _patch(tmp_path / "d.idx", offset, data)
    with pytest.raises(DataError, match=message):
        IndexedDataset(tmp_path / "d").check()


def test_codes_of_fractions_are_refused(tmp_path: Path) -> None:
    _write(tmp_path / "d", DOCUMENTS)
    _patch(tmp_path / "d.idx", 17, b"\x07")
    with pytest.raises(DataError, match="known codes: 1"):
        IndexedDataset(tmp_path / "d")


@pytest.mark.parametrize("ending", [".bin", ".idx"])
def test_cut_or_missing(tmp_path: Path, ending: str) -> None:
    _write(tmp_path / "d", DOCUMENTS)
    path = tmp_path / f"d{ending}"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"cut|bytes"):
        IndexedDataset(tmp_path / "d")
    path.unlink()
    with pytest.raises(DataError, match="missing"):
        IndexedDataset(tmp_path / "d")
