"""jieba's dictionary and its hidden Markov model as arrays, kept in the user's cache.

Making them costs seconds; reading them back, milliseconds.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vocab.cache import cache_folder

from .double_array import double_array
from .jieba_dictionary import (
    Frequencies,
    UserDictionary,
    dictionary_sha256,
    frequencies,
    package,
)

__all__ = ["OUTSIDE", "STATES", "Tables", "tables"]

FORMAT = "1"
"""Goes into the name of the cached file: count it up with any change to what the arrays mean."""

OUTSIDE = -1
"""Symbol of a character that jieba never puts into a word with others."""

STATES = "BEMS"
"""The model's states in the order of the arrays: a character begins a word, ends one, is in the
middle of one, or is one. Of equally probable ones jieba takes the last in the alphabet."""

_BLOCK = "[\u4e00-\u9fd5a-zA-Z0-9+#&._%-]"
"""What jieba looks up in its dictionary; all other characters it makes words of their own."""

_NEVER = -3.14e100  # jieba's logarithm of 0


class Tables(NamedTuple):
    """What the kernel walks.

    symbols int16[0x10000]: OUTSIDE, 0 for a character without a table entry, or its symbol.
    links int32[m, 4] and weights float64[m, 2] are two views of the same 16 bytes: base and check
    of a double array in the first half, in the second, as ``weights[:, 1]``, the logarithm of the
    word's probability, -inf where none ends.
    forced bool[m]: words that the Markov model must not make.
    unknown float64[1]: weight of a character that is no word.
    start float64[4], trans float64[4, 4] (from, to), emit float64[n_symbols, 4]: by STATES.
    """

    symbols: npt.NDArray[np.int16]
    links: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]
    forced: npt.NDArray[np.bool_]
    unknown: npt.NDArray[np.float64]
    start: npt.NDArray[np.float64]
    trans: npt.NDArray[np.float64]
    emit: npt.NDArray[np.float64]


_STORED = tuple(name for name in Tables._fields if name != "weights")


def tables(user: UserDictionary | None) -> tuple[Tables, str]:
    """The tables of jieba's dictionary and the user's, and the hash of what they were made of."""
    key = sha256(f"{dictionary_sha256()} {user.sha256 if user else ''}".encode()).hexdigest()
    path = cache_folder() / "jieba" / f"{FORMAT}-{key}.npz"
    # Whatever is wrong with the cache, the tables can be made.
    with (
        contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile),
        path.open("rb") as file,
        np.load(file) as arrays,
    ):
        return _with_weights({name: arrays[name] for name in _STORED}), key
    made = _make(frequencies(user))
    with contextlib.suppress(OSError):
        _keep(made, path)
    return _with_weights(made), key


def _with_weights(arrays: Mapping[str, npt.NDArray[Any]]) -> Tables:
    return Tables(**arrays, weights=arrays["links"].view(np.float64))


def _keep(made: Mapping[str, npt.NDArray[Any]], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **made)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _make(dictionary: Frequencies) -> dict[str, npt.NDArray[Any]]:
    model = package().finalseg
    # A word with another character in it is never found.
    fits = re.compile(f"{_BLOCK}+").fullmatch
    words = sorted(filter(fits, dictionary.of), key=len)
    emitted = {character for state in STATES for character in model.emit_P[state]}
    counts = Counter("".join(words))
    characters = sorted({*counts, *emitted}, key=lambda c: (-counts[c], c))
    symbol_of = {character: number for number, character in enumerate(characters, 1)}
    symbols = np.full(0x10000, OUTSIDE, np.int16)
    block = re.compile(_BLOCK)
    for point in range(0x10000):
        if block.match(chr(point)):
            symbols[point] = symbol_of.get(chr(point), 0)
    emit = np.full((len(characters) + 1, len(STATES)), _NEVER)
    for column, state in enumerate(STATES):
        for character, weight in model.emit_P[state].items():
            emit[symbol_of[character], column] = weight
    trans = [[model.trans_P[a].get(b, _NEVER) for b in STATES] for a in STATES]
    return {
        "symbols": symbols,
        **_trie(words, symbol_of, dictionary),
        "unknown": np.array([math.log(1) - math.log(dictionary.total)]),
        "start": np.array([model.start_P[state] for state in STATES]),
        "trans": np.array(trans),
        "emit": emit,
    }


def _trie(
    words: list[str], symbol_of: Mapping[str, int], dictionary: Frequencies
) -> dict[str, npt.NDArray[Any]]:
    """``links`` and ``forced``. All beginnings of a word are among the words, shorter first."""
    node_of = {"": 0, **{word: number for number, word in enumerate(words, 1)}}
    parents = np.array([0, *(node_of[word[:-1]] for word in words)], np.int32)
    symbols = np.array([0, *(symbol_of[word[-1]] for word in words)], np.int32)
    places, pairs = double_array(parents, symbols, len(symbol_of) + 1)
    links = np.zeros((len(pairs), 4), np.int32)
    links[:, :2] = pairs
    weights = links.view(np.float64)
    weights[:, 1] = -math.inf
    # math.log and this order of operations, for jieba's own bits.
    of, total = dictionary.of, math.log(dictionary.total)
    weights[places, 1] = [
        -math.inf,
        *(math.log(of[word]) - total if of[word] else -math.inf for word in words),
    ]
    forced = np.zeros(len(links), np.bool_)
    forced[[places[node_of[word]] for word in dictionary.forced if word in node_of]] = True
    return {"links": links, "forced": forced}
