"""One file, or one range of a plain file, as chunks that end where a record ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .base import Chunk, DamagedError
from .codecs import codec_of, frames

__all__ = ["BLOCK", "LINE", "Boundary", "Source"]

CHUNK_BYTES = 1 << 20  # an engine is at full speed from about there
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Boundary:
    """Where records end: after every match of a pattern."""

    pattern: re.Pattern[bytes]
    common: tuple[bytes, ...]
    """Usual matches of the pattern, which can be searched for from the end of the data."""

    def last(self, data: bytes) -> int:
        """Just after the last record end in the data; 0 when there is none."""
        ends = [at + len(end) for end in self.common if (at := data.rfind(end)) >= 0]
        if not ends:
            ends = [match.end() for match in self.pattern.finditer(data)]
        return max(ends, default=0)

    def first_after(self, path: Path, position: int) -> int:
        """Where the first record that starts at or after a position of a plain file starts."""
        data = b""
        with path.open("rb") as file:
            file.seek(position - 1)
            while block := file.read(max(1 << 16, len(data))):
                data += block
                if match := self.pattern.search(data):
                    return position - 1 + match.end()
            return file.tell()


LINE = Boundary(re.compile(rb"\n"), (b"\n",))
BLOCK = Boundary(re.compile(rb"\n[ \t\r]*\n"), (b"\n\n", b"\n\r\n"))


@dataclass(frozen=True)
class Source:
    """What is to be read: a file, or bytes ``[start, end)`` of a plain one."""

    path: Path
    start: int = 0
    end: int | None = None
    text_key: str = "text"
    """Key of the text in records that have keys."""

    def chunks(self, boundary: Boundary | None) -> Iterator[Chunk]:
        """Chunks of whole records; without a boundary the whole file is one.

        The byte order mark at the start of a file is no part of any record. When the file turns
        out to be damaged, the whole records before the damage come first, then DamagedError.
        """
        carry, line, byte = b"", 0, 0
        damage: DamagedError | None = None
        blocks = self._blocks()
        while True:
            wanted = max(CHUNK_BYTES, len(carry)) if boundary else None
            parts, damage = _gather(blocks, wanted)
            data = carry + b"".join(parts)
            at_end = damage is not None or not parts
            has_bom = byte == 0 and self.start == 0 and data.startswith(_BOM)
            if has_bom:
                data, byte = data[len(_BOM) :], len(_BOM)
            if at_end and damage is None:
                end = len(data)
            else:
                end = boundary.last(data) if boundary else 0
            if end or has_bom:
                chunk = Chunk(data[:end], line, byte)
                yield chunk
                line, byte = line + chunk.data.count(b"\n"), byte + end
            carry = data[end:]
            if damage is not None:
                damage.line, damage.byte, damage.size = line + 1, byte, len(carry)
                raise damage
            if at_end:
                return

    def _blocks(self) -> Iterator[bytes]:
        try:
            codec = codec_of(self.path)
            with self.path.open("rb") as file:
                yield from frames(file, self.path, codec) if codec else self._plain(file)
        except OSError as error:
            raise DamagedError(
                f"{self.path} cannot be read: {error.strerror}.",
                "Allow reading it, or go on without it with --on-error skip.",
            ) from error

    def _plain(self, file: BinaryIO) -> Iterator[bytes]:
        position = file.seek(self.start)
        while self.end is None or position < self.end:
            left = CHUNK_BYTES if self.end is None else min(CHUNK_BYTES, self.end - position)
            block = file.read(left)
            if not block:
                return
            position += len(block)
            yield block


def _gather(blocks: Iterator[bytes], wanted: int | None) -> tuple[list[bytes], DamagedError | None]:
    """Blocks of ``wanted`` bytes together (None: all there are), and the damage met on the way."""
    parts: list[bytes] = []
    size = 0
    try:
        for block in blocks:
            parts.append(block)
            size += len(block)
            if wanted is not None and size >= wanted:
                break
    except DamagedError as damage:
        return parts, damage
    return parts, None
