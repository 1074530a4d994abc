"""One process; the layouts over several are in tests/zoo/parallel."""

import numpy as np
import pytest

import zoo
from dataprep.errors import DataError, UsageError
from zoo.engine import (
    EvalStep,
    OptimizerSettings,
    ScheduleSettings,
    TrainStep,
    full_state,
    load_full_state,
)
from zoo.engine import name as engine

ONE = zoo.Mesh()
MODES = [False, pytest.param(True, marks=pytest.mark.oneflow)]
SETTINGS = OptimizerSettings(
    lr=1e-2, clip_norm=0.5, schedule=ScheduleSettings(max_steps=8, warmup_steps=2, min_lr=1e-3)
)


def test_loss_falls(tiny, batch):
    step = TrainStep(tiny(), SETTINGS, mesh=ONE)
    losses = [step(batch).loss for _ in range(8)]
    assert losses[0] == pytest.approx(np.log(61), rel=0.02)
    assert losses[-1] < losses[0] - 0.5


@pytest.mark.parametrize("graph", MODES)
def test_one_update_is_adamw(tiny, batch, graph):
    """Against AdamW in NumPy; with beta1 = 0 the first moment is the clipped gradient."""
    settings = OptimizerSettings(lr=1e-2, betas=(0.0, 0.9), weight_decay=0.5, clip_norm=0.5)
    model = tiny()
    step = TrainStep(model, settings, mesh=ONE, graph=graph)
    before = full_state(model)
    step(batch)
    after, moments = full_state(model), step.optimizer_state()
    gradients = {name: moments[f"{name}.m"] for name in before}
    norm = np.sqrt(sum(np.square(g, dtype=np.float64).sum() for g in gradients.values()))
    assert norm == pytest.approx(0.5, rel=1e-4)
    for name, gradient in gradients.items():
        squares = moments[f"{name}.v"]
        np.testing.assert_allclose(squares, 0.1 * gradient**2, rtol=1e-4, atol=1e-12)
        decay = 0.5 if gradient.ndim > 1 else 0.0
        moved = gradient / (np.sqrt(squares / 0.1) + 1e-8) + decay * before[name]
        np.testing.assert_allclose(after[name], before[name] - 1e-2 * moved, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("graph", MODES)
def test_accumulation_changes_nothing_but_rounding(tiny, batch, graph):
    once, twice = (
        TrainStep(tiny(), SETTINGS, mesh=ONE, accumulate=count, graph=graph) for count in (1, 2)
    )
    for _ in range(3):
        assert twice(batch).loss == pytest.approx(once(batch).loss, rel=1e-5)


def test_result_tells_norm_and_learning_rate(tiny, batch):
    loose, tight = (
        TrainStep(tiny(), OptimizerSettings(clip_norm=clip), mesh=ONE)(batch)
        for clip in (None, 1e-3)
    )
    assert loose.grad_norm == pytest.approx(tight.grad_norm)
    assert loose.grad_norm > 1e-3
    assert loose.lr == OptimizerSettings().lr


@pytest.mark.parametrize("graph", MODES)
def test_resuming_is_exact_to_the_bit(tiny, batch, graph):
    model = tiny()
    step = TrainStep(model, SETTINGS, mesh=ONE, graph=graph)
    for _ in range(3):
        step(batch)
    weights, moments = full_state(model), step.optimizer_state()
    straight = [step(batch) for _ in range(3)]

    model = tiny(seed=1)
    load_full_state(model, weights)
    step = TrainStep(model, SETTINGS, mesh=ONE, graph=graph)
    step.load_optimizer_state(moments)
    for name, array in step.optimizer_state().items():
        np.testing.assert_array_equal(array, moments[name])
    assert [step(batch) for _ in range(3)] == straight


@pytest.mark.oneflow
def test_eager_state_goes_on_as_a_graph(tiny, batch):
    models = tiny(), tiny()
    eager, graph = (
        TrainStep(model, SETTINGS, mesh=ONE, graph=mode)
        for model, mode in zip(models, (False, True), strict=True)
    )
    for _ in range(3):
        eager(batch)
    load_full_state(models[1], full_state(models[0]))
    graph.load_optimizer_state(eager.optimizer_state())
    for _ in range(3):
        one, other = eager(batch), graph(batch)
        assert (other.loss, other.lr) == (pytest.approx(one.loss, rel=1e-5), one.lr)


def test_a_new_optimizer_has_a_state(tiny):
    model = tiny()
    state = TrainStep(model, SETTINGS, mesh=ONE).optimizer_state()
    assert state.pop("step") == 0
    assert set(state) == {f"{name}.{moment}" for name in full_state(model) for moment in "mv"}
    assert not any(array.any() for array in state.values())


def test_wrong_states_are_told(tiny):
    model = tiny()
    step = TrainStep(model, SETTINGS, mesh=ONE)
    state = step.optimizer_state()
    with pytest.raises(DataError, match=r"missing: step; left over: steps"):
        step.load_optimizer_state(
            {"steps" if name == "step" else name: state[name] for name in state}
        )
    weights = full_state(model)
    with pytest.raises(DataError, match=r"left over: extra"):
        load_full_state(model, {**weights, "extra": weights["head.norm.bias"]})
    wrong = {**weights, "head.norm.bias": np.zeros(3, np.float32)}
    with pytest.raises(DataError, match=r"head\.norm\.bias has the shape \[32\] here, but \[3\]"):
        load_full_state(model, wrong)


@pytest.mark.parametrize("graph", MODES)
def test_evaluation_changes_nothing(tiny, batch, graph):
    model = tiny()
    before = full_state(model)
    evaluate = EvalStep(model, ONE, graph=graph)
    loss = evaluate(batch)
    assert loss == evaluate(batch)
    assert loss == pytest.approx(TrainStep(model, SETTINGS, mesh=ONE)(batch).loss, rel=1e-6)
    assert evaluate(batch) < loss  # it sees the update
    assert model.training
    assert before.keys() == full_state(model).keys()


def test_logits_are_those_of_the_loss(tiny, batch):
    evaluate = EvalStep(tiny(), ONE)
    logits = evaluate.logits(batch["tokens"]).astype(np.float64)
    assert logits.shape == (4, 16, 61)
    likelihood = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    picked = np.take_along_axis(likelihood, batch["labels"][..., None], -1)
    assert -picked.mean() == pytest.approx(evaluate(batch), rel=1e-5)


def test_a_mesh_of_other_size_is_told(tiny):
    with pytest.raises(UsageError, match=r"dp=2 · tp=1 · pp=1 needs 2 ranks, but this run has 1"):
        TrainStep(tiny(), SETTINGS, mesh=zoo.Mesh(dp=2))
    with pytest.raises(UsageError, match="needs 2 ranks"):
        zoo.parallelize(tiny(), zoo.Mesh(tp=2))


@pytest.mark.torch
def test_pytorch_tells_what_it_does_not_do(tiny, monkeypatch):
    assert engine == "torch"
    with pytest.raises(UsageError, match="PyTorch engine runs eagerly, not as a graph"):
        TrainStep(tiny(), SETTINGS, mesh=ONE, graph=True)
    for name, value in {
        "MASTER_ADDR": "x",
        "MASTER_PORT": "1",
        "WORLD_SIZE": "2",
        "RANK": "0",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="PyTorch engine runs one process, not Mesh"):
        zoo.parallelize(tiny(), zoo.Mesh(dp=2))
