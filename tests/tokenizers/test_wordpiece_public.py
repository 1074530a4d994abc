"""BERT's own vocabularies on the real corpus and on hostile files, where the machine has them."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import tokenizers

from dataprep.batch import Batch
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.reference import ReferenceEngine

NAMES = ["bert-base-chinese", "bert-base-uncased"]


@pytest.fixture(params=NAMES)
def both(request, public_vocabularies, monkeypatch):
    """Ours by its name, and the reference made here of the same vocabulary."""
    monkeypatch.setenv("JIMU_VOCAB_MIRROR", str(public_vocabularies))
    lines = (public_vocabularies / request.param / "vocab.txt").read_bytes().decode().split("\n")
    ids = {token: i for i, token in enumerate(lines[:-1])}
    model = tokenizers.models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100)
    reference = tokenizers.Tokenizer(model)
    reference.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    reference.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    ours = load_tokenizer(request.param)
    assert ours.engine == "jimu-wordpiece 1"
    assert ours.vocab_size == len(ids)
    assert ours.eod_id == 102
    return ours, ReferenceEngine(reference.to_str())


def assert_same(both, texts):
    got, expected = both[0].encode_spans(texts), both[1].encode_spans(Batch.from_texts(texts))
    for ours, reference in zip(got, expected, strict=True):
        assert np.array_equal(ours, reference)


def test_hostile_files(both):
    folder = Path(os.environ["JIMU_SHARED"]) / "nasty"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert_same(both, [path.read_bytes().decode(errors="replace") for path in files])


@pytest.mark.sweep
def test_the_corpus(both):
    """Ids of all of it, spans of every 16th line: the reference's take four times as long."""
    ours, reference = both
    for path in sorted((Path(os.environ["JIMU_SHARED"]) / "corpus").glob("*/*")):
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        lines = [line + "\n" for line in text.split("\n")]
        got, expected = ours.encode_batch(lines), reference.encode(Batch.from_texts(lines))
        assert np.array_equal(got[0], expected[0]), path.name
        assert np.array_equal(got[1], expected[1]), path.name
        assert_same(both, lines[::16])
