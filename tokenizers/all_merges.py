"""From a list of pieces to the merges of a ``tokenizer.json``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["merges_of"]


def merges_of(pieces: Sequence[str]) -> list[list[str]]:
    """The merges of a vocabulary that merges whatever gives a piece, ``pieces`` in their order.

    SentencePiece and tiktoken join, among neighbours whose join is a piece, those that give the
    first piece; so every way to cut a piece into two others is a merge of that piece's rank. Two
    ways at two places rank alike there, and the left one goes first, where here one way comes
    before the other: the two differ only if ``xy`` and ``yz`` are the same piece and both ways
    stand open at once. No text has been found where they do; each vocabulary is checked at load.
    """
    rank = {piece: number for number, piece in enumerate(pieces)}
    merges = []
    for piece in pieces:
        ways = [
            (rank[piece[:cut]], rank[piece[cut:]], cut)
            for cut in range(1, len(piece))
            if piece[:cut] in rank and piece[cut:] in rank
        ]
        merges += [[piece[:cut], piece[cut:]] for _, _, cut in sorted(ways)]
    return merges
