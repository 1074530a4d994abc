"""The tokenizer of a build: given by the user, or trained on the corpus itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .durable import replace
from .errors import JimuError, UsageError
from .training import train_apart
from .workfolder import WorkFolder, changed_from_outside

if TYPE_CHECKING:
    from .progress import Observer
    from .settings import BuildSettings
    from .tokenizers.protocol import Tokenizer
    from .tokenizers.spec import TrainSpec

__all__ = ["Vocabulary", "ends_of", "vocabulary"]


class Vocabulary(Protocol):
    """Where the tokenizer comes from."""

    @property
    def identity(self) -> str:
        """All that decides ids."""

    def tokenizer(self, work: WorkFolder, observer: Observer) -> Tokenizer:
        """The tokenizer, of which the work folder, which has its plan, gets a copy."""


def vocabulary(settings: BuildSettings) -> Vocabulary:
    """What --tokenizer asks for. Raises UsageError or DataError when it cannot be had."""
    from .tokenizers.spec import parse_tokenizer_spec

    spec = parse_tokenizer_spec(settings.tokenizer)
    return _Given(spec, settings) if isinstance(spec, Path) else _Trained(spec)


def ends_of(tokenizer: Tokenizer, settings: BuildSettings) -> tuple[int | None, int | None]:
    """The ids that start and end a document; UsageError when the vocabulary has none to give."""
    bos_id = tokenizer.specials.get("bos")
    if settings.append_eod and tokenizer.eod_id is None:
        raise UsageError(
            f"Tokenizer {tokenizer.name} has no end-of-document token.",
            "Add one to the file as a special token, for example <|endoftext|>, or build with "
            "--no-append-eod.",
        )
    if settings.add_bos and bos_id is None:
        raise UsageError(
            f"Tokenizer {tokenizer.name} has no token that begins a document, as --add-bos wants.",
            f"Its special tokens are: {', '.join(tokenizer.special_tokens) or 'none'}.",
        )
    return bos_id if settings.add_bos else None, tokenizer.eod_id if settings.append_eod else None


class _Given:
    def __init__(self, path: Path, settings: BuildSettings) -> None:
        from .tokenizers.load import load_tokenizer

        self._tokenizer = load_tokenizer(path)
        ends_of(self._tokenizer, settings)

    @property
    def identity(self) -> str:
        return f"sha256 {self._tokenizer.fingerprint}"

    def tokenizer(self, work: WorkFolder, observer: Observer) -> Tokenizer:  # noqa: ARG002
        self._tokenizer.save(work.tokenizer)
        return self._tokenizer


class _Trained:
    def __init__(self, spec: TrainSpec) -> None:
        self._spec = spec

    @property
    def identity(self) -> str:
        from .tokenizers.train import trainer_of

        return f"{self._spec} by {trainer_of(self._spec)}"

    def tokenizer(self, work: WorkFolder, observer: Observer) -> Tokenizer:
        from .tokenizers.load import load_tokenizer

        if not work.tokenizer.exists():
            observer.note(f"Training the tokenizer ({self._spec}) on the corpus.")
            replace(work.tokenizer, train_apart(self._spec, work))
        try:
            return load_tokenizer(work.tokenizer)
        except JimuError as error:
            raise changed_from_outside(work.tokenizer) from error
