"""Who is measured: the command that builds, and a reader of what it wrote."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dataprep

DATATROVE = Path(__file__).with_name("datatrove_tokenize.py")


class Jimu:
    """``dataprep build`` with its default number of workers."""

    name = "dataprep build"

    def command(self, folder: Path, tokenizer: Path, out: Path) -> list[str]:
        """What to run."""
        run = "import sys; from dataprep.cli import main; sys.exit(main())"
        arguments = ["build", str(folder), "--out", str(out / "set"), "--tokenizer", str(tokenizer)]
        return [sys.executable, "-c", run, *arguments]

    def documents(self, out: Path) -> Iterator[bytes]:
        """Ids of each document, little-endian uint32, its end of document included."""
        dataset = dataprep.open(out / "set")
        tokens = dataset.tokens.astype("<u4")
        start = 0
        for length in dataset.lengths.tolist():
            yield tokens[start : start + length].tobytes()
            start += length


@dataclass(frozen=True)
class Datatrove:
    """datatrove's DocumentTokenizer, one task, shuffle off, an end token after each document."""

    python: str
    name = "datatrove DocumentTokenizer"

    def command(self, folder: Path, tokenizer: Path, out: Path) -> list[str]:
        """What to run."""
        return [self.python, str(DATATROVE), str(folder), str(tokenizer), str(out)]

    def documents(self, out: Path) -> Iterator[bytes]:
        """Ids of each document, little-endian uint32, its end of document included."""
        (file,) = (out / "set").glob("*.ds")
        width = int((file.parent / f"{file.name}.metadata").read_text().split("\n")[0][-1])
        tokens = np.fromfile(file, f"<u{width}").astype("<u4")
        start = 0
        for end in np.fromfile(file.parent / f"{file.name}.index", "<u8").tolist():
            yield tokens[start:end].tobytes()
            start = end
