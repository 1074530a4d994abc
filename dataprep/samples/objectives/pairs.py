"""Pairs of parts of documents, for what BERT learns beside masked tokens.

- Next sentence prediction: BERT (Devlin et al., 2019).
- Sentence order prediction: ALBERT (Lan et al., 2020); MacBERT uses it too.

A part is a run of sentences of one document. Which document of its window a sample takes is drawn
by length, so that over the epochs every token has its turn; a document that is longer than a window
is met in pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.samples.objectives.mlm import MlmSettings, mlm
from dataprep.samples.rows import Rows, given
from dataprep.samples.vocabulary import Vocabulary

__all__ = ["pair_rows"]


def pair_rows(
    rows: Rows, *, settings: MlmSettings, vocabulary: Vocabulary, cls: int, sep: int, pad: int
) -> dict[str, npt.NDArray[Any]]:
    """Masked pairs; see ``mlm_objective`` for the arrays.

    The cut between the parts is at the start of a sentence drawn at random, in a text of one
    sentence at the start of a word. "nsp" takes the second part from ``rows.partners`` half the
    time, never from the same document.
    """
    from dataprep.samples.objectives.pairs_kernel import lay_out

    n, width = rows.tokens.shape
    tokens = np.full((n, width + 3), pad, np.int64)
    starts = np.ones(tokens.shape, bool)
    types = np.zeros(tokens.shape, np.int64)
    lengths = np.zeros(n, np.int64)
    pair_labels = np.zeros(n, np.int64)
    lay_out(
        _parts(rows),
        _parts(given(rows.partners)),
        rows.keys,
        vocabulary.is_special,
        settings.short,
        settings.pairs == "sop",
        cls,
        sep,
        tokens,
        starts,
        types,
        lengths,
        pair_labels,
    )
    # Masking draws from keys of its own.
    masked, labels = mlm(tokens, starts, ~rows.keys, settings, vocabulary)
    return {
        "tokens": masked,
        "labels": labels,
        "attention_mask": np.arange(tokens.shape[1]) < lengths[:, None],
        "token_types": types,
        "pair_labels": pair_labels,
    }


def _parts(rows: Rows) -> tuple[npt.NDArray[Any], ...]:
    """What the kernel reads of windows: tokens, word, sentence and document starts, documents."""
    n, width = rows.tokens.shape
    words = np.ones((n, width + 1), bool) if rows.word_starts is None else rows.word_starts
    return (
        rows.tokens.astype(np.int64),
        words,
        given(rows.sentence_starts),
        given(rows.document_starts),
        given(rows.documents),
    )
