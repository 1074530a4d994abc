"""Operations that say how a value is laid out, or whose best form differs between engines."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.engine.randomness import current_key
from zoo.parallel.rules import check_axes

__all__ = ["constrain", "layer_norm", "numbered", "replicated", "step_key", "weight"]


def constrain(x: Tensor, *axes: str) -> Tensor:
    """x, whose axes must be known."""
    check_axes(axes, x.ndim)
    return x


def weight(parameter: Tensor) -> Tensor:
    """A parameter, as every layer must use it."""
    return parameter


def replicated(like: Tensor, shape: tuple[int, ...], value: float) -> Tensor:
    """A tensor full of ``value``, of the type of ``like`` and beside it."""
    return torch.full(shape, value, dtype=like.dtype, device=like.device)


def numbered(like: Tensor, shape: Sequence[int]) -> Tensor:
    """The numbers from 0 on as int64 of this shape, beside ``like``."""
    return torch.arange(math.prod(shape), device=like.device).reshape(*shape)


def step_key(_like: Tensor) -> int:
    """The key of the step under way."""
    key: int = current_key()
    return key


def layer_norm(x: Tensor, factor: Tensor, offset: Tensor, eps: float) -> Tensor:
    """Normalises the last axis of x, then scales and shifts it."""
    return F.layer_norm(x, (x.shape[-1],), factor, offset, eps)
