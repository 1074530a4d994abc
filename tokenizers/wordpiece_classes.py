"""What BERT's normalizer and pre-tokenizer do to each code point, asked of the reference itself.

Rules written down from memory, or taken from Python's Unicode tables, differ from the reference by
hundreds of code points: its tables are of another Unicode version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

__all__ = ["Symbol", "probe"]

CODE_POINTS = 0x110000
_SURROGATES = range(0xD800, 0xE000)
_MARK = "\u283f"
"""Put between probes: a Braille pattern, a word character that nothing else becomes."""

_HIGH, _LOW = "\U0001d16d", "\u1b44"
"""Of combining class 226 and 9, and not removed with the accents: a character that has a combining
class changes places with one of the two. Their own pair is caught too; with itself, none moves."""


class Symbol(NamedTuple):
    """A character after normalization: white space, a word of its own, or part of a word."""

    character: str
    space: bool
    alone: bool


def probe(json: str) -> tuple[dict[int, list[Symbol]], set[int]]:
    """Symbols of each code point, and the code points whose order depends on their neighbours.

    A code point that is missing stands for itself, as part of a word. ``json`` is a tokenizer.json
    with a BertNormalizer and a BertPreTokenizer.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json)
    normalize: Callable[[str], str] = tokenizer.normalizer.normalize_str
    characters = [chr(c) for c in range(CODE_POINTS) if c not in _SURROGATES and chr(c) != _MARK]
    normal = _each(normalize, characters)
    between = _each(normalize, [_HIGH + c + _LOW for c in characters])
    high, low = normalize(_HIGH), normalize(_LOW)
    moving = {
        ord(c)
        for c, alone, found in zip(characters, normal, between, strict=True)
        if alone and found != high + alone + low
    }
    symbols = _symbols(tokenizer.pre_tokenizer.pre_tokenize_str, set("".join(normal)))
    table = {}
    for character, text in zip(characters, normal, strict=True):
        found = [symbols[c] for c in text]
        if found != [Symbol(character, space=False, alone=False)]:
            table[ord(character)] = found
    return table, moving


def _each(normalize: Callable[[str], str], texts: list[str]) -> list[str]:
    """Each text normalized, in a few long calls: one call for each would take seconds."""
    results: list[str] = []
    for start in range(0, len(texts), 50_000):
        chunk = texts[start : start + 50_000]
        results += normalize(_MARK.join(chunk)).split(_MARK)
    if len(results) != len(texts):
        raise ValueError("the normalizer does not treat characters one by one")
    return results


def _symbols(
    pre_tokenize: Callable[[str], list[tuple[str, tuple[int, int]]]], characters: Iterable[str]
) -> dict[str, Symbol]:
    ordered = sorted(characters)
    text = _MARK + "".join(c + _MARK for c in ordered)
    # By the characters of the text: how long the piece is that each lies in.
    lengths = np.zeros(len(text), np.int64)
    for start in range(0, len(text) - 1, 100_000):
        for _, (first, last) in pre_tokenize(text[start : start + 100_001]):
            lengths[start + first : start + last] = last - first
    # A piece that lies alone between two marks has length 1; a part of a word takes the marks in.
    return {
        c: Symbol(c, space=length == 0, alone=length == 1)
        for c, length in zip(ordered, lengths[1::2].tolist(), strict=True)
    }
