import math

import numpy as np
import pytest

from dataprep.errors import UsageError
from zoo.engine import F, flow, load_full_state, nn
from zoo.engine.randomness import PRIME, key_of, keyed
from zoo.layers import (
    IGNORED,
    MLP,
    Block,
    CausalAttention,
    Dropout,
    Embedding,
    Layer,
    LayerNorm,
    Linear,
    constant,
    initialise,
    lm_loss,
    normal,
)


def rand(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def filled(layer):
    """The layer with weights without a zero or a one, and they."""
    state = {name: rand(*p.shape) for name, p in layer.named_parameters()}
    load_full_state(layer, state)
    return layer, state


def close(given, expected):
    np.testing.assert_allclose(given.detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_linear_is_a_product_and_a_sum():
    layer, state = filled(Linear(("embed", 3), ("mlp", 5), std=1.0))
    x = rand(2, 4, 3)
    close(layer(flow.tensor(x)), x @ state["weight"].T + state["bias"])
    assert layer.axes == {"weight": ("mlp", "embed"), "bias": ("mlp",)}


def test_layer_norm_is_the_textbook_one_with_its_gradients():
    layer, state = filled(LayerNorm(6, eps=0.1))
    x = rand(2, 3, 6) + 2
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    given = flow.tensor(x, requires_grad=True)
    close(layer(given), (x - mean) / np.sqrt(variance + 0.1) * state["weight"] + state["bias"])
    reference = flow.tensor(x, requires_grad=True)
    parameters = [flow.tensor(state[name], requires_grad=True) for name in ("weight", "bias")]
    weights = flow.tensor(rand(2, 3, 6))
    (layer(given) * weights).sum().backward()
    (F.layer_norm(reference, (6,), *parameters, 0.1) * weights).sum().backward()
    close(given.grad, reference.grad.numpy())
    close(layer.weight.grad, parameters[0].grad.numpy())
    close(layer.bias.grad, parameters[1].grad.numpy())


def test_embedding_adds_positions_and_gives_its_table():
    layer, state = filled(Embedding(vocab=7, positions=5, embed=3, std=1.0, dropout=0.0))
    tokens = np.array([[1, 6, 0, 1]])
    x, table = layer(flow.tensor(tokens))
    close(x, state["tokens"][tokens] + state["positions"][:4])
    close(table, state["tokens"])
    with pytest.raises(UsageError, match="sequence of 6 tokens is longer than positions=5"):
        layer(flow.tensor(np.zeros((1, 6), np.int64)))


def test_attention_is_the_textbook_one():
    layer, state = filled(CausalAttention(embed=6, heads=2, std=1.0, out_std=1.0, dropout=0.0))
    x = rand(2, 5, 6)
    rows = (x @ state["qkv.weight"].T + state["qkv.bias"]).reshape(2, 5, 2, 3, 3)
    mixed = np.zeros((2, 5, 2, 3), np.float32)
    for b, t, h in np.ndindex(2, 5, 2):
        scores = rows[b, : t + 1, h, 1] @ rows[b, t, h, 0] / math.sqrt(3)
        shares = np.exp(scores - scores.max())
        mixed[b, t, h] = shares / shares.sum() @ rows[b, : t + 1, h, 2]
    expected = mixed.reshape(2, 5, 6) @ state["out.weight"].T + state["out.bias"]
    close(layer(flow.tensor(x)), expected)


def test_no_position_sees_a_later_one():
    layer, _ = filled(Block(embed=6, heads=2, mlp=8, std=1.0, out_std=1.0, eps=1e-5, dropout=0.0))
    x = rand(1, 5, 6)
    changed = x.copy()
    changed[:, 3:] += 1
    before, after = (layer(flow.tensor(each)).detach().numpy() for each in (x, changed))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert np.abs(before[:, 3:] - after[:, 3:]).min() > 0


def test_mlp_bends_by_gelu():
    layer, state = filled(MLP(embed=3, mlp=5, std=1.0, out_std=1.0, dropout=0.0))
    x = rand(1, 4, 3)
    up = x @ state["up.weight"].T + state["up.bias"]
    bent = 0.5 * up * (1 + np.tanh(math.sqrt(2 / math.pi) * (up + 0.044715 * up**3)))
    close(layer(flow.tensor(x)), bent @ state["down.weight"].T + state["down.bias"])


def test_loss_leaves_ignored_labels_out():
    logits = rand(2, 3, 5)
    labels = np.array([[0, IGNORED, 4], [IGNORED, IGNORED, 2]])
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    expected = -np.mean([np.log(shares[0, 0, 0]), np.log(shares[0, 2, 4]), np.log(shares[1, 2, 2])])
    close(lm_loss(flow.tensor(logits), flow.tensor(labels)), expected)


class Pair(nn.Module):
    def __init__(self, order):
        super().__init__()
        for name in order:
            setattr(self, name, Linear(("embed", 4), ("mlp", 300), std=0.5))


def first_values(order, seed):
    model = Pair(order)
    initialise(model, seed)
    return {name: p.detach().numpy().copy() for name, p in model.named_parameters()}


def test_first_values_follow_from_seed_and_name_alone():
    values = first_values(["a", "b"], seed=3)
    for name, array in first_values(["b", "a"], seed=3).items():
        np.testing.assert_array_equal(array, values[name])
    assert (values["a.weight"] != values["b.weight"]).all()
    assert (values["a.weight"] != first_values(["a"], seed=4)["a.weight"]).all()
    assert values["a.weight"].std() == pytest.approx(0.5, rel=0.1)
    assert not values["a.bias"].any()


def test_first_values_are_the_same_on_every_engine_and_version():
    """A change here would change every model's start."""

    class One(Layer):
        def __init__(self):
            super().__init__()
            self.parameter("weight", normal(1.0), embed=3)
            self.parameter("offset", constant(2.0), embed=2)

    model = One()
    initialise(model, 0)
    given = model.weight.detach().numpy()
    assert given.tolist() == [3.4798851013183594, 1.6591510772705078, -0.02305646799504757]
    assert model.offset.detach().numpy().tolist() == [2.0, 2.0]


def kept(layer, shape, key):
    with keyed(key):
        return layer(flow.ones(*shape), "batch", "seq", "embed").numpy()


def test_dropout_zeroes_its_share_and_scales_the_rest():
    layer = Dropout(0.25)
    layer.site = key_of("here")
    given = kept(layer, (40, 50, 60), key_of(1))
    assert set(np.unique(given)) == {np.float32(0), np.float32(4 / 3)}
    assert (given == 0).mean() == pytest.approx(0.25, abs=0.005)
    # neighbours along any axis are independent
    for axis in range(3):
        a, b = (np.delete(given, at, axis) == 0 for at in (0, -1))
        assert (a & b).mean() == pytest.approx(0.0625, abs=0.005)


def test_dropout_differs_between_steps_and_places_only():
    layer, other = Dropout(0.5), Dropout(0.5)
    layer.site, other.site = key_of("here"), key_of("there")
    mask = kept(layer, (4, 50, 60), 7) == 0
    np.testing.assert_array_equal(kept(layer, (4, 50, 60), 7) == 0, mask)
    for again in (kept(layer, (4, 50, 60), 8), kept(other, (4, 50, 60), 7)):
        assert ((again == 0) & mask).mean() == pytest.approx(0.25, abs=0.02)


def test_dropout_is_the_documented_arithmetic():
    layer = Dropout(0.5)
    layer.site = key_of("here")
    expected = []
    for place in range(24):
        x = (place * 1_103_515_245 + layer.site) % PRIME
        x = pow(x, 5, PRIME)
        x = pow((x * 48_271 + 7) % PRIME, 5, PRIME)
        expected.append(2.0 if x >= PRIME // 2 else 0.0)
    assert kept(layer, (2, 3, 4), 7).reshape(-1).tolist() == expected


def test_dropout_is_for_training_only():
    layer = Dropout(0.5)
    x = flow.ones(1, 2, 3)
    with pytest.raises(UsageError, match="in training mode outside of a training step"):
        layer(x, "batch", "seq", "embed")
    assert layer.eval()(x, "batch", "seq", "embed") is x
    assert Dropout(0.0)(x, "batch", "seq", "embed") is x
