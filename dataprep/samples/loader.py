"""Which rows of which step belong to one data-parallel rank, read ahead by threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from dataprep.errors import DataError, UsageError
from dataprep.samples.protocol import Samples

__all__ = ["Loader"]

Batch = Mapping[str, npt.NDArray[Any]]


class Loader:
    """An endless iterator over one rank's rows of each global batch.

    ``batch_size`` counts rows over all ``ranks``; rank ``r`` takes the ``r``-th of ``ranks`` equal
    blocks of the batch, so that the blocks in rank order are the batch, whatever their number.
    ``consumed``, the number of samples that the run has used so far over all ranks, is the whole
    state: set it to go on exactly there, under any number of ranks and with any batch size.

    With ``workers`` threads, up to ``read_ahead`` batches are made while others are used; what
    comes out, and what ``consumed`` says, does not depend on either. Threads serve, since the work
    is done outside of Python's lock. Close the loader, or use it as a context manager, to end them
    before the program does.
    """

    def __init__(
        self,
        samples: Samples,
        *,
        batch_size: int,
        rank: int = 0,
        ranks: int = 1,
        consumed: int = 0,
        workers: int = 0,
        read_ahead: int = 4,
    ) -> None:
        if ranks < 1 or batch_size < 1 or batch_size % ranks:
            raise UsageError(
                f"a batch of {batch_size} samples cannot be shared equally by {ranks} "
                "data-parallel ranks",
                hint="the batch size must be a multiple of dp",
            )
        if not 0 <= rank < ranks:
            raise UsageError(f"data-parallel rank {rank} of {ranks}: ranks count from 0")
        if workers < 0 or read_ahead < 1:
            raise UsageError(
                f"{workers} workers that read {read_ahead} batches ahead: 0 or more workers and 1 "
                "batch or more are needed"
            )
        self.batch_size = batch_size
        self._samples = samples
        self._block = np.arange(batch_size // ranks) + rank * (batch_size // ranks)
        self._workers, self._read_ahead = workers, read_ahead
        self._pool: ThreadPoolExecutor | None = None
        self._coming: deque[Future[Batch]] = deque()
        self.consumed = consumed

    @property
    def consumed(self) -> int:
        """Samples that the run has used so far, over all ranks."""
        return self._consumed

    @consumed.setter
    def consumed(self, consumed: int) -> None:
        if consumed < 0:
            raise UsageError(f"{consumed} samples consumed: the count starts at 0")
        self._drop()
        self._consumed = consumed

    def state_dict(self) -> dict[str, int]:
        """Where the run stands: the same on every rank."""
        return {"consumed": self._consumed}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go on from a state, of whatever number of ranks and workers it comes."""
        if set(state) != {"consumed"}:
            raise DataError(f"The state of a loader is {{'consumed': N}}, not {dict(state)}.")
        self.consumed = state["consumed"]

    def __iter__(self) -> Loader:
        return self

    def __next__(self) -> Batch:
        """This rank's rows of the next global batch."""
        if self._workers:
            batch = self._next_made()
        else:
            batch = self._samples.batch(self._consumed + self._block)
        self._consumed += self.batch_size
        return batch

    def _next_made(self) -> Batch:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="samples")
        while len(self._coming) <= self._read_ahead:
            first = self._consumed + len(self._coming) * self.batch_size
            self._coming.append(self._pool.submit(self._samples.batch, first + self._block))
        return self._coming.popleft().result()

    def _drop(self) -> None:
        while self._coming:
            self._coming.pop().cancel()

    def close(self) -> None:
        """End the threads; going on afterwards starts them again."""
        self._drop()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Loader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
