"""Files to documents: a table of formats times a table of compressions."""

from __future__ import annotations

from .base import Chunk, DamagedError, Failure, Reader, Records, Unit
from .codecs import codec_of
from .source import Source
from .table import FORMATS, DocPer, Format, format_of, known_endings

__all__ = [
    "FORMATS",
    "Chunk",
    "DamagedError",
    "DocPer",
    "Failure",
    "Format",
    "Reader",
    "Records",
    "Source",
    "Unit",
    "codec_of",
    "format_of",
    "known_endings",
]
