"""Which SentencePiece models the compiled loops do."""

from __future__ import annotations

from dataprep.tokenizers.sp_model import PieceType, SentencePieceModel

__all__ = ["unfit"]


def unfit(model: SentencePieceModel) -> str | None:
    """Why sentencepiece itself has to encode with this model; None when the loops here can."""
    if model.kind not in ("bpe", "unigram"):
        return f"it is a model of the kind {model.kind}"
    if sum(piece.type is PieceType.BYTE for piece in model.pieces) != 256 * model.byte_fallback:
        return "its byte pieces are not as its settings say"
    texts = [piece.text for piece in model.pieces]
    if len(set(texts)) != len(texts):
        return "two of its pieces are written alike"
    if model.kind == "bpe":
        if any(piece.type is PieceType.UNUSED for piece in model.pieces):
            return "some of its pieces are marked unused"
        others = (PieceType.CONTROL, PieceType.UNKNOWN)
        if any(len(piece.text) == 1 for piece in model.pieces if piece.type in others):
            return "one of its special pieces is a single character"
    return None
