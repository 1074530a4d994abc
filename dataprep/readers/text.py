"""Plain text and Markdown: one document a line, a block between blank lines, or a file.

Lines end at ``\\n``; a ``\\r`` before it is no part of the line. Everything else, U+2028 and a lone
``\\r`` included, is content. Text must be strict UTF-8: a document with other bytes fails alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, islice, repeat

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from .base import Chunk, Failure, Reader, Records
from .source import BLOCK, LINE, Boundary, Source

__all__ = ["BLOCKS", "FILES", "LINES"]

Split = Callable[[str], tuple[list[str], Sequence[int], Sequence[int]]]
"""Text to documents and the lines, from 0, on which each starts and ends; -1 is the last line."""

_BLANK_LINE = re.compile(r"\n[^\S\n]+(?=\n|\Z)")
_ESCAPED = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of bytes that are not UTF-8


def _lines(text: str) -> tuple[list[str], Sequence[int], Sequence[int]]:
    texts = text.split("\n")
    if not texts[-1]:
        texts.pop()  # what follows the last line end
    return texts, range(len(texts)), range(len(texts))


def _blocks(text: str) -> tuple[list[str], Sequence[int], Sequence[int]]:
    # With a line end in front, a blank line at the very start looks like any other.
    parts = _BLANK_LINE.sub("\n", f"\n{text}").split("\n\n")
    texts = list(map(str.strip, parts, repeat("\n")))
    inner = np.fromiter(map(str.count, parts, repeat("\n")), np.int64, len(parts))
    leading = np.fromiter(map(str.startswith, parts, repeat("\n")), np.int64, len(parts))
    lines = np.cumsum(inner + 2) - (inner + 2) + leading - 1
    kept = np.fromiter(map(bool, texts), bool, len(texts))
    texts, lines = list(compress(texts, kept)), lines[kept]
    within = np.fromiter(map(str.count, texts, repeat("\n")), np.int64, len(texts))
    return texts, lines.tolist(), (lines + within).tolist()


def _file(text: str) -> tuple[list[str], Sequence[int], Sequence[int]]:
    return ([text], [0], [-1]) if text else ([], [], [])


def _read(chunk: Chunk, split: Split) -> Records:
    try:
        texts, first, last = split(_decoded(chunk.data, "strict"))
    except UnicodeDecodeError:
        return _read_damaged(chunk, split)
    starts, ends = _extents(chunk, first, last)
    framing = _framing(chunk, split, starts, ends)
    return Records(Batch.from_texts(texts), first, (), chunk, starts, ends, framing)


def _read_damaged(chunk: Chunk, split: Split) -> Records:
    """Sort the documents of a chunk with bytes that are not UTF-8 into good and bad."""
    texts, first, last = split(_decoded(chunk.data, "surrogateescape"))
    starts, ends = _extents(chunk, first, last)
    wrong_bytes = _undecodable(chunk.data)
    good: list[int] = []
    failures = []
    for number, text in enumerate(texts):
        escaped = len(_ESCAPED.findall(text))
        if not escaped:
            good.append(number)
            continue
        at, *_ = islice(wrong_bytes, escaped)
        failures.append(
            Failure(
                chunk.line + int(np.searchsorted(chunk.line_starts, at, "right")),
                chunk.byte + at,
                f"byte 0x{chunk.data[at]:02X} is not UTF-8",
                text.encode("utf-8", "surrogateescape"),
                chunk.byte + int(starts[number]),
                chunk.byte + int(ends[number]),
            )
        )
    return Records(
        Batch.from_texts(texts[number] for number in good),
        [first[number] for number in good],
        failures,
        chunk,
        starts[good],
        ends[good],
        _framing(chunk, split, starts, ends),
    )


Extents = npt.NDArray[np.int64]


def _extents(chunk: Chunk, first: Sequence[int], last: Sequence[int]) -> tuple[Extents, Extents]:
    """Where documents start and end within the chunk, from the lines on which they do."""
    if isinstance(first, range):
        return chunk.line_starts[: len(first)], chunk.line_ends[: len(first)]
    return chunk.line_starts[np.asarray(first, int)], chunk.line_ends[np.asarray(last, int)]


def _framing(chunk: Chunk, split: Split, starts: Extents, ends: Extents) -> dict[str, int]:
    if split is _lines:
        starts, ends = chunk.line_starts, chunk.line_ends
    left = chunk.size - int((ends - starts).sum())
    return {"blank lines" if split is _blocks else "line ends": left} if left else {}


def _undecodable(data: bytes) -> Iterator[int]:
    """Positions of the bytes that surrogateescape escapes, in order."""
    text = data.decode("utf-8", "surrogateescape")
    byte = character = 0
    for match in _ESCAPED.finditer(text):
        byte += len(text[character : match.start()].encode())
        yield byte
        byte, character = byte + 1, match.end()


def _decoded(data: bytes, errors: str) -> str:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
    return data.decode("utf-8", errors)


def _reader(split: Split, boundary: Boundary | None) -> Reader:
    def read(source: Source) -> Iterator[Records]:
        for chunk in source.chunks(boundary):
            yield _read(chunk, split)

    return Reader(read, boundary)


LINES = _reader(_lines, LINE)
BLOCKS = _reader(_blocks, BLOCK)
FILES = _reader(_file, None)
