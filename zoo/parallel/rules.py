"""The layout of every model: which axis is cut along which dimension of the mesh."""

from __future__ import annotations

from collections.abc import Sequence

from dataprep.errors import UsageError

__all__ = ["AXES", "check_axes", "mesh_dimension"]

# axis -> dimension of the mesh that cuts it; None: whole on every rank
AXES: dict[str, str | None] = {
    # of activations
    "batch": "dp",
    "seq": None,
    # Scores that the loss reads: cross-entropy over a cut axis takes four times as long on a CPU
    # as gathering them.
    "classes": None,
    # of parameters, and of activations between two of them
    "embed": None,
    "positions": None,
    "heads": "tp",
    "mlp": "tp",
    "vocab": "tp",
}


def check_axes(axes: Sequence[str], count: int) -> None:
    """Raises UsageError for an axis that has no layout, or for another number of axes than this."""
    for axis in axes:
        mesh_dimension(axis)
    if len(axes) != count:
        raise UsageError(f"A tensor of {count} axes cannot be laid out as ({', '.join(axes)}).")


def mesh_dimension(axis: str) -> str | None:
    """The mesh dimension that cuts this axis, or None; raises UsageError for an unknown axis."""
    if axis not in AXES:
        raise UsageError(
            f"No layout is known for the axis {axis!r}; known are {', '.join(AXES)}.",
            hint="Name one of them, or add the axis to zoo/parallel/rules.py.",
        )
    return AXES[axis]
