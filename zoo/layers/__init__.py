"""Layers written as plain mathematics for one card.

They name the axes of their parameters, and say at a few places what an activation is. Shapes are
in names: ``x_BTE`` has axes B (batch), T (positions), E (embed); others are H (heads), D (width of
a head), S (positions looked at), M (mlp), V (vocabulary).
"""

from __future__ import annotations

from zoo.layers.attention import CausalAttention
from zoo.layers.block import Block
from zoo.layers.dropout import Dropout
from zoo.layers.embedding import Embedding
from zoo.layers.layer import Layer, constant, initialise, normal
from zoo.layers.linear import Linear
from zoo.layers.loss import IGNORED, lm_loss
from zoo.layers.mlp import MLP
from zoo.layers.norm import LayerNorm

__all__ = [
    "IGNORED",
    "MLP",
    "Block",
    "CausalAttention",
    "Dropout",
    "Embedding",
    "Layer",
    "LayerNorm",
    "Linear",
    "constant",
    "initialise",
    "lm_loss",
    "normal",
]
