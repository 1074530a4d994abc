"""Watching a build: a bar on a terminal, plain lines elsewhere, silence for machines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Bar", "Lines", "Observer", "Silent", "observer_for"]

_LINE_EVERY = 10.0  # seconds between plain lines
_BAR_EVERY = 0.1


class Observer(Protocol):
    """Who watches a build: a progress bar, a log, nobody."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """Tokenizing starts; so much of the input was done by earlier runs."""

    def advance(self, documents: int, text_bytes: int) -> None:
        """Documents were written, bytes of text were read."""

    def complete(self, input_bytes: int) -> None:
        """A part of the input, so many bytes on disk, is done."""

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

    def complete(self, input_bytes: int) -> None:
        """See Observer."""

    def end(self) -> None:
        """See Observer."""


class _Meter:
    """Counts, and how fast they grow."""

    def __init__(self, total_bytes: int, done_bytes: int) -> None:
        self.total, self.done, self._resumed_at = total_bytes, done_bytes, done_bytes
        self.documents = self.text_bytes = 0
        self._start = time.monotonic()

    def line(self) -> str:
        """How far it is, at which rate, and for how long still."""
        elapsed = max(time.monotonic() - self._start, 1e-6)
        here = self.done - self._resumed_at
        left = elapsed * (self.total - self.done) / here if here else None
        eta = "-:--" if left is None else f"{int(left) // 60}:{int(left) % 60:02}"
        percent = 100 * self.done // self.total if self.total else 100
        return (
            f"{percent:3d} %  {self.text_bytes / 1e6:,.1f} MB at "
            f"{self.text_bytes / 1e6 / elapsed:,.1f} MB/s  "
            f"{self.documents:,} documents  ETA {eta}"
        )


class Lines(Silent):
    """A line now and then."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._meter = _Meter(0, 0)
        self._next = 0.0

    def note(self, text: str) -> None:
        """See Observer."""
        print(text, file=self._stream, flush=True)

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """See Observer."""
        self._meter = _Meter(total_bytes, done_bytes)
        self._next = time.monotonic() + _LINE_EVERY
        if done_bytes:
            self.note(f"Going on where an earlier run stopped, at {done_bytes / 1e6:,.1f} MB.")

    def advance(self, documents: int, text_bytes: int) -> None:
        """See Observer."""
        self._meter.documents += documents
        self._meter.text_bytes += text_bytes
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _LINE_EVERY
            self.note(self._meter.line())

    def complete(self, input_bytes: int) -> None:
        """See Observer."""
        self._meter.done += input_bytes

    def end(self) -> None:
        """See Observer."""
        self.note(self._meter.line())


class Bar(Silent):
    """A bar that redraws itself on a terminal."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        self._console = console
        self._meter = _Meter(0, 0)
        # Drawn from here, not from a thread: a process with threads is not forked from.
        self._progress = Progress(
            TextColumn("Tokenizing"),
            BarColumn(),
            TextColumn("{task.fields[line]}"),
            console=console,
            auto_refresh=False,
        )
        self._task = self._progress.add_task("", line="")
        self._next = 0.0

    def note(self, text: str) -> None:
        """See Observer."""
        self._console.print(text, highlight=False, markup=False)

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        """See Observer."""
        self._meter = _Meter(total_bytes, done_bytes)
        self._progress.start()
        self._draw()

    def advance(self, documents: int, text_bytes: int) -> None:
        """See Observer."""
        self._meter.documents += documents
        self._meter.text_bytes += text_bytes
        if time.monotonic() >= self._next:
            self._draw()

    def complete(self, input_bytes: int) -> None:
        """See Observer."""
        self._meter.done += input_bytes

    def end(self) -> None:
        """See Observer."""
        self._draw()
        self._progress.stop()

    def _draw(self) -> None:
        self._next = time.monotonic() + _BAR_EVERY
        meter = self._meter
        self._progress.update(
            self._task, total=max(meter.total, 1), completed=meter.done, line=meter.line()
        )
        self._progress.refresh()


def observer_for(stream: TextIO | None, *, silent: bool) -> Observer:
    """The observer that suits where the output goes; None stands for a closed stream."""
    if silent or stream is None:
        return Silent()
    if stream.isatty():
        from rich.console import Console

        return Bar(Console(file=stream))
    return Lines(stream)
