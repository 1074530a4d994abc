"""Reading SentencePiece ``.model`` files: the protocol buffer, and the few facts we need.

Read here rather than with the ``protobuf`` package, whose versions other packages quarrel over: the
format is five wire types, and of the schema we need the pieces and a dozen settings.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from dataprep.errors import DataError
from vocab.damage import name_damage

__all__ = ["Piece", "PieceType", "SentencePieceModel", "looks_like_model", "parse_model"]


class PieceType(IntEnum):
    """What a piece is to the encoder."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True)
class Piece:
    """An entry of the vocabulary; its id is its place."""

    text: str
    score: float
    type: PieceType


@dataclass(frozen=True)
class SentencePieceModel:
    """The facts of a model; ``roles`` are the ids that it gives to unk, bos, eos and pad."""

    pieces: tuple[Piece, ...]
    kind: str
    """unigram, bpe, word or char."""
    byte_fallback: bool
    roles: dict[str, int]
    charsmap: bytes
    """Rules of normalisation: the size of a double-array trie in 4 bytes, the trie, what they
    give."""
    adds_dummy_prefix: bool
    strips_spaces: bool
    escapes_spaces: bool
    """Whether a space becomes ``▁``."""
    space_is_suffix: bool


_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_MODEL_TYPE, _SUFFIX, _BYTE_FALLBACK = 3, 24, 35
_KINDS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
_ROLES = {"unk": (40, 0), "bos": (41, 1), "eos": (42, 2), "pad": (43, -1)}
_CHARSMAP, _DUMMY_PREFIX, _STRIPS_SPACES, _ESCAPES_SPACES = 2, 3, 4, 5

_Value = int | bytes


def parse_model(data: bytes, where: str) -> SentencePieceModel:
    """Check that ``data`` is a SentencePiece model and take its facts.

    ``where`` names the file in messages. Raises DataError for everything else, saying what it is.
    """
    damage = name_damage(data)
    # A model starts with a line feed, the tag of its first piece; so may a page.
    if damage is not None:
        raise DataError(f"{where} is {damage.what}.", hint=damage.hint)
    try:
        parts = list(_fields(data))
        pieces = tuple(_piece(value) for tag, value in parts if tag == _PIECES)
        settings = {tag: dict(_fields(value)) for tag, value in parts if tag != _PIECES}
        return _model(pieces, settings)
    except (IndexError, ValueError, KeyError, TypeError, struct.error) as error:
        raise DataError(
            f"{where} is not a SentencePiece model, or is cut short ({len(data):,} bytes).",
            hint="Download or copy it again.",
        ) from error


def looks_like_model(data: bytes) -> bool:
    """Whether a file starts as a model does: with a piece, whose first field is its text."""
    return len(data) > 3 and data[0] == data[2] == 0x0A and data[1] > data[3] > 0


def _model(pieces: tuple[Piece, ...], settings: dict[int, dict[int, _Value]]) -> SentencePieceModel:
    trainer, normalizer = settings[_TRAINER], settings[_NORMALIZER]
    found = {role: _signed(trainer.get(tag, default)) for role, (tag, default) in _ROLES.items()}
    reserved = (PieceType.CONTROL, PieceType.UNKNOWN)
    charsmap = normalizer.get(_CHARSMAP, b"")
    if not isinstance(charsmap, bytes):
        raise TypeError("fields of other types")
    return SentencePieceModel(
        pieces=pieces,
        kind=_KINDS[_signed(trainer.get(_MODEL_TYPE, 1))],
        byte_fallback=bool(trainer.get(_BYTE_FALLBACK, 0)),
        # Defaults name ids that the vocabulary may use for something else.
        roles={
            role: i
            for role, i in found.items()
            if 0 <= i < len(pieces) and pieces[i].type in reserved
        },
        charsmap=charsmap,
        adds_dummy_prefix=bool(normalizer.get(_DUMMY_PREFIX, 1)),
        strips_spaces=bool(normalizer.get(_STRIPS_SPACES, 1)),
        escapes_spaces=bool(normalizer.get(_ESCAPES_SPACES, 1)),
        space_is_suffix=bool(trainer.get(_SUFFIX, 0)),
    )


def _piece(value: _Value) -> Piece:
    fields = dict(_fields(value))
    text, score, kind = fields[1], fields.get(2, b"\0\0\0\0"), fields.get(3, 1)
    if not (isinstance(text, bytes) and isinstance(score, bytes) and isinstance(kind, int)):
        raise TypeError("fields of other types")
    return Piece(text.decode(), struct.unpack("<f", score)[0], PieceType(kind))


def _fields(data: _Value) -> Iterator[tuple[int, _Value]]:
    """Number and value of each field of a message."""
    if not isinstance(data, bytes):
        raise TypeError("not a message")
    i = 0
    while i < len(data):
        key, i = _varint(data, i)
        wire = key & 7
        value: _Value
        if wire == 0:
            value, i = _varint(data, i)
        else:
            if wire == 2:
                size, i = _varint(data, i)
            else:
                size = {1: 8, 5: 4}[wire]
            value = data[i : i + size]
            if len(value) != size:
                raise ValueError("cut short")
            i += size
        yield key >> 3, value


def _varint(data: bytes, i: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[i]
        i += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, i


def _signed(value: _Value) -> int:
    if not isinstance(value, int):
        raise TypeError("not a number")
    return value - (1 << 64) if value >> 63 else value
