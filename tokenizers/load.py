"""``load_tokenizer``: a checked tokenizer out of a ``tokenizer.json``."""

from __future__ import annotations

import copy
import hashlib
import itertools
import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import vocab
from dataprep.batch import Batch
from dataprep.errors import DataError, UsageError
from dataprep.tokenizers.checked import is_checked, remember
from dataprep.tokenizers.engines import ENGINES, ENGINES_OF_MODEL, REFERENCE, Engine, label
from dataprep.tokenizers.files import Facts, parse_facts, read_json
from dataprep.tokenizers.probe import disagreement
from dataprep.tokenizers.protocol import Encoded, Tokenizer

__all__ = ["EngineFallbackWarning", "load_tokenizer", "tokenizer_from_json"]

BYTE_LEVEL = "byte-level BPE"

EOD_TOKENS = (
    "</s>",  # before <|endoftext|>, which RoBERTa has kept from GPT-2 and never used
    "<|endoftext|>",
    "<|end_of_text|>",
    "<｜end▁of▁sentence｜>",
    "<eos>",
    "<eod>",
    "[EOS]",
)
"""What ends a document, most telling first. Ends of a chat turn (``<|im_end|>``) are not ends of
a document, though instruction-tuned models name them as their ``eos_token``."""


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
        specials = {token.content: token.id for token in facts.added_tokens if token.special}
        self.eod_id = next((specials[token] for token in EOD_TOKENS if token in specials), None)
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
        """See Tokenizer. Raises DataError when the vocabulary cannot say some text."""
        texts = _texts(batch)
        try:
            return self._engine.encode(texts)
        except MemoryError:
            raise
        except Exception as error:  # the reference raises bare Exception
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


def load_tokenizer(name_or_path: str | Path) -> Tokenizer:
    """Load and check a tokenizer.

    ``name_or_path`` is a Hugging Face ``tokenizer.json``, a folder with one or with ``vocab.json``
    and ``merges.txt``, or the name of a public vocabulary, which is fetched when it is not in the
    cache. A path comes before a name.

    The first load on a machine compares the fast engine with the reference on a probe; when the
    fast one fails or disagrees, the reference is used, with an EngineFallbackWarning, and
    ``engine`` says so. Load once, in the parent, and hand the result to workers by fork or by
    pickle.

    Raises UsageError when there is no such file or its kind is not supported, and DataError when
    it is something else than its name says.
    """
    path, name = Path(name_or_path), str(name_or_path)
    if not path.exists() and name in vocab.names():
        kind = vocab.known(name).kind
        if kind != BYTE_LEVEL:
            raise UsageError(
                f"{name} is a {kind} vocabulary; only {BYTE_LEVEL} is supported by name.",
                hint="A tokenizer.json of it can be given by its path.",
            )
        path = vocab.fetch(name)
    return tokenizer_from_json(read_json(path), name)


def tokenizer_from_json(json: bytes, name: str) -> Tokenizer:
    """Like load_tokenizer, from the bytes of the file; ``name`` stands for it in messages."""
    facts = parse_facts(json, name)
    reference = JsonTokenizer(name, json, facts)
    for engine in ENGINES_OF_MODEL.get(facts.model.type, ()):
        tokenizer = reference.on(engine)
        checked = (tokenizer.fingerprint, tokenizer.engine, reference.engine)
        if is_checked(*checked):
            tokenizer.start()
            return tokenizer
        reference.start()
        problem = _problem(tokenizer, reference, facts)
        if problem is None:
            remember(*checked)
            return tokenizer
        warnings.warn(
            f"{tokenizer.engine} cannot be trusted with {name} ({problem}): "
            f"{reference.engine} is used instead, and is many times slower.",
            EngineFallbackWarning,
            stacklevel=3,
        )
    reference.start()
    return reference


def _problem(tokenizer: JsonTokenizer, reference: JsonTokenizer, facts: Facts) -> str | None:
    specials = [token.content for token in facts.added_tokens]
    try:
        tokenizer.start()
        return disagreement(tokenizer._engine, reference._engine, specials)
    except Exception as error:  # whatever an engine raises, the reference can do the work
        return f"it failed: {error}"


def _texts(batch: Batch | Sequence[str]) -> list[str]:
    """The documents as strings, none of which holds a lone surrogate."""
    try:
        if isinstance(batch, Batch):
            return batch.texts()
        texts = list(batch)
        "".join(texts).encode()
    except UnicodeError as error:
        raise DataError(
            f"Document {_first_bad(batch)} of the batch holds a lone surrogate or broken UTF-8.",
            hint="Clean the text before it is tokenized.",
        ) from error
    return texts


def _first_bad(batch: Batch | Sequence[str]) -> int:
    if isinstance(batch, Batch):
        bounds = itertools.pairwise(batch.offsets.tolist())
        parts = [bytes(batch.data[start:end]) for start, end in bounds]
    else:
        parts = [text.encode("utf-8", "surrogatepass") for text in batch]
    return next(i for i, part in enumerate(parts) if not _is_utf8(part))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
