"""Words and sentences of Chinese, English and other text, on batches and by byte."""

from __future__ import annotations

from .protocol import Bits, Segmenter, SegmenterOptions
from .registry import load_segmenter
from .sentences import sentence_starts
from .words import word_starts

__all__ = [
    "Bits",
    "Segmenter",
    "SegmenterOptions",
    "load_segmenter",
    "sentence_starts",
    "word_starts",
]
