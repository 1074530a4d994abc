from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from zoo.cli.app import app as zoo_app
from zoo.cli.train import app as train_app

ROOT = Path(__file__).parents[3]


def run(app, *arguments: str):
    return CliRunner().invoke(app, list(arguments))


def process(*arguments: str, cwd: Path = ROOT, **environment: str):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def trained(dataset: str, tiny_recipe: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "run"
    # From another folder: the script finds its packages by itself.
    done = process(
        str(ROOT / "zoo" / "train.py"),
        *(tiny_recipe, "--data", dataset, "--out", str(out), "--set", "train.log_every=2"),
        cwd=out.parent,
        PYTHONPATH="",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (out / "printed").write_text(done.stdout, encoding="utf-8")
    return out


def test_a_run_prints_its_steps_and_its_curve(trained: Path) -> None:
    lines = (trained / "printed").read_text(encoding="utf-8").splitlines()
    steps = [line for line in lines if line.startswith("step ")]
    assert [int(line.split("/")[0].removeprefix("step ")) for line in steps] == [1, 2, 4, 6, 8, 10]
    assert all(part in steps[1] for part in ("/10", "loss ", "lr ", "norm ", "tokens/s", " left"))
    assert steps[-1].endswith("0:00 left")
    assert [line for line in lines if line.startswith("validation after step 10: loss ")]
    assert [line for line in lines if "┤" in line]
    assert lines[-1] == f"checkpoint: {trained / 'step-000010'}"


@pytest.mark.parametrize("folder", ["", "step-000010"])
def test_generate_continues_a_prompt(trained: Path, folder: str) -> None:
    arguments = ["generate", str(trained / folder), "--prompt", "the moon", "--max-tokens", "30"]
    first, again = run(zoo_app, *arguments), run(zoo_app, *arguments)
    assert first.exit_code == 0, first.output
    assert first.stdout.startswith("the moon")
    assert len(first.stdout) > len("the moon\n")
    assert first.stdout == again.stdout
    greedy = run(zoo_app, *arguments, "--greedy", "--seed", "9")
    assert greedy.stdout == run(zoo_app, *arguments, "--greedy").stdout


def test_generate_tells_of_a_prompt_that_is_too_long(trained: Path) -> None:
    prompt = "the moon " * 30
    done = run(zoo_app, "generate", str(trained), "--prompt", prompt, "--max-tokens", "2")
    assert done.exit_code == 0
    assert done.stdout.startswith(prompt)
    assert "note: the prompt has " in done.stderr
    assert "the model sees the last 16." in done.stderr


def test_print_config_is_a_recipe(tmp_path: Path) -> None:
    first = run(
        train_app, "gpt2-demo", "--set", "optimizer.lr=0.5", "--steps", "44", "--print-config"
    )
    assert first.exit_code == 0
    (tmp_path / "mine.toml").write_text(first.stdout, encoding="utf-8")
    assert "lr = 0.5\n" in first.stdout
    assert "steps = 44\n" in first.stdout
    assert run(train_app, str(tmp_path / "mine.toml"), "--print-config").stdout == first.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["gpt5", "--data", "x"], 2, "There is no recipe 'gpt5'; known are gpt2-demo"),
        (["gpt2-demo"], 2, "--data is missing"),
        (["gpt2-demo", "--data", "x", "--set", "train.steps"], 2, "section.key=value"),
        (["gpt2-demo", "--data", "x", "--resume", "--overwrite"], 2, "give one"),
        (["gpt2-demo", "--data", "x", "--dp", "0"], 2, "dp=0 cannot be"),
        (["gpt2-demo", "--data", "x", "--nonsense"], 2, "No such option"),
        (["gpt2-demo", "--data", "no/such", "--out", "{tmp}"], 1, "There is no dataset no/such"),
        (["gpt2-demo", "--data", "x", "--out", "{tmp}", "--resume"], 2, "no checkpoint in"),
    ],
)
def test_what_cannot_be_is_told_without_a_traceback(
    arguments: list[str], code: int, told: str, tmp_path: Path
) -> None:
    done = run(train_app, *(argument.format(tmp=tmp_path / "run") for argument in arguments))
    assert done.exit_code == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_number_of_ranks_is_told_with_the_right_command() -> None:
    done = process("zoo/train.py", "gpt2-demo", "--data", "out/my data", "--tp", "2", "--dp", "2")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "error: dp=2 · tp=2 · pp=1 needs 4 ranks, but this run has 1.",
        "Start as many: scripts/launch -n 4 zoo/train.py gpt2-demo --data 'out/my data' "
        "--tp 2 --dp 2",
    ]


def test_a_fault_of_the_program_shows_its_place_only_when_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("zoo.cli.train.load_recipe", broken)
    done = run(train_app, "gpt2-demo")
    assert done.exit_code == 1
    assert "error: ZeroDivisionError: oh\nThis is a fault of the program" in done.stderr
    assert isinstance(run(train_app, "gpt2-demo", "--debug").exception, ZeroDivisionError)


def test_generate_needs_a_checkpoint(tmp_path: Path) -> None:
    done = run(zoo_app, "generate", str(tmp_path))
    assert done.exit_code == 2
    assert "neither a checkpoint nor the folder of a run" in done.stderr


@pytest.mark.parametrize("arguments", [["-m", "zoo", "--help"], ["-m", "zoo.train", "--help"]])
def test_help_needs_no_engine(arguments: list[str]) -> None:
    done = process("-X", "importtime", *arguments)
    assert done.returncode == 0
    assert "Usage" in done.stdout
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert not imported & {"oneflow", "torch", "matplotlib", "safetensors", "tokenizers"}
