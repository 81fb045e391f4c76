"""croniter, at what a scheduler does with expressions at its start: read each one and find its next instant; no store, no heap, no zone
policies."""

import argparse
import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from croniter import croniter

from scheduler_rows import rule


def main() -> None:
    """Print one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--due", type=int, default=1_000)
    args = parser.parse_args()
    now = datetime.now(UTC)
    due_at = (now + timedelta(minutes=2)).replace(microsecond=0)
    given = [rule(number, args.due, due_at) for number in range(args.n)]
    begun = time.perf_counter()
    found = [croniter(_five(one["cron"]), now.astimezone(ZoneInfo(one["zone"]))) for one in given]
    for one in found:
        one.get_next(datetime)
    load = time.perf_counter() - begun
    begun = time.perf_counter()
    for one in found[: args.due]:
        one.get_next(datetime)
    out = {"n": args.n, "due": args.due, "load_s": round(load, 2), "next_of_due_ms": round((time.perf_counter() - begun) * 1000, 1)}
    sys.stdout.write(json.dumps(out) + os.linesep)


def _five(text: str) -> str:
    """The expression without its seconds, which croniter has last."""
    return " ".join(text.split()[-5:])


if __name__ == "__main__":
    main()
