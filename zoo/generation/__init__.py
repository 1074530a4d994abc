"""Text from a trained model."""

from __future__ import annotations

from zoo.generation.sampling import Sampler
from zoo.generation.text import Writer, load_writer

__all__ = ["Sampler", "Writer", "load_writer"]
