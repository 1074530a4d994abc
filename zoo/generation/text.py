"""A checkpoint that writes: its model and its tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dataprep.errors import DataError, UsageError
from zoo.engine.arrays import Array
from zoo.generation.sampling import Sampler

if TYPE_CHECKING:
    from dataprep.tokenizers.protocol import Tokenizer

__all__ = ["Writer", "load_writer"]


@dataclass(frozen=True)
class Writer:
    """Continues texts.

    Attributes:
        tokenizer: turns text into ids and back.
        logits: int64[1, T] -> float[1, T, V], the scores of the token after each.
        positions: longest sequence that ``logits`` takes.
    """

    tokenizer: Tokenizer
    logits: Callable[[Array], Array]
    positions: int

    def prompt_ids(self, prompt: str) -> list[int]:
        """Ids of a prompt; an empty one is the border between two documents."""
        ids, _ = self.tokenizer.encode_batch([prompt])
        if len(ids) > 0:
            return [int(i) for i in ids]
        if self.tokenizer.eod_id is None:
            raise UsageError("The prompt is empty, and the tokenizer has no token to begin with.")
        return [self.tokenizer.eod_id]

    def continue_ids(self, ids: list[int], *, max_tokens: int, sampler: Sampler) -> list[int]:
        """At most ``max_tokens`` ids that follow ``ids``, up to the end of the document.

        The model sees the last ``positions`` ids.
        """
        if max_tokens < 1:
            raise UsageError(f"max_tokens={max_tokens} cannot be: it is at least 1.")
        generator = sampler.generator()
        seen, added = list(ids), list[int]()
        for _ in range(max_tokens):
            window = np.array([seen[-self.positions :]], np.int64)
            # A model may have more ids than its tokenizer: those mean nothing.
            scores = self.logits(window)[0, -1, : self.tokenizer.vocab_size]
            chosen = sampler.choose(scores, generator)
            if chosen == self.tokenizer.eod_id:
                break
            seen.append(chosen)
            added.append(chosen)
        return added

    def text(self, ids: list[int]) -> str:
        """Text of ids, without a character at the end of which only some bytes are there."""
        return self.tokenizer.decode(ids).rstrip("\ufffd")


def load_writer(checkpoint: Path) -> Writer:
    """The model of a checkpoint folder, on this process, and the tokenizer beside it."""
    from dataprep.tokenizers.load import load_tokenizer
    from zoo.engine import EvalStep
    from zoo.models.public import build_public
    from zoo.parallel.mesh import Mesh

    path = checkpoint / "tokenizer.json"
    if not path.exists():
        raise DataError(f"{path} is missing: the checkpoint cannot read or write text.")
    tokenizer = load_tokenizer(path)
    model = build_public(checkpoint)
    if model.config.vocab < tokenizer.vocab_size:
        raise DataError(
            f"{path} has {tokenizer.vocab_size} ids, the model {model.config.vocab}: it is not the "
            "tokenizer that the model was trained with."
        )
    return Writer(tokenizer, EvalStep(model, Mesh()).logits, model.config.positions)
