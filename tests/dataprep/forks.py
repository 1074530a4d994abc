"""Builds in forked processes, which cost a twentieth of a second and can be killed at will."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dataprep.builder import run_build
from dataprep.cli import main
from dataprep.manifest import FILE_ENDINGS
from dataprep.progress import Silent
from dataprep.settings import BuildSettings

Step = Callable[[], object]


@dataclass(frozen=True)
class Ended:
    """How a forked process ended: exit status, or minus the signal; and what it wrote."""

    status: int
    output: str


class Forked:
    """A function in a child of its own process group."""

    def __init__(self, function: Step, log: Path) -> None:
        self._log = log
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside native threads
            # The child is interrupted in its function only, never in the test that it is a copy of.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            self.pid = os.fork()
        if not self.pid:
            self._run(function)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def _run(self, function: Step) -> None:
        status = 70
        try:
            os.setpgid(0, 0)
            out = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(out, stream)
            sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
            signal.signal(signal.SIGINT, signal.default_int_handler)
            status = self._status(function)
        except BaseException:  # interrupted just after the function's end
            traceback.print_exc()
        finally:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status)

    @staticmethod
    def _status(function: Step) -> int:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            function()
        except SystemExit as error:
            return int(error.code or 0)
        except BaseException:
            traceback.print_exc()
            return 70
        return 0

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal; nothing happens to one that has ended."""
        os.kill(self.pid, number)

    def ended(self) -> Ended:
        """Wait for the end."""
        _, status = os.waitpid(self.pid, 0)
        return Ended(os.waitstatus_to_exitcode(status), self._log.read_text(errors="replace"))

    def children(self) -> list[int]:
        """Its own children that run at this moment."""
        path = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return list(map(int, path.read_text().split())) if path.exists() else []


@dataclass(frozen=True)
class Project:
    """A corpus, and a name under which builds of it go."""

    settings: BuildSettings
    log: Path

    @property
    def out(self) -> Path:
        """The name."""
        return Path(self.settings.out)

    def build(self, before: Step = lambda: None) -> Forked:
        """Start a build; ``before`` runs first in its process."""

        def run() -> None:
            before()
            run_build(self.settings, Silent())

        return Forked(run, self.log)

    def command(self, before: Step = lambda: None, *flags: str) -> Forked:
        """The same through the command line."""
        settings = self.settings
        arguments = ["dataprep", "build", *settings.inputs, "-o", settings.out]
        arguments += ["-t", settings.tokenizer, "-w", str(settings.workers), *flags]
        if settings.keep_rejects:
            arguments += ["--keep-rejects", settings.keep_rejects]

        def run() -> None:
            before()
            sys.argv = arguments
            main()

        return Forked(run, self.log)

    def digest(self) -> str:
        """Of all files of the dataset, and of the rejects where they are kept."""
        paths = [Path(f"{self.out}{ending}") for ending in (*FILE_ENDINGS, ".json")]
        paths = [path for path in paths if path.exists()]
        if self.settings.keep_rejects:
            paths.append(Path(self.settings.keep_rejects))
        parts = [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths]
        return "\n".join(parts)

    def clear(self) -> None:
        """Remove all that builds have made."""
        for path in self.out.parent.glob(f"{self.out.name}.*"):
            for inner in path.iterdir() if path.is_dir() else ():
                inner.unlink()
            path.rmdir() if path.is_dir() else path.unlink()
        if self.settings.keep_rejects:
            Path(self.settings.keep_rejects).unlink(missing_ok=True)
