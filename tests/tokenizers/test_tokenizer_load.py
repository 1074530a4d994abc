"""A loaded tokenizer: ids equal the reference's, specials are text, engines are checked."""

import hashlib
import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from dataprep.batch import Batch
from dataprep.errors import DataError
from dataprep.tokenizers import engines
from dataprep.tokenizers.from_json import EngineFallbackWarning, tokenizer_from_json
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.probe import PROBES

ROOT = Path(__file__).parents[2]
ENGINES = ["fastokens", "tokenizers"]
TRY = {"fastokens": ("fastokens",), "tokenizers": ()}


@pytest.fixture(params=ENGINES)
def tokenizer(request, trained, monkeypatch):
    monkeypatch.setitem(engines.ENGINES_OF_MODEL, "BPE", TRY[request.param])
    loaded = tokenizer_from_json(trained, "trained")
    assert loaded.engine.startswith(request.param + " ")
    return loaded


@pytest.fixture(params=ENGINES)
def with_specials(request, with_added, monkeypatch):
    monkeypatch.setitem(engines.ENGINES_OF_MODEL, "BPE", TRY[request.param])
    return tokenizer_from_json(with_added, "with added tokens")


def split(ids, offsets):
    return [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def test_ids_are_those_of_the_reference(tokenizer, trained):
    reference = tokenizers.Tokenizer.from_str(trained.decode())
    reference.encode_special_tokens = True
    ids, offsets = tokenizer.encode_batch(PROBES)
    assert (ids.dtype, offsets.dtype) == (np.uint32, np.int64)
    expected = [reference.encode(text, add_special_tokens=False).ids for text in PROBES]
    assert split(ids, offsets) == expected


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(st.text(), max_size=4))
def test_text_survives_the_round_trip(trained, texts):
    for engine in ENGINES:
        made = engines.ENGINES[engine](trained.decode())
        ids, offsets = made.encode(Batch.from_texts(texts))
        assert [made.decode(part) for part in split(ids, offsets)] == texts


def test_a_batch_of_bytes_is_the_same_as_its_texts(tokenizer):
    from_batch = tokenizer.encode_batch(Batch.from_texts(PROBES))
    from_texts = tokenizer.encode_batch(PROBES)
    assert [part.tolist() for part in from_batch] == [part.tolist() for part in from_texts]


def test_no_documents_and_empty_documents(tokenizer):
    ids, offsets = tokenizer.encode_batch([])
    assert (len(ids), offsets.tolist()) == (0, [0])
    ids, offsets = tokenizer.encode_batch(["", ""])
    assert (len(ids), offsets.tolist()) == (0, [0, 0, 0])


def test_literal_specials_are_text(with_specials):
    text = "end<|endoftext|> <|mask|>\n"
    ids, _ = with_specials.encode_batch([text])
    assert with_specials.eod_id == 0
    assert not {0, 400} & set(ids.tolist())
    assert with_specials.decode(ids) == text


def test_added_tokens_that_are_not_special_are_words(with_specials):
    ids, _ = with_specials.encode_batch(["a<think>b", "c  <tool>  d"])
    assert {401, 402} <= set(ids.tolist())


def test_stored_truncation_padding_and_templates_are_not_applied(with_specials, tokenizer):
    texts = ["天下大势，分久必合", "a"]
    got, expected = with_specials.encode_batch(texts), tokenizer.encode_batch(texts)
    assert split(*got) == split(*expected)


def test_the_vocabulary_ends_after_the_last_added_token(with_specials, tokenizer):
    assert tokenizer.vocab_size == 400
    assert with_specials.vocab_size == 403


def test_end_of_document_must_be_special(trained):
    spec = json.loads(trained)
    spec["added_tokens"][0]["special"] = False
    assert tokenizer_from_json(json.dumps(spec).encode(), "x").eod_id is None
    spec["added_tokens"] = [{**spec["added_tokens"][0], "special": True, "content": "</s>"}]
    spec["added_tokens"][0]["id"] = 400
    assert tokenizer_from_json(json.dumps(spec).encode(), "x").eod_id == 400


def test_a_lone_surrogate_names_its_document(tokenizer):
    with pytest.raises(DataError, match="Document 1 of the batch"):
        tokenizer.encode_batch(["fine", "not \ud800 fine"])
    broken = Batch(b"ok\xed\xa0\x80", np.array([0, 2, 5]))
    with pytest.raises(DataError, match="Document 1 of the batch"):
        tokenizer.encode_batch(broken)


def test_decoding_takes_arrays_and_refuses_foreign_ids(tokenizer):
    ids, _ = tokenizer.encode_batch(["天下 all"])
    assert tokenizer.decode(ids) == tokenizer.decode(ids.tolist()) == "天下 all"
    assert tokenizer.decode([0]) == "<|endoftext|>"
    for outside in (400, -1):
        with pytest.raises(DataError, match=f"Id {outside} is outside"):
            tokenizer.decode([outside])


def test_saved_bytes_are_the_ones_fingerprinted(tokenizer, trained, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    assert (tmp_path / "tokenizer.json").read_bytes() == trained
    assert tokenizer.fingerprint == hashlib.sha256(trained).hexdigest()
    assert load_tokenizer(tmp_path).fingerprint == tokenizer.fingerprint


class _Wrong(engines.FastokensEngine):
    def encode(self, batch):
        ids, offsets = super().encode(batch)
        return ids ^ 1, offsets


def _fails(json):
    raise RuntimeError("no such instruction")


@pytest.mark.parametrize(
    ("engine", "why"), [(_Wrong, "gives .* not"), (_fails, "no such instruction")]
)
def test_an_engine_that_fails_or_differs_is_replaced_loudly(trained, monkeypatch, engine, why):
    monkeypatch.setitem(engines.ENGINES, "fastokens", engine)
    with pytest.warns(EngineFallbackWarning, match=why):
        loaded = tokenizer_from_json(trained, "trained")
    assert loaded.engine == f"tokenizers {tokenizers.__version__}"
    text = "天下大势 all"
    assert loaded.decode(loaded.encode_batch([text])[0]) == text


WORD_PIECE = tokenizers.Tokenizer(
    tokenizers.models.WordPiece({"[UNK]": 0, "天": 1, "all": 2}, unk_token="[UNK]")
)
WORD_PIECE.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
UNIGRAM = tokenizers.Tokenizer(
    tokenizers.models.Unigram([("<unk>", 0.0), ("天", -1.0), (" all", -1.0)], unk_id=0)
)


@pytest.mark.parametrize("made", [WORD_PIECE, UNIGRAM], ids=["WordPiece", "Unigram"])
def test_other_models_run_on_the_reference(made):
    loaded = tokenizer_from_json(made.to_str().encode(), "other model")
    assert loaded.engine.startswith("tokenizers ")
    assert loaded.vocab_size == 3
    assert loaded.encode_batch(["天 all"])[0].tolist() == [1, 2]


def test_a_pickled_copy_is_not_checked_again(with_specials, monkeypatch):
    pickled = pickle.dumps(with_specials)
    expected = [part.tolist() for part in with_specials.encode_batch(PROBES)]
    monkeypatch.setattr("dataprep.tokenizers.from_json.disagreement", _fails)
    copy = pickle.loads(pickled)
    assert [part.tolist() for part in copy.encode_batch(PROBES)] == expected
    assert (copy.engine, copy.fingerprint) == (with_specials.engine, with_specials.fingerprint)


def test_a_tokenizer_is_checked_once_for_each_version(trained, monkeypatch, empty_cache):
    probes = []

    def count(*arguments):
        probes.append(arguments)

    monkeypatch.setattr("dataprep.tokenizers.from_json.disagreement", count)
    tokenizer_from_json(trained, "first")
    again = tokenizer_from_json(trained, "second")
    assert len(probes) == 1
    assert again.engine.startswith("fastokens ")
    monkeypatch.setattr(engines, "version", lambda package: "99")
    tokenizer_from_json(trained, "new version")
    assert len(probes) == 2
    tokenizer_from_json(trained + b"\n", "another file")
    assert len(probes) == 3


def test_a_disagreement_is_not_forgotten(trained, monkeypatch):
    monkeypatch.setitem(engines.ENGINES, "fastokens", _Wrong)
    for _ in range(2):
        with pytest.warns(EngineFallbackWarning, match="gives"):
            tokenizer_from_json(trained, "trained")


def test_a_cache_that_cannot_be_written_is_no_obstacle(trained, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert tokenizer_from_json(trained, "trained").engine.startswith("fastokens ")


def _changed(trained, **changes):
    return json.dumps({**json.loads(trained), **changes}).encode()


def test_vocabulary_that_cannot_say_a_text(trained):
    model = {"type": "WordLevel", "vocab": {"<|endoftext|>": 0, "a": 1}, "unk_token": "[UNK]"}
    loaded = tokenizer_from_json(_changed(trained, model=model), "words")
    with pytest.raises(DataError, match=r"words cannot encode this text: .*UNK"):
        loaded.encode_batch(["床前明月光"])


def test_ids_beyond_what_datasets_hold(trained):
    added = [{**json.loads(trained)["added_tokens"][0], "id": 1 << 31}]
    with pytest.raises(DataError, match="has id 2,147,483,648; ids go up to 2,147,483,647"):
        tokenizer_from_json(_changed(trained, added_tokens=added), "huge")
