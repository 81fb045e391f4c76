"""What a backfill would run: the slots of a period as they were expected at the time, in a plan that is executed as it is or not at all."""

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from typing import Any, Final, NamedTuple
from uuid import UUID

from headway.core.calendar.judge import VerdictKind, judge
from headway.core.calendar.window import Calendar
from headway.core.errors import Invalid
from headway.core.proof.ledger import Era
from headway.core.schedule.evaluate import walk
from headway.core.schedule.zones import load_zone

MOST_SLOTS: Final = 1000
MOST_LOOKS: Final = 100_000
DIGEST: Final = "digest"


class InForce(NamedTuple):
    """A version that was in force, and the calendars that it went by."""

    era: Era
    calendars: Sequence[Calendar]


class Recorded(NamedTuple):
    """What the ledger says of the slots in (after, until]: one slot where the two are next to each other."""

    after: datetime
    until: datetime
    decision: str
    reason: str
    run: UUID | None = None


class Chosen(NamedTuple):
    """A slot to fill in, the version that expected it, and the local time that it had."""

    slot_at: datetime
    local: str
    version: int
    calendars: str


class Choice(NamedTuple):
    """The slots to fill in, and how many are left out: those that calendars skipped, and those that were filled in before."""

    slots: list[Chosen]
    by_calendar: int
    before: int


def choose(versions: Sequence[InForce], after: datetime, until: datetime, filled: frozenset[datetime]) -> Choice:
    """Choose the slots of (after, until] that were to fire, at their instant or deferred, and that no backfill has filled in.

    Raises Invalid for more than 1,000 slots, for calendars that leave hardly any, and for rules whose slots no clock knows.
    """
    problems = [one.era.why for one in versions if one.era.rule is None and one.era.after < until and one.era.until > after]
    if problems:
        raise Invalid.field("from", f"the version that was in force cannot be evaluated: {problems[0]}")
    chosen, by_calendar, before = list[Chosen](), 0, 0
    looked = list(islice(_slots(versions, after, until), MOST_LOOKS + 1))
    for slot_at, version in looked:
        if slot_at in filled:
            before += 1
        elif _skipped(version, slot_at):
            by_calendar += 1
        else:
            chosen.append(_chosen(slot_at, version))
        if len(chosen) > MOST_SLOTS:
            raise Invalid.field("to", f"more than {MOST_SLOTS} slots are to be filled in: choose a shorter period")
    if len(looked) > MOST_LOOKS:
        raise Invalid.field("to", f"more than {MOST_LOOKS} slots are to be looked at: choose a shorter period")
    return Choice(chosen, by_calendar, before)


def digest_of(plan: Mapping[str, Any]) -> str:
    """Return what a plan's digest has to be: equal plans have equal ones, and one that was touched has another."""
    told = {name: value for name, value in plan.items() if name != DIGEST}
    return sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def document(head: Mapping[str, Any], choice: Choice, ledger: Sequence[Recorded]) -> dict[str, Any]:
    """Return the plan of a choice, with its digest; each slot says what the ledger, which is in order, holds of it."""
    plan = {
        **head,
        "slots": [_line(chosen, _found(ledger, chosen.slot_at)) for chosen in choice.slots],
        "skipped_by_calendar": choice.by_calendar,
        "filled_in_before": choice.before,
    }
    return {**plan, DIGEST: digest_of(plan)}


def instant_text(at: datetime) -> str:
    """Return an instant as plans have it."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _slots(versions: Sequence[InForce], after: datetime, until: datetime) -> Iterator[tuple[datetime, InForce]]:
    for version in versions:
        begin, end = max(after, version.era.after), min(until, version.era.until)
        if version.era.chained and begin < end:
            raise Invalid.field("from", "slots of an after-completion schedule follow its runs: there are none to fill in")
        if version.era.rule is not None and begin < end:
            yield from ((slot_at, version) for slot_at in walk(version.era.rule, begin, end))


def _skipped(version: InForce, slot_at: datetime) -> bool:
    assert version.era.rule is not None, "slots come from rules"
    return bool(version.calendars) and judge(version.calendars, version.era.rule.zone, slot_at).kind is VerdictKind.SKIPPED


def _chosen(slot_at: datetime, version: InForce) -> Chosen:
    assert version.era.rule is not None, "slots come from rules"
    local = slot_at.astimezone(load_zone(version.era.rule.zone)).isoformat()
    return Chosen(slot_at, local, version.era.version, ", ".join(f"{one.name} {one.version}" for one in version.calendars))


def _found(ledger: Sequence[Recorded], slot_at: datetime) -> Recorded | None:
    index = bisect_left(ledger, slot_at, key=lambda one: one.until)
    return ledger[index] if index < len(ledger) and ledger[index].after < slot_at else None


def _line(chosen: Chosen, recorded: Recorded | None) -> dict[str, Any]:
    return {
        "slot_at": instant_text(chosen.slot_at),
        "local": chosen.local,
        "version": chosen.version,
        "calendars": chosen.calendars,
        "was": "" if recorded is None else recorded.decision,
        "reason": "" if recorded is None else recorded.reason,
        "run": None if recorded is None or recorded.run is None else str(recorded.run),
    }
