"""``NAME.words`` and ``NAME.sentences``: one bit for each token, beside ``NAME.bin``.

==================  ==============================================
bytes               content
==================  ==============================================
8                   magic ``JIMUBITS``
8                   version, uint64: 1
8                   number of bits N, uint64: the tokens in ``.bin``
ceil(N / 8)         bit t of them: byte t // 8, bit t % 8 from the low
==================  ==============================================

Little-endian throughout; the bits after the last token are 0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import DataError

if TYPE_CHECKING:
    from .writer import Sink

__all__ = ["BitColumn", "BitPacker", "write_bits"]

MAGIC = b"JIMUBITS"
VERSION = 1
HEADER = struct.Struct("<8sQQ")


class BitColumn:
    """A read-only, memory-mapped ``NAME.words`` or ``NAME.sentences``.

    ``column[i:j]`` is bool[j - i], and costs what these bits cost; opening costs the same for any
    size. ``packed`` is the uint8 array in the file. Raises DataError when the file is missing, cut,
    or says what cannot be.
    """

    def __init__(self, path: Path) -> None:
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                head = file.read(HEADER.size)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from error
        if len(head) < HEADER.size or not head.startswith(MAGIC):
            raise DataError(f"{path} holds no bits of tokens: it does not start with {MAGIC!r}.")
        _, version, self._count = HEADER.unpack(head)
        if version != VERSION:
            raise DataError(f"{path} has version {version}; this reader knows {VERSION}.")
        expected = HEADER.size + (self._count + 7) // 8
        if size != expected:
            raise DataError(
                f"{path} has {size:,} bytes, but its header promises {self._count:,} bits, which "
                f"take {expected:,}: it is cut or damaged."
            )
        self.packed: npt.NDArray[np.uint8] = (
            np.memmap(path, np.uint8, "r", HEADER.size) if self._count else np.zeros(0, np.uint8)
        )

    def __len__(self) -> int:
        return int(self._count)

    def __getitem__(self, part: slice) -> npt.NDArray[np.bool_]:
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise IndexError("bits are read in a row: no step is possible")
        stop = max(start, stop)
        first = start // 8
        bits = np.unpackbits(self.packed[first : (stop + 7) // 8], bitorder="little")
        return bits[start - 8 * first : stop - 8 * first].view(np.bool_)

    def at(self, tokens: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """The bits of these tokens, in the shape that they are given in."""
        shifted = self.packed[tokens >> 3] >> (tokens & 7).astype(np.uint8)
        found: npt.NDArray[np.bool_] = (shifted & 1).astype(np.bool_)
        return found


class BitPacker:
    """Bits that come in portions of any length, into whole bytes."""

    def __init__(self) -> None:
        self._rest = np.zeros(0, np.bool_)

    def add(self, bits: npt.NDArray[np.bool_]) -> bytes:
        """The bytes that are full now."""
        bits = np.concatenate([self._rest, bits])
        whole = len(bits) // 8 * 8
        self._rest = bits[whole:]
        return np.packbits(bits[:whole], bitorder="little").tobytes()

    def end(self) -> bytes:
        """The last byte, if one is begun."""
        return np.packbits(self._rest, bitorder="little").tobytes()


def write_bits(file: Sink, parts: Iterable[tuple[Iterable[bytes], int]], count: int) -> int:
    """Write a column of ``count`` bits out of parts, each packed bytes and how many bits they hold.

    Gives the number of bits that are set.
    """
    file.write(HEADER.pack(MAGIC, VERSION, count))
    packer, ones = BitPacker(), 0
    for blocks, left in parts:
        for block in blocks:
            unpacked = np.unpackbits(np.frombuffer(block, np.uint8), bitorder="little")
            bits = unpacked[:left].view(np.bool_)
            left -= len(bits)
            ones += int(np.count_nonzero(bits))
            file.write(packer.add(bits))
    file.write(packer.end())
    return ones
