"""A checked tokenizer out of the bytes of a ``tokenizer.json``."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.tokenizers.engine import Engine
from dataprep.tokenizers.engines import ENGINES, ENGINES_OF_MODEL, REFERENCE
from dataprep.tokenizers.files import Facts, parse_facts
from dataprep.tokenizers.on_engine import EngineFallbackWarning, EngineTokenizer, choose
from dataprep.tokenizers.probe import disagreement
from dataprep.tokenizers.protocol import Tokenizer
from dataprep.tokenizers.roles import by_role
from dataprep.tokenizers.shapes import shape_of

__all__ = ["EngineFallbackWarning", "JsonTokenizer", "tokenizer_from_json"]


class JsonTokenizer(EngineTokenizer):
    """A Tokenizer made of the bytes of a ``tokenizer.json`` and the engine chosen for it.

    Added tokens marked special are never recognised in text. Those not marked special, such as
    Qwen3's ``<think>``, are: they are words of the vocabulary to the reference as well.
    """

    engines = ENGINES
    what = "tokenizer.json"

    def __init__(self, name: str, json: bytes, facts: Facts) -> None:
        super().__init__(name, json.decode(), REFERENCE)
        self.vocab_size = facts.vocab_size
        self.special_tokens = {t.content: t.id for t in facts.added_tokens if t.special}
        self.specials = by_role(self.special_tokens)
        self.eod_id = self.specials.get("eod")
        self.fingerprint = hashlib.sha256(json).hexdigest()

    def decode(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> str:
        """See Tokenizer. Raises DataError for an id outside the vocabulary."""
        return self._engine.decode(self._known(ids))

    def save(self, path: Path) -> None:
        """See Tokenizer."""
        path.write_bytes(str(self._source).encode())


def tokenizer_from_json(json: bytes, name: str) -> Tokenizer:
    """Check the file and choose its engine, as load_tokenizer does; ``name`` is for messages.

    Raises UsageError for a tokenizer that cannot be used here, DataError for what is none.
    """
    facts = parse_facts(json, name)
    specials = [token.content for token in facts.added_tokens]

    def differ(engine: Engine, reference: Engine) -> str | None:
        return disagreement(engine, reference, specials)

    reference = JsonTokenizer(name, json, facts)
    return choose(reference, ENGINES_OF_MODEL.get(shape_of(facts), ()), differ)
