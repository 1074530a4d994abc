"""Chinese, English or other, by script: enough to tell how well a vocabulary suits each."""

from __future__ import annotations

import re

__all__ = ["LANGUAGES", "language_of"]

LANGUAGES = ("zh", "en", "other")

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile(r"[A-Za-z]")
_OTHER = re.compile(r"[^\W\d_A-Za-z\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def language_of(text: str) -> str:
    """The language whose letters are most of the text; a Han character counts as two letters.

    Kana, Hangul, Cyrillic and accented letters are ``other``, as is text without letters.
    """
    counts = {
        "zh": 2 * len(_HAN.findall(text)),
        "en": len(_LATIN.findall(text)),
        "other": len(_OTHER.findall(text)),
    }
    best = max(LANGUAGES, key=counts.__getitem__)
    return best if counts[best] else "other"
