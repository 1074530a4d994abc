"""Training samples: views over token datasets, found by arithmetic, with nothing to build first.

``open_samples`` gives the samples of a dataset on disk, of one of the kinds of ``objectives``, each
a pure function of windows of tokens. ``Order`` says in which order an endless run meets them,
``split_documents`` which documents a run may train on, ``Blend`` mixes several datasets, ``Loader``
gives one data-parallel rank its rows. The state of a run is one integer: how many samples it has
consumed.
"""

from __future__ import annotations

from dataprep.samples.blend import Blend
from dataprep.samples.causal import CausalSamples
from dataprep.samples.documents import DocumentOffsets
from dataprep.samples.loader import Loader
from dataprep.samples.order import BlockOrder, Order
from dataprep.samples.pack import PackedSamples
from dataprep.samples.permutation import Permutation
from dataprep.samples.protocol import Samples
from dataprep.samples.split import split_documents
from dataprep.samples.view import WindowSamples
from dataprep.samples.views import open_samples
from dataprep.samples.windows import Windows

__all__ = [
    "Blend",
    "BlockOrder",
    "CausalSamples",
    "DocumentOffsets",
    "Loader",
    "Order",
    "PackedSamples",
    "Permutation",
    "Samples",
    "WindowSamples",
    "Windows",
    "open_samples",
    "split_documents",
]
