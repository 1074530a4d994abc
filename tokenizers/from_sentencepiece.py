"""A checked tokenizer out of a SentencePiece ``.model``."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.errors import DataError, UsageError
from dataprep.tokenizers.engine import Engine
from dataprep.tokenizers.on_engine import EngineTokenizer, choose
from dataprep.tokenizers.probe import disagreement
from dataprep.tokenizers.protocol import Tokenizer
from dataprep.tokenizers.sp_engine import CompiledSentencePieceEngine, SentencePieceEngine
from dataprep.tokenizers.sp_layout import Layout, layout_of
from dataprep.tokenizers.sp_model import PieceType, SentencePieceModel, parse_model
from dataprep.tokenizers.sp_unfit import unfit

__all__ = ["SentencePieceTokenizer", "is_packed", "load_sentencepiece", "unpacked"]

_PACKED = b'{"format": "jimu-sentencepiece 1"'
_REFERENCE, _COMPILED = "sentencepiece", "jimu-sentencepiece"


class SentencePieceTokenizer(EngineTokenizer):
    """A Tokenizer made of a ``.model``, what its layout adds, and the engine chosen for it.

    Control pieces and added tokens are never recognised in text; user-defined pieces are, by
    sentencepiece itself.
    """

    engines = {_REFERENCE: SentencePieceEngine, _COMPILED: CompiledSentencePieceEngine}  # noqa: RUF012
    what = "SentencePiece model"

    def __init__(self, name: str, model: bytes, facts: SentencePieceModel, layout: Layout) -> None:
        super().__init__(name, model, _REFERENCE)
        self._ids = layout.ids(facts)
        self.vocab_size = int(max([*layout.added.values(), int(self._ids.max())])) + 1
        self.specials: Mapping[str, int] = layout.specials(facts)
        self.eod_id = self.specials.get("eod")
        self._packed = _pack(model, layout)
        self.fingerprint = hashlib.sha256(self._packed).hexdigest()
        self._is_shifted = layout.fairseq
        self.special_tokens = {
            piece.text: int(self._ids[i])
            for i, piece in enumerate(facts.pieces)
            if piece.type is PieceType.CONTROL
        } | dict(layout.added)
        self._written = {i: token for token, i in self.special_tokens.items()}

    def decode(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> str:
        """See Tokenizer. Raises DataError for an id outside the vocabulary.

        What follows a special token is decoded as the beginning of a text; an unknown piece is
        what the model says it looks like, by default ``⁇`` between spaces.
        """
        parts = []
        for special, run in groupby(self._known(ids), self._written.get):
            numbers = list(run)
            if special is None:
                parts.append(self._engine.decode([self._own[i] for i in numbers]))
            else:
                parts.append(special * len(numbers))
        return "".join(parts)

    def save(self, path: Path) -> None:
        """See Tokenizer. The file is JSON with the model in it."""
        path.write_bytes(self._packed)

    @cached_property
    def _own(self) -> dict[int, int]:
        """From final ids to those of the model."""
        return {int(i): own for own, i in enumerate(self._ids)}

    def _final(self, ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        return self._ids[ids] if self._is_shifted else ids


def load_sentencepiece(path: Path, name: str) -> Tokenizer:
    """Load a ``.model`` or the one in a folder; ``name`` is for messages.

    Raises UsageError for a tokenizer that cannot be used here, DataError for what is none.
    """
    file = _only(path) if path.is_dir() else path
    model = file.read_bytes()
    facts = parse_model(model, str(file))
    layout = layout_of(facts, hashlib.sha256(model).hexdigest(), file)
    return _checked(SentencePieceTokenizer(name, model, facts, layout), facts)


def is_packed(data: bytes) -> bool:
    """Whether this is what ``SentencePieceTokenizer.save`` writes."""
    return data.startswith(_PACKED)


def unpacked(data: bytes, name: str) -> Tokenizer:
    """The tokenizer that ``save`` wrote; DataError when it was changed since."""
    try:
        values = json.loads(data)
        model = base64.b64decode(values["model"], validate=True)
        layout = Layout(**values["layout"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{name} is damaged: {error}.", hint="Copy it again.") from error
    facts = parse_model(model, name)
    return _checked(SentencePieceTokenizer(name, model, facts, layout), facts)


def _pack(model: bytes, layout: Layout) -> bytes:
    values = {"format": "jimu-sentencepiece 1", "layout": asdict(layout)}
    values["model"] = base64.b64encode(model).decode()
    return json.dumps(values, ensure_ascii=False).encode()


def _only(folder: Path) -> Path:
    found = sorted(folder.glob("*.model"))
    if len(found) != 1:
        raise UsageError(
            f"{folder} has {len(found)} .model files: {', '.join(file.name for file in found)}.",
            hint="Name the one that is meant.",
        )
    return found[0]


def _checked(reference: SentencePieceTokenizer, facts: SentencePieceModel) -> Tokenizer:
    """The tokenizer on the fast engine if that suits the model and agrees with sentencepiece."""
    pieces = [piece.text.replace("▁", " ") for piece in facts.pieces]
    texts = [*pieces, *(f"文{piece}文" for piece in pieces), "".join(pieces)]

    def differ(engine: Engine, exact: Engine) -> str | None:
        batch = Batch.from_texts(texts)
        if not np.array_equal(engine.encode(batch)[0], exact.encode(batch)[0]):
            return "it does not give the pieces themselves"
        return disagreement(engine, exact, [])

    return choose(reference, (_COMPILED,) if unfit(facts) is None else (), differ)
