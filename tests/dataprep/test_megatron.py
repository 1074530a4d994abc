"""A dataset made here is read by Megatron-LM's own reader."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dataprep

# megatron.core imports Triton kernels, which its data layer does not need: bare packages in their
# place let the submodules be imported alone. It runs in a process of its own, since its reader
# unmaps memory that numpy still looks at.
SCRIPT = """
import importlib.util, os, sys, types, typing
typing.override = getattr(typing, "override", lambda function: function)
root = list(importlib.util.find_spec("megatron").submodule_search_locations)[0]
for name in ("megatron", "megatron.core"):
    module = types.ModuleType(name)
    module.__path__ = [os.path.join(os.path.dirname(root), *name.split("."))]
    sys.modules[name] = module
import megatron.core.parallel_state
from megatron.core.datasets.indexed_dataset import IndexedDataset
import numpy as np
dataset = IndexedDataset(sys.argv[1])
np.savez(
    sys.argv[2],
    lengths=dataset.sequence_lengths,
    documents=dataset.document_indices,
    tokens=np.concatenate([dataset[number] for number in range(len(dataset))]),
)
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("megatron") is None or importlib.util.find_spec("torch") is None,
    reason="needs megatron-core and torch, for a check against another reader",
)
def test_megatron_reads_the_same(corpus: Path, tmp_path: Path, tokenizer_file: Path) -> None:
    ours = dataprep.build(corpus, out=tmp_path / "d", tokenizer=tokenizer_file)
    script = tmp_path / "read.py"
    script.write_text(SCRIPT)
    subprocess.run(
        [sys.executable, "-W", "ignore", script, tmp_path / "d", tmp_path / "theirs.npz"],
        check=True,
        timeout=300,
    )
    theirs = np.load(tmp_path / "theirs.npz")
    assert np.array_equal(theirs["lengths"], ours.lengths)
    assert np.array_equal(theirs["documents"], ours.document_indices)
    assert theirs["tokens"].dtype == ours.dtype
    assert np.array_equal(theirs["tokens"], ours.tokens)
