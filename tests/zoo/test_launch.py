import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from dataprep.errors import UsageError
from zoo.launch import TIMED_OUT, launch, main


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(text), "utf-8")
        return path

    return write


def test_every_rank_gets_its_place(start_ranks, script, tmp_path):
    path = script(
        """
        import os, sys
        from pathlib import Path
        from zoo.engine import rank, world_size
        place = f"{rank()} of {world_size()} {os.environ['OMP_NUM_THREADS']} {sys.argv[2:]}"
        Path(sys.argv[1], str(rank())).write_text(place)
        """
    )
    assert start_ranks(3, path, tmp_path, "--flag", "x") == 0
    for rank in range(3):
        assert (tmp_path / str(rank)).read_text() == f"{rank} of 3 1 ['--flag', 'x']"


def test_rank_0_speaks_for_all(start_ranks, script, capfd):
    path = script("import os; print('from', os.environ['RANK'])")
    assert start_ranks(2, path) == 0
    assert capfd.readouterr().out == "from 0\n"


@pytest.mark.parametrize("failing", [0, 1])
def test_failing_rank_ends_the_run_with_its_error(start_ranks, script, capfd, failing):
    """The other rank waits for something that never comes."""
    path = script(
        f"""
        import time
        from zoo.engine import rank, flow
        if rank() == {failing}:
            flow.ones(1).sum()
            raise ValueError("the reason")
        time.sleep(600)
        """
    )
    begun = time.monotonic()
    assert start_ranks(2, path, timeout=120) == 1
    told = capfd.readouterr().err
    assert time.monotonic() - begun < 120  # ended, not timed out
    assert 'raise ValueError("the reason")' in told
    assert told.index("ValueError: the reason") < told.index(f"Rank {failing} of 2 ended with exit")


@pytest.mark.oneflow
def test_failing_rank_is_told_with_its_number(start_ranks, script, capfd):
    path = script(
        """
        from dataprep.errors import RunError
        from zoo.engine import flow, rank
        everyone = flow.placement.all("cpu")
        if rank() == 1:
            raise RunError("The disk is full.", hint="Make room.")
        flow.ones(2).to_global(placement=everyone, sbp=flow.sbp.partial_sum).numpy()
        """
    )
    assert start_ranks(2, path, timeout=120) == 1
    told = capfd.readouterr().err
    assert "rank 1 of 2 failed:\nerror: The disk is full.\nMake room.\n" in told
    assert "Traceback" not in told


def test_usage_error_is_told_once(start_ranks, script, capfd):
    path = script(
        """
        import sys, time
        from zoo.engine import rank
        time.sleep(0.2 * (1 - rank()))
        sys.stderr.write("error: dp=3 cannot be\\n")
        sys.exit(2)
        """
    )
    assert start_ranks(2, path) == 2
    assert capfd.readouterr().err.count("error: dp=3 cannot be") == 1


def test_killed_rank_is_told(start_ranks, script, capfd):
    path = script(
        """
        import os, signal, time
        if os.environ["RANK"] == "1":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(600)
        """
    )
    assert start_ranks(2, path, timeout=120) == 128 + signal.SIGKILL
    assert "Rank 1 of 2 ended by SIGKILL; the other ranks were stopped." in capfd.readouterr().err


def test_time_limit_stops_all(start_ranks, script, tmp_path, capfd):
    path = script(
        """
        import os, sys, time
        from pathlib import Path
        Path(sys.argv[1], os.environ["RANK"]).write_text(str(os.getpid()))
        time.sleep(600)
        """
    )
    assert start_ranks(2, path, tmp_path, timeout=3) == TIMED_OUT
    assert "The time limit is over; rank 0, 1 of 2 was still running." in capfd.readouterr().err
    for rank in "01":
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / rank).read_text()), 0)


def ended(pid):
    stat = Path("/proc", pid, "stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.oneflow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_launcher_that_is_ended_takes_its_ranks_along(script, tmp_path, end):
    path = script(
        """
        import os, sys, time
        from pathlib import Path
        from zoo.engine import flow
        flow.ones(1)
        Path(sys.argv[1], os.environ["RANK"]).write_text(str(os.getpid()))
        time.sleep(600)
        """
    )
    command = [sys.executable, "-m", "zoo.launch", "-n", "2", path, tmp_path]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    launcher = subprocess.Popen(command, cwd=root, env=environment)
    pids = [tmp_path / "0", tmp_path / "1"]
    while not all(pid.exists() and pid.read_text() for pid in pids):
        assert launcher.poll() is None
        time.sleep(0.05)
    launcher.send_signal(end)
    assert launcher.wait(timeout=60) == (-end if end == signal.SIGKILL else 128 + end)
    for pid in pids:
        while not ended(pid.read_text()):
            time.sleep(0.05)


def test_impossible_launches_are_told(capfd):
    with pytest.raises(UsageError, match="0 ranks cannot be started"):
        launch(0, ["x.py"])
    assert main(["-n", "2"]) == 2
    assert "error: No script was given to start." in capfd.readouterr().err


def test_own_options_end_at_two_dashes(capfd):
    assert main(["-n", "1", "--", "-c", "print('here')"]) == 0
    assert capfd.readouterr().out == "here\n"
