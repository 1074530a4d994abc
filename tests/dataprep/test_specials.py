"""Special tokens: in the text, before it, after it; and ids near the ends of their dtype."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

import dataprep
from dataprep.errors import DataError, UsageError

TEXTS = ["plain 天下", "a<|endoftext|>b", "<|endoftext|>", "end"]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{text}\n" for text in TEXTS), "utf-8")
    return path


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SentencePiece model, whose special tokens are <s> and </s>."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 9),
        model_writer=out,
        vocab_size=300,
        hard_vocab_limit=False,
        byte_fallback=True,
        model_type="bpe",
        minloglevel=2,
    )
    path = tmp_path_factory.mktemp("model") / "small.model"
    path.write_bytes(out.getvalue())
    return path


def documents(dataset: dataprep.Dataset) -> list[list[int]]:
    return [dataset[i].tolist() for i in range(len(dataset))]


def test_text_is_the_default(lines: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    dataset = dataprep.build(lines, out=str(tmp_path / "d"), tokenizer=tokenizer_file)
    tokenizer = dataset.tokenizer()
    assert [tokenizer.decode(ids[:-1]) for ids in documents(dataset)] == TEXTS
    assert all(ids.index(0) == len(ids) - 1 for ids in documents(dataset))


def test_special(lines: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    dataset = dataprep.build(
        lines, out=str(tmp_path / "d"), tokenizer=tokenizer_file, special_in_text="special"
    )
    tokenizer = dataset.tokenizer()
    a, b = tokenizer.encode_batch(["a", "b"])[0].tolist()
    assert documents(dataset)[1:3] == [[a, 0, b, 0], [0, 0]]
    assert tokenizer.decode(documents(dataset)[0][:-1]) == TEXTS[0]


def test_error_names_file_and_record(lines: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    rejects = tmp_path / "rejects.jsonl"
    settings = {"tokenizer": tokenizer_file, "special_in_text": "error"}
    dataset = dataprep.build(lines, out=str(tmp_path / "d"), keep_rejects=rejects, **settings)
    assert len(dataset) == 2
    assert dataset.manifest["books"]["failed"] == 2
    first = json.loads(rejects.read_text().splitlines()[0])
    assert first["cause"] == "the special token <|endoftext|> stands in the text"
    assert (first["line"], first["byte"], first["record"]) == (2, 13, TEXTS[1])
    message = r"lines\.txt, line 2, byte 13: the special token <\|endoftext\|> stands in the text"
    with pytest.raises(DataError, match=message):
        dataprep.build(lines, out=str(tmp_path / "e"), on_error="fail", **settings)


def test_sentencepiece_models(tmp_path: Path, model_file: Path) -> None:
    source = tmp_path / "x.txt"
    source.write_text("a</s>b\n", "utf-8")
    found = {}
    for kind in ("text", "special"):
        dataset = dataprep.build(
            source, out=str(tmp_path / kind), tokenizer=model_file, special_in_text=kind
        )
        assert dataset.tokenizer().fingerprint == dataset.manifest["tokenizer"]["fingerprint"]
        found[kind] = documents(dataset)[0]
    tokenizer = dataset.tokenizer()
    expected = tokenizer.encode_batch(["a", "b"])[0].tolist()
    assert found["special"] == [*expected[: len(expected) // 2], 2, *expected[-2:], 2]
    assert found["text"].count(2) == 1
    with pytest.raises(DataError, match="the special token </s> stands"):
        dataprep.build(
            source, out=str(tmp_path / "e"), tokenizer=model_file, special_in_text="error"
        )


def test_bos_and_no_eod(lines: Path, tmp_path: Path, model_file: Path) -> None:
    made = {}
    for bos in (False, True):
        for eod in (False, True):
            out = str(tmp_path / f"{bos}{eod}")
            dataset = dataprep.build(
                lines, out=out, tokenizer=model_file, add_bos=bos, append_eod=eod
            )
            from dataprep.verify import verify

            verify(out)
            assert dataset.eod_id == (2 if eod else None)
            made[bos, eod] = documents(dataset)
    plain = made[False, False]
    assert made[True, False] == [[1, *ids] for ids in plain]
    assert made[False, True] == [[*ids, 2] for ids in plain]
    assert made[True, True] == [[1, *ids, 2] for ids in plain]


def test_a_tokenizer_without_the_token_is_refused(
    lines: Path, tmp_path: Path, tokenizer_file: Path
) -> None:
    with pytest.raises(UsageError, match="no token that begins a document") as caught:
        dataprep.build(lines, out=str(tmp_path / "d"), tokenizer=tokenizer_file, add_bos=True)
    assert "<|endoftext|>" in str(caught.value.hint)
    values = json.loads(tokenizer_file.read_text("utf-8"))
    values["added_tokens"] = []
    (tmp_path / "bare.json").write_text(json.dumps(values), "utf-8")
    with pytest.raises(UsageError, match="no end-of-document token") as caught:
        dataprep.build(lines, out=str(tmp_path / "d"), tokenizer=tmp_path / "bare.json")
    assert "--no-append-eod" in str(caught.value.hint)
    dataset = dataprep.build(
        lines, out=str(tmp_path / "d"), tokenizer=tmp_path / "bare.json", append_eod=False
    )
    assert [dataset.tokenizer().decode(ids) for ids in documents(dataset)] == TEXTS


@pytest.mark.parametrize("size", [65_499, 65_500, 65_501, 65_535, 65_536, 65_537])
def test_vocabularies_around_the_end_of_uint16(
    tmp_path: Path, tokenizer_file: Path, size: int
) -> None:
    """The largest id is that of an added token: it decides the dtype, and comes back whole."""
    values = json.loads(tokenizer_file.read_text("utf-8"))
    end = {**values["added_tokens"][0], "id": size - 1, "content": "<eod>"}
    values["added_tokens"].append(end)
    (tmp_path / "t.json").write_text(json.dumps(values), "utf-8")
    (tmp_path / "x.txt").write_text("天下\nall\n", "utf-8")
    dataset = dataprep.build(
        tmp_path / "x.txt", out=str(tmp_path / "d"), tokenizer=tmp_path / "t.json"
    )
    assert dataset.vocab_size == size
    assert dataset.dtype == (np.uint16 if size < 65_500 else np.int32)
    assert [ids[-1] for ids in documents(dataset)] == [size - 1] * 2
    assert [dataset.tokenizer().decode(ids[:-1]) for ids in documents(dataset)] == ["天下", "all"]
