from __future__ import annotations

import numpy as np
import pytest

from dataprep.errors import UsageError
from dataprep.samples import CausalSamples, Loader

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch.utils.data import DataLoader  # noqa: E402

from dataprep.samples.torch_data import SampleDataset, SampleStream  # noqa: E402

SAMPLES = CausalSamples(np.arange(400, dtype=np.int32), seq_len=9, seed=11)  # 44 an epoch


@pytest.mark.parametrize("workers", [0, 2])
def test_map_style(workers: int) -> None:
    loader = DataLoader(SampleDataset(SAMPLES, first=10), batch_size=8, num_workers=workers)
    batches = list(loader)
    assert len(batches) == 6
    assert batches[0]["tokens"].dtype == torch.int64
    expected = SAMPLES.batch(10 + np.arange(44))
    for name, array in expected.items():
        assert np.array_equal(torch.cat([b[name] for b in batches]).numpy(), array)


def test_map_style_one_by_one() -> None:
    dataset = SampleDataset(SAMPLES, first=3, n=5)
    assert len(dataset) == 5
    for i in range(5):
        assert np.array_equal(dataset[i]["tokens"], SAMPLES[3 + i]["tokens"])
    with pytest.raises(IndexError, match="sample 5 of 5"):
        dataset[5]
    with pytest.raises(IndexError, match="samples 0 to 5 of 5"):
        dataset.__getitems__([0, 5])


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_a_stream_is_what_the_loader_gives_and_resumes(workers: int) -> None:
    expected = Loader(SAMPLES, batch_size=12, rank=1, ranks=2)
    stream = SampleStream(SAMPLES, batch_size=12, rank=1, ranks=2)
    batches = iter(DataLoader(stream, batch_size=None, num_workers=workers))
    for _ in range(7):
        batch, wanted = next(batches), next(expected)
        assert np.array_equal(batch["tokens"].numpy(), wanted["tokens"])
        assert int(batch["consumed"]) == expected.consumed
    # On under other ranks and workers, whatever had been read ahead.
    parts = []
    for rank in range(3):
        stream = SampleStream(
            SAMPLES, batch_size=12, rank=rank, ranks=3, consumed=int(batch["consumed"])
        )
        loader = DataLoader(stream, batch_size=None, num_workers=2 - rank)
        parts.append(next(iter(loader))["tokens"])
    whole = next(Loader(SAMPLES, batch_size=12, consumed=84))
    assert np.array_equal(torch.cat(parts).numpy(), whole["tokens"])


def test_what_cannot_be_shared_is_told_before_workers_start() -> None:
    with pytest.raises(UsageError, match="batch of 10 samples cannot be shared"):
        SampleStream(SAMPLES, batch_size=10, ranks=4)
