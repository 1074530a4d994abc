"""Which reader reads which file. A format is a row here; a compression, one in ``codecs``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .base import Reader
from .codecs import CODECS
from .jsonl import JSON_LINES
from .text import BLOCKS, FILES, LINES

__all__ = ["FORMATS", "DocPer", "Format", "format_of", "known_endings"]

DocPer = Literal["file", "line", "block"]

_TEXT: Mapping[DocPer | None, Reader] = {"file": FILES, "line": LINES, "block": BLOCKS}
_RECORDS: Mapping[DocPer | None, Reader] = dict.fromkeys(("file", "line", "block"), JSON_LINES)


@dataclass(frozen=True)
class Format:
    """A kind of file: its endings, its readers, and the one used when none is asked for."""

    endings: tuple[str, ...]
    readers: Mapping[DocPer | None, Reader]
    """By what a document is; the same reader everywhere where records mark themselves."""
    doc_per: DocPer

    def reader(self, doc_per: DocPer | None) -> Reader:
        """The reader for a choice of --doc-per, None for the default of the format."""
        return self.readers[doc_per or self.doc_per]


FORMATS = {
    # One text a line is how corpora are usually kept, and needs no more memory than a line.
    "txt": Format((".txt", ".text"), _TEXT, "line"),
    "md": Format((".md", ".markdown"), _TEXT, "file"),
    "jsonl": Format((".jsonl", ".ndjson"), _RECORDS, "line"),
}

_FORMAT_OF_ENDING = {ending: name for name, row in FORMATS.items() for ending in row.endings}
_CODEC_ENDINGS = tuple(ending for codec in CODECS.values() for ending in codec.endings)


def format_of(path: Path) -> str | None:
    """Which row of the table a file name belongs to, None for no row.

    The ending of a compression is left out, as in ``a.jsonl.gz``.
    Whether a file is compressed is told by its first bytes, not by its name.
    """
    name = path.name.lower()
    for ending in _CODEC_ENDINGS:
        name = name.removesuffix(ending)
    return _FORMAT_OF_ENDING.get(Path(name).suffix)


def known_endings() -> str:
    """Every ending that is read, for messages."""
    return f"{', '.join(_FORMAT_OF_ENDING)}, each also with {' or '.join(_CODEC_ENDINGS)}"
