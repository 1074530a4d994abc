import numpy as np
import pytest

from dataprep.errors import DataError
from zoo.engine import EvalStep, full_state, load_full_state
from zoo.engine import name as engine
from zoo.models.gpt2.weights import from_hf, to_hf
from zoo.parallel import Mesh


@pytest.fixture
def random_state(tiny):
    """Weights without a zero or a one, so that no mix-up stays unseen."""
    model = tiny(std=0.3)
    draw = np.random.default_rng(1)
    state = {
        name: draw.standard_normal(array.shape, dtype=np.float32) * np.float32(0.3)
        for name, array in full_state(model).items()
    }
    load_full_state(model, state)
    return model, state


def test_names_go_there_and_back_to_the_bit(random_state):
    model, state = random_state
    theirs = to_hf(state, model.config)
    assert theirs["transformer.h.1.attn.c_attn.weight"].shape == (32, 96)
    back = from_hf(theirs, model.config)
    assert back.keys() == state.keys()
    for name, array in state.items():
        np.testing.assert_array_equal(back[name], array)


def test_other_names_are_told(random_state):
    model, state = random_state
    theirs = to_hf(state, model.config)
    bias = theirs.pop("transformer.ln_f.bias")
    with pytest.raises(DataError, match=r"missing: transformer\.ln_f\.bias; left over: x"):
        from_hf({**theirs, "x": bias}, model.config)
    with pytest.raises(DataError, match=r"left over: x"):
        to_hf({**state, "x": bias}, model.config)
    theirs["transformer.ln_f.bias"] = bias
    table = theirs["transformer.wte.weight"]
    assert from_hf({**theirs, "lm_head.weight": table}, model.config).keys() == state.keys()
    with pytest.raises(DataError, match=r"lm_head\.weight differs from transformer\.wte\.weight"):
        from_hf({**theirs, "lm_head.weight": table + 1}, model.config)


@pytest.mark.torch
def test_logits_and_loss_are_those_of_hugging_face(random_state, batch):
    transformers = pytest.importorskip("transformers")
    assert engine == "torch"
    from zoo.engine import flow as torch

    model, state = random_state
    c = model.config
    config = transformers.GPT2Config(
        vocab_size=c.vocab, n_positions=c.positions, n_embd=c.embed, n_layer=c.layers,
        n_head=c.heads, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    reference = transformers.GPT2LMHeadModel(config).eval()
    theirs = {name: torch.tensor(array) for name, array in to_hf(state, c).items()}
    outcome = reference.load_state_dict(theirs, strict=False)
    assert outcome.missing_keys == ["lm_head.weight"]  # tied
    assert outcome.unexpected_keys == []
    tokens = torch.tensor(batch["tokens"])
    # they shift the labels themselves: the whole row once more, its last label ignored by ours
    labels = np.concatenate([batch["tokens"][:, 1:], np.full((4, 1), -100)], axis=1)
    with torch.no_grad():
        expected = reference(tokens, labels=tokens)
    evaluate = EvalStep(model, Mesh())
    logits = evaluate.logits(batch["tokens"])
    np.testing.assert_allclose(logits, expected.logits.numpy(), rtol=1e-4, atol=1e-5)
    loss = evaluate({"tokens": batch["tokens"], "labels": labels})
    assert loss == pytest.approx(expected.loss.item(), rel=1e-6)

    saved = {name: tensor.numpy() for name, tensor in reference.state_dict().items()}
    for name, array in from_hf(saved, c).items():
        np.testing.assert_array_equal(array, state[name])
