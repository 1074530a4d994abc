"""Lays a plain model out over a mesh."""

from __future__ import annotations

import oneflow.nn as nn

from dataprep.errors import UsageError
from zoo.engine.ranks import world_size
from zoo.parallel.mesh import Mesh

__all__ = ["parallelize"]


def parallelize(model: nn.Module, mesh: Mesh) -> nn.Module:
    """Lays the model out over the mesh, in place; gives it back."""
    mesh.check(world_size())
    if mesh.size > 1:
        raise UsageError("not yet")
    return model
