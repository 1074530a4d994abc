"""Progress on a clock that the test winds: how long it takes is told right, early."""

from __future__ import annotations

import heapq
import io
import json
import random
from dataclasses import dataclass

import pytest

from dataprep.pool import _turn
from dataprep.progress import Events, Lines, Meter, Silent, observer_for


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Shard:
    disk: int
    text: int
    seconds: float


def corpora() -> dict[str, list[Shard]]:
    """Kinds of corpora that are hard to foretell: what comes last is unlike what comes first."""
    rng = random.Random(4)
    plain = [Shard(size, size, size / 30e6) for size in [64_000_000] * 100]
    packed = [Shard(20_000_000, 64_000_000, 64e6 / 30e6) for _ in range(100)]
    chinese = [Shard(64_000_000, 64_000_000, 64e6 / 9e6) for _ in range(100)]
    uneven = [
        Shard(size, size, size / 30e6 * rng.uniform(0.7, 1.4))
        for size in (rng.randint(1_000_000, 64_000_000) for _ in range(100))
    ]
    return {
        "alike": plain,
        "packed last": plain + packed,
        "packed first": packed + plain,
        "another language last": plain + chinese,
        "uneven": uneven,
        "few": plain[:20],
    }


def run(shards: list[Shard], workers: int, meter: Meter, clock: Clock) -> list[tuple[float, float]]:
    """Do the shards in the pool's order; times, and what was foretold then as the whole."""
    waiting = sorted(range(len(shards)), key=_turn, reverse=True)
    start, events, foretold = clock.now, [], []  # type: ignore[var-annotated]
    steps = 20

    def begin(worker: int) -> None:
        if waiting:
            heapq.heappush(
                events, (clock.now + shards[waiting[-1]].seconds / steps, worker, waiting.pop(), 1)
            )

    for worker in range(workers):
        begin(worker)
    while events:
        clock.now, worker, number, step = heapq.heappop(events)
        shard = shards[number]
        meter.advance(10, shard.text // steps)
        if step < steps:
            heapq.heappush(events, (clock.now + shard.seconds / steps, worker, number, step + 1))
        else:
            meter.complete(shard.disk, shard.text // steps * steps)
            begin(worker)
        if meter.left is not None:
            foretold.append((clock.now - start, clock.now - start + meter.left))
    return foretold


@pytest.mark.parametrize("kind", corpora())
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_the_end_is_foretold_after_a_tenth(kind: str, workers: int) -> None:
    shards, clock = corpora()[kind], Clock()
    meter = Meter(sum(shard.disk for shard in shards), 0, clock)
    foretold = run(shards, workers, meter, clock)
    took = foretold[-1][0]
    assert meter.done == meter.total
    for now, end in foretold:
        if now > took / 10:
            # Within 20 % of what is left; near the end, where workers run out of shards one after
            # the other, within 10 % of the whole.
            assert abs(end - took) <= max(0.2 * (took - now), 0.1 * took), (
                f"{now:.0f} of {took:.0f}"
            )


def test_resumed_runs_do_not_count_what_was_there() -> None:
    clock = Clock()
    meter = Meter(100, 50, clock)
    assert (meter.done, meter.left) == (50, None)
    clock.now += 10
    meter.advance(1, 25)
    assert (meter.done, meter.left) == (75, 10)
    meter.complete(25, 25)
    meter.advance(1, 25)
    meter.complete(25, 25)
    assert (meter.done, meter.left) == (100, 0)


def test_nothing_to_do() -> None:
    assert Meter(0, 0).line().startswith("100 %")
    assert Meter(0, 0).left == 0


def test_lines_now_and_then() -> None:
    clock, stream = Clock(), io.StringIO()
    lines = Lines(stream, clock)
    lines.begin(200_000_000, 20_000_000)
    for _ in range(90):
        clock.now += 1
        lines.advance(1_000, 1_000_000)
    lines.end()
    shown = stream.getvalue().splitlines()
    assert shown[0] == "Going on where an earlier run stopped, at 20.0 MB."
    assert shown[1] == " 15 %  10.0 MB at 1.0 MB/s  10,000 documents  ETA 2:50"
    assert len(shown) == 11
    assert "\r" not in stream.getvalue()


def test_events() -> None:
    clock, stream = Clock(), io.StringIO()
    events = Events(stream, clock)
    events.note("语料")
    events.begin(100, 0)
    clock.now += 2
    events.advance(5, 50)
    events.complete(50, 50)
    events.end()
    told = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [event["event"] for event in told] == ["note", "begin", "progress", "end"]
    assert told[0]["text"] == "语料"
    assert told[2] == {
        "event": "progress",
        "total_bytes": 100,
        "done_bytes": 50,
        "documents": 5,
        "text_bytes": 50,
        "seconds": 2.0,
        "mb_per_second": 0.0,
        "eta_seconds": 2.0,
    }


def test_who_watches() -> None:
    assert isinstance(observer_for(None, as_json=True), Silent)
    assert isinstance(observer_for(io.StringIO(), as_json=True), Events)
    assert isinstance(observer_for(io.StringIO(), as_json=False), Lines)
