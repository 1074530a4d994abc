"""Reading ``tokenizer.json``: the file's bytes, the few facts we need, and what may be wrong."""

from __future__ import annotations

import warnings
from typing import Any

import msgspec

from dataprep.errors import DataError, UsageError
from vocab.damage import name_damage

__all__ = ["AddedToken", "Facts", "parse_facts"]

FILE_NAME = "tokenizer.json"
USUAL_PREFIX = "##"
MAX_VOCAB_SIZE = 1 << 31
"""Datasets hold ids as int32 at most."""


class AddedToken(msgspec.Struct, frozen=True):
    """An entry of ``added_tokens``: matched in the text before the model sees it."""

    id: int
    content: str
    special: bool = False


class _Model(msgspec.Struct, frozen=True):
    vocab: dict[str, int] | list[Any]
    # The oldest files name no type; the reference then tries the models one after the other.
    type: str = ""
    dropout: float | None = None
    unk_token: str | None = None
    max_input_chars_per_word: int = 100
    continuing_subword_prefix: str | None = None
    merges: msgspec.Raw = msgspec.Raw(b"[]")


class Facts(msgspec.Struct, frozen=True):
    """The part of a ``tokenizer.json`` that we read ourselves; the engines read the rest."""

    model: _Model
    added_tokens: list[AddedToken] = []
    normalizer: dict[str, Any] | None = None
    pre_tokenizer: dict[str, Any] | None = None

    @property
    def vocab_size(self) -> int:
        """Largest id + 1, added tokens included."""
        vocab = self.model.vocab
        # Unigram lists its pieces in order of their ids.
        model_size = max(vocab.values(), default=-1) + 1 if isinstance(vocab, dict) else len(vocab)
        return max([model_size, *(token.id + 1 for token in self.added_tokens)])


def parse_facts(data: bytes, where: str) -> Facts:
    """Check that ``data`` is a ``tokenizer.json`` and take its facts.

    ``where`` names the file in messages. Raises DataError for everything else, saying what it is;
    warns of CRLF line ends, which change the file's hash but no id.
    """
    damage = name_damage(data)
    if damage is not None:
        raise DataError(f"{where} is {damage.what}.", hint=damage.hint)
    try:
        facts = msgspec.json.decode(data, type=Facts)
    except msgspec.ValidationError as error:
        raise DataError(
            f"{where} is JSON, but not a Hugging Face {FILE_NAME}: {error}.",
            hint="vocab.json and tokenizer_config.json belong to the same model, but are others.",
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # msgspec calls the end of the input a truncation, whatever came before it.
        if "truncated" in str(error):
            raise DataError(
                f"{where} is truncated: its JSON ends in the middle, after {len(data)} bytes.",
                hint="Download or copy it again.",
            ) from error
        raise DataError(f"{where} is not valid JSON: {error}.") from error
    if facts.vocab_size > MAX_VOCAB_SIZE:
        raise DataError(
            f"{where} has id {facts.vocab_size - 1:,}; ids go up to {MAX_VOCAB_SIZE - 1:,}.",
            hint="Look at the ids of its added_tokens.",
        )
    if facts.model.dropout:
        raise UsageError(
            f"{where} has BPE dropout {facts.model.dropout}: the same text would give other ids "
            "on each run.",
            hint="Set model.dropout to null in a copy of the file.",
        )
    if facts.model.type == "WordPiece":
        _check_prefix(facts.model, where)
    if b"\r\n" in data[:4096]:
        warnings.warn(
            f"{where} has CRLF line ends, as a checkout on Windows makes them: its ids are right, "
            "its hash is not the published one.",
            stacklevel=2,
        )
    return facts


def _check_prefix(model: _Model, where: str) -> None:
    """A prefix that is not the one of the vocabulary turns most words into unknown ones."""
    prefix = model.continuing_subword_prefix
    if prefix is None or prefix == USUAL_PREFIX:
        return
    usual = [token for token in model.vocab if str(token).startswith(USUAL_PREFIX)]
    own = [token for token in model.vocab if prefix and str(token).startswith(prefix)]
    if len(usual) > len(set(own) - set(usual)):
        raise DataError(
            f"{where} has continuing_subword_prefix {prefix!r}, but {len(usual):,} tokens of its "
            f"vocabulary begin with {USUAL_PREFIX!r}: most words would become unknown.",
            hint=f"Set model.continuing_subword_prefix to {USUAL_PREFIX!r} in a copy of the file, "
            "or fetch it again.",
        )
