"""Compressions, told by the first bytes of a file. All are read as streams of frames."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from .base import DamagedError

__all__ = ["CODECS", "Codec", "codec_of", "frames"]

_COMPRESSED_STEP = 1 << 18  # bytes fed at once: bounds what a dense file may expand to
_HEAD = 64  # bytes that tell what a file is


class Frame(Protocol):
    """One gzip member or one zstd frame, being decompressed."""

    @property
    def eof(self) -> bool:
        """Whether the frame is complete."""

    @property
    def unused_data(self) -> bytes:
        """What was fed beyond its end."""

    def decompress(self, data: bytes, /) -> bytes:
        """Feed compressed bytes, get what they decompress to."""


@dataclass(frozen=True)
class Codec:
    """A compression: how it is recognised and how one frame of it is decompressed."""

    title: str
    magic: re.Pattern[bytes]
    endings: tuple[str, ...]
    library: Callable[[], tuple[Callable[[], Frame], type[Exception]]]
    """Imports what is needed; returns the maker of frames and the error that they raise."""


def _gzip() -> tuple[Callable[[], Frame], type[Exception]]:
    try:
        from isal import igzip_lib, isal_zlib  # two to three times as fast as zlib
    except ImportError:  # no wheel for this machine
        return lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), zlib.error
    # The stubs declare the error as an instance.
    failure = cast("type[Exception]", igzip_lib.IsalError)
    return lambda: isal_zlib.decompressobj(zlib.MAX_WBITS | 16), failure


def _zstd() -> tuple[Callable[[], Frame], type[Exception]]:
    import zstandard

    # 2 GiB is the longest window that `zstd --long` writes.
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    return decompressor.decompressobj, zstandard.ZstdError


CODECS = {
    "gz": Codec("gzip", re.compile(rb"\x1f\x8b"), (".gz",), _gzip),
    "zst": Codec(
        "zstd",
        re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
        (".zst", ".zstd"),
        _zstd,
    ),
}

_FOREIGN = (
    (rb"\xfd7zXZ\x00", "xz-compressed", "Decompress it with `xz -d`, or recompress as .zst."),
    (rb"BZh[1-9]1AY&SY", "bzip2-compressed", "Decompress it with `bunzip2`."),
    (rb"PK\x03\x04", "a zip archive", "Unpack it with `unzip`."),
    (rb"%PDF-", "a PDF", "Extract its text first."),
    (rb"PAR1", "a Parquet file", "Export its text column as .jsonl."),
    (rb"\xff\xfe|\xfe\xff", "UTF-16", "Convert it with `iconv -f UTF-16 -t UTF-8`."),
    (
        rb"version https://git-lfs\.github\.com/spec/",
        "a Git LFS pointer, not the file itself",
        "Fetch the content with `git lfs pull`.",
    ),
)


def codec_of(path: Path) -> Codec | None:
    """The compression of a file, None for plain; DamagedError for what no reader here reads."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    for codec in CODECS.values():
        if codec.magic.match(head):
            return codec
        if not head and path.suffix.lower() in codec.endings:
            raise DamagedError(f"{path} is empty, not even a {codec.title} header is there.")
    for magic, what, hint in _FOREIGN:
        if re.match(magic, head):
            raise DamagedError(f"{path} is {what}, which is not read here.", hint)
    return None


def frames(file: BinaryIO, path: Path, codec: Codec) -> Iterator[bytes]:
    """Decompress every frame of a file, one after another.

    Raises DamagedError when a frame is cut, has a wrong checksum, or something else follows it.
    """
    make, failure = codec.library()
    repair = "Fetch the file again, or go on without the rest of it with --on-error skip."
    frame: Frame | None = None
    between = False
    while data := file.read(_COMPRESSED_STEP):
        while data:
            if between:  # padding, as tapes and some writers leave it
                data = data.lstrip(b"\0")
                between = not data
                continue
            frame = frame or make()
            try:
                out = frame.decompress(data)
            except failure as error:
                raise DamagedError(
                    f"{path} is damaged: its {codec.title} data cannot be decompressed ({error}).",
                    repair,
                ) from error
            if out:
                yield out
            if not frame.eof:
                break
            data, frame, between = frame.unused_data, None, True
    if frame is not None:
        raise DamagedError(
            f"{path} is cut: its {codec.title} data ends before the end-of-stream marker.", repair
        )
