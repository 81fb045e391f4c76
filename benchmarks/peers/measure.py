"""The phases: enqueue, drain, idle; each against services on 127.0.0.1.

enqueue_one          jobs/s from one client that waits for each enqueue to return
enqueue_bulk         jobs/s through the peer's bulk call
enqueue_concurrent   jobs/s of 64 concurrent callers, each waiting for its own enqueue
drain_durable        jobs/s from a preloaded queue, from the moment every worker has run a job to the committed end of the last
idle                 from just before the enqueue call to the job's first line, single jobs at a fixed rate
rss_mb, cpu          of the workers after the drain
"""

import asyncio
import importlib.metadata
import json
import os
import sys
import time
from typing import Any

from bench import Bench, Workers
from board import Board, cpu_by_group

POLL = 0.02
CALLERS = 64


def percentile(values: list[float], q: float) -> float | None:
    """A quantile of sorted values."""
    return values[min(len(values) - 1, int(len(values) * q))] if values else None


def measure(bench: Bench) -> dict[str, Any]:
    """Run the wanted phases and return their figures."""
    args = bench.args
    versions = {package: importlib.metadata.version(package) for package in bench.packages}
    out: dict[str, Any] = {"peer": bench.name, "versions": versions, "python": sys.version.split()[0], **vars(args)}
    run = bench.loop.run_until_complete
    phases = {"enqueue": enqueue, "drain": drain, "idle": idle}
    run(bench.open())
    try:
        for phase in args.phases.split(","):
            run(bench.reset())
            out.update(phases[phase](bench))
    finally:
        run(bench.reset())
        run(bench.close())
    return out


def enqueue(bench: Bench) -> dict[str, Any]:
    """How fast jobs can be put: one by one, in bulk, and by many at once."""
    run, count = bench.loop.run_until_complete, bench.args.enqueue_n
    out = {"enqueue_one_per_s": round(count / _timed(run, one_by_one(bench, count)))}
    if bench.bulk:
        run(bench.reset())
        out["enqueue_bulk_per_s"] = round(bench.args.n / _timed(run, in_bulk(bench)))
    if bench.concurrent:
        run(bench.reset())
        each = max(1, 4 * count // CALLERS)
        out["enqueue_concurrent_per_s"] = round(CALLERS * each / _timed(run, at_once(bench, each)))
    return out


async def one_by_one(bench: Bench, count: int) -> None:
    """One caller, who waits for each call."""
    for _ in range(count):
        await bench.put(0.0)


async def in_bulk(bench: Bench) -> None:
    """One caller, chunk by chunk."""
    for _ in range(0, bench.args.n, bench.bulk_chunk):
        await bench.put_many(bench.bulk_chunk)


async def at_once(bench: Bench, each: int) -> None:
    """64 callers, each waiting for its own calls."""
    await asyncio.gather(*(one_by_one(bench, each) for _ in range(CALLERS)))


def _timed(run: Any, work: Any) -> float:
    start = time.perf_counter()
    run(work)
    return time.perf_counter() - start


def preload(bench: Bench) -> None:
    """Fill the queue."""

    async def load() -> None:
        if bench.bulk and bench.args.preload == "bulk":
            for at in range(0, bench.args.n, bench.bulk_chunk):
                await bench.put_many(min(bench.bulk_chunk, bench.args.n - at))
        else:
            for _ in range(bench.args.n):
                await bench.put(0.0)

    bench.loop.run_until_complete(load())
    if bench.args.analyze:
        bench.analyze()


def drain(bench: Bench) -> dict[str, Any]:
    """How fast workers empty the queue, counted to the committed end."""
    preload(bench)
    board = Board()
    workers = Workers(bench, bench.args.workers, board)
    try:
        return _drain(bench, board, workers, time.monotonic() + bench.args.timeout)
    finally:
        workers.stop()
        board.close()


def _drain(bench: Bench, board: Board, workers: Workers, deadline: float) -> dict[str, Any]:
    start, base, before = _wait_for_all(bench, board, workers, deadline)
    while board.done() < bench.args.n and time.monotonic() < deadline:
        workers.check()
        time.sleep(POLL)
    executed = time.monotonic()
    while (left := bench.unfinished()) and time.monotonic() < deadline:
        time.sleep(POLL)
    durable = time.monotonic()
    after, moved = cpu_by_group(workers.roots), board.done() - base
    return {
        "drain_per_s": round(moved / max(1e-9, executed - start)),
        "drain_durable_per_s": None if left is None else round(moved / max(1e-9, durable - start)),
        "drain_counted": moved,
        "drain_complete": board.done() >= bench.args.n and not left,
        "cpu_s_per_1k": {name: round((after[name] - before[name]) * 1000 / max(1, moved), 3) for name in after},
        "rss_mb": round(workers.rss() / 1e6 / bench.args.workers),
    }


def _wait_for_all(bench: Bench, board: Board, workers: Workers, deadline: float) -> tuple[float, int, dict[str, float]]:
    while time.monotonic() < deadline:
        slots = board.slots()
        if len(slots) >= bench.args.workers:
            return time.monotonic(), sum(slot[0] for slot in slots), cpu_by_group(workers.roots)
        workers.check()
        time.sleep(POLL)
    raise RuntimeError(f"only {len(board.slots())} of {bench.args.workers} workers executed a job")


def idle(bench: Bench) -> dict[str, Any]:
    """How soon a single job starts on an idle system."""
    board = Board()
    workers = Workers(bench, bench.args.workers, board)
    try:
        return _idle(bench, board, workers, time.monotonic() + bench.args.timeout)
    finally:
        workers.stop()
        board.close()


def _idle(bench: Bench, board: Board, workers: Workers, deadline: float) -> dict[str, Any]:
    run, args = bench.loop.run_until_complete, bench.args

    async def paced(count: int, rate: float) -> None:
        at = time.monotonic()
        for _ in range(count):
            at += 1 / rate
            await asyncio.sleep(max(0.0, at - time.monotonic()))
            await bench.put(time.time())

    run(paced(3, 20))
    _until(lambda: board.done() >= 3, workers, deadline)
    time.sleep(1.0)
    board.forget_latencies()
    rss = workers.rss()
    before, begun, warm = cpu_by_group(workers.roots), time.monotonic(), board.done()
    run(paced(args.idle_n, args.idle_rate))
    _until(lambda: board.done() >= warm + args.idle_n, workers, deadline)
    spent, after = time.monotonic() - begun, cpu_by_group(workers.roots)
    found = board.latencies()
    return {
        "idle_p50_ms": _millis(percentile(found, 0.5)),
        "idle_p99_ms": _millis(percentile(found, 0.99)),
        "idle_seen": len(found),
        "idle_rss_mb": round(rss / 1e6 / args.workers),
        "idle_cpu_pct": {name: round((after[name] - before[name]) / spent * 100, 1) for name in after},
    }


def _until(done: Any, workers: Workers, deadline: float) -> None:
    while not done() and time.monotonic() < deadline:
        workers.check()
        time.sleep(POLL)


def _millis(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 2)


def main(bench: Bench) -> None:
    """Be the client, which prints one line of JSON, or a worker."""
    if "worker" in sys.argv:  # BENCH_ARGS carries the client's arguments, so the command line decides
        bench.run_worker()
        return
    sys.stdout.write(json.dumps(measure(bench)) + os.linesep)
