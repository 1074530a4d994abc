"""Real SentencePiece models on the real corpus, where the machine has them."""

import gzip
import os
import random
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from tokenizer_samples import every_code_point

from dataprep.batch import Batch
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.sp_engine import CompiledSentencePieceEngine

MODELS = {
    "mistral": ("tokenizer.model", "jimu-sentencepiece", 32000, {"bos": 1, "eod": 2, "unk": 0}),
    "t5": ("spiece.model", "jimu-sentencepiece", 32100, {"eod": 1, "extra_id_0": 32099}),
    "cpm-1": ("chinese_vocab.model", "jimu-sentencepiece", 30000, {"eod": 7, "mask": 6}),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_known_by_name(public_vocabularies, monkeypatch, name):
    monkeypatch.setenv("JIMU_VOCAB_MIRROR", str(public_vocabularies))
    _, engine, size, roles = MODELS[name]
    tokenizer = load_tokenizer(name)
    assert tokenizer.engine.startswith(f"{engine} ")
    assert tokenizer.vocab_size == size
    assert {role: tokenizer.specials[role] for role in roles} == roles


def texts(folder: Path):
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            yield path.name, data.decode("utf-8", "replace").split("\n")


@pytest.fixture(scope="module")
def mistral(public_vocabularies):
    model = (public_vocabularies / "mistral" / "tokenizer.model").read_bytes()
    return CompiledSentencePieceEngine(model), sentencepiece.SentencePieceProcessor(
        model_proto=model
    )


def same(engines, lines):
    fast, exact = engines
    ids, offsets = fast.encode(Batch.from_texts(lines))
    parts = exact.encode(lines, return_type="numpy", num_threads=1)
    lengths = list(map(len, parts))
    return np.array_equal(np.diff(offsets), lengths) and np.array_equal(ids, np.concatenate(parts))


@pytest.mark.sweep
def test_mistral_on_the_corpus(mistral):
    for name, lines in texts(Path(os.environ["JIMU_SHARED"]) / "corpus"):
        assert same(mistral, lines), name


def test_mistral_on_nasty_files(mistral):
    names = ("gz_not_gzip", "gz_truncated", "gz_multi")
    folder = Path(os.environ["JIMU_SHARED"]) / "nasty"
    for path in sorted(folder.iterdir()):
        if not path.name.startswith(names):
            text = path.read_bytes().decode("utf-8", "replace")
            assert same(mistral, [text, *text.split("\n")]), path.name


@pytest.mark.sweep
def test_mistral_on_every_character(mistral):
    for documents in every_code_point(lambda c: f" {c}\na{c}1 {c}{c}\n"):
        assert same(mistral, documents)


@pytest.mark.sweep
def test_mistral_on_random_pieces_and_characters(mistral):
    chance = random.Random(4)
    exact = mistral[1]
    pieces = [exact.id_to_piece(i) for i in range(exact.vocab_size())]
    planes = [chr(c) for c in (*range(32, 127), 0xE9, 0x301, 0x323, 0x4E00, 0x1F44D, 0x20BB7, 0)]
    for _ in range(20):
        lines = ["".join(chance.choices(pieces, k=chance.randint(1, 12))) for _ in range(1000)]
        lines += ["".join(chance.choices(planes, k=chance.randint(1, 40))) for _ in range(1000)]
        lines += ["".join(chance.choices("ab <0x41>", k=20)) for _ in range(200)]
        assert same(mistral, lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_time_is_linear_in_one_word(public_vocabularies, name):
    """A quadratic encoder would not end before the time limit of the test."""
    tokenizer = load_tokenizer(public_vocabularies / name)
    for character in "a啊":
        ids, _ = tokenizer.encode_batch([character * 10**7])
        assert len(ids)
