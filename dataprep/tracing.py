"""``dataprep whence`` and ``dataprep where``: from a token to its place in the inputs, and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from .dataset import Dataset, open_dataset
from .errors import UsageError
from .inspect import visible
from .manifest import name_of

__all__ = ["describe_place", "whence", "where"]

_SHOWN = 60  # tokens of a document


def whence(target: str) -> dict[str, Any]:
    """What stands at ``NAME:TOKEN``: the document, where it comes from, and how it begins.

    Raises UsageError when there is no such token.
    """
    name, _, token = target.rpartition(":")
    if not name or not token.isdecimal():
        raise UsageError(
            f"{target} is not NAME:TOKEN.", "For example out/corpus:12345, counted from 0."
        )
    dataset = open_dataset(name_of(name))
    number = int(token)
    if number >= dataset.n_tokens:
        raise UsageError(f"There is no token {number:,}: {name} has {dataset.n_tokens:,}.")
    tracer = _Tracer(dataset)
    place = tracer.place(dataset.document_at(number))
    return {"token": number, "text_of_token": tracer.decoded(number, number + 1), **place}


def where(name: str, target: str) -> list[dict[str, Any]]:
    """What became of a document: its tokens and their text.

    ``target`` is the number of a document, or ``FILE:LINE``: the documents that start on that line,
    or the one that starts before it and may reach to it. FILE is a path as the build was given it,
    or the end of one. Raises UsageError when there is nothing.
    """
    dataset = open_dataset(name)
    if target.isdecimal():
        if int(target) >= dataset.n_documents:
            raise UsageError(
                f"There is no document {int(target):,}: {name} has {dataset.n_documents:,}."
            )
        return [_Tracer(dataset).place(int(target))]
    file, _, line = target.rpartition(":")
    if not file or not line.isdecimal() or int(line) < 1:
        raise UsageError(
            f"{target} is neither the number of a document nor FILE:LINE.",
            "Documents count from 0, lines from 1.",
        )
    found = [
        document
        for number in _inputs(dataset, file)
        for document in dataset.origins.find(number, int(line) - 1)
    ]
    starting = [document for document in found if dataset.origin(document).line == int(line)]
    found = starting or found
    if not found:
        raise UsageError(f"No document of {name} comes from {file} up to line {int(line):,}.")
    return list(map(_Tracer(dataset).place, found))


def describe_place(place: dict[str, Any]) -> str:
    """One document, for people."""
    origin = place["origin"]
    lines = [
        f"document    {place['document']:,}",
        f"from        {origin['file']}, line {origin['line']:,}, "
        f"{origin['unit']}s {origin['start']:,} to {origin['end']:,}",
        f"tokens      {place['first_token']:,} to {place['last_token']:,}",
        f"text        {place['text']}",
    ]
    if "token" in place:
        lines.insert(0, f"token       {place['token']:,}: {place['text_of_token']}")
    return "\n".join(lines)


def _inputs(dataset: Dataset, file: str) -> list[int]:
    """The inputs that are this file: several where datasets were merged."""
    paths = [entry["path"] for entry in dataset.manifest["inputs"]]
    same = [number for number, path in enumerate(paths) if path == file]
    if not same:
        wanted = Path(file).parts
        same = [n for n, path in enumerate(paths) if Path(path).parts[-len(wanted) :] == wanted]
    different = sorted({paths[number] for number in same})
    if len(different) > 1:
        raise UsageError(
            f"{len(different):,} inputs end in {file}: {', '.join(different[:3])}.",
            "Give more of the path.",
        )
    if not same:
        raise UsageError(
            f"{file} is not among the {len(paths):,} inputs of {dataset.prefix}.",
            f"The first is {paths[0]}." if paths else None,
        )
    return same


class _Tracer:
    """Tells of documents of one dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._tokenizer = dataset.tokenizer()

    def place(self, document: int) -> dict[str, Any]:
        first, last = self._dataset.token_range(document)
        text = self.decoded(first, min(last, first + _SHOWN))
        return {
            "document": document,
            "first_token": first,
            "last_token": last - 1,
            "text": text + ("…" if last - first > _SHOWN else ""),
            "origin": asdict(self._dataset.origin(document)),
        }

    def decoded(self, first: int, last: int) -> str:
        text = self._tokenizer.decode(self._dataset.tokens[first:last])
        return "".join(map(visible, text))
