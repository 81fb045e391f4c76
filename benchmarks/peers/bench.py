"""One peer as the harness sees it, and its worker processes."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import asyncpg
import uvloop

from board import Board, processes, tree

PG_DSN = os.environ.get("BENCH_PG", "postgresql://bench:bench@127.0.0.1:5432/bench")
AMQP_URL = os.environ.get("BENCH_AMQP", "amqp://guest:guest@127.0.0.1:5672/")
HERE = Path(__file__).resolve().parent
LAST_GRACE = 3.0


class Bench:
    """What a peer provides.  Its methods share `loop`; its script runs as client, or with --role worker as one worker process."""

    name = "?"
    packages: tuple[str, ...] = ()
    bulk = False
    concurrent = False
    bulk_chunk = 1000
    unfinished_sql: str | None = None  # counts jobs not finished, or :n minus the results stored

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.loop = uvloop.new_event_loop()

    async def open(self) -> None:
        """Connect as a client."""

    async def close(self) -> None:
        """Disconnect."""

    async def reset(self) -> None:
        """Empty the queue and any result store."""

    async def put(self, sent: float) -> None:
        """Enqueue one job and wait for the call to return."""
        raise NotImplementedError

    async def put_many(self, count: int) -> None:
        """Enqueue jobs by the peer's bulk call."""
        raise NotImplementedError

    def run_worker(self) -> None:
        """Be a worker process until SIGTERM."""
        raise NotImplementedError

    def pg_dsn(self) -> str:
        """The database that holds the peer's state."""
        return PG_DSN

    def worker_argv(self) -> list[str]:
        """The command of one worker process."""
        return [sys.executable, str(Path(sys.argv[0]).resolve()), "--role", "worker", *sys.argv[1:]]

    def unfinished(self) -> int | None:
        """Jobs whose end is not yet committed, None where the peer keeps no such state."""
        if self.unfinished_sql is None:
            return None
        return int(self.query(self.unfinished_sql.replace(":n", str(self.args.n))))

    def query(self, sql: str) -> Any:
        """Run one statement on a connection of its own and return its first value."""
        return self.loop.run_until_complete(self._query(sql))

    async def _query(self, sql: str) -> Any:
        connection = await asyncpg.connect(self.pg_dsn())
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()

    def analyze(self) -> None:
        """What autovacuum would do within a minute after a preload."""
        self.query("vacuum analyze")


class Workers:
    """Worker processes, each in a session of its own."""

    def __init__(self, bench: Bench, count: int, board: Board) -> None:
        command = bench.worker_argv()
        env = dict(os.environ, BENCH_DIR=str(board.folder), BENCH_ARGS=json.dumps(vars(bench.args)))
        env["PYTHONPATH"] = f"{HERE}:{env.get('PYTHONPATH', '')}"
        self._log = board.folder / "worker.log"
        with self._log.open("w") as log:
            self._procs = [
                subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=HERE, start_new_session=True) for _ in range(count)
            ]
        self.roots = [proc.pid for proc in self._procs]

    def rss(self) -> int:
        """Resident memory of all workers and their children, in bytes."""
        table = processes()
        return sum(table[pid].rss for root in self.roots for pid in tree(root, table))

    def check(self) -> None:
        """Raise when a worker has died."""
        for proc in self._procs:
            if proc.poll() is not None:
                raise RuntimeError(f"worker exited {proc.returncode}: {self._log.read_text()[-2000:]}")

    def stop(self) -> None:
        """Ask, then end: only what was started here."""
        for proc in self._procs:
            if proc.poll() is None:
                proc.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + LAST_GRACE
        for proc in self._procs:
            try:
                proc.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(proc.pid, signal.SIGKILL)
                proc.wait()


def arguments(configure: Any = None) -> argparse.Namespace:
    """Parse the command line, or take BENCH_ARGS where a peer's own worker command imports the script."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--role", choices=["client", "worker"], default="client")
    parser.add_argument("--n", type=int, default=10_000, help="jobs to drain")
    parser.add_argument("--enqueue-n", type=int, default=2_000, help="jobs for the one-by-one enqueue")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=10)
    parser.add_argument("--prefetch", type=int, default=100)
    parser.add_argument("--idle-n", type=int, default=100)
    parser.add_argument("--idle-rate", type=float, default=20.0)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--preload", choices=["bulk", "single"], default="bulk")
    parser.add_argument("--analyze", action="store_true", help="VACUUM ANALYZE between preload and drain")
    parser.add_argument("--phases", default="enqueue,drain,idle")
    if configure:
        configure(parser)
    if "BENCH_ARGS" in os.environ:
        return argparse.Namespace(**json.loads(os.environ["BENCH_ARGS"]))
    return parser.parse_args()
