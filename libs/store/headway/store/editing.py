"""Edits of schedules: what fell due is decided by the version in force, then the next version begins.

So no due slot is lost to an edit, a pause is never missed time, and which version was in force when can be read for ever.
"""

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Text, Uuid, cast, func, insert, literal_column, select, true, update
from sqlalchemy.dialects.postgresql import JSONB

from headway.core.errors import Invalid
from headway.core.schedule.chain import first_slot
from headway.core.schedule.kinds import AfterCompletion
from headway.core.schedule.rule import parse_rule
from headway.store import advance, calendars
from headway.store.decide import decide_locked
from headway.store.gates import Placed
from headway.store.known import Known
from headway.store.schema import calendar, definition, schedule, schedule_version
from headway.store.statement import INSTANT, array, const, param, statement
from headway.store.tx import Row, Tx

RAISE: Final = statement(
    "schedule_raise",
    update(schedule)
    .where(schedule.c.id == func.any(array("ids", Uuid)))
    .values(
        version=schedule.c.version + const(1),
        decided_until=func.greatest(schedule.c.decided_until, param("now", INSTANT)),
        updated_at=param("now", INSTANT),
    ),
)
_used = func.coalesce(schedule.c.calendars, definition.c.calendars)
_in_force = (
    select(
        func.coalesce(
            func.jsonb_agg(
                func.jsonb_build_object(literal_column("'calendar'"), calendar.c.id, literal_column("'version'"), calendar.c.version)
            ),
            cast(literal_column("'[]'"), JSONB),
        )
    )
    .where(calendar.c.id == func.any(_used))
    .scalar_subquery()
)
_KEPT: Final = ("schedule", "version", "from_at", "definition", "tenant", "name", "rule", "calendars", "created_by")
KEEP: Final = statement(
    "schedule_keep_version",
    insert(schedule_version).from_select(
        list(_KEPT),
        select(
            schedule.c.id,
            schedule.c.version,
            schedule.c.decided_until,
            schedule.c.definition,
            schedule.c.tenant,
            schedule.c.name,
            schedule.c.rule,
            _in_force,
            param("actor", Text),
        )
        .select_from(schedule.join(definition, definition.c.id == schedule.c.definition))
        .where(schedule.c.id == func.any(array("ids", Uuid))),
    ),
)
END: Final = statement(
    "schedule_end_version",
    insert(schedule_version).from_select(
        [*_KEPT, "ended"],
        select(
            schedule.c.id,
            schedule.c.version + const(1),
            schedule.c.decided_until,
            schedule.c.definition,
            schedule.c.tenant,
            schedule.c.name,
            schedule.c.rule,
            cast(literal_column("'[]'"), JSONB),
            param("actor", Text),
            true(),
        ).where(schedule.c.id == func.any(array("ids", Uuid))),
    ),
)


async def close(tx: Tx, ids: Collection[UUID], *, actor: str) -> list[Placed]:
    """Lock schedules and decide everything up to now by the version in force; returns the runs to announce.

    A schedule that cannot be evaluated has nothing to decide: that is what is being mended.
    """
    if not ids:
        return []
    await advance.lock(tx, sorted(ids))
    rows = await advance.load(tx, ids=sorted(ids))
    return (await decide_locked(tx, await known_of(tx, rows), actor=actor)).queued


async def begin(tx: Tx, ids: Collection[UUID], *, actor: str) -> None:
    """Begin the next version of schedules that `close` has locked and whose rows are as they are to be."""
    if ids:
        await tx.execute(RAISE, ids=sorted(ids), now=tx.now)
        await record(tx, ids, actor=actor)


async def record(tx: Tx, ids: Collection[UUID], *, actor: str) -> None:
    """Keep for ever what is in force from now on; an after-completion schedule without an open run starts anew."""
    await tx.execute(KEEP, ids=sorted(ids), actor=actor)
    rows = [row for row in await advance.load(tx, ids=sorted(ids)) if "after_completion" in row["rule"]]
    if rows:
        facts = await advance.facts(tx, [row["id"] for row in rows])
        idle = [row for row in rows if not facts[row["id"]]["open_runs"]]
        rules = [(row, parse_rule(row["rule"])) for row in idle]
        # After a clock stepped back more is decided than lies behind it, and no slot lies in decided time.
        starts = {row["id"]: first_slot(rule, row["decided_until"]) for row, rule in rules if isinstance(rule, AfterCompletion)}
        await advance.chain(tx, starts)


async def end(tx: Tx, ids: Collection[UUID], *, actor: str) -> None:
    """Keep for ever that schedules which `close` has locked end here."""
    if ids:
        await tx.execute(END, ids=sorted(ids), actor=actor)


async def known_of(tx: Tx, rows: Sequence[Row]) -> list[Known]:
    """Read schedules with the calendars that they use, without those that cannot be evaluated."""
    used = await calendars.load(tx, {id_ for row in rows for id_ in row["calendars"] or ()})
    found = []
    for row in rows:
        try:
            found.append(Known.of(row, used))
        except Invalid as error:
            await advance.mark_broken(tx, row["id"], str(error))
    return found
