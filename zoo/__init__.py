"""Models of plain blocks whose parallel layout is a table beside them."""

from __future__ import annotations
