"""A function of this package in a process of its own.

For work inside one long call of a library that hears no interrupt, or that starts threads which a
later fork would not survive. Apart, it can be ended at any time, and this process stays as it was.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, ParamSpec, TypeVar

from .errors import JimuError, RunError

__all__ = ["apart"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


def apart(
    function: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs
) -> Result:
    """What the function returns, or the JimuError that it raises; RunError when its process dies.

    The function, its arguments and its result have to survive pickling.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-m", "dataprep.apart"],
        stdin=subprocess.PIPE,  # left open: its end says that this process is gone
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is for this process, which then ends the other
    ) as process:
        try:
            assert process.stdin is not None  # noqa: S101
            assert process.stdout is not None  # noqa: S101
            _give(process.stdin, pickle.dumps((function, arguments, named)))
            answer = process.stdout.read()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RunError(
            f"A process of {function.__name__} ended with exit code {process.returncode}.",
            "Often the system was out of memory. Run again to try again.",
        )
    result: Result | JimuError = pickle.loads(answer)  # noqa: S301  (our own process wrote it)
    if isinstance(result, JimuError):
        raise result
    return result


def _give(pipe: IO[bytes], order: bytes) -> None:
    """Write and flush, to nobody where the reader has died: how it ended is told by its status."""
    try:
        pipe.write(order)
        pipe.flush()
    except BrokenPipeError:
        with contextlib.suppress(BrokenPipeError):  # what is left of the order
            pipe.close()


def _main() -> None:
    # What others print must not come between.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        function, arguments, named = pickle.load(sys.stdin.buffer)  # noqa: S301
    except (EOFError, pickle.UnpicklingError):  # the other process has ended meanwhile
        os._exit(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        result = function(*arguments, **named)
    except JimuError as error:
        result = error
    answers.write(pickle.dumps(result))
    answers.flush()
    sys.stderr.flush()
    os._exit(0)  # the other thread holds standard input, which a normal end would wait for


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


if __name__ == "__main__":
    _main()
