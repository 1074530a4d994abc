"""Each wrong file is named as what it is."""

import json

import pytest
import tokenizers
from tokenizer_samples import TEXTS, trained_wordpiece

from dataprep.errors import DataError, UsageError
from dataprep.tokenizers.load import load_tokenizer

LFS = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4\nsize 11422654\n"
)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (LFS, "Git LFS pointer", "git lfs pull"),
        (b"\n <!DOCTYPE html>\n<html lang='en'>", "HTML page", "raw file"),
        (b"<HTML><body>404</body>", "HTML page", "raw file"),
        (b"", "empty", "again"),
        (b" \n\n", "empty", "again"),
        (b"\x1f\x8b\x08\x00\x00", "gzip", "gunzip"),
        ("{}".encode("utf-16"), "UTF-16", "UTF-8"),
        (b'{"hello": 0, "world": 1}', "not a Hugging Face tokenizer.json", "vocab.json"),
        (b"[1, 2]", "not a Hugging Face tokenizer.json", "vocab.json"),
        (b"hello world\n0 1 2\n", "not valid JSON", None),
        (b'{"model": {"type": "BPE", "vocab": {"\xff\xfe": 0}}}', "not valid JSON", None),
    ],
)
def test_a_wrong_file_is_named(tmp_path, content, message, hint):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        load_tokenizer(path)
    assert str(path) in str(caught.value)
    if hint:
        assert hint in caught.value.hint


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_file_is_named(tmp_path, trained, share):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(trained[: int(len(trained) * share)])
    with pytest.raises(DataError, match=r"truncated.*bytes"):
        load_tokenizer(path)


def test_a_file_that_the_reference_refuses_is_refused_in_its_words(tmp_path, trained):
    spec = json.loads(trained)
    spec["model"]["merges"].append(["nowhere", "to be found"])
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec))
    with pytest.raises(DataError, match=r"not a usable tokenizer\.json.*nowhere"):
        load_tokenizer(tmp_path)


def test_crlf_is_told_and_changes_no_id(tmp_path, trained):
    pretty = json.dumps(json.loads(trained), ensure_ascii=False, indent=1).encode()
    unix, windows = tmp_path / "unix.json", tmp_path / "windows.json"
    unix.write_bytes(pretty)
    windows.write_bytes(pretty.replace(b"\n", b"\r\n"))
    with pytest.warns(UserWarning, match="CRLF"):
        converted = load_tokenizer(windows)
    original = load_tokenizer(unix)
    text = ["天下大势 all the world\r\n"]
    assert converted.encode_batch(text)[0].tolist() == original.encode_batch(text)[0].tolist()
    assert converted.fingerprint != original.fingerprint


def test_dropout_is_refused(tmp_path, trained):
    spec = json.loads(trained)
    spec["model"]["dropout"] = 0.1
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec))
    with pytest.raises(UsageError, match=r"dropout 0\.1"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("prefix", ["", "#", "@@", "＃＃"])
def test_a_prefix_that_the_vocabulary_does_not_have_is_refused(tmp_path, prefix):
    spec = json.loads(trained_wordpiece())
    spec["model"]["continuing_subword_prefix"] = prefix
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec))
    with pytest.raises(DataError, match="continuing_subword_prefix") as caught:
        load_tokenizer(tmp_path)
    assert "'##'" in caught.value.hint


def test_a_vocabulary_may_have_another_prefix(tmp_path):
    spec = json.loads(trained_wordpiece().replace('"##', '"@@'))
    assert spec["model"]["continuing_subword_prefix"] == "@@"
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec))
    reference = tokenizers.Tokenizer.from_str(json.dumps(spec))
    expected = reference.encode(TEXTS[2], add_special_tokens=False).ids
    assert load_tokenizer(tmp_path).encode_batch([TEXTS[2]])[0].tolist() == expected


def test_a_missing_file_or_an_unfit_folder_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no tokenizer at"):
        load_tokenizer(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"no tokenizer in it; it has config\.json\."):
        load_tokenizer(tmp_path)


def halves(trained):
    """A trained tokenizer as vocab.json and merges.txt."""
    model = json.loads(trained)["model"]
    lines = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"]), ""]
    return json.dumps(model["vocab"]).encode(), "\n".join(lines).encode()


def test_vocabulary_and_merges_make_a_tokenizer(tmp_path, trained):
    vocab, merges = halves(trained)
    (tmp_path / "vocab.json").write_bytes(vocab)
    (tmp_path / "merges.txt").write_bytes(merges)
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer.eod_id == 0
    assert tokenizer.vocab_size == 400
    text = "天下大势 all the world<|endoftext|> 12"
    ids, _ = tokenizer.encode_batch([text])
    assert 0 not in ids
    assert max(ids) > 256
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("merges.txt", lambda data: LFS, r"merges\.txt is a Git LFS pointer"),
        ("merges.txt", lambda data: data.replace(b"\n", b"\r\n"), r"merges\.txt has CRLF"),
        ("merges.txt", lambda data: data + b"one", "line 145: 'one' is not two tokens"),
        ("merges.txt", lambda data: data + b"\xff", r"merges\.txt is not UTF-8"),
        ("merges.txt", lambda data: data[: data[:-1].rfind(b"\n")], r"merges\.txt is cut short"),
        ("vocab.json", lambda data: b"<html>", r"vocab\.json is an HTML page"),
        ("vocab.json", lambda data: data[:-9], r"vocab\.json is not JSON from tokens to ids"),
        ("vocab.json", lambda data: b'{"a": "b"}', r"vocab\.json is not JSON from tokens to ids"),
    ],
)
def test_a_damaged_half_is_named(tmp_path, trained, name, change, message):
    for file, data in zip(("vocab.json", "merges.txt"), halves(trained), strict=True):
        (tmp_path / file).write_bytes(change(data) if file == name else data)
    with pytest.raises(DataError, match=message):
        load_tokenizer(tmp_path)
