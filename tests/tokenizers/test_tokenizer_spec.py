from pathlib import Path
from typing import get_args

import pytest

from dataprep.batch import Batch
from dataprep.errors import UsageError
from dataprep.tokenizers.from_json import tokenizer_from_json
from dataprep.tokenizers.spec import TokenizerKind, TrainSpec, parse_tokenizer_spec
from dataprep.tokenizers.train import train_tokenizer


@pytest.mark.parametrize("kind", get_args(TokenizerKind))
def test_a_training_spec_reads_back_as_written(kind):
    spec = parse_tokenizer_spec(f"train:{kind}:8000")
    assert spec == TrainSpec(kind=kind, vocab_size=8000)
    assert str(spec) == f"train:{kind}:8000"


@pytest.mark.parametrize("path", ["some/tokenizer.json", "gpt2", "./train:bpe:8000", "C:tok"])
def test_all_else_is_a_path(path):
    assert parse_tokenizer_spec(path) == Path(path)


@pytest.mark.parametrize(
    "spec",
    ["train:", "train:bpe", "train:bpe:", "train:bpe:8k", "train:bpe:-1", "train:bpe:８０００",
     "train:words:8000", "train:bytes", "train:bpe:8000:x"],
)  # fmt: skip
def test_a_broken_training_spec_is_named_with_the_right_form(spec):
    with pytest.raises(UsageError, match="train:KIND:N") as caught:
        parse_tokenizer_spec(spec)
    assert spec in str(caught.value)
    assert "train:bpe:8000" in caught.value.hint


@pytest.mark.parametrize(
    ("kind", "least"), [("bpe", 257), ("wordpiece", 8), ("unigram", 260), ("chars", 3)]
)
def test_the_smallest_vocabulary_has_room_for_what_its_kind_needs(kind, least):
    spec = parse_tokenizer_spec(f"train:{kind}:{least}")
    made = train_tokenizer(spec, iter([Batch.from_texts(["a a a a a"])]))
    tokenizer = tokenizer_from_json(made, "small")
    assert tokenizer.vocab_size <= least
    assert tokenizer.specials.get("unk") not in tokenizer.encode_batch(["a"])[0]
    with pytest.raises(UsageError, match=rf"{least - 1} is too small for {kind}.*{least}"):
        parse_tokenizer_spec(f"train:{kind}:{least - 1}")
