"""The engines by name, and which of them suit which tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

from dataprep.tokenizers.engine import Engine
from dataprep.tokenizers.fast_bpe import FastokensEngine
from dataprep.tokenizers.reference import ReferenceEngine

__all__ = ["ENGINES", "ENGINES_OF_MODEL", "REFERENCE", "label"]

REFERENCE = "tokenizers"
ENGINES: dict[str, Callable[[str], Engine]] = {
    "fastokens": FastokensEngine,
    REFERENCE: ReferenceEngine,
}
"""By the name of the package on PyPI, whose version stands beside it in manifests."""

ENGINES_OF_MODEL: dict[str, tuple[str, ...]] = {
    "BPE": ("fastokens",),
}
"""Engines to try before the reference, best first, by ``model.type``."""


def label(engine: str) -> str:
    """``fastokens 0.3.5``: what the manifest says of the engine that ran."""
    return f"{engine} {version(engine)}"
