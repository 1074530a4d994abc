"""kill -9 at any moment, run again, and the bytes are those of an undisturbed run."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# A build in small shards. With CRASH_AT=N the process kills itself just before the N-th time that
# it makes something durable: a sync, or a rename.
DRIVER = """
import os, pathlib, signal, sys
from dataprep import builder, cli, plan
plan.MIN_SHARD = 20_000
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
parent, left = os.getpid(), int(os.environ.get("CRASH_AT", "0"))
def counted(original):
    def action(*arguments):
        global left
        if os.getpid() == parent:
            left -= 1
            if left == 0:
                os.kill(parent, signal.SIGKILL)
        return original(*arguments)
    return action
os.fsync = counted(os.fsync)
pathlib.Path.replace = counted(pathlib.Path.replace)
cli.main()
"""


class Builds:
    """Runs builds of one corpus under one name."""

    def __init__(self, corpus: Path, out: Path) -> None:
        self.out = out
        self._command = [sys.executable, "-c", DRIVER, "build", str(corpus), "--out", str(out)]
        self._command += ["--tokenizer", "train:bpe:400", "--workers", "2"]

    def start(self, crash_at: int = 0) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "CRASH_AT": str(crash_at)}
        return subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )

    def finish(self, crash_at: int = 0) -> int:
        process = self.start(crash_at)
        _, errors = process.communicate(timeout=120)
        assert process.returncode in (0, -signal.SIGKILL), errors.decode()
        return process.returncode

    def hashes(self) -> list[str]:
        paths = [
            Path(f"{self.out}{ending}")
            for ending in (".bin", ".idx", ".origins", ".tokenizer.json")
        ]
        return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]

    def files(self) -> set[str]:
        return {path.name for path in self.out.parent.iterdir()}


WHOLE = {"d.bin", "d.idx", "d.json", "d.origins", "d.tokenizer.json"}


@pytest.fixture
def undisturbed(corpus: Path, tmp_path: Path) -> list[str]:
    out = tmp_path / "undisturbed" / "d"
    out.parent.mkdir()
    builds = Builds(corpus, out)
    assert builds.finish() == 0
    assert builds.files() == WHOLE
    return builds.hashes()


@pytest.mark.slow
def test_killed_at_every_durable_step(corpus: Path, tmp_path: Path, undisturbed: list[str]) -> None:
    """Each run gets one step further than the one before it could; all dead ends are passed."""
    out = tmp_path / "out" / "d"
    out.parent.mkdir()
    builds = Builds(corpus, out)
    for crash_at in range(1, 200):
        for path in out.parent.glob("d.partial/*"):
            path.unlink()
        for path in out.parent.glob("d*.*"):
            path.rmdir() if path.is_dir() else path.unlink()
        if builds.finish(crash_at) == 0:
            break
        assert "d.json" not in builds.files() or builds.files() >= WHOLE
        assert builds.finish() == 0
        assert builds.files() == WHOLE
        assert builds.hashes() == undisturbed
    assert crash_at > 15, "there are that many durable steps at least"


@pytest.mark.slow
def test_killed_at_random_moments(corpus: Path, tmp_path: Path, undisturbed: list[str]) -> None:
    """Several kills into one build, during training, tokenizing and the end."""
    rng = random.Random(3)
    out = tmp_path / "out" / "d"
    out.parent.mkdir()
    builds = Builds(corpus, out)
    for _ in range(6):
        process = builds.start()
        time.sleep(rng.uniform(0.2, 1.2))
        process.kill()
        process.communicate(timeout=60)
    assert builds.finish() == 0
    assert builds.files() == WHOLE
    assert builds.hashes() == undisturbed


def test_killed_while_training(corpus: Path, tmp_path: Path, undisturbed: list[str]) -> None:
    out = tmp_path / "out" / "d"
    out.parent.mkdir()
    builds = Builds(corpus, out)
    process = builds.start()
    assert process.stderr is not None
    assert b"Training the tokenizer" in process.stderr.readline()
    process.kill()
    process.communicate(timeout=60)
    assert builds.files() == {"d.partial"}
    assert builds.finish() == 0
    assert builds.hashes() == undisturbed


def test_interrupt(corpus: Path, tmp_path: Path, undisturbed: list[str]) -> None:
    """Ctrl-C says how to go on, and leaves no process behind."""
    out = tmp_path / "out" / "d"
    out.parent.mkdir()
    builds = Builds(corpus, out)
    process = builds.start()
    assert process.stderr is not None
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Interrupted" in first + errors
    assert b"run the same command again" in errors
    assert b"Traceback" not in errors
    assert builds.finish() == 0
    assert builds.hashes() == undisturbed


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_training_ends_with_the_build(tmp_path: Path, how: signal.Signals) -> None:
    """However long it would have taken: no process stays behind, the name is free again."""
    rng = random.Random(1)
    letters = [chr(code) for code in range(0x4E00, 0x6E00)]
    (tmp_path / "a.txt").write_text("".join(rng.choices(letters, k=1_000_000)), "utf-8")
    builds = Builds(tmp_path / "a.txt", tmp_path / "d")
    process = builds.start()
    assert process.stderr is not None
    assert b"Training the tokenizer" in process.stderr.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (trainers := children.read_text().split()):
        time.sleep(0.01)
    process.send_signal(how)
    process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    while _runs(trainers[0]):
        assert time.monotonic() < deadline, "the trainer goes on"
        time.sleep(0.05)


def _runs(process: str) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # ended, though nobody has asked how
