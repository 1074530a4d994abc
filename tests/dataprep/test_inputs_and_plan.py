"""Which files are read, in which order, and how they are cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dataprep import plan as plan_module
from dataprep.errors import DataError, UsageError
from dataprep.inputs import list_inputs
from dataprep.plan import Plan, make_plan


def _touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def names(*arguments: str | Path) -> list[str]:
    return [entry.name for entry in list_inputs([str(argument) for argument in arguments]).inputs]


def test_folder(tmp_path: Path) -> None:
    _touch(tmp_path, "b.txt", "a/z.md", "a.txt", "a/b/c.jsonl.gz", "中.txt", "B.txt")
    _touch(tmp_path, ".hidden.txt", ".git/x.txt", "a/.x.txt", "a/data.csv", "LICENSE", "x.CSV")
    assert names(tmp_path) == ["B.txt", "a/b/c.jsonl.gz", "a/z.md", "a.txt", "b.txt", "中.txt"]
    assert list_inputs([str(tmp_path)]).passed_over == {".csv": 2, "no ending": 1}


def test_arguments_keep_their_order(tmp_path: Path) -> None:
    _touch(tmp_path, "b.txt", "a.txt", "sub/c.txt")
    assert names(tmp_path / "b.txt", tmp_path / "a.txt") == ["b.txt", "a.txt"]
    listing = list_inputs([str(tmp_path / "b.txt"), str(tmp_path)])
    assert [entry.name for entry in listing.inputs] == ["b.txt", "a.txt", "sub/c.txt"]
    assert listing.repeated == 1


def test_globs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _touch(tmp_path, "b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", "e.md")
    monkeypatch.chdir(tmp_path)
    assert names("*.txt") == ["a.txt", "b.txt"]
    assert names("**/*.txt") == ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"]


def test_links(tmp_path: Path) -> None:
    """Links to folders are followed, once around."""
    _touch(tmp_path, "corpus/a.txt", "other/b.txt")
    (tmp_path / "corpus" / "loop").symlink_to(tmp_path / "corpus")
    (tmp_path / "corpus" / "other").symlink_to(tmp_path / "other")
    (tmp_path / "corpus" / "gone.txt").symlink_to(tmp_path / "missing")
    listing = list_inputs([str(tmp_path / "corpus")])
    assert [entry.name for entry in listing.inputs] == ["a.txt", "other/b.txt"]
    assert listing.passed_over == {"broken link": 1}


def test_special_files_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _touch(tmp_path, "a.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "missing")
    monkeypatch.chdir(tmp_path)
    for argument in (".", "*.txt"):
        listing = list_inputs([argument])
        assert [entry.name for entry in listing.inputs] == ["a.txt"]
        assert listing.passed_over == {"broken link": 1, "special file": 1}
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        list_inputs(["pipe.txt"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_folder_that_may_not_be_read(tmp_path: Path) -> None:
    _touch(tmp_path, "a.txt", "closed/b.txt")
    (tmp_path / "closed").chmod(0)
    try:
        with pytest.raises(DataError, match="closed cannot be listed"):
            list_inputs([str(tmp_path)])
    finally:
        (tmp_path / "closed").chmod(0o755)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("missing", "There is no"),
        ("a.json", "ending that no reader knows"),
        ("only", "passed over 1 .csv"),
        ("empty", "Nothing to read"),
        ("*.none", "Nothing to read"),
    ],
)
def test_nothing_to_read(
    argument: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _touch(tmp_path, "a.json", "only/x.csv", "empty/.hidden.txt")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message) as caught:
        list_inputs([argument])
    assert caught.value.hint


def _plan(root: Path, **changes: object) -> Plan:
    settings = {"tokenizer": "t", "doc_per": None, "text_key": "text", "keep_rejects": False}
    return make_plan(list_inputs([str(root)]).inputs, **{**settings, **changes})  # type: ignore[arg-type]


def test_shards_hold_every_byte_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "MIN_SHARD", 1000)
    (tmp_path / "big.txt").write_text("0123456789\n" * 2_000)
    (tmp_path / "whole.md").write_text("0123456789\n" * 500)
    for number in range(50):
        (tmp_path / f"small{number}.txt").write_text("tiny\n" * 10)
    plan = _plan(tmp_path)
    pieces = [piece for shard in plan.shards for piece in shard]
    for number, entry in enumerate(plan.inputs):
        own = [piece for piece in pieces if piece.input == number]
        data = Path(entry.path).read_bytes()
        assert b"".join(data[piece.start : piece.end] for piece in own) == data
        assert all(piece.start == 0 or data[piece.start - 1 :][:1] == b"\n" for piece in own)
    assert [piece.input for piece in pieces] == sorted(piece.input for piece in pieces)
    assert sum(map(plan.shard_bytes, range(len(plan.shards)))) == plan.total_bytes
    sizes = [plan.shard_bytes(shard) for shard in range(len(plan.shards))]
    assert max(sizes) == 5_500, "only the file that cannot be cut is larger than wanted"
    assert sorted(sizes)[-2] < 1_500


def test_plan_survives_the_disk(tmp_path: Path) -> None:
    _touch(tmp_path, "a.txt", "b/c.md")
    plan = _plan(tmp_path)
    copy = Plan.from_json(plan.to_json())
    assert copy == plan
    assert copy.fingerprint == plan.fingerprint
    assert plan.differences(copy) == []


def test_differences_are_named(tmp_path: Path) -> None:
    _touch(tmp_path, "a.txt", "b.txt", "c.txt")
    before = _plan(tmp_path)
    assert _plan(tmp_path, tokenizer="u").differences(before) == ["tokenizer was t, is u"]
    assert _plan(tmp_path, doc_per="file").differences(before) == ["doc_per was None, is file"]
    (tmp_path / "a.txt").write_text("longer than before")
    (tmp_path / "b.txt").unlink()
    _touch(tmp_path, "d.txt")
    assert _plan(tmp_path).differences(before) == [
        "1 input(s) new (d.txt)",
        "1 input(s) missing (b.txt)",
        "1 input(s) changed (a.txt)",
    ]


def test_changed_among_inputs_of_one_name(tmp_path: Path) -> None:
    _touch(tmp_path, "x/a.txt", "y/a.txt")

    def plan() -> Plan:
        inputs = list_inputs([str(tmp_path / "x"), str(tmp_path / "y")]).inputs
        return make_plan(inputs, tokenizer="t", doc_per=None, text_key="text", keep_rejects=False)

    before = plan()
    (tmp_path / "x" / "a.txt").write_text("longer than before")
    assert plan().differences(before) == ["1 input(s) changed (a.txt)"]


def test_plan_that_is_damaged(tmp_path: Path) -> None:
    _touch(tmp_path, "a.txt")
    data = _plan(tmp_path).to_json()
    for damaged in (b"", b"{}", b"[]", data[:50], data.replace(b"a.txt", b"b.txt")):
        with pytest.raises(ValueError):  # noqa: PT011
            Plan.from_json(damaged)
