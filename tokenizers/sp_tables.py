"""A SentencePiece model as the arrays that the loops of ``sp_kernel`` walk."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dataprep.tokenizers import sp_kernel
from dataprep.tokenizers.sp_model import PieceType, SentencePieceModel

__all__ = ["Cache", "Pairs", "Pieces", "Rules", "Trie", "cache", "pairs", "pieces", "rules"]
__all__ += ["trie_of_unigram"]

Array = npt.NDArray[Any]

_SLOTS = 1 << 16
_UNKNOWN_PENALTY = np.float32(10)
_MERGED = (PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED)


class Trie(NamedTuple):
    """``roots`` int32[letters]: the node of a first letter, or -1. ``nodes`` int64[slots, 2]: a
    table whose keys are node << 32 | letter; the place of a key is the node that the two lead to.
    Beside the key, what ends there, or -1.
    """

    roots: Array
    nodes: Array


class Rules(NamedTuple):
    """``units`` uint32, a double-array trie; ``texts`` uint8, texts that end with a 0; ``flags``
    int64[5]: strips spaces, has a prefix, escapes spaces, that is a suffix, has pieces of the user.
    """

    units: Array
    texts: Array
    flags: Array


class Pieces(NamedTuple):
    """``letters`` int32[0x110000]: numbers of the characters that pieces have, 0 for the others.
    ``own``: the pieces of the user. ``bytes`` int32[256]: ids of byte pieces, empty where there are
    none. ``facts`` int64[2]: the id of the unknown piece, whether there are pieces of the user.
    """

    letters: Array
    own: Trie
    bytes: Array
    facts: Array


class Pairs(NamedTuple):
    """Symbols are ids of pieces and, above them, letters that no piece is alone.

    ``alone`` int32[letters]: the symbol of a letter. ``keys`` and
    ``values``: a table from left << 32 | right to the symbol that the two become. ``ranks``
    int32[pieces]: the lower, the earlier. ``joints``: see sp_kernel.
    """

    alone: Array
    keys: Array
    values: Array
    ranks: Array
    joints: Array


class Cache(NamedTuple):
    """What stretches of text have become. ``keys`` int64[slots, 3]: the bytes and, last, how many.
    ``tokens`` int32[slots, 8]: how many, and each token << 5 | the number of its bytes.
    """

    keys: Array
    tokens: Array


def rules(model: SentencePieceModel) -> Rules:
    """How the model normalises text."""
    size = struct.unpack_from("<I", model.charsmap)[0] if model.charsmap else 0
    units = np.frombuffer(model.charsmap, np.uint8)[4 : 4 + size].copy().view("<u4")
    texts = np.frombuffer(model.charsmap + b"\0", np.uint8)[4 + size :]
    flags = (
        *(model.strips_spaces, model.adds_dummy_prefix, model.escapes_spaces),
        *(model.space_is_suffix, bool(_of(model, PieceType.USER_DEFINED))),
    )
    return Rules(units, texts, np.array(flags, np.int64))


def pieces(model: SentencePieceModel) -> Pieces:
    """What both kinds of model share."""
    characters = {c for i in _of(model, *_MERGED) for c in model.pieces[i].text}
    letters = np.zeros(0x110000, np.int32)
    points = np.array(sorted(map(ord, characters)), np.int64)
    letters[points] = np.arange(1, len(points) + 1)
    own = _of(model, PieceType.USER_DEFINED)
    (unknown,) = _of(model, PieceType.UNKNOWN)
    ids = {model.pieces[i].text: i for i in _of(model, PieceType.BYTE)}
    return Pieces(
        letters,
        _trie([model.pieces[i].text for i in own], own, letters),
        np.array([ids[f"<0x{byte:02X}>"] for byte in range(256 if ids else 0)], np.int32),
        np.array([unknown, bool(own)], np.int64),
    )


def pairs(model: SentencePieceModel, letters: Array) -> Pairs:
    """What a BPE model merges, and in which order; ``letters`` are those of its Pieces."""
    merged = _of(model, *_MERGED)
    texts = [model.pieces[i].text for i in merged]
    size, alphabet = len(model.pieces), int(letters.max()) + 1
    alone = np.arange(size, size + alphabet, dtype=np.int32)
    for i, text in zip(merged, texts, strict=True):
        if len(text) == 1:
            alone[letters[ord(text)]] = i
    flat, bounds = _flat(texts, letters)
    trie = _trie(texts, merged, letters)
    keys, values = sp_kernel.splits(flat, bounds, np.array(merged, np.int32), trie, alone)
    scores = np.array([piece.score for piece in model.pieces], np.float32)
    return Pairs(
        alone,
        *sp_kernel.filled(keys, values, _slots(len(keys))),
        np.unique(-scores, return_inverse=True)[1].astype(np.int32),
        sp_kernel.joints(flat, bounds),
    )


def trie_of_unigram(model: SentencePieceModel, letters: Array) -> tuple[Trie, Array, Array]:
    """Its pieces, their scores float32 by id, and float32[1], the score of an unknown character.

    The sums are taken as sentencepiece takes them, in float32 but for what it adds in float64.
    """
    scores = np.array([piece.score for piece in model.pieces], np.float32)
    normal = scores[_of(model, PieceType.NORMAL)]
    highest = max(np.finfo(np.float32).tiny, *normal)
    own = _of(model, PieceType.USER_DEFINED)
    for i in own:
        length = np.float32(len(model.pieces[i].text.encode()))
        scores[i] = np.float64(length * highest) - 0.1
    used = sorted([*_of(model, PieceType.NORMAL), *own])
    rare = np.array([normal.min() - _UNKNOWN_PENALTY], np.float32)
    return _trie([model.pieces[i].text for i in used], used, letters), scores, rare


def cache() -> Cache:
    """An empty one."""
    return Cache(
        np.zeros((_SLOTS, 3), np.int64), np.zeros((_SLOTS, sp_kernel.KEY_TOKENS + 1), np.int32)
    )


def _of(model: SentencePieceModel, *types: PieceType) -> list[int]:
    return [i for i, piece in enumerate(model.pieces) if piece.type in types]


def _flat(texts: Sequence[str], letters: Array) -> tuple[Array, Array]:
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.array(list(map(len, texts)), np.int64), out=bounds[1:])
    return letters[points], bounds


def _trie(texts: Sequence[str], values: Sequence[int], letters: Array) -> Trie:
    flat, bounds = _flat(texts, letters)
    alphabet = int(letters.max()) + 1
    numbers = np.array(values, np.int32)
    count = sp_kernel.grow(flat, bounds, numbers, _slots(len(flat)), alphabet)[2]
    return Trie(*sp_kernel.grow(flat, bounds, numbers, _slots(count), alphabet)[:2])


def _slots(count: int) -> int:
    """Twice as many at least, and one that stays free."""
    return 1 << (2 * count + 1).bit_length()
