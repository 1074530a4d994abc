"""One folder of JSON lines that every contestant reads, made from a corpus of several formats."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Prepared:
    """A folder of .jsonl files and what is in them."""

    folder: Path
    documents: int
    text_bytes: int


def prepare(corpus: Path, folder: Path) -> Prepared:
    """Write each file of ``corpus`` as a file of JSON lines, the text under ``text``.

    .jsonl keeps its records, .md is one document a file, .txt is one a block between blank lines,
    or one a line in a file that has none. Documents without text are left out, since datatrove
    leaves them out.
    """
    documents = text_bytes = 0
    folder.mkdir(parents=True)
    for number, path in enumerate(sorted(filter(is_text, corpus.rglob("*")))):
        texts = [text for text in texts_of(path) if text]
        text_bytes += _write(texts, folder / f"{number:03}.jsonl")
        documents += len(texts)
    return Prepared(folder, documents, text_bytes)


def mix(prepared: Prepared, folder: Path, size: int) -> Prepared:
    """About ``size`` bytes of text: each document is one to four stretches of the corpus.

    The same every time. A corpus several times over would be the same lines several times over,
    which whatever keeps what it has seen is good at.
    """
    lines = (line for path in sorted(prepared.folder.iterdir()) for line in path.open("rb"))
    whole = "\n".join(json.loads(line)["text"] for line in lines)
    dice = random.Random(0)
    documents = text_bytes = 0
    folder.mkdir(parents=True)
    while text_bytes < size:
        texts = []
        for _ in range(5_000):
            starts = (dice.randrange(len(whole) - 2_000) for _ in range(dice.randint(1, 4)))
            stretches = (whole[start : start + dice.randint(50, 2_000)] for start in starts)
            texts.append("\n".join(stretches))
        text_bytes += _write(texts, folder / f"{documents:09}.jsonl")
        documents += len(texts)
    return Prepared(folder, documents, text_bytes)


def _write(texts: list[str], path: Path) -> int:
    lines = (json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    path.write_text("".join(lines), encoding="utf-8")
    return sum(len(text.encode()) for text in texts)


def is_text(path: Path) -> bool:
    """Whether the file is of a format known here."""
    return path.name.endswith((".txt", ".md", ".jsonl", ".jsonl.gz"))


def texts_of(path: Path) -> Iterator[str]:
    """The documents of one file, by the rules of prepare, empty ones too."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    if ".jsonl" in path.suffixes:
        yield from (json.loads(line)["text"] for line in text.split("\n") if line)
    elif path.suffix == ".md":
        yield text
    else:
        blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", text)]
        yield from blocks if len(blocks) > 1 else text.split("\n")
