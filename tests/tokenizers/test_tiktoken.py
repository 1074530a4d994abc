"""``.tiktoken`` files: tiktoken's rule, written out here, is the oracle."""

import base64
import itertools
import json
import os
import random
from pathlib import Path

import pytest
from tokenizer_samples import TEXTS, train

from dataprep.errors import DataError, UsageError
from dataprep.tokenizers.load import load_tokenizer
from dataprep.tokenizers.probe import PROBES
from dataprep.tokenizers.spelling import byte_alphabet
from dataprep.tokenizers.tiktoken_files import ENCODINGS, Encoding, json_of_ranks
from dataprep.tokenizers.train import WORDS


@pytest.fixture(scope="module")
def ranks():
    """Byte strings by rank, trained here."""
    vocabulary = json.loads(train(600, TEXTS))["model"]["vocab"]
    byte_of = {character: byte for byte, character in enumerate(byte_alphabet())}
    del vocabulary["<|endoftext|>"]
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    return [bytes(byte_of[character] for character in token) for token in ordered]


def written(folder, ranks, name="small.tiktoken", **beside):
    lines = [b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(ranks)]
    (folder / name).write_bytes(b"".join(lines))
    if beside:
        (folder / f"{name}.json").write_text(json.dumps(beside))
    return folder / name


def by_rank(word, ranks):
    """Join the neighbours of the lowest rank, the left ones first, until none have a rank."""
    if word in ranks:
        return [ranks[word]]
    parts = [bytes([byte]) for byte in word]
    while True:
        joined = [ranks.get(a + b, len(ranks)) for a, b in itertools.pairwise(parts)]
        if not joined or min(joined) == len(ranks):
            return [ranks[part] for part in parts]
        at = joined.index(min(joined))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def test_ids_are_those_of_the_ranks(tmp_path, ranks):
    """Words without a cut inside, so that the pattern does not matter: random letters too."""
    path = written(tmp_path, ranks, pattern=WORDS, special_tokens={"<|endoftext|>": len(ranks)})
    tokenizer = load_tokenizer(path)
    assert tokenizer.engine.startswith("fastokens ")
    assert tokenizer.vocab_size == tokenizer.eod_id + 1 == len(ranks) + 1
    chance = random.Random(1)
    letters = "abcdeorstl天下大势分久必合"
    words = ["".join(chance.choices(letters, k=chance.randint(1, 12))) for _ in range(2000)]
    words += [text.split(" ")[0].strip("，。'") for text in ("players", "天下大势", "release")]
    numbers = {token: rank for rank, token in enumerate(ranks)}
    ids, offsets = tokenizer.encode_batch(words)
    got = [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    assert got == [by_rank(word.encode(), numbers) for word in words]
    ids, offsets = tokenizer.encode_batch(PROBES)
    assert tokenizer.decode(ids) == "".join(PROBES)
    assert tokenizer.eod_id not in ids


def test_against_tiktoken_itself(tmp_path, ranks):
    tiktoken = pytest.importorskip("tiktoken")
    path = written(tmp_path, ranks, pattern=WORDS)
    theirs = tiktoken.Encoding(
        "small",
        pat_str=WORDS,
        mergeable_ranks={token: rank for rank, token in enumerate(ranks)},
        special_tokens={},
    )
    ids, offsets = load_tokenizer(path).encode_batch([*PROBES, *TEXTS])
    got = [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    assert got == [theirs.encode(text, disallowed_special=()) for text in [*PROBES, *TEXTS]]


def test_a_file_of_unknown_size_asks_for_its_pattern(tmp_path, ranks):
    with pytest.raises(UsageError, match="by which pattern") as caught:
        load_tokenizer(written(tmp_path, ranks))
    assert 'small.tiktoken.json beside it: {"pattern"' in caught.value.hint


def test_a_tokenizer_model_may_be_ranks(tmp_path, ranks):
    path = written(tmp_path, ranks, "tokenizer.model", pattern=WORDS)
    assert load_tokenizer(path).vocab_size == len(ranks)
    assert load_tokenizer(path.parent).vocab_size == len(ranks)


def test_a_config_beside_known_ranks_adds_tokens(tmp_path, ranks, monkeypatch):
    size = len(ranks)
    specials = {"<|endoftext|>": size}
    known = Encoding(pattern=WORDS, specials=specials)
    monkeypatch.setitem(ENCODINGS, size, known)
    path = written(tmp_path, ranks, "tokenizer.model")
    decoder = {"3": {"content": "!"}, str(size + 7): {"content": "<|user|>", "special": True}}
    config = path.with_name("tokenizer_config.json")
    config.write_text(json.dumps({"added_tokens_decoder": decoder, "eos_token": "<|user|>"}))
    tokenizer = load_tokenizer(path)
    assert tokenizer.special_tokens == {**specials, "<|user|>": size + 7}
    assert tokenizer.vocab_size == size + 8
    nameless = path.rename(path.with_name("tokenizer.bin"))
    assert load_tokenizer(nameless).fingerprint == tokenizer.fingerprint
    config.write_text("{")
    with pytest.raises(DataError, match=r"tokenizer_config\.json cannot be read"):
        load_tokenizer(nameless)


@pytest.mark.slow
def test_the_ranks_of_qwen_give_the_ids_of_its_tokenizer_json(tmp_path, public_vocabularies):
    """Qwen 3 kept the ranks, the pattern and the normalisation of qwen.tiktoken."""
    values = json.loads((public_vocabularies / "qwen3" / "tokenizer.json").read_text("utf-8"))
    byte_of = {character: byte for byte, character in enumerate(byte_alphabet())}
    pieces = sorted(values["model"]["vocab"].items(), key=lambda item: item[1])
    spelt = [bytes(byte_of[character] for character in piece) for piece, _ in pieces]
    qwen = load_tokenizer(written(tmp_path, spelt, "qwen.tiktoken"))
    assert qwen.engine.startswith("fastokens ")
    assert (qwen.eod_id, qwen.vocab_size) == (151_643, 151_851)
    qwen3 = load_tokenizer(public_vocabularies / "qwen3")
    for path in sorted((Path(os.environ["JIMU_SHARED"]) / "corpus").glob("*/*[!z]")):
        lines = path.read_text(encoding="utf-8").split("\n")[:2000]
        assert qwen.encode_batch(lines)[0].tolist() == qwen3.encode_batch(lines)[0].tolist()


@pytest.mark.parametrize("size", ENCODINGS)
def test_public_encodings_are_ready_for_both_engines(tmp_path, ranks, size):
    """The trained ranks stand in for the public ones: patterns and specials are what is tried."""
    path = tmp_path / "tokenizer.json"
    path.write_bytes(json_of_ranks(ranks, ENCODINGS[size]))
    tokenizer = load_tokenizer(path)
    assert tokenizer.engine.startswith("fastokens ")
    assert tokenizer.eod_id == min(
        i for token, i in ENCODINGS[size].specials.items() if token.startswith("<|end")
    )
    assert all(i >= size for i in ENCODINGS[size].specials.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[: len(data) // 2 + 1], "line .* is not a token|no token for"),
        (lambda data: data[:400], "line .* is not a token|no token for"),
        (lambda data: data.replace(b" 7\n", b" 8\n"), "line 8: .* the rank 7"),
        (lambda data: b"<html>", "HTML page"),
        (lambda data: b"", "empty"),
        (lambda data: b"hello world\n" + data, "line 1: 'hello world'"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, ranks, change, message):
    path = written(tmp_path, ranks, pattern=WORDS)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DataError, match=message):
        load_tokenizer(path)


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({"patern": "x"}, "does not describe an encoding"),
        ({"pattern": "x", "special_tokens": {"<|e|>": 3}}, "id 3 to a special token"),
    ],
)
def test_a_wrong_description_is_named(tmp_path, ranks, beside, message):
    with pytest.raises(DataError, match=message):
        load_tokenizer(written(tmp_path, ranks, **beside))
