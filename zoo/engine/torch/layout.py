"""Lays a plain model out over a mesh of one."""

from __future__ import annotations

import torch.nn as nn

from dataprep.errors import UsageError
from zoo.engine.ranks import world_size
from zoo.parallel.mesh import Mesh

__all__ = ["check_supported", "parallelize"]


def check_supported(mesh: Mesh, graph: bool = False) -> None:
    """Raises UsageError for what this engine does not do."""
    mesh.check(world_size())
    hint = "OneFlow does both: use CPython 3.10 with pip install 'jimu[zoo]'."
    if mesh.size > 1:
        raise UsageError(f"The PyTorch engine runs one process, not {mesh}.", hint=hint)
    if graph:
        raise UsageError("The PyTorch engine runs eagerly, not as a graph.", hint=hint)


def parallelize(model: nn.Module, mesh: Mesh) -> nn.Module:
    """The model itself; raises UsageError for a mesh of several ranks."""
    check_supported(mesh)
    return model
