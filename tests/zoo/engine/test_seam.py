import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import zoo.engine
from dataprep.errors import RunError, UsageError

ROOT = Path(__file__).parents[3]


def test_only_the_seam_imports_an_engine():
    pattern = re.compile(r"^\s*(import|from)\s+(oneflow|torch)\b", re.MULTILINE)
    offenders = [
        str(path.relative_to(ROOT))
        for package in ("zoo", "dataprep", "tokenizers", "vocab")
        for path in (ROOT / package).rglob("*.py")
        if pattern.search(path.read_text("utf-8"))
        and not path.relative_to(ROOT)
        .as_posix()
        .startswith(("zoo/engine/oneflow/", "zoo/engine/torch/", "dataprep/samples/torch_data.py"))
    ]
    assert offenders == []


def test_layers_and_models_know_nothing_of_ranks():
    pattern = re.compile(r"\b(rank|placement|sbp|DTensor)\b")
    offenders = [
        str(path.relative_to(ROOT))
        for folder in ("layers", "models")
        for path in (ROOT / "zoo" / folder).rglob("*.py")
        if pattern.search(path.read_text("utf-8"))
    ]
    assert offenders == []


def test_both_engines_give_the_same_names():
    def exported(engine):
        tree = ast.parse((ROOT / "zoo/engine" / engine / "__init__.py").read_text("utf-8"))
        (names,) = [
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
        ]
        return names

    assert exported("oneflow") == exported("torch")
    assert set(exported("torch")) <= set(zoo.engine.__all__)
    for name in zoo.engine.__all__:
        assert getattr(zoo.engine, name) is not None


def test_engine_is_imported_silently_and_only_when_used():
    code = (
        "import sys, zoo, zoo.engine, zoo.launch, zoo.parallel\n"
        "assert not {'oneflow', 'torch'} & set(sys.modules), 'too early'\n"
        "from zoo.engine import flow\n"
        "import os; assert 'RANK' not in os.environ\n"
        "print(flow.ones(2).sum().item())\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("2.0\n", "")


def test_unknown_engine_is_told(monkeypatch):
    monkeypatch.setenv("JIMU_ENGINE", "tensorflow")
    with pytest.raises(UsageError, match=r"'tensorflow' names no engine; known are oneflow, torch"):
        zoo.engine.choose_engine()


def test_missing_engines_are_told_with_the_command(monkeypatch):
    monkeypatch.setattr(zoo.engine, "find_spec", lambda package: None)
    monkeypatch.delenv("JIMU_ENGINE", raising=False)
    with pytest.raises(UsageError, match="Neither OneFlow nor PyTorch") as caught:
        zoo.engine.choose_engine()
    assert "pip install 'jimu[zoo]'" in caught.value.hint
    monkeypatch.setenv("JIMU_ENGINE", "torch")
    with pytest.raises(
        UsageError, match="JIMU_ENGINE=torch asks for an engine that is not"
    ) as caught:
        zoo.engine.choose_engine()
    assert "pip install 'jimu[torch]'" in caught.value.hint


def test_oneflow_goes_first_where_both_are_installed(monkeypatch):
    monkeypatch.setattr(zoo.engine, "find_spec", lambda package: object())
    monkeypatch.delenv("JIMU_ENGINE", raising=False)
    assert zoo.engine.choose_engine() == "oneflow"


def test_broken_engine_is_told(monkeypatch):
    def fail(name):
        raise ImportError("libcudnn.so.8: cannot open shared object file")

    monkeypatch.setattr(zoo.engine.importlib, "import_module", fail)
    with pytest.raises(RunError, match=r"cannot be imported: libcudnn\.so\.8"):
        zoo.engine.__getattr__("flow")
