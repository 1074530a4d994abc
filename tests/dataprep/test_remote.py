"""Datasets behind an address, here in fsspec's file system in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dataprep
from dataprep.errors import DataError, UsageError

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")


@pytest.fixture
def store(tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch):
    """``memory://bucket/corpus``, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    publish(tmp_path, tokenizer_file, memory, "床前明月光\nsecond\n" * 30)
    yield memory
    memory.store.clear()


def publish(folder: Path, tokenizer_file: Path, memory, text: str) -> None:
    (folder / "in.txt").write_text(text, "utf-8")
    name = folder / "local"
    dataprep.build(folder / "in.txt", out=str(name), tokenizer=tokenizer_file, overwrite=True)
    for path in folder.glob(f"{name.name}.*"):
        memory.pipe_file(f"/bucket/corpus{path.name.removeprefix(name.name)}", path.read_bytes())


def test_a_remote_dataset_is_fetched_once(store, tmp_path: Path) -> None:
    local = dataprep.open(tmp_path / "local")
    for address in ("memory://bucket/corpus", "memory://bucket/corpus.bin"):
        data = dataprep.open(address)
        assert np.array_equal(data.tokens, local.tokens)
        assert data.tokenizer().decode(data[0]) == local.tokenizer().decode(local[0])
        # From now on the cache serves: the tokens are not there any more.
        store.store.pop("/bucket/corpus.bin", None)
    samples = data.samples("causal", seq_len=16, seed=1)
    assert samples.batch([0]).keys() == {"tokens", "labels"}
    assert not list((tmp_path / "cache").rglob("*.[0-9]*"))


def test_a_dataset_that_was_made_again_is_another(store, tmp_path: Path, tokenizer_file) -> None:
    before = dataprep.open("memory://bucket/corpus").n_documents
    publish(tmp_path, tokenizer_file, store, "other\n" * 7)
    assert (before, dataprep.open("memory://bucket/corpus").n_documents) == (60, 7)


def test_what_arrives_is_checked(store, tmp_path: Path) -> None:
    whole = store.cat_file("/bucket/corpus.bin")
    store.pipe_file("/bucket/corpus.bin", whole[:-1] + b"\7")
    with pytest.raises(DataError, match=r"corpus\.bin is not what its manifest says"):
        dataprep.open("memory://bucket/corpus")
    store.pipe_file("/bucket/corpus.bin", whole)
    assert dataprep.open("memory://bucket/corpus").n_documents == 60


def test_what_is_not_there(store) -> None:
    with pytest.raises(DataError, match="There is no dataset at memory://bucket/nothing"):
        dataprep.open("memory://bucket/nothing")
    store.rm_file("/bucket/corpus.idx")
    with pytest.raises(DataError, match=r"corpus\.idx could not be fetched"):
        dataprep.open("memory://bucket/corpus")
    with pytest.raises(UsageError, match="cannot be reached"):
        dataprep.open("nowhere://bucket/corpus")
