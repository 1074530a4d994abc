from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dataprep
from dataprep.errors import DataError, UsageError
from zoo.generation import Sampler, Writer, load_writer
from zoo.recipes import load_recipe
from zoo.training import train

GREEDY = Sampler(temperature=0.0)


def scripted(tokenizer, ids: list[int], *, positions: int = 8, extra: int = 0):
    """A writer whose model says these ids one after the other; and the windows that it saw."""
    windows: list[list[int]] = []

    def logits(tokens: np.ndarray) -> np.ndarray:
        scores = np.zeros((1, tokens.shape[1], tokenizer.vocab_size + extra), np.float32)
        scores[0, -1, ids[len(windows)]] = 1.0
        scores[0, -1, tokenizer.vocab_size :] = 2.0
        windows.append(tokens[0].tolist())
        return scores

    return Writer(tokenizer, logits, positions), windows


@pytest.fixture(scope="module")
def tokenizer(dataset: str):
    return dataprep.open(dataset).tokenizer()


def test_ids_follow_until_the_document_ends(tokenizer) -> None:
    writer, windows = scripted(tokenizer, [5, 6, tokenizer.eod_id, 7])
    assert writer.continue_ids([1, 2], max_tokens=10, sampler=GREEDY) == [5, 6]
    assert windows == [[1, 2], [1, 2, 5], [1, 2, 5, 6]]


def test_ids_follow_up_to_the_limit(tokenizer) -> None:
    writer, _ = scripted(tokenizer, [5, 6, 7, 8])
    assert writer.continue_ids([1], max_tokens=3, sampler=GREEDY) == [5, 6, 7]
    with pytest.raises(UsageError, match="max_tokens=0 cannot be"):
        writer.continue_ids([1], max_tokens=0, sampler=GREEDY)


def test_the_model_sees_the_last_positions(tokenizer) -> None:
    writer, windows = scripted(tokenizer, [5, 6], positions=3)
    writer.continue_ids([1, 2, 3, 4], max_tokens=2, sampler=GREEDY)
    assert windows == [[2, 3, 4], [3, 4, 5]]


def test_ids_that_the_tokenizer_lacks_are_never_drawn(tokenizer) -> None:
    writer, _ = scripted(tokenizer, [5, 6], extra=10)
    assert writer.continue_ids([1], max_tokens=2, sampler=GREEDY) == [5, 6]


def test_a_prompt_becomes_plain_ids(tokenizer) -> None:
    writer, _ = scripted(tokenizer, [])
    assert tokenizer.decode(writer.prompt_ids("the moon 明月")) == "the moon 明月"
    assert writer.prompt_ids("") == [tokenizer.eod_id]
    assert tokenizer.eod_id not in writer.prompt_ids("<|endoftext|>")


def test_a_character_cut_at_the_end_is_withheld(tokenizer) -> None:
    writer, _ = scripted(tokenizer, [])
    ids = writer.prompt_ids("moon 龘")
    assert writer.text(ids) == "moon 龘"
    for cut in (1, 2):
        assert writer.text(ids[:-cut]) == "moon "


def test_a_trained_checkpoint_writes(dataset: str, tiny_recipe: str, tmp_path: Path) -> None:
    checkpoint = train(load_recipe(tiny_recipe), dataset, out=tmp_path / "run")
    writer = load_writer(checkpoint)
    ids = writer.prompt_ids("the moon")
    sampler = Sampler(seed=3)
    added = writer.continue_ids(ids, max_tokens=30, sampler=sampler)
    assert len(added) > 1
    assert writer.continue_ids(ids, max_tokens=30, sampler=sampler) == added
    other = writer.continue_ids(ids, max_tokens=30, sampler=Sampler(seed=4))
    assert other != added
    (checkpoint / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"tokenizer\.json is missing"):
        load_writer(checkpoint)
