"""Shapes of ``tokenizer.json`` that our own engines do: each does one whole file, and no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dataprep.tokenizers.files import Facts
from dataprep.tokenizers.spelling import byte_alphabet

__all__ = ["BERT", "BYTES", "BYTE_LEVEL", "CHARACTERS", "EACH_CHARACTER", "shape_of"]

BERT, BYTES, CHARACTERS = "BERT's WordPiece", "bytes", "characters"

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
EACH_CHARACTER = {
    "type": "Split",
    "pattern": {"Regex": r"[\s\S]"},
    "behavior": "Isolated",
    "invert": False,
}


@dataclass(frozen=True)
class _Shape:
    name: str
    fits: Callable[[Facts], bool]


def _is_bert(facts: Facts) -> bool:
    model = facts.model
    return (
        isinstance(model.vocab, dict)
        and model.unk_token in model.vocab
        and model.max_input_chars_per_word > 0
        and all(token.special for token in facts.added_tokens)
    )


def _is_bytes(facts: Facts) -> bool:
    return (
        bytes(facts.model.merges) == b"[]"
        and facts.pre_tokenizer == BYTE_LEVEL
        and set(byte_alphabet()) <= set(facts.model.vocab)
        and all(token.special for token in facts.added_tokens)
    )


def _is_characters(facts: Facts) -> bool:
    return (
        facts.pre_tokenizer == EACH_CHARACTER
        and facts.model.unk_token in facts.model.vocab
        and all(token.special for token in facts.added_tokens)
    )


_SHAPES: dict[tuple[str, str | None, str | None], _Shape] = {
    ("WordPiece", "BertNormalizer", "BertPreTokenizer"): _Shape(BERT, _is_bert),
    ("BPE", None, "ByteLevel"): _Shape(BYTES, _is_bytes),
    ("WordLevel", None, "Split"): _Shape(CHARACTERS, _is_characters),
}
"""By the types of model, normalizer and pre-tokenizer."""


def shape_of(facts: Facts) -> str:
    """What engines are chosen by: BERT, BYTES or CHARACTERS where the file fits, or its model."""
    types = (facts.model.type, _type(facts.normalizer), _type(facts.pre_tokenizer))
    shape = _SHAPES.get(types)
    return shape.name if shape is not None and shape.fits(facts) else facts.model.type


def _type(part: dict[str, Any] | None) -> str | None:
    return None if part is None else part.get("type")
