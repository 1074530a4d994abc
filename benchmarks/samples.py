"""Training samples: against megatron-core's datasets, on the same files in the same run.

    python benchmarks/samples.py FOLDER

FOLDER gets synthetic datasets (3 GB; sparse ones seem larger). Rates are per CPU-second, child
processes included. Writes the page ``benchmarks/results/DATE-samples.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import megatron_core  # noqa: E402
import numpy as np  # noqa: E402

from dataprep.disk import BitColumn, IndexedDataset, write_bits  # noqa: E402
from dataprep.manifest import FORMAT, sealed  # noqa: E402
from dataprep.samples import (  # noqa: E402
    DocumentOffsets,
    Loader,
    Windows,
    WindowSamples,
    open_samples,
)
from dataprep.samples.objectives.mlm import MACBERT, MlmSettings, mlm_objective  # noqa: E402
from dataprep.samples.objectives.t5 import T5Settings, t5_objective  # noqa: E402
from dataprep.samples.vocabulary import Vocabulary  # noqa: E402

SEQ_LEN = 1024
BATCH = 64
VOCABULARY_SIZE = 21_128

OPENING = """
import json, sys, time
import dataprep, dataprep.dataset, dataprep.samples, numpy
def memory():
    lines = dict(line.split(":") for line in open("/proc/self/status"))
    return int(lines["RssAnon"].split()[0]) / 1024
before = memory()
start = time.perf_counter()
samples = dataprep.open(sys.argv[1]).samples("causal", seq_len=1024, seed=1)
first = samples[0]
opened = time.perf_counter() - start
for epoch in range(1000):
    samples[epoch * len(samples) + 17 * epoch]
print(json.dumps([opened, len(samples), memory() - before]))
"""


def main() -> None:
    """Measure, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    ids = megatron_core.Ids([f"{'##' if i % 10 < 3 else ''}{i}" for i in range(VOCABULARY_SIZE)])
    many = make_dataset(folder / "many", 10_000_000, mean=40)
    text = make_dataset(folder / "text", 300_000, mean=700)
    sentences = make_dataset(folder / "sentences", 200_000, mean=20, sentences=20)
    opening = [opened(many), *(opened(sparse(folder, n)) for n in (10**8, 10**9))]
    ours = our_causal(text), our_masked(sentences, ids)
    megatron_core.prepare()
    theirs = megatron_opened(folder, many, ids)
    cache = folder / "cache"
    n = IndexedDataset(text).n_tokens // SEQ_LEN - 1
    peer = their_causal(megatron_core.dataset("gpt", text, cache, ids, n))
    peer_masked = {
        kind: rate(
            one_by_one(megatron_core.dataset(kind, sentences, cache, ids, 200_000), Walk(), 20)
        )
        for kind in ("bert", "t5")
    }
    rows = rows_of(*ours, peer, peer_masked)
    page = PAGE.format(
        date=date.today(),
        opening="\n".join(
            f"| {o.documents:,} | {1000 * o.seconds:.1f} ms | {o.samples:,} | {o.memory:.1f} MB |"
            for o in opening
        ),
        theirs=theirs,
        rows="\n".join(row.line() for row in rows),
        megatron=version("megatron-core"),
        torch=version("torch"),
        numpy=version("numpy"),
        numba=version("numba"),
        python=platform.python_version(),
    )
    print(page)
    (ROOT / "benchmarks" / "results" / f"{date.today()}-samples.md").write_text(page, "utf-8")


# Data


def make_dataset(prefix: Path, documents: int, *, mean: int, sentences: int = 1) -> Path:
    """Random ids in documents of random lengths, each of so many sequences on average."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(mean // 2, mean * 3 // 2, documents * sentences).astype(np.int32)
    ends = np.cumsum(lengths, dtype=np.int64)
    indices = np.arange(0, documents * sentences + 1, sentences, dtype=np.int64)
    with Path(f"{prefix}.bin").open("wb") as file:
        for first in range(0, int(ends[-1]), 1 << 24):
            count = min(1 << 24, int(ends[-1]) - first)
            file.write(rng.integers(200, VOCABULARY_SIZE, count, np.uint16).tobytes())
    with Path(f"{prefix}.idx").open("wb") as file:
        file.write(header(len(lengths), len(indices)))
        for part in (lengths, 2 * (ends - lengths), indices):
            file.write(part.tobytes())
    manifest(prefix, documents, len(lengths), int(ends[-1]))
    return prefix


def sparse(folder: Path, documents: int) -> Path:
    """So many documents of 700 tokens, of which only the ends of the files are written."""
    prefix = folder / f"sparse-{documents}"
    with Path(f"{prefix}.bin").open("wb") as file:
        file.truncate(2 * 700 * documents)
    with Path(f"{prefix}.idx").open("wb") as file:
        file.write(header(documents, documents + 1))
        start = file.tell()
        file.truncate(start + 20 * documents + 8)
        for offset, form, value in (
            (4 * documents - 4, "<i", 700),
            (12 * documents - 8, "<q", 2 * 700 * (documents - 1)),
            (20 * documents, "<q", documents),
        ):
            file.seek(start + offset)
            file.write(struct.pack(form, value))
    manifest(prefix, documents, documents, 700 * documents)
    return prefix


def header(sequences: int, indices: int) -> bytes:
    """The first bytes of an index of uint16."""
    return b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, sequences, indices)


def manifest(prefix: Path, documents: int, sequences: int, tokens: int) -> None:
    """What opening a dataset reads of NAME.json."""
    counts = {"documents": documents, "sequences": sequences, "tokens": tokens}
    values = {"format": FORMAT, **counts, "dtype": "uint16", "vocab_size": VOCABULARY_SIZE}
    Path(f"{prefix}.json").write_text(json.dumps(sealed({**values, "eod_id": 4, "files": {}})))


# Opening


@dataclass
class Opened:
    """How long until the first sample, and what memory it took after a thousand epochs."""

    documents: int
    seconds: float
    samples: int
    memory: float


def opened(prefix: Path) -> Opened:
    """The median of five processes."""
    runs = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", OPENING, str(prefix)], cwd=ROOT, check=True, capture_output=True
        )
        runs.append(json.loads(done.stdout))
    seconds, samples, memory = sorted(runs)[2]
    documents = json.loads(Path(f"{prefix}.json").read_bytes())["documents"]
    return Opened(documents, seconds, samples, memory)


def megatron_opened(folder: Path, text: Path, ids: megatron_core.Ids) -> str:
    """What it takes to make its index of a dataset, and to open it again."""
    cache = folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    n = IndexedDataset(text).n_tokens // SEQ_LEN - 1
    times = []
    for _ in range(2):
        start = time.perf_counter()
        megatron_core.dataset("gpt", text, cache, ids, n)[0]
        times.append(time.perf_counter() - start)
    size = sum(path.stat().st_size for path in cache.iterdir()) / 1e6
    return (
        f"megatron-core on the same 10⁷ documents: {times[0]:.2f} s and {size:.0f} MB of cache "
        f"files\nthe first time, {1000 * times[1]:.1f} ms after that."
    )


# Rates


@dataclass
class Row:
    """Samples per CPU-second of both."""

    name: str
    ours: float
    theirs: float

    def line(self) -> str:
        """A line of the table."""
        ratio = self.ours / self.theirs
        return f"| {self.name} | {self.ours:,.0f} | {self.theirs:,.0f} | **{ratio:.1f}** |"


def cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def rate(work: Callable[[], int], seconds: float = 1.0) -> float:
    """Samples per CPU-second of a function that tells how many it made: the best of three."""
    work()
    best = 0.0
    for _ in range(3):
        start, made = cpu(), 0
        while cpu() - start < seconds:
            made += work()
        best = max(best, made / (cpu() - start))
    return best


class Walk:
    """Positions, one after another."""

    def __init__(self) -> None:
        self.at = 0

    def take(self, n: int) -> np.ndarray:
        """The next ``n`` of them."""
        self.at += n
        return np.arange(self.at - n, self.at)


def our_causal(text: Path) -> dict[str, float]:
    """Random samples: one by one, in batches, through a loader of two threads."""
    samples = open_samples(IndexedDataset(text), "causal", seq_len=SEQ_LEN, seed=1)
    walk = Walk()

    def each() -> int:
        for position in walk.take(500).tolist():
            samples[position]
        return 500

    def batches() -> int:
        for _ in range(20):
            samples.batch(walk.take(BATCH))
        return 20 * BATCH

    def loader() -> int:
        with Loader(samples, batch_size=BATCH, workers=2, consumed=walk.at) as read:
            for _ in range(2000):
                next(read)
        walk.take(2000 * BATCH)
        return 2000 * BATCH

    return {"each": rate(each), "batches": rate(batches), "loader": rate(loader)}


def their_causal(peer: Any) -> dict[str, float]:
    """Random samples: one by one, and through a DataLoader of two processes."""
    from torch.utils.data import DataLoader

    walk = Walk()

    def loader() -> int:
        # 8,000 samples a round, so that starting the workers does not count for much.
        sampler = walk.take(8000).tolist()
        read = DataLoader(peer, batch_size=BATCH, num_workers=2, sampler=sampler)
        return sum(len(batch["tokens"]) for batch in read)

    return {"each": rate(one_by_one(peer, walk, 500)), "loader": rate(loader)}


def one_by_one(peer: Any, walk: Walk, n: int) -> Callable[[], int]:
    """A function that asks for ``n`` samples."""

    def work() -> int:
        for position in walk.take(n).tolist():
            peer[position]
        return n

    return work


def our_masked(prefix: Path, ids: megatron_core.Ids) -> dict[str, float]:
    """Whole-word masking and spans, with bits of words and sentences beside the tokens."""
    data = IndexedDataset(prefix)
    begins = np.array([not piece.startswith("##") for piece in ids.pieces])[data.tokens]
    begins[np.asarray(data.pointers) // 2] = True
    sentences = np.zeros(data.n_tokens, bool)
    sentences[np.asarray(data.pointers) // 2] = True
    words, sentence_starts = (
        column(Path(f"{prefix}.{name}"), bits)
        for name, bits in (("words", begins), ("sentences", sentences))
    )
    vocabulary = Vocabulary(
        size=ids.vocab_size,
        roles={
            "pad": ids.pad, "cls": ids.cls, "sep": ids.sep, "mask": ids.mask, "eos": ids.eos,
            **{f"extra_id_{i}": 7 + i for i in range(193)},
        },
        special=frozenset(range(200)),
    )  # fmt: skip
    thirds = MlmSettings(whole_words=True, ngrams=(1, 1 / 2, 1 / 3))
    macbert = MlmSettings(whole_words=True, share_per="word", ngrams=MACBERT, pairs="sop")
    bound = {"seq_len": 512, "vocabulary": vocabulary}
    objectives = {
        "3-grams of whole words, NSP": mlm_objective(replace(thirds, pairs="nsp"), **bound),
        "3-grams of whole words, one stretch": mlm_objective(thirds, **bound),
        "MacBERT's n-grams, SOP": mlm_objective(macbert, **bound),
        "T5 spans": t5_objective(T5Settings(), **bound),
    }
    found = {}
    for name, objective in objectives.items():
        samples = WindowSamples(
            Windows(data.tokens, width=objective.width, stride=objective.stride),
            objective,
            seed=1,
            words=words,
            sentences=sentence_starts,
            documents=DocumentOffsets(data),
        )
        walk = Walk()

        def made(samples: WindowSamples = samples, walk: Walk = walk) -> int:
            for _ in range(5):
                samples.batch(walk.take(BATCH))
            return 5 * BATCH

        found[name] = rate(made)
    return found


def rows_of(
    causal: dict[str, float],
    masked: dict[str, float],
    peer: dict[str, float],
    peer_masked: dict[str, float],
) -> list[Row]:
    """Ours beside theirs."""
    return [
        Row("causal, 1,024 tokens, one by one", causal["each"], peer["each"]),
        Row("causal, in batches of 64", causal["batches"], peer["each"]),
        Row("causal, loader with 2 workers", causal["loader"], peer["loader"]),
        *(
            Row(f"{name}, 512 tokens", ours, peer_masked["t5" if "T5" in name else "bert"])
            for name, ours in masked.items()
        ),
    ]


def column(path: Path, bits: np.ndarray) -> BitColumn:
    """Bits beside a dataset, as a build writes them."""
    with path.open("wb") as file:
        packed = np.packbits(bits, bitorder="little").tobytes()
        write_bits(file, [([packed], len(bits))], len(bits))
    return BitColumn(path)


PAGE = """# Training samples against megatron-core, {date}

Samples per CPU-second of one process, children included; random order, files in the page cache.
megatron-core's tokens are torch tensors, ours are numpy arrays of the same int64 ids.

## Rates

| samples | ours | megatron-core | ratio |
|---|--:|--:|--:|
{rows}

Causal samples are of documents of 700 tokens. Its datasets have no batches: batches of ours stand
against its samples one by one. All masked samples of ours come in batches of 64 and stand against
its BERT (3-grams of whole words, NSP) and T5 (geometric spans), on documents of 20 sentences.

## Opening: until the first sample

| documents | until the first sample | samples an epoch | own memory after 1,000 epochs |
|--:|--:|--:|--:|
{opening}

No file is written. From 10⁸ documents on the files are sparse: only their ends are written.

{theirs}

megatron-core {megatron}, torch {torch}, numpy {numpy}, numba {numba}, CPython {python}, 2 cores of
AMD EPYC, a shared machine: ratios hold, rates do not.
"""

if __name__ == "__main__":
    main()
