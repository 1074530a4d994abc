"""Bytes and characters: an id each, the reference's ids, and the text back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.batch import Batch
from dataprep.errors import DataError
from dataprep.tokenizers.from_json import tokenizer_from_json
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.probe import PROBES
from dataprep.tokenizers.reference import ReferenceEngine
from dataprep.tokenizers.spec import TrainSpec
from dataprep.tokenizers.train import train_tokenizer
from dataprep.tokenizers.unit_files import json_of_bytes, json_of_characters
from dataprep.tokenizers.units import BytesEngine, CharactersEngine

CHARACTERS = "天下 abc\n👍e\u0301\x00"
BOTH = [(json_of_bytes(), BytesEngine), (json_of_characters(CHARACTERS), CharactersEngine)]


@pytest.mark.parametrize(("made", "engine"), BOTH, ids=["bytes", "characters"])
def test_ids_are_those_of_the_reference(made, engine):
    batch = Batch.from_texts(PROBES)
    ours, reference = engine(made.decode()), ReferenceEngine(made.decode())
    for got, expected in zip(ours.encode(batch), reference.encode(batch), strict=True):
        assert np.array_equal(got, expected)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.text(), max_size=4), chosen=st.lists(st.text(CHARACTERS), max_size=4))
def test_text_survives_the_round_trip_and_spans_are_its_bytes(texts, chosen):
    for (made, engine), texts_in in zip(BOTH, (texts, chosen), strict=True):
        ours = engine(made.decode())
        ids, offsets, spans = ours.encode_spans(Batch.from_texts(texts_in))
        for i, text in enumerate(texts_in):
            part = slice(offsets[i], offsets[i + 1])
            assert ours.decode(ids[part].tolist()) == text
            data = text.encode()
            assert b"".join(data[a:b] for a, b in spans[part].tolist()) == data


def test_bytes_are_their_own_ids_and_need_no_file():
    tokenizer = load_tokenizer("bytes")
    assert tokenizer.engine == "jimu-bytes 1"
    assert (tokenizer.vocab_size, tokenizer.eod_id) == (257, 256)
    ids, offsets = tokenizer.encode_batch(["a天", "", "<|endoftext|>"])
    assert ids[:4].tolist() == [97, *"天".encode()]
    assert offsets.tolist() == [0, 4, 4, 17]
    assert tokenizer.decode([97, 256]) == "a<|endoftext|>"


def test_a_file_of_characters_is_a_vocabulary(tmp_path):
    (tmp_path / "poems.chars").write_text("天下\n天a", encoding="utf-8")
    tokenizer = load_tokenizer(tmp_path / "poems.chars")
    assert tokenizer.engine == "jimu-characters 1"
    assert (tokenizer.vocab_size, tokenizer.eod_id) == (6, 0)
    assert tokenizer.encode_batch(["下天\na?"])[0].tolist() == [3, 2, 4, 5, 1]
    (tmp_path / "bad.chars").write_bytes(b"\xff")
    with pytest.raises(DataError, match="not UTF-8"):
        load_tokenizer(tmp_path / "bad.chars")


@pytest.mark.parametrize("respect_words", [False, True])
def test_characters_are_learnt_by_frequency(respect_words):
    spec = TrainSpec(kind="chars", vocab_size=257, respect_words=respect_words)
    rare = "".join(map(chr, range(0x4E00, 0x5000)))
    made = train_tokenizer(spec, iter([Batch.from_texts(["龙龙龙\n\n", rare])]))
    tokenizer = tokenizer_from_json(made, "trained")
    assert tokenizer.engine == "jimu-characters 1"
    assert tokenizer.vocab_size == 257
    ids = tokenizer.encode_batch(["龙\n一\u4fff"])[0].tolist()
    assert ids == [2, 3, 4, 1]
