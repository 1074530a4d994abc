"""What a run says while it runs."""

from __future__ import annotations

from zoo.engine.settings import StepResult

__all__ = ["Speed", "step_line"]


class Speed:
    """Tokens a second and time left, by the steps since they were last asked for."""

    def __init__(self, tokens_per_step: int) -> None:
        self._tokens_per_step = tokens_per_step
        self._steps = 0
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        """One more step was done in so many seconds."""
        self._steps += 1
        self._seconds += seconds

    def take(self, steps_left: int) -> tuple[float, float]:
        """(tokens a second, seconds that the steps left will take); starts counting anew."""
        seconds_per_step = self._seconds / self._steps
        self._steps, self._seconds = 0, 0.0
        return self._tokens_per_step / seconds_per_step, seconds_per_step * steps_left


def step_line(
    step: int, steps: int, result: StepResult, tokens_per_second: float, seconds_left: float
) -> str:
    """One line about a step."""
    norm = "" if result.grad_norm is None else f"  norm {result.grad_norm:.2f}"
    return (
        f"step {step:>{len(str(steps))}}/{steps}  loss {result.loss:.4f}  lr {result.lr:.2e}{norm}"
        f"  {tokens_per_second:,.0f} tokens/s  {_duration(seconds_left)} left"
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
