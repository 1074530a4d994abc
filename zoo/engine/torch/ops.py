"""Operations that say how a value is laid out, or whose best form differs between engines."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.parallel.rules import mesh_dimension

__all__ = ["constrain", "layer_norm", "replicated", "weight"]


def constrain(x: Tensor, *axes: str) -> Tensor:
    """x, whose axes must be known."""
    for axis in axes:
        mesh_dimension(axis)
    return x


def weight(parameter: Tensor) -> Tensor:
    """A parameter, as every layer must use it."""
    return parameter


def replicated(like: Tensor, shape: tuple[int, ...], value: float) -> Tensor:
    """A tensor full of ``value``, of the type of ``like`` and beside it."""
    return torch.full(shape, value, dtype=like.dtype, device=like.device)


def layer_norm(x: Tensor, factor: Tensor, offset: Tensor, eps: float) -> Tensor:
    """Normalises the last axis of x, then scales and shifts it."""
    return F.layer_norm(x, (x.shape[-1],), factor, offset, eps)
