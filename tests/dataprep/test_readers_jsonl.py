"""JSON Lines: one line, one record, whatever stands in it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dataprep.readers import FORMATS, Source
from dataprep.readers import source as source_module


def read(
    data: bytes, tmp_path: Path, text_key: str = "text"
) -> tuple[list[str], list[int], list[tuple[int, str]]]:
    """Texts, the line (from 1) of each, and line and cause of each failure."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    texts, lines, failures = [], [], []
    for records in FORMATS["jsonl"].reader(None).read(Source(path, text_key=text_key)):
        texts += records.batch.texts()
        lines += [records.chunk.line + line + 1 for line in records.lines]
        failures += [(failure.line, failure.cause) for failure in records.failures]
    return texts, lines, failures


def test_good_records(tmp_path: Path) -> None:
    data = (
        b'\xef\xbb\xbf{"text": "\\u4eca\\/\\\\\\"\\b\\f\\n\\r\\t"}\r\n'
        b'  {"a": [1, {"text": "inner"}], "text":\t"tabs"}  \n'
        b"\n \t\r\n"
        b'{"te\\u0078t": "escaped key", "n": 1e999}\n'
        b'{"text": "a\\u0000b \\ud83d\\ude00 <|endoftext|>"}'
    )
    texts, lines, failures = read(data, tmp_path)
    assert failures == []
    assert texts == ['今/\\"\b\f\n\r\t', "tabs", "escaped key", "a\0b 😀 <|endoftext|>"]
    assert lines == [1, 2, 5, 6]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b'{"text": "unterminated', "cut off"),
        (b'{text: "no quotes"}', "malformed"),
        (b'{"text": "comma",}', "malformed"),
        (b"{'text': 'single'}", "malformed"),
        (b'{"text": "two"}{"text": "objects"}', "malformed"),
        (b'{"text": "two"} {"text": "objects"}', "malformed"),
        (b"not json", "malformed"),
        (b'{"text": "raw\ttab"}', "malformed"),
        (b'{"text": "x", "n": NaN}', "malformed"),
        (b"{}", 'no key "text"'),
        (b'{"Text": "case"}', 'no key "text"'),
        (b'{"text": null}', "got `null`"),
        (b'{"text": 1}', "got `int`"),
        (b'{"text": ["a"]}', "got `array`"),
        (b"null", "got `null`"),
        (b'"text"', "got `str`"),
        (b'[{"text": "x"}]', "got `array`"),
        (b'{"text": "\\ud800"}', "surrogate"),
        (b'{"text": "\\udc00 \\ud83d\\ude00"}', "surrogate"),
        (b'{"text": "\xb5\xda"}', "byte 0xB5 is not UTF-8"),
        (b'{"text": "ok", "deep": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too deeply"),
        (b'\xef\xbb\xbf{"text": "second mark"}', "malformed"),
    ],
)
def test_bad_record_fails_alone(line: bytes, cause: str, tmp_path: Path) -> None:
    texts, lines, failures = read(b'{"text":"1"}\n' + line + b'\n{"text":"3"}\n', tmp_path)
    assert texts == ["1", "3"]
    assert lines == [1, 3]
    assert [number for number, _ in failures] == [2]
    assert cause in failures[0][1]


def test_object_over_two_lines_is_two_bad_lines(tmp_path: Path) -> None:
    """Parsers of whole buffers take it, and count it as one line."""
    texts, _, failures = read(b'{"text":\n"a"}\n{"text":"b"}{"text":"c"}\n{"text":"d"}', tmp_path)
    assert texts == ["d"]
    assert [number for number, _ in failures] == [1, 2, 3]


def test_text_key(tmp_path: Path) -> None:
    assert read('{"内 容": "x", "text": 5}\n'.encode(), tmp_path, "内 容")[0] == ["x"]


@pytest.mark.parametrize("size", [1, 50, 1 << 20])
def test_against_the_standard_parser(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "CHUNK_BYTES", size)
    rng = random.Random(7)
    rows, texts, bad = [], [], []
    for number in range(1, 400):
        text = "".join(rng.choices('ab好😀\n\\"\u2028\x7f', k=rng.randrange(12)))
        row = json.dumps({"n": number, "text": text}, ensure_ascii=rng.random() < 0.5)
        if rng.random() < 0.2:
            row = row[:-1]
            bad.append(number)
        else:
            texts.append(text)
        rows.append(row)
    found = read("\n".join(rows).encode(), tmp_path)
    assert found[0] == texts
    assert [number for number, _ in found[2]] == bad
