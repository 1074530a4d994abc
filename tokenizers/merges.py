"""``vocab.json`` and ``merges.txt``, as GPT-2 was published, to a ``tokenizer.json``."""

from __future__ import annotations

import json
import re

import msgspec

from dataprep.errors import DataError
from dataprep.tokenizers.clip import WORD_END, json_of_clip
from dataprep.tokenizers.spelling import byte_alphabet
from vocab.damage import name_damage

__all__ = ["MERGES_FILE", "VOCAB_FILE", "json_from_merges"]

VOCAB_FILE, MERGES_FILE = "vocab.json", "merges.txt"

_SPECIAL = re.compile(r"<.*>|\[.*\]|madeupword\d+")  # the last three fill up RoBERTa's vocabulary


def json_from_merges(vocab: bytes, merges: bytes, where: str) -> bytes:
    """The bytes of a ``tokenizer.json`` that gives the ids of GPT-2's own code.

    Entries that are no single byte and that no merge makes can only be special tokens, and become
    such: ``<|endoftext|>`` in GPT-2's vocabulary, ``<s>`` to ``<mask>`` in RoBERTa's. A vocabulary
    in which each byte may end a word is CLIP's, and split and lower-cased as such. Raises
    DataError, with ``where`` as the place, when a file is not what its name says or the two do not
    belong together.
    """
    ids = _vocab(vocab, f"{where}/{VOCAB_FILE}")
    pairs = _merges(merges, f"{where}/{MERGES_FILE}")
    ends = {character + WORD_END for character in byte_alphabet()}
    made = {left + right for left, right in pairs} | ends
    specials = [token for token in ids if len(token) > 1 and token not in made]
    for token in specials:
        if not _SPECIAL.fullmatch(token):
            raise DataError(
                f"{where}: no merge makes {token!r} of {VOCAB_FILE}, so {MERGES_FILE} is cut short "
                "or belongs to another vocabulary.",
                hint="Download or copy both again.",
            )
    specials.sort(key=ids.__getitem__)
    if ends <= set(ids):
        return json_of_clip(ids, pairs, specials)
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": ids[token], "content": token, **flags, "special": True} for token in specials
        ],
        "normalizer": None,
        "pre_tokenizer": {**byte_level, "use_regex": True},
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": ids,
            "merges": pairs,
        },
    }
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode()


def _vocab(data: bytes, where: str) -> dict[str, int]:
    _refuse_damage(data, where)
    try:
        return msgspec.json.decode(data, type=dict[str, int])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{where} is not JSON from tokens to ids: {error}.") from error


def _merges(data: bytes, where: str) -> list[list[str]]:
    _refuse_damage(data, where)
    if b"\r\n" in data:
        raise DataError(
            f"{where} has CRLF line ends, which would become part of the merges.",
            hint="Fetch it again; in a Git checkout on Windows, set core.autocrlf to input first.",
        )
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is not UTF-8: {error}.") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line or (number == 1 and line.startswith("#version")):
            continue
        pair = line.split(" ")
        if len(pair) != 2:
            raise DataError(f"{where}, line {number}: {line[:40]!r} is not two tokens and a space.")
        pairs.append(pair)
    return pairs


def _refuse_damage(data: bytes, where: str) -> None:
    damage = name_damage(data)
    if damage is not None:
        raise DataError(f"{where} is {damage.what}.", hint=damage.hint)
