"""``dataprep export``: a dataset in forms that other programs read.

Each is a folder that appears whole or not at all. Documents keep their order.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .dataset import Dataset, open_dataset
from .disk import Sink, write_index
from .durable import sync_folder, writing
from .errors import DataError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from .tokenizers.protocol import Tokenizer

__all__ = ["FORMATS", "export"]

_STEP = 1 << 22  # tokens, or documents, handled at once
_GROUP = 1 << 20  # tokens decoded at once


def export(name: str | Path, folder: str | Path, form: str, shard_size: int) -> list[str]:
    """Write a dataset into a new folder; the names of the files in it.

    ``form`` is one of FORMATS, ``shard_size`` the bytes of token ids that one file stands for, at
    most, unless one document has more. Raises UsageError for an unknown form and a folder that is
    there.
    """
    if form not in FORMATS:
        raise UsageError(f"--format {form} is unknown.", f"Known: {', '.join(FORMATS)}.")
    if shard_size < 1:
        raise UsageError(f"--shard-size {shard_size}: at least 1 byte is needed.")
    dataset, target = open_dataset(name), Path(folder)
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} exists.", "Name a folder that does not exist yet.")
    draft = target.with_name(target.name + ".partial")
    if draft.exists():
        _remove(draft)
    draft.mkdir(parents=True)
    (draft / _MARK).touch()
    try:
        FORMATS[form](dataset, draft, shard_size)
        names = sorted(path.name for path in draft.iterdir() if path.name != _MARK)
        (draft / _MARK).unlink()
        sync_folder(draft)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    sync_folder(target.parent)
    return names


_MARK = "export"


def _remove(draft: Path) -> None:
    if not (draft / _MARK).exists():
        raise UsageError(f"{draft} is needed, but is there and is not ours.", "Move it away.")
    shutil.rmtree(draft)  # of an export that was killed


def _json_lines(dataset: Dataset, folder: Path, shard_size: int) -> None:
    """The text of each document, and where it comes from, as a build reads it again."""
    tokenizer = dataset.tokenizer()
    for number, (first, last) in enumerate(_shards(dataset, shard_size)):
        with writing(folder / f"{number:05}.jsonl") as file:
            for begin, end in _groups(dataset, first, last):
                texts = _texts(dataset, tokenizer, begin, end)
                rows = zip(texts, _places(dataset, begin, end), strict=True)
                lines = (
                    json.dumps({"text": text, **place}, ensure_ascii=False) for text, place in rows
                )
                file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))


def _parquet(dataset: Dataset, folder: Path, shard_size: int) -> None:
    """The same as columns, with the ids."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tokenizer = dataset.tokenizer()
    ids = pa.from_numpy_dtype(dataset.dtype)
    places = [("file", pa.string()), ("unit", pa.string())]
    places += [(name, pa.int64()) for name in ("document", "line", "start", "end")]
    schema = pa.schema([("text", pa.string()), ("tokens", pa.large_list(ids)), *places])
    for number, (first, last) in enumerate(_shards(dataset, shard_size)):
        with (
            writing(folder / f"{number:05}.parquet") as file,
            pq.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for begin, end in _groups(dataset, first, last):
                writer.write_table(_table(dataset, tokenizer, begin, end, schema))


def _table(
    dataset: Dataset, tokenizer: Tokenizer, first: int, last: int, schema: pa.Schema
) -> pa.Table:
    import pyarrow as pa

    offsets = _offsets(dataset, first, last)
    values = pa.array(dataset.tokens[offsets[0] : offsets[-1]])
    places = _places(dataset, first, last)
    columns = {
        "text": list(_texts(dataset, tokenizer, first, last)),
        "tokens": pa.LargeListArray.from_arrays(offsets - offsets[0], values),
        **{name: [place[name] for place in places] for name in schema.names[2:]},
    }
    return pa.table(columns, schema)


def _megatron(dataset: Dataset, folder: Path, shard_size: int) -> None:
    """Datasets of the indexed format, each of a part of the documents, and how to name them."""
    prefixes = []
    for number, (first, last) in enumerate(_shards(dataset, shard_size)):
        start, end = _offsets(dataset, first, last)[[0, -1]].tolist()
        prefix = f"{number:05}"
        prefixes.append(f"{end - start} {prefix}")
        with writing(folder / f"{prefix}.bin") as file:
            _write_array(file, dataset.tokens, start, end)
        with writing(folder / f"{prefix}.idx") as file:
            _write_part_of_index(file, dataset, first, last)
    (folder / "data-path.txt").write_text("".join(f"{line}\n" for line in prefixes))
    _copy_tokenizer(dataset, folder)


def _write_part_of_index(file: Sink, dataset: Dataset, first: int, last: int) -> None:
    def lengths() -> Iterator[npt.NDArray[np.int32]]:
        for begin in range(first, last, _STEP):
            yield dataset.lengths[begin : min(begin + _STEP, last)]

    write_index(file, lengths, n_sequences=last - first, dtype=dataset.dtype)


def _npy(dataset: Dataset, folder: Path, _: int) -> None:
    """One array of all ids, and one of where documents start and, last, of how many ids there are.

    Files of any size can be mapped: they are not cut.
    """
    with writing(folder / "tokens.npy") as file:
        _write_npy_header(file, dataset.dtype, dataset.n_tokens)
        _write_array(file, dataset.tokens, 0, dataset.n_tokens)
    with writing(folder / "documents.npy") as file:
        _write_npy_header(file, np.dtype("<i8"), dataset.n_documents + 1)
        for first in range(0, dataset.n_documents, _STEP):
            last = min(first + _STEP, dataset.n_documents)
            file.write(_offsets(dataset, first, last)[:-1].data)
        file.write(np.array([dataset.n_tokens], "<i8").data)
    _copy_tokenizer(dataset, folder)


FORMATS: dict[str, Callable[[Dataset, Path, int], None]] = {
    "jsonl": _json_lines,
    "parquet": _parquet,
    "megatron-shards": _megatron,
    "npy": _npy,
}


def _copy_tokenizer(dataset: Dataset, folder: Path) -> None:
    source = Path(f"{dataset.prefix}.tokenizer.json")
    with writing(folder / "tokenizer.json") as file, source.open("rb") as content:
        shutil.copyfileobj(content, file)


def _shards(dataset: Dataset, shard_size: int) -> Iterator[tuple[int, int]]:
    """Ranges of documents of up to so many bytes of ids; at least one document each."""
    if dataset.n_sequences != dataset.n_documents:
        raise DataError(f"{dataset.prefix} has documents of several sequences.")
    n, total = dataset.n_documents, dataset.tokens.nbytes
    if not n:
        yield 0, 0
    first = 0
    while first < n:
        limit = int(dataset.pointers[first]) + shard_size
        last = n
        if limit < total:  # the document that starts at the limit is the first that is too much
            last = max(bisect_right(dataset.pointers, limit) - 1, first + 1)
        yield first, last
        first = last


def _groups(dataset: Dataset, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Ranges of documents of a bounded number of tokens; at least one document each."""
    while first < last:
        begin = int(dataset.pointers[first])
        limit = begin + _GROUP * dataset.dtype.itemsize
        end = min(bisect_left(dataset.pointers, limit), last)
        end = max(end, first + 1)
        yield first, end
        first = end


def _offsets(dataset: Dataset, first: int, last: int) -> npt.NDArray[np.int64]:
    """Where documents ``[first, last)`` start, in tokens, and where the last ends."""
    if first == last:
        return np.zeros(1, np.int64)
    starts = np.asarray(dataset.pointers[first:last]) // dataset.dtype.itemsize
    return np.append(starts, starts[-1] + int(dataset.lengths[last - 1]))


def _texts(dataset: Dataset, tokenizer: Tokenizer, first: int, last: int) -> Iterator[str]:
    """The text of documents, without what was put around each."""
    before = int(dataset.manifest["identity"].get("add_bos") == "True")
    after = int(dataset.eod_id is not None)
    for document in range(first, last):
        start, end = dataset.token_range(document)
        yield tokenizer.decode(dataset.tokens[start + before : end - after])


def _places(dataset: Dataset, first: int, last: int) -> list[dict[str, Any]]:
    origins = dataset.origins.part(first, last)
    inputs = dataset.manifest["inputs"]
    return [
        {
            "document": document,
            "file": inputs[number]["path"],
            "line": line + 1,
            "start": start,
            "end": end,
            "unit": inputs[number]["unit"],
        }
        for document, (number, line, start, end) in enumerate(
            zip(*(column.tolist() for column in origins), strict=True), first
        )
    ]


def _write_array(file: Sink, values: npt.NDArray[Any], first: int, last: int) -> None:
    for begin in range(first, last, _STEP):
        file.write(np.ascontiguousarray(values[begin : min(begin + _STEP, last)]).data)


def _write_npy_header(file: Any, dtype: np.dtype[np.generic], count: int) -> None:
    header = {"descr": dtype.str, "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(file, header)  # type: ignore[no-untyped-call]
