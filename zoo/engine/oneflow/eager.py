"""An optimizer step, operation by operation."""

from __future__ import annotations

import math
from collections.abc import Mapping

import oneflow as flow
import oneflow.nn as nn
from oneflow import Tensor

from zoo.engine.arrays import Array
from zoo.engine.oneflow.inputs import counts_once, ends, everywhere, rows, total
from zoo.engine.randomness import key_of, keyed
from zoo.engine.ranks import rank
from zoo.engine.settings import OptimizerSettings, StepResult, micro_batches

__all__ = ["EagerStep"]


class EagerStep:
    """See TrainStep."""

    def __init__(self, model: nn.Module, settings: OptimizerSettings, accumulate: int) -> None:
        self.model = model
        self.settings = settings
        self.accumulate = accumulate
        self.step = 0
        self.first, self.last = ends(model)
        parameters = dict(model.named_parameters())
        decayed = {name: p for name, p in parameters.items() if settings.decays(p.shape)}
        others = {name: p for name, p in parameters.items() if name not in decayed}
        self.parameters: dict[str, Tensor] = decayed | others  # the optimizer's order
        self.optimizer = flow.optim.AdamW(
            [
                {"params": list(decayed.values()), "weight_decay": settings.weight_decay},
                {"params": list(others.values()), "weight_decay": 0.0},
            ],
            betas=settings.betas,
            eps=settings.eps,
        )
        zeros = {name: (flow.zeros_like(p), flow.zeros_like(p)) for name, p in parameters.items()}
        self._set_moments(zeros)

    def __call__(self, batch: Mapping[str, Array]) -> StepResult:
        """One update with this rank's rows."""
        losses = []
        for number, (tokens, labels) in enumerate(micro_batches(batch, self.accumulate)):
            with keyed(key_of(self.step, number)):
                part = self.model(rows(tokens, self.first), rows(labels, self.last))
            part = part / self.accumulate
            part.backward()  # gradients of the rows of all ranks are added up here
            losses.append(part.detach())
        norm = self._clip()
        lr = self.settings.lr_at(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return StepResult(everywhere(sum(losses)), norm, lr)

    def _clip(self) -> float:
        """Scales all gradients down to the largest allowed norm; gives the norm before."""
        squares = flow.zeros(())
        for parameter in self.parameters.values():
            gradient = parameter.grad
            if parameter.is_global:
                if not counts_once(parameter, rank()):
                    continue
                gradient = gradient.to_local()
            squares = squares + (gradient * gradient).sum()
        norm = math.sqrt(total(squares, self.first))
        limit = self.settings.clip_norm
        if limit is not None and norm > limit:
            for parameter in self.parameters.values():
                parameter.grad.mul_(limit / (norm + 1e-6))
        return norm

    def moments(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Parameter name -> first and second moment, laid out as the parameter."""
        states = self.optimizer.state_dict()["state"]
        return {
            name: (states[number]["exp_avg"], states[number]["exp_avg_sq"])
            for number, name in enumerate(self.parameters)
        }

    def _set_moments(self, moments: Mapping[str, tuple[Tensor, Tensor]]) -> None:
        state = self.optimizer.state_dict()
        state["state"] = {
            number: {"exp_avg": moments[name][0], "exp_avg_sq": moments[name][1]}
            for number, name in enumerate(self.parameters)
        } | {"step": self.step}
        self.optimizer.load_state_dict(state)

    def load(self, step: int, moments: Mapping[str, tuple[Tensor, Tensor]]) -> None:
        """Goes on after ``step`` steps with these moments."""
        self.step = step
        self._set_moments(moments)
