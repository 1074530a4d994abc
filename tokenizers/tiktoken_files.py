"""``.tiktoken`` files, a token in base64 and its rank on each line, to a ``tokenizer.json``.

Such a file holds the ranks only. The pattern that cuts text into words and the special tokens are
in the code of whoever published it; those of the public ones are known here by their size.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from dataprep.errors import DataError, UsageError
from dataprep.tokenizers.all_merges import merges_of
from dataprep.tokenizers.from_json import tokenizer_from_json
from dataprep.tokenizers.protocol import Tokenizer
from dataprep.tokenizers.spelling import byte_alphabet
from vocab.damage import name_damage

__all__ = ["json_of_ranks", "load_tiktoken", "looks_like_ranks"]

_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{DIGITS}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_GPT4O = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SUFFIX}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SUFFIX}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """What goes with a file of ranks."""

    pattern: str
    specials: Mapping[str, int] = field(default_factory=dict)
    nfc: bool = False


_ENDS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_QWEN = {
    token: 151_643 + i for i, token in enumerate((*_ENDS, *(f"<|extra_{n}|>" for n in range(205))))
}
_FIM = ("<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_CL100K = {token: 100_257 + i for i, token in enumerate(_FIM)} | {"<|endofprompt|>": 100_276}
_GLM4 = (
    *("<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>"),
    *("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"),
    *("<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>"),
)
ENCODINGS: dict[int, Encoding] = {
    50_256: Encoding(pattern=_GPT2, specials={"<|endoftext|>": 50_256}),
    100_256: Encoding(pattern=_GPT4.replace("DIGITS", "1,3"), specials=_CL100K),
    128_000: Encoding(
        pattern=_GPT4.replace("DIGITS", "1,3"),
        specials={"<|begin_of_text|>": 128_000, "<|end_of_text|>": 128_001},
    ),
    151_329: Encoding(
        pattern=_GPT4.replace("DIGITS", "1,3"),
        specials={token: 151_329 + i for i, token in enumerate(_GLM4)},
    ),
    151_643: Encoding(pattern=_GPT4.replace("{DIGITS}", ""), specials=_QWEN, nfc=True),
    199_998: Encoding(
        pattern=_GPT4O, specials={"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
    ),
}
"""By number of ranks: r50k, cl100k, Llama 3, GLM-4, Qwen, o200k."""


class _Beside(msgspec.Struct, forbid_unknown_fields=True):
    pattern: str
    special_tokens: dict[str, int] = {}
    nfc: bool = False


class _Added(msgspec.Struct):
    content: str


class _Config(msgspec.Struct):
    added_tokens_decoder: dict[int, _Added] = {}


def load_tiktoken(path: Path, name: str) -> Tokenizer:
    """Load a file of ranks or the one in a folder; ``name`` is for messages.

    ``FILE.json`` beside an unknown ``FILE`` says its pattern, its special tokens and whether text
    is normalised to NFC: ``{"pattern": "...", "special_tokens": {"<|end|>": 9}, "nfc": false}``.

    Special tokens that ``tokenizer_config.json`` beside a known one adds count too.

    Raises UsageError when nothing says the pattern, DataError for what is no such file.
    """
    files = sorted(path.glob("*.tiktoken")) if path.is_dir() else [path]
    if len(files) != 1:
        raise UsageError(f"{path} has {len(files)} .tiktoken files.", hint="Name the one meant.")
    ranks = _ranks(files[0].read_bytes(), str(files[0]))
    return tokenizer_from_json(json_of_ranks(ranks, _encoding(files[0], len(ranks))), name)


def looks_like_ranks(data: bytes) -> bool:
    """Whether a file starts as a file of ranks does; Llama 3 calls its own tokenizer.model."""
    words = data[:200].split(b"\n", 1)[0].split(b" ")
    return len(words) == 2 and words[1].isdigit() and _decoded(words[0]) is not None


def json_of_ranks(ranks: list[bytes], encoding: Encoding) -> bytes:
    """The bytes of a ``tokenizer.json`` that gives tiktoken's ids; ``ranks`` by rank."""
    alphabet = byte_alphabet()
    pieces = ["".join(alphabet[byte] for byte in token) for token in ranks]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    split = {
        "type": "Split",
        "pattern": {"Regex": encoding.pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    ordered = sorted(encoding.specials.items(), key=lambda item: item[1])
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": i, "content": token, **flags, "special": True} for token, i in ordered
            ],
            "normalizer": {"type": "NFC"} if encoding.nfc else None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
            "post_processor": None,
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": True,
                "vocab": {piece: rank for rank, piece in enumerate(pieces)},
                "merges": merges_of(pieces),
            },
        },
        ensure_ascii=False,
    ).encode()


def _encoding(file: Path, size: int) -> Encoding:
    beside = file.with_name(file.name + ".json")
    if not beside.is_file():
        if size in ENCODINGS:
            added = _added(file.with_name("tokenizer_config.json"))
            beyond = {token: i for token, i in added.items() if i >= size}
            return replace(ENCODINGS[size], specials={**ENCODINGS[size].specials, **beyond})
        raise UsageError(
            f"{file} has {size:,} ranks, which is none of the public encodings "
            f"({', '.join(f'{n:,}' for n in ENCODINGS)}), and does not say by which pattern text "
            "is cut into words.",
            hint=f'Write that into {beside.name} beside it: {{"pattern": "...", '
            f'"special_tokens": {{"<|endoftext|>": {size}}}}}',
        )
    try:
        given = msgspec.json.decode(beside.read_bytes(), type=_Beside)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{beside} does not describe an encoding: {error}.") from error
    low = sorted(i for i in given.special_tokens.values() if i < size)
    if low:
        raise DataError(f"{beside} gives id {low[0]} to a special token; it is a rank.")
    return Encoding(pattern=given.pattern, specials=given.special_tokens, nfc=given.nfc)


def _added(config: Path) -> dict[str, int]:
    if not config.is_file():
        return {}
    try:
        values = msgspec.json.decode(config.read_bytes(), type=_Config)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{config} cannot be read: {error}.") from error
    return {token.content: i for i, token in values.added_tokens_decoder.items()}


def _ranks(data: bytes, where: str) -> list[bytes]:
    damage = name_damage(data)
    if damage is not None:
        raise DataError(f"{where} is {damage.what}.", hint=damage.hint)
    tokens = []
    for number, line in enumerate(data.splitlines()):
        words = line.split(b" ")
        token = _decoded(words[0])
        if token is None or len(words) != 2 or words[1] != str(number).encode():
            raise DataError(
                f"{where}, line {number + 1}: {line[:40].decode('latin-1')!r} is not a token in "
                f"base64 and the rank {number}.",
                hint="Download or copy it again.",
            )
        tokens.append(token)
    missing = {bytes([byte]) for byte in range(256)} - set(tokens)
    if missing:
        raise DataError(f"{where} has no token for {len(missing)} of the 256 bytes: it is cut.")
    return tokens


def _decoded(word: bytes) -> bytes | None:
    try:
        return base64.b64decode(word, validate=True) or None
    except binascii.Error:
        return None
