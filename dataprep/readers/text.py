"""Plain text and Markdown: one document a line, a block between blank lines, or a file.

Lines end at ``\\n``; a ``\\r`` before it is no part of the line. Everything else, U+2028 and a lone
``\\r`` included, is content. Text must be strict UTF-8: a document with other bytes fails alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, islice, repeat

import numpy as np

from ..batch import Batch
from .base import Chunk, Failure, Reader, Records
from .source import BLOCK, LINE, Boundary, Source

__all__ = ["BLOCKS", "FILES", "LINES"]

Split = Callable[[str], tuple[list[str], Sequence[int]]]
"""Text to documents and the line, from 0, on which each starts."""

_BLANK_LINE = re.compile(r"\n[^\S\n]+(?=\n|\Z)")
_ESCAPED = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of bytes that are not UTF-8


def _lines(text: str) -> tuple[list[str], Sequence[int]]:
    texts = text.split("\n")
    if not texts[-1]:
        texts.pop()  # what follows the last line end
    return texts, range(len(texts))


def _blocks(text: str) -> tuple[list[str], Sequence[int]]:
    # With a line end in front, a blank line at the very start looks like any other.
    parts = _BLANK_LINE.sub("\n", f"\n{text}").split("\n\n")
    texts = list(map(str.strip, parts, repeat("\n")))
    inner = np.fromiter(map(str.count, parts, repeat("\n")), np.int64, len(parts))
    leading = np.fromiter(map(str.startswith, parts, repeat("\n")), np.int64, len(parts))
    lines = np.cumsum(inner + 2) - (inner + 2) + leading - 1
    kept = np.fromiter(map(bool, texts), bool, len(texts))
    return list(compress(texts, kept)), lines[kept].tolist()


def _file(text: str) -> tuple[list[str], Sequence[int]]:
    return [text], range(1)


def _read(chunk: Chunk, split: Split) -> Records:
    try:
        texts, lines = split(_decoded(chunk.data, "strict"))
    except UnicodeDecodeError:
        return _read_damaged(chunk, split)
    return Records(Batch.from_texts(texts), lines, (), chunk)


def _read_damaged(chunk: Chunk, split: Split) -> Records:
    """Sort the documents of a chunk with bytes that are not UTF-8 into good and bad."""
    texts, lines = split(_decoded(chunk.data, "surrogateescape"))
    wrong_bytes = _undecodable(chunk.data)
    good, good_lines, failures = [], [], []
    for text, line in zip(texts, lines, strict=True):
        escaped = len(_ESCAPED.findall(text))
        if not escaped:
            good.append(text)
            good_lines.append(line)
            continue
        at, *_ = islice(wrong_bytes, escaped)
        failures.append(
            Failure(
                chunk.line + int(np.searchsorted(chunk.line_starts, at, "right")),
                chunk.byte + at,
                f"byte 0x{chunk.data[at]:02X} is not UTF-8",
                text.encode("utf-8", "surrogateescape"),
            )
        )
    return Records(Batch.from_texts(good), good_lines, failures, chunk)


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
