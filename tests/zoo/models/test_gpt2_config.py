import pytest

import zoo
from dataprep.errors import UsageError
from zoo.models.gpt2 import SIZES, GPT2Config


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes_can_be(name):
    assert GPT2Config(**SIZES[name]).mlp_width == 4 * SIZES[name]["embed"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"heads": 5}, "embed=768 cannot be shared by heads=5"),
        ({"layers": 0}, "layers=0 cannot be: it is at least 1"),
        ({"mlp": 0}, "mlp=0 cannot be"),
        ({"dropout": 1.0}, r"dropout=1.0 cannot be"),
    ],
)
def test_sizes_that_cannot_be_are_told(fields, message):
    with pytest.raises(UsageError, match=message):
        GPT2Config(**fields)


def test_unknown_models_and_settings_are_told():
    with pytest.raises(UsageError, match="no model 'gpt3'; known are gpt2-small, gpt2-medium"):
        zoo.build("gpt3")
    with pytest.raises(
        UsageError, match="gpt2-small has no setting width; it has vocab, positions"
    ):
        zoo.build("gpt2-small", width=3)


def test_smallest_has_the_published_number_of_parameters():
    model = zoo.build("gpt2-small")
    assert sum(parameter.numel() for parameter in model.parameters()) == 124_439_808
