"""APScheduler 3 with as many cron jobs, in memory or in PostgreSQL: how it loads, looks, and meets a second at which many are due."""

import argparse
import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from apscheduler.executors.base import BaseExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from scheduler_rows import rule

PG_DSN = os.environ.get("BENCH_PG", "postgresql://bench:bench@127.0.0.1:5432/bench")
fired: list[float] = []


class Recording(BaseExecutor):
    """Notes when a job is handed over, and does nothing else."""

    def _do_submit_job(self, job: Any, run_times: Any) -> None:
        fired.append(time.time())
        self._run_job_success(job.id, [])


def noop() -> None:
    """What is scheduled."""


def trigger(number: int, due: int, due_at: datetime) -> CronTrigger:
    """The same rules as ours."""
    given = rule(number, due, due_at)
    *seconds, minute, hour, _, _, weekday = given["cron"].split()
    second = seconds[0] if seconds else "0"
    return CronTrigger(second=second, minute=minute, hour=hour, day_of_week=weekday, timezone=given["zone"])


def measure(count: int, due: int, ahead: float, store: str) -> dict[str, Any]:
    """Load, look, and wait for the instant."""
    scheduler = BackgroundScheduler(timezone="UTC", executors={"default": Recording()})
    if store == "postgres":
        url = PG_DSN.replace("postgresql://", "postgresql+psycopg2://")
        scheduler.add_jobstore("sqlalchemy", url=url, tablename="apscheduler_bench")
    scheduler.start(paused=True)
    scheduler.remove_all_jobs()
    due_at = (datetime.now(UTC) + timedelta(seconds=ahead)).replace(microsecond=0)
    begun = time.perf_counter()
    for number in range(count):
        scheduler.add_job(noop, trigger(number, due, due_at), id=f"s{number}", misfire_grace_time=None)
    load = time.perf_counter() - begun
    known = scheduler._lookup_jobstore("default")
    out = {"n": count, "due": due, "load_s": round(load, 2), "idle_check_ms": look(known), "overran": datetime.now(UTC) > due_at}
    out["rss_mb"] = round(int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6)
    scheduler.resume()
    while sum(at >= due_at.timestamp() for at in fired) < due and time.time() < due_at.timestamp() + 120:
        time.sleep(0.05)
    late = sorted((at - due_at.timestamp()) * 1000 for at in fired if at >= due_at.timestamp())
    scheduler.remove_all_jobs()
    scheduler.shutdown(wait=False)
    return out | {"fired": len(late)} | ({"fired_first_ms": round(late[0], 1), "fired_last_ms": round(late[-1], 1)} if late else {})


def look(store: Any) -> float:
    """One look when nothing is due, in milliseconds."""
    spent = []
    for _ in range(5):
        begun = time.perf_counter()
        store.get_due_jobs(datetime.now(UTC))
        spent.append((time.perf_counter() - begun) * 1000)
    return round(median(spent), 3)


def main() -> None:
    """Print one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--due", type=int, default=1_000)
    parser.add_argument("--ahead", type=float, default=60)
    parser.add_argument("--store", choices=["memory", "postgres"], default="memory")
    args = parser.parse_args()
    sys.stdout.write(json.dumps(measure(args.n, args.due, args.ahead, args.store)) + os.linesep)


if __name__ == "__main__":
    main()
