import math

import numpy as np
import pytest

from dataprep.errors import UsageError
from zoo.engine.settings import OptimizerSettings, ScheduleSettings, micro_batches


def test_schedule_warms_up_then_follows_a_cosine():
    schedule = ScheduleSettings(max_steps=14, warmup_steps=4, min_lr=0.2)
    settings = OptimizerSettings(lr=1.0, schedule=schedule)
    assert [settings.lr_at(step) for step in range(5)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert settings.lr_at(9) == pytest.approx(0.6)  # half of the way from 1 to 0.2
    assert settings.lr_at(13) == pytest.approx(0.2 + 0.8 * 0.5 * (1 + math.cos(0.9 * math.pi)))
    assert settings.lr_at(14) == settings.lr_at(1000) == pytest.approx(0.2)


def test_schedule_without_an_end_keeps_the_peak():
    settings = OptimizerSettings(lr=1.0, schedule=ScheduleSettings(warmup_steps=1))
    assert [settings.lr_at(step) for step in (0, 1, 10**6)] == [0.5, 1.0, 1.0]


def test_decay_is_for_matrices():
    settings = OptimizerSettings()
    assert settings.decays((2, 3))
    assert not settings.decays((3,))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: OptimizerSettings(lr=0), r"lr=0 cannot be: it must be positive"),
        (lambda: OptimizerSettings(betas=(0.9, 1.0)), r"betas=\(0.9, 1.0\) cannot be"),
        (lambda: OptimizerSettings(eps=0), r"eps=0 cannot be"),
        (lambda: OptimizerSettings(weight_decay=-1), r"weight_decay=-1 cannot be"),
        (lambda: OptimizerSettings(clip_norm=0.0), r"clip_norm=0.0 cannot be"),
        (
            lambda: OptimizerSettings(lr=0.1, schedule=ScheduleSettings(min_lr=0.2)),
            r"min_lr=0.2 cannot be: it must not exceed lr=0.1",
        ),
        (lambda: ScheduleSettings(warmup_steps=-1), r"warmup_steps=-1 cannot be"),
        (
            lambda: ScheduleSettings(max_steps=5, warmup_steps=5),
            r"max_steps=5 cannot be: it must exceed warmup_steps=5",
        ),
        (lambda: ScheduleSettings(min_lr=-0.1), r"min_lr=-0.1 cannot be"),
    ],
)
def test_settings_that_cannot_be_are_told(build, message):
    with pytest.raises(UsageError, match=message):
        build()


def test_batches_are_cut_in_order():
    ids = np.arange(12).reshape(4, 3)
    parts = micro_batches({"tokens": ids, "labels": ids + 1}, 2)
    assert [tokens.tolist() for tokens, _ in parts] == [ids[:2].tolist(), ids[2:].tolist()]
    assert all((labels == tokens + 1).all() for tokens, labels in parts)
    assert parts[0][0].dtype == np.int64


def test_batches_that_cannot_be_cut_are_told():
    ids = np.zeros((4, 3), np.int64)
    with pytest.raises(UsageError, match="batch of 4 rows a rank cannot be cut into 3"):
        micro_batches({"tokens": ids, "labels": ids}, 3)
    with pytest.raises(UsageError, match="accumulate=0 cannot be: it is at least 1"):
        micro_batches({"tokens": ids, "labels": ids}, 0)
    with pytest.raises(UsageError, match=r"not \[4, 3\] and \[4, 2\]"):
        micro_batches({"tokens": ids, "labels": ids[:, 1:]}, 1)
