"""The `headway scheduler` process with 100,000 schedules: how it loads, rests, refreshes, and meets a second at which many are due."""

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import uvloop

from bench import AMQP_URL, PG_DSN
from board import processes
from headway.broker.connect import connect
from headway.store.migrate import migrate
from scheduler_rows import rows

DATABASE = "headway_bench_scheduler"
PREFIX = "bench.scheduler."
DSN = urlsplit(PG_DSN)._replace(path=f"/{DATABASE}").geturl()
DEFINITIONS = 1000
IDLE_SECONDS = 12.0
LATENESS = (
    "SELECT count(*) AS slots, percentile_cont(0.5) WITHIN GROUP (ORDER BY late) AS p50, percentile_cont(0.99) WITHIN GROUP (ORDER BY late)"
    " AS p99, max(late) AS last FROM (SELECT extract(epoch FROM decided_at - effective_at)::float8 * 1000 AS late FROM headway.slot"
    " WHERE slot_at = $1) decided"
)


class Process:
    """The scheduler as a process, with what it says of itself."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        env = dict(os.environ, HEADWAY_DATABASE_URL=DSN, HEADWAY_BROKER_URL=AMQP_URL, HEADWAY_BROKER_PREFIX=PREFIX)
        env |= {"HEADWAY_HEALTH_PORT": str(self.port), "HEADWAY_LOG_LEVEL": "warning"}
        self.began = time.monotonic()
        self._process = subprocess.Popen([str(Path(sys.executable).parent / "headway"), "scheduler"], env=env)

    def ready(self, timeout: float = 120) -> float:
        """Wait until everything is loaded; says how many seconds that took from the start of the process."""
        while time.monotonic() - self.began < timeout:
            try:
                self.ask("readyz")
            except (OSError, urllib.error.URLError):
                time.sleep(0.05)
            else:
                return time.monotonic() - self.began
        raise RuntimeError("the scheduler was not ready in time")

    def ask(self, path: str) -> str:
        """What its health server answers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=5) as answer:
            return str(answer.read().decode())

    def figure(self, name: str) -> float:
        """A sample of its metrics, by name and labels."""
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.ask("metrics"), re.MULTILINE)
        return float(found[1]) if found else 0.0

    def mean_ms(self, name: str, labels: str, before: tuple[float, float]) -> float | None:
        """The mean of a histogram's samples since `before`, in milliseconds."""
        count, total = self.sums(name, labels)
        return round((total - before[1]) / (count - before[0]) * 1000, 3) if count > before[0] else None

    def sums(self, name: str, labels: str = "") -> tuple[float, float]:
        """A histogram's count and sum."""
        return self.figure(f"{name}_count{labels}"), self.figure(f"{name}_sum{labels}")

    def usage(self) -> tuple[float, float]:
        """Seconds of CPU, and resident megabytes."""
        row = processes()[self._process.pid]
        return row.cpu, row.rss / 1e6

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(20)


async def prepare(count: int, due: int, due_at: datetime) -> None:
    """Make the database and its schedules."""
    server = await asyncpg.connect(PG_DSN)
    if not await server.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", DATABASE):
        await server.execute(f"CREATE DATABASE {DATABASE}")
    await server.close()
    await migrate(DSN)
    await fill(DSN, count, due, due_at)


async def fill(dsn: str, count: int, due: int, due_at: datetime) -> None:
    """Write the definitions and their schedules."""
    connection = await asyncpg.connect(dsn)
    definitions = [uuid.UUID(int=number + 1) for number in range(DEFINITIONS)]
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    try:
        await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=str, format="text")
        await connection.execute("TRUNCATE headway.definition, headway.schedule, headway.slot, headway.run, headway.session CASCADE")
        await connection.executemany(
            "INSERT INTO headway.definition (id, name, handler, backoff, parameters, watch, created_at, updated_at)"
            " VALUES ($1, $2, 'noop', '{}', '{}', '{}', $3, $3)",
            [(id_, f"job-{number}", hour_ago) for number, id_ in enumerate(definitions)],
        )
        await connection.execute(
            "CREATE TEMP TABLE given (id uuid, definition uuid, name text, rule text, decided timestamptz, c timestamptz, u timestamptz)"
        )
        await connection.copy_records_to_table("given", records=rows(count, due, due_at, definitions))
        await connection.execute(
            "INSERT INTO headway.schedule (id, definition, name, rule, parameters, decided_until, created_at, updated_at)"
            " SELECT id, definition, name, rule::jsonb, '{}', decided, c, u FROM given"
        )
        await connection.execute("VACUUM ANALYZE headway.schedule, headway.definition")
    finally:
        await connection.close()


def rest(process: Process) -> dict[str, Any]:
    """What it costs to have nothing to do: processor, and one look at what is due."""
    passes = "headway_loop_pass_duration_seconds", '{loop="scheduler.decide"}'
    before, (cpu, _) = process.sums(*passes), process.usage()
    time.sleep(IDLE_SECONDS)
    spent = process.usage()[0] - cpu
    return {"idle_cpu_pct": round(spent / IDLE_SECONDS * 100, 2), "idle_check_ms": process.mean_ms(*passes, before)}


async def change_one(process: Process) -> dict[str, Any]:
    """What a refresh costs when one schedule has changed."""
    refresh = "headway_scheduler_refresh_duration_seconds"
    before = process.sums(refresh)
    connection = await asyncpg.connect(DSN)
    await connection.execute("UPDATE headway.schedule SET version = version + 1, updated_at = now() WHERE name = 's99'")
    await connection.close()
    while process.sums(refresh)[0] == before[0]:  # noqa: ASYNC110  # another process says so
        await asyncio.sleep(0.5)
    return {"refresh_ms": process.mean_ms(refresh, "", before)}


async def hear(due: int, due_at: datetime, within: float) -> list[float]:
    """Hear the hints at the runs; says how many milliseconds after the instant each run was announced."""
    broker = connect(AMQP_URL, prefix=PREFIX)
    await broker.open()
    heard: list[float] = []
    try:
        await broker.declare_run_queues(("default",))
        consumer = await broker.consume("run.default", prefetch=100)
        async with asyncio.timeout(within):
            while len(heard) < due and (arrived := await consumer.receive()):
                late = (time.time() - due_at.timestamp()) * 1000
                await consumer.acknowledge(arrived)
                if late > 0:
                    heard += [late] * sum(len(json.loads(one.body)["runs"]) for one in arrived)
    finally:
        await broker.close()
    return heard


async def measure(count: int, due: int, ahead: float) -> dict[str, Any]:
    """Everything, in turn."""
    due_at = (datetime.now(UTC) + timedelta(seconds=ahead)).replace(microsecond=0)
    await prepare(count, due, due_at)
    process = Process()
    try:
        out: dict[str, Any] = {"n": count, "due": due, "load_s": round(process.ready(), 2), "rss_loaded_mb": round(process.usage()[1])}
        await asyncio.sleep(2)
        out |= rest(process)
        out |= await change_one(process)
        if datetime.now(UTC) > due_at - timedelta(seconds=2):
            return out | {"failed": f"the instant came before the rest was measured: it was {ahead} s ahead"}
        heard = sorted(await hear(due, due_at, ahead + 30))
        out |= {"hint_first_ms": round(heard[0], 1), "hint_last_ms": round(heard[-1], 1), "rss_mb": round(process.usage()[1])}
    finally:
        process.stop()
    connection = await asyncpg.connect(DSN)
    row = await connection.fetchrow(LATENESS, due_at)
    await connection.close()
    return out | {"slots": row["slots"]} | {f"late_{name}_ms": round(row[name], 1) for name in ("p50", "p99", "last")}


def main() -> None:
    """Print one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--due", type=int, default=1_000)
    parser.add_argument("--ahead", type=float, default=100, help="seconds from the start to the instant at which many are due")
    args = parser.parse_args()
    sys.stdout.write(json.dumps(uvloop.run(measure(args.n, args.due, args.ahead))) + os.linesep)


if __name__ == "__main__":
    main()
