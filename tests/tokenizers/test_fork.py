"""Workers are forked from a process that has loaded the tokenizer: it must not have threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizer_samples import trained_wordpiece

ROOT = Path(__file__).parents[2]
BPE = {"fastokens": ("fastokens",), "tokenizers": ()}

FORK = """
import os, signal, sys
from dataprep.tokenizers.load import load_tokenizer

texts = ["天下大势，all the world's a stage. " * 2000] * 50
tokenizer = load_tokenizer(sys.argv[1])
assert tokenizer.engine.startswith(sys.argv[2] + ' '), tokenizer.engine
expected = tokenizer.encode_batch(texts)[0].tobytes()
threads = len(os.listdir("/proc/self/task"))
assert threads == 1, threads
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(tokenizer.encode_batch(texts)[0].tobytes() != expected)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("engine", ["fastokens", "tokenizers", "jimu-wordpiece"])
def test_encoding_starts_no_thread_and_survives_a_fork(trained, tmp_path, engine):
    made = trained_wordpiece() if engine == "jimu-wordpiece" else trained.decode()
    (tmp_path / "tokenizer.json").write_text(made)
    # The linear algebra of numpy starts threads at import.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    for name in ("FASTOKENS_BPE_THREADS", "TOKENIZERS_PARALLELISM"):
        environment.pop(name, None)
    choose = "from dataprep.tokenizers import engines\n"
    choose += f"engines.ENGINES_OF_MODEL['BPE'] = {BPE.get(engine)!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", choose + FORK, str(tmp_path), engine],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
