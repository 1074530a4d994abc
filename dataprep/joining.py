"""``dataprep merge`` and ``dataprep split``: datasets put together and cut, by copying bytes.

Nothing is tokenized again, and the order of documents stays. While the bytes are copied, the files
that they come from are hashed: a damaged dataset does not become one that looks whole.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .appearing import Drafts, write_all
from .dataset import Dataset, open_dataset
from .disk import Block, Sink, write_bits, write_index, write_origins
from .errors import DataError, UsageError
from .manifest import COLUMNS, FORMAT, manifest_path, name_of
from .parts import Part, books_of, identity_of, parts_of
from .publish import refuse_foreign, versions
from .workfolder import WorkFolder

__all__ = ["Stretch", "merge", "split"]

_STEP = 1 << 22  # bytes copied, or sequences handled, at once
_AGREE = ("dtype", "vocab_size", "eod_id")
_SAME = ("add_bos", "append_eod", *COLUMNS)


@dataclass(frozen=True)
class Stretch:
    """Documents ``[first, last)`` of a dataset."""

    dataset: Dataset
    first: int
    last: int

    @property
    def tokens(self) -> range:
        """Their tokens."""
        if self.first == self.last:
            return range(0)
        start, _ = self.dataset.token_range(self.first)
        _, end = self.dataset.token_range(self.last - 1)
        return range(start, end)


def merge(names: Sequence[str | Path], out: str | Path) -> dict[str, Any]:
    """Put datasets one after another into ``out``; its manifest.

    They must be of one tokenizer and have their ids in one dtype. Raises UsageError when they do
    not, or ``out`` is there; DataError when one of them is not what was built.
    """
    datasets = [_whole_sequences(name) for name in names]
    for other in datasets[1:]:
        _check_agreement(datasets[0], other)
    with _checked(datasets) as check:
        return _join([Stretch(each, 0, each.n_documents) for each in datasets], Path(out), check)


def split(
    name: str | Path, out: str | Path, *, by: str | None = None, documents: str | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """Cut a dataset between documents; names and manifests of what came of it.

    ``by``: weights, as ``98,1,1``; parts of so many tokens, in order, under ``OUT-0``, ``OUT-1``,
    and so on. ``documents``: ``A:B`` for documents A to B - 1, under ``OUT``. Raises as merge does.
    """
    dataset = _whole_sequences(name)
    if (by is None) == (documents is None):
        raise UsageError(
            "Say how to split: --by WEIGHTS or --documents A:B.", "For example --by 98,1,1"
        )
    if documents is not None:
        first, last = _range(documents, dataset.n_documents)
        targets = [(str(out), Stretch(dataset, first, last))]
    else:
        assert by is not None  # noqa: S101
        cuts = _cuts(dataset, _weights(by))
        targets = [
            (f"{out}-{number}", Stretch(dataset, *bounds))
            for number, bounds in enumerate(pairwise(cuts))
        ]
    for target, _ in targets:
        _refuse_existing(Path(target))
    with _checked([dataset]) as check:
        return [(target, _join([part], Path(target), check)) for target, part in targets]


def _whole_sequences(name: str | Path) -> Dataset:
    dataset = open_dataset(name)
    if dataset.n_sequences != dataset.n_documents:
        raise DataError(
            f"{name} has {dataset.n_sequences:,} sequences for {dataset.n_documents:,} documents; "
            "what is built here has one for each."
        )
    return dataset


def _check_agreement(one: Dataset, other: Dataset) -> None:
    hint = "Build both with the same tokenizer and settings."
    tokenizers = [each.manifest["tokenizer"] for each in (one, other)]
    if tokenizers[0]["fingerprint"] != tokenizers[1]["fingerprint"]:
        raise UsageError(
            f"{one.prefix} and {other.prefix} have different tokenizers: {tokenizers[0]['name']} "
            f"({tokenizers[0]['fingerprint'][:12]}) and {tokenizers[1]['name']} "
            f"({tokenizers[1]['fingerprint'][:12]}).",
            hint,
        )
    for what in _AGREE:
        values = [each.manifest[what] for each in (one, other)]
        if values[0] != values[1]:
            raise UsageError(
                f"{what} of {one.prefix} is {values[0]}, of {other.prefix} {values[1]}.", hint
            )
    for what in _SAME:
        values = [each.manifest["identity"].get(what) for each in (one, other)]
        if values[0] != values[1]:
            raise UsageError(
                f"{one.prefix} was built with {what} {values[0]}, {other.prefix} with {values[1]}.",
                hint,
            )


@contextmanager
def _checked(datasets: Sequence[Dataset]) -> Iterator[Callable[[], None]]:
    """What raises DataError unless every file of the datasets is what was written."""
    files = {
        Path(f"{dataset.prefix}{ending}"): about["sha256"]
        for dataset in datasets
        for ending, about in dataset.manifest["files"].items()
    }
    with ThreadPoolExecutor(1) as pool:
        found: list[tuple[Path, Future[str]]] = [
            (path, pool.submit(_sha256, path)) for path in files
        ]

        def check() -> None:
            for path, digest in found:
                if digest.result() != files[path]:
                    raise DataError(
                        f"{path} was changed: its sha256 is not the one in the manifest.",
                        "Copy it again, or make that dataset again. Nothing was published.",
                    )

        try:
            yield check
        finally:
            pool.shutdown(cancel_futures=True)


def _join(stretches: Sequence[Stretch], out: Path, check: Callable[[], None]) -> dict[str, Any]:
    """Make a dataset of stretches of others; its manifest."""
    _refuse_existing(out)
    first = stretches[0].dataset
    parts, numbers, inputs = _parts(stretches)
    books = books_of(parts)
    identity, fingerprint = identity_of(parts)
    work = WorkFolder(out)
    with work.locked():
        if work.plan.exists():
            raise UsageError(
                f"{work.path} holds an unfinished build.", "Finish it, or choose another --out."
            )
        refuse_foreign(out, work)
        try:
            drafts = _drafts(stretches, numbers, books.written, Drafts(out, work))
            starts = _columns(stretches, books.tokens, drafts)
            check()
        except BaseException:
            work.clear()  # as large as a dataset, and of no use
            raise
        manifest = drafts.appear(
            {
                "format": FORMAT,
                "fingerprint": fingerprint,
                "identity": identity,
                "documents": books.written,
                "sequences": books.written,
                "tokens": books.tokens,
                **starts,
                "dtype": first.dtype.name,
                "vocab_size": first.vocab_size,
                "eod_id": first.eod_id,
                "tokenizer": first.manifest["tokenizer"],
                "books": books.to_json(),
                "parts": [part.to_json() for part in parts],
                "inputs": inputs,
                "versions": versions(),
            }
        )
        work.remove()
    return manifest


def _drafts(
    stretches: Sequence[Stretch],
    numbers: Sequence[Mapping[int, int]],
    n_documents: int,
    drafts: Drafts,
) -> Drafts:
    first = stretches[0].dataset
    tokenizer = Path(f"{first.prefix}.tokenizer.json").read_bytes()
    drafts.write(".bin", lambda file: _copy_tokens(file, stretches))
    drafts.write(
        ".idx",
        lambda file: write_index(
            file, lambda: _lengths(stretches), n_sequences=n_documents, dtype=first.dtype
        ),
    )
    drafts.write(
        ".origins", lambda file: write_origins(file, _origins(stretches, numbers), n_documents)
    )
    drafts.write(".tokenizer.json", lambda file: write_all(file, [tokenizer]))
    return drafts


def _columns(stretches: Sequence[Stretch], n_tokens: int, drafts: Drafts) -> dict[str, int]:
    """Join the bits that the datasets have of their tokens; how many are set, by kind."""
    starts: dict[str, int] = {}
    for kind in COLUMNS:
        if f".{kind}" not in stretches[0].dataset.manifest["files"]:
            continue

        def write(file: Sink, kind: str = kind) -> None:
            parts = ((_bits(each, kind), len(each.tokens)) for each in stretches)
            starts[kind] = write_bits(file, parts, n_tokens)

        drafts.write(f".{kind}", write)
    return starts


def _bits(stretch: Stretch, kind: str) -> Iterator[bytes]:
    column, tokens = stretch.dataset.column(kind), stretch.tokens
    for first in range(tokens.start, tokens.stop, _STEP):
        bits = column[first : min(first + _STEP, tokens.stop)]
        yield np.packbits(bits, bitorder="little").tobytes()


def _refuse_existing(out: Path) -> None:
    if Path(out).name in ("", "..") or name_of(str(out)) != str(out):
        raise UsageError(f"--out {out} is not the name of a dataset.", "For example: -o out/all")
    if manifest_path(out).exists():
        raise UsageError(f"{out} exists.", "Choose another --out.")


def _parts(
    stretches: Sequence[Stretch],
) -> tuple[list[Part], list[dict[int, int]], list[dict[str, Any]]]:
    """The parts of what is made, the numbers of inputs in it for each stretch, and the inputs."""
    parts: list[Part] = []
    inputs: list[dict[str, Any]] = []
    numbers: list[dict[int, int]] = []
    for stretch in stretches:
        manifest = stretch.dataset.manifest
        document = number = 0
        new_numbers: dict[int, int] = {}
        for part in parts_of(manifest):
            size = part.last - part.first
            here = Stretch(
                stretch.dataset,
                max(stretch.first, document),
                min(stretch.last, document + size),
            )
            if here.first < here.last or (part.is_whole and not size):
                if here.last - here.first < size:
                    skipped = here.first - document
                    begin = part.first + skipped
                    part = part.only(
                        begin, begin + here.last - here.first, len(here.tokens), _amounts(here)
                    )
                together = parts[-1].joined(part) if parts else None
                if together is not None:
                    parts[-1] = together
                    base = len(inputs) - part.inputs
                else:
                    parts.append(part)
                    base = len(inputs)
                    inputs += manifest["inputs"][number : number + part.inputs]
                new_numbers.update({number + n: base + n for n in range(part.inputs)})
            document += size
            number += part.inputs
        numbers.append(new_numbers)
    return parts, numbers, inputs


def _amounts(stretch: Stretch) -> dict[str, int]:
    """What of the input is in the records of these documents, by unit."""
    units = [entry["unit"] for entry in stretch.dataset.manifest["inputs"]]
    sizes = np.zeros(len(units), np.int64)
    for first in range(stretch.first, stretch.last, _STEP):
        part = stretch.dataset.origins.part(first, min(first + _STEP, stretch.last))
        np.add.at(sizes, part.inputs, part.ends - part.starts)
    found: dict[str, int] = {}
    for number in np.flatnonzero(sizes).tolist():
        found[units[number]] = found.get(units[number], 0) + int(sizes[number])
    return found


def _copy_tokens(file: Sink, stretches: Sequence[Stretch]) -> None:
    buffer = memoryview(bytearray(_STEP))
    for stretch in stretches:
        item = stretch.dataset.dtype.itemsize
        tokens = stretch.tokens
        left = len(tokens) * item
        path = Path(f"{stretch.dataset.prefix}.bin")
        with path.open("rb", buffering=0) as source:
            source.seek(tokens.start * item)
            while left:
                size = source.readinto(buffer[: min(left, _STEP)])
                if not size:
                    raise DataError(f"{path} was cut while it was read.")
                file.write(buffer[:size])
                left -= size


def _lengths(stretches: Sequence[Stretch]) -> Iterator[npt.NDArray[np.int32]]:
    for stretch in stretches:
        for first in range(stretch.first, stretch.last, _STEP):
            yield stretch.dataset.lengths[first : min(first + _STEP, stretch.last)]


def _origins(stretches: Sequence[Stretch], numbers: Sequence[Mapping[int, int]]) -> Iterator[Block]:
    for stretch, new_numbers in zip(stretches, numbers, strict=True):
        for block in stretch.dataset.origins.blocks(stretch.first, stretch.last):
            yield block.moved(new_numbers[block.input] - block.input)


def _weights(by: str) -> list[float]:
    try:
        weights = [float(weight) for weight in by.split(",")]
    except ValueError:
        weights = []
    if len(weights) < 2 or not all(0 < weight < float("inf") for weight in weights):
        raise UsageError(
            f"--by {by}: two or more positive numbers with commas are needed.", "As in --by 98,1,1"
        )
    return weights


def _cuts(dataset: Dataset, weights: Sequence[float]) -> list[int]:
    """The documents between which to cut, so that each part is nearest to its share of tokens."""
    shares = np.cumsum(weights)[:-1] / sum(weights)
    starts = dataset.pointers
    wanted = shares * dataset.n_tokens * dataset.dtype.itemsize
    cuts = [0]
    for target in wanted.tolist():
        at = bisect_left(starts, target)
        if at == len(starts) or (at and target - starts[at - 1] < starts[at] - target):
            at -= 1
        cuts.append(at)
    cuts.append(dataset.n_documents)
    for number, (first, last) in enumerate(pairwise(cuts)):
        if last <= first:
            raise UsageError(
                f"Part {number} of {dataset.prefix} would have no document: it has only "
                f"{dataset.n_documents:,}.",
                "Choose other weights.",
            )
    return cuts


def _range(documents: str, count: int) -> tuple[int, int]:
    first, _, last = documents.partition(":")
    if not first.isdecimal() or not last.isdecimal() or not int(first) < int(last) <= count:
        raise UsageError(
            f"--documents {documents}: not A:B with A below B, of {count:,} documents.",
            f"All of them are 0:{count}.",
        )
    return int(first), int(last)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_STEP))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            digest.update(buffer[:size])
    return digest.hexdigest()
