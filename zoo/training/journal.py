"""What rank 0 writes down and shows while a run goes on."""

from __future__ import annotations

import math
from collections.abc import Callable

from zoo.engine.settings import StepResult
from zoo.training.curve import draw_curve
from zoo.training.folder import RunFolder
from zoo.training.metrics import Metrics, read_metrics
from zoo.training.picture import draw_picture

__all__ = ["Journal"]


class Journal:
    """Lines to ``say`` every ``log_every`` steps, all numbers to the metrics file."""

    def __init__(
        self,
        folder: RunFolder,
        say: Callable[[str], None],
        *,
        step: int,
        steps: int,
        log_every: int,
        tokens_per_step: int,
    ) -> None:
        self._folder = folder
        self._say = say
        self._steps = steps
        self._log_every = log_every
        self._tokens_per_step = tokens_per_step
        self._metrics = Metrics(folder.metrics, step=step)
        self._is_first = True
        # Steps and seconds since the last line
        self._count = 0
        self._seconds = 0.0

    def stepped(self, step: int, result: StepResult, seconds: float) -> None:
        """Step number ``step``, from 1, was done in so many seconds."""
        self._metrics.write(
            step=step,
            loss=_finite(result.loss),
            lr=result.lr,
            grad_norm=_finite(result.grad_norm),
            tokens=step * self._tokens_per_step,
            seconds=round(seconds, 6),
        )
        if self._is_first:
            self._is_first = False  # it also sets up or compiles: no measure of the others
        else:
            self._count += 1
            self._seconds += seconds
        if step % self._log_every and step not in (1, self._steps):
            return
        norm = "" if result.grad_norm is None else f"  norm {result.grad_norm:.2f}"
        self._say(
            f"step {step:>{len(str(self._steps))}}/{self._steps}  loss {result.loss:.4f}  "
            f"lr {result.lr:.2e}{norm}{self._speed(step)}"
        )

    def _speed(self, step: int) -> str:
        if self._count == 0:
            return ""
        each = self._seconds / self._count
        self._count, self._seconds = 0, 0.0
        return (
            f"  {self._tokens_per_step / each:,.0f} tokens/s  "
            f"{_duration(each * (self._steps - step))} left"
        )

    def validated(self, step: int, loss: float) -> None:
        """The validation loss after a step."""
        self._metrics.write(step=step, validation_loss=_finite(loss))
        self._say(f"validation after step {step}: loss {loss:.4f}")

    def conclude(self, title: str) -> None:
        """Shows the curve of the whole run and draws the picture."""
        lines = read_metrics(self._folder.metrics)
        losses = [(line["step"], line["loss"]) for line in lines if "loss" in line]
        steps, values = zip(*losses, strict=True)
        self._say(f"\n{draw_curve(steps, values)}\n")
        self._say(f"loss {values[0]:.4f} -> {values[-1]:.4f} in {steps[-1]} steps")
        draw_picture(self._folder.picture, lines, title=title)
        self._say(f"picture: {self._folder.picture}   numbers: {self._folder.metrics}")

    def close(self) -> None:
        """Ends the metrics file."""
        self._metrics.close()


def _finite(value: float | None) -> float | None:
    # JSON has no NaN and no infinity.
    return value if value is not None and math.isfinite(value) else None


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
