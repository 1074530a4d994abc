"""The last step: the files of all shards become one dataset, which appears whole or not at all."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from .books import Books
from .disk import Block, Sink, blocks_of, token_dtype, write_bits, write_index, write_origins
from .durable import sync_folder, writing
from .errors import DataError, UsageError
from .inputs import Listing
from .manifest import COLUMNS, ENDINGS, FORMAT, manifest_path, read_manifest, sealed
from .plan import Plan
from .settings import BuildSettings
from .workfolder import Outcome, WorkFolder

if TYPE_CHECKING:
    from .tokenizers.protocol import Tokenizer

__all__ = ["finished", "publish"]


def finished(out: Path, plan: Plan, work: WorkFolder) -> dict[str, Any] | None:
    """The manifest of the dataset if this plan would make it again; None if it is not there.

    Raises UsageError when something else bears the name.
    """
    path = manifest_path(out)
    if not path.exists():
        if (work.path / "publishing").exists():
            return None  # what is there is ours, half in place
        for ending in (*ENDINGS, *(f".{kind}" for kind in COLUMNS)):
            if Path(f"{out}{ending}").exists():
                raise UsageError(
                    f"{out}{ending} exists, but {path} does not: it was not made here.",
                    "Choose another --out, or replace it with --overwrite.",
                )
        return None
    manifest = read_manifest(out)
    for ending, about in manifest["files"].items():
        file = Path(f"{out}{ending}")
        if not file.is_file() or file.stat().st_size != about["bytes"]:
            raise UsageError(
                f"{file} is missing or cut, though {path} describes it.",
                "Make the dataset again with --overwrite.",
            )
    if manifest["fingerprint"] == plan.fingerprint:
        return manifest
    before = manifest["identity"]
    changed = [
        f"{name} was {before.get(name)}, is {value}"
        for name, value in plan.identity.items()
        if before.get(name) != value
    ]
    raise UsageError(
        f"{out} exists and was made otherwise: {'; '.join(changed)}.",
        "Choose another --out, or replace it with --overwrite.",
    )


def publish(
    settings: BuildSettings,
    listing: Listing,
    plan: Plan,
    work: WorkFolder,
    outcomes: Mapping[int, Outcome],
    tokenizer: Tokenizer,
) -> dict[str, Any]:
    """Put the shards together and let the dataset appear; its manifest, which comes last."""
    out = Path(settings.out)
    books = Books()
    for shard in range(len(plan.shards)):
        books.add(outcomes[shard].books)
    books.check()
    if books.failed and not books.written:
        raise DataError(
            f"No document is left: {books.summary()}. The first failures:"
            + "".join(f"\n  {problem}" for problem in books.problems[:10]),
            "Is it the right encoding, and the right --text-key?",
        )

    def content(kind: str) -> Iterator[bytes]:
        for shard in range(len(plan.shards)):
            yield from work.content(shard, kind, outcomes[shard])

    dtype = token_dtype(tokenizer.vocab_size)
    files = {
        ".bin": _written(
            work.path / "bin",
            lambda file: _write_all(file, content("bin")),
        ),
        ".idx": _written(
            work.path / "idx",
            lambda file: write_index(
                file,
                lambda: (np.frombuffer(block, "<i4") for block in content("lengths")),
                n_sequences=books.written,
                dtype=dtype,
            ),
        ),
        ".origins": _written(
            work.path / "origins",
            lambda file: write_origins(file, _origins(work, plan, outcomes), books.written),
        ),
        ".tokenizer.json": _written(
            work.path / "tokenizer", lambda file: _write_all(file, [work.tokenizer.read_bytes()])
        ),
    }
    starts: dict[str, int] = {}
    for kind in plan.columns:

        def write(file: Sink, kind: str = kind) -> None:
            parts = (
                (work.content(shard, kind, outcomes[shard]), outcomes[shard].books.tokens)
                for shard in range(len(plan.shards))
            )
            starts[kind] = write_bits(file, parts, books.tokens)

        files[f".{kind}"] = _written(work.path / kind, write)
    values = {
        "format": FORMAT,
        "fingerprint": plan.fingerprint,
        "identity": dict(plan.identity),
        "documents": books.written,
        "sequences": books.written,
        "tokens": books.tokens,
        **starts,
        "dtype": np.dtype(dtype).name,
        "vocab_size": tokenizer.vocab_size,
        "eod_id": tokenizer.eod_id if settings.append_eod else None,
        "tokenizer": {
            "name": settings.tokenizer,
            "fingerprint": tokenizer.fingerprint,
            "engine": tokenizer.engine,
        },
        "files": files,
        "books": books.to_json(),
        "inputs": _inputs(listing, outcomes),
        "passed_over": listing.passed_over,
        "settings": settings.to_json(),
        "versions": _versions(),
    }
    manifest = sealed(values)
    if settings.keep_rejects is not None:
        with writing(Path(settings.keep_rejects)) as file:
            _write_all(file, content("rejects"))
    # From here on the files under the final names are ours, whatever happens.
    with writing(work.path / "publishing"):
        pass
    manifest_path(out).unlink(missing_ok=True)
    for ending, source in zip(ENDINGS, ("bin", "idx", "origins", "tokenizer"), strict=True):
        (work.path / source).replace(f"{out}{ending}")
    for kind in COLUMNS:
        if kind in plan.columns:
            (work.path / kind).replace(f"{out}.{kind}")
        else:
            Path(f"{out}.{kind}").unlink(missing_ok=True)  # of a dataset that is replaced
    sync_folder(out.parent)
    with writing(manifest_path(out)) as file:
        file.write(json.dumps(manifest, indent=1).encode())
    return manifest


def _written(path: Path, write: Callable[[Sink], None]) -> dict[str, Any]:
    """Write a file of the dataset and describe it."""
    with writing(path) as file:
        hashing = _Hashing(file)
        write(hashing)
    return {"bytes": hashing.size, "sha256": hashing.digest.hexdigest()}


class _Hashing:
    """A file to write to that hashes what passes through, which saves reading it again."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes | memoryview) -> int:
        self.digest.update(data)
        self.size += memoryview(data).nbytes
        return self._file.write(data)


def _origins(work: WorkFolder, plan: Plan, outcomes: Mapping[int, Outcome]) -> Iterator[Block]:
    """The origins in all shards, those of a file that was cut counted from its beginning."""
    before: dict[int, tuple[int, int]] = {}
    for shard in range(len(plan.shards)):
        outcome = outcomes[shard]
        yield from blocks_of(work.content(shard, "origins", outcome), before)
        for number, (lines, size) in outcome.extents.items():
            had_lines, had_size = before.get(number, (0, 0))
            before[number] = (had_lines + lines, had_size + size)


def _write_all(file: Sink, blocks: Iterable[bytes]) -> None:
    for block in blocks:
        file.write(block)


def _inputs(listing: Listing, outcomes: Mapping[int, Outcome]) -> list[dict[str, Any]]:
    hashes: dict[int, str] = {}
    for outcome in outcomes.values():
        hashes.update(outcome.hashes)
    return [
        {"path": entry.path, "size": entry.size, "sha256": hashes.get(number)}
        for number, entry in enumerate(listing.inputs)
    ]


def _versions() -> dict[str, str]:
    packages = ("numpy", "tokenizers", "fastokens", "sentencepiece", "msgspec", "zstandard")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
