"""Whole models."""

from __future__ import annotations
