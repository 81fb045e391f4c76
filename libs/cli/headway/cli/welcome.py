"""What `headway up` says."""

import json
from datetime import datetime, timedelta
from typing import Any, Final

from headway.cli.verbs.run import printed
from headway.core.run import FINAL, State
from headway.runtime.life import Life
from headway.runtime.settings import Url
from headway.runtime.settings.groups import ApiGroup
from headway.store import runs
from headway.store.tx import Database

LOOK: Final = 0.5  # seconds between two looks for the first run that ended
VOLATILE: Final = "memory: messages end with this process, runs do not"
LONE: Final = "; with a database that others use, set HEADWAY_BROKER_URL"


def greeting(api: ApiGroup, database: str, broker: Url, target: str, jobs: list[str]) -> str:
    """Return where everything is and what to try next."""
    url = f"http://{f'[{api.host}]' if ':' in api.host else api.host}:{api.port}"
    elsewhere = "" if api.port == ApiGroup().port else f" --api {url}"
    lines = [
        f"Headway is up: {url}",
        f"  database   {database}",
        f"  broker     {broker_line(broker, database)}",
        f"  jobs       {', '.join(jobs) or 'none'} ({target})",
        "Try in another terminal:",
        f"  headway run {jobs[0] if jobs else 'DEFINITION'} --wait{elsewhere}",
    ]
    return "\n".join(lines)


def broker_line(broker: Url, database: str) -> str:
    """Return which broker there is, and what to know about one in memory."""
    if broker.scheme != "memory":
        return str(broker)
    return VOLATILE + (LONE if "://" in database else "")


async def first_ended(database: Database, life: Life) -> str:
    """Wait for the first run that ends from now on, and return how it did."""
    async with database.begin() as tx:
        since = tx.now
    while (run := await _ended(database, since)) is None:
        await life.clock.wait(life.stopping, LOOK)
    return ended_line(run)


def ended_line(run: Any) -> str:
    """Return how a run ended, as one line."""
    span: timedelta | None = run["finished_at"] - run["started_at"] if run["started_at"] else None
    took = f" in {span.total_seconds() * 1000:.0f} ms" if span is not None else ""
    result = f": {printed(json.loads(run['result']))}" if run["result"] is not None else ""
    return f"first run: {run['definition']} {State(run['state']).name.lower()}{took}{result}  (headway runs show {run['id']})"


async def _ended(database: Database, since: datetime) -> Any:
    wanted = runs.Filter(state=[int(state) for state in FINAL], since=since)
    async with database.once() as tx:
        found = await runs.listed(tx, wanted, tenant=None, limit=1)
    return found[0] if found else None
