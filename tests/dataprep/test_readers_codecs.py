"""Compressed files: told by their bytes, read to the end, never cut short in silence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from dataprep.readers import FORMATS, DamagedError, Source, codec_of, format_of
from dataprep.readers import codecs as codecs_module

DATA = b"".join(b'{"text": "record %d"}\n' % number for number in range(2_000))
SKIPPABLE = b"\x53\x2a\x4d\x18\x05\x00\x00\x00inner"


def count(path: Path) -> int:
    return sum(len(records.batch) for records in FORMATS["jsonl"].reader(None).read(Source(path)))


def _streamed(data: bytes, **settings: int) -> bytes:
    made = zstandard.ZstdCompressor(**settings).compressobj()
    return made.compress(data) + made.flush()


def _long_window(data: bytes) -> bytes:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=28, enable_ldm=True)
    made = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return made.compress(data) + made.flush()


GOOD = {
    "gzip": gzip.compress(DATA),
    "gzip members": gzip.compress(DATA[:1000]) + gzip.compress(DATA[1000:]),
    "gzip padded": gzip.compress(DATA) + b"\0" * 600_000,
    "gzip empty member": gzip.compress(b"") + gzip.compress(DATA),
    "zstd": zstandard.compress(DATA),
    "zstd frames": zstandard.compress(DATA[:999]) + zstandard.compress(DATA[999:]),
    "zstd skippable": SKIPPABLE + zstandard.compress(DATA) + SKIPPABLE,
    "zstd without size": _streamed(DATA, level=3),
    "zstd long window": _long_window(DATA),
    "plain": DATA,
}


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
@pytest.mark.parametrize("step", [7, 1 << 18])
def test_told_by_magic(
    kind: str, name: str, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codecs_module, "_COMPRESSED_STEP", max(step, len(GOOD[kind]) // 2000))
    path = tmp_path / name
    path.write_bytes(GOOD[kind])
    assert count(path) == 2_000


def _flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@pytest.mark.parametrize("damage", ["cut", "header only", "checksum", "middle", "garbage after"])
def test_damage(kind: str, damage: str, tmp_path: Path) -> None:
    good = GOOD["gzip"] if kind == "gzip" else _checked(DATA)
    data = {
        "cut": good[:-20],
        "header only": good[:5],
        "checksum": _flip(good, len(good) - (6 if kind == "gzip" else 1)),
        "middle": _flip(good, len(good) // 2),
        "garbage after": good + b"garbage",
    }[damage]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=r"is cut|is damaged") as caught:
        count(path)
    assert "--on-error skip" in str(caught.value.hint)


def _checked(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def test_whole_records_before_the_damage_come_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(DATA, mtime=0)[:-400])
    texts: list[str] = []

    def read() -> None:
        for records in FORMATS["jsonl"].reader(None).read(Source(path)):
            assert not records.failures
            texts.extend(records.batch.texts())

    with pytest.raises(DamagedError) as caught:
        read()
    assert 0 < len(texts) < 2_000
    assert texts == [f"record {number}" for number in range(len(texts))]
    assert caught.value.line == len(texts) + 1
    assert DATA[: caught.value.byte].count(b"\n") == len(texts)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\xfd7zXZ\x00", "xz-compressed"),
        (b"BZh91AY&SY", "bzip2-compressed"),
        (b"\xff\xfe\x4d\x62", "UTF-16"),
        (b"PK\x03\x04", "zip archive"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
    ],
)
def test_foreign_files(data: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=what):
        count(path)


def test_empty_files(tmp_path: Path) -> None:
    """An empty text is a text; an empty gzip file is none."""
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    plain.touch()
    packed.touch()
    assert count(plain) == 0
    with pytest.raises(DamagedError, match="empty"):
        count(packed)


def test_unreadable(tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match="cannot be read"):
        count(tmp_path / "missing.jsonl")


def test_text_that_starts_like_bzip2(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"BZh is a prefix")
    assert codec_of(path) is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "txt"),
        ("A.TXT.GZ", "txt"),
        ("a.b.md.zst", "md"),
        ("a.ndjson", "jsonl"),
        ("a.json", None),
        ("a.jsonl.xz", None),
        ("a.gz", None),
        ("txt", None),
    ],
)
def test_format_of(name: str, kind: str | None) -> None:
    assert format_of(Path(name)) == kind
