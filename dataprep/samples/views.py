"""Samples of an opened dataset, by the name of their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dataprep.disk import IndexedDataset
from dataprep.errors import UsageError
from dataprep.samples.causal import CausalSamples
from dataprep.samples.documents import DocumentOffsets
from dataprep.samples.objectives import KINDS, settings_of
from dataprep.samples.opened import remember
from dataprep.samples.order import order_of
from dataprep.samples.pack import PackedSamples
from dataprep.samples.split import split_documents
from dataprep.samples.split_hash import documents_by_hash
from dataprep.samples.view import WindowSamples
from dataprep.samples.vocabulary import Vocabulary, vocabulary_of
from dataprep.samples.windows import Windows

if TYPE_CHECKING:
    from dataprep.dataset import Dataset

__all__ = ["CausalSettings", "open_samples", "vocabulary_of_dataset"]

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


class _Choice(NamedTuple):
    """Which documents, and in which order."""

    seq_len: int
    seed: int | None
    split: str | None
    weights: Sequence[float]
    split_by: Literal["place", "hash"]
    locality: int | None


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
    roles: Mapping[str, int] | None = None,
    **settings: Any,
) -> CausalSamples | PackedSamples | WindowSamples:
    """The samples of a dataset, or of one part of its documents.

    ``kind`` is "causal" or one of KINDS, ``settings`` are those of the kind. ``split`` names a
    part, "train", "validation" or "test", of those that ``weights`` cut the documents into; None
    takes all documents. The cut is by ``split_by``: "place" takes stretches of the corpus; "hash"
    documents by their tokens, so that equal texts are on one side, and reads all of them once.

    With a ``seed`` every epoch is shuffled, with ``None`` samples come as stored; ``locality``
    shuffles in blocks of as many neighbours, for data that is expensive to read. ``roles`` gives
    ids to special roles, over those of the tokenizer.

    Raises UsageError for an unknown kind, part or setting, DataError where the tokens are too few
    or the dataset was built without what the kind reads.
    """
    if kind != "causal" and kind not in KINDS:
        known = ", ".join(["causal", *KINDS])
        raise UsageError(f"There are no samples of the kind {kind!r}; known: {known}.")
    if split_by not in ("place", "hash"):
        raise UsageError(f"split_by is {split_by!r}; known: place, hash.")
    choice = _Choice(seq_len, seed, split, weights, split_by, locality)
    view: CausalSamples | PackedSamples | WindowSamples
    if kind == "causal":
        view = _causal(dataset, settings_of(kind, CausalSettings, settings), choice)
    else:
        entry = KINDS[kind]
        chosen = settings_of(kind, entry.settings, {**entry.preset, **settings})
        vocabulary = vocabulary_of_dataset(dataset, kind, roles)
        objective = entry.objective(chosen, seq_len=seq_len, vocabulary=vocabulary)
        offsets = DocumentOffsets(dataset)
        windows = Windows(
            dataset.tokens,
            width=objective.width,
            stride=objective.stride,
            **_streams(dataset.tokens, offsets, choice, at_least=objective.width),
        )
        made = _made(dataset, kind)
        view = WindowSamples(
            windows,
            objective,
            seed=seed,
            words=made.word_starts if objective.words else None,
            sentences=made.sentence_starts if objective.sentences else None,
            documents=offsets if objective.documents else None,
            order=order_of(len(windows), seed, locality),
        )
    given = {**choice._asdict(), "roles": roles, **settings}
    return remember(view, open_samples, dataset, kind, **given)


def _causal(
    dataset: IndexedDataset, settings: CausalSettings, choice: _Choice
) -> CausalSamples | PackedSamples:
    offsets = DocumentOffsets(dataset)
    seq_len, seed = choice.seq_len, choice.seed
    if settings.packing == "stream":
        return CausalSamples(
            dataset.tokens,
            seq_len=seq_len,
            seed=seed,
            **_streams(dataset.tokens, offsets, choice, at_least=seq_len + 1),
            documents=offsets if settings.reset_attention else None,
            locality=choice.locality,
        )
    for given, what in (
        (choice.split_by == "hash", "split_by='hash'"),
        (choice.locality is not None, "locality"),
    ):
        if given:
            raise UsageError(
                f"packing='best-fit' works through documents in blocks: {what} is not for it"
            )
    return PackedSamples(
        dataset.tokens,
        offsets,
        seq_len=seq_len,
        seed=seed,
        ranges=None if choice.split is None else _ranges(offsets, choice, at_least=seq_len + 1),
        pad=getattr(dataset, "eod_id", None) or 0,
    )


def _streams(
    tokens: npt.NDArray[np.integer[Any]],
    offsets: DocumentOffsets,
    choice: _Choice,
    *,
    at_least: int,
) -> dict[str, Any]:
    """The parts of the tokens to use, as Windows and CausalSamples take them."""
    if choice.split is None:
        return {}
    if choice.split_by == "hash":
        parts = documents_by_hash(tokens, offsets, choice.weights)
        return {"streams": parts[_part(choice)], "joined": True}
    ranges = _ranges(offsets, choice, at_least=at_least)
    return {"streams": [(offsets[r.start], offsets[r.stop]) for r in ranges]}


def _part(choice: _Choice) -> int:
    known = PARTS[: len(choice.weights)]
    if choice.split not in known:
        raise UsageError(
            f"There is no part {choice.split!r} of a split; known: {', '.join(known)}."
        )
    return known.index(choice.split)


def _ranges(offsets: DocumentOffsets, choice: _Choice, *, at_least: int) -> list[range]:
    return split_documents(offsets, choice.weights, at_least=at_least)[_part(choice)]


def _made(dataset: IndexedDataset, kind: str) -> Dataset:
    from dataprep.dataset import Dataset

    if not isinstance(dataset, Dataset):
        raise UsageError(
            f"{dataset.prefix} was opened without its tokenizer, which {kind!r} samples need.",
            "Open it with dataprep.open; make it with `dataprep build`.",
        )
    return dataset


def vocabulary_of_dataset(
    dataset: IndexedDataset, kind: str, roles: Mapping[str, int] | None = None
) -> Vocabulary:
    """The vocabulary of a dataset, for samples of ``kind``."""
    made = _made(dataset, kind)
    return vocabulary_of(made.tokenizer(), file=Path(f"{made.prefix}.tokenizer.json"), roles=roles)
