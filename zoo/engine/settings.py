"""What a training step is told and what it answers, the same for every engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dataprep.errors import UsageError
from zoo.engine.arrays import Array

__all__ = ["OptimizerSettings", "ScheduleSettings", "StepResult", "micro_batches"]


def _require(ok: bool, name: str, value: object, allowed: str) -> None:
    if not ok:
        raise UsageError(f"{name}={value!r} cannot be: {allowed}.")


@dataclass(frozen=True, kw_only=True)
class ScheduleSettings:
    """Learning rate over the steps: linear warm-up, then a cosine down to a share of the peak.

    Attributes:
        max_steps: steps until the cosine reaches its end; None keeps the peak after the warm-up.
        warmup_steps: steps below the peak; step k has (k + 1) / (warmup_steps + 1) of it.
        min_lr: learning rate at the end of the cosine and after it.
    """

    max_steps: int | None = None
    warmup_steps: int = 0
    min_lr: float = 0.0

    def __post_init__(self) -> None:
        _require(self.warmup_steps >= 0, "warmup_steps", self.warmup_steps, "it counts steps")
        if self.max_steps is not None:
            allowed = f"it must exceed warmup_steps={self.warmup_steps}"
            _require(self.max_steps > self.warmup_steps, "max_steps", self.max_steps, allowed)
        _require(self.min_lr >= 0, "min_lr", self.min_lr, "it must not be negative")


@dataclass(frozen=True, kw_only=True)
class OptimizerSettings:
    """AdamW with decoupled weight decay (https://arxiv.org/abs/1711.05101).

    Attributes:
        lr: peak learning rate.
        betas: decay rates of the two moments.
        eps: added to the root of the second moment.
        weight_decay: applied to matrices only, not to biases and norms (one-dimensional ones).
        clip_norm: largest norm of all gradients together; None does not clip.
        schedule: the learning rate over the steps.
    """

    lr: float = 6e-4
    betas: tuple[float, float] = (0.9, 0.95)
    eps: float = 1e-8
    weight_decay: float = 0.1
    clip_norm: float | None = 1.0
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)

    def __post_init__(self) -> None:
        _require(self.lr > 0, "lr", self.lr, "it must be positive")
        in_range = len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas)
        _require(in_range, "betas", self.betas, "two numbers of at least 0 and below 1")
        _require(self.eps > 0, "eps", self.eps, "it must be positive")
        _require(self.weight_decay >= 0, "weight_decay", self.weight_decay, "it is at least 0")
        clip = self.clip_norm
        _require(clip is None or clip > 0, "clip_norm", clip, "it must be positive, or None")
        low = self.schedule.min_lr
        _require(low <= self.lr, "min_lr", low, f"it must not exceed lr={self.lr}")

    def lr_at(self, step: int) -> float:
        """Learning rate of the step with this number, the first being 0."""
        schedule = self.schedule
        if step < schedule.warmup_steps:
            return self.lr * (step + 1) / (schedule.warmup_steps + 1)
        if schedule.max_steps is None:
            return self.lr
        length = schedule.max_steps - schedule.warmup_steps
        progress = min(1.0, (step - schedule.warmup_steps) / length)
        share = 0.5 * (1.0 + math.cos(math.pi * progress))
        return schedule.min_lr + (self.lr - schedule.min_lr) * share

    def decays(self, shape: tuple[int, ...]) -> bool:
        """Whether weight decay applies to a parameter of this shape."""
        return len(shape) > 1


@dataclass(frozen=True)
class StepResult:
    """One optimizer step, the same on all ranks.

    Attributes:
        loss: mean over the micro-batches of all ranks, before the update.
        grad_norm: norm of all gradients before clipping; None in a graph, which does not give it.
        lr: learning rate that the update used.
    """

    loss: float
    grad_norm: float | None
    lr: float


def micro_batches(batch: Mapping[str, Array], count: int) -> list[tuple[Array, Array]]:
    """Checks a batch and cuts its rows into ``count`` equal parts, in order.

    ``batch`` holds "tokens" and "labels", both int64[rows, positions]; raises UsageError when they
    differ in shape or the rows cannot be cut evenly.
    """
    _require(count >= 1, "accumulate", count, "it is at least 1")
    tokens, labels = (np.ascontiguousarray(batch[key], np.int64) for key in ("tokens", "labels"))
    if tokens.ndim != 2 or tokens.shape != labels.shape:
        raise UsageError(
            f"A batch needs tokens and labels of one shape [rows, positions], "
            f"not {list(tokens.shape)} and {list(labels.shape)}."
        )
    if len(tokens) == 0 or len(tokens) % count:
        raise UsageError(
            f"A batch of {len(tokens)} rows a rank cannot be cut into {count} micro-batches.",
            hint="Let the rows be a multiple of the accumulation.",
        )
    return list(zip(np.split(tokens, count), np.split(labels, count), strict=True))
