"""Where documents start within windows."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataprep.disk import IndexedDataset
from dataprep.errors import DataError
from dataprep.samples import CausalSamples, DocumentOffsets


def write(prefix: Path, lengths: list[int]) -> IndexedDataset:
    """A document of one sequence for each length."""
    sizes = np.array(lengths, np.int32)
    np.zeros(sizes.sum(), np.uint16).tofile(f"{prefix}.bin")
    pointers = 2 * (np.cumsum(sizes, dtype=np.int64) - sizes)
    indices = np.arange(len(sizes) + 1, dtype=np.int64)
    head = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(sizes), len(indices))
    Path(f"{prefix}.idx").write_bytes(
        head + sizes.tobytes() + pointers.tobytes() + indices.tobytes()
    )
    return IndexedDataset(prefix)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    lengths=st.lists(st.integers(0, 4) | st.integers(0, 400), min_size=1, max_size=60).filter(sum),
    seed=st.integers(0, 99),
)
def test_starts_and_documents(lengths: list[int], seed: int, tmp_path: Path) -> None:
    offsets = DocumentOffsets(write(tmp_path / "d", lengths))
    n_tokens = sum(lengths)
    borders = np.cumsum([0, *lengths])
    rng = np.random.default_rng(seed)
    places = rng.integers(0, n_tokens, 20)[:, None] + np.arange(9)
    places[::3, 4:] = rng.integers(0, n_tokens, (7, 1)) + np.arange(5)  # windows of two parts
    places = np.minimum(places, n_tokens - 1)
    starts, documents = offsets.mark(places)
    nonempty = set(borders[:-1][np.array(lengths) > 0].tolist())
    follows = np.diff(places, axis=1, prepend=places[:, :1]) == 1
    follows[:, 0] = True
    clamped = ~follows & (places == np.roll(places, 1, axis=1))
    expected = np.vectorize(lambda token: token in nonempty)(places)
    assert np.array_equal(starts[~clamped], expected[~clamped])
    for document, token in zip(documents.tolist(), places[:, 0].tolist(), strict=True):
        assert borders[document] <= token < borders[document + 1]


def test_a_damaged_index_leads_nowhere(tmp_path: Path) -> None:
    lengths = [5] * 40
    write(tmp_path / "d", lengths)
    index = bytearray((tmp_path / "d.idx").read_bytes())
    for at in range(len(index) - 8 * 30, len(index) - 8, 8):
        index[at : at + 8] = struct.pack("<q", -(2**62) if at % 3 else 2**62)
    (tmp_path / "d.idx").write_bytes(index)
    dataset = IndexedDataset(tmp_path / "d")
    offsets = DocumentOffsets(dataset)
    starts, _ = offsets.mark(np.arange(200).reshape(10, 20))  # nothing outside is touched
    assert starts.shape == (10, 20)
    with pytest.raises(DataError, match="damaged near document 0"):
        offsets.range(0, 41)
    samples = CausalSamples(dataset.tokens, seq_len=9, documents=offsets)
    assert samples.batch([0])["segments"].shape == (1, 9)
