"""The loss of a language model."""

from __future__ import annotations

from zoo.engine import F, Tensor, constrain

__all__ = ["IGNORED", "lm_loss"]

IGNORED = -100  # a label that does not count


def lm_loss(logits_BTV: Tensor, labels_BT: Tensor) -> Tensor:
    """Mean cross-entropy in nats over the labels that are not IGNORED, a scalar."""
    logits_BTV = constrain(logits_BTV, "batch", "seq", "classes")
    V = logits_BTV.shape[-1]
    return F.cross_entropy(logits_BTV.reshape(-1, V), labels_BT.reshape(-1), ignore_index=IGNORED)
