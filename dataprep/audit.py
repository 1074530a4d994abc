"""``dataprep audit``: read the inputs again, and account for every byte, record and document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .books import Books, Problem
from .dataset import Dataset, open_dataset
from .disk import Columns
from .errors import DataError
from .intake import Documents, Intake, sha256_of
from .plan import Plan
from .policy import ErrorPolicy
from .settings import BuildSettings
from .specials import SpecialPolicy
from .words import Marker

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
    if "plan" not in manifest:
        parents = ", ".join(parent["name"] for parent in manifest["parents"])
        raise DataError(
            f"{name} was not built from text but put together from {parents}.",
            "Audit those, and check this one with `dataprep verify`.",
        )
    _check_inputs(manifest)
    plan = Plan.of_manifest(manifest)
    settings = BuildSettings.from_values(manifest["settings"])
    specials = None
    if settings.special_in_text == "error":
        tokenizer = dataset.tokenizer()
        specials = SpecialPolicy("error", tokenizer, Marker(tokenizer, None, sentences=False))
    counter = _Recount(dataset, plan, ErrorPolicy.of(settings), specials)
    total = Books()
    for shard, expected in enumerate(manifest["ledger"]):
        found = counter.shard(shard)
        _compare(f"{plan.shard_name(shard)} of {name}", _counts(expected), found)
        total.add(found)
    _compare(f"{name} as a whole", _counts(manifest["books"]), total)
    if counter.document != dataset.n_documents:
        raise DataError(
            f"{name} has {dataset.n_documents:,} documents; its inputs give {counter.document:,}."
        )
    amounts = {unit: each.to_json() for unit, each in total.amounts.items()}
    return {"documents": counter.document, "inputs": len(plan.inputs), "amounts": amounts}


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
    def __init__(
        self, dataset: Dataset, plan: Plan, policy: ErrorPolicy, specials: SpecialPolicy | None
    ) -> None:
        self._dataset, self._plan, self._policy, self._specials = dataset, plan, policy, specials
        self._before: dict[int, tuple[int, int]] = {}
        self.document = 0

    def shard(self, shard: int) -> Books:
        """The books of a shard, recounted."""
        intake = Intake(self._plan, self._policy, self._specials, _ignore)
        for piece in self._plan.shards[shard]:
            for documents in intake.piece(piece, hashed=False):
                self._check_origins(documents, self._before.get(piece.input, (0, 0)))
        for number, (lines, size) in intake.extents.items():
            had_lines, had_size = self._before.get(number, (0, 0))
            self._before[number] = (had_lines + lines, had_size + size)
        return intake.books

    def _check_origins(self, documents: Documents, before: tuple[int, int]) -> None:
        count = len(documents.batch)
        if not count:
            return
        inputs, lines, starts, ends = documents.origins
        found = Columns(inputs, lines + before[0], starts + before[1], ends + before[1])
        first, last = self.document, min(self.document + count, self._dataset.n_documents)
        stored = self._dataset.origins.part(first, last)
        self.document += count
        wrong = sum(a[: last - first] != b for a, b in zip(found, stored, strict=True))
        at = int(wrong.argmax()) if len(wrong) and wrong.any() else last - first
        if at < count:
            path = self._plan.inputs[int(inputs[at])].path
            raise DataError(
                f"{path}, line {int(found.lines[at]) + 1:,}, byte {int(found.starts[at]):,}: this "
                f"record would be document {first + at:,}, which the dataset does not have from "
                "there.",
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
