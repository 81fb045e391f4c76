"""Measure Headway beside its peers, round by round, and print medians and ratios as one JSON document.

Figures of one run on a noisy machine mean nothing alone: every round runs all commands once, in turn, and the ratios are made from the
medians.  Services: BENCH_PG and BENCH_AMQP name them, by default PostgreSQL and RabbitMQ on their standard ports.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = HERE / "peers"
VENVS = HERE.parent / ".benchmarks"
UV = os.environ.get("UV", "uv")
PACKAGES = {
    "pgqueuer": ["pgqueuer[asyncpg]", "uvloop"],
    "taskiq": ["taskiq", "taskiq-aio-pika", "taskiq-postgres", "asyncpg", "aio-pika", "uvloop"],
    "apscheduler": ["apscheduler<4", "sqlalchemy", "psycopg2-binary"],
    "croniter": ["croniter"],
}
SIZES = {
    "full": {"headway": 60_000, "pgqueuer": 40_000, "taskiq": 6_000},
    "quick": {"headway": 20_000, "pgqueuer": 15_000, "taskiq": 2_000},
}
LIMIT = 240


def commands(size: str) -> dict[str, tuple[str, list[str]]]:
    """Every measured command by name: its peer and its arguments."""
    n = SIZES[size]
    ours = ["--n", str(n["headway"]), "--concurrency", "1000", "--analyze"]
    bar = ["--n", str(n["pgqueuer"]), "--concurrency", "200", "--prefetch", "100", "--analyze"]
    shape = ["--n", str(n["taskiq"]), "--concurrency", "100"]
    few = ["--n", str(n["taskiq"]), "--concurrency", "1000", "--preload", "single"]
    return {
        "headway": ("headway", ["--workers", "1", *ours]),
        "headway_2": ("headway", ["--workers", "2", "--phases", "drain", *ours]),
        "headway_100_slots": ("headway", ["--workers", "1", "--phases", "drain", *ours, "--concurrency", "100"]),
        "headway_single": ("headway", ["--workers", "1", "--phases", "drain", *few]),
        "headway_no_broker": ("headway", ["--workers", "1", "--phases", "drain", *ours, "--broker", "away"]),
        "pgqueuer": ("pgqueuer", ["--workers", "1", *bar]),
        "pgqueuer_2": ("pgqueuer", ["--workers", "2", "--phases", "drain", *bar]),
        "taskiq": ("taskiq", ["--workers", "1", *shape]),
        "scheduler": ("scheduler", []),
        "croniter": ("croniter", []),
        "apscheduler": ("apscheduler", []),
        "apscheduler_postgres": ("apscheduler", ["--store", "postgres", "--n", "10000"]),
    }


RATIOS: dict[str, tuple[str, str, str, str, float]] = {
    "drain, 1 worker, to PgQueuer": ("headway", "drain_durable_per_s", "pgqueuer", "drain_durable_per_s", 1.5),
    "drain, 2 workers, to PgQueuer": ("headway_2", "drain_durable_per_s", "pgqueuer_2", "drain_durable_per_s", 1.5),
    "drain, 100 slots, to PgQueuer": ("headway_100_slots", "drain_durable_per_s", "pgqueuer", "drain_durable_per_s", 1.2),
    "drain, enqueued singly, to taskiq + Postgres": ("headway_single", "drain_durable_per_s", "taskiq", "drain_durable_per_s", 5.0),
    "drain, broker away, to with it": ("headway_no_broker", "drain_durable_per_s", "headway", "drain_durable_per_s", 0.8),
    "bulk enqueue, to PgQueuer": ("headway", "enqueue_bulk_per_s", "pgqueuer", "enqueue_bulk_per_s", 0.65),
    "64 concurrent enqueues, to PgQueuer one by one": ("headway", "enqueue_concurrent_per_s", "pgqueuer", "enqueue_one_per_s", 4.0),
}
BOUNDS: dict[str, tuple[str, str, float]] = {
    "idle pickup p50, ms": ("headway", "idle_p50_ms", 4.0),
    "idle pickup p99, ms": ("headway", "idle_p99_ms", 12.0),
    "worker memory, MB": ("headway", "idle_rss_mb", 90.0),
    "100,000 schedules, load, s": ("scheduler", "load_s", 20.0),
    "100,000 schedules, memory, MB": ("scheduler", "rss_mb", 400.0),
    "100,000 schedules, idle, % CPU": ("scheduler", "idle_cpu_pct", 2.0),
    "100,000 schedules, check with nothing due, ms": ("scheduler", "idle_check_ms", 1.0),
    "1,000 due at one second, last one announced, ms": ("scheduler", "hint_last_ms", 500.0),
    "1,000 due at one second, p99 lateness, ms": ("scheduler", "late_p99_ms", 250.0),
}


def python_of(peer: str) -> str:
    """The interpreter of a peer's own environment, made when it is missing; Headway runs in the project's."""
    if peer not in PACKAGES:
        return sys.executable
    python = VENVS / peer / "bin" / "python"
    if not python.exists():
        subprocess.run([UV, "venv", "-q", "--python", sys.executable, str(VENVS / peer)], check=True)
        subprocess.run([UV, "pip", "install", "-q", "--python", str(python), *PACKAGES[peer]], check=True)
    return str(python)


def once(peer: str, args: Sequence[str]) -> dict[str, Any]:
    """Run one command and return what it measured; a failure is a figure, too."""
    env = dict(os.environ, PYTHONPATH=str(PEERS))
    command = [python_of(peer), str(PEERS / f"{peer}_peer.py"), *args]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"no end within {LIMIT} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    found: dict[str, Any] = json.loads(lines[-1]) if lines else {"failed": done.stderr[-800:]}
    return found


def medians(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median of every figure of one command."""
    names = {
        name for figures in rounds for name, value in figures.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }
    out: dict[str, Any] = {name: median([figures[name] for figures in rounds if figures.get(name) is not None]) for name in sorted(names)}
    failed = [figures["failed"] for figures in rounds if "failed" in figures]
    return out | ({"failed": failed} if failed else {})


def verdicts(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Each bar with what was reached."""
    out = {}
    for name, (ours, figure, theirs, bar, must) in RATIOS.items():
        mine, other = found.get(ours, {}).get(figure), found.get(theirs, {}).get(bar)
        if mine and other:
            out[name] = {"ratio": round(mine / other, 2), "must": must, "reached": mine / other >= must, "pair": [mine, other]}
    for name, (ours, figure, must) in BOUNDS.items():
        value = found.get(ours, {}).get(figure)
        if value is not None:
            out[name] = {"value": value, "must": must, "reached": value <= must}
    return out


def main() -> None:
    """Run the rounds and print the document."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", choices=list(SIZES), default="full")
    parser.add_argument("--only", default="", help="names of commands, separated by commas")
    args = parser.parse_args()
    chosen = {name: command for name, command in commands(args.size).items() if not args.only or name in args.only.split(",")}
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in chosen}
    for number in range(args.rounds):
        for name, (peer, arguments) in chosen.items():
            rounds[name].append(once(peer, arguments))
            sys.stderr.write(f"round {number + 1}: {name} done\n")
    found = {name: medians(figures) for name, figures in rounds.items()}
    sys.stdout.write(json.dumps({"rounds": args.rounds, "figures": found, "bars": verdicts(found)}, indent=2) + "\n")


if __name__ == "__main__":
    main()
