"""What BERT's normalizer and pre-tokenizer do to each code point, asked of the reference itself.

Rules written down from memory, or taken from Python's Unicode tables, differ from the reference by
hundreds of code points: its tables are of another Unicode version.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

__all__ = ["Symbol", "probe"]

PreTokenize: TypeAlias = Callable[[str], list[tuple[str, tuple[int, int]]]]

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
    pre_tokenize: PreTokenize = tokenizer.pre_tokenizer.pre_tokenize_str
    table: dict[int, list[Symbol]] = {}
    characters: list[str] = []
    for block in _blocks():
        text = normalize(block)
        if not text:
            table.update((ord(c), []) for c in block)
        elif text != block or len(pre_tokenize(block)) != 1:
            characters += block
        # Otherwise all of the block stand for themselves, as most blocks of unassigned ones do.
    normal = _each(normalize, characters)
    symbols = _symbols(pre_tokenize, set("".join(normal)))
    for character, text in zip(characters, normal, strict=True):
        found = [symbols[c] for c in text]
        if found != [Symbol(character, space=False, alone=False)]:
            table[ord(character)] = found
    return table, _moving(normalize)


def _blocks() -> Iterator[str]:
    for first in range(0, CODE_POINTS, 256):
        if first not in _SURROGATES:
            yield "".join(chr(c) for c in range(first, first + 256) if chr(c) != _MARK)


def _moving(normalize: Callable[[str], str]) -> set[int]:
    """Code points that are left and that canonical ordering moves past another that is left.

    Combining classes never change once assigned, so Python's tables can rule characters out, but
    for those that they do not know yet.
    """
    characters = [
        c
        for c in map(chr, itertools.chain(range(0xD800), range(0xE000, 0x20000)))
        if unicodedata.combining(c) or unicodedata.category(c) == "Cn"
    ]
    high, low = normalize(_HIGH), normalize(_LOW)
    alone = _each(normalize, characters)
    between = _each(normalize, [_HIGH + c + _LOW for c in characters])
    return {
        ord(c)
        for c, text, found in zip(characters, alone, between, strict=True)
        if text and found != high + text + low
    }


def _each(normalize: Callable[[str], str], texts: list[str]) -> list[str]:
    """Each text normalized, in a few long calls: one call for each would take seconds."""
    results: list[str] = []
    for start in range(0, len(texts), 50_000):
        chunk = texts[start : start + 50_000]
        results += normalize(_MARK.join(chunk)).split(_MARK)
    if len(results) != len(texts):
        raise ValueError("the normalizer does not treat characters one by one")
    return results


def _symbols(pre_tokenize: PreTokenize, characters: Iterable[str]) -> dict[str, Symbol]:
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
