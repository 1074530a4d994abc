"""``dataprep.open``: a dataset, with what its manifest knows about it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .disk import BitColumn, IndexedDataset, Origins
from .errors import DataError
from .manifest import name_of, read_manifest

if TYPE_CHECKING:
    from .samples import Samples
    from .tokenizers.protocol import Tokenizer

__all__ = ["Dataset", "Origin", "open_dataset"]


@dataclass(frozen=True)
class Origin:
    """Where in the inputs a document comes from."""

    document: int
    file: str
    """The path as it was given to the build."""
    line: int
    """From 1."""
    start: int
    end: int
    """Its record is ``[start, end)`` of the file, decompressed: bytes, or rows."""
    unit: str

    def __str__(self) -> str:
        what = f"{self.unit}s {self.start:,} to {self.end:,}"
        return f"{self.file}, line {self.line:,}, {what}"


class Dataset(IndexedDataset):
    """An IndexedDataset and its manifest. Raises DataError when the two disagree."""

    def __init__(self, name: str | Path) -> None:
        name = name_of(str(name))
        self.manifest: dict[str, Any] = read_manifest(name)
        super().__init__(name)
        for what, found in (
            ("documents", self.n_documents),
            ("sequences", self.n_sequences),
            ("tokens", self.n_tokens),
            ("dtype", self.dtype.name),
        ):
            if self.manifest[what] != found:
                raise DataError(
                    f"{name}.json says {what} {self.manifest[what]}, the index says {found}: the "
                    "files are not of one dataset."
                )

    @property
    def vocab_size(self) -> int:
        """Largest id of the tokenizer + 1."""
        return int(self.manifest["vocab_size"])

    @property
    def eod_id(self) -> int | None:
        """The id that ends every document; None when nothing was appended."""
        eod_id: int | None = self.manifest["eod_id"]
        return eod_id

    @property
    def tokens_sha256(self) -> str:
        """Hex sha256 of ``.bin`` as it was when the dataset was made."""
        return str(self.manifest["files"][".bin"]["sha256"])

    @cached_property
    def word_starts(self) -> BitColumn:
        """Where words start: ``dataset.word_starts[i:j]`` is bool[j - i], by token.

        Raises DataError when the dataset was built without --words.
        """
        return self.column("words")

    @cached_property
    def sentence_starts(self) -> BitColumn:
        """Where sentences start, likewise; DataError when it was built without --sentences."""
        return self.column("sentences")

    def column(self, kind: str) -> BitColumn:
        """A bit for each token; ``kind`` is one of manifest.COLUMNS. Raises DataError likewise."""
        path = Path(f"{self.prefix}.{kind}")
        if f".{kind}" not in self.manifest["files"]:
            raise DataError(
                f"{self.prefix} does not say where its {kind} start.", f"Build it with --{kind}."
            )
        column = BitColumn(path)
        if len(column) != self.n_tokens:
            raise DataError(
                f"{path} has a bit for each of {len(column):,} tokens, but the dataset has "
                f"{self.n_tokens:,}: the files are not of one dataset."
            )
        return column

    @cached_property
    def origins(self) -> Origins:
        """Where the documents come from, as stored. Raises DataError when that is damaged."""
        origins = Origins(Path(f"{self.prefix}.origins"))
        if len(origins) != self.n_documents:
            raise DataError(
                f"{self.prefix}.origins is of {len(origins):,} documents, the dataset has "
                f"{self.n_documents:,}: they do not belong together."
            )
        return origins

    def origin(self, document: int) -> Origin:
        """Where a document comes from. Raises IndexError when there is no such document."""
        if not 0 <= document < self.n_documents:
            raise IndexError(f"document {document} of {self.n_documents:,}")
        number, line, start, end = self.origins.of(document)
        inputs = self.manifest["inputs"]
        if number >= len(inputs):
            raise DataError(f"{self.prefix}.origins names input {number} of {len(inputs)}.")
        entry = inputs[number]
        return Origin(document, entry["path"], line + 1, start, end, entry["unit"])

    def document_at(self, token: int) -> int:
        """The document that a token stands in. Raises IndexError when there is no such token."""
        sequence = self.sequence_at(token)
        document = bisect_right(self.document_indices, sequence) - 1
        if not 0 <= document < self.n_documents:
            raise DataError(f"{self.prefix}.idx is damaged: token {token:,} is in no document.")
        return document

    def token_range(self, document: int) -> tuple[int, int]:
        """The tokens of a document, as the numbers of the first and of the one after the last."""
        first, last = (int(self.document_indices[at]) for at in (document, document + 1))
        if not 0 <= first <= last <= self.n_sequences:
            raise DataError(f"{self.prefix}.idx is damaged at document {document:,}.")
        bounds = [self._token_start(sequence) for sequence in (first, last)]
        if not 0 <= bounds[0] <= bounds[1] <= self.n_tokens:
            raise DataError(f"{self.prefix}.idx is damaged at document {document:,}.")
        return bounds[0], bounds[1]

    def _token_start(self, sequence: int) -> int:
        if sequence == self.n_sequences:
            return self.n_tokens
        return int(self.pointers[sequence]) // self.dtype.itemsize

    def samples(
        self,
        kind: str,
        *,
        seq_len: int,
        seed: int | None = None,
        split: str | None = None,
        weights: Sequence[float] = (99.0, 1.0),
        **settings: Any,
    ) -> Samples:
        """Training samples, of all documents or of one part of them; see open_samples.

        ``settings`` are the others of open_samples, and those of the kind.
        """
        from .samples import open_samples

        return open_samples(
            self, kind, seq_len=seq_len, seed=seed, split=split, weights=weights, **settings
        )

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the dataset was made with, which lies beside it."""
        from .tokenizers.load import load_tokenizer

        path = Path(f"{self.prefix}.tokenizer.json")
        if not path.is_file():
            raise DataError(
                f"The tokenizer of {self.prefix} is missing: there is no {path}.",
                "Copy it along with the other files of the dataset.",
            )
        tokenizer = load_tokenizer(path)
        if tokenizer.fingerprint != self.manifest["tokenizer"]["fingerprint"]:
            raise DataError(f"{path} is not the tokenizer that {self.prefix} was made with.")
        return tokenizer


def open_dataset(name: str | Path) -> Dataset:
    """Open the dataset ``NAME``, given by its name or by the path of any of its files.

    An address (``s3://bucket/NAME``) is fetched into the user's cache first; see fetch_dataset.
    Raises DataError when it is missing or damaged.
    """
    if "://" in str(name):
        from .remote import fetch_dataset

        name = fetch_dataset(str(name))
    return Dataset(name)
