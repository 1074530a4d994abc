"""Workers: both ways of starting them, and what happens when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pytest

from dataprep import plan as plan_module
from dataprep.batch import Batch
from dataprep.errors import DataError, RunError
from dataprep.inputs import list_inputs
from dataprep.plan import make_plan
from dataprep.policy import ErrorPolicy
from dataprep.pool import Done, StartMethod, run_shards, start_method
from dataprep.shard import Job
from dataprep.workfolder import WorkFolder


class Lengths:
    """A tokenizer that gives each document one token, its length; can be pickled."""

    name = "lengths"
    vocab_size = 60_000
    eod_id = 0
    fingerprint = engine = ""
    special_tokens: Mapping[str, int] = MappingProxyType({})

    def encode_batch(self, batch: Batch) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        lengths = np.array([len(text) for text in batch.texts()], np.uint32)
        return lengths, np.arange(len(lengths) + 1)


class Deadly(Lengths):
    """Dies over one document."""

    def __init__(self, how: int) -> None:
        self.signal = how

    def encode_batch(self, batch: Batch) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        if any("poison" in text for text in batch.texts()):
            os.kill(os.getpid(), self.signal)
        return super().encode_batch(batch)


class Hungry(Lengths):
    """Finds no memory."""

    def encode_batch(self, batch: Batch) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        raise MemoryError


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setattr(plan_module, "MIN_SHARD", 100)
    for number in range(8):
        (tmp_path / f"{number}.txt").write_text(f"{number}" * 99 + "\n")
    plan = make_plan(
        list_inputs([str(tmp_path)]).inputs,
        tokenizer="",
        doc_per=None,
        text_key="text",
        keep_rejects=False,
    )
    work = WorkFolder(tmp_path / "d")
    work.path.mkdir()
    return Job(plan, work, ErrorPolicy(0, skip_damaged=False), bos_id=None, eod_id=0)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_all_shards_are_done(job: Job, method: StartMethod) -> None:
    shards = range(len(job.plan.shards))
    assert len(shards) == 8
    events = list(run_shards(job, Lengths(), shards, 3, method))
    done = [event for event in events if isinstance(event, Done)]
    assert sorted(event.shard for event in done) == list(shards)
    assert all(event.outcome.books.written == 1 for event in done)
    for shard in shards:
        assert np.fromfile(job.work.segment(shard, "bin"), "<u2").tolist() == [99, 0]


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize(("how", "told"), [(9, "SIGKILL"), (15, "SIGTERM"), (35, "35")])
def test_death_of_a_worker_names_the_shard(
    job: Job, method: StartMethod, how: int, told: str
) -> None:
    path = Path(job.plan.inputs[5].path)
    path.write_text("poison" + "5" * 93 + "\n")
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, job.plan.inputs[5].mtime_ns))
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as the command line does
    try:
        with pytest.raises(RunError, match=rf"signal {told}\).*shard 5 \(.*5\.txt\)") as caught:
            list(run_shards(job, Deadly(how), range(8), 3, method))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "again" in str(caught.value.hint)


def test_memory_runs_out(job: Job) -> None:
    with pytest.raises(RunError, match=r"Memory ran out at shard \d") as caught:
        list(run_shards(job, Hungry(), range(8), 2, "fork"))
    assert "--workers" in str(caught.value.hint)


SCRIPT = """
import sys, threading, dataprep
print("script")
made = lambda: print(dataprep.build("a.txt", out="d", tokenizer=sys.argv[1]).n_documents)
thread = threading.Thread(target=made)
thread.start()
thread.join()
"""


def test_script_without_a_guard_runs_once(tmp_path: Path, tokenizer_file: Path) -> None:
    """From a thread, where workers are fresh processes."""
    (tmp_path / "a.txt").write_text("text\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py", str(tokenizer_file)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert done.stdout == "script\n1\n", done.stderr


def test_error_of_a_worker(job: Job) -> None:
    Path(job.plan.inputs[3].path).write_text("other\n")
    with pytest.raises(DataError, match=r"3\.txt was changed"):
        list(run_shards(job, Lengths(), range(8), 2, "fork"))


def test_workers_end_with_the_run(job: Job) -> None:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = children.read_text().split()
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = children.read_text().split()
    events = run_shards(job, Lengths(), range(8), 2, "fork")
    next(events)
    assert len(children.read_text().split()) == len(before) + 2
    events.close()
    assert children.read_text().split() == before


def test_no_fork_beside_other_threads() -> None:
    assert start_method() == "fork"
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert start_method() == "spawn"
    finally:
        stop.set()
        thread.join()
