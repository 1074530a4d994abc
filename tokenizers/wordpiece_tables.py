"""A BERT tokenizer as arrays that a compiled loop can walk, kept in the user's cache.

Making them costs seconds, for all 1.1 million code points are asked of the reference; reading them
back costs milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import zipfile
from collections import Counter
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from dataprep.tokenizers.wordpiece_classes import CODE_POINTS, Symbol, probe
from vocab.cache import cache_folder

__all__ = ["ALONE", "DROP", "PART", "SPACE", "Tables", "tables"]

FORMAT = "1"
"""Goes into the name of the cached file: count it up with any change to what the arrays mean."""

DROP, SPACE, ALONE, PART = range(4)
"""The low two bits of a code. Above them: the id of a word that is ALONE, the symbol of a PART of a
word, 0 for one that no token has. Codes below 0: see Tables."""

MOVES = -1

Ints = npt.NDArray[np.int32]


class Tables(NamedTuple):
    """All int32.

    codes[0x110000]: what each code point becomes. MOVES: the document has to go to the reference,
    as NFD may change the order there. Below that, ``-2 - code`` is a place in ``expansions``, where
    a count and as many codes stand.
    nodes[n, 4]: a double-array trie. The child of node ``i`` by symbol ``s`` is ``nodes[i, 0] + s``
    if ``nodes[child, 1] == i``; ``nodes[child, 2]`` is the id of the token that ends there, or -1.
    Node 0 starts words, node 1 continues them.
    limits[2]: the id of [UNK], and the number of characters from which on a word becomes it.
    """

    codes: Ints
    expansions: Ints
    nodes: Ints
    limits: Ints


class _Model(msgspec.Struct):
    vocab: dict[str, int]
    unk_token: str
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100


class _File(msgspec.Struct):
    model: _Model


def tables(json: str) -> Tables:
    """The tables of a ``tokenizer.json`` with BERT's parts, from the cache if they are there."""
    key = "\n".join([FORMAT, version("tokenizers"), json])
    path = cache_folder() / "wordpiece" / f"{sha256(key.encode()).hexdigest()}.npz"
    # Whatever is wrong with the cache, the tables can be made.
    with (
        contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile),
        path.open("rb") as file,  # numpy leaves it open when it is broken
        np.load(file) as arrays,
    ):
        return Tables(*(arrays[name] for name in Tables._fields))
    made = _make(json)
    with contextlib.suppress(OSError):
        _keep(made, path)
    return made


def _keep(made: Tables, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **made._asdict())
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _make(json: str) -> Tables:
    model = msgspec.json.decode(json, type=_File).model
    unknown = model.vocab[model.unk_token]
    becomes, moving = probe(json)
    symbol_of = _alphabet(model, becomes)
    code = _Coder(model.vocab, symbol_of, unknown)
    # What is not in the table is part of a word, and in no token unless it has a symbol.
    codes = np.full(CODE_POINTS, PART, np.int32)
    for character, number in symbol_of.items():
        codes[ord(character)] = number << 2 | PART
    for point, symbols in becomes.items():
        codes[point] = code.code(symbols, chr(point))
    codes[list(moving)] = MOVES
    return Tables(
        codes,
        np.array(code.expansions, np.int32),
        _trie(model, symbol_of),
        np.array([unknown, model.max_input_chars_per_word], np.int32),
    )


def _alphabet(model: _Model, becomes: dict[int, list[Symbol]]) -> dict[str, int]:
    """Numbers from 1 on for the characters that tokens of words have, the frequent ones first."""
    alone = {s.character for symbols in becomes.values() for s in symbols if s.alone or s.space}
    padded = {symbols[1].character for symbols in becomes.values() if _is_padded(symbols)}
    counts = Counter("".join(model.vocab))
    characters = [c for c, _ in counts.most_common() if c not in alone and c not in padded]
    return {c: number for number, c in enumerate(characters, 1)}


def _is_padded(symbols: list[Symbol]) -> bool:
    """Whether it is one character between white space, as every Chinese one becomes."""
    return [symbol.space for symbol in symbols] == [True, False, True]


class _Coder:
    def __init__(self, vocab: dict[str, int], symbol_of: dict[str, int], unknown: int) -> None:
        self._vocab, self._symbol_of, self._unknown = vocab, symbol_of, unknown
        self.expansions: list[int] = []

    def code(self, symbols: list[Symbol], character: str) -> int:
        if not symbols:
            return DROP
        if _is_padded(symbols):
            return self._alone(symbols[1])
        if len(symbols) == 1:
            return self._one(symbols[0])
        if len(symbols) > len(character.encode()):
            # The room for tokens is reckoned from the number of bytes.
            raise ValueError(f"{character!r} becomes {len(symbols)} characters")
        place = len(self.expansions)
        self.expansions += [len(symbols), *map(self._one, symbols)]
        return -2 - place

    def _one(self, symbol: Symbol) -> int:
        if symbol.space:
            return SPACE
        if symbol.alone:
            return self._alone(symbol)
        return self._symbol_of.get(symbol.character, 0) << 2 | PART

    def _alone(self, symbol: Symbol) -> int:
        return self._vocab.get(symbol.character, self._unknown) << 2 | ALONE


def _trie(model: _Model, symbol_of: dict[str, int]) -> Ints:
    """The double array of all tokens that a word can be cut into."""
    children: list[dict[int, int]] = [{}, {}]
    values = [-1, -1]

    def add(root: int, text: str, token: int) -> None:
        if not text or any(c not in symbol_of for c in text):
            return
        node = root
        for character in text:
            symbol = symbol_of[character]
            if symbol not in children[node]:
                children[node][symbol] = len(children)
                children.append({})
                values.append(-1)
            node = children[node][symbol]
        values[node] = token

    prefix = model.continuing_subword_prefix
    for token, number in model.vocab.items():
        add(0, token, number)
        if token.startswith(prefix):
            add(1, token[len(prefix) :], number)
    return _placed(children, values, len(symbol_of) + 1)


def _placed(children: list[dict[int, int]], values: list[int], symbols: int) -> Ints:
    """Nodes where no two children share a place.

    The fullest are placed first, each from where the last one went; those with one child, the most
    by far, fill the holes.
    """
    taken = np.zeros(len(children) + 2 * symbols + 2, bool)
    taken[:2] = True
    place = {0: 0, 1: 1}
    bases: dict[int, int] = {}
    base = free = 2
    for node in sorted(range(len(children)), key=lambda n: -len(children[n])):
        if not children[node]:
            break
        wanted = np.array(sorted(children[node]), np.int64)
        if len(wanted) == 1:
            while taken[free]:
                free += 1
            base = max(free - int(wanted[0]), 0)
        while taken[base + wanted].any():
            base += 1
            if base + symbols >= len(taken):
                taken = np.concatenate([taken, np.zeros(len(taken), bool)])
        taken[base + wanted] = True
        bases[node] = base
        place.update((child, base + symbol) for symbol, child in children[node].items())
    nodes = np.full((len(taken) + symbols, 4), -1, np.int32)
    for node, where in place.items():
        nodes[where, 0] = bases.get(node, 0)
        nodes[where, 2] = values[node]
    for node, base in bases.items():
        nodes[[base + symbol for symbol in children[node]], 1] = place[node]
    return nodes
