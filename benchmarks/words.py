"""Chinese words: speed and exactness against jieba, and against LiBai's BERT tokenizer.

    python benchmarks/words.py CORPUS --vocabulary VOCAB.TXT --libai FOLDER

CORPUS has the folders zh, en and mixed; FOLDER is a checkout of Oneflow-Inc/libai, whose own
tokenizer is the peer. Writes the page ``benchmarks/results/DATE-words.md``.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from corpus import is_text, texts_of  # noqa: E402

from dataprep.batch import Batch  # noqa: E402
from dataprep.libai import libai_ids  # noqa: E402
from dataprep.segment import SegmenterOptions, load_segmenter, sentence_starts  # noqa: E402
from dataprep.tokenizers.load import load_tokenizer  # noqa: E402
from dataprep.words import Marker  # noqa: E402

BATCH_BYTES = 1_000_000
WARM_UP = Batch.from_texts(["使用语言模型 to warm up."])


@dataclass
class Duel:
    """CPU seconds of both on the same text, and what came out alike."""

    name: str
    size: int = 0
    ours: float = 0
    theirs: float = 0
    compared: int = 0
    different: int = 0

    def row(self) -> str:
        """A line of the table."""
        ours, theirs = self.size / self.ours / 1e6, self.size / self.theirs / 1e6
        return (
            f"| {self.name} | {self.size / 1e6:.1f} | {ours:.1f} | {theirs:.2f} | "
            f"**{ours / theirs:.0f}** | {self.compared:,} | {self.different:,} |"
        )


def main() -> None:
    """Measure, compare, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--libai", type=Path, required=True)
    arguments = parser.parse_args()
    folders = sorted(filter(Path.is_dir, arguments.corpus.iterdir()))
    texts = {folder.name: texts_in(folder) for folder in folders}
    lines = [line for kind in texts.values() for t in kind for line in t.split("\n") if line]
    duels = [against_jieba(lines, hmm=hmm) for hmm in (False, True)]
    duels.append(against_libai(texts["zh"], arguments.vocabulary, arguments.libai))
    rest = [
        f"Sentences: {speed(sentence_starts, texts['zh']):.0f} MB/s on zh, "
        f"{speed(sentence_starts, texts['en']):.0f} on en.",
        f"One line of {one_line(texts['zh'])}",
    ]
    page = PAGE.format(
        date=date.today(),
        rows="\n".join(duel.row() for duel in duels),
        rest="\n\n".join(rest),
        jieba=version("jieba"),
        numba=version("numba"),
        python=platform.python_version(),
    )
    print(page)
    (ROOT / "benchmarks" / "results" / f"{date.today()}-words.md").write_text(page, "utf-8")


def texts_in(folder: Path) -> list[str]:
    """All documents of the files in a folder."""
    files = sorted(filter(is_text, folder.iterdir()))
    return [text for file in files for text in texts_of(file) if text]


def against_jieba(lines: list[str], *, hmm: bool) -> Duel:
    """Every line of the corpus, cut by both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba

    jieba.setLogLevel("WARNING")
    jieba.initialize()
    ours = load_segmenter(options=SegmenterOptions(hmm=hmm))
    duel = Duel(f"`jieba.cut`, HMM={hmm}")
    for some in batches(lines):
        batch = Batch.from_texts(some)
        duel.size += len(batch.data)
        start = time.process_time()
        found = ours.word_starts(batch)
        middle = time.process_time()
        words = [jieba.lcut(line, HMM=hmm) for line in some]
        duel.theirs += time.process_time() - middle
        duel.ours += middle - start
        for i, (first, stop) in enumerate(itertools.pairwise(batch.offsets.tolist())):
            sizes = [len(word.encode()) for word in words[i]]
            expected = np.cumsum([0, *sizes[:-1]])
            duel.compared += 1
            duel.different += not np.array_equal(np.flatnonzero(found[first:stop]), expected)
    return duel


def against_libai(texts: list[str], vocabulary: Path, libai: Path) -> Duel:
    """From text to ids and packed bits, and what LiBai's own tokenizer makes of the same text."""
    tokenizer = load_tokenizer(vocabulary)
    marker = Marker(tokenizer, load_segmenter(), sentences=False)
    theirs = libai_tokenizer(libai, vocabulary)
    marker.encode(WARM_UP)
    theirs.encode("一")
    convert = libai_ids(tokenizer)
    unknown = tokenizer.special_tokens["[UNK]"]
    duel = Duel("LiBai's BertTokenizer, `do_chinese_wwm`")
    for number, some in enumerate(batches(texts)):
        if number % 3:
            continue
        batch = Batch.from_texts(some)
        start = time.process_time()
        ids, offsets, marks = marker.encode(batch)
        np.packbits(marks[0], bitorder="little")
        middle = time.process_time()
        expected = [theirs.encode(text) for text in some]
        duel.theirs += time.process_time() - middle
        duel.ours += middle - start
        duel.size += len(batch.data)
        converted = convert(ids, marks[0])
        for i, (first, stop) in enumerate(itertools.pairwise(offsets.tolist())):
            if unknown not in expected[i]:  # LiBai makes one of a word, we of a character
                duel.compared += 1
                duel.different += converted[first:stop].tolist() != expected[i]
    return duel


def libai_tokenizer(folder: Path, vocabulary: Path) -> Any:
    """LiBai's own class. What else it imports is for other things, and is not there."""

    class Absent(types.ModuleType):
        __path__: ClassVar[list[str]] = []

        def __getattr__(self, name: str) -> None:
            if name.startswith("__"):
                raise AttributeError(name)

    for name in ("libai", "libai.tokenizer", "oneflow", *(
        f"libai.utils{part}" for part in ("", ".distributed", ".file_io", ".file_utils")
    )):  # fmt: skip
        sys.modules[name] = Absent(name)
    sys.modules["libai.tokenizer"].__path__ = [str(folder / "libai" / "tokenizer")]
    from libai.tokenizer.tokenization_bert import BertTokenizer

    return BertTokenizer(str(vocabulary), do_lower_case=True, do_chinese_wwm=True)


def speed(starts_of: Callable[[Batch], Any], texts: list[str]) -> float:
    """MB in a CPU-second."""
    size = spent = 0.0
    starts_of(WARM_UP)
    for some in batches(texts):
        batch = Batch.from_texts(some)
        size += len(batch.data)
        start = time.process_time()
        starts_of(batch)
        spent += time.process_time() - start
    return size / spent / 1e6


def one_line(texts: list[str]) -> str:
    """What a very long line costs."""
    text = "".join(t.replace("\n", "") for t in texts)[: 10_000_000 // 3]
    found = [
        f"{speed(load_segmenter(options=SegmenterOptions(hmm=hmm)).word_starts, [text]):.0f} MB/s "
        f"(HMM={hmm})"
        for hmm in (False, True)
    ]
    return f"{len(text.encode()) / 1e6:.1f} MB: {', '.join(found)}."


def batches(texts: list[str]) -> Iterator[list[str]]:
    """Texts of about a megabyte together."""
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text.encode())
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


PAGE = """# Chinese words, {date}

MB (10⁶ bytes of UTF-8) per CPU-second, one thread, turns taken megabyte by megabyte on fresh text.
Against jieba: every line of the corpus, words of both compared. Against LiBai: from strings to ids
and packed word bits on our side, from strings to ids on theirs, on every third megabyte of the
Chinese texts; compared by LiBai's ids, which our export writes, are documents without [UNK]: LiBai
makes one of a word that holds an unknown character, we one of that character.

| peer | MB | ours | peer's | ratio | compared | that differ |
|---|--:|--:|--:|--:|--:|--:|
{rows}

{rest}

jieba {jieba}, numba {numba}, CPython {python}, 2 cores of a shared machine: ratios hold, rates do
not.
"""


if __name__ == "__main__":
    main()
