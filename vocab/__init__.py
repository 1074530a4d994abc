"""Public vocabularies: where they are, what they weigh, and that what arrived is what was meant.

None is committed here or shipped. ``fetch`` brings one into the user's cache and gives its folder;
nothing in that folder is used before its sha256 has been checked.
"""

from __future__ import annotations

from .manifest import File, Vocabulary, is_known, known, names
from .store import DamagedVocabularyError, add, fetch, verify, where

__all__ = [
    "DamagedVocabularyError",
    "File",
    "Vocabulary",
    "add",
    "fetch",
    "is_known",
    "known",
    "names",
    "verify",
    "where",
]
