"""Whatever happens to the files of a dataset is found; what they promise takes no memory."""

from __future__ import annotations

import shutil
import struct
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dataprep
from dataprep import plan as plan_module
from dataprep.disk import IndexedDataset, Origins
from dataprep.disk.format import HEADER, MAGIC
from dataprep.disk.origins import HEAD, TAIL
from dataprep.errors import DataError
from dataprep.manifest import FILE_ENDINGS
from dataprep.tracing import whence
from dataprep.verify import verify

MEMORY = 8 << 20  # bytes that a refusal may take


@pytest.fixture(scope="module")
def datasets(tokenizer_file: Path) -> Iterator[list[Path]]:
    """Two datasets of the same shape and size, of paths that JSON has to escape."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_module, "MIN_SHARD", 200)
        names = []
        for name, text in (("d", "one 月\n"), ("e", "two 日\n")):
            corpus = Path(folder) / f"语料-{name}"
            corpus.mkdir()
            (corpus / "a.txt").write_text(text * 60, "utf-8")
            dataprep.build(corpus, out=Path(folder) / name, tokenizer=tokenizer_file)
            names.append(Path(folder) / name)
        yield names


@contextmanager
def restored(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    try:
        yield content
    finally:
        path.write_bytes(content)


endings = st.sampled_from([*FILE_ENDINGS, ".json"])


@settings(max_examples=300, deadline=None)
@given(ending=endings, where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_flipped_bit(datasets: list[Path], ending: str, where: float, bit: int) -> None:
    path = Path(f"{datasets[0]}{ending}")
    if not path.exists():  # a column that was not asked for
        return
    with restored(path) as content:
        data = bytearray(content)
        data[int(where * len(data))] ^= 1 << bit
        path.write_bytes(data)
        with pytest.raises(DataError):
            verify(datasets[0])


def test_every_bit_of_an_escape_in_the_manifest(datasets: list[Path]) -> None:
    """An upper-case hexadecimal digit means the same text: still the file was changed."""
    path = Path(f"{datasets[0]}.json")
    with restored(path) as content:
        at = content.index(b"\\u8bed")  # 语
        for byte in range(at, at + 6):
            for bit in range(8):
                data = bytearray(content)
                data[byte] ^= 1 << bit
                path.write_bytes(data)
                with pytest.raises(DataError):
                    verify(datasets[0])


@settings(max_examples=100, deadline=None)
@given(ending=endings, kept=st.floats(0, 1, exclude_max=True), more=st.binary(max_size=40))
@example(ending=".json", kept=0.999, more=b"}")
def test_any_cut_and_any_other_end(
    datasets: list[Path], ending: str, kept: float, more: bytes
) -> None:
    path = Path(f"{datasets[0]}{ending}")
    if not path.exists():
        return
    with restored(path) as content:
        data = content[: int(kept * len(content))] + more
        if data == content:
            return
        path.write_bytes(data)
        with pytest.raises(DataError):
            verify(datasets[0])


@pytest.mark.parametrize("ending", [*FILE_ENDINGS, ".json"])
def test_any_swap(datasets: list[Path], ending: str) -> None:
    ours, theirs = (Path(f"{name}{ending}") for name in datasets)
    if not ours.exists() or ours.read_bytes() == theirs.read_bytes():
        pytest.skip("both datasets have the same file")
    assert verify(datasets[0])["documents"] == 60
    with restored(ours):
        shutil.copy(theirs, ours)
        with pytest.raises(DataError):
            verify(datasets[0])
    with restored(ours):
        ours.unlink()
        with pytest.raises(DataError, match="missing"):
            verify(datasets[0])


@contextmanager
def little_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MEMORY


def use(prefix: Path) -> None:
    """Open, read everything and check; DataError is the only way to fail."""
    try:
        dataset = IndexedDataset(prefix)
    except DataError:
        return
    for number in range(min(len(dataset), 50)):
        try:
            ids = dataset[number]
            assert ids.base is not None or not len(ids)
            int(ids.sum())  # touches every byte that it stands for
        except DataError:
            pass
    try:
        dataset.check()
    except DataError:
        return
    assert int(np.sum(dataset.lengths, dtype=np.int64)) == dataset.n_tokens


counts = st.one_of(
    st.integers(0, 40),
    st.sampled_from([2**31 - 1, 2**32, 2**40, 2**61, 2**63 - 1, 2**63, 2**64 - 1]),
    st.integers(0, 2**64 - 1),
)


@settings(max_examples=300, deadline=None)
@given(
    version=st.sampled_from([1, 1, 1, 0, 2**64 - 1]),
    code=st.integers(0, 255) | st.sampled_from([4, 8]),
    n_sequences=counts,
    n_indices=counts,
    body=st.binary(max_size=400),
    ids=st.binary(max_size=64),
)
@example(version=1, code=8, n_sequences=2**61, n_indices=2**61, body=b"", ids=b"")
@example(version=1, code=8, n_sequences=0, n_indices=0, body=b"", ids=b"")
def test_headers_that_lie(
    version: int, code: int, n_sequences: int, n_indices: int, body: bytes, ids: bytes
) -> None:
    with tempfile.TemporaryDirectory() as folder, little_memory():
        prefix = Path(folder) / "d"
        head = HEADER.pack(MAGIC, version, code, n_sequences, n_indices)
        Path(f"{prefix}.idx").write_bytes(head + body)
        Path(f"{prefix}.bin").write_bytes(ids)
        use(prefix)


numbers = st.sampled_from([-(2**63), -(2**31), -1, 0, 1, 2, 2**31 - 1, 2**32, 2**62, 2**63 - 1])


@settings(max_examples=300, deadline=None)
@given(
    lengths=st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(-1, 4), max_size=8),
    pointers=st.lists(numbers | st.integers(-8, 40), min_size=8, max_size=8),
    documents=st.lists(numbers | st.integers(0, 9), min_size=1, max_size=9),
    tokens=st.integers(0, 20),
)
def test_pointers_that_lie(
    lengths: list[int], pointers: list[int], documents: list[int], tokens: int
) -> None:
    """Sizes that fit the header, and lengths and pointers out of range within."""
    count = len(lengths)
    with tempfile.TemporaryDirectory() as folder, little_memory():
        prefix = Path(folder) / "d"
        Path(f"{prefix}.idx").write_bytes(
            HEADER.pack(MAGIC, 1, 8, count, len(documents))
            + struct.pack(f"<{count}i", *lengths)
            + struct.pack(f"<{count}q", *pointers[:count])
            + struct.pack(f"<{len(documents)}q", *documents)
        )
        Path(f"{prefix}.bin").write_bytes(bytes(2 * tokens))
        use(prefix)


@settings(max_examples=150, deadline=None)
@given(where=st.floats(0, 1, exclude_max=True), value=numbers)
def test_indices_that_lie_about_a_whole_dataset(
    datasets: list[Path], where: float, value: int
) -> None:
    """One number of a good index is replaced: using the dataset fails in order, or is right."""
    path = Path(f"{datasets[0]}.idx")
    with restored(path) as content:
        data = bytearray(content)
        at = int(where * (len(data) - 8))
        data[at : at + 8] = struct.pack("<q", value)
        path.write_bytes(data)
        use(datasets[0])
        for token in (0, 100, 300):
            with suppress(DataError):
                whence(f"{datasets[0]}:{token}")


@settings(max_examples=200, deadline=None)
@given(
    documents=counts,
    blocks=counts,
    entry=st.lists(counts, min_size=5, max_size=5),
    frame=st.binary(max_size=60),
)
def test_origins_that_lie(documents: int, blocks: int, entry: list[int], frame: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, little_memory():
        path = Path(folder) / "d.origins"
        index = struct.pack("<5Q", *entry) * min(blocks, 3)
        path.write_bytes(HEAD.pack(b"JMORIGIN", 1) + frame + index + TAIL.pack(documents, blocks))
        for use_of in (
            lambda origins: origins.check(3),
            lambda origins: len(origins) > 5 and origins.of(5),
            lambda origins: origins.find(0, 1),
            lambda origins: origins.part(0, min(len(origins), 5000)),
        ):
            with suppress(DataError):
                use_of(Origins(path))
