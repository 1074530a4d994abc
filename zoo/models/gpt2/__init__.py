"""GPT-2."""

from __future__ import annotations

from zoo.models.gpt2.config import SIZES, GPT2Config
from zoo.models.gpt2.model import GPT2

__all__ = ["GPT2", "SIZES", "GPT2Config"]
