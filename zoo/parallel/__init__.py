"""How a model of plain layers is laid out over many ranks."""

from __future__ import annotations

from zoo.parallel.mesh import Mesh

__all__ = ["Mesh"]
