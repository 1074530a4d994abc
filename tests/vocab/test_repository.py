"""No vocabulary is ever committed, and nothing else that is as large as one."""

import hashlib
import subprocess
from pathlib import Path

import pytest

import vocab

ROOT = Path(__file__).parents[2]
MAX_BYTES = 100_000


@pytest.fixture(scope="module")
def committed():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: there is no list of committed files")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = (ROOT / name for name in listed.stdout.decode().split("\0") if name)
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def test_no_committed_file_is_large(committed):
    assert committed
    assert {path: size for path in committed if (size := path.stat().st_size) > MAX_BYTES} == {}


def test_no_committed_file_is_a_public_vocabulary(committed):
    files = (file for name in vocab.names() for file in vocab.known(name).files)
    forbidden = {file.sha256 for file in files} - {None}
    hashes = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in committed}
    assert [path for path, digest in hashes.items() if digest in forbidden] == []
