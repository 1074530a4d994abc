"""Which tokenizers have been checked on this machine: an empty file for each, in the user's cache.

Loading the reference and probing with it costs 0.1 s of CPU for GPT-2's vocabulary and 0.5 s for
Qwen3's, at each start; the answer cannot change while the file and both packages stay the same.
"""

from __future__ import annotations

import contextlib
from hashlib import sha256
from pathlib import Path

from dataprep.tokenizers.probe import PROBES
from vocab.cache import cache_folder

__all__ = ["is_checked", "remember"]


def is_checked(fingerprint: str, *engines: str) -> bool:
    """Whether the engines, named with their versions, were found to agree on this tokenizer."""
    return _mark(fingerprint, engines).exists()


def remember(fingerprint: str, *engines: str) -> None:
    """They agree. Forgotten where the cache cannot be written: the next load checks again."""
    mark = _mark(fingerprint, engines)
    with contextlib.suppress(OSError):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _mark(fingerprint: str, engines: tuple[str, ...]) -> Path:
    key = "\n".join([fingerprint, *engines, *PROBES]).encode("utf-8")
    return cache_folder() / "checked" / sha256(key).hexdigest()
