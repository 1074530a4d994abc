"""An optimizer step compiled as a whole by ``nn.Graph``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import oneflow as flow
import oneflow.nn as nn
from oneflow import Tensor

from zoo.engine.arrays import Array
from zoo.engine.oneflow.inputs import ends, everywhere, rows, tensor_beside
from zoo.engine.randomness import key_of, keyed
from zoo.engine.settings import OptimizerSettings, StepResult, micro_batches

__all__ = ["EvalGraph", "GraphStep"]

_COUNTER = "System-Train-TrainStep"  # OneFlow's name of the number of steps done


class _AdamW(flow.optim.AdamW):
    """AdamW over one group, so that clipping sees all gradients, with decay on some of it."""

    def __init__(self, model: nn.Module, settings: OptimizerSettings) -> None:
        clip = {}
        if settings.clip_norm is not None:
            clip = {"clip_grad_max_norm": settings.clip_norm, "clip_grad_norm_type": 2.0}
        super().__init__(
            [{"params": list(model.parameters()), **clip}],
            lr=settings.lr,
            betas=settings.betas,
            eps=settings.eps,
            weight_decay=settings.weight_decay,
        )
        self.plain = [p for p in model.parameters() if not settings.decays(p.shape)]

    def _generate_conf_for_graph(self, train_conf: Any, vars_conf: Any) -> Any:
        confs = super()._generate_conf_for_graph(train_conf, vars_conf)
        names = [vars_conf[parameter].name for parameter in self.plain]
        confs[0].weight_decay_conf.excludes.pattern.extend(names)
        return confs


def _schedule(optimizer: flow.optim.Optimizer, settings: OptimizerSettings) -> Any:
    """The schedule of ``OptimizerSettings.lr_at`` in OneFlow's terms, or None for a constant."""
    schedule, schedulers = settings.schedule, flow.optim.lr_scheduler
    after: Any = optimizer
    if schedule.max_steps is not None:
        after = schedulers.CosineDecayLR(
            optimizer,
            decay_steps=schedule.max_steps - schedule.warmup_steps,
            alpha=schedule.min_lr / settings.lr,
        )
    if schedule.warmup_steps == 0:
        return None if after is optimizer else after
    return schedulers.WarmupLR(
        after,
        warmup_factor=1.0 / (schedule.warmup_steps + 1),
        warmup_iters=schedule.warmup_steps,
        warmup_method="linear",
        warmup_prefix=True,
    )


class _TrainGraph(nn.Graph):
    def __init__(self, model: nn.Module, settings: OptimizerSettings, accumulate: int) -> None:
        super().__init__()
        self.model = model
        optimizer = _AdamW(model, settings)
        schedule = _schedule(optimizer, settings)
        if schedule is None:
            self.add_optimizer(optimizer)
        else:
            self.add_optimizer(optimizer, lr_sch=schedule)
        first, last = ends(model)
        if first.is_global and first.placement != last.placement:
            self._name_stages()
        if accumulate > 1:
            self.config.set_gradient_accumulation_steps(accumulate)

    def _name_stages(self) -> None:
        """Tells the compiler the stages, so that it keeps buffers for micro-batches under way."""
        # Without it, compiling dp·tp·pp for micro-batches of dp rows aborts (shape.cpp:30 under
        # BoxingCollector).
        os.environ.setdefault("ONEFLOW_BOXING_DISABLE_MIDDLE_NODE_AND_CHECK", "1")
        units = self.model.to(nn.Module).units()
        homes = {unit: next(unit.parameters()).placement for unit in units}
        placements = list(dict.fromkeys(homes.values()))
        for block in self.model.modules():
            unit = block.to(nn.Module)
            if unit in homes:
                home = homes[unit]
                block.to(nn.graph.GraphModule).set_stage(placements.index(home), home)

    def build(self, tokens: Tensor, labels: Tensor, key: Tensor) -> Tensor:
        with keyed(key):
            loss = self.model(tokens, labels)
        loss.backward()
        return loss


class EvalGraph(nn.Graph):
    """The loss alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def build(self, tokens: Tensor, labels: Tensor) -> Tensor:
        """The loss of these rows."""
        return self.model(tokens, labels)


class GraphStep:
    """See TrainStep."""

    def __init__(self, model: nn.Module, settings: OptimizerSettings, accumulate: int) -> None:
        self.model = model
        self.settings = settings
        self.accumulate = accumulate
        self.step = 0
        self.first, self.last = ends(model)
        self.graph = _TrainGraph(model, settings, accumulate)

    def __call__(self, batch: Mapping[str, Array]) -> StepResult:
        """One update with this rank's rows."""
        micro_batches(batch, self.accumulate)  # checks; the graph cuts by itself
        tokens, labels = rows(batch["tokens"], self.first), rows(batch["labels"], self.last)
        keys = np.array([key_of(self.step, number) for number in range(self.accumulate)])
        key = tensor_beside(keys, self.first)
        loss = everywhere(self.graph(tokens, labels, key).mean())
        # The loss is there before the update is done, and others read the parameters.
        flow._oneflow_internal.eager.Sync()
        lr = self.settings.lr_at(self.step)
        self.step += 1
        return StepResult(loss, None, lr)

    def moments(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Parameter name -> first and second moment, laid out as the parameter."""
        states = self.graph.state_dict()
        parameters = self.model.named_parameters()
        if _COUNTER not in states:  # before the first step
            return {name: (flow.zeros_like(p), flow.zeros_like(p)) for name, p in parameters}
        return {
            name: (states[f"model.{name}-m"], states[f"model.{name}-v"]) for name, _ in parameters
        }

    def load(self, step: int, moments: Mapping[str, tuple[Tensor, Tensor]]) -> None:
        """Goes on after ``step`` steps with these moments."""
        self.step = step
        counter = flow.tensor([step], dtype=flow.int64)
        if self.first.is_global:
            counter = counter.to_global(flow.placement("cpu", [0]), flow.sbp.broadcast)
        # Only a graph that has not run yet takes a state.
        self.graph = _TrainGraph(self.model, self.settings, self.accumulate)
        pairs = {
            f"model.{name}-{which}": tensor
            for name, both in moments.items()
            for which, tensor in zip("mv", both, strict=True)
        }
        self.graph.load_state_dict({**pairs, _COUNTER: counter})
