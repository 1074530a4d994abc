"""JSON Lines: one object a line, the document under one of its keys.

A line is parsed alone, so that one record is one line: parsers of whole buffers take two objects
on one line, or one object over two lines, for good. What stands beside the text key must be JSON;
whether its strings are UTF-8 is not looked at. Lines of blanks are no records.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import msgspec

from ..batch import Batch
from .base import Chunk, Failure, Reader, Records
from .source import LINE, Source

__all__ = ["JSON_LINES"]

_BLANKS = b" \t\r"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_TEXT = attrgetter("text")


def _read(source: Source) -> Iterator[Records]:
    # Only the text is materialised; everything else is skipped by the parser.
    record = msgspec.defstruct(
        "record", [("text", str)], rename={"text": source.text_key}, gc=False
    )
    parse = msgspec.json.Decoder(record).decode
    for chunk in source.chunks(LINE):
        yield _read_chunk(chunk, parse, source.text_key)


def _read_chunk(chunk: Chunk, parse: Callable[[bytes], Any], key: str) -> Records:
    lines = chunk.data.split(b"\n")
    if not lines[-1]:
        lines.pop()  # what follows the last line end
    records: list[Any] = []
    good: list[range] = []  # line numbers, in runs without a bad line
    failures: list[Failure] = []
    rest, line, blank = iter(lines), 0, 0
    while line < len(lines):
        before = len(records)
        try:
            records.extend(map(parse, rest))  # keeps what it has when a line raises
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            bad = line + len(records) - before
            if lines[bad].strip(_BLANKS):
                failures.append(_failure(chunk, bad, lines[bad], error, key))
            else:
                blank += int(chunk.line_ends[bad] - chunk.line_starts[bad])
        else:
            bad = len(lines)
        good.append(range(line, bad))
        line = bad + 1
    numbers = good[0] if len(good) == 1 else [number for run in good for number in run]
    return Records.of_lines(chunk, Batch.from_texts(map(_TEXT, records)), numbers, failures, blank)


def _failure(chunk: Chunk, line: int, data: bytes, error: Exception, key: str) -> Failure:
    byte = chunk.byte + int(chunk.line_starts[line])
    cause = str(error)
    if isinstance(error, RecursionError):
        cause = "JSON is nested too deeply"
    elif _SURROGATE.search(data) and _has_lone_surrogate(data):
        cause = "a \\u escape is half of a surrogate pair, which no UTF-8 text can hold"
    elif cause.startswith("Object missing"):
        cause = f'the object has no key "{key}"'
    elif cause == "Input data was truncated":
        cause = "JSON is cut off"
    else:
        try:
            data.decode()
        except UnicodeDecodeError as wrong:
            byte += wrong.start
            cause = f"byte 0x{data[wrong.start]:02X} is not UTF-8"
    start, end = (chunk.byte + int(bounds[line]) for bounds in (chunk.line_starts, chunk.line_ends))
    return Failure(chunk.line + line + 1, byte, cause, data, start, end)


def _has_lone_surrogate(data: bytes) -> bool:
    try:
        text = json.dumps(json.loads(data), ensure_ascii=False)
    except (ValueError, RecursionError):
        return False
    return any("\ud800" <= character <= "\udfff" for character in text)


JSON_LINES = Reader(_read, LINE)
