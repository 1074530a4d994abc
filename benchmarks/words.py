"""Chinese words: exactness and speed against jieba and LiBai's BERT tokenizer; what builds cost.

    python benchmarks/words.py CORPUS --vocabulary VOCAB.TXT --libai FOLDER

CORPUS has the folders zh, en and mixed; FOLDER is a checkout of Oneflow-Inc/libai, whose own
tokenizer is the peer. Writes the page ``benchmarks/results/DATE-words.md``.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import re
import statistics
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from corpus import batches, is_text, texts_of  # noqa: E402
from tree import Watched, watch  # noqa: E402

from dataprep.batch import Batch  # noqa: E402
from dataprep.libai import libai_ids  # noqa: E402
from dataprep.segment import (  # noqa: E402
    Bits,
    Segmenter,
    SegmenterOptions,
    load_segmenter,
    sentence_starts,
)
from dataprep.tokenizers.load import load_tokenizer  # noqa: E402
from dataprep.words import Marker  # noqa: E402

BATCH_BYTES = 1_000_000
ROUNDS = 5
OPTIONS = ("", "--words", "--words --hmm", "--words --sentences")
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
    duel, unexplained = against_libai(texts["zh"], arguments.vocabulary, arguments.libai)
    duels.append(duel)
    rest = [
        f"Sentences: {speed(sentence_starts, texts['zh']):.0f} MB/s on zh, "
        f"{speed(sentence_starts, texts['en']):.0f} on en.",
        f"One line of {one_line(texts['zh'])}",
    ]
    page = PAGE.format(
        date=date.today(),
        rows="\n".join(duel.row() for duel in duels),
        unexplained=unexplained,
        builds="\n".join(builds(lines, arguments.vocabulary)),
        size=sum(len(line.encode()) + 1 for line in lines) / 1e6,
        rest="\n\n".join(rest),
        rounds=ROUNDS,
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
    for some in batches(lines, BATCH_BYTES):
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


class RunByRun:
    """A segmenter that sees each run of Chinese characters by itself, as jieba does in LiBai."""

    _runs = re.compile("[{0}]+|[^{0}]+".format("\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"))

    def __init__(self, inner: Segmenter) -> None:
        self._inner, self.identity = inner, f"run by run, {inner.identity}"

    def word_starts(self, batch: Batch) -> Bits:
        """See Segmenter."""
        runs = itertools.chain.from_iterable(map(self._runs.findall, batch.texts()))
        return self._inner.word_starts(Batch.from_texts(runs))


def against_libai(texts: list[str], vocabulary: Path, libai: Path) -> tuple[Duel, int]:
    """From text to ids and packed bits, and what LiBai's own tokenizer makes of the same text.

    Also how many documents differ when runs of Chinese characters are cut by themselves.
    """
    tokenizer = load_tokenizer(vocabulary)
    marker = Marker(tokenizer, load_segmenter(), sentences=False)
    by_run = Marker(tokenizer, RunByRun(load_segmenter()), sentences=False)
    theirs = libai_tokenizer(libai, vocabulary)
    marker.encode(WARM_UP)
    theirs.encode("一")
    convert = libai_ids(tokenizer)
    unknown = tokenizer.special_tokens["[UNK]"]
    duel, unexplained = Duel("LiBai's BertTokenizer, `do_chinese_wwm`"), 0
    for number, some in enumerate(batches(texts, BATCH_BYTES)):
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
        as_theirs = convert(ids, by_run.encode(batch)[2][0])
        for i, (first, stop) in enumerate(itertools.pairwise(offsets.tolist())):
            if unknown not in expected[i]:  # LiBai makes one of a word, we of a character
                duel.compared += 1
                duel.different += converted[first:stop].tolist() != expected[i]
                unexplained += as_theirs[first:stop].tolist() != expected[i]
    return duel, unexplained


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
    for some in batches(texts, BATCH_BYTES):
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


def builds(lines: list[str], vocabulary: Path) -> list[str]:
    """Rows: a build of all lines, and of one, with words and without."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="jimu-words-") as name:
        folder = Path(name)
        (folder / "all.txt").write_text("\n".join(lines), "utf-8")
        (folder / "one.txt").write_text("一行", "utf-8")
        for options in OPTIONS:
            cost = {
                size: [build(folder, size, options, vocabulary) for _ in range(ROUNDS)]
                for size in ("one", "all")
            }
            cpu = [statistics.median(run.cpu for run in runs) for runs in cost.values()]
            wall = statistics.median(run.wall for run in cost["all"])
            together = max(run.together for run in cost["all"]) >> 20
            largest = max(run.largest for run in cost["all"]) >> 20
            rows.append(
                f"| `{options or 'neither'}` | {cpu[0]:.2f} | {cpu[1]:.2f} | {wall:.2f} "
                f"| {largest} | {together} |"
            )
    return rows


def build(folder: Path, size: str, options: str, vocabulary: Path) -> Watched:
    """One build with two workers."""
    run = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from dataprep.cli import main; main()"
    command = [sys.executable, "-c", run, "build", str(folder / f"{size}.txt"), "--overwrite"]
    command += ["--out", str(folder / "d"), "--tokenizer", str(vocabulary), "--workers", "2"]
    return watch([*command, *options.split()], folder / "log")


PAGE = """# Chinese words, {date}

MB (10⁶ bytes of UTF-8) per CPU-second, one thread, turns taken megabyte by megabyte on fresh text.
Against jieba: every line of the corpus, words of both compared. Against LiBai: from strings to ids
and packed word bits on our side, from strings to ids on theirs, on every third megabyte of the
Chinese texts; compared by LiBai's ids, which our export writes, are documents without [UNK]: LiBai
makes one of a word that holds an unknown character, we one of that character. jieba finds words of
letters and characters, as K歌之王 and D版; LiBai shows it runs of characters only. With runs cut by
themselves on our side, {unexplained} documents differ.

| peer | MB | ours | peer's | ratio | compared | that differ |
|---|--:|--:|--:|--:|--:|--:|
{rows}

{rest}

`dataprep build` with two workers and that WordPiece, {size:.1f} MB as one file of lines: medians of
{rounds} builds, as whole processes, when what is compiled and tabulated is in the cache. Memory is
what is resident, at its highest; pages that processes share, as they do jieba's tables, count in
each.

| | one line: CPU s | all: CPU s | wall s | largest process, MiB | all processes, MiB |
|---|--:|--:|--:|--:|--:|
{builds}

jieba {jieba}, numba {numba}, CPython {python}, 2 cores of a shared machine: ratios hold, rates do
not.
"""


if __name__ == "__main__":
    main()
