"""Operations that say how a value is laid out, or whose best form differs between engines.

On one rank all tensors are local and the first two give back what they are given. On several, a
tensor is global: it lives on the [dp, tp] table of ranks of its pipeline stage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import oneflow as flow
import oneflow.nn.functional as F
from oneflow import Tensor

from zoo.engine.randomness import current_key
from zoo.parallel.rules import check_axes, mesh_dimension

__all__ = [
    "constrain",
    "layer_norm",
    "layout",
    "numbered",
    "replicated",
    "split_axis",
    "step_key",
    "weight",
]

DIMENSIONS = ("dp", "tp")  # of a stage's placement


def layout(
    placement: flow.placement, axes: Sequence[str], shape: Sequence[int]
) -> list[flow.sbp.sbp]:
    """How a tensor with these axes is cut on a stage, one entry a dimension of its placement.

    Uneven parts are fine, but for one case: with dp and tp both at work, a graph aborts on them
    (``slice_boxing_op.cpp:107 Check failed: in_i->shape().elem_cnt() == …``). There an axis that
    does not divide stays whole.
    """
    cuts = [mesh_dimension(axis) for axis in axes]
    degrees = placement.ranks.shape
    even_only = min(degrees) > 1

    def cut(name: str, degree: int) -> flow.sbp.sbp:
        # An axis cut into one part is left whole: OneFlow's split of one part takes slower kernels.
        if degree == 1 or name not in cuts:
            return flow.sbp.broadcast
        axis = cuts.index(name)
        if even_only and shape[axis] % degree:
            return flow.sbp.broadcast
        return flow.sbp.split(axis)

    return [cut(name, degree) for name, degree in zip(DIMENSIONS, degrees, strict=True)]


def split_axis(sbp: flow.sbp.sbp, axes: int) -> int | None:
    """The axis that is cut, or None; OneFlow's own type tells nothing but equality."""
    return next((axis for axis in range(axes) if sbp == flow.sbp.split(axis)), None)


def constrain(x: Tensor, *axes: str) -> Tensor:
    """Lays x out as its axes say, and its gradient likewise: sums over ranks happen here."""
    check_axes(axes, x.ndim)
    if x.is_local:
        return x
    sbp = layout(x.placement, axes, x.shape)
    return x.to_global(sbp=sbp, grad_sbp=sbp)


def weight(parameter: Tensor) -> Tensor:
    """A parameter, as every layer must use it.

    In a graph OneFlow 0.9.0 aborts when a parameter itself is sent to another process
    (``register.cpp:75 Check failed: separated_header_mem_ptr() == nullptr``); a copy may be sent.
    """
    if parameter.is_global and parameter.is_lazy:
        return flow._C.identity(parameter)
    return parameter


def replicated(like: Tensor, shape: tuple[int, ...], value: float) -> Tensor:
    """A tensor full of ``value``, of the type of ``like`` and beside it, whole on every rank."""
    # flow.full is a module inside, and warns of itself in a graph
    if like.is_local:
        return flow._C.constant(shape, value, dtype=like.dtype, device=like.device)
    sbp = [flow.sbp.broadcast for _ in DIMENSIONS]
    return flow._C.global_constant(
        shape, value, dtype=like.dtype, placement=like.placement, sbp=sbp
    )


def numbered(like: Tensor, shape: Sequence[int]) -> Tensor:
    """The numbers from 0 on as int64 of this shape, beside ``like``, whole on every rank."""
    count = math.prod(shape)
    if like.is_local:
        return flow._C.arange(0, count, 1, dtype=flow.int64, device=like.device).reshape(*shape)
    sbp = [flow.sbp.broadcast for _ in DIMENSIONS]
    numbers = flow._C.global_arange(
        0, count, 1, dtype=flow.int64, placement=like.placement, sbp=sbp
    )
    return numbers.reshape(*shape)


def step_key(like: Tensor) -> int | Tensor:
    """The key of the step under way, beside ``like``."""
    key = current_key()
    if isinstance(key, Tensor) and key.is_global:
        return key.to_global(placement=like.placement, sbp=[flow.sbp.broadcast for _ in DIMENSIONS])
    return key


def layer_norm(x: Tensor, factor: Tensor, offset: Tensor, eps: float) -> Tensor:
    """Normalises the last axis of x, then scales and shifts it."""
    if x.is_cuda:
        return F.layer_norm(x, (x.shape[-1],), factor, offset, eps)
    # On CPUs broadcasting [N, 1] over [N, E] is slow (73 ms where PyTorch takes 0.3 ms) and
    # F.layer_norm does it; a product with a row of ones is not. Measured: a whole training step
    # takes 2.2 s in this form, 3.1-3.5 s with F.layer_norm.
    ones = replicated(x, (1, x.shape[-1]), 1.0)
    centred = x - flow.matmul(x.mean(dim=-1, keepdim=True), ones)
    variance = (centred * centred).mean(dim=-1, keepdim=True)
    return centred * flow.matmul(flow.rsqrt(variance + eps), ones) * factor + offset
