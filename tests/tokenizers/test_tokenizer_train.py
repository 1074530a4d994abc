"""Training: the same bytes always, every text can be said, and sizes are what they seem."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizer_samples import TEXTS, train

from dataprep.batch import Batch
from dataprep.errors import DataError
from dataprep.tokenizers.from_json import tokenizer_from_json
from dataprep.tokenizers.spec import TrainSpec
from dataprep.tokenizers.train import EOD_TOKEN, train_tokenizer

ROOT = Path(__file__).parents[2]


def test_the_vocabulary_is_an_end_then_bytes_then_merges(trained):
    spec = json.loads(trained)
    vocab = spec["model"]["vocab"]
    assert vocab[EOD_TOKEN] == 0
    assert sorted(vocab.values()) == list(range(400))
    assert all(len(token) == 1 for token, i in vocab.items() if 1 <= i <= 256)
    assert len(spec["model"]["merges"]) == 400 - 257
    assert [token["content"] for token in spec["added_tokens"]] == [EOD_TOKEN]


def test_batching_does_not_matter(trained):
    assert train(400, TEXTS[:4], [], TEXTS[4:]) == trained


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_hash_seeds_do_not_matter(trained, threads):
    code = (
        "import sys; sys.path[:0] = ['.', 'tests/tokenizers']\n"
        "import hashlib, tokenizer_samples as samples\n"
        "print(hashlib.sha256(samples.train(400, samples.TEXTS)).hexdigest())"
    )
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads), "PYTHONHASHSEED": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == hashlib.sha256(trained).hexdigest(), done.stderr


def test_a_small_corpus_gives_a_small_consistent_vocabulary():
    tokenizer = tokenizer_from_json(train(8000, ["abab"]), "small")
    assert tokenizer.vocab_size == 257 + 2  # ab, abab
    assert tokenizer.encode_batch(["abab"])[0].tolist() == [258]


def test_no_text_at_all_still_says_everything():
    tokenizer = tokenizer_from_json(train(8000), "nothing")
    assert tokenizer.vocab_size == 257
    text = "天下 all 👍🏽\x00"
    ids, _ = tokenizer.encode_batch([text])
    assert len(ids) == len(text.encode())
    assert tokenizer.decode(ids) == text


def test_specials_in_the_corpus_are_not_learnt_as_one():
    made = train(8000, ["<|endoftext|>"] * 50)
    tokenizer = tokenizer_from_json(made, "specials")
    ids, _ = tokenizer.encode_batch(["<|endoftext|>"])
    assert tokenizer.eod_id == 0
    assert 0 not in ids
    assert tokenizer.decode(ids) == "<|endoftext|>"


def test_text_that_is_not_utf8_is_a_data_error():
    batches = iter([Batch.from_texts(["ok"]), Batch(b"\xff\xfe", np.array([0, 2]))])
    with pytest.raises(DataError, match="Batch 1 of the training text is not valid UTF-8"):
        train_tokenizer(TrainSpec(vocab_size=300), batches)


def test_training_leaves_the_environment_as_it_was(monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    train(300, TEXTS)
    assert os.environ["TOKENIZERS_PARALLELISM"] == "false"
    monkeypatch.delenv("TOKENIZERS_PARALLELISM")
    train(300, TEXTS)
    assert "TOKENIZERS_PARALLELISM" not in os.environ
