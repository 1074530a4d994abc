"""Ids and spans of every real vocabulary on random and hostile text, where the machine has them."""

import os
import random
from pathlib import Path

import numpy as np
import pytest

from dataprep.batch import Batch
from dataprep.tokenizers.load import load_tokenizer

REFERENCES = {
    "tokenizers": ["gpt2", "roberta", "qwen3", "clip", "bert-base-chinese", "bert-base-uncased"],
    "sentencepiece": ["t5", "cpm-1", "mistral"],
}
BITS = [
    *("the world ", "天下", "Players.", "Ünï", " ", "  ", "각", "İ", "\x00", "##s", "\n", "\t"),
    *("1234", "<s>", "</s>", "<0x41>", "▁", "👩‍👩‍👧", "ﬁ", "①", "<|endoftext|>", "[SEP]"),
]


def random_texts(count):
    """Code points of all planes, with floods of combining marks, among words and specials."""
    dice = random.Random(11)
    marks = list(map(chr, range(0x300, 0x370)))
    for _ in range(count):
        parts = []
        for _ in range(dice.randrange(1, 14)):
            point = dice.randrange(0x110000 if dice.random() < 0.3 else 0x3100)
            character = "" if 0xD800 <= point < 0xE000 else chr(point)
            parts += [dice.choice(BITS), character, *dice.choices(marks, k=dice.randrange(4))]
        yield "".join(parts)


def widened(spans, offsets, batch):
    """Spans of whole characters, which are all that the reference has of a byte-level token."""
    data = np.frombuffer(bytes(batch.data) + b"\n", np.uint8)
    numbers, begins = np.arange(len(data)), (data & 0xC0) != 0x80
    before = np.maximum.accumulate(np.where(begins, numbers, 0))
    after = np.minimum.accumulate(np.where(begins, numbers, len(data))[::-1])[::-1]
    base = np.repeat(batch.offsets[:-1], np.diff(offsets))
    return np.stack((before[spans[:, 0] + base], after[spans[:, 1] + base]), 1) - base[:, None]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "reference"), [(name, key) for key, names in REFERENCES.items() for name in names]
)
def test_ids_and_spans_are_those_of_the_reference(public_vocabularies, name, reference):
    files = sorted((Path(os.environ["JIMU_SHARED"]) / "nasty").iterdir())
    small = [path for path in files if path.is_file() and path.stat().st_size < 100_000]
    hostile = [path.read_bytes().decode("utf-8", "replace") for path in small]
    long = [character * 20_000 for character in ("a", "啊", "e\u0301", " ")]
    batch = Batch.from_texts([*random_texts(2000), *hostile, *long])
    tokenizer = load_tokenizer(public_vocabularies / name)
    assert not tokenizer.engine.startswith(f"{reference} ")
    ids, offsets, spans = tokenizer.encode_spans(batch)
    expected = tokenizer.on(reference).encode_spans(batch)
    assert np.array_equal(offsets, expected[1])
    assert np.array_equal(ids, expected[0])
    assert np.array_equal(tokenizer.encode_batch(batch)[0], ids)
    if not np.array_equal(spans, expected[2]):
        assert np.array_equal(widened(spans, offsets, batch), expected[2])
