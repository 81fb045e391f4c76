"""Backfills: runs for slots of the past, each slot once for ever.

A backfill decides nothing again.  Slots and ranges stay as they are; its runs are held, and take their turns with those of a catch-up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Text, Uuid, func, insert, select

from headway.core.ask import Ask, Origin
from headway.core.backfill import DIGEST, Chosen, InForce, Recorded, choose, digest_of, document, instant_text
from headway.core.errors import Conflict, Invalid
from headway.core.ids import token_for
from headway.core.schedule.kinds import Rule
from headway.core.schedule.timeline import Timeline
from headway.core.schedule.zones import tzdata_version
from headway.core.slot import Decision, DecisionKind, Start
from headway.store import advance, audit, in_force
from headway.store.editing import known_of
from headway.store.firing import fire
from headway.store.in_force import History
from headway.store.known import Known
from headway.store.last_facts import last_facts
from headway.store.schema import backfill, slot, slot_range
from headway.store.slot_inputs import input_of
from headway.store.statement import INSTANT, array, given, param, statement
from headway.store.tx import Row, Tx

SUBJECT: Final = "schedule"
_TICK: Final = timedelta(microseconds=1)
_of, _after, _until = param("of", Uuid), param("after", INSTANT), param("until", INSTANT)
FILLED: Final = statement(
    "backfill_filled",
    select(backfill.c.slot_at).where(backfill.c.schedule == _of, backfill.c.slot_at > _after, backfill.c.slot_at <= _until),
)
DECIDED: Final = statement(
    "backfill_decided",
    select(slot.c.slot_at, slot.c.decision, slot.c.reason, slot.c.run).where(
        slot.c.schedule == _of, slot.c.slot_at == func.any(array("slots", INSTANT))
    ),
)
STRETCHES: Final = statement(
    "backfill_stretches",
    select(slot_range.c.from_at, slot_range.c.to_at, slot_range.c.decision, slot_range.c.reason).where(
        slot_range.c.schedule == _of, slot_range.c.to_at > _after, slot_range.c.from_at < _until
    ),
)
_new = given("n", slots=INSTANT, runs=Uuid).c
KEEP: Final = statement(
    "backfill_keep",
    insert(backfill).from_select(
        ["schedule", "slot_at", "run", "asked_at", "asked_by"],
        select(_of, _new.slots, _new.runs, param("now", INSTANT), param("actor", Text)),
    ),
)


class Wanted(NamedTuple):
    """The slots in (after, until] of a schedule's row, as `schedules.get` gives it."""

    row: Row
    after: datetime
    until: datetime


class _Made(NamedTuple):
    """A plan, its slots, the schedule as it stands, and the rule of each version that expected one of them."""

    plan: dict[str, Any]
    slots: Sequence[Chosen]
    known: Known
    rules: Mapping[int, Rule]


async def planned(tx: Tx, wanted: Wanted) -> dict[str, Any]:
    """Return the plan of a backfill: which slots were expected by the versions in force, and what became of each.

    Raises Invalid for a period that cannot be filled in.
    """
    return (await _planned(tx, wanted)).plan


async def apply(tx: Tx, row: Row, plan: Mapping[str, Any], *, actor: str) -> dict[datetime, UUID]:
    """Make exactly the runs of a plan, all or none, each slot once for ever, and return them by slot.

    Raises Invalid for what is no plan of the schedule, and Conflict when it would be another by now.
    """
    wanted = _read(row, plan)
    await advance.lock(tx, [row["id"]])
    made = await _planned(tx, wanted)
    if made.plan[DIGEST] != plan[DIGEST]:
        raise Conflict(f"plan: {_difference(plan, made.plan)}; make a new one", code="plan_outdated")
    runs = await _run(tx, made, actor)
    at = sorted(runs)
    await tx.execute(KEEP, of=row["id"], slots=at, runs=[runs[one] for one in at], now=tx.now, actor=actor)
    told = {name: plan[name] for name in ("from", "to", DIGEST)} | {"slots": len(runs)}
    await audit.write(tx, audit.Entry(actor, "schedule.backfilled", f"{SUBJECT}:{row['id']}", row["tenant"], new=told))
    return runs


async def _planned(tx: Tx, wanted: Wanted) -> _Made:
    row = wanted.row
    known = next(iter(await known_of(tx, await advance.load(tx, ids=[row["id"]]))), None)
    history = await in_force.history(tx, row["id"])
    if known is None or history is None:
        raise Conflict("schedule: cannot be evaluated: headway schedules show says why", code="schedule_broken")
    until = min(wanted.until, history.decided_until)
    period = {"of": row["id"], "after": wanted.after, "until": until}
    filled = frozenset(one["slot_at"] for one in await tx.fetch(FILLED, **period))
    versions = await _versions(tx, history, wanted.after, until)
    choice = choose(versions, wanted.after, until, filled)
    plan = document(_head(known, history, wanted.after, until), choice, await _ledger(tx, choice.slots, period))
    return _Made(plan, choice.slots, known, {one.era.version: one.era.rule for one in versions if one.era.rule is not None})


async def _versions(tx: Tx, history: History, after: datetime, until: datetime) -> list[InForce]:
    eras = [era for era in history.eras if era.after < until and era.until > after]
    return [InForce(era, await in_force.calendars_of(tx, history.used[era.version])) for era in eras]


async def _ledger(tx: Tx, chosen: Sequence[Chosen], period: Mapping[str, Any]) -> list[Recorded]:
    """What was decided of slots that are to be filled in, in order."""
    singles = await tx.fetch(DECIDED, of=period["of"], slots=[one.slot_at for one in chosen])
    stretches = await tx.fetch(STRETCHES, **period)
    found = [Recorded(one["slot_at"] - _TICK, one["slot_at"], _word(one), one["reason"], one["run"]) for one in singles]
    found += [Recorded(one["from_at"], one["to_at"], _word(one), one["reason"]) for one in stretches]
    return sorted(found, key=lambda one: one.until)


def _word(row: Row) -> str:
    return DecisionKind(row["decision"]).name.lower()


def _head(known: Known, history: History, after: datetime, until: datetime) -> dict[str, Any]:
    begun = history.eras[0].after if history.eras else history.decided_until
    return {
        "schedule": str(known.id),
        "definition": known.definition,
        "name": known.name,
        "version": known.version,
        "tzdata": tzdata_version(),
        "from": instant_text(after),
        "to": instant_text(until),
        "known_from": instant_text(begun),
    }


def _read(row: Row, plan: Mapping[str, Any]) -> Wanted:
    """The period of a plan that is whole, and the schedule's own."""
    if plan.get(DIGEST) != digest_of(plan):
        raise Invalid.field("plan", "its digest is not its own: it was changed after it was made")
    if plan.get("schedule") != str(row["id"]):
        raise Invalid.field("plan", "is one of another schedule")
    try:
        after, until = (datetime.fromisoformat(plan[name]) for name in ("from", "to"))
    except (KeyError, TypeError, ValueError):
        raise Invalid.field("plan", "does not say from when to when it is") from None
    if after.tzinfo is None or until.tzinfo is None:
        raise Invalid.field("plan", "does not say from when to when it is")
    return Wanted(row, after, until)


def _difference(plan: Mapping[str, Any], fresh: Mapping[str, Any]) -> str:
    if plan.get("version") != fresh["version"]:
        return f"the schedule has changed since it was made: it is at version {fresh['version']}"
    still = {one["slot_at"] for one in fresh["slots"]}
    gone = [one["slot_at"] for one in plan.get("slots", ()) if one["slot_at"] not in still]
    return f"slot {gone[0]} was filled in since it was made" if gone else "it is no longer what would be done"


async def _run(tx: Tx, made: _Made, actor: str) -> dict[datetime, UUID]:
    """Make the runs, held for their turns; each is worded by the clock of the version that expected it."""
    id_ = made.known.id
    row = (await advance.facts(tx, [id_]))[id_]
    last = (await last_facts(tx, {id_: row})).get(id_)
    decision = Decision(DecisionKind.FIRED, None, tx.now, start=Start.IN_TURN)
    asks = []
    for chosen in made.slots:
        then = replace(made.known, timeline=Timeline(made.rules[chosen.version]))
        asks.append(_ask(then, chosen.slot_at, row, actor)._replace(params=input_of(then, chosen.slot_at, row, tx.now, last).text))
    fired = await fire(tx, [(ask, decision) for ask in asks])
    return {slot_at: run for (_, slot_at), run in fired.runs.items() if slot_at is not None}


def _ask(known: Known, slot_at: datetime, row: Row, actor: str) -> Ask:
    return Ask(
        known.definition,
        tenant=known.tenant or known.definition_tenant,
        definition_tenant=known.definition_tenant,
        payload=row["payload"],
        priority=max(0, row["priority"] - 1),
        created_by=actor,
        origin=Origin.BACKFILL,
        schedule=known.id,
        slot_at=slot_at,
        token=token_for("backfill", known.id, slot_at.isoformat()),
    )
