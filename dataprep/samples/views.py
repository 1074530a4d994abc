"""Samples of an opened dataset, by the name of their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dataprep.disk import IndexedDataset
from dataprep.errors import UsageError
from dataprep.samples.bits import bits_of
from dataprep.samples.causal import CausalSamples
from dataprep.samples.documents import DocumentOffsets
from dataprep.samples.objectives import KINDS, settings_of
from dataprep.samples.order import order_of
from dataprep.samples.pack import PackedSamples
from dataprep.samples.rows import Bits
from dataprep.samples.split import split_documents
from dataprep.samples.split_hash import documents_by_hash
from dataprep.samples.view import WindowSamples
from dataprep.samples.vocabulary import Vocabulary, vocabulary_of
from dataprep.samples.windows import Windows

if TYPE_CHECKING:
    from dataprep.dataset import Dataset

__all__ = ["CausalSettings", "open_samples"]

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class CausalSettings:
    """What a causal sample says beside tokens and labels.

    Attributes:
        reset_attention: give ``segments`` and ``positions`` too, so that a document does not see
            those before it; see ``attention_of``.
        packing: "stream": windows over the stream of tokens, which cut documents wherever they
            end; "best-fit": whole documents, put together where they fit best, see PackedSamples.
    """

    reset_attention: bool = False
    packing: Literal["stream", "best-fit"] = "stream"

    def __post_init__(self) -> None:
        if self.packing not in ("stream", "best-fit"):
            raise UsageError(f"packing is {self.packing!r}; known: stream, best-fit.")


def open_samples(
    dataset: IndexedDataset,
    kind: str,
    *,
    seq_len: int,
    seed: int | None = None,
    split: str | None = None,
    weights: Sequence[float] = (99.0, 1.0),
    split_by: Literal["place", "hash"] = "place",
    locality: int | None = None,
    words: npt.ArrayLike | None = None,
    roles: Mapping[str, int] | None = None,
    **settings: Any,
) -> CausalSamples | PackedSamples | WindowSamples:
    """The samples of a dataset, or of one part of its documents.

    ``kind`` is "causal" or one of KINDS, ``settings`` are those of the kind. ``split`` names a
    part, "train", "validation" or "test", of those that ``weights`` cut the documents into; None
    takes all documents. The cut is by ``split_by``: "place" takes stretches of the corpus, "hash"
    documents by their tokens, so that equal texts are on one side.

    With a ``seed`` every epoch is shuffled, with ``None`` samples come as stored; ``locality``
    shuffles in blocks of as many neighbours, for data that is expensive to read. ``words``
    bool[n_tokens] says where words start, in the place of the dataset's own; ``roles`` gives ids to
    special roles, over those of the tokenizer.

    Raises UsageError for an unknown kind, part or setting, DataError where the tokens are too few.
    """
    if kind != "causal" and kind not in KINDS:
        known = ", ".join(["causal", *KINDS])
        raise UsageError(f"There are no samples of the kind {kind!r}; known: {known}.")
    offsets = DocumentOffsets(dataset)
    if kind == "causal":
        causal = settings_of(kind, CausalSettings, settings)
        if causal.packing == "best-fit":
            _refuse(split_by == "hash", "split_by='hash'")
            _refuse(locality is not None, "locality")
            ranges = _ranges(offsets, split, weights, at_least=seq_len + 1)
            return PackedSamples(
                dataset.tokens,
                offsets,
                seq_len=seq_len,
                seed=seed,
                ranges=ranges,
                pad=getattr(dataset, "eod_id", None) or 0,
            )
        width = seq_len + 1
    else:
        entry = KINDS[kind]
        chosen = settings_of(kind, entry.settings, {**entry.preset, **settings})
        objective = entry.objective(
            chosen, seq_len=seq_len, vocabulary=_vocabulary(dataset, kind, roles)
        )
        width = objective.width
    streams: npt.NDArray[np.int64] | None = None
    joined = split is not None and split_by == "hash"
    if split is not None:
        if split_by == "hash":
            part = _part(split, weights)
            streams = documents_by_hash(dataset.tokens, offsets, weights)[part]
        else:
            ranges = _ranges(offsets, split, weights, at_least=width)
            streams = np.array([(offsets[r.start], offsets[r.stop]) for r in ranges])
    if kind == "causal":
        return CausalSamples(
            dataset.tokens,
            seq_len=seq_len,
            seed=seed,
            streams=streams,
            joined=joined,
            documents=offsets if causal.reset_attention else None,
            locality=locality,
        )
    windows = Windows(
        dataset.tokens, width=width, stride=objective.stride, streams=streams, joined=joined
    )
    return WindowSamples(
        windows,
        objective,
        seed=seed,
        words=_words(dataset, words) if objective.words else None,
        documents=offsets if objective.documents else None,
        order=order_of(len(windows), seed, locality),
    )


def _part(split: str, weights: Sequence[float]) -> int:
    known = PARTS[: len(weights)]
    if split not in known:
        raise UsageError(f"There is no part {split!r} of a split; known: {', '.join(known)}.")
    return known.index(split)


def _ranges(
    offsets: DocumentOffsets, split: str | None, weights: Sequence[float], *, at_least: int
) -> list[range]:
    if split is None:
        return [range(len(offsets) - 1)]
    part = _part(split, weights)
    return split_documents(offsets, weights, at_least=at_least)[part]


def _refuse(given: bool, what: str) -> None:
    if given:
        raise UsageError(
            f"packing='best-fit' works through documents in blocks: {what} is not for it"
        )


def _vocabulary(dataset: IndexedDataset, kind: str, roles: Mapping[str, int] | None) -> Vocabulary:
    from dataprep.dataset import Dataset

    if not isinstance(dataset, Dataset):
        raise UsageError(
            f"{dataset.prefix} was opened without its tokenizer, which {kind!r} samples need.",
            "Open it with dataprep.open; make it with `dataprep build`.",
        )
    return _vocabulary_of_dataset(dataset, roles)


def _vocabulary_of_dataset(dataset: Dataset, roles: Mapping[str, int] | None) -> Vocabulary:
    from pathlib import Path

    file = Path(f"{dataset.prefix}.tokenizer.json")
    return vocabulary_of(dataset.tokenizer(), file=file, roles=roles)


def _words(dataset: IndexedDataset, given: npt.ArrayLike | None) -> Bits:
    if given is not None:
        return bits_of(given, dataset.n_tokens)
    raise UsageError(
        f"{dataset.prefix} does not know where words start, which this kind of samples needs.",
        "Build it with --words.",
    )
