"""Bits of tokens: what starts a word, for every kind of tokenizer, in files and builds."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import pickle
import re
import shutil
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

import dataprep
from dataprep import plan as plan_module
from dataprep.audit import audit
from dataprep.batch import Batch
from dataprep.cli import app
from dataprep.disk.bits import BitColumn, BitPacker, write_bits
from dataprep.errors import DataError, UsageError
from dataprep.libai import export_libai, libai_ids
from dataprep.manifest import encoded, sealed
from dataprep.segment import SegmenterOptions, load_segmenter, sentence_starts, word_starts
from dataprep.segment.jieba_dictionary import package
from dataprep.tokenizers.load import load_tokenizer
from dataprep.verify import verify
from dataprep.words import Marker, token_starts

TEXTS = [
    "研究生命起源。Great weather, 今天 天气很好！",
    "  indented\n\ncode   x龘",
    "T恤",
    "",
    "The lazy dog.",
]
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "great", "wea", "##ther", "x", "t", ",", "."]


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: pytest.TempPathFactory, tokenizer_file: Path) -> dict[str, Path]:
    """A WordPiece with ## for Chinese as bert-base-chinese has them, a BPE, a SentencePiece."""
    folder = tmp_path_factory.mktemp("vocabularies")
    characters = sorted(set("研究生命起源今天气很好恤。！"))
    pieces = [*VOCAB, *characters, *(f"##{c}" for c in characters[:-2])]
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), "utf-8")
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([text for text in TEXTS if text] * 9),
        model_writer=out,
        vocab_size=320,
        hard_vocab_limit=False,
        byte_fallback=True,
        character_coverage=0.98,
        model_type="unigram",
        minloglevel=2,
    )
    (folder / "small.model").write_bytes(out.getvalue())
    return {
        "wordpiece": folder / "vocab.txt",
        "bpe": tokenizer_file,
        "sentencepiece": folder / "small.model",
        "bytes": Path("bytes"),
    }


@pytest.fixture(scope="module")
def segmenter() -> Any:
    return load_segmenter()


def slow(data: bytes, spans: list[list[int]], starts: set[int]) -> list[bool]:
    """token_starts of one document, by its rules."""
    marks = [False] * len(spans)
    owned, reach = [], 0
    for start, end in spans:
        owned.append((reach, max(end, reach)) if end > start else None)
        reach = reach if end <= start else max(end, reach)
    waiting: list[int] = []
    for i, part in enumerate(owned):
        if part is None:
            waiting.append(i)
            continue
        first, stop = part
        begun = any(byte in starts for byte in range(first, stop))
        if data[first:stop] == b" " and stop < len(data) and stop in starts:
            waiting.append(i)
            continue
        if begun:
            marks[waiting[0] if waiting else i] = True
        waiting = []
    if marks:
        marks[0] = True
    return marks


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "sentencepiece", "bytes"])
@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.text(st.sampled_from("研究生命天T恤xGt ,.。\n龘e\u0301😀"), max_size=12)))
def test_against_the_rules_written_slowly(vocabularies, segmenter, kind, texts) -> None:
    tokenizer = load_once(vocabularies[kind])
    batch = Batch.from_texts([*texts, *TEXTS])
    encoded = tokenizer.encode_spans(batch)
    for starts in (word_starts(batch, segmenter), sentence_starts(batch)):
        marks = token_starts(batch, encoded, starts)
        for i in range(len(batch)):
            first, stop = batch.offsets[i : i + 2].tolist()
            tokens = slice(*encoded[1][i : i + 2].tolist())
            own = {int(byte) for byte in np.flatnonzero(starts[first:stop])}
            data = bytes(batch.data[first:stop])
            assert marks[tokens].tolist() == slow(data, encoded[2][tokens].tolist(), own)


LOADED: dict[Path, Any] = {}


def load_once(path: Path) -> Any:
    if path not in LOADED:
        LOADED[path] = load_tokenizer(path)
    return LOADED[path]


def words_of(tokenizer: Any, segmenter: Any, text: str) -> list[str]:
    """The text of the tokens of each word."""
    ids, _, marks = Marker(tokenizer, segmenter, sentences=False).encode(Batch.from_texts([text]))
    bounds = [*np.flatnonzero(marks[0]).tolist(), len(ids)]
    return [tokenizer.decode(ids[a:b]) for a, b in itertools.pairwise(bounds)]


def test_a_word_is_the_same_in_every_vocabulary(vocabularies, segmenter) -> None:
    text = "研究生命起源。Great weather, 今天 天气"
    bpe, piece = load_once(vocabularies["bpe"]), load_once(vocabularies["sentencepiece"])
    expected = ["研究", "生命", "起源", "。", "Great", " weather", ",", " 今天", " 天气"]
    assert words_of(bpe, segmenter, text) == expected
    found = [word.strip() for word in words_of(piece, segmenter, text)]
    assert "".join(found) == text.replace(" ", "")
    bert = load_once(vocabularies["wordpiece"])
    assert [word.replace(" ", "") for word in words_of(bert, segmenter, text)] == [
        "研究", "生命", "起源", "。", "great", "weather", ",", "今天", "天气",
    ]  # fmt: skip


def test_sentences_start_words_too(vocabularies, segmenter) -> None:
    long = "好" * 1300 + "x" * 1300
    marker = Marker(load_once(vocabularies["bpe"]), segmenter, sentences=True)
    _, _, marks = marker.encode(Batch.from_texts([long, *TEXTS]))
    assert marks[1].sum() > 6
    assert (marks[0] | ~marks[1]).all()


# Files


@settings(max_examples=100, deadline=None)
@given(portions=st.lists(st.lists(st.booleans(), max_size=40), max_size=6), data=st.data())
def test_what_is_written_is_read(portions, data, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("bits") / "d.words"
    parts = []
    for portion in portions:
        packer = BitPacker()
        half = len(portion) // 3
        blocks = [packer.add(np.array(part, bool)) for part in (portion[:half], portion[half:])]
        parts.append(([*blocks, packer.end()], len(portion)))
    bits = np.array([bit for portion in portions for bit in portion], bool)
    with path.open("wb") as file:
        assert write_bits(file, parts, len(bits)) == bits.sum()
    column = BitColumn(path)
    assert len(column) == len(bits)
    assert np.array_equal(column[:], bits)
    first = data.draw(st.integers(-50, 300))
    stop = data.draw(st.integers(-50, 300))
    assert np.array_equal(column[first:stop], bits[first:stop])
    if len(bits):
        places = np.array(data.draw(st.lists(st.integers(0, len(bits) - 1), max_size=9)), np.int64)
        assert np.array_equal(column.at(places), bits[places])
    with pytest.raises(IndexError, match="no step"):
        column[::2]


def test_damaged_bits_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.words"
    with pytest.raises(DataError, match="cannot be read"):
        BitColumn(path)
    with path.open("wb") as file:
        write_bits(file, [([b"\xff\x01"], 9)], 9)
    whole = path.read_bytes()
    for content, told in (
        (whole[:-1], "its header promises 9 bits"),
        (whole + b"\0", "its header promises 9 bits"),
        (b"x" + whole[1:], "does not start with"),
        (whole[:10], "does not start with"),
        (whole[:8] + b"\2" + whole[9:], "has version 2"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=told):
            BitColumn(path)


# Builds


@pytest.fixture
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "MIN_SHARD", 4096)


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.usefixtures("_small_shards")
def test_a_build_with_words_and_sentences(corpus, tmp_path, tokenizer_file, segmenter) -> None:
    hashes = []
    for workers in (1, 3):
        data = dataprep.build(
            corpus, out=tmp_path / f"d{workers}", tokenizer=tokenizer_file, words=True,
            sentences=True, workers=workers,
        )  # fmt: skip
        hashes.append([sha(tmp_path / f"d{workers}{e}") for e in (".bin", ".words", ".sentences")])
    assert hashes[0] == hashes[1]
    plain = dataprep.build(corpus, out=tmp_path / "plain", tokenizer=tokenizer_file)
    assert sha(tmp_path / "plain.bin") == hashes[0][0]
    marker = Marker(data.tokenizer(), segmenter, sentences=True)
    for i in range(0, len(data), 97):
        first = int(data.pointers[i]) // data.dtype.itemsize
        text = data.tokenizer().decode(data[i][:-1])
        ids, _, marks = marker.encode(Batch.from_texts([text]))
        assert np.array_equal(ids, data[i][:-1])
        part = slice(first, first + len(data[i]))
        assert data.word_starts[part].tolist() == [*marks[0].tolist(), True]
        assert data.sentence_starts[part].tolist() == [*marks[1].tolist(), True]
    assert data.manifest["words"] == data.word_starts[:].sum()
    assert data.manifest["sentences"] == data.sentence_starts[:].sum()
    assert "jieba 0.42" in data.manifest["identity"]["words"]
    with pytest.raises(DataError, match="does not say where its words start"):
        plain.word_starts  # noqa: B018


@pytest.mark.usefixtures("_small_shards")
def test_an_interrupted_build_goes_on(corpus, tmp_path, tokenizer_file, monkeypatch) -> None:
    from dataprep import builder
    from dataprep.errors import RunError

    options: dict[str, Any] = {"tokenizer": tokenizer_file, "words": True, "workers": 1}
    whole = dataprep.build(corpus, out=tmp_path / "whole", **options)
    with monkeypatch.context() as patch:
        patch.setattr(builder, "publish", lambda *_: (_ for _ in ()).throw(RunError("stop")))
        with pytest.raises(RunError, match="stop"):
            dataprep.build(corpus, out=tmp_path / "d", **options)
    with pytest.raises(UsageError, match="words was jimu-words"):
        dataprep.build(corpus, out=tmp_path / "d", **{**options, "words": False})
    segment = next((tmp_path / "d.partial").glob("*.words"))
    content = segment.read_bytes()
    segment.write_bytes(bytes([content[0] ^ 2]) + content[1:])
    with pytest.raises(RunError, match="is not what the build wrote"):
        dataprep.build(corpus, out=tmp_path / "d", **options)
    segment.write_bytes(content)
    dataprep.build(corpus, out=tmp_path / "d", **options)
    assert sha(tmp_path / "d.words") == sha(Path(f"{whole.prefix}.words"))


def test_ends_and_specials_are_words_of_their_own(tmp_path, tokenizer_file) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("天天<|endoftext|>天气很好。好\n")
    data = dataprep.build(
        path, out=tmp_path / "d", tokenizer=tokenizer_file, words=True, sentences=True,
        special_in_text="special",
    )  # fmt: skip
    special = np.flatnonzero(data.tokens == data.eod_id)
    assert len(special) == 2
    for column in (data.word_starts, data.sentence_starts):
        assert column.at(special).all()
        assert column.at(special[:1] + 1).all()  # what comes after starts anew
    assert data.manifest["sentences"] == 5


@pytest.mark.parametrize("other", [{"sentences": True}, {"hmm": True}, {"convert": "simplify"}])
def test_what_decides_bits_is_of_the_dataset(other, tmp_path, corpus, tokenizer_file) -> None:
    options: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file, "words": True}
    made = dataprep.build(corpus, **options)
    assert unicodedata.unidata_version in made.manifest["identity"]["words"]
    (option,) = other
    kind = {"hmm": "words"}.get(option, option)
    with pytest.raises(UsageError, match=f"{kind} was "):
        dataprep.build(corpus, **options, **other)


def test_an_audit_of_converted_text(tmp_path, tokenizer_file) -> None:
    """It counts what was read, not what became of it."""
    path, user = tmp_path / "lines.txt", tmp_path / "user.txt"
    path.write_text("發展軟體\n\n<|endoftext|>\n李乾順\n", "utf-8")
    user.write_text("软体\n", "utf-8")
    data = dataprep.build(
        path, out=tmp_path / "d", tokenizer=tokenizer_file, words=True, sentences=True,
        convert="simplify", user_dict=str(user), special_in_text="error",
    )  # fmt: skip
    assert audit(tmp_path / "d")["documents"] == data.n_documents == 2
    assert data.tokenizer().decode(data[1][:-1]) == "李干顺"


def test_verify_and_inspect(tmp_path, corpus, tokenizer_file, capsys) -> None:
    data = dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file, words=True)
    name = str(tmp_path / "d")
    assert run("verify", name) == 0
    assert run("inspect", name, "--json") == 0
    facts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert facts["words"] == data.manifest["words"]
    assert run("inspect", name) == 0
    shown = capsys.readouterr().out
    assert f"words       {facts['words']:,}, " in shown
    assert "Call| me| Ishmael|.| Some" in shown
    assert dataprep.open(f"{name}.words").n_tokens == data.n_tokens
    path = tmp_path / "d.words"
    content = bytearray(path.read_bytes())
    content[24] ^= 1
    path.write_bytes(content)
    assert run("verify", name) == 1
    assert "d.words was changed" in capsys.readouterr().err
    path.unlink()
    assert run("verify", name) == 1
    assert "d.words is missing" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["words", "sentences"])
def test_a_document_starts_a_word_and_a_sentence(kind, tmp_path, corpus, tokenizer_file) -> None:
    data = dataprep.build(
        corpus, out=tmp_path / "d", tokenizer=tokenizer_file, words=True, sentences=True
    )
    path, manifest = tmp_path / f"d.{kind}", dict(data.manifest)
    content = bytearray(path.read_bytes())
    token = int(data.pointers[7]) // data.dtype.itemsize
    content[24 + token // 8] ^= 1 << token % 8
    path.write_bytes(content)
    manifest["files"][f".{kind}"]["sha256"] = sha(path)
    del manifest["sha256"]
    (tmp_path / "d.json").write_bytes(encoded(sealed(manifest)))
    with pytest.raises(DataError, match=f"near number 0 does not start one of the {kind}"):
        verify(tmp_path / "d")


def test_words_are_gone_when_a_dataset_is_replaced(tmp_path, corpus, tokenizer_file) -> None:
    options: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file}
    dataprep.build(corpus, **options, words=True)
    with pytest.raises(UsageError, match="words was jimu-words"):
        dataprep.build(corpus, **options)
    dataprep.build(corpus, **options, overwrite=True)
    assert not (tmp_path / "d.words").exists()


def test_a_user_dictionary_decides(tmp_path, tokenizer_file) -> None:
    path, user = tmp_path / "lines.txt", tmp_path / "user.txt"
    path.write_text("天天气很好\n", "utf-8")
    user.write_text("天气很好\n", "utf-8")
    options: dict[str, Any] = {"out": tmp_path / "d", "tokenizer": tokenizer_file, "words": True}
    before = dataprep.build(path, **options).manifest["words"]
    options |= {"user_dict": str(user), "hmm": True}
    with pytest.raises(UsageError, match="words was "):
        dataprep.build(path, **options)
    after = dataprep.build(path, **options, overwrite=True).manifest["words"]
    assert (before, after) != (after, before)
    user.write_text("天气 5 \n天气 x5\n", "utf-8")
    with pytest.raises(UsageError, match="line 2"):
        dataprep.build(path, **options)


# Options


@pytest.mark.parametrize(
    "options", [{"hmm": True}, {"user_dict": "x"}, {"segmenter": "other"}, {"convert": "both"}]
)
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"no words are wanted|allowed: none, simplify"):
        dataprep.BuildSettings.from_values({"inputs": ("x",), **options})


def run(*arguments: str) -> int:
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, list(arguments))
    sys.stdout.write(result.stdout)
    sys.stderr.write(result.stderr)
    return result.exit_code


def test_the_command_line(tmp_path, tokenizer_file, capsys) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("發展軟體\n", "utf-8")
    name = str(tmp_path / "d")
    both = ["--simplify", "--traditionalize"]
    build = ["build", str(path), "--out", name, "--tokenizer", str(tokenizer_file)]
    assert run(*build, *both) == 2
    assert "exclude each other" in capsys.readouterr().err
    assert run(*build, "--words", "--sentences", "--hmm", "--simplify", "--workers", "1") == 0
    data = dataprep.open(name)
    assert data.tokenizer().decode(data[0][:-1]) == "发展软体"
    assert data.manifest["settings"]["convert"] == "simplify"
    assert data.manifest["identity"]["convert"].startswith("t2s by opencc ")
    assert len(data.word_starts) == len(data.sentence_starts) == data.n_tokens
    assert run(*build, "--words", "--segmenter", "none") == 2
    assert "no segmenter 'none'" in capsys.readouterr().err


def test_without_opencc(tmp_path, corpus, tokenizer_file, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(UsageError, match="need OpenCC") as caught:
        dataprep.build(
            corpus, out=tmp_path / "d", tokenizer=tokenizer_file, convert="traditionalize"
        )
    assert "jimu[opencc]" in caught.value.hint


def test_a_tokenizer_is_trained_on_converted_text(tmp_path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("發展軟體\n" * 50, "utf-8")
    data = dataprep.build(
        path, out=tmp_path / "d", tokenizer="train:bpe:300", convert="simplify", workers=1
    )
    assert len(data[0]) <= 3  # known as a whole, and the end


def test_a_marker_goes_by_pickle(vocabularies, segmenter) -> None:
    marker = Marker(load_once(vocabularies["bpe"]), segmenter, sentences=True)
    batch = Batch.from_texts(TEXTS)
    copy = pickle.loads(pickle.dumps(marker))
    for one, other in zip(copy.encode(batch), marker.encode(batch), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("number", [0, 1])
def test_the_examples_of_the_documentation(number, tmp_path, corpus, monkeypatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "words.md").read_text("utf-8")
    example = page.split("```python\n")[1 + number].split("```")[0]
    monkeypatch.chdir(tmp_path)
    assert corpus == Path("corpus").resolve()
    found: dict[str, Any] = {}
    exec(example, found)
    if number == 0:
        assert found["data"].word_starts[0:512].shape == (512,)


# LiBai


def test_words_of_letters_and_characters(tmp_path, vocabularies) -> None:
    """LiBai, which shows jieba runs of characters only, finds none; an export has them."""
    tokenizer = load_once(vocabularies["wordpiece"])
    pieces = vocabularies["wordpiece"].read_text("utf-8").split("\n")
    user = tmp_path / "user.txt"
    user.write_text("x研究生 9999999\n", "utf-8")
    marker = Marker(
        tokenizer, load_segmenter(options=SegmenterOptions(user_dict=str(user))), sentences=False
    )
    found = []
    for text in ("x研究生命", "研究生命", "t恤好"):
        ids, _, marks = marker.encode(Batch.from_texts([text]))
        found.append([pieces[number] for number in libai_ids(tokenizer)(ids, marks[0])])
    assert found == [
        ["x", "研", "##究", "##生", "命"],
        ["研", "##究", "生", "##命"],
        ["t", "恤", "好"],
    ]


def test_ids_of_libai(tmp_path, vocabularies) -> None:
    path = tmp_path / "lines.txt"
    lines = ["研究生命起源", "天气很好今天天气很好", "起源研究", "好x生命", "T恤"]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    name, out = str(tmp_path / "d"), tmp_path / "there" / "libai"
    data = dataprep.build(path, out=name, tokenizer=vocabularies["wordpiece"], words=True)
    export_libai(name, out)
    assert sha(tmp_path / "d.idx") == sha(Path(f"{out}.idx"))
    found = dataprep.disk.IndexedDataset(out)
    pieces = vocabularies["wordpiece"].read_text("utf-8").split("\n")
    for i, line in enumerate(lines):
        expected = [
            f"##{c}" if k and f"##{c}" in pieces else c
            for run in re.findall("[一-鿿]+|[a-z]", line.lower())
            for word in package().lcut(run, HMM=False)
            for k, c in enumerate(word)
        ]
        assert [pieces[t] for t in found[i][:-1]] == expected
        assert (found[i][-1], len(found[i])) == (data.eod_id, len(data[i]))
    with pytest.raises(UsageError, match="exists"):
        export_libai(name, out)
    shutil.rmtree(out.parent)


def test_libai_needs_words_and_a_wordpiece(tmp_path, tokenizer_file, vocabularies, corpus) -> None:
    dataprep.build(corpus, out=tmp_path / "bpe", tokenizer=tokenizer_file, words=True)
    with pytest.raises(UsageError, match="has no ## pieces"):
        export_libai(tmp_path / "bpe", tmp_path / "out")
    dataprep.build(corpus, out=tmp_path / "d", tokenizer=vocabularies["wordpiece"])
    with pytest.raises(DataError, match="does not say where its words start"):
        export_libai(tmp_path / "d", tmp_path / "out")
    assert not list(tmp_path.glob("out*"))
