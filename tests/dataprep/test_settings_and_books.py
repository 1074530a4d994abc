from __future__ import annotations

from pathlib import Path

import pytest

from dataprep.books import KEPT_PROBLEMS, Books, Problem
from dataprep.errors import RunError, UsageError
from dataprep.settings import BuildSettings, help_of, read_config


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"inputs": ()}, "No input"),
        ({"workers": 0}, "at least 1"),
        ({"workers": "4"}, "workers is '4'; allowed: int or nothing"),
        ({"workers": True}, "workers is True"),
        ({"doc_per": "page"}, "allowed: file, line, block or nothing"),
        ({"on_error": "ignore"}, "allowed: limit, skip, fail"),
        ({"max_errors": -1}, "negative"),
        ({"text_key": ""}, "text-key"),
        ({"text_key": 'a"b'}, "cannot be looked for"),
        ({"text_key": "a\udcff"}, "cannot be looked for"),
        ({"out": ".."}, "has no name"),
        ({"out": "d.bin"}, "the name of one file"),
        ({"out": "d\0"}, "NUL"),
        ({"inputs": ("a", "b"), "out": ""}, "need a name"),
        ({"colour": "red"}, "Unknown setting 'colour'"),
    ],
)
def test_what_cannot_be(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        BuildSettings.from_values({"inputs": ("corpus",), **values})


@pytest.mark.parametrize(
    ("given", "out"),
    [("corpus/", "out/corpus"), ("a/b.jsonl.gz", "out/b"), ("/data/../x", "out/x")],
)
def test_default_name(given: str, out: str) -> None:
    assert BuildSettings(inputs=(given,)).out == out


def test_config(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('inputs = ["a", "b"]\nout = "d"\ndoc-per = "block"\nmax_errors = 3\n')
    settings = BuildSettings.from_values({**read_config(path), "out": "e"})
    assert (settings.inputs, settings.out, settings.doc_per) == (("a", "b"), "e", "block")
    assert BuildSettings.from_values(settings.to_json()) == settings
    path.write_text("out =")
    with pytest.raises(UsageError, match="not TOML"):
        read_config(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_config(tmp_path / "none.toml")


def test_every_setting_is_explained() -> None:
    for name in BuildSettings.__dataclass_fields__:
        assert help_of(name).endswith((".", ")"))


def _books(number: int) -> Books:
    books = Books(read=10, written=6, bytes_read=100, tokens=60)
    books.dropped["blank"] = 3
    books.fail(Problem(f"{number}.txt", 4, 30, "cause"))
    return books


def test_sums() -> None:
    total = Books()
    for number in range(150):
        books = _books(number)
        assert Books.from_json(books.to_json()) == books
        total.add(books)
    total.check()
    assert (total.read, total.failed, total.dropped) == (1500, 150, {"blank": 450})
    assert [problem.file for problem in total.problems] == [
        f"{number}.txt" for number in range(KEPT_PROBLEMS)
    ]
    assert total.summary() == ("1,500 read = 900 written + 450 dropped (450 blank) + 150 failed")
    assert str(total.problems[0]) == "0.txt, line 4, byte 30: cause"


def test_books_that_do_not_add_up() -> None:
    books = _books(0)
    books.written -= 1
    with pytest.raises(RunError, match="do not add up: 10 read = 5 written"):
        books.check()
