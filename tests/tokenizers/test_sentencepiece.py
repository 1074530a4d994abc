"""SentencePiece models: sentencepiece is the oracle, on whichever engine."""

import base64
import functools
import hashlib
import io
import itertools
import json
import pickle
import random
import warnings
from dataclasses import replace

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_samples import TEXTS

from dataprep.batch import Batch
from dataprep.errors import DataError, UsageError
from dataprep.tokenizers import from_sentencepiece as module
from dataprep.tokenizers.from_json import EngineFallbackWarning
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.probe import PROBES
from dataprep.tokenizers.sp_engine import CompiledSentencePieceEngine, SentencePieceEngine
from dataprep.tokenizers.sp_model import Piece, PieceType, parse_model
from dataprep.tokenizers.sp_unfit import unfit

IDENTITY = {
    "model_type": "bpe",
    "byte_fallback": True,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
}


def train(texts=TEXTS, size=420, **settings):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=out,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
        **settings,
    )
    return out.getvalue()


@pytest.fixture(scope="session")
def bpe():
    """Like Mistral's: nothing is normalised, every character can be written."""
    return train(**IDENTITY)


@pytest.fixture(scope="session")
def unigram():
    """Like T5's, CPM's and ALBERT's."""
    return train(size=200, model_type="unigram", pad_id=3, control_symbols=["[CLS]", "<eod>"])


def saved(tmp_path, model, name="spiece.model", **files):
    (tmp_path / name).write_bytes(model)
    for file, values in files.items():
        (tmp_path / f"{file}.json").write_text(json.dumps(values))
    return tmp_path / name


def split(ids, offsets):
    return [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def expected(model, texts):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.encode(text) for text in texts]


FALLBACK = {"model_type": "unigram", "byte_fallback": True}
SETTINGS = [
    IDENTITY,
    {**IDENTITY, "add_dummy_prefix": False},
    {**IDENTITY, "byte_fallback": False},
    {**IDENTITY, "normalization_rule_name": "nmt_nfkc"},
    {**IDENTITY, "remove_extra_whitespaces": True},
    {**IDENTITY, "treat_whitespace_as_suffix": True},
    {**IDENTITY, "user_defined_symbols": ["<u>", "天下", "▁x", "!"]},
    {**IDENTITY, "split_by_whitespace": False, "split_by_unicode_script": False},
    {"model_type": "unigram"},
    {"model_type": "unigram", "normalization_rule_name": "nfkc_cf"},
    {**FALLBACK, "size": 480},
    {**FALLBACK, "size": 480, "treat_whitespace_as_suffix": True, "add_dummy_prefix": False},
    {**FALLBACK, "size": 480, "normalization_rule_name": "identity",
     "remove_extra_whitespaces": False, "user_defined_symbols": ["<u>", "天下", "▁x", "!"]},
]  # fmt: skip


@functools.cache
def trained(number):
    return train(**{"size": 200, **SETTINGS[number]} if number > 7 else SETTINGS[number])


def engines_of(model):
    return CompiledSentencePieceEngine(model), SentencePieceEngine(model)


def assert_same(engines, texts):
    """Ids, offsets and spans."""
    ours, reference = (engine.encode_spans(Batch.from_texts(texts)) for engine in engines)
    for i, text in enumerate(texts):
        for k in (0, 2):
            got = ours[k][ours[1][i] : ours[1][i + 1]].tolist()
            assert got == reference[k][reference[1][i] : reference[1][i + 1]].tolist(), text[:200]
    for got, expected in zip(engines[0].encode(Batch.from_texts(texts)), ours, strict=False):
        assert np.array_equal(got, expected)


HARD = [*PROBES, *TEXTS, "a<u>b天下</s>", "<s>▁<0x41><unk>▁x", " " * 40 + "x" + " " * 3, "▁▁",
        "\u3000 \u3000", " \t\n", "!!  !", "天\x00\x00下\x01", "\ufdfa" * 300]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_ids_and_spans_are_those_of_sentencepiece(number):
    engines = engines_of(trained(number))
    assert_same(engines, HARD)
    dice = random.Random(number)
    pieces = [p.text.replace("▁", " ") for p in parse_model(trained(number), "").pieces]
    parts = [*pieces, "e\u0301", "ﬁ", "ＡＢ", "①", "각", " ", "  ", "▁", "\u3000", "👍🏽", "\x00"]
    planes = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    texts = ["".join(dice.choices(parts, k=dice.randrange(20))) for _ in range(400)]
    texts += ["".join(map(chr, dice.choices(planes[:0x3100], k=12))) for _ in range(200)]
    texts += ["".join(map(chr, dice.choices(planes, k=12))) for _ in range(200)]
    assert_same(engines, texts)


@pytest.mark.parametrize("number", [0, 8])
@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.text(), max_size=4))
def test_any_text(number, texts):
    assert_same(engines_once(number), texts)


@functools.cache
def engines_once(number):
    return engines_of(trained(number))


@pytest.mark.parametrize(
    ("settings", "engine"),
    [
        (IDENTITY, "jimu-sentencepiece"),
        ({"model_type": "unigram", "size": 200}, "jimu-sentencepiece"),
        ({"model_type": "char"}, "sentencepiece"),
        ({"model_type": "word", "size": 60}, "sentencepiece"),
    ],
    ids=str,
)
def test_the_engine_and_the_text_that_comes_back(tmp_path, settings, engine):
    model = train(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokenizer = load_tokenizer(saved(tmp_path, model))
    assert tokenizer.engine.startswith(f"{engine} ")
    ids, offsets = tokenizer.encode_batch(HARD)
    assert (ids.dtype, offsets.dtype) == (np.uint32, np.int64)
    assert split(ids, offsets) == expected(model, HARD)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    text = "天下大势 all the world"
    decoded = tokenizer.decode(tokenizer.encode_batch([text])[0])
    assert decoded == processor.decode(processor.encode(text))


@pytest.mark.parametrize("alphabet", ["ab", "ab ", "啊吧 ", "abc"])
@pytest.mark.parametrize("tied", [False, True])
def test_ties_are_broken_as_sentencepiece_does(alphabet, tied):
    """Few letters and many pieces: nearly every place can be joined in several ways."""
    dice = random.Random(alphabet)
    texts = ["".join(dice.choices(alphabet, k=50)) for _ in range(200)]
    model = train(texts, 300, **IDENTITY, split_by_whitespace=tied)
    if tied:
        scores = {p.text: -dice.randrange(4) for p in parse_model(model, "").pieces}
        model = with_scores(model, scores)
    texts = ["".join(dice.choices(alphabet + "é", k=30)) for _ in range(500)]
    texts += [letter * n for letter in alphabet for n in range(1, 60)]
    assert_same(engines_of(model), texts)


def with_scores(model, scores):
    """The model with other scores for some pieces."""
    found = parse_model(model, "model")
    data = bytearray()
    for piece in found.pieces:
        text, score = piece.text.encode(), np.float32(scores.get(piece.text, piece.score))
        body = b"\x0a" + bytes([len(text)]) + text + b"\x15" + score.tobytes()
        body += b"\x18" + bytes([piece.type])
        data += b"\x0a" + bytes([len(body)]) + body
    for number, kind in ((2, b"\x18\x02\x98\x02\x01"), (3, b"\x18\x01\x20\x00\x28\x01")):
        data += bytes([number << 3 | 2, len(kind)]) + kind
    return bytes(data)


def test_a_long_text_is_summed_as_sentencepiece_sums_it():
    """Past a score of -100,000 it starts from 0 again."""
    dice = random.Random(3)
    assert_same(engines_once(8), ["".join(dice.choices("天下大势all the wor", k=100_000))])


@pytest.mark.parametrize("number", [0, 2, 8, 10])
@pytest.mark.parametrize("unit", ["a", "啊", "天下", " ", "\u0301", "👍"])
def test_a_long_text_of_one_kind(number, unit):
    assert_same(engines_once(number), [unit * 30_000])


def test_a_full_cache_gives_the_same():
    engines = engines_of(trained(0))
    dice = random.Random(5)
    for _ in range(3):
        texts = ["".join(dice.choices("abcdefghilmnorst", k=200)) for _ in range(2000)]
        assert_same(engines, texts)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "word"}, "kind word"),
        ({"byte_fallback": False}, "byte pieces"),
        ({"pieces": lambda pieces: (*pieces, pieces[-1])}, "written alike"),
        ({"pieces": lambda p: (*p, Piece("x y", 0.0, PieceType.UNUSED))}, "unused"),
        ({"pieces": lambda p: (*p, Piece("☃", 0.0, PieceType.CONTROL))}, "single character"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_models_that_the_loops_do_not_fit(bpe, change, reason):
    model = parse_model(bpe, "model")
    assert unfit(model) is None
    values = {k: v(model.pieces) if callable(v) else v for k, v in change.items()}
    assert reason in unfit(replace(model, **values))


def test_a_disagreement_falls_back_loudly(tmp_path, bpe, monkeypatch):
    monkeypatch.setattr(module, "disagreement", lambda *_: "'x' gives [1], not [2]")
    with pytest.warns(EngineFallbackWarning, match="several times slower"):
        tokenizer = load_tokenizer(saved(tmp_path, bpe))
    assert tokenizer.engine.startswith("sentencepiece ")
    assert split(*tokenizer.encode_batch(TEXTS)) == expected(bpe, TEXTS)


def test_no_documents(tmp_path, unigram):
    ids, offsets = load_tokenizer(saved(tmp_path, unigram)).encode_batch([])
    assert (ids.tolist(), offsets.tolist()) == ([], [0])
    ids, offsets, spans = load_tokenizer(tmp_path / "spiece.model").encode_spans([""])
    assert (ids.tolist(), offsets.tolist(), spans.shape) == ([], [0, 0], (0, 2))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_spans_are_bytes_of_the_document(tmp_path, kind, request):
    tokenizer = load_tokenizer(saved(tmp_path, request.getfixturevalue(kind)))
    ids, offsets, spans = tokenizer.encode_spans(["", *TEXTS, "é 👍 x"])
    assert ids.tolist() == tokenizer.encode_batch(["", *TEXTS, "é 👍 x"])[0].tolist()
    for text, start, end in zip(["", *TEXTS, "é 👍 x"], offsets, offsets[1:], strict=False):
        part = spans[start:end]
        assert (np.diff(part[:, 0]) >= 0).all()
        pieces = [text.encode()[a:b] for a, b in part.tolist()]
        # Only blanks that the model's normalisation drops are in no span.
        assert b"".join(b"".join(pieces).split()) == b"".join(text.encode().split())
        assert kind == "unigram" or b"".join(pieces) == text.encode()


def test_roles_and_control_pieces(tmp_path, unigram):
    tokenizer = load_tokenizer(saved(tmp_path, unigram))
    roles = {"unk": 0, "bos": 1, "eos": 2, "pad": 3, "cls": 4, "eod": 5}
    assert tokenizer.specials == dict(sorted(roles.items()))
    assert tokenizer.eod_id == 5
    text = "天<eod>[CLS]</s>"
    ids, _ = tokenizer.encode_batch([text])
    assert not {1, 2, 3, 4, 5} & set(ids.tolist())
    assert tokenizer.decode([5, 4]) == "<eod>[CLS]"
    with pytest.raises(DataError, match=f"Id {tokenizer.vocab_size} is outside"):
        tokenizer.decode([tokenizer.vocab_size])


def test_sentinels_of_t5(tmp_path, unigram):
    path = saved(tmp_path, unigram, tokenizer_config={"tokenizer_class": "T5Tokenizer"})
    tokenizer = load_tokenizer(path)
    size = len(parse_model(unigram, "").pieces)
    assert tokenizer.vocab_size == size + 100
    assert tokenizer.specials["extra_id_0"] == size + 99
    assert tokenizer.specials["extra_id_99"] == size
    assert tokenizer.decode([size + 99, size]) == "<extra_id_0><extra_id_99>"
    assert max(tokenizer.encode_batch(["<extra_id_0>"])[0]) < size


def test_ids_of_xlm_r(tmp_path):
    model = train(size=150, model_type="unigram")
    config = {"tokenizer_class": "XLMRobertaTokenizer", "mask_token": {"content": "<mask>"}}
    path = saved(tmp_path, model, "sentencepiece.bpe.model", tokenizer_config=config)
    tokenizer = load_tokenizer(path.parent)
    own = {0: 3, 1: 0, 2: 2}
    ids = expected(model, TEXTS)
    assert split(*tokenizer.encode_batch(TEXTS)) == [[own.get(i, i + 1) for i in d] for d in ids]
    roles = {"bos": 0, "pad": 1, "eos": 2, "eod": 2, "unk": 3, "mask": tokenizer.vocab_size - 1}
    assert tokenizer.specials == dict(sorted(roles.items()))
    assert tokenizer.decode([0, *tokenizer.encode_batch(["天下 all"])[0], 2]) == "<s>天下 all</s>"


def test_added_tokens_and_roles_beside_the_model(tmp_path, bpe):
    size = len(parse_model(bpe, "").pieces)
    path = saved(
        tmp_path,
        bpe,
        added_tokens={"<|pad|>": size},
        tokenizer_config={
            "pad_token": "<|pad|>",
            "eos_token": "<|im_end|>",
            "added_tokens_decoder": {
                "2": {"content": "</s>"},
                str(size + 1): {"content": "<|im_end|>"},
            },
        },
    )
    tokenizer = load_tokenizer(path)
    assert tokenizer.vocab_size == size + 2
    assert (tokenizer.specials["pad"], tokenizer.eod_id) == (size, size + 1)
    path.with_name("added_tokens.json").unlink()
    assert load_tokenizer(path).fingerprint != tokenizer.fingerprint


def test_a_class_with_other_ids_is_refused(tmp_path, bpe):
    path = saved(tmp_path, bpe, tokenizer_config={"tokenizer_class": "CamembertTokenizerFast"})
    with pytest.raises(UsageError, match="CamembertTokenizerFast, which gives other ids"):
        load_tokenizer(path)


def test_a_saved_tokenizer_and_a_pickled_one_are_the_same(tmp_path, unigram):
    config = {"tokenizer_class": "T5Tokenizer"}
    tokenizer = load_tokenizer(saved(tmp_path, unigram, tokenizer_config=config))
    tokenizer.save(tmp_path / "x.tokenizer.json")
    digest = hashlib.sha256((tmp_path / "x.tokenizer.json").read_bytes()).hexdigest()
    assert digest == tokenizer.fingerprint
    loaded = load_tokenizer(tmp_path / "x.tokenizer.json")
    for copy in (loaded, pickle.loads(pickle.dumps(tokenizer))):
        assert copy.fingerprint == tokenizer.fingerprint
        assert (copy.vocab_size, copy.specials) == (tokenizer.vocab_size, tokenizer.specials)
        assert copy.encode_batch(TEXTS)[0].tolist() == tokenizer.encode_batch(TEXTS)[0].tolist()
    values = json.loads((tmp_path / "x.tokenizer.json").read_text())
    values["model"] = base64.b64encode(b"\x0athis").decode()
    (tmp_path / "y.json").write_text(json.dumps(values))
    with pytest.raises(DataError, match="not a SentencePiece model"):
        load_tokenizer(tmp_path / "y.json")


@pytest.mark.parametrize("cut", [2, 10, 500, -1, -40])
def test_a_cut_model_is_named(tmp_path, bpe, cut):
    with pytest.raises(DataError, match="not a SentencePiece model, or is cut short"):
        load_tokenizer(saved(tmp_path, bpe[:cut]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "Git LFS pointer"),
        (b"\n<html>", "HTML page"),
        (b"", "empty"),
        (b"hello\nworld\n", "not a SentencePiece model"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        load_tokenizer(saved(tmp_path, content))


def test_a_folder_with_two_models_asks_which(tmp_path, bpe, unigram):
    saved(tmp_path, bpe, "a.model")
    saved(tmp_path, unigram, "b.model")
    with pytest.raises(UsageError, match=r"has 2 \.model files: a\.model, b\.model"):
        load_tokenizer(tmp_path)
    (tmp_path / "b.model").unlink()
    assert load_tokenizer(tmp_path).engine.startswith("jimu-sentencepiece ")


def test_a_lone_surrogate_is_named(tmp_path, unigram):
    tokenizer = load_tokenizer(saved(tmp_path, unigram))
    with pytest.raises(DataError, match="Document 1 of the batch"):
        tokenizer.encode_batch(["fine", "\ud800"])
