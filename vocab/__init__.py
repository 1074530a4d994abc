"""Public vocabularies: where they are, what they weigh, and that what arrived is what was meant."""

from __future__ import annotations
