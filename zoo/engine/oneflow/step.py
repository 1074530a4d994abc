"""One optimizer step and one evaluation, under any layout, eager or as a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import numpy as np
import oneflow as flow
import oneflow.nn as nn

from zoo.engine.arrays import Array, check_names
from zoo.engine.oneflow.eager import EagerStep
from zoo.engine.oneflow.graph import EvalGraph, GraphStep
from zoo.engine.oneflow.inputs import check_laid_out, ends, everywhere, rows
from zoo.engine.oneflow.state import full_tensor, tensor_like
from zoo.engine.settings import OptimizerSettings, StepResult, micro_batches
from zoo.parallel.mesh import Mesh

__all__ = ["EvalStep", "TrainStep"]


class TrainStep:
    """Gradients of a batch and one AdamW update of the model.

    Loss and gradients are the mean over micro-batches of their means over labels. Results are the
    same, up to rounding, under every layout, eager or as a graph. All methods are collective.

    Raises UsageError for a mesh that is not the run's or not the model's.
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
        check_laid_out(model, mesh)
        self._parameters = dict(model.named_parameters())
        step = GraphStep if graph else EagerStep
        self._step = step(model, optimizer, accumulate)

    def __call__(self, batch: Mapping[str, Array]) -> StepResult:
        """One update with this data-parallel rank's rows; the answer is the same on all ranks.

        batch: {"tokens", "labels"}, each int64[accumulate · micro-batch, positions].
        """
        return self._step(batch)

    def optimizer_state(self) -> dict[str, Array]:
        """Whole "<parameter>.m", "<parameter>.v" and "step", whatever the layout.

        Rank 0 gets them, the other ranks an empty dictionary.
        """
        whole = {
            f"{name}.{moment}": full_tensor(tensor)
            for name, tensors in self._step.moments().items()
            for moment, tensor in zip("mv", tensors, strict=True)
        }
        state = {name: array for name, array in whole.items() if array is not None}
        return state | {"step": np.array(self._step.step)} if state else {}

    def load_optimizer_state(self, state: Mapping[str, Array]) -> None:
        """Goes on where :meth:`optimizer_state` was taken; every rank gives the whole of it.

        Raises DataError when names are missing or left over.
        """
        names = [f"{name}.{moment}" for name in self._parameters for moment in "mv"]
        check_names("the optimizer", [*names, "step"], state)
        moments = {
            name: (
                tensor_like(state[f"{name}.m"], parameter),
                tensor_like(state[f"{name}.v"], parameter),
            )
            for name, parameter in self._parameters.items()
        }
        self._step.load(int(state["step"]), moments)


@contextlib.contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    was_training = model.training
    model.eval()
    try:
        with flow.no_grad():
            yield
    finally:
        model.train(was_training)


class EvalStep:
    """The loss of a batch, without a change to the model."""

    def __init__(self, model: nn.Module, mesh: Mesh, graph: bool = False) -> None:
        check_laid_out(model, mesh)
        self._model = model
        self._loss = EvalGraph(model) if graph else model
        self._first, self._last = ends(model)

    def __call__(self, batch: Mapping[str, Array]) -> float:
        """Mean loss over this batch, {"tokens", "labels"} int64[rows, positions], on all ranks."""
        ((tokens, labels),) = micro_batches(batch, 1)
        with _evaluating(self._model):
            return everywhere(self._loss(rows(tokens, self._first), rows(labels, self._last)))

    def logits(self, tokens: Array) -> Array:
        """Scores float32[rows, positions, vocab] of the next token at each position.

        tokens is int64[rows, positions]. For generation, in a run of one process.
        """
        with _evaluating(self._model):
            scores: Array = self._model(rows(tokens, self._first)).numpy()
        return scores
