"""``dataprep audit``: read the inputs again, and account for every byte, record and document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .books import Books, Problem
from .dataset import Dataset, open_dataset
from .disk import Columns
from .errors import DataError
from .intake import Documents, Intake, sha256_of
from .parts import Part, books_of, parts_of
from .plan import Plan
from .policy import ErrorPolicy
from .settings import BuildSettings
from .specials import SpecialPolicy

__all__ = ["audit"]

_COUNTED = ("read", "written", "dropped", "failed", "damaged_files", "bytes_read", "amounts")


def audit(name: str | Path) -> dict[str, Any]:
    """Recount what a dataset was made of, with its own settings, without tokenizing.

    Every input is hashed and read again; each document must come from where ``NAME.origins`` says,
    and each shard must have the counts of its row in the ledger. Returns the totals. Raises
    DataError that names the first file, document or count that is not explained.
    """
    dataset = open_dataset(name)
    manifest = dataset.manifest
    _check_inputs(manifest)
    parts = parts_of(manifest)
    document = number = 0
    for part in parts:
        inputs = manifest["inputs"][number : number + part.inputs]
        counter = _Recount(dataset, part, inputs, document, number)
        _audit_part(f"{name}" if len(parts) == 1 else f"part {document:,} of {name}", part, counter)
        document += part.last - part.first
        number += part.inputs
    total = books_of(parts)
    _compare(f"{name} as a whole", _counts(manifest["books"]), _counts(total.to_json()))
    if document != dataset.n_documents:
        raise DataError(
            f"{name} has {dataset.n_documents:,} documents; its inputs give {document:,}."
        )
    amounts = {unit: each.to_json() for unit, each in total.amounts.items()}
    return {"documents": document, "inputs": len(manifest["inputs"]), "amounts": amounts}


def _audit_part(name: str, part: Part, counter: _Recount) -> None:
    total = Books()
    for shard, expected in enumerate(part.ledger):
        found = counter.shard(shard)
        _compare(f"{counter.plan.shard_name(shard)} of {name}", _counts(expected), found)
        total.add(found)
    _compare(f"{name} as it was built", _counts(part.books), total)
    pairs: list[tuple[str, Any, Any]] = [
        ("documents", part.documents, counter.document),
        ("amounts", {u: n for u, n in part.amounts.items() if n}, dict(counter.here)),
    ]
    for what, expected, now in pairs:
        if expected != now:
            raise DataError(f"{name}: {what} {expected}, which is {now} when counted again.")


def _check_inputs(manifest: Mapping[str, Any]) -> None:
    hint = "An audit needs the inputs as they were, from the folder that the build ran in."
    for entry in manifest["inputs"]:
        path = Path(entry["path"])
        try:
            size = path.stat().st_size
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.", hint) from error
        if size != entry["size"]:
            raise DataError(f"{path} has {size:,} bytes; it had {entry['size']:,}.", hint)
        if entry["sha256"] is not None and sha256_of(path) != entry["sha256"]:
            raise DataError(
                f"{path} has other content than what was read: its sha256 differs.", hint
            )


class _Recount:
    """Reads again what a part of a dataset was made of."""

    def __init__(
        self,
        dataset: Dataset,
        part: Part,
        inputs: Sequence[Mapping[str, Any]],
        first_document: int,
        first_input: int,
    ) -> None:
        settings = BuildSettings.from_values(part.settings)
        self.plan = Plan.of_manifest(
            {"plan": part.plan, "inputs": inputs, "identity": part.identity}
        )
        self.document = 0
        """Of the build: how many were found so far."""
        self.here: Counter[str] = Counter()
        """What of the input is in the documents of this part, by unit."""
        self._dataset, self._part, self._inputs = dataset, part, inputs
        self._first_document, self._first_input = first_document, first_input
        self._policy = ErrorPolicy.of(settings)
        self._specials = None
        if settings.special_in_text == "error":
            self._specials = SpecialPolicy("error", dataset.tokenizer())
        self._before: dict[int, tuple[int, int]] = {}

    def shard(self, shard: int) -> Books:
        """The books of a shard, recounted."""
        intake = Intake(self.plan, self._policy, self._specials, _ignore)
        for piece in self.plan.shards[shard]:
            unit = self._inputs[piece.input]["unit"]
            for documents in intake.piece(piece, hashed=False):
                self._check_origins(documents, self._before.get(piece.input, (0, 0)), unit)
        for number, (lines, size) in intake.extents.items():
            had_lines, had_size = self._before.get(number, (0, 0))
            self._before[number] = (had_lines + lines, had_size + size)
        return intake.books

    def _check_origins(self, documents: Documents, before: tuple[int, int], unit: str) -> None:
        """Compare those documents that are in this part with what is stored of them."""
        part, begin = self._part, self.document
        self.document += len(documents.batch)
        first, last = max(begin, part.first), min(self.document, part.last)
        if first >= last:
            return
        inputs, lines, starts, ends = documents.origins.part(slice(first - begin, last - begin))
        self.here[unit] += int((ends - starts).sum())
        found = Columns(
            inputs + self._first_input, lines + before[0], starts + before[1], ends + before[1]
        )
        offset = self._first_document - part.first
        stored_last = min(last + offset, self._dataset.n_documents)
        stored = self._dataset.origins.part(first + offset, stored_last)
        count = len(stored.starts)
        wrong = sum(a[:count] != b for a, b in zip(found, stored, strict=True))
        at = int(wrong.argmax()) if len(wrong) and wrong.any() else count
        if at < last - first:
            path = self.plan.inputs[int(inputs[at])].path
            raise DataError(
                f"{path}, line {int(found.lines[at]) + 1:,}, byte {int(found.starts[at]):,}: this "
                f"record would be document {first + offset + at:,}, which the dataset does not "
                "have from there.",
                "Build it again, or copy NAME.origins again.",
            )


def _ignore(outcome: str, problem: Problem, record: bytes) -> None:
    """Rejects are only counted."""


def _counts(values: Mapping[str, Any]) -> Books:
    return Books.from_json({**values, "problems": [], "tokens": 0})


def _compare(what: str, expected: Books, found: Books) -> None:
    for name in _COUNTED:
        before, now = getattr(expected, name), getattr(found, name)
        if before != now:
            raise DataError(f"{what}: {name} was {before}, and is {now} when counted again.")
