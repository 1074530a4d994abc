"""Opening, inspecting and verifying: whatever happened to the files is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import dataprep
from dataprep.errors import DataError
from dataprep.inspect import describe, facts, histogram
from dataprep.manifest import sealed
from dataprep.verify import verify


@pytest.fixture
def name(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> Path:
    dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)
    return tmp_path / "d"


@pytest.mark.parametrize("ending", ["", ".bin", ".idx", ".json", ".tokenizer.json"])
def test_open(name: Path, ending: str, tokenizer_file: Path) -> None:
    dataset = dataprep.open(f"{name}{ending}")
    assert dataset.n_documents == 1201
    tokenizer = dataset.tokenizer()
    assert tokenizer.fingerprint == dataprep.load_tokenizer(tokenizer_file).fingerprint
    assert (dataset.vocab_size, dataset.eod_id) == (tokenizer.vocab_size, tokenizer.eod_id)


def test_facts(name: Path) -> None:
    found = facts(name)
    assert (found["documents"], found["sequences"], found["dtype"]) == (1201, 1201, "uint16")
    assert found["tokens"] == dataprep.open(name).n_tokens
    assert json.loads(json.dumps(found)) == found


def test_describe(name: Path) -> None:
    text = describe(name)
    assert "documents   1,201" in text
    assert "床前明月光，疑是地上霜。举头望明月，低头思故乡。 0\n" in text


def test_histogram() -> None:
    import numpy as np

    lines = histogram(np.array([1, 1, 1, 2, 8, 15], np.int32))
    ranges = [line.split("█")[0].split("▏")[0].split() for line in lines]
    assert [(row[0], row[2]) for row in ranges] == [("1", "1"), ("2", "3"), ("4", "7"), ("8", "15")]
    assert [line.split()[-1] for line in lines] == ["3", "1", "0", "2"]
    assert histogram(np.zeros(0, np.int32)) == ["  (no documents)"]


def test_whole(name: Path, tmp_path: Path) -> None:
    assert verify(name)["documents"] == 1201
    for ending in (".bin", ".idx", ".json", ".origins", ".tokenizer.json"):
        Path(f"{name}{ending}").rename(tmp_path / f"renamed.v2{ending}")
    assert verify(tmp_path / "renamed.v2")["documents"] == 1201


@pytest.mark.parametrize("ending", [".bin", ".idx", ".origins", ".tokenizer.json"])
@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
def test_any_flipped_bit_is_found(name: Path, ending: str, where: float) -> None:
    path = Path(f"{name}{ending}")
    content = bytearray(path.read_bytes())
    content[int(len(content) * where)] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"damaged|sha256|bytes"):
        verify(name)


@pytest.mark.parametrize("part", ["documents", "size", "fastokens", "text_key", "sha256"])
def test_changed_manifest_is_found(name: Path, part: str) -> None:
    path = Path(f"{name}.json")
    content = path.read_text()
    at = content.index('"', content.rindex(part) + len(part)) + 3
    path.write_text(content[:at] + chr(ord(content[at]) ^ 1) + content[at + 1 :])
    with pytest.raises(DataError, match=r"was changed|not the manifest|says"):
        verify(name)


@pytest.mark.parametrize("ending", [".bin", ".idx", ".origins", ".json", ".tokenizer.json"])
def test_cut_and_missing_files_are_found(name: Path, ending: str) -> None:
    path = Path(f"{name}{ending}")
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(DataError, match=r"cut|bytes|not the manifest"):
        verify(name)
    path.unlink()
    with pytest.raises(DataError, match="missing"):
        verify(name)


@pytest.mark.parametrize("ending", [".bin", ".idx", ".origins", ".json", ".tokenizer.json"])
def test_swapped_files_are_found(
    name: Path, ending: str, corpus: Path, tmp_path: Path, tokenizer_file: Path
) -> None:
    """Files of another dataset of the very same shape."""
    (corpus / "a.txt").write_text((corpus / "a.txt").read_text("utf-8")[::-1], "utf-8")
    dataprep.build(corpus, out=tmp_path / "e", tokenizer="train:bpe:399")
    shutil.copy(f"{tmp_path / 'e'}{ending}", f"{name}{ending}")
    with pytest.raises(DataError):
        verify(name)


def test_manifest_that_lies_about_the_vocabulary(name: Path) -> None:
    path = Path(f"{name}.json")
    manifest = json.loads(path.read_text())

    def lie(**values: object) -> None:
        path.write_text(json.dumps(sealed({**without_seal, **values}), indent=1))

    without_seal = {key: value for key, value in manifest.items() if key != "sha256"}
    lie(vocab_size=300)
    with pytest.raises(DataError, match="outside the vocabulary"):
        verify(name)
    lie(eod_id=5)
    with pytest.raises(DataError, match="does not end in id 5"):
        verify(name)
    lie(format="other 9")
    with pytest.raises(DataError, match="other 9"):
        dataprep.open(name)


@pytest.mark.parametrize("key", ["documents", "vocab_size", "tokenizer", "files", "sha256"])
def test_manifest_without_a_key(name: Path, key: str) -> None:
    path = Path(f"{name}.json")
    manifest = json.loads(path.read_text())
    del manifest[key]
    path.write_text(json.dumps(manifest))
    for use in (dataprep.open, describe, verify):
        with pytest.raises(DataError, match="was changed"):
            use(name)


def test_manifest_nested_without_end(name: Path) -> None:
    Path(f"{name}.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match="not the manifest"):
        dataprep.open(name)


def test_tokenizer_missing_or_another(name: Path) -> None:
    path = Path(f"{name}.tokenizer.json")
    dataset = dataprep.open(name)
    path.write_text(path.read_text() + "\n")
    with pytest.raises(DataError, match="not the tokenizer"):
        dataset.tokenizer()
    path.unlink()
    with pytest.raises(DataError, match=r"tokenizer of .* is missing"):
        dataset.tokenizer()


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, tokenizer_file: Path) -> None:
    (tmp_path / "a.txt").write_text("\x1b]0;title\a 中文\n", "utf-8")
    dataprep.build(tmp_path / "a.txt", out=tmp_path / "d", tokenizer=tokenizer_file)
    assert describe(tmp_path / "d").endswith("\\x1b]0;title\\x07 中文")
