"""Schedules by the hundred thousand: a few due at one second, the others hours away, written as a bulk import would leave them."""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import asyncpg

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney")
DEFINITIONS = 1000
WEEKDAYS = ("*", "1-5", "0-6")
AWAY = range(2, 22)
FIRST = 20
EARLIER = timedelta(seconds=5)


def rule(number: int, due: int, due_at: datetime) -> dict[str, str]:
    """The rule of the schedule with a number: of the first `due` ones that of the instant, of the others one that is hours away.

    A few are due a little before: no process that has been up for longer meets its first slot.
    """
    if number < due + FIRST:
        at = due_at if number < due else due_at - EARLIER
        return {"cron": f"{at.second} {at.minute} {at.hour} * * *", "zone": "UTC"}
    zone = ZONES[number % len(ZONES)]
    hour = (due_at + timedelta(hours=AWAY[number // 60 % len(AWAY)])).astimezone(ZoneInfo(zone)).hour
    return {"cron": f"{number % 60} {hour} * * {WEEKDAYS[number // 1200 % len(WEEKDAYS)]}", "zone": zone}


def rows(count: int, due: int, due_at: datetime, definitions: list[uuid.UUID]) -> Iterator[tuple[object, ...]]:
    """What the table of schedules holds."""
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    for number in range(count):
        text = json.dumps({**rule(number, due, due_at), "gap": "next_valid", "fold": "first"})
        now = datetime.now(UTC)
        yield uuid.UUID(int=(7 << 76) + number), definitions[number % len(definitions)], f"s{number}", text, now, hour_ago, hour_ago


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
