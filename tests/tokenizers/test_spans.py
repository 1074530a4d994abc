"""Spans of byte-level BPE: the bytes that each token spells, or the reference's."""

import json

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_samples import TEXTS

from dataprep.batch import Batch
from dataprep.tokenizers.fast_bpe import FastokensEngine
from dataprep.tokenizers.from_json import tokenizer_from_json
from dataprep.tokenizers.probe import PROBES
from dataprep.tokenizers.reference import ReferenceEngine
from dataprep.tokenizers.spelling import byte_alphabet


def test_the_byte_alphabet_is_that_of_the_reference():
    assert set(byte_alphabet()) == set(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    assert [byte_alphabet()[byte] for byte in b"a \x00\xff"] == ["a", "Ġ", "Ā", "ÿ"]


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.text(), max_size=4))
def test_spans_are_the_bytes_of_the_tokens_without_a_gap(trained, texts):
    tokenizer = tokenizer_from_json(trained, "trained")
    assert tokenizer.engine.startswith("fastokens ")
    ids, offsets, spans = tokenizer.encode_spans(texts)
    expected = tokenizer.encode_batch(texts)
    assert np.array_equal(ids, expected[0])
    assert np.array_equal(offsets, expected[1])
    for i, text in enumerate(texts):
        data, part = text.encode(), slice(offsets[i], offsets[i + 1])
        pieces = [data[start:end] for start, end in spans[part].tolist()]
        assert b"".join(pieces) == data
        spelt = ["".join(byte_alphabet()[byte] for byte in piece) for piece in pieces]
        assert spelt == [vocabulary(trained)[j] for j in ids[part].tolist()]


def vocabulary(trained):
    return {i: token for token, i in json.loads(trained)["model"]["vocab"].items()}


@pytest.fixture(scope="module")
def composing(trained):
    """The same vocabulary behind NFC, as Qwen's."""
    return json.dumps({**json.loads(trained), "normalizer": {"type": "NFC"}})


def test_documents_that_a_normalizer_changes_get_the_spans_of_the_reference(composing):
    fast, reference = FastokensEngine(composing), ReferenceEngine(composing)
    # The reference gives a composed character the bytes of its first part only.
    changed = ["e\u0301 caf\u0301e", "\u212b 天", "\uf900", "e\u0301" * 3]
    texts = [*changed, TEXTS[0], TEXTS[2]]
    batch = Batch.from_texts([*texts, *PROBES])
    ids, offsets, spans = fast.encode_spans(batch)
    expected = reference.encode_spans(batch)
    assert np.array_equal(ids, expected[0])
    assert np.array_equal(offsets, expected[1])
    part = slice(0, offsets[len(changed)])
    assert np.array_equal(spans[part], expected[2][part])
    for i in range(len(changed), len(texts)):
        own = spans[offsets[i] : offsets[i + 1]]
        assert own[0, 0] == 0
        assert own[-1, 1] == len(texts[i].encode())
        assert np.array_equal(own[1:, 0], own[:-1, 1])


def test_spans_of_the_reference_are_bytes_not_characters(trained):
    reference = ReferenceEngine(trained.decode())
    _, offsets, spans = reference.encode_spans(Batch.from_texts(["", "a天", "天a", ""]))
    assert offsets.tolist() == [0, 0, offsets[1 + 1], offsets[-1], offsets[-1]]
    assert spans[0].tolist() == [0, 1]
    assert spans[-1].tolist() == [3, 4]
    assert spans.max() == 4
