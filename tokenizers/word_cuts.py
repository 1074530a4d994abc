"""Ends of Chinese words written into training text, so that no token comes to span two of them."""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import Any

from vocab.cache import cache_folder

__all__ = ["WORD_END", "cut_words", "is_han"]

WORD_END = "\ufdd0"
"""No character, and never one: Unicode keeps it for uses such as this."""

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]{2,}")


def cut_words(texts: list[str]) -> list[str]:
    """The texts with WORD_END after every word in a run of Han characters.

    jieba says where words end, without its hidden Markov model: words that are not in its
    dictionary come out as single characters, which then form no token.
    """
    segmenter = _segmenter()
    return [
        _HAN.sub(lambda run: WORD_END.join(segmenter.cut(run[0], HMM=False)) + WORD_END, text)
        for text in (text.replace(WORD_END, "") for text in texts)
    ]


def is_han(character: str) -> bool:
    """Whether this is a Chinese character."""
    return _HAN.fullmatch(character * 2) is not None


@cache
def _segmenter() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own old idioms, at import
        import jieba  # type: ignore[import-untyped]

    jieba.setLogLevel("WARNING")
    segmenter = jieba.Tokenizer()
    # By default it trusts a file in the world-writable /tmp.
    folder = cache_folder() / "jieba"
    folder.mkdir(parents=True, exist_ok=True)
    segmenter.tmp_dir = str(folder)
    return segmenter
