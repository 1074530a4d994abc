"""WordPiece by tables gives the ids and the spans of the reference, whatever the text."""

import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_samples import TEXTS, every_code_point, trained_wordpiece

from dataprep.batch import Batch
from dataprep.errors import DataError
from dataprep.tokenizers.from_json import EngineFallbackWarning, tokenizer_from_json
from dataprep.tokenizers.probe import PROBES
from dataprep.tokenizers.reference import ReferenceEngine
from dataprep.tokenizers.wordpiece import WordPieceEngine

ROOT = Path(__file__).parents[2]
FLAGS = [
    {"lowercase": True},
    {"lowercase": False},
    {"lowercase": True, "strip_accents": False},
    {"lowercase": False, "strip_accents": True, "handle_chinese_chars": False},
    {"lowercase": True, "clean_text": False},
]


@pytest.fixture(scope="module", autouse=True)
def one_cache(tmp_path_factory):
    """Tables are made once for the module."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(scope="module", params=FLAGS, ids=str)
def both(request, one_cache):
    """The same tokenizer on either engine."""
    made = trained_wordpiece(**request.param)
    return WordPieceEngine(made), ReferenceEngine(made)


@pytest.fixture(scope="module")
def lower(one_cache):
    made = trained_wordpiece(lowercase=True)
    return WordPieceEngine(made), ReferenceEngine(made)


def assert_same(both, texts):
    ours, reference = (engine.encode_spans(Batch.from_texts(texts)) for engine in both)
    ids, offsets = both[0].encode(Batch.from_texts(texts))
    assert np.array_equal(ids, ours[0])
    assert np.array_equal(offsets, ours[1])
    if all(map(np.array_equal, ours, reference)):
        return
    for i, text in enumerate(texts):
        for got, expected in zip((ours[0], ours[2]), (reference[0], reference[2]), strict=True):
            assert np.array_equal(
                got[ours[1][i] : ours[1][i + 1]],
                expected[reference[1][i] : reference[1][i + 1]],
            ), text[:200]


def test_probes(both):
    assert_same(both, [*PROBES, *TEXTS, "[SEP] a[MASK]b [unused1] [UNK]"])


def random_texts(count, seed):
    """Code points of all planes, with floods of combining marks, among words."""
    dice = random.Random(seed)
    marks = [chr(c) for c in range(0x300, 0x370)]
    moving = ["\u302e", "\u1b44", "\U0001d165", "\U0001d16d", "\U000111c0", "\U00016ff0"]
    for _ in range(count):
        parts = []
        for _ in range(dice.randrange(1, 12)):
            point = dice.randrange(0x110000 if dice.random() < 0.3 else 0x3100)
            parts += [
                dice.choice(
                    ["the world ", "天下", "players.", "Ünï", " ", "각", "İ", "\x00", "##s"]
                ),
                "" if 0xD800 <= point < 0xE000 else chr(point),
                "".join(dice.choices(marks, k=dice.randrange(4))),
                dice.choice(moving) if dice.random() < 0.05 else "",
            ]
        yield "".join(parts)


def test_random_text_of_all_planes(both):
    assert_same(both, list(random_texts(1500, seed=1)))


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(st.text(), max_size=4))
def test_any_text(lower, texts):
    assert_same(lower, texts)


@pytest.mark.sweep
def test_every_code_point(both):
    for documents in every_code_point(lambda c: f"{c}a{c}{c} s{c} \n"):
        assert_same(both, documents)


def test_marks_that_change_places_go_to_the_reference(lower):
    text = "天\U0001d16d\u1b44下 \u302e\U0001d165"
    normal = tokenizers.normalizers.BertNormalizer(lowercase=True).normalize_str(text)
    assert "\u1b44\U0001d16d" in normal
    assert_same(lower, ["before 天下", text, "", text, "after"])


@pytest.mark.parametrize("count", [99, 100, 101, 102, 1000])
def test_words_around_the_limit(lower, count):
    assert_same(lower, ["a" * count, "天 " + "ab" * (count // 2) + "!", "é" * count, "각" * count])


@pytest.mark.parametrize("unit", ["a", "啊", "e\u0301", "한", " ", "\u0301", "a ", "\U0001f600"])
def test_a_long_text_of_one_kind(lower, unit):
    assert_same(lower, [unit * 100_000])


def test_no_documents_and_empty_documents(lower):
    assert_same(lower, [])
    assert_same(lower, ["", "", "a", ""])


def test_text_that_is_no_text_is_refused():
    tokenizer = tokenizer_from_json(trained_wordpiece().encode(), "small")
    assert tokenizer.engine == "jimu-wordpiece 1"
    with pytest.raises(DataError, match="Document 1 of the batch"):
        tokenizer.encode_batch(["fine", "\ud800"])
    for data, offsets in [(b"ok\xed\xa0\x80", [0, 2, 5]), ("天天".encode(), [0, 4, 6])]:
        with pytest.raises(DataError, match=r"Document \d of the batch"):
            tokenizer.encode_batch(Batch(data, np.array(offsets)))


def test_a_pickled_copy_and_the_cached_tables_give_the_same(lower):
    tokenizer = tokenizer_from_json(trained_wordpiece(lowercase=True).encode(), "small")
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.engine == tokenizer.engine
    assert copy.encode_batch(TEXTS)[0].tolist() == tokenizer.encode_batch(TEXTS)[0].tolist()


def test_a_broken_cache_is_made_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = trained_wordpiece(lowercase=True)
    WordPieceEngine(made)
    (file,) = (tmp_path / "jimu" / "wordpiece").iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    assert_same((WordPieceEngine(made), ReferenceEngine(made)), TEXTS)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/nowhere")
    assert_same((WordPieceEngine(made), ReferenceEngine(made)), TEXTS)


def test_without_numba_the_reference_works(monkeypatch):
    tokenizer_from_json(trained_wordpiece().encode(), "checked before")
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in ("compiled", "wordpiece_kernel"):
        monkeypatch.delitem(sys.modules, f"dataprep.tokenizers.{name}", raising=False)
    with pytest.warns(EngineFallbackWarning, match="numba"):
        tokenizer = tokenizer_from_json(trained_wordpiece().encode(), "small")
    assert tokenizer.engine.startswith("tokenizers ")


def test_files_that_the_tables_do_not_fit_run_on_the_reference():
    spec = json.loads(trained_wordpiece())
    word = {**spec["added_tokens"][0], "content": "[word]", "special": False}
    other = json.dumps({**spec, "added_tokens": [*spec["added_tokens"], {**word, "id": 400}]})
    assert tokenizer_from_json(other.encode(), "x").engine.startswith("tokenizers ")
    whitespace = json.dumps({**spec, "pre_tokenizer": {"type": "Whitespace"}})
    assert tokenizer_from_json(whitespace.encode(), "x").engine.startswith("tokenizers ")


NO_FILE = """
from dataprep.tokenizers.compiled import compiled
assert compiled(lambda x: x + 1)(1) == 2
"""


def test_code_that_cannot_be_kept_is_compiled_all_the_same():
    done = subprocess.run([sys.executable, "-c", NO_FILE], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
