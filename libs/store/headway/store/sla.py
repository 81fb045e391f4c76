"""Look at runs under way that are late or take too long, and tell of each once."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Integer, Text, cast, exists, literal_column, null, select, update

from headway.core.run import State
from headway.core.sla import Course, Expected, breaches
from headway.store import watched
from headway.store.alerts import raise_alerts
from headway.store.schema import alert, definition, run
from headway.store.statement import const, now, param, statement
from headway.store.tx import Row, Tx

_OF_DEFINITION: Final = (definition.c.name, definition.c.tenant, definition.c.watch)
_late = (
    select(run.c.id, run.c.must_start_by)
    .where(run.c.must_start_by <= now())
    .order_by(run.c.must_start_by, run.c.id)
    .limit(param("limit", Integer))
    .with_for_update(skip_locked=True)
    .cte("late")
    .prefix_with("MATERIALIZED")
)
# Whether it started in time or not, it is not looked at again.
LATE: Final = statement(
    "sla_late",
    update(run)
    .where(run.c.id == _late.c.id, definition.c.id == run.c.definition_id)
    .values(must_start_by=null())
    .returning(run.c.id, run.c.attempt, run.c.started_at, _late.c.must_start_by, *_OF_DEFINITION),
)
_key = literal_column("'sla_breach:expected_duration:'", Text) + cast(run.c.id, Text)
LONG: Final = statement(
    "sla_long",
    select(run.c.id, run.c.started_at, *_OF_DEFINITION)
    .join_from(run, definition, definition.c.id == run.c.definition_id)
    .where(
        run.c.state == const(State.RUNNING),
        run.c.started_at < now() - watched.span("expected_duration"),
        ~exists().where(alert.c.dedupe_key == _key),
    )
    .order_by(run.c.id)
    .limit(param("limit", Integer)),
)


async def look(tx: Tx, limit: int = 500) -> int:
    """Raise alerts for runs that did not start in time or have been running too long, and say for how many."""
    late = [_late_course(row) for row in await tx.fetch(LATE, limit=limit)]
    long = [(_course(row), expected_of(row["watch"])._replace(must_start_by=None)) for row in await tx.fetch(LONG, limit=limit)]
    return await raise_alerts(tx, [one for course, expected in (*late, *long) for one in breaches(course, expected, tx.now)])


def expected_of(watch: Mapping[str, Any]) -> Expected:
    """Return what a definition expects of its runs."""
    spans = [watch.get(name) for name in ("must_start_by", "expected_duration")]
    return Expected(*[None if seconds is None else timedelta(seconds=seconds) for seconds in spans])


def _late_course(row: Row) -> tuple[Course, Expected]:
    """A run that was to start by an instant, with when it was due as the definition has it now.

    Of one that has been tried again nobody knows any more when it started first.
    """
    expected = expected_of(row["watch"])._replace(duration=None)
    due = row["must_start_by"] - (expected.must_start_by or timedelta())
    return Course(row["id"], row["name"], row["tenant"], due if row["attempt"] <= 1 else None, row["started_at"]), expected


def _course(row: Row) -> Course:
    return Course(row["id"], row["name"], row["tenant"], started_at=row["started_at"])
