"""Worker processes that do shard after shard until there are none left.

Workers live as long as the run. On Linux they are forked from a parent that has loaded and checked
the tokenizer: they start in milliseconds and share its memory, where a fresh process spends a
quarter of a second on imports and up to seconds on the vocabulary. The engine notices that it was
forked and works on the calling thread. Where forking is not safe (other threads of the parent may
hold locks) or not there, fresh processes are started and the tokenizer is pickled.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from .errors import JimuError, RunError
from .shard import Job, run_shard
from .workfolder import Outcome

if TYPE_CHECKING:
    from .tokenizers.protocol import Tokenizer

__all__ = ["Done", "Progress", "StartMethod", "run_shards", "start_method"]

StartMethod = Literal["fork", "spawn"]

_ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
"""One worker, one thread: the workers are the parallelism."""


@dataclass(frozen=True)
class Progress:
    """A worker has got on with a shard by this much."""

    shard: int
    documents: int
    bytes_read: int
    """Bytes of text, decompressed."""


@dataclass(frozen=True)
class Done:
    """A shard is done, its files are safe."""

    shard: int
    outcome: Outcome


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    shard: int | None = None


def start_method() -> StartMethod:
    """How workers are best started from this process, as it is now."""
    safe = sys.platform == "linux" and threading.active_count() == 1
    return "fork" if safe else "spawn"


def run_shards(
    job: Job,
    tokenizer: Tokenizer,
    shards: Sequence[int],
    workers: int,
    method: StartMethod,
) -> Generator[Progress | Done, None, None]:
    """Do the shards on up to ``workers`` processes, in no certain order; what happens, as it does.

    Raises what a worker raised, or RunError when one died. All workers have ended when this
    generator has.
    """
    waiting = sorted(shards, key=_turn, reverse=True)
    with _started(job, tokenizer, min(workers, len(shards)), method) as crew:
        for worker in crew:
            _give(worker, waiting)
        while busy := [worker for worker in crew if worker.shard is not None]:
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe not in ready:
                    continue
                message = _receive(worker, job)
                yield message
                if isinstance(message, Done):
                    _give(worker, waiting)


def _turn(shard: int) -> float:
    """When a shard is done: neighbours far from each other, by the golden ratio.

    So whatever comes first is a sample of all there is, and says how long the rest will take, also
    where big files, packed ones or another language come last.
    """
    return shard * 0.6180339887498949 % 1


def _give(worker: _Worker, waiting: list[int]) -> None:
    worker.shard = waiting.pop() if waiting else None
    if worker.shard is not None:
        with contextlib.suppress(BrokenPipeError):  # it has died: the next receive tells how
            worker.pipe.send(worker.shard)


def _receive(worker: _Worker, job: Job) -> Progress | Done:
    try:
        message = worker.pipe.recv()
    except (EOFError, OSError):  # before a message, or within one
        worker.process.join()
        raise _death(worker, job) from None
    if isinstance(message, BaseException):
        raise message
    happened: Progress | Done = message
    return happened


def _death(worker: _Worker, job: Job) -> RunError:
    code = worker.process.exitcode or 0
    how = f"exit code {code}"
    hint = "Run the same command again to go on from here."
    if code < 0:
        names = {known.value: known.name for known in signal.Signals}
        how = f"signal {names.get(-code, -code)}"
        if -code == signal.SIGKILL:
            hint = f"Often the system was out of memory: try fewer --workers. {hint}"
    assert worker.shard is not None, "only busy workers are listened to"  # noqa: S101
    name = job.plan.shard_name(worker.shard)
    return RunError(f"A worker process died ({how}) while it was at {name}.", hint)


@contextlib.contextmanager
def _started(
    job: Job, tokenizer: Tokenizer, count: int, method: StartMethod
) -> Iterator[list[_Worker]]:
    context: BaseContext = multiprocessing.get_context(method)
    pipes = [context.Pipe() for _ in range(count)]
    crew: list[_Worker] = []
    try:
        with _environment(_ONE_THREAD), _no_main(), warnings.catch_warnings():
            # Python 3.12 warns of any fork beside native threads. Those here are the engine's,
            # which expects it.
            warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
            for ours, theirs in pipes:
                inherited = [end for pair in pipes for end in pair if end is not theirs]
                arguments = (job, tokenizer, theirs, inherited if method == "fork" else [])
                process = context.Process(target=_work, args=arguments, daemon=True)  # type: ignore[attr-defined]
                process.start()
                crew.append(_Worker(process, ours))
        for _, theirs in pipes:
            theirs.close()
        yield crew
    finally:
        for ours, _ in pipes:
            ours.close()  # a worker without a parent ends
        for worker in crew:
            worker.process.join()


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _no_main() -> Iterator[None]:
    """Fresh processes would run the user's script again, though they need nothing of it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _work(job: Job, tokenizer: Tokenizer, pipe: Connection, inherited: list[Connection]) -> None:
    """The main function of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not what the parent does, which a fork inherits
    for end in inherited:
        end.close()
    orders: list[int] = []
    arrived = threading.Semaphore(0)
    threading.Thread(target=_listen, args=(pipe, orders, arrived), daemon=True).start()
    while True:
        arrived.acquire()
        shard = orders.pop()
        try:
            outcome = run_shard(
                job,
                shard,
                tokenizer,
                partial(_tell, pipe, shard),
            )
            _send(pipe, Done(shard, outcome))
        except JimuError as error:
            _send(pipe, error)
        except MemoryError:
            hint = "Try fewer --workers; what was done is kept."
            _send(pipe, RunError(f"Memory ran out at {job.plan.shard_name(shard)}.", hint))
        except OSError as error:  # disk full, and the like
            hint = "What was done is kept: once this is mended, run the same command again."
            _send(pipe, RunError(f"{job.plan.shard_name(shard)} could not be done: {error}.", hint))


def _tell(pipe: Connection, shard: int, documents: int, size: int) -> None:
    _send(pipe, Progress(shard, documents, size))


def _send(pipe: Connection, message: object) -> None:
    """To the parent; ends the process at once when it listens no more: another shard has failed."""
    try:
        pipe.send(message)
    except OSError:
        os._exit(0)


def _listen(pipe: Connection, orders: list[int], arrived: threading.Semaphore) -> None:
    """Take orders; end the process at once when the parent is gone, whatever it is doing."""
    while True:
        try:
            orders.append(pipe.recv())
        except (EOFError, OSError):
            os._exit(0)
        arrived.release()
