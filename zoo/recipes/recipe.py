"""What a run is made of: a model, data, an optimizer and a loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dataprep.errors import UsageError
from zoo.engine.settings import OptimizerSettings

__all__ = ["DataSettings", "Recipe", "TrainSettings"]


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """Which samples a run sees.

    Attributes:
        seq_len: tokens in a sample, at most the model's longest sequence.
        split: weights of the training and the validation documents.
        seed: decides the order of the training samples.
    """

    seq_len: int
    split: tuple[float, float] = (99.0, 1.0)
    seed: int = 0

    def __post_init__(self) -> None:
        _at_least(1, "data.seq_len", self.seq_len)


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """The loop.

    Attributes:
        steps: optimizer steps of the whole run.
        batch_size: samples in one step, over all ranks.
        micro_batch: samples that one data-parallel rank takes at once; gradients are summed until
            the batch is whole.
        log_every: steps between printed lines.
        eval_every: steps between validations; 0 never validates.
        eval_samples: samples of one validation, at most; whole batches are taken.
        save_every: steps between checkpoints; 0 saves at the end only.
    """

    steps: int
    batch_size: int
    micro_batch: int
    log_every: int = 10
    eval_every: int = 100
    eval_samples: int = 256
    save_every: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "micro_batch", "log_every", "eval_samples"):
            _at_least(1, f"train.{name}", getattr(self, name))
        for name in ("eval_every", "save_every"):
            _at_least(0, f"train.{name}", getattr(self, name))

    def accumulate(self, dp: int) -> int:
        """Micro-batches that each of ``dp`` data-parallel ranks takes in one step."""
        rows = dp * self.micro_batch
        if self.batch_size % rows:
            raise UsageError(
                f"train.batch_size={self.batch_size} is not a multiple of dp={dp} times "
                f"train.micro_batch={self.micro_batch}.",
                hint=f"For example: --set train.batch_size={rows * -(-self.batch_size // rows)}",
            )
        return self.batch_size // rows


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A whole run.

    Attributes:
        model: ``name`` of a model, and those fields of its config that differ from the model's own.
            Without ``vocab``, the dataset's tokenizer decides it.
        data: which samples.
        optimizer: AdamW and its schedule.
        train: the loop.
    """

    model: Mapping[str, Any]
    data: DataSettings
    train: TrainSettings
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)

    def __post_init__(self) -> None:
        if not isinstance(self.model.get("name"), str):
            raise UsageError(
                "model.name is missing: it says which model is trained.",
                hint='For example, in the section [model]: name = "gpt2-small".',
            )


def _at_least(least: int, name: str, value: int) -> None:
    if value < least:
        raise UsageError(f"{name}={value} cannot be: it is at least {least}.")
