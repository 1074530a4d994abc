"""The hostile inputs, each through a whole build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dataprep

# Documents written, and lines reported as failed.
EXPECTED: dict[str, tuple[int, list[int]]] = {
    "enc_utf8_bom.txt": (2, []),
    "enc_utf8_bom.jsonl": (2, []),
    "enc_bom_in_middle.txt": (2, []),
    "enc_mixed_utf8_gbk_lines.txt": (2, [2]),
    "enc_mojibake.txt": (1, []),
    "eol_crlf.txt": (3, []),
    "eol_crlf.jsonl": (2, []),
    "eol_mixed.txt": (3, []),
    "eol_no_final_newline.txt": (2, []),
    "eol_many_blank_lines.txt": (3, []),
    "sep_all.txt": (8, []),
    "sep_tab.txt": (2, []),
    "ctl_nul.jsonl": (3, []),
    "ctl_raw_in_json.jsonl": (1, [1]),
    "ctl_ansi.txt": (1, []),
    "ctl_replacement.txt": (1, []),
    "uni_fullwidth.txt": (4, []),
    "uni_trad_simp.txt": (2, []),
    "uni_emoji_zwj.txt": (9, []),
    "uni_punct.txt": (2, []),
    "uni_sentence_split.txt": (2, []),
    "uni_math_latex.txt": (1, []),
    "uni_multilang.txt": (9, []),
    "json_invalid_lines.jsonl": (3, [2, 3, 4, 5, 6, 7, 12]),
    "json_missing_key.jsonl": (2, [2, 3, 4]),
    "json_wrong_types.jsonl": (1, [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12]),
    "json_empty_docs.jsonl": (2, []),
    "json_nan_inf.jsonl": (1, [1, 2]),
    "json_deep_nesting.jsonl": (1, [1]),
    "json_escapes.jsonl": (2, []),
    "json_extra_space.jsonl": (2, []),
    "json_html_markdown.jsonl": (2, []),
    "size_empty.txt": (0, []),
    "size_empty.jsonl": (0, []),
    "size_one_char.txt": (1, []),
    "size_giant_single_line.txt": (1, []),
    "size_many_tiny.jsonl": (50_000, []),
    "size_repeated.txt": (1, []),
    "gz_ok.jsonl.gz": (600, []),
    "gz_multi_member.jsonl.gz": (2, []),
    "gz_wrong_ext.jsonl": (600, []),
    "gz_not_gzip.jsonl.gz": (1, []),
    "zst_ok.jsonl.zst": (600, []),
    "zst_skippable_frame.jsonl.zst": (600, []),
    "zst_no_content_size.jsonl.zst": (600, []),
    "zst_long_window.jsonl.zst": (600, []),
    "-dash.txt": (1, []),
}
REFUSED = {
    "enc_gbk.txt": r"line 1, byte 0: byte 0xBD is not UTF-8",
    "enc_big5.txt": r"line 1, byte 0: byte 0xBB is not UTF-8",
    "enc_latin1.txt": r"line 1, byte 3: byte 0xE9 is not UTF-8",
    "enc_utf16le_bom.txt": r"is UTF-16",
    "json_other_key.jsonl": r'line 1, byte 0: the object has no key "text"',
    "json_pretty_printed.json": r"ending that no reader knows",
    "gz_truncated.jsonl.gz": r"is cut: its gzip data ends before the end-of-stream marker",
    "zst_truncated.jsonl.zst": r"is cut: its zstd data ends before the end-of-stream marker",
    "xz_bz2_named.jsonl.xz": r"ending that no reader knows",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_read(name: str, nasty: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    count, bad_lines = EXPECTED[name]
    dataset = dataprep.build(nasty / name, out=tmp_path / "d", tokenizer=tokenizer_file)
    books = dataset.manifest["books"]
    assert dataset.n_documents == books["written"] == count
    assert [problem["line"] for problem in books["problems"]] == bad_lines
    assert books["read"] == count + len(bad_lines) + sum(books["dropped"].values())
    tokenizer = dataset.tokenizer()
    for number in range(min(count, 10)):
        text = tokenizer.decode(dataset[number][:-1])
        assert text.strip()
        assert not text.startswith("\ufeff") or name == "enc_bom_in_middle.txt"
        assert not text.endswith("\r")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, nasty: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    with pytest.raises(dataprep.JimuError, match=REFUSED[name]) as caught:
        dataprep.build(nasty / name, out=tmp_path / "d", tokenizer=tokenizer_file)
    assert caught.value.hint
    assert not (tmp_path / "d.json").exists()
    assert not (tmp_path / "d.bin").exists()


def test_every_hostile_text_is_expected(nasty: Path) -> None:
    names = {path.name for path in nasty.iterdir()} - {"README.md"}
    other = {name for name in names if re.match(r"vocab_|lfs_", name)}  # vocabularies, a model
    assert names - other == EXPECTED.keys() | REFUSED.keys()


def test_blocks_between_blank_lines(nasty: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    dataset = dataprep.build(
        nasty / "eol_many_blank_lines.txt",
        out=tmp_path / "d",
        tokenizer=tokenizer_file,
        doc_per="block",
    )
    assert (dataset.n_documents, dataset.manifest["books"]["read"]) == (3, 3)


def test_the_whole_folder(nasty: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    dataset = dataprep.build(
        nasty,
        out=tmp_path / "d",
        tokenizer=tokenizer_file,
        on_error="skip",
        keep_rejects=tmp_path / "rejects",
    )
    books = dataset.manifest["books"]
    assert books["damaged_files"] == 3
    assert books["read"] == books["written"] + sum(books["dropped"].values()) + books["failed"]
    assert dataset.manifest["passed_over"] == {".json": 1, ".model": 1, ".xz": 1}
    rejects = (tmp_path / "rejects").read_bytes().count(b"\n")
    assert rejects == books["failed"] + sum(books["dropped"].values())
