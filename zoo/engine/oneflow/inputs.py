"""What goes into a model and comes out of it: plain arrays and numbers outside, tensors inside."""

from __future__ import annotations

import numpy as np
import oneflow as flow
import oneflow.nn as nn
from oneflow import Tensor

from dataprep.errors import UsageError
from zoo.engine.arrays import Array
from zoo.engine.oneflow.ops import layout, split_axis
from zoo.engine.ranks import world_size
from zoo.parallel.mesh import Mesh

__all__ = [
    "check_laid_out",
    "counts_once",
    "ends",
    "everywhere",
    "rows",
    "tensor_beside",
    "total",
]


def ends(model: nn.Module) -> tuple[Tensor, Tensor]:
    """A parameter of the first and one of the last unit: the tokens go where the first lives, the
    labels where the last does.
    """
    units = model.units()
    return next(units[0].parameters()), next(units[-1].parameters())


def check_laid_out(model: nn.Module, mesh: Mesh) -> None:
    """Raises UsageError unless the model is laid out over exactly this mesh and this run."""
    mesh.check(world_size())
    first, last = ends(model)
    if mesh.size == 1:
        fits = first.is_local
    else:
        fits = first.is_global and all(
            end.placement.ranks.tolist() == mesh.stage_ranks(stage)
            for end, stage in ((first, 0), (last, mesh.pp - 1))
        )
    if not fits:
        raise UsageError(
            f"The model is not laid out over {mesh}.",
            hint="Call zoo.parallelize(model, mesh) with the same mesh first.",
        )


def rows(array: Array, like: Tensor) -> Tensor:
    """This rank's rows of a batch, beside the parameter ``like``."""
    if like.is_local:
        return flow.tensor(array, device=like.device)
    dp = like.placement.ranks.shape[0]
    sbp = layout(like.placement, ("batch", "seq"), (dp * len(array), array.shape[1]))
    # All ranks have as many rows; letting OneFlow make sure costs a message between them.
    return flow.tensor(array).to_global(placement=like.placement, sbp=sbp, check_meta=False)


def tensor_beside(array: Array, like: Tensor) -> Tensor:
    """An array that all ranks have alike, beside the parameter ``like``, whole on every rank."""
    if like.is_local:
        return flow.tensor(array, device=like.device)
    sbp = [flow.sbp.broadcast for _ in like.sbp]
    return flow.tensor(array).to_global(placement=like.placement, sbp=sbp, check_meta=False)


def everywhere(scalar: Tensor) -> float:
    """The value of a scalar, on all ranks."""
    if scalar.is_global:
        everyone = flow.placement.all(scalar.placement.type)
        scalar = scalar.to_global(placement=everyone, sbp=flow.sbp.broadcast).to_local()
    return float(scalar.item())


def total(share: Tensor, like: Tensor) -> float:
    """The sum over all ranks of each rank's local scalar."""
    if like.is_local:
        return float(share.item())
    everyone = flow.placement.all(like.placement.type)
    shares = share.to_global(placement=everyone, sbp=flow.sbp.partial_sum, check_meta=False)
    return everywhere(shares)


def counts_once(parameter: Tensor, rank_: int) -> bool:
    """Whether this rank is the one that accounts for its part of a global parameter.

    Parts that several ranks hold alike belong to the first of them.
    """
    place = np.argwhere(parameter.placement.ranks == rank_)
    return len(place) > 0 and all(
        at == 0 or split_axis(sbp, parameter.ndim) is not None
        for sbp, at in zip(parameter.sbp, place[0], strict=True)
    )
