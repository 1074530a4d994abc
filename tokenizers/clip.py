"""CLIP's lower-cased BPE: its file of merges to a ``tokenizer.json``, and its context of 77."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError, UsageError
from dataprep.tokenizers.spelling import byte_alphabet

__all__ = ["CLIP_FILE", "WORD_END", "clip_context", "json_from_clip", "json_of_clip"]

CLIP_FILE = "bpe_simple_vocab_16e6.txt.gz"
START, END = "<|startoftext|>", "<|endoftext|>"
WORD_END = "</w>"

_USED = 49152 - 256 - 2
"""The file has more merges than the model was trained with: the vocabulary has 49,408 entries."""

WORDS = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)


def json_from_clip(data: bytes, where: str) -> bytes:
    """The bytes of a ``tokenizer.json`` that gives CLIP's ids.

    ``data`` is the gzip file that OpenAI published. Ids: the 256 bytes, the bytes that end a word,
    the merges, start and end of text. Raises DataError, with ``where`` as the place, when it is
    another file or cut short.
    """
    try:
        lines = gzip.decompress(data).decode().split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(
            f"{where} is not CLIP's file of merges: {error}.", hint="Download it again."
        ) from error
    pairs = [line.split(" ") for line in lines[1 : 1 + _USED]]
    if len(pairs) < _USED or any(len(pair) != 2 for pair in pairs):
        raise DataError(
            f"{where} is not CLIP's file of merges: it should have {_USED:,} lines of two tokens "
            "after the first.",
            hint="Download it again.",
        )
    # In the order of their characters, as CLIP's own code has them: first those that print.
    alphabet = sorted(byte_alphabet())
    tokens = [*alphabet, *(c + WORD_END for c in alphabet), *map("".join, pairs), START, END]
    return json_of_clip({token: i for i, token in enumerate(tokens)}, pairs, [START, END])


def json_of_clip(ids: dict[str, int], pairs: list[list[str]], specials: list[str]) -> bytes:
    """The same from tokens with their ids, the merges, and the special tokens among the former."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": ids[token], "content": token, **flags, "special": True} for token in specials
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                {"type": "Lowercase"},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {
                    "type": "Split",
                    "pattern": {"Regex": WORDS},
                    "behavior": "Removed",
                    "invert": True,
                },
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
            ],
        },
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
                {"type": "Replace", "pattern": {"String": WORD_END}, "content": " "},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": END,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": WORD_END,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": ids,
            "merges": pairs,
        },
    }
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode()


def clip_context(
    ids: npt.NDArray[np.integer[Any]],
    offsets: npt.NDArray[np.int64],
    *,
    start: int,
    end: int,
    pad: int,
    length: int = 77,
) -> npt.NDArray[np.int64]:
    """int64[n_docs, length]: ``start``, the ids of a text, ``end``, then ``pad``.

    ``ids`` and ``offsets`` are as ``encode_batch`` gives them. A text that is too long is cut; its
    ``end`` stays, for that is where CLIP reads its features. OpenAI's code pads with 0, Hugging
    Face's with ``end``.
    """
    if length < 2:
        raise UsageError(f"A context of {length} has no room for a start and an end.")
    kept = np.minimum(np.diff(offsets), length - 2)[:, None]
    column = np.arange(length)[None, :]
    context = np.full((len(kept), length), pad, np.int64)
    context[:, 0] = start
    inside = (column > 0) & (column <= kept)
    context[inside] = ids[(offsets[:-1, None] + column - 1)[inside]]
    context[column == kept + 1] = end
    return context
