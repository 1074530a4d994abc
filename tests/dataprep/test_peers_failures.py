"""What was seen to go wrong, silently, in other programs of this kind."""

from __future__ import annotations

import io
import json
import os
import resource
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forks import Forked

import dataprep
from dataprep import plan as plan_module
from dataprep.disk import IndexedDataset, SegmentWriter, token_dtype, write_index
from dataprep.disk.format import HEADER
from dataprep.errors import DataError, RunError


def built(path: Path, out: Path, tokenizer: Path, **settings: Any) -> dataprep.Dataset:
    return dataprep.build(path, out=out, tokenizer=tokenizer, **settings)


@pytest.mark.parametrize("ending", [".txt", ".jsonl"])
def test_one_bad_byte_ends_no_file(tmp_path: Path, tokenizer_file: Path, ending: str) -> None:
    """Seen: 48 of 200 documents, a warning, exit 0."""
    lines = [b'{"text": "line %d"}' % n if ending == ".jsonl" else b"%d" % n for n in range(200)]
    lines[48] = lines[48].replace(b"4", b"\xff")
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"\n".join(lines))
    dataset = built(path, tmp_path / "d", tokenizer_file)
    assert dataset.n_documents == 199
    (problem,) = dataset.manifest["books"]["problems"]
    assert (problem["line"], problem["cause"]) == (49, "byte 0xFF is not UTF-8")


def test_one_bad_line_ends_no_chunk(tmp_path: Path, tokenizer_file: Path) -> None:
    """Seen: 17,934 of 20,000 documents, exit 0."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n' * 17_934 + '{"text": \n' + '{"text": "a"}\n' * 2_065)
    assert built(path, tmp_path / "d", tokenizer_file).n_documents == 19_999


def test_another_encoding_is_not_nothing(tmp_path: Path, tokenizer_file: Path) -> None:
    """Seen: a GB18030 file gives 0 documents and "complete"."""
    path = tmp_path / "a.txt"
    path.write_bytes("春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。\n".encode("gb18030") * 40)
    try:
        assert built(path, tmp_path / "d", tokenizer_file).n_documents == 40
    except DataError as error:
        assert "40" in str(error)  # noqa: PT017
        assert not (tmp_path / "d.json").exists()


@pytest.mark.parametrize("size", [65_499, 65_500, 65_536, 70_000])
def test_ids_do_not_wrap(tmp_path: Path, size: int) -> None:
    """Seen: 53 % of the ids of a vocabulary of 150,000 wrapped into uint16."""
    dtype = token_dtype(size)
    ids = np.array([0, size - 1, size // 2], np.uint32)
    with SegmentWriter(
        tmp_path / "d.bin", tmp_path / "l", dtype=dtype, eod_id=0, vocab_size=size
    ) as writer:
        writer.add(ids, np.array([0, 3]))
        with pytest.raises(RunError, match=f"id {size}, beyond its vocabulary"):
            writer.add(np.array([size], np.uint32), np.array([0, 1]))
    with (tmp_path / "d.idx").open("wb") as file:
        write_index(file, lambda: [np.array([4], "<i4")], n_sequences=1, dtype=dtype)
    assert IndexedDataset(tmp_path / "d")[0].tolist() == [0, size - 1, size // 2, 0]
    assert (dtype.itemsize == 2) == (size < 65_500)


def test_pointers_beyond_two_gib() -> None:
    """Seen: pointers that overflow int32 where datasets are merged."""
    lengths = np.array([2**31 - 1, 2**31 - 1, 5], "<i4")
    file = io.BytesIO()
    write_index(file, lambda: [lengths[:2], lengths[2:]], n_sequences=3, dtype=token_dtype(70_000))
    pointers = struct.unpack_from("<3q", file.getvalue(), HEADER.size + 12)
    assert pointers == (0, 4 * (2**31 - 1), 8 * (2**31 - 1))


def test_first_document_is_empty(tmp_path: Path, tokenizer_file: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "a.md").write_text("")
    (tmp_path / "c" / "b.jsonl").write_text('{"text": ""}\n{"text": "x"}\n')
    (tmp_path / "c" / "c.txt").write_text("\n\ny\n")
    dataset = built(tmp_path / "c", tmp_path / "d", tokenizer_file)
    assert dataset.n_documents == 2
    assert dataset.manifest["books"]["dropped"] == {"blank": 3}
    assert [dataset.origin(number).line for number in (0, 1)] == [2, 3]


def test_a_document_longer_than_a_shard(
    tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen: a document that is longer than the limit of an output file vanishes."""
    monkeypatch.setattr(plan_module, "MIN_SHARD", 1000)
    path = tmp_path / "a.jsonl"
    texts = ["short", "long " * 20_000, "short", "long " * 20_000]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    dataset = built(path, tmp_path / "d", tokenizer_file)
    decode = dataset.tokenizer().decode
    assert [decode(dataset[number][:-1]) for number in range(4)] == texts


def test_ten_thousand_files_with_few_handles(tmp_path: Path, tokenizer_file: Path) -> None:
    """Seen: semaphores and file handles that run out."""
    folder = tmp_path / "c"
    for part in range(10):
        (folder / str(part)).mkdir(parents=True)
        for number in range(1_000):
            (folder / str(part) / f"{number}.txt").write_text(f"{part} {number}\n")

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        built(folder, tmp_path / "d", tokenizer_file, workers=2)

    ended = Forked(few, tmp_path / "log").ended()
    assert ended.status == 0, ended.output
    dataset = dataprep.open(tmp_path / "d")
    assert dataset.n_documents == 10_000
    assert len(dataset.manifest["plan"]["shards"]) < 10, "small files share a shard"


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux")
def test_many_long_documents(tmp_path: Path, tokenizer_file: Path) -> None:
    """Seen: gigabytes for a shelf of books of 5 MB each."""
    folder = tmp_path / "c"
    folder.mkdir()
    book = "".join(
        f"Chapter {n}. The quick brown fox jumps over it. 今天好。\n" for n in range(90_000)
    )
    for number in range(16):
        (folder / f"{number}.md").write_text(book, "utf-8")
    assert len(book.encode()) > 5_000_000

    def build() -> None:
        built(folder, tmp_path / "d", tokenizer_file, workers=1)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    before = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 10
    ended = Forked(build, tmp_path / "log").ended()
    assert ended.status == 0, ended.output
    worker, _ = map(int, ended.output.split())
    assert worker - before < 350_000, "kB, which 16 books at once would be more than"
    assert dataprep.open(tmp_path / "d").n_documents == 16
