"""BERT's ``vocab.txt``, a token a line, to a ``tokenizer.json``."""

from __future__ import annotations

import json
import re

import msgspec

from dataprep.errors import DataError
from vocab.damage import name_damage

__all__ = ["CONFIG_FILE", "VOCAB_TXT", "json_from_vocab_txt"]

VOCAB_TXT, CONFIG_FILE = "vocab.txt", "tokenizer_config.json"

UNKNOWN = "[UNK]"
_SPECIALS = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]")
_NOT_A_WORD = re.compile(r"\[.*\]|<.*>")


class _Config(msgspec.Struct):
    """What a ``tokenizer_config.json`` says of words; it may say other things too."""

    do_lower_case: bool | None = None
    strip_accents: bool | None = None
    tokenize_chinese_chars: bool = True


def json_from_vocab_txt(vocab: bytes, config: bytes | None, where: str) -> bytes:
    r"""The bytes of a ``tokenizer.json`` that gives BERT's ids.

    Lines end at ``\n`` only: a token may be U+2028 or have white space at its end. Of a token that
    stands there twice, the last line counts, as in BERT's own code. ``[PAD]``, ``[UNK]``,
    ``[CLS]``, ``[SEP]`` and ``[MASK]`` become special tokens.

    Whether text is lower-cased is what ``config``, the ``tokenizer_config.json`` beside the
    vocabulary, says; without it, text is lower-cased if no word of the vocabulary has a capital.
    Accents go where text is lower-cased unless ``config`` says otherwise.

    Raises DataError, with ``where`` as the place, for a file that is no such vocabulary.
    """
    tokens = _lines(vocab, where)
    ids = {token: i for i, token in enumerate(tokens)}
    if UNKNOWN not in ids:
        raise DataError(
            f"{where} is no vocabulary of BERT's kind: it has no {UNKNOWN}.",
            hint="A vocabulary of single characters is named NAME.chars.",
        )
    settings = _config(config, where)
    lower = settings.do_lower_case
    if lower is None:
        lower = not any(map(_has_capital, tokens))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": ids[token], "content": token, **flags, "special": True}
            for token in sorted(set(_SPECIALS) & set(ids), key=ids.__getitem__)
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": settings.tokenize_chinese_chars,
            "strip_accents": settings.strip_accents,
            "lowercase": lower,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": UNKNOWN,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode()


def _lines(data: bytes, where: str) -> list[str]:
    damage = name_damage(data)
    if damage is not None:
        raise DataError(f"{where} is {damage.what}.", hint=damage.hint)
    if b"\r\n" in data:
        raise DataError(
            f"{where} has CRLF line ends, which would become part of the tokens.",
            hint="Fetch it again; in a Git checkout on Windows, set core.autocrlf to input first.",
        )
    try:
        tokens = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is not UTF-8: {error}.") from error
    return tokens[:-1] if tokens[-1] == "" else tokens


def _config(data: bytes | None, where: str) -> _Config:
    if data is None:
        return _Config()
    try:
        return msgspec.json.decode(data, type=_Config)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{CONFIG_FILE} beside {where} cannot be read: {error}.") from error


def _has_capital(token: str) -> bool:
    return token != token.lower() and not _NOT_A_WORD.fullmatch(token)
