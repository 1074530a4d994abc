"""Watching a build: a bar on a terminal, plain lines elsewhere, events for machines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Bar", "Events", "Lines", "Meter", "Observer", "Silent", "observer_for"]

_LINE_EVERY = 10.0  # seconds between plain lines
_EVENT_EVERY = 1.0
_BAR_EVERY = 0.1

Clock = Callable[[], float]


class Observer(Protocol):
    """Who watches a build: a progress bar, a log, nobody."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """Tokenizing starts; so much of the input was done by earlier runs."""

    def advance(self, documents: int, text_bytes: int) -> None:
        """Documents were written, bytes of text were read."""

    def complete(self, input_bytes: int, text_bytes: int) -> None:
        """A part of the input, so many bytes on disk, is done: text that was told as advance."""

    def end(self) -> None:
        """Tokenizing has ended, in one way or another."""


class Silent:
    """Says nothing."""

    def note(self, text: str) -> None:
        """See Observer."""

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """See Observer."""

    def advance(self, documents: int, text_bytes: int) -> None:
        """See Observer."""

    def complete(self, input_bytes: int, text_bytes: int) -> None:
        """See Observer."""

    def end(self) -> None:
        """See Observer."""


class Meter:
    """Counts, and how fast they grow.

    What is known for certain is which parts of the input are done. Text of parts that are not is
    turned into bytes on disk by what text and disk were to each other so far.
    """

    def __init__(self, total_bytes: int, done_bytes: int, clock: Clock = time.monotonic) -> None:
        self.total, self.documents, self.text_bytes = total_bytes, 0, 0
        self._before, self._parts, self._text_of_parts = done_bytes, 0, 0
        self._clock, self._start = clock, clock()

    def advance(self, documents: int, text_bytes: int) -> None:
        """See Observer."""
        self.documents += documents
        self.text_bytes += text_bytes

    def complete(self, input_bytes: int, text_bytes: int) -> None:
        """See Observer."""
        self._parts += input_bytes
        self._text_of_parts += text_bytes

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return max(self._clock() - self._start, 1e-6)

    @property
    def done(self) -> int:
        """Bytes of the input that are done, by this run and by those before."""
        ratio = self._parts / self._text_of_parts if self._text_of_parts else 1.0
        at_work = int((self.text_bytes - self._text_of_parts) * ratio)
        return min(self._before + self._parts + at_work, self.total)

    @property
    def rate(self) -> float:
        """Bytes of text a second."""
        return self.text_bytes / self.elapsed

    @property
    def left(self) -> float | None:
        """Seconds that it will still take; None before that can be told."""
        done = self.done
        if done == self.total:
            return 0.0
        here = done - self._before
        return self.elapsed * (self.total - done) / here if here else None

    def line(self) -> str:
        """How far it is, at which rate, and for how long still."""
        left = self.left
        eta = "-:--" if left is None else f"{int(left) // 60}:{int(left) % 60:02}"
        percent = 100 * self.done // self.total if self.total else 100
        return (
            f"{percent:3d} %  {self.text_bytes / 1e6:,.1f} MB at {self.rate / 1e6:,.1f} MB/s  "
            f"{self.documents:,} documents  ETA {eta}"
        )


class _Watcher(Silent):
    """Shows the meter now and then."""

    every = _LINE_EVERY

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._meter = Meter(0, 0, clock)
        self._next = 0.0

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """See Observer."""
        self._meter = Meter(total_bytes, done_bytes, self._clock)
        self._next = self._clock() + self.every

    def advance(self, documents: int, text_bytes: int) -> None:
        """See Observer."""
        self._meter.advance(documents, text_bytes)
        if self._clock() >= self._next:
            self._next = self._clock() + self.every
            self._show()

    def complete(self, input_bytes: int, text_bytes: int) -> None:
        """See Observer."""
        self._meter.complete(input_bytes, text_bytes)

    def end(self) -> None:
        """See Observer."""
        self._show()

    def _show(self) -> None:
        raise NotImplementedError


class Lines(_Watcher):
    """A line now and then."""

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._stream = stream

    def note(self, text: str) -> None:
        """See Observer."""
        print(text, file=self._stream, flush=True)

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """See Observer."""
        super().begin(total_bytes, done_bytes)
        if done_bytes:
            self.note(f"Going on where an earlier run stopped, at {done_bytes / 1e6:,.1f} MB.")

    def _show(self) -> None:
        self.note(self._meter.line())


class Events(_Watcher):
    """One JSON object a line: ``note``, ``begin``, ``progress`` and ``end``."""

    every = _EVENT_EVERY

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._stream = stream

    def note(self, text: str) -> None:
        """See Observer."""
        self._emit("note", text=text)

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """See Observer."""
        super().begin(total_bytes, done_bytes)
        self._emit("begin", total_bytes=total_bytes, done_bytes=done_bytes)

    def end(self) -> None:
        """See Observer."""
        self._measured("end")

    def _show(self) -> None:
        self._measured("progress")

    def _measured(self, event: str) -> None:
        meter = self._meter
        self._emit(
            event,
            total_bytes=meter.total,
            done_bytes=meter.done,
            documents=meter.documents,
            text_bytes=meter.text_bytes,
            seconds=round(meter.elapsed, 3),
            mb_per_second=round(meter.rate / 1e6, 3),
            eta_seconds=None if meter.left is None else round(meter.left, 1),
        )

    def _emit(self, event: str, **values: object) -> None:
        print(json.dumps({"event": event, **values}), file=self._stream, flush=True)


class Bar(_Watcher):
    """A bar that redraws itself on a terminal."""

    every = _BAR_EVERY

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        super().__init__()
        self._console = console
        # Drawn from here, not from a thread: a process with threads is not forked from.
        self._progress = Progress(
            TextColumn("Tokenizing"),
            BarColumn(),
            TextColumn("{task.fields[line]}"),
            console=console,
            auto_refresh=False,
        )
        self._task = self._progress.add_task("", line="")

    def note(self, text: str) -> None:
        """See Observer."""
        self._console.print(text, highlight=False, markup=False)

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """See Observer."""
        super().begin(total_bytes, done_bytes)
        self._progress.start()
        self._show()

    def end(self) -> None:
        """See Observer."""
        self._show()
        self._progress.stop()

    def _show(self) -> None:
        meter = self._meter
        self._progress.update(
            self._task, total=max(meter.total, 1), completed=meter.done, line=meter.line()
        )
        self._progress.refresh()


def observer_for(stream: TextIO | None, *, as_json: bool) -> Observer:
    """The observer that suits where the output goes; None stands for a closed stream."""
    if stream is None:
        return Silent()
    if as_json:
        return Events(stream)
    if stream.isatty():
        from rich.console import Console

        return Bar(Console(file=stream))
    return Lines(stream)
