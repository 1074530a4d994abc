"""Builds that are killed, starved of disk, robbed of inputs: the dataset is whole or not there.

``JIMU_KILLS=5000`` makes the random test as long as one likes, and the others complete.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from forks import Forked, Project

from dataprep import builder
from dataprep import plan as plan_module
from dataprep.errors import DataError, UsageError
from dataprep.manifest import read_manifest
from dataprep.progress import Silent
from dataprep.settings import BuildSettings
from dataprep.verify import verify

KILLS = int(os.environ.get("JIMU_KILLS", "150"))
STRIDE = 1 if "JIMU_KILLS" in os.environ else 3  # over the moments at which something is durable


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """In memory where that is possible: waiting for a disk is most of what such builds do."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def project(tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Six shards, two of them of one file; some records fail and some are blank."""
    monkeypatch.setattr(plan_module, "MIN_SHARD", 600)
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(4):
        text = "".join(
            f"床前明月光 {number} {line}\n" + "\n" * (line % 5 == 0) for line in range(20)
        )
        (folder / f"{number}.txt").write_text(text, "utf-8")
    (folder / "4.jsonl").write_text('{"text": "Call me Ishmael."}\nbad\n' * 40)
    settings = BuildSettings(
        inputs=(str(folder),),
        out=str(tmp_path / "out" / "d"),
        tokenizer=str(tokenizer_file),
        workers=2,
        keep_rejects=str(tmp_path / "rejects.jsonl"),
    )
    return Project(settings, tmp_path / "log")


@pytest.fixture
def undisturbed(project: Project) -> str:
    ended = project.build().ended()
    assert ended.status == 0, ended.output
    digest = project.digest()
    project.clear()
    return digest


def left_in_order(project: Project, undisturbed: str) -> None:
    """What a reader can open is whole."""
    if Path(f"{project.out}.json").exists():
        assert project.digest() == undisturbed
    else:
        with pytest.raises(DataError, match="There is no dataset"):
            verify(project.out)


def finished(project: Project, undisturbed: str) -> None:
    ended = project.build().ended()
    assert ended.status == 0, ended.output
    assert project.digest() == undisturbed
    assert not list(project.out.parent.glob("*.partial"))
    assert not list(project.out.parent.glob("*.tmp"))


class Crash:
    """Kills the process just before the N-th time that it makes or removes something durably."""

    def __init__(self, at: int) -> None:
        self._left = at
        self._parent = 0

    def __call__(self) -> None:
        self._parent = os.getpid()
        os.fsync = self._counted(os.fsync)
        for name in ("replace", "unlink", "rmdir", "mkdir"):
            setattr(Path, name, self._counted(getattr(Path, name)))

    def _counted(self, original: Any) -> Any:
        def action(*arguments: Any, **named: Any) -> Any:
            if os.getpid() == self._parent:
                self._left -= 1
                if self._left == 0:
                    os.kill(self._parent, signal.SIGKILL)
            return original(*arguments, **named)

        return action


def test_killed_before_every_durable_step(project: Project, undisturbed: str) -> None:
    for step in range(1, 500, STRIDE):
        ended = project.build(Crash(step)).ended()
        if ended.status == 0:
            break
        assert ended.status == -signal.SIGKILL, ended.output
        left_in_order(project, undisturbed)
        finished(project, undisturbed)
        project.clear()
    assert step > 60, "there are that many durable steps at least"
    assert project.digest() == undisturbed


def test_replaced_or_old_at_every_durable_step(project: Project, tmp_path: Path) -> None:
    """With --overwrite a reader sees the old dataset, none, or the new one."""
    old = Project(
        BuildSettings.from_values({**project.settings.to_json(), "doc_per": "block"}), project.log
    )
    new = Project(
        BuildSettings.from_values({**project.settings.to_json(), "overwrite": True}), project.log
    )
    assert new.build().ended().status == 0
    wanted = project.digest()
    project.clear()
    assert old.build().ended().status == 0
    kept = tmp_path / "kept"
    shutil.copytree(project.out.parent, kept)
    states = set()
    for step in range(1, 500, STRIDE):
        ended = new.build(Crash(step)).ended()
        if Path(f"{project.out}.json").exists():
            verify(project.out)
            identity = read_manifest(project.out)["identity"]["doc_per"]
            states.add(identity)
        else:
            states.add("none")
        if ended.status == 0:
            break
        if step % 7 == 1:
            assert new.build().ended().status == 0
            assert project.digest() == wanted
        shutil.rmtree(project.out.parent)
        shutil.copytree(kept, project.out.parent)
    assert states == {"block", "none", "None"}
    assert project.digest() == wanted


def test_killed_at_random_moments(project: Project, undisturbed: str) -> None:
    """The build, or one of its workers, any number of times, until it gets through."""
    rng = random.Random(7)
    begin = time.monotonic()
    finished(project, undisturbed)
    usual = time.monotonic() - begin
    project.clear()
    killed = through = 0
    while killed < KILLS:
        build = project.build()
        time.sleep(rng.uniform(0, 1.1 * usual))
        workers = build.children()
        if workers and rng.random() < 0.3:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
        else:
            build.kill(rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGINT)))
        ended = build.ended()
        if ended.status == 0:
            through += 1
            assert project.digest() == undisturbed
            project.clear()
            continue
        killed += 1
        assert ended.status == -signal.SIGKILL or (
            ended.status == 70
            and ("died (signal SIGKILL)" in ended.output or "KeyboardInterrupt" in ended.output)
        ), ended.output
        left_in_order(project, undisturbed)
    finished(project, undisturbed)


def test_a_worker_is_killed(project: Project, undisturbed: str) -> None:
    """As by the system when memory runs out: an exact message and status 1."""

    def deadly() -> None:
        from dataprep import pool

        original = pool.run_shard

        def run(job: Any, number: int, *others: Any) -> Any:
            if number == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(job, number, *others)

        pool.run_shard = run

    ended = project.command(deadly).ended()
    assert ended.status == 1
    assert "A worker process died (signal SIGKILL) while it was at shard 2 (" in ended.output
    assert "Run the same command again to go on from here." in ended.output
    assert "Traceback" not in ended.output
    left_in_order(project, undisturbed)
    finished(project, undisturbed)


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("d.partial/00001.bin.tmp", "shard 1"),
        ("d.partial/00002.origins.tmp", "shard 2"),
        ("d.partial/journal", "d"),
        ("d.partial/whole-bin.tmp", "d"),
        ("d.partial/whole-idx.tmp", "d"),
        ("d.json.tmp", "d"),
        ("../rejects.jsonl.tmp", "d"),
    ],
)
def test_disk_is_full(project: Project, undisturbed: str, where: str, names: str) -> None:
    """Each of the files in turn meets a device that is full."""

    def full() -> None:
        target = Path(os.path.normpath(project.out.parent / where))
        original = Path.open

        def opened(path: Path, *arguments: Any, **named: Any) -> Any:
            if path.absolute() == target and arguments:
                path = Path("/dev/full")
            return original(path, *arguments, **named)

        Path.open = opened  # type: ignore[method-assign]
        builder.check_targets = lambda *_: None  # which looks whether rejects can be written

    ended = project.command(full).ended()
    assert ended.status == 1, ended.output
    assert "No space left on device" in ended.output
    assert names in ended.output
    assert "What was done is kept" in ended.output
    assert "Traceback" not in ended.output
    left_in_order(project, undisturbed)
    finished(project, undisturbed)


@pytest.mark.parametrize("limit", [500, 2500, 4500])
def test_files_may_not_grow(project: Project, undisturbed: str, limit: int) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    ended = project.command(limited).ended()
    assert ended.status == 1, ended.output
    assert "File too large" in ended.output
    assert "Traceback" not in ended.output
    left_in_order(project, undisturbed)
    finished(project, undisturbed)


def test_interrupted_twice(project: Project, undisturbed: str) -> None:
    """While the first Ctrl-C is heeded: a message, status 1, and nobody stays behind."""

    def stubborn() -> None:
        from multiprocessing.process import BaseProcess

        from dataprep import pool

        pool.run_shard = lambda *_: time.sleep(60)  # type: ignore[assignment]
        BaseProcess.join = lambda *_: time.sleep(60)  # type: ignore[method-assign,assignment]

    build = project.command(stubborn)
    workers = wait_for_workers(build)
    build.kill(signal.SIGINT)
    time.sleep(0.3)
    build.kill(signal.SIGINT)
    ended = build.ended()
    assert ended.status == 1, ended.output
    assert "Interrupted twice: ended at once." in ended.output
    assert "run the same command again to go on" in ended.output
    assert "Traceback" not in ended.output
    gone_soon(workers)
    left_in_order(project, undisturbed)
    finished(project, undisturbed)


def test_interrupted_once(project: Project, undisturbed: str) -> None:
    def hanging() -> None:
        from dataprep import pool

        pool.run_shard = lambda *_: time.sleep(60)  # type: ignore[assignment]

    build = project.command(hanging, "--json")
    workers = wait_for_workers(build)
    build.kill(signal.SIGINT)
    ended = build.ended()
    assert ended.status == 130
    assert '"exit_code": 130' in ended.output
    assert "Traceback" not in ended.output
    gone_soon(workers)
    finished(project, undisturbed)


def wait_for_workers(build: Forked) -> list[int]:
    deadline = time.monotonic() + 30
    while len(workers := build.children()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.1)
    return workers


def gone_soon(processes: list[int]) -> None:
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{process}/status").exists() for process in processes):
        assert time.monotonic() < deadline, "workers stay behind"
        time.sleep(0.02)


def test_an_input_vanishes(project: Project, undisturbed: str) -> None:
    path = Path(project.settings.inputs[0]) / "2.txt"
    away = path.with_name(".away")

    def vanish() -> None:
        original = builder.make_plan

        def late(*arguments: Any, **named: Any) -> Any:
            made = original(*arguments, **named)
            path.rename(away)
            return made

        builder.make_plan = late

    ended = project.command(vanish).ended()
    assert ended.status == 1
    assert f"Error: {path} is gone: No such file or directory." in ended.output
    assert "Traceback" not in ended.output
    ended = project.command().ended()
    assert (ended.status, "1 input(s) missing (2.txt)" in ended.output) == (2, True)
    away.rename(path)
    left_in_order(project, undisturbed)
    finished(project, undisturbed)


def stopped_before_publishing(project: Project) -> None:
    def stop() -> None:
        def dying(*_: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        builder.publish = dying  # type: ignore[assignment]

    assert project.build(stop).ended().status == -signal.SIGKILL


def test_inputs_changed_before_the_resume(project: Project, undisturbed: str) -> None:
    """By size, by time, or behind both of them: each time the file is named."""
    path = Path(project.settings.inputs[0]) / "2.txt"
    content, status = path.read_bytes(), path.stat()
    times = (status.st_atime_ns, status.st_mtime_ns)
    stopped_before_publishing(project)
    for change, code in (
        (lambda: path.write_bytes(content + b"more\n"), 2),
        (lambda: os.utime(path), 2),
        (lambda: path.write_bytes(content.replace("月".encode(), "日".encode())), 1),
    ):
        change()
        if code == 1:
            os.utime(path, ns=times)
        ended = project.command().ended()
        assert ended.status == code, ended.output
        assert "2.txt" in ended.output
        assert ("1 input(s) changed" if code == 2 else "sha256 differs") in ended.output
        path.write_bytes(content)
        os.utime(path, ns=times)
    finished(project, undisturbed)


def test_inputs_touched_but_the_same(project: Project, undisturbed: str) -> None:
    stopped_before_publishing(project)
    for path in Path(project.settings.inputs[0]).iterdir():
        path.chmod(0o600)
    finished(project, undisturbed)


@pytest.mark.parametrize("flaw", ["file", "read-only"])
def test_output_that_cannot_be_written(project: Project, tmp_path: Path, flaw: str) -> None:
    place = tmp_path / "place"
    if flaw == "file":
        place.write_text("")
    else:
        place.mkdir(mode=0o500)
        if os.geteuid() == 0:
            pytest.skip("root may write anywhere")
    values = {**project.settings.to_json(), "out": str(place / "d"), "keep_rejects": None}
    blocked = Project(BuildSettings.from_values(values), project.log)
    ended = blocked.command().ended()
    assert ended.status == 1
    assert f"{place}" in ended.output
    assert ("Not a directory" if flaw == "file" else "Permission denied") in ended.output
    assert "Traceback" not in ended.output


def test_another_number_of_workers_on_resume(project: Project, undisturbed: str) -> None:
    """Neither doubles documents nor loses any."""
    values = project.settings.to_json()
    for workers in (1, 3, 5):
        assert project.build(Crash(12)).ended().status == -signal.SIGKILL
        other = BuildSettings.from_values({**values, "workers": workers})
        assert Project(other, project.log).build().ended().status == 0
        assert sorted(project.digest().splitlines()[:3]) == sorted(undisturbed.splitlines()[:3])
        project.clear()


def test_rejects_after_a_resume(project: Project, undisturbed: str) -> None:
    """Neither twice nor cut: they are written anew, and half of them is never under the name."""
    rejects = Path(str(project.settings.keep_rejects))
    for step in (20, 40, 60):
        project.build(Crash(step)).ended()
        assert not rejects.exists() or rejects.read_text().count('"outcome"') == 56
        finished(project, undisturbed)
        assert rejects.read_text().count('"failed"') == 40
        project.clear()
    draft = rejects.with_name("rejects.jsonl.tmp")
    draft.write_text("precious")
    with pytest.raises(UsageError, match="holds something else"):
        builder.run_build(project.settings, Silent())
    assert draft.read_text() == "precious"
