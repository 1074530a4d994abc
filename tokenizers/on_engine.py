"""What tokenizers share whose ids come from an engine, and how that engine is chosen."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from dataprep.batch import Batch
from dataprep.errors import DataError, JimuError
from dataprep.tokenizers.checked import is_checked, remember
from dataprep.tokenizers.documents import readable
from dataprep.tokenizers.engine import Engine
from dataprep.tokenizers.engines import label
from dataprep.tokenizers.protocol import Encoded, Spans

__all__ = ["EngineFallbackWarning", "EngineTokenizer", "choose"]


class EngineFallbackWarning(UserWarning):
    """The fast engine failed or disagreed, and the slow, exact reference does its work."""


class EngineTokenizer:
    """The part of a Tokenizer that an engine does.

    A kind of tokenizer names its ``engines``, each of which is built from ``source``, and says what
    a file is called that they refuse.
    """

    engines: ClassVar[Mapping[str, Callable[[Any], Engine]]]
    what: ClassVar[str]
    vocab_size: int
    fingerprint: str

    def __init__(self, name: str, source: str | bytes, reference: str) -> None:
        self.name = name
        self.engine, self._engine_key = label(reference), reference
        self._source = source

    @cached_property
    def _engine(self) -> Engine:
        return self.engines[self._engine_key](self._source)

    def __getstate__(self) -> dict[str, object]:
        # Engines cannot be pickled; the copy builds its own when first used.
        return {key: value for key, value in self.__dict__.items() if key != "_engine"}

    def on(self: Self, engine: str) -> Self:
        """The same tokenizer on the engine of this name."""
        other = copy.copy(self)
        other.engine, other._engine_key = label(engine), engine
        return other

    def start(self) -> Engine:
        """Build the engine now; DataError when it refuses the file."""
        try:
            return self._engine
        except Exception as error:  # Hugging Face's package raises bare Exception
            raise DataError(f"{self.name} is not a usable {self.what}: {error}.") from error

    def encode_batch(self, batch: Batch | Sequence[str]) -> Encoded:
        """See Tokenizer."""
        with readable(batch) as documents, self._told():
            ids, offsets = self._engine.encode(documents)
        return self._final(ids), offsets

    def encode_spans(self, batch: Batch | Sequence[str]) -> Spans:
        """See Tokenizer."""
        with readable(batch) as documents, self._told():
            ids, offsets, spans = self._engine.encode_spans(documents)
        return self._final(ids), offsets, spans

    def _final(self, ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """From the ids of the engine to those of the tokenizer."""
        return ids

    def _known(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> list[int]:
        """The ids, none of which is outside the vocabulary; DataError otherwise."""
        array = np.asarray(ids, np.int64)
        outside = array[(array < 0) | (array >= self.vocab_size)]
        if len(outside):
            raise DataError(
                f"Id {outside[0]} is outside the vocabulary of {self.name}, which ends at "
                f"{self.vocab_size - 1}.",
                hint="The ids were made with another tokenizer.",
            )
        known: list[int] = array.tolist()
        return known

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What an engine raises, as a DataError: Hugging Face's package raises bare Exception."""
        try:
            yield
        except (JimuError, MemoryError, UnicodeError):
            raise
        except Exception as error:
            raise DataError(
                f"{self.name} cannot encode this text: {error}.",
                hint="A vocabulary that does not know every byte needs an unknown token.",
            ) from error


Self = TypeVar("Self", bound=EngineTokenizer)


def choose(
    reference: Self,
    engines: Iterable[str],
    disagreement: Callable[[Engine, Engine], str | None],
) -> Self:
    """The tokenizer on the first of ``engines`` that agrees with the reference, or on that.

    ``disagreement`` compares the two engines. That they agree is remembered, that they do not is
    told. Raises DataError when the reference refuses the file.
    """
    for engine in engines:
        tokenizer = reference.on(engine)
        problem = _problem(tokenizer, reference, disagreement)
        if problem is None:
            return tokenizer
        warnings.warn(
            f"{tokenizer.engine} cannot be trusted with {reference.name} ({problem}): "
            f"{reference.engine} is used instead, and is several times slower.",
            EngineFallbackWarning,
            stacklevel=5,
        )
    reference.start()
    return reference


def _problem(
    tokenizer: Self, reference: Self, disagreement: Callable[[Engine, Engine], str | None]
) -> str | None:
    """Why the engine cannot be trusted; None if it can, which is remembered."""
    checked = (tokenizer.fingerprint, tokenizer.engine, reference.engine)
    known = is_checked(*checked)
    if not known:
        reference.start()
    try:
        engine = tokenizer._engine
        problem = None if known else disagreement(engine, reference._engine)
    except Exception as error:  # whatever an engine raises, the reference can do the work
        return f"it failed: {error}"
    if problem is None and not known:
        remember(*checked)
    return problem
