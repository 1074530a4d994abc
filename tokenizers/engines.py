"""The engines by name, and which of them suit which tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

from dataprep.tokenizers.engine import Engine
from dataprep.tokenizers.fast_bpe import FastokensEngine
from dataprep.tokenizers.reference import ReferenceEngine
from dataprep.tokenizers.shapes import BERT, BYTES, CHARACTERS
from dataprep.tokenizers.units import BytesEngine, CharactersEngine
from dataprep.tokenizers.wordpiece import WordPieceEngine

__all__ = ["ENGINES", "ENGINES_OF_MODEL", "REFERENCE", "label"]

REFERENCE = "tokenizers"
ENGINES: dict[str, Callable[[str], Engine]] = {
    "fastokens": FastokensEngine,
    "jimu-wordpiece": WordPieceEngine,
    "jimu-bytes": BytesEngine,
    "jimu-characters": CharactersEngine,
    REFERENCE: ReferenceEngine,
}
"""Our own, and those of others by the name of the package on PyPI."""

ENGINES_OF_MODEL: dict[str, tuple[str, ...]] = {
    "BPE": ("fastokens",),
    BERT: ("jimu-wordpiece",),
    BYTES: ("jimu-bytes",),
    CHARACTERS: ("jimu-characters",),
}
"""Engines to try before the reference, best first, by what ``shape_of`` says."""

_OURS = dict.fromkeys(
    ("jimu-wordpiece", "jimu-bytes", "jimu-characters", "jimu-sentencepiece"), "1"
)
"""Versions of our own: counted up with any change that could change an id."""


def label(engine: str) -> str:
    """``fastokens 0.3.5``: what the manifest says of the engine that ran."""
    return f"{engine} {_OURS.get(engine) or version(engine)}"
