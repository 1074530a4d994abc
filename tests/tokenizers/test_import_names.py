"""``import tokenizers`` is Hugging Face's package, ``dataprep.tokenizers`` is ours: everywhere."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = str(Path(importlib.util.find_spec("numpy").origin).parents[1])

CHECK = """
import tokenizers, dataprep.tokenizers.load as ours
assert hasattr(tokenizers, "Tokenizer"), tokenizers
assert tokenizers.__file__.startswith({site!r}), tokenizers.__file__
assert ours.__file__.startswith({home!r}), ours.__file__
"""


def run(*command, cwd):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_in_this_process():
    import tokenizers

    import dataprep.tokenizers.load as ours

    assert tokenizers.__file__.startswith(SITE)
    assert "dataprep" in Path(ours.__file__).parts


@pytest.mark.parametrize(
    "pytest_command",
    [
        ["-m", "pytest"],
        ["-c", "import pytest, sys; sys.path.remove(''); sys.exit(pytest.console_main())"],
    ],
    ids=["python -m pytest", "pytest"],
)
def test_under_pytest_from_the_root(pytest_command):
    """The command ``pytest``, unlike ``python -m pytest``, leaves the root off the path."""
    here = f"{Path(__file__).relative_to(ROOT)}::test_in_this_process"
    assert "1 passed" in run(sys.executable, *pytest_command, here, cwd=ROOT)


def test_from_the_root():
    run(sys.executable, "-c", CHECK.format(site=SITE, home=str(ROOT)), cwd=ROOT)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of what the distributions are made of: building leaves files in its source."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, copy)
    for name in ("dataprep", "tokenizers", "vocab", "zoo"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    return copy


def build(kind, source, out):
    """Call the build backend as pip does, in a process of its own; the path of what it built."""
    code = f"from setuptools import build_meta; print(build_meta.build_{kind}({str(out)!r}))"
    return out / run(sys.executable, "-W", "ignore", "-c", code, cwd=source).split()[-1]


def install(wheel, target):
    """Unpack a wheel, which is what installing one amounts to, and check the names from afar."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return archive.namelist()


def check(target, home, cwd):
    # Processes .pth files as a site-packages folder would, which editable installs rely on; the
    # target comes first on the path: the hardest case for Hugging Face's package. Without -S the
    # .pth files of this environment would count too, and this repository may be installed in it.
    code = f"import site, sys; site.addsitedir({str(target)!r})\n"
    code += f"sys.path.insert(0, {str(target)!r}); sys.path.append({SITE!r})\n"
    run(sys.executable, "-S", "-c", code + CHECK.format(site=SITE, home=str(home)), cwd=cwd)


def test_in_an_installed_wheel(source, tmp_path):
    files = install(build("wheel", source, tmp_path), tmp_path / "site")
    assert "dataprep/tokenizers/load.py" in files
    assert not [name for name in files if name.startswith("tokenizers")]
    check(tmp_path / "site", home=tmp_path / "site", cwd=tmp_path)


def test_in_an_editable_install(source, tmp_path):
    install(build("editable", source, tmp_path), tmp_path / "site")
    check(tmp_path / "site", home=source, cwd=tmp_path)
    check(tmp_path / "site", home=source, cwd=source)


def test_in_a_wheel_made_from_the_sdist(source, tmp_path):
    with tarfile.open(build("sdist", source, tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    files = install(build("wheel", unpacked, tmp_path), tmp_path / "site")
    assert "dataprep/tokenizers/load.py" in files
    check(tmp_path / "site", home=tmp_path / "site", cwd=tmp_path)
