"""CLIP's file of merges on whatever engine is exact, and its context."""

import gzip
import json
import os
import random

import numpy as np
import pytest
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from dataprep.batch import Batch
from dataprep.errors import DataError, UsageError
from dataprep.tokenizers.clip import clip_context
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.probe import PROBES
from dataprep.tokenizers.reference import ReferenceEngine

FILE = "bpe_simple_vocab_16e6.txt.gz"


@pytest.fixture(scope="module")
def clip(public_vocabularies, tmp_path_factory):
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield load_tokenizer(public_vocabularies / "clip")
    if before is not None:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(scope="module")
def reference(public_vocabularies):
    """As transformers builds it from OpenAI's file."""
    lines = gzip.decompress((public_vocabularies / "clip" / FILE).read_bytes()).decode()
    merges = [tuple(line.split()) for line in lines.split("\n")[1:48895]]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*letters, *(c + "</w>" for c in letters), *map("".join, merges)]
    ids = {token: i for i, token in enumerate([*tokens, "<|startoftext|>", "<|endoftext|>"])}
    model = models.BPE(ids, merges, unk_token="<|endoftext|>", end_of_word_suffix="</w>")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    words = (
        r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]"
        r"|[^\s\p{L}\p{N}]+"
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(words), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    return ReferenceEngine(tokenizer.to_str())


def test_known_ids(clip):
    assert (clip.vocab_size, clip.eod_id) == (49408, 49407)
    assert clip.encode_batch(["a photo of a Cat"])[0].tolist() == [320, 1125, 539, 320, 2368]
    assert clip.decode([320, 1125, 539, 320, 2368]) == "a photo of a cat "


def test_ids_and_spans_are_those_of_the_reference(clip, reference):
    dice = random.Random(5)
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    texts = [*PROBES, "\u180e", "a\u180eb 天", "after"]
    for _ in range(2000):
        few = [chr(dice.choice(points[: dice.choice([0x300, 0x3100, 0x10000, -1])])) for _ in "12"]
        texts.append("".join([few[0], "Photo'S of ", few[1], few[0], "\u0301 \n 下"]))
    batch = Batch.from_texts(texts)
    for got, expected in zip(clip.encode_spans(batch), reference.encode_spans(batch), strict=True):
        assert np.array_equal(got, expected)
    assert np.array_equal(clip.encode_batch(batch)[0], reference.encode(batch)[0])


def test_vocabulary_and_merges_are_the_same_tokenizer(clip, tmp_path):
    clip.save(tmp_path / "made.json")
    model = json.loads((tmp_path / "made.json").read_text())["model"]
    (tmp_path / "vocab.json").write_text(json.dumps(model["vocab"]))
    lines = ["#version: 0.2", *map(" ".join, model["merges"]), ""]
    (tmp_path / "merges.txt").write_text("\n".join(lines))
    assert load_tokenizer(tmp_path).fingerprint == clip.fingerprint


@pytest.mark.parametrize(
    "data",
    [b"no gzip", gzip.compress(b"#version\na b\n"), gzip.compress(b"one\n" * 50_000),
     gzip.compress(b"a b\n" * 50_000)[:-20]],
)  # fmt: skip
def test_another_file_is_named(tmp_path, data):
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(DataError, match="not CLIP's file of merges"):
        load_tokenizer(tmp_path)


def test_the_context_is_filled_up_and_cut_and_keeps_its_end():
    ids = np.array([5, 6, 7, 8, 9], np.uint32)
    offsets = np.array([0, 2, 2, 5], np.int64)
    context = clip_context(ids, offsets, start=1, end=2, pad=0, length=4)
    assert context.dtype == np.int64
    assert context.tolist() == [[1, 5, 6, 2], [1, 2, 0, 0], [1, 7, 8, 2]]
    assert clip_context(ids, offsets, start=1, end=2, pad=2).shape == (3, 77)
    assert clip_context(ids[:0], offsets[:1], start=1, end=2, pad=0).shape == (0, 77)
    with pytest.raises(UsageError, match="no room"):
        clip_context(ids, offsets, start=1, end=2, pad=0, length=1)
