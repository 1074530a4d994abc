"""Vocabularies of bytes and of characters, as ``tokenizer.json``: nothing is merged."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from dataprep.errors import DataError
from dataprep.tokenizers.shapes import BYTE_LEVEL, EACH_CHARACTER
from dataprep.tokenizers.spelling import byte_alphabet

__all__ = ["BYTES_NAME", "json_from_chars_file", "json_of_bytes", "json_of_characters"]

BYTES_NAME = "bytes"
END, UNKNOWN = "<|endoftext|>", "<|unknown|>"


def json_of_bytes() -> bytes:
    """Bytes are their own ids, 256 ends a document."""
    ids = {character: byte for byte, character in enumerate(byte_alphabet())}
    model = {"type": "BPE", "vocab": ids, "merges": []}
    return _json([(256, END)], BYTE_LEVEL, BYTE_LEVEL, model)


def json_of_characters(characters: Iterable[str]) -> bytes:
    """0 ends a document, 1 is any other character, then the given ones, each once, in order."""
    ids = {END: 0, UNKNOWN: 1}
    for character in characters:
        ids.setdefault(character, len(ids))
    model = {"type": "WordLevel", "vocab": ids, "unk_token": UNKNOWN}
    return _json([(0, END), (1, UNKNOWN)], EACH_CHARACTER, {"type": "Fuse"}, model)


def json_from_chars_file(data: bytes, where: str) -> bytes:
    r"""``NAME.chars``: UTF-8 text whose characters, ``\n`` among them, are the vocabulary.

    Raises DataError, with ``where`` as the place, for what is not UTF-8.
    """
    try:
        return json_of_characters(data.decode())
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is not UTF-8: {error}.") from error


def _json(
    specials: list[tuple[int, str]],
    pre_tokenizer: dict[str, Any],
    decoder: dict[str, Any],
    model: dict[str, Any],
) -> bytes:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": i, "content": token, **flags, "special": True} for i, token in specials
        ],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode()
