"""Training samples: views over token datasets, found by arithmetic, with nothing to build first.

``CausalSamples`` says which tokens a sample holds, ``Order`` in which order an endless run meets
the samples, ``split_documents`` which documents a run may train on, ``Loader`` which rows one
data-parallel rank takes, and ``open_samples`` gives the samples of a dataset on disk. The state of
a run is one integer: how many samples it has consumed.
"""

from __future__ import annotations

from dataprep.samples.causal import CausalSamples
from dataprep.samples.loader import Loader
from dataprep.samples.order import Order
from dataprep.samples.permutation import Permutation
from dataprep.samples.split import split_documents
from dataprep.samples.views import DocumentOffsets, open_samples

__all__ = [
    "CausalSamples",
    "DocumentOffsets",
    "Loader",
    "Order",
    "Permutation",
    "open_samples",
    "split_documents",
]
