"""Raw text to indexed, memory-mapped token datasets."""

from __future__ import annotations
