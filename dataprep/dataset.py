"""``dataprep.open``: a dataset, with what its manifest knows about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .disk import BitColumn, IndexedDataset
from .errors import DataError
from .manifest import name_of, read_manifest

if TYPE_CHECKING:
    from .samples import Samples
    from .tokenizers.protocol import Tokenizer

__all__ = ["Dataset", "open_dataset"]


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
        return self._column("words")

    @cached_property
    def sentence_starts(self) -> BitColumn:
        """Where sentences start, likewise; DataError when it was built without --sentences."""
        return self._column("sentences")

    def _column(self, kind: str) -> BitColumn:
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
