from pathlib import Path

import pytest

from dataprep.errors import UsageError
from dataprep.tokenizers.spec import TrainSpec, parse_tokenizer_spec


def test_a_training_spec_reads_back_as_written():
    spec = parse_tokenizer_spec("train:bpe:8000")
    assert spec == TrainSpec(vocab_size=8000)
    assert str(spec) == "train:bpe:8000"


@pytest.mark.parametrize("path", ["some/tokenizer.json", "gpt2", "./train:bpe:8000", "C:tok"])
def test_all_else_is_a_path(path):
    assert parse_tokenizer_spec(path) == Path(path)


@pytest.mark.parametrize(
    "spec",
    ["train:", "train:bpe", "train:bpe:", "train:bpe:8k", "train:bpe:-1", "train:bpe:８０００",
     "train:unigram:8000", "train:bpe:8000:x"],
)  # fmt: skip
def test_a_broken_training_spec_is_named_with_the_right_form(spec):
    with pytest.raises(UsageError, match="train:bpe:N") as caught:
        parse_tokenizer_spec(spec)
    assert spec in str(caught.value)
    assert "train:bpe:8000" in caught.value.hint


def test_the_smallest_vocabulary_is_all_bytes_and_an_end():
    assert parse_tokenizer_spec("train:bpe:257").vocab_size == 257
    with pytest.raises(UsageError, match=r"256 is too small.*257"):
        parse_tokenizer_spec("train:bpe:256")
