"""One optimizer step and one evaluation, in one process, eager."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import numpy as np
import torch
import torch.nn as nn
from torch import Tensor

from zoo.engine.arrays import Array, check_names
from zoo.engine.randomness import key_of, keyed
from zoo.engine.settings import OptimizerSettings, StepResult, micro_batches
from zoo.engine.torch.layout import check_supported
from zoo.engine.torch.state import full_tensor
from zoo.parallel.mesh import Mesh

__all__ = ["EvalStep", "TrainStep"]

# our name of a moment -> PyTorch's
MOMENTS = {"m": "exp_avg", "v": "exp_avg_sq"}


class TrainStep:
    """Gradients of a batch and one AdamW update of the model.

    Loss and gradients are the mean over micro-batches of their means over labels.

    Raises UsageError for a mesh of several ranks and for a graph.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: OptimizerSettings,
        *,
        mesh: Mesh,
        accumulate: int = 1,
        graph: bool = False,
    ) -> None:
        check_supported(mesh, graph)
        self.model = model
        self.settings = optimizer
        self.accumulate = accumulate
        self.step = 0
        self.parameters = dict(model.named_parameters())
        decayed = [p for p in self.parameters.values() if optimizer.decays(tuple(p.shape))]
        others = [p for p in self.parameters.values() if not optimizer.decays(tuple(p.shape))]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": decayed, "weight_decay": optimizer.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            betas=optimizer.betas,
            eps=optimizer.eps,
        )
        for parameter in self.parameters.values():
            zeros = {theirs: torch.zeros_like(parameter) for theirs in MOMENTS.values()}
            self.optimizer.state[parameter] = {"step": torch.tensor(0.0), **zeros}

    def __call__(self, batch: Mapping[str, Array]) -> StepResult:
        """One update; batch: {"tokens", "labels"} int64[accumulate · micro-batch, positions]."""
        loss = 0.0
        for number, (tokens, labels) in enumerate(micro_batches(batch, self.accumulate)):
            with keyed(key_of(self.step, number)):
                part = self.model(*_tensors(self.model, tokens, labels)) / self.accumulate
            part.backward()
            loss += part.item()
        limit = self.settings.clip_norm
        everything = float("inf") if limit is None else limit
        norm = nn.utils.clip_grad_norm_(self.parameters.values(), everything).item()
        lr = self.settings.lr_at(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        return StepResult(loss, norm, lr)

    def optimizer_state(self) -> dict[str, Array]:
        """Copies of "<parameter>.m", "<parameter>.v" and "step"."""
        state = {
            f"{name}.{ours}": full_tensor(self.optimizer.state[parameter][theirs])
            for name, parameter in self.parameters.items()
            for ours, theirs in MOMENTS.items()
        }
        return state | {"step": np.array(self.step)}

    def load_optimizer_state(self, state: Mapping[str, Array]) -> None:
        """Goes on where :meth:`optimizer_state` was taken.

        Raises DataError when names are missing or left over.
        """
        names = [f"{name}.{moment}" for name in self.parameters for moment in MOMENTS]
        check_names("the optimizer", [*names, "step"], state)
        self.step = int(state["step"])
        for name, parameter in self.parameters.items():
            held = self.optimizer.state[parameter]
            held["step"].fill_(float(self.step))
            for ours, theirs in MOMENTS.items():
                held[theirs].copy_(torch.from_numpy(np.array(state[f"{name}.{ours}"])))


class EvalStep:
    """The loss of a batch, without a change to the model."""

    def __init__(self, model: nn.Module, mesh: Mesh, graph: bool = False) -> None:
        check_supported(mesh, graph)
        self.model = model

    def __call__(self, batch: Mapping[str, Array]) -> float:
        """Mean loss over this batch, {"tokens", "labels"} int64[rows, positions]."""
        ((tokens, labels),) = micro_batches(batch, 1)
        with _evaluating(self.model):
            return float(self.model(*_tensors(self.model, tokens, labels)).item())

    def logits(self, tokens: Array) -> Array:
        """Scores float32[rows, positions, vocab] of the next token at each position.

        tokens is int64[rows, positions].
        """
        with _evaluating(self.model):
            return full_tensor(self.model(*_tensors(self.model, tokens)))


def _tensors(model: nn.Module, *arrays: Array) -> list[Tensor]:
    device = next(model.parameters()).device
    return [torch.from_numpy(np.array(array)).to(device) for array in arrays]


@contextlib.contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)
