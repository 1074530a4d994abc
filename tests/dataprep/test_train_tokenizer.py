"""``dataprep train-tokenizer``: what it writes loads everywhere, and is the same each time."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dataprep
from dataprep.apart import apart
from dataprep.errors import DataError, RunError, UsageError
from dataprep.inputs import list_inputs
from dataprep.plan import make_plan
from dataprep.sampling import draw
from dataprep.tokenizer_folder import TrainSettings, train_folder
from dataprep.tokenizers.spec import TrainSpec
from dataprep.tokenizers.word_cuts import WORD_END, cut_words

ROOT = Path(__file__).parents[2]
WORDS_ZH = ["研究", "生命", "起源", "北京", "大学", "学生", "前来", "应聘", "天气", "今天", "明月"]
WORDS_EN = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dogs", "while", "watched"]
PROBES = [
    "研究生命起源 the fox",
    " two  spaces\n",
    "é 龘 <unk> [UNK]",
    "北京大学学生前来应聘\n\n",
]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Chinese and English lines, three to one by bytes."""
    chance = random.Random(0)
    folder = tmp_path_factory.mktemp("text")
    chinese = ["".join(chance.choices(WORDS_ZH, k=12)) + "。" for _ in range(1500)]
    english = [" ".join(chance.choices(WORDS_EN, k=8)) + "." for _ in range(700)]
    (folder / "zh.txt").write_text("\n".join(chinese), "utf-8")
    records = "".join(json.dumps({"text": line}) + "\n" for line in english)
    (folder / "en.jsonl").write_text(records, "utf-8")
    return folder


def settings(text: Path, **changes: object) -> TrainSettings:
    return TrainSettings(**{"inputs": (str(text),), "sample_bytes": 1 << 20, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_the_folder_loads_here_and_in_transformers(text: Path, tmp_path: Path, kind: str) -> None:
    spec = TrainSpec(kind=kind, vocab_size=400)  # type: ignore[arg-type]
    made = train_folder(spec, settings(text), tmp_path / "t")
    tokenizer = dataprep.load_tokenizer(tmp_path / "t")
    assert tokenizer.vocab_size == made.checkup.vocab_size <= 400
    end = tokenizer.eod_id
    assert end is not None
    assert tokenizer.decode([end]) == "<|endoftext|>"
    ids, offsets = tokenizer.encode_batch(PROBES)
    assert end not in ids
    if kind != "wordpiece":
        parts = np.split(ids, offsets[1:-1])
        assert [tokenizer.decode(part) for part in parts] == PROBES
    assert made.coverage > 0.99
    assert set(made.checkup.languages) == {"zh", "en"}
    assert made.checkup.languages["zh"].documents > 20
    config = json.loads((tmp_path / "t" / "tokenizer_config.json").read_text())
    assert config["eos_token"] == "<|endoftext|>"
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed here: only our own loader was tried")
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(str(tmp_path / "t"))
    got = [theirs(text, add_special_tokens=False)["input_ids"] for text in PROBES[:2]]
    assert got == [part.tolist() for part in np.split(ids, offsets[1:-1])[:2]]
    assert (theirs.eos_token_id, len(theirs)) == (end, tokenizer.vocab_size)


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_two_runs_on_other_numbers_of_threads_are_equal(
    text: Path, tmp_path: Path, kind: str
) -> None:
    files = []
    for threads in ("1", "3"):
        out = tmp_path / threads
        done = subprocess.run(
            [
                *(sys.executable, "-m", "dataprep", "train-tokenizer", str(text), "--kind", kind),
                *("--vocab-size", "350", "--out", str(out), "--respect-words", "--json"),
                *("--sample-bytes", "40000", "--seed", "3"),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT), "RAYON_NUM_THREADS": threads},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["trained_on"]["zh"] > 0
        files.append((out / "tokenizer.json").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_respected_words_are_never_joined(text: Path, tmp_path: Path, kind: str) -> None:
    """A token of two words is found without the option, so its absence proves something."""
    for respect in (False, True):
        folder = tmp_path / str(respect)
        spec = TrainSpec(kind=kind, vocab_size=600, respect_words=respect)  # type: ignore[arg-type]
        train_folder(spec, settings(text), folder)
        tokenizer = dataprep.load_tokenizer(folder)
        tokens = {tokenizer.decode([i]).removeprefix("##") for i in range(tokenizer.vocab_size)}
        assert WORD_END not in "".join(tokens)
        pairs = {a + b for a in WORDS_ZH for b in WORDS_ZH}
        pairs = {pair for pair in pairs if cut_words([pair])[0].count(WORD_END) > 1}
        assert bool(pairs & tokens) == (not respect)


def test_words_are_cut_in_han_only() -> None:
    (cut,) = cut_words([f"研究生命起源, ab cd{WORD_END}。"])
    assert cut.replace(WORD_END, "|").replace("|", "") == "研究生命起源, ab cd。"
    assert "生命|起源|, ab cd。" in cut.replace(WORD_END, "|")


def test_a_sample_is_seeded_sized_and_balanced(text: Path) -> None:
    plan = make_plan(
        list_inputs([str(text)]).inputs,
        tokenizer="",
        doc_per=None,
        text_key="text",
        keep_rejects=False,
    )

    def lines(size: int, seed: int, balance: bool = False) -> tuple[list[str], dict[str, int]]:
        sample = draw(plan, size, seed=seed, balance=balance)
        trained = [text for batch in sample.training for text in batch.texts()]
        assert not set(map(id, trained)) & set(map(id, sample.held_out))
        return trained, sample.bytes_of

    first, sizes = lines(30_000, 1)
    assert lines(30_000, 1)[0] == first != lines(30_000, 2)[0]
    assert 24_000 < sum(sizes.values()) < 33_000
    assert sizes["zh"] > 2 * sizes["en"]
    balanced = lines(30_000, 1, balance=True)[1]
    assert 0.8 < balanced["zh"] / balanced["en"] < 1.25
    everything = lines(1 << 20, 1)[1]
    assert lines(1 << 20, 1, balance=True)[1] == everything


def test_what_cannot_be_is_refused(text: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    spec = TrainSpec(vocab_size=300)
    with pytest.raises(UsageError, match="exists and is not empty"):
        train_folder(spec, settings(text), tmp_path / "full")
    with pytest.raises(DataError, match="no text to train on"):
        train_folder(
            spec, settings(text, text_key="body", inputs=(str(text / "en.jsonl"),)), tmp_path / "t"
        )
    with pytest.raises(UsageError, match="no kind of tokenizer 'word'; there are bpe, wordpiece"):
        TrainSpec(vocab_size=300, kind="word")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="--sample-bytes 0"):
        settings(text, sample_bytes=0)
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "chars"])
def test_a_build_trains_any_kind(text: Path, tmp_path: Path, kind: str) -> None:
    """The same bytes each time, and every document ends."""
    hashes = []
    for name in "ab":
        dataprep.build(text, out=tmp_path / name, tokenizer=f"train:{kind}:400", doc_per="line")
        hashes.append((tmp_path / f"{name}.bin").read_bytes())
    assert hashes[0] == hashes[1]
    dataset = dataprep.open(tmp_path / "a")
    manifest = json.loads((tmp_path / "a.json").read_text())
    tokenizer = dataprep.load_tokenizer(tmp_path / "a.tokenizer.json")
    assert (dataset.tokens == tokenizer.eod_id).sum() == manifest["documents"] == 2200
    assert manifest["vocab_size"] == tokenizer.vocab_size <= 400
    assert {"numba", "sentencepiece", "tokenizers"} <= manifest["versions"].keys()


def test_an_error_in_the_other_process_is_told_here(text: Path, tmp_path: Path) -> None:
    spec = TrainSpec(kind="bpe", vocab_size=300)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "mine").touch()
    with pytest.raises(UsageError, match="exists and is not empty") as caught:
        apart(train_folder, spec, settings(text), tmp_path / "t")
    assert caught.value.hint == "Choose another --out."
    with pytest.raises(RunError, match="process of _exit ended with exit code 3"):
        apart(os._exit, 3)


@pytest.mark.parametrize("size", [1, 1 << 20], ids=["small", "more than a pipe holds"])
def test_process_that_never_listens(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(RunError, match="process of len ended with exit code 1"):
        apart(len, b"x" * size)


TRAIN = """
import shutil
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from dataprep import cli
cli.main()
"""


def test_training_hears_an_interrupt(tmp_path: Path) -> None:
    """However long it would have taken."""
    chance = random.Random(1)
    letters = [chr(code) for code in range(0x4E00, 0x6E00)]
    lines = ["".join(chance.choices(letters, k=200_000)) for _ in range(6)]
    (tmp_path / "a.txt").write_text("\n".join(lines), "utf-8")
    command = [sys.executable, "-c", TRAIN, "train-tokenizer", str(tmp_path / "a.txt")]
    process = subprocess.Popen(
        [*command, "--vocab-size", "8000", "--out", str(tmp_path / "t")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Interrupted" in errors
    assert not (tmp_path / "t").exists()
