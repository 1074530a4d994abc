"""The ``tokenizer.json`` that gives the ids of a SentencePiece BPE, for the fast engine."""

from __future__ import annotations

import json
from collections import defaultdict

from dataprep.tokenizers.all_merges import merges_of
from dataprep.tokenizers.sp_model import Piece, PieceType, SentencePieceModel

__all__ = ["json_of_bpe", "tied_runs", "unfit"]


def unfit(model: SentencePieceModel) -> str | None:
    """Why sentencepiece itself has to encode with this model; None when the fast engine can.

    The conversion knows only models that keep the text as it is and can write every character.
    Pieces of equal score are joined in the order of their places, whichever they are, which merges
    with ranks cannot say; runs of one character are let through, and checked at load.
    """
    types = {piece.type for piece in model.pieces}
    if not model.is_bpe:
        return "it is a unigram model"
    if not model.byte_fallback or sum(p.type is PieceType.BYTE for p in model.pieces) != 256:
        return "it has no byte fallback"
    if not model.keeps_text:
        return "it normalises the text"
    if types & {PieceType.USER_DEFINED, PieceType.UNUSED}:
        return "it has user-defined or unused pieces"
    tied = [group for group in _by_score(model).values() if len(group) > 1]
    if any(len({*"".join(p.text for p in group)}) > 1 for group in tied):
        return "several of its pieces have the same score"
    return None


def tied_runs(model: SentencePieceModel) -> list[str]:
    """Runs of the characters whose runs have equal scores, of each length that may matter."""
    tied = [group for group in _by_score(model).values() if len(group) > 1]
    longest = {group[0].text[0]: max(len(p.text) for p in group) for group in tied}
    return [
        (" " if character == "▁" else character) * length
        for character, size in longest.items()
        for length in range(1, 4 * size + 2)
    ]


def json_of_bpe(model: SentencePieceModel) -> str:
    """The text of the ``tokenizer.json``, which has no added tokens: literal ones are text.

    Control pieces get names with a space in them, which no text has once its spaces are ``▁``:
    fastokens looks up a whole word before it merges, and would find ``</s>`` in the text.
    """
    spaces: dict[str, object] = {
        "type": "Replace",
        "pattern": {"String": " "},
        "content": "▁",
    }
    prefix = {"type": "Prepend", "prepend": "▁"}
    normalizers = [prefix, spaces] if model.adds_dummy_prefix else [spaces]
    joined = sorted(_joined(model), key=lambda piece: -piece.score)
    letters = [p.text for p in model.pieces if p.type is PieceType.NORMAL and len(p.text) == 1]
    plain = (PieceType.NORMAL, PieceType.BYTE)
    kinds = list(enumerate(model.pieces))
    names = [piece.text if piece.type in plain else f" {i}" for i, piece in kinds]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {"type": "Sequence", "normalizers": normalizers},
            "pre_tokenizer": None,
            "post_processor": None,
            "decoder": {"type": "ByteFallback"},
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": next(names[i] for i, p in kinds if p.type is PieceType.UNKNOWN),
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": True,
                "byte_fallback": True,
                "ignore_merges": False,
                "vocab": {name: i for i, name in enumerate(names)},
                "merges": merges_of([*letters, *(piece.text for piece in joined)]),
            },
        },
        ensure_ascii=False,
    )


def _joined(model: SentencePieceModel) -> list[Piece]:
    return [p for p in model.pieces if p.type is PieceType.NORMAL and len(p.text) > 1]


def _by_score(model: SentencePieceModel) -> dict[float, list[Piece]]:
    groups: dict[float, list[Piece]] = defaultdict(list)
    for piece in _joined(model):
        groups[piece.score].append(piece)
    return groups
