"""The loss curves of a run as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["draw_picture"]


def draw_picture(path: Path, metrics: Sequence[Mapping[str, Any]], *, title: str) -> None:
    """Writes training and validation loss over the steps to ``path``, whose ending says the form.

    Needs no display. ``metrics`` are the lines of a metrics file.
    """
    # matplotlib's object interface: pyplot would choose a backend and keep the figure alive.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for key, label, style in (("loss", "training", "-"), ("validation_loss", "validation", "o-")):
        points = [(line["step"], line[key]) for line in metrics if key in line]
        if points:
            axes.plot(*zip(*points, strict=True), style, label=label, linewidth=1, markersize=4)
    axes.set(title=title, xlabel="step", ylabel="loss (nats per token)")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
