import socket

import pytest

from dataprep.errors import RunError, UsageError
from zoo.engine import ranks

NAMES = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")


@pytest.fixture
def environment(monkeypatch):
    def setting(**values):
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))

    return setting


def test_a_lone_process_is_rank_0_of_1(environment):
    environment()
    assert (ranks.rank(), ranks.world_size()) == (0, 1)


def test_a_launched_process_reads_its_number(environment):
    environment(MASTER_ADDR="127.0.0.1", MASTER_PORT=1, WORLD_SIZE=4, RANK=3)
    assert (ranks.rank(), ranks.world_size()) == (3, 4)


def test_half_an_environment_is_told(environment):
    environment(RANK=1, WORLD_SIZE=2)
    with pytest.raises(UsageError, match="WORLD_SIZE, RANK set, but not MASTER_ADDR, MASTER_PORT"):
        ranks.rank()


def test_waiting_for_rank_0_ends_when_it_listens(environment):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        environment(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE=2, RANK=1)
        with pytest.raises(RunError, match=rf"no rank 0 at 127\.0\.0\.1:{port} within 0 s"):
            ranks.wait_for_master(seconds=0)
        listener.listen()
        ranks.wait_for_master(seconds=10)
