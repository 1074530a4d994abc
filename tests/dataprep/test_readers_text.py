"""Text and Markdown: what a document is, what a line is, and which bytes are bad."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dataprep.readers import FORMATS, DocPer, Failure, Source
from dataprep.readers import source as source_module


def read(
    data: bytes, doc_per: DocPer | None, path: Path
) -> tuple[list[str], list[int], list[Failure]]:
    """Documents, the line (from 1) that each starts on, and failures."""
    path.write_bytes(data)
    texts: list[str] = []
    lines: list[int] = []
    failures: list[Failure] = []
    for records in FORMATS["txt"].reader(doc_per).read(Source(path)):
        texts += records.batch.texts()
        lines += [records.chunk.line + line + 1 for line in records.lines]
        failures += records.failures
        assert records.read == len(records.batch) + len(records.failures)
    return texts, lines, failures


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.txt"


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\nb\r", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"a\r\r\n", ["a\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        ("a\u2028b\x0bc\x0cd\x1ce\x85f\n".encode(), ["a\u2028b\x0bc\x0cd\x1ce\x85f"]),
        (b"a\tb\x00c\n", ["a\tb\x00c"]),
    ],
)
def test_lines(data: bytes, texts: list[str], path: Path) -> None:
    assert read(data, "line", path) == (texts, list(range(1, len(texts) + 1)), [])


@pytest.mark.parametrize(
    ("data", "texts", "lines"),
    [
        (b"", [], []),
        (b"a\nb\n\nc\n", ["a\nb", "c"], [1, 4]),
        (b"\n\n\na\n\n\n\nb\n \t \n\xe3\x80\x80\nc\n\n", ["a", "b", "c"], [4, 8, 11]),
        (b" \na\r\n\r\nb\r\n", ["a", "b"], [2, 4]),
        (b"a\n  indented\n\nb", ["a\n  indented", "b"], [1, 4]),
        (b"a\n\n   ", ["a"], [1]),
    ],
)
def test_blocks(data: bytes, texts: list[str], lines: list[int], path: Path) -> None:
    assert read(data, "block", path) == (texts, lines, [])


@pytest.mark.parametrize(
    ("data", "texts"),
    [(b"", []), (b"\xef\xbb\xbfa\r\n\nb\n", ["a\n\nb\n"]), (b"\n", ["\n"])],
)
def test_files(data: bytes, texts: list[str], path: Path) -> None:
    assert read(data, "file", path)[0] == texts


def test_defaults() -> None:
    assert {name: row.doc_per for name, row in FORMATS.items()} == {
        "txt": "line",
        "md": "file",
        "jsonl": "line",
    }


@pytest.mark.parametrize("doc_per", ["line", "block", "file"])
def test_bytes_that_are_not_utf8(doc_per: DocPer, path: Path) -> None:
    """Only the document with the bad bytes fails, and its first bad byte is named."""
    data = "好\r\n\r\n第二".encode() + b"\xd6\xd0\xce\xc4\r\n\r\n" + "三\n\n".encode() + b"\xff\n"
    texts, _, failures = read(data, doc_per, path)
    places = [(failure.line, failure.byte, failure.cause) for failure in failures]
    if doc_per == "file":
        assert texts == []
        assert places == [(3, 13, "byte 0xD6 is not UTF-8")]
        return
    assert [text for text in texts if text] == ["好", "三"]
    assert places == [(3, 13, "byte 0xD6 is not UTF-8"), (7, 26, "byte 0xFF is not UTF-8")]
    assert failures[0].record == "第二".encode() + b"\xd6\xd0\xce\xc4"


def test_places_in_a_chunk_with_many_bad_lines(path: Path) -> None:
    rng = random.Random(5)
    rows = [rng.choice([b"good", b"\xe5\xa5\xbd", b"ba\xffd", b"\xb0\xa1\xb0"]) for _ in range(500)]
    texts, _, failures = read(b"\n".join(rows), "line", path)
    expected, byte = [], 0
    for number, row in enumerate(rows, 1):
        try:
            row.decode()
        except UnicodeDecodeError as error:
            expected.append((number, byte + error.start, row))
        byte += len(row) + 1
    assert [(found.line, found.byte, found.record) for found in failures] == expected
    assert len(texts) + len(failures) == 500


@pytest.mark.parametrize("doc_per", ["line", "block"])
@pytest.mark.parametrize("size", [1, 7, 64])
def test_chunks_of_any_size(
    doc_per: DocPer, size: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where chunks end shows in nothing."""
    rng = random.Random(size)
    data = "".join(
        rng.choice(["词", "word ", "\n", "\n\n", "\r\n", "\n \n", "\n\n\n", "\u3000"])
        for _ in range(600)
    ).encode()
    data += b"\xff\n\nend"
    whole = read(data, doc_per, path)
    monkeypatch.setattr(source_module, "CHUNK_BYTES", size)
    assert read(data, doc_per, path) == whole


@pytest.mark.parametrize("doc_per", ["line", "block"])
def test_ranges_of_a_file(doc_per: DocPer, path: Path) -> None:
    """Cut anywhere, the parts hold every document once."""
    rng = random.Random(1)
    rows = [
        "".join(rng.choices(["中文", "word", "\n", "\n\n", "\r\n\r\n"], k=5)) for _ in range(40)
    ]
    path.write_bytes("".join(rows).encode())
    size = path.stat().st_size
    reader = FORMATS["txt"].reader(doc_per)
    boundary = reader.boundary
    assert boundary is not None

    def texts(start: int, end: int | None) -> list[str]:
        found = [r.batch.texts() for r in reader.read(Source(path, start, end))]
        return [text for part in found for text in part]

    whole = texts(0, None)
    for cut in range(1, size):
        at = boundary.first_after(path, cut)
        assert texts(0, at) + texts(at, size) == whole
