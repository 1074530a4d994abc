"""Real vocabularies on the real corpus, where the machine has them."""

import os
from pathlib import Path

import numpy as np
import pytest
from tokenizer_samples import every_code_point

from dataprep.batch import Batch
from dataprep.tokenizers.engines import ENGINES, REFERENCE
from dataprep.tokenizers.load import load_tokenizer


@pytest.fixture(scope="module")
def qwen3(public_vocabularies):
    return load_tokenizer(public_vocabularies / "qwen3")


@pytest.fixture(scope="module")
def reference(public_vocabularies):
    return ENGINES[REFERENCE]((public_vocabularies / "qwen3" / "tokenizer.json").read_text())


def test_qwen3_runs_on_the_fast_engine(qwen3):
    assert qwen3.engine.startswith("fastokens ")
    assert qwen3.vocab_size == 151669
    assert qwen3.decode([qwen3.eod_id]) == "<|endoftext|>"
    ids, _ = qwen3.encode_batch(["<think>嗯</think><|im_end|><|endoftext|>"])
    added = {qwen3.decode([i]) for i in ids.tolist() if i >= 151643}
    assert added == {"<think>", "</think>"}


@pytest.mark.parametrize(
    ("name", "entries", "end", "hello"),
    [("gpt2", 50257, "<|endoftext|>", [15496, 995]), ("roberta", 50265, "</s>", [31414, 232])],
)
def test_vocabularies_known_by_name(public_vocabularies, monkeypatch, name, entries, end, hello):
    monkeypatch.setenv("JIMU_VOCAB_MIRROR", str(public_vocabularies))
    tokenizer = load_tokenizer(name)
    assert tokenizer.engine.startswith("fastokens ")
    assert tokenizer.vocab_size == entries
    assert tokenizer.decode([tokenizer.eod_id]) == end
    assert tokenizer.encode_batch(["Hello world"])[0].tolist() == hello


@pytest.mark.sweep
def test_qwen3_gives_the_ids_of_the_reference_on_the_corpus(qwen3, reference):
    for path in sorted((Path(os.environ["JIMU_SHARED"]) / "corpus").glob("*/*[!z]")):
        lines = path.read_text(encoding="utf-8").split("\n")[:300]
        got, expected = qwen3.encode_batch(lines), reference.encode(Batch.from_texts(lines))
        assert np.array_equal(got[0], expected[0]), path.name
        assert np.array_equal(got[1], expected[1]), path.name


@pytest.mark.sweep
def test_every_character_gives_the_ids_of_the_reference(qwen3, reference):
    for documents in every_code_point(lambda c: f"{c}\na{c}1 {c}{c}\n"):
        got, expected = qwen3.encode_batch(documents), reference.encode(Batch.from_texts(documents))
        assert np.array_equal(got[1], expected[1]), hex(ord(documents[0][0]))
        assert np.array_equal(got[0], expected[0]), hex(ord(documents[0][0]))
