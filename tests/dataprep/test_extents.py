"""Every byte of an input is in one record or is named framing."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from dataprep.readers import FORMATS, DocPer, Source
from dataprep.readers import source as source_module

BOM = b"\xef\xbb\xbf"
PARTS = ["词", "word ", "\n", "\n\n", "\r\n", "\n \n", "\n\n\n", "\u3000", "\r", '{"text": "x"}\n']


@pytest.mark.parametrize("doc_per", ["line", "block", "file"])
@pytest.mark.parametrize("size", [3, 50, 1 << 20])
@pytest.mark.parametrize("bad", [False, True])
def test_text(
    doc_per: DocPer, size: int, bad: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(size)
    data = "".join(rng.choices(PARTS, k=400)).encode()
    data = BOM + data + (b"\xff\n\nend\r" if bad else b"")
    monkeypatch.setattr(source_module, "CHUNK_BYTES", size)
    found = extents("txt", doc_per, data, tmp_path / "a.txt")
    for text, start, end in found.documents:
        raw = data[start:end].decode()
        assert text == raw.replace("\r\n", "\n") or (  # blank lines have been made empty
            doc_per == "block" and text.split() == raw.split()
        )
    assert (doc_per == "file" or not bad) or len(found.failures) == 1
    outside = np.frombuffer(data, np.uint8)[~found.covered].tobytes()
    assert not outside.removeprefix(BOM).decode().strip()


@pytest.mark.parametrize("size", [7, 1 << 20])
def test_json_lines(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(size)
    good, wrong = [b'{"text": "a"}', '{"text": "词"}'.encode()], [b"bad", b'{"text": "\xff"}']
    rows = rng.choices([*good, *wrong, b"", b" \t"], k=200)
    data = b"".join(row + rng.choice([b"\n", b"\r\n"]) for row in rows) + b'{"text": ""}'
    monkeypatch.setattr(source_module, "CHUNK_BYTES", size)
    found = extents("jsonl", None, data, tmp_path / "a.jsonl")
    assert [data[start:end] for _, start, end in found.documents] == [
        *(row for row in rows if row in good),
        b'{"text": ""}',
    ]
    assert [data[start:end] for start, end in found.failures] == [
        row for row in rows if row in wrong
    ]


def test_a_file_of_nothing_but_a_mark(tmp_path: Path) -> None:
    for doc_per in ("line", "block", "file"):
        assert extents("txt", doc_per, BOM, tmp_path / "a.txt").documents == []


@dataclass
class Found:
    documents: list[tuple[str, int, int]]
    failures: list[tuple[int, int]]
    covered: npt.NDArray[np.bool_]


def extents(kind: str, doc_per: DocPer | None, data: bytes, path: Path) -> Found:
    """The extents of one file; that they add up, follow one another and are never twice."""
    path.write_bytes(data)
    found = Found([], [], np.zeros(len(data), bool))
    position = len(BOM) if data.startswith(BOM) else 0
    for records in FORMATS[kind].reader(doc_per).read(Source(path)):
        chunk = records.chunk
        assert chunk.byte == position
        position += chunk.size
        places = np.stack([records.starts, records.ends], 1) + chunk.byte
        texts = records.batch.texts()
        found.documents += [(t, *p) for t, p in zip(texts, places.tolist(), strict=True)]
        failed = [(f.start, f.end) for f in records.failures]
        found.failures += failed
        size = 0
        for start, end in [*places.tolist(), *failed]:
            assert not found.covered[start:end].any()
            found.covered[start:end] = True
            size += end - start
        assert size + sum(records.framing.values()) == chunk.size
    assert position == len(data)
    return found
