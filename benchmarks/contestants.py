"""Who is measured: the command that builds, and a reader of what it wrote."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np

import dataprep

HERE = Path(__file__).parent


class Contestant(Protocol):
    """A program that tokenizes a folder of JSON lines."""

    name: ClassVar[str]

    def command(self, folder: Path, tokenizer: Path, out: Path) -> list[str]:
        """What to run."""

    def documents(self, out: Path) -> Iterator[bytes]:
        """Ids of each document, little-endian uint32, its end of document included."""


class Jimu:
    """``dataprep build`` with its default number of workers."""

    name: ClassVar[str] = "dataprep build"

    def command(self, folder: Path, tokenizer: Path, out: Path) -> list[str]:
        """See Contestant."""
        run = "import sys; from dataprep.cli import main; sys.exit(main())"
        arguments = ["build", str(folder), "--out", str(out / "set"), "--tokenizer", str(tokenizer)]
        return [sys.executable, "-c", run, *arguments]

    def documents(self, out: Path) -> Iterator[bytes]:
        """See Contestant."""
        dataset = dataprep.open(out / "set")
        yield from _cut(dataset.tokens, np.cumsum(dataset.lengths, dtype=np.int64))

    def has_written(self, out: Path) -> bool:
        """Whether the first byte of a token has been written."""
        parts = (out / "set.partial").glob("**/*.bin*")
        with suppress(FileNotFoundError):  # renamed meanwhile
            return any(part.stat().st_size for part in parts)
        return True


@dataclass(frozen=True)
class Datatrove:
    """datatrove's DocumentTokenizer, one task, shuffle off, an end token after each document."""

    python: str
    name: ClassVar[str] = "datatrove DocumentTokenizer"

    def command(self, folder: Path, tokenizer: Path, out: Path) -> list[str]:
        """See Contestant."""
        return [
            self.python,
            str(HERE / "datatrove_tokenize.py"),
            str(folder),
            str(tokenizer),
            str(out),
        ]

    def documents(self, out: Path) -> Iterator[bytes]:
        """See Contestant."""
        (file,) = (out / "set").glob("*.ds")
        width = int((file.parent / f"{file.name}.metadata").read_text().split("\n")[0][-1])
        ends = np.fromfile(file.parent / f"{file.name}.index", "<i8")
        yield from _cut(np.fromfile(file, f"<u{width}"), ends)


@dataclass(frozen=True)
class Gigatoken:
    """A plain script on gigatoken, as Megatron's fast tool."""

    python: str
    name: ClassVar[str] = "script on gigatoken"

    def command(self, folder: Path, tokenizer: Path, out: Path) -> list[str]:
        """See Contestant."""
        script = HERE / "gigatoken_tokenize.py"
        return [self.python, str(script), str(folder), str(tokenizer), str(out)]

    def documents(self, out: Path) -> Iterator[bytes]:
        """See Contestant."""
        ends = np.cumsum(np.load(out / "lengths.npy"))
        size = (out / "set.bin").stat().st_size // int(ends[-1])
        yield from _cut(np.fromfile(out / "set.bin", f"<u{size}"), ends)


def _cut(tokens: np.ndarray, ends: np.ndarray) -> Iterator[bytes]:
    start = 0
    for end in ends.tolist():
        yield tokens[start:end].astype("<u4").tobytes()
        start = end
