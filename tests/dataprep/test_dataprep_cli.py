"""The command line as people and scripts use it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dataprep", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "200"},
        check=False,
    )


def test_build_inspect_verify(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    (corpus / "bad.jsonl").write_text('{"text": "ok"}\n{"txt": "bad"}\n')
    (corpus / "notes.pdf").write_text("x")
    arguments = ("build", corpus, "--out", tmp_path / "d", "--tokenizer", tokenizer_file)
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert "1,503 read = 1,202 written + 300 dropped (300 blank) + 1 failed" in done.stdout
    assert 'bad.jsonl, line 2, byte 15: the object has no key "text"' in done.stdout
    assert "1 .pdf" in done.stderr
    assert "100 %" in done.stderr
    assert "MB/s" in done.stderr
    again = run(*arguments)
    assert again.returncode == 0
    assert "complete already" in again.stdout
    different = run(*arguments, "--doc-per", "file")
    assert different.returncode == 2
    assert "doc_per was None, is file" in different.stderr
    assert "Traceback" not in different.stderr

    shown = run("inspect", tmp_path / "d", "--json")
    assert json.loads(shown.stdout)["documents"] == 1202
    assert "Tokens in a document" in run("inspect", tmp_path / "d").stdout

    assert run("verify", tmp_path / "d").returncode == 0
    assert json.loads(run("verify", tmp_path / "d", "--json").stdout)["ok"] is True
    with (tmp_path / "d.bin").open("r+b") as file:
        file.write(b"\xff")
    broken = run("verify", tmp_path / "d")
    assert broken.returncode == 1
    assert "sha256" in broken.stderr
    missing = run("inspect", tmp_path / "none", "--json")
    assert (missing.returncode, json.loads(missing.stdout)["exit_code"]) == (1, 1)
    assert "none.json is missing" in json.loads(missing.stdout)["error"]


def test_json_output(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    done = run("build", corpus, "-o", tmp_path / "d", "-t", tokenizer_file, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["documents"] == 1201
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [event["event"] for event in events if event["event"] != "progress"] == ["begin", "end"]
    end = events[-1]
    assert end["done_bytes"] == end["total_bytes"] == events[0]["total_bytes"] > 0
    assert (end["documents"], end["eta_seconds"]) == (1201, 0)
    assert end["text_bytes"] == json.loads(done.stdout)["books"]["bytes_read"]
    assert end["mb_per_second"] > 0
    (corpus / "x.pdf").touch()
    again = run("build", corpus, "-o", tmp_path / "d", "-t", tokenizer_file, "--json")
    assert json.loads(again.stderr.splitlines()[0])["text"].startswith("Files passed over: 1 .pdf")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "x", "--nonsense"], "No such option: --nonsense"),
        (["build", "x", "--workers", "many"], "Invalid value for '--workers'"),
        (["merge", "a"], "Missing option '--out'"),
        (["nonsense"], "No such command 'nonsense'"),
        (["build", "missing", "--out", "d"], "There is no missing"),
    ],
)
def test_usage_errors_for_machines(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = run(*arguments, "--json", cwd=tmp_path)
    assert done.returncode == 2
    error = json.loads(done.stdout)
    assert message in error["error"]
    assert error["exit_code"] == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_from_a_file_and_flags(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text('inputs = ["corpus"]\nworkers = 3\ntext-key = "body"\n')
    done = run("build", "--config", config, "--workers", "2", "--print-config")
    settings = json.loads(done.stdout)
    assert (settings["inputs"], settings["workers"], settings["text_key"]) == (
        ["corpus"],
        2,
        "body",
    )
    assert settings["out"] == "out/corpus"
    config.write_text("wrokers = 3\n")
    wrong = run("build", "--config", config, "x")
    assert wrong.returncode == 2
    assert "Unknown setting 'wrokers'" in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build"], "No input was given"),
        (["build", "x", "--doc-per", "page"], "allowed: file, line, block"),
        (["build", "x", "--tokenizer", "train:words:9"], "train:KIND:N"),
        (["build", "x", "--tokenizer", "train:wordpiece:7"], "7 is too small for wordpiece"),
        (["build", "x", "--nonsense"], "No such option"),
        (["build", "missing", "--out", "d"], "There is no missing"),
    ],
)
def test_usage_errors(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.txt").write_text("text\n")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = run("build", tmp_path / "missing", "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_dash_file(tmp_path: Path, tokenizer_file: Path) -> None:
    (tmp_path / "-dash.txt").write_text("text\n")
    done = run("build", "--out", "d", "-t", tokenizer_file, "--", "-dash.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_disk_trouble_is_no_traceback(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("build", corpus, "-o", tmp_path / "file" / "d", "-t", tokenizer_file)
    assert done.returncode == 1
    assert "Not a directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_bar_on_a_terminal(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    main, side = pty.openpty()
    command = [sys.executable, "-m", "dataprep", "build", str(corpus), "-o", str(tmp_path / "d")]
    with subprocess.Popen(
        [*command, "-t", str(tokenizer_file)],
        stdout=subprocess.PIPE,
        stderr=side,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TERM": "xterm", "COLUMNS": "150"},
    ) as process:
        os.close(side)
        shown = b""
        while True:
            try:
                shown += os.read(main, 4096)
            except OSError:  # the other side was closed
                break
    os.close(main)
    assert process.returncode == 0
    assert "━" in shown.decode()
    assert "100 %" in shown.decode()
    assert "1,201 documents" in shown.decode()


def test_help_needs_no_heavy_import() -> None:
    code = (
        "import sys; sys.argv = ['dataprep', '--help']\n"
        "import dataprep.cli\n"
        "try: dataprep.cli.main()\n"
        "except SystemExit: pass\n"
        "print('heavy:', {'numpy', 'tokenizers', 'fastokens', 'msgspec'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    assert done.stdout.endswith("heavy: set()\n")


def test_names_that_are_not_utf8(tmp_path: Path, tokenizer_file: Path) -> None:
    path = os.fsdecode(bytes(tmp_path) + b"/\xff.txt")
    Path(path).write_bytes(b"good\n\xfe\n")
    command = [sys.executable, "-m", "dataprep", "build", path, "-o", str(tmp_path / "d")]
    done = subprocess.run(
        [*command, "-t", str(tokenizer_file)],
        capture_output=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"/\\udcff.txt, line 2, byte 5: byte 0xFE is not UTF-8" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dataprep", "build", "x", "-o", "d", "--print-config"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            check=False,
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
