"""One folder of JSON lines that every contestant reads, made from a corpus of several formats."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

WORD = re.compile(r"[^\W\d_]+")


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


def more(prepared: Prepared, folder: Path, size: int) -> Prepared:
    """At least ``size`` bytes of text: the corpus, then versions of it with other rare words.

    The same every time. The corpus several times over would be the same words several times over,
    which whatever keeps what it has seen is good at. In fresh text, new words are as frequent as in
    the old one those that stand there once (Good and Turing): so each of these, a run of letters or
    of Chinese characters, becomes another one, of the first half of it and the second of a second.
    """
    files = [
        [json.loads(line)["text"] for line in path.open("rb")]
        for path in sorted(prepared.folder.iterdir())
    ]
    counts = Counter(word for texts in files for text in texts for word in WORD.findall(text))
    once = [word for word, count in counts.items() if count == 1 and len(word) > 3]
    rare = set(once)
    dice = random.Random(0)

    def other(match: re.Match[str]) -> str:
        word = match[0]
        if word not in rare:
            return word
        second = dice.choice(once)
        return word[: len(word) // 2] + second[len(second) // 2 :]

    documents = text_bytes = version = 0
    folder.mkdir(parents=True)
    while text_bytes < size:
        for number, texts in enumerate(files):
            new = [WORD.sub(other, text) for text in texts] if version else texts
            text_bytes += _write(new, folder / f"{version:03}-{number:03}.jsonl")
            documents += len(new)
        version += 1
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


def batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Texts of about ``size`` bytes together."""
    batch: list[str] = []
    held = 0
    for text in texts:
        batch.append(text)
        held += len(text.encode())
        if held >= size:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
