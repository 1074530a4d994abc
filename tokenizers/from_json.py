"""A checked tokenizer out of the bytes of a ``tokenizer.json``."""

from __future__ import annotations

import copy
import hashlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.errors import DataError, JimuError
from dataprep.tokenizers.checked import is_checked, remember
from dataprep.tokenizers.documents import readable
from dataprep.tokenizers.engine import Engine
from dataprep.tokenizers.engines import ENGINES, ENGINES_OF_MODEL, REFERENCE, label
from dataprep.tokenizers.files import Facts, parse_facts
from dataprep.tokenizers.probe import disagreement
from dataprep.tokenizers.protocol import Encoded, Spans, Tokenizer
from dataprep.tokenizers.roles import by_role
from dataprep.tokenizers.shapes import shape_of

__all__ = ["EngineFallbackWarning", "JsonTokenizer", "tokenizer_from_json"]


class EngineFallbackWarning(UserWarning):
    """The fast engine failed or disagreed, and the slow, exact reference does its work."""


class JsonTokenizer:
    """A Tokenizer made of the bytes of a ``tokenizer.json`` and the engine chosen for it.

    Added tokens marked special are never recognised in text. Those not marked special, such as
    Qwen3's ``<think>``, are: they are words of the vocabulary to the reference as well.
    """

    def __init__(self, name: str, json: bytes, facts: Facts) -> None:
        self.name = name
        self.vocab_size = facts.vocab_size
        self.special_tokens = {t.content: t.id for t in facts.added_tokens if t.special}
        self.specials = by_role(self.special_tokens)
        self.eod_id = self.specials.get("eod")
        self.fingerprint = hashlib.sha256(json).hexdigest()
        self.engine = label(REFERENCE)
        self._engine_key = REFERENCE
        self._json = json

    @cached_property
    def _engine(self) -> Engine:
        return ENGINES[self._engine_key](self._json.decode())

    def __getstate__(self) -> dict[str, object]:
        # Engines cannot be pickled; the copy builds its own when first used.
        return {key: value for key, value in self.__dict__.items() if key != "_engine"}

    def on(self, engine: str) -> JsonTokenizer:
        """The same tokenizer on the engine of this name."""
        other = copy.copy(self)
        other.engine, other._engine_key = label(engine), engine
        return other

    def start(self) -> None:
        """Build the engine now; DataError when it refuses the file."""
        try:
            self._engine  # noqa: B018
        except Exception as error:  # the reference raises bare Exception
            raise DataError(f"{self.name} is not a usable tokenizer.json: {error}.") from error

    def encode_batch(self, batch: Batch | Sequence[str]) -> Encoded:
        """See Tokenizer."""
        with readable(batch) as documents, self._told():
            return self._engine.encode(documents)

    def encode_spans(self, batch: Batch | Sequence[str]) -> Spans:
        """See Tokenizer."""
        with readable(batch) as documents, self._told():
            return self._engine.encode_spans(documents)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What an engine raises, as a DataError: the reference raises bare Exception."""
        try:
            yield
        except (JimuError, MemoryError, UnicodeError):
            raise
        except Exception as error:
            raise DataError(
                f"{self.name} cannot encode this text: {error}.",
                hint="A vocabulary that does not know every byte needs an unknown token.",
            ) from error

    def decode(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> str:
        """See Tokenizer. Raises DataError for an id outside the vocabulary."""
        array = np.asarray(ids, np.int64)
        outside = array[(array < 0) | (array >= self.vocab_size)]
        if len(outside):
            raise DataError(
                f"Id {outside[0]} is outside the vocabulary of {self.name}, which ends at "
                f"{self.vocab_size - 1}.",
                hint="The ids were made with another tokenizer.",
            )
        return self._engine.decode(array.tolist())

    def save(self, path: Path) -> None:
        """See Tokenizer."""
        path.write_bytes(self._json)


def tokenizer_from_json(json: bytes, name: str) -> Tokenizer:
    """Check the file and choose its engine, as load_tokenizer does; ``name`` is for messages.

    Raises UsageError for a tokenizer that cannot be used here, DataError for what is none.
    """
    facts = parse_facts(json, name)
    reference = JsonTokenizer(name, json, facts)
    for engine in ENGINES_OF_MODEL.get(shape_of(facts), ()):
        tokenizer = reference.on(engine)
        problem = _problem(tokenizer, reference, facts)
        if problem is None:
            return tokenizer
        warnings.warn(
            f"{tokenizer.engine} cannot be trusted with {name} ({problem}): "
            f"{reference.engine} is used instead, and is many times slower.",
            EngineFallbackWarning,
            stacklevel=4,
        )
    reference.start()
    return reference


def _problem(tokenizer: JsonTokenizer, reference: JsonTokenizer, facts: Facts) -> str | None:
    """Why the engine cannot be trusted; None if it can, which is remembered."""
    checked = (tokenizer.fingerprint, tokenizer.engine, reference.engine)
    if not is_checked(*checked):
        reference.start()
    try:
        engine = tokenizer._engine
        if is_checked(*checked):
            return None
        specials = [token.content for token in facts.added_tokens]
        problem = disagreement(engine, reference._engine, specials)
    except Exception as error:  # whatever an engine raises, the reference can do the work
        return f"it failed: {error}"
    if problem is None:
        remember(*checked)
    return problem
