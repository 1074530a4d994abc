"""Command lines of the zoo."""

from __future__ import annotations
