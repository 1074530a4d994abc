"""``dataprep inspect --objective``: what a model would be shown, and what it would have to say.

Every mark is a character as well as a colour, so that nothing is lost in a file or a pipe:

- ``[春天]`` is hidden behind [MASK] and to be predicted,
- ``{夏天→春天}`` stands in the place of what is to be predicted,
- ``(春天)`` is to be predicted though it is there to be read,
- ``¶`` is the edge of a document, ``<…>`` another special token, ``·`` padding.

Where each token is the label of the one before it, what is not predicted is dim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .dataset import Dataset, open_dataset
from .errors import UsageError
from .inspect import visible
from .samples.views import vocabulary_of_dataset

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["sample_arrays", "sample_texts"]

IGNORED = -100
_STYLES = {
    "masked": "bold white on red",
    "replaced": "bold black on yellow",
    "kept": "bold black on green",
    "edge": "bold cyan",
    "special": "magenta",
    "padding": "dim",
    "context": "dim",
    "text": "",
}
# Between Chinese characters, WordPiece decodes with blanks that no text had.
_BLANKS = re.compile(r"(?<=[⺀-鿿，。！？；：、）】》]) (?=[⺀-鿿（【《，。！？；：、])")


def sample_arrays(
    name: str | Path, objective: str, *, seq_len: int, count: int, seed: int
) -> dict[str, Any]:
    """The arrays of the first samples of a run, as plain values."""
    batch = _batch(open_dataset(name), objective, seq_len, count, seed)
    return {"objective": objective, **{key: array.tolist() for key, array in batch.items()}}


def sample_texts(
    name: str | Path, objective: str, *, seq_len: int, count: int, seed: int
) -> list[Text]:
    """The first samples of a run, coloured: one text each."""
    dataset = open_dataset(name)
    batch = _batch(dataset, objective, seq_len, count, seed)
    show = _Show(dataset, objective)
    return [show.sample({key: array[row] for key, array in batch.items()}) for row in range(count)]


def _batch(
    dataset: Dataset, objective: str, seq_len: int, count: int, seed: int
) -> Mapping[str, npt.NDArray[Any]]:
    if count < 1:
        raise UsageError(f"{count} samples: at least 1 can be shown")
    return dataset.samples(objective, seq_len=seq_len, seed=seed).batch(np.arange(count))


class _Show:
    """Samples of one objective as text."""

    def __init__(self, dataset: Dataset, objective: str) -> None:
        self._tokenizer = dataset.tokenizer()
        self._eod = dataset.eod_id
        self._in_place = objective.startswith("mlm")
        vocabulary = vocabulary_of_dataset(dataset, objective)
        self._mask = vocabulary.roles.get("mask")
        self._pad = vocabulary.roles.get("pad")
        self._special = vocabulary.is_special

    def sample(self, arrays: Mapping[str, npt.NDArray[Any]]) -> Text:
        tokens, labels = arrays["tokens"], arrays["labels"]
        shown = arrays.get("attention_mask", np.ones(len(tokens), bool))
        if "decoder_tokens" in arrays:
            used = labels != IGNORED
            return self._lines(
                ("reads ", self._plain(tokens, shown)), ("writes", self._plain(labels[used]))
            )
        if self._in_place:
            line = self._masked(tokens, labels, shown)
            if "pair_labels" not in arrays:
                return self._lines(("", line))
            pair = {0: "in order", 1: "not in order"}.get(int(arrays["pair_labels"]), "no pair")
            return self._lines(("", line), ("pair  ", [("text", pair)]))
        # Each token is seen before it is predicted: the last label is the one that is never read.
        whole = np.append(tokens, labels[-1] if labels[-1] != IGNORED else self._pad or 0)
        predicted = np.append(False, labels != IGNORED)
        keep = np.append(shown, labels[-1] != IGNORED)
        return self._lines(("", self._plain(whole, keep, predicted)))

    def _masked(
        self,
        tokens: npt.NDArray[np.int64],
        labels: npt.NDArray[np.int64],
        shown: npt.NDArray[np.bool_],
    ) -> Iterator[tuple[str, str]]:
        kinds = self._kinds(tokens, shown)
        for i in np.flatnonzero(labels != IGNORED):
            same = tokens[i] == labels[i]
            kinds[i] = "masked" if tokens[i] == self._mask else "kept" if same else "replaced"
        for kind, here in _runs(kinds):
            if kind == "masked":
                yield kind, f"[{self._decode(labels[here])}]"
            elif kind == "replaced":
                yield kind, f"{{{self._decode(tokens[here])}→{self._decode(labels[here])}}}"
            elif kind == "kept":
                yield kind, f"({self._decode(tokens[here])})"
            else:
                yield kind, self._text(kind, tokens[here])

    def _plain(
        self,
        tokens: npt.NDArray[np.int64],
        shown: npt.NDArray[np.bool_] | None = None,
        predicted: npt.NDArray[np.bool_] | None = None,
    ) -> Iterator[tuple[str, str]]:
        kinds = self._kinds(tokens, np.ones(len(tokens), bool) if shown is None else shown)
        if predicted is not None and not predicted[1:].all():
            kinds = [
                "context" if kind == "text" and not said else kind
                for kind, said in zip(kinds, predicted, strict=True)
            ]
        for kind, here in _runs(kinds):
            yield kind, self._text(kind, tokens[here])

    def _kinds(self, tokens: npt.NDArray[np.int64], shown: npt.NDArray[np.bool_]) -> list[str]:
        def kind(token: int, is_shown: bool) -> str:
            if not is_shown:
                return "padding"
            if token == self._eod:
                return "edge"
            return "special" if self._special[token] else "text"

        return [kind(t, s) for t, s in zip(tokens.tolist(), shown.tolist(), strict=True)]

    def _text(self, kind: str, tokens: npt.NDArray[np.int64]) -> str:
        if kind == "padding":
            return f"· {len(tokens)} padding"
        if kind == "edge":
            return "¶" * len(tokens)
        if kind == "special":
            names = [self._decode(tokens[i : i + 1]) for i in range(len(tokens))]
            return " ".join(name if name[:1] in "<[" else f"<{name}>" for name in names)
        return self._decode(tokens)

    def _decode(self, ids: npt.NDArray[np.int64]) -> str:
        text = " ".join(self._tokenizer.decode(ids).split())
        return "".join(map(visible, _BLANKS.sub("", text)))

    @staticmethod
    def _lines(*lines: tuple[str, Any]) -> Text:
        from rich.text import Text

        text = Text()
        for number, (head, parts) in enumerate(lines):
            text.append("\n" if number else "")
            text.append(f"{head} " if head else "", "bold")
            for i, (kind, part) in enumerate(parts):
                text.append(" " if i else "")
                text.append(part, _STYLES[kind])
        return text


def _runs(kinds: list[str]) -> Iterator[tuple[str, slice]]:
    at = 0
    for kind, run in groupby(kinds):
        length = len(list(run))
        yield kind, slice(at, at + length)
        at += length
