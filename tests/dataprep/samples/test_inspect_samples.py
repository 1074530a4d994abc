"""``dataprep inspect --objective``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.text import Text
from typer.testing import CliRunner

from dataprep.cli import app
from dataprep.inspect_samples import sample_arrays, sample_texts


def styled(text: Text, style: str) -> list[str]:
    return [text.plain[span.start : span.end] for span in text.spans if span.style == style]


def run(*arguments: str):
    return CliRunner().invoke(app, ["inspect", *arguments])


def test_masked_words_and_targets(dataset) -> None:
    given = {"seq_len": 64, "count": 20, "seed": 3}
    texts = sample_texts(dataset.prefix, "mlm-wwm", **given)
    arrays = sample_arrays(dataset.prefix, "mlm-wwm", **given)
    decode = dataset.tokenizer().decode
    for text, tokens, labels in zip(texts, arrays["tokens"], arrays["labels"], strict=True):
        tokens, labels = np.array(tokens), np.array(labels)
        mask = dataset.tokenizer().specials["mask"]
        masked = styled(text, "bold white on red")
        hidden = "".join("".join(part[1:-1].split()) for part in masked)
        assert hidden == decode(labels[tokens == mask]).replace(" ", "").replace("##", "")
        assert all(part[0] + part[-1] == "[]" for part in masked)
        assert len(styled(text, "bold cyan")) == (tokens == dataset.eod_id).sum()
        assert styled(text, "magenta")[0] == "[CLS]"
        for part in styled(text, "bold black on yellow"):
            assert part[0] + part[-1] == "{}"
            assert "→" in part


def test_pairs_and_padding(dataset) -> None:
    samples = dataset.samples("mlm", seq_len=64, seed=0, pairs="sop")
    from dataprep.inspect_samples import _Show

    show = _Show(dataset, "mlm")
    texts = [show.sample(samples[i]).plain for i in range(8)]
    assert {text.splitlines()[-1] for text in texts} == {"pair   in order", "pair   not in order"}
    assert all("padding" in text for text in texts)


def test_answers_stand_below(dataset) -> None:
    roles = {"extra_id_0": dataset.tokenizer().specials["unk"]}
    samples = dataset.samples("t5", seq_len=12, seed=0, roles=roles)
    from dataprep.inspect_samples import _Show

    text = _Show(dataset, "t5").sample(samples[0]).plain
    reads, writes = text.splitlines()
    assert reads.startswith("reads ")
    assert writes.startswith("writes [UNK] ")
    assert "[UNK]" in reads


def test_what_is_not_predicted_is_dim(dataset) -> None:
    (text,) = sample_texts(dataset.prefix, "prefix-lm", seq_len=40, count=1, seed=1)
    sample = dataset.samples("prefix-lm", seq_len=40, seed=1)[0]
    context = "".join(styled(text, "dim")).replace(" ", "")
    beginning = sample["tokens"][: sample["context_lengths"]]
    expected = dataset.tokenizer().decode(beginning[beginning != dataset.eod_id])
    assert context == expected.replace(" ", "")
    (text,) = sample_texts(dataset.prefix, "causal", seq_len=40, count=1, seed=1)
    assert not styled(text, "dim")


def test_the_command(dataset) -> None:
    name = str(dataset.prefix)
    shown = run(name, "--objective", "mlm-wwm", "--seq-len", "48", "--count", "2")
    assert shown.exit_code == 0
    assert shown.output.count("Sample ") == 2
    assert "[CLS]" in shown.output
    found = run(name, "--objective", "causal", "--count", "1", "--json")
    assert len(json.loads(found.output)["labels"][0]) == 128
    assert json.loads(run(name, "--json").output)["documents"] == dataset.n_documents


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--objective", "mlm-www"], "There are no samples of the kind 'mlm-www'"),
        (["--objective", "causal", "--count", "0"], "0 samples: at least 1"),
        (["--objective", "causal", "--seq-len", "0"], "seq_len is 0"),
        (["--objective", "t5"], "the tokenizer 0 sentinels"),
    ],
)
def test_what_cannot_be_shown(arguments: list[str], message: str, dataset) -> None:
    result = run(str(dataset.prefix), *arguments, "--json")
    assert result.exit_code == 2
    assert message in json.loads(result.stdout)["error"]
