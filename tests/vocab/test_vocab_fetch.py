"""Fetching from a server and a folder that fail in each way."""

import hashlib
import http.server
import os
import pickle
import threading
from functools import partial
from typing import ClassVar

import pytest
from typer.testing import CliRunner

import vocab
from dataprep.errors import DataError, UsageError
from vocab import manifest
from vocab.cli import app

GOOD = b"#version: 0.2\n" + b"t h\nth e\n" * 40
FILE = vocab.File(name="merges.txt", bytes=len(GOOD), sha256=hashlib.sha256(GOOD).hexdigest())
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 814\n"
HTML = b"<!DOCTYPE html>\n<html><body>Please log in</body></html>"


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    """A manifest of small entries, an empty cache, nothing set that says where files come from."""
    entries = {
        "toy": vocab.Vocabulary(
            name="toy", kind="toy", licence="none", files=(FILE,), repository="me/toy", revision="1"
        ),
        "unpinned": vocab.Vocabulary(
            name="unpinned", kind="toy", licence="none", files=(vocab.File(name="a"),), url="https://"
        ),
    }  # fmt: skip
    monkeypatch.setattr(manifest, "_manifest", lambda: entries)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JIMU_VOCAB_MIRROR", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    monkeypatch.setenv("JIMU_VOCAB_MIRROR", str(tmp_path / "mirror"))
    return tmp_path / "mirror" / "toy" / "merges.txt"


class Server(http.server.BaseHTTPRequestHandler):
    """Answers a path with what `answers` holds for it: status, body, claimed length."""

    answers: ClassVar[dict[str, tuple[int, bytes, int]]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        status, body, length = self.answers.get(self.path, (404, b"no", 2))
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    Server.answers, Server.asked = {}, []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        thread = threading.Thread(target=partial(running.serve_forever, poll_interval=0.01))
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{running.server_port}/")
        yield Server
        running.shutdown()
        thread.join()


HUB_PATH = "/me/toy/resolve/1/merges.txt"


def cached():
    folder = vocab.where("toy")
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_the_hub_is_asked_once_and_the_cache_afterwards(server):
    server.answers[HUB_PATH] = (200, GOOD, len(GOOD))
    folder = vocab.fetch("toy")
    assert folder == vocab.where("toy")
    assert (folder / "merges.txt").read_bytes() == GOOD
    assert vocab.fetch("toy", offline=True) == folder
    vocab.verify("toy")
    assert server.asked == [HUB_PATH]
    assert cached() == ["merges.txt"]


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (LFS, "lfs-pointer", "Git LFS pointer"),
        (HTML, "html", "HTML page"),
        (GOOD.replace(b"\n", b"\r\n"), "crlf", "converted to CRLF"),
        (GOOD[:-10], "truncated", f"cut short: {len(GOOD) - 10} of {len(GOOD)} bytes"),
        (b"", "empty", "empty"),
        (GOOD.replace(b"t h", b"h t"), "other", "another file"),
        (GOOD + b"more", "other", "another file"),
    ],
)
def test_what_is_not_the_file_is_named_and_not_kept(server, body, kind, message):
    server.answers[HUB_PATH] = (200, body, len(body))
    with pytest.raises(vocab.DamagedVocabularyError, match=message) as caught:
        vocab.fetch("toy")
    assert caught.value.damage.kind == kind
    assert HUB_PATH in str(caught.value)
    assert cached() == []
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.damage, copy.hint) == (
        str(caught.value), caught.value.damage, caught.value.hint,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        ((404, b"no", 2), "status 404", "JIMU_VOCAB_MIRROR"),
        ((403, b"no", 2), "status 403", "asks for a login"),
        ((401, b"no", 2), "status 401", "asks for a login"),
        ((200, GOOD[:100], len(GOOD)), "could not be downloaded", "Try again"),
    ],
)
def test_a_failed_download_says_how(server, answer, message, hint):
    server.answers[HUB_PATH] = answer
    with pytest.raises(DataError, match=message) as caught:
        vocab.fetch("toy")
    assert hint in caught.value.hint
    assert cached() == []


def test_without_a_network_it_says_so():
    with pytest.raises(DataError, match="could not be downloaded") as caught:
        vocab.fetch("toy")
    assert "HF_ENDPOINT" in caught.value.hint


def test_a_mirror_on_the_web_is_preferred(server, monkeypatch):
    server.answers["/mine/toy/merges.txt"] = (200, GOOD, len(GOOD))
    monkeypatch.setenv("JIMU_VOCAB_MIRROR", os.environ["HF_ENDPOINT"] + "mine/")
    vocab.fetch("toy")
    assert server.asked == ["/mine/toy/merges.txt"]


def test_a_mirror_in_a_folder_is_checked_too(mirror):
    mirror.write_bytes(GOOD[:-1])
    with pytest.raises(vocab.DamagedVocabularyError, match="cut short") as caught:
        vocab.fetch("toy")
    assert str(mirror) in str(caught.value)
    mirror.write_bytes(GOOD)
    assert (vocab.fetch("toy") / "merges.txt").read_bytes() == GOOD


def test_a_mirror_without_the_file_is_named(mirror):
    with pytest.raises(DataError, match="No such file") as caught:
        vocab.fetch("toy")
    assert "NAME/FILE" in caught.value.hint


def test_a_damaged_cache_is_mended_but_not_used_offline(mirror):
    mirror.write_bytes(GOOD)
    path = vocab.fetch("toy") / "merges.txt"
    path.write_bytes(GOOD[:50])
    with pytest.raises(vocab.DamagedVocabularyError, match="cut short"):
        vocab.verify("toy")
    with pytest.raises(DataError, match="is damaged, and downloads are off"):
        vocab.fetch("toy", offline=True)
    assert vocab.fetch("toy") == path.parent
    assert path.read_bytes() == GOOD


def test_offline_with_an_empty_cache(mirror):
    with pytest.raises(DataError, match="is not there, and downloads are off"):
        vocab.fetch("toy", offline=True)
    with pytest.raises(DataError, match="is not there") as caught:
        vocab.verify("toy")
    assert "dataprep vocab fetch toy" in caught.value.hint


def test_what_nobody_can_check_is_not_fetched():
    with pytest.raises(UsageError, match="No sha256 of unpinned's a is known"):
        vocab.fetch("unpinned")


def test_the_command_line(mirror):
    mirror.write_bytes(GOOD)
    run = partial(CliRunner().invoke, app, catch_exceptions=False)
    assert run(["where", "toy"]).stdout.strip() == str(vocab.where("toy"))
    assert "here" not in run(["list"]).stdout
    assert run(["fetch", "toy"]).stdout.strip() == str(vocab.where("toy"))
    assert run(["fetch", "toy", "--offline"]).exit_code == 0
    assert run(["verify", "toy"]).stdout == "toy is whole.\n"
    toy, unpinned = run(["list"]).stdout.splitlines()
    assert toy.split()[0] == "toy"
    assert toy.endswith(" here")
    assert unpinned.endswith("no sha256 known: not fetched")


def test_files_that_one_has_are_checked_and_added(tmp_path):
    (tmp_path / "mine").write_bytes(GOOD)
    assert vocab.add("toy", tmp_path / "mine") == vocab.where("toy")
    vocab.verify("toy")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=r"There is no .*merges\.txt"):
        vocab.add("toy", tmp_path / "folder")
    (tmp_path / "folder" / "merges.txt").write_bytes(LFS)
    with pytest.raises(vocab.DamagedVocabularyError, match="Git LFS pointer"):
        vocab.add("toy", tmp_path / "folder")
    vocab.verify("toy")


def test_the_command_line_has_no_traceback(tmp_path):
    (tmp_path / "mine").write_bytes(HTML)
    for arguments, status, message in (
        (["where", "nope"], 2, "no public vocabulary 'nope'"),
        (["add", "toy", str(tmp_path / "mine")], 1, "HTML page"),
        (["verify", "toy"], 1, "is not there"),
    ):
        done = CliRunner().invoke(app, arguments)
        assert (done.exit_code, message in done.output) == (status, True), done.output
        assert "Traceback" not in done.output


def test_other_names_of_an_entry(monkeypatch, toy):
    entry = vocab.Vocabulary(
        name="toy", kind="toy", licence="none", files=(FILE,), url="x", aliases=("t",)
    )
    monkeypatch.setattr(manifest, "_manifest", lambda: {"toy": entry})
    assert vocab.known("t") is entry
    assert vocab.where("t") == vocab.where("toy")
    assert vocab.is_known("t")
    assert not vocab.is_known("u")
    assert vocab.names() == ["toy"]
