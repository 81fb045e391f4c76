"""What a rule and its calendars will do, line by line, from the evaluator and the calendars that decide at run time."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from typing import Final, Literal, NamedTuple
from uuid import UUID

from headway.core.calendar.judge import HOPS, Verdict, VerdictKind, follow, looker
from headway.core.calendar.window import Calendar
from headway.core.calendar.writing import describe
from headway.core.schedule.evaluate import next_slot
from headway.core.schedule.jitter import jitter_of
from headway.core.schedule.kinds import Cron, Daily, Rule, Within
from headway.core.schedule.local_slots import HORIZON
from headway.core.schedule.passed_over import Removed, note_of, removed
from headway.core.schedule.zones import load_zone

MOST: Final = 1000
_TICK: Final = timedelta(microseconds=1)
_END: Final = datetime.max.replace(tzinfo=UTC)


class Previewed(NamedTuple):
    """One line: a slot, the local time of its zone, what it becomes, when its run is due (None for never), and why.

    A local time that a gap leaves out has a line too: `slot_at` is then the instant at which the clock jumps over it.
    """

    slot_at: datetime
    local: str
    decision: Literal["fired", "deferred", "skipped"]
    effective_at: datetime | None
    reason: str


def preview(
    rule: Rule,
    calendars: Sequence[Calendar] = (),
    *,
    after: datetime,
    until: datetime | None = None,
    count: int = 20,
    schedule_id: UUID | None = None,
) -> list[Previewed]:
    """Return what becomes of the slots in (after, until], oldest first, at most `count` lines and never more than 1,000.

    With a schedule's id its jitter is in `effective_at`.  Of an after-completion rule there is a line for its start alone.
    Raises Invalid for a holiday of a year that nobody resolved.
    """
    judged = _judging(calendars, rule.zone)
    delay = jitter_of(schedule_id, rule.jitter) if schedule_id is not None else timedelta()
    zone = load_zone(rule.zone)
    return [
        _left_out(one) if isinstance(one, Removed) else _line(one, one.astimezone(zone), _note(rule, one), judged(one), delay)
        for one in islice(_moments(rule, after.astimezone(UTC), until), min(count, MOST))
    ]


class Differences(NamedTuple):
    """What fires in one preview and not in the other, each way; a slot whose run starts at another instant stands in both."""

    added: list[Previewed]
    removed: list[Previewed]


def differences(before: Sequence[Previewed], after: Sequence[Previewed], count: int) -> Differences:
    """Compare two previews of one period, as far as both reach: one that has `count` lines ends with its last."""
    ends = [lines[-1].slot_at for lines in (before, after) if lines and len(lines) >= min(count, MOST)]
    old, new = (
        {(one.slot_at, one.effective_at): one for one in lines if one.decision != "skipped" and all(one.slot_at <= end for end in ends)}
        for lines in (before, after)
    )
    return Differences([one for key, one in new.items() if key not in old], [one for key, one in old.items() if key not in new])


def _judging(calendars: Sequence[Calendar], zone: str) -> Callable[[datetime], Verdict]:
    """What judges slots, remembering where deferrals lead: many slots of a window meet at its end."""
    look = cache(looker(calendars, zone))
    return lambda slot: follow(look, slot)


def _moments(rule: Rule, after: datetime, until: datetime | None) -> Iterator[datetime | Removed]:
    """The slots behind an instant, and between them the local times that gaps leave out."""
    while True:
        slot = next_slot(rule, after)
        last = slot is None or (until is not None and slot > until)
        end = until if last else slot
        yield from _left_out_between(rule, after, end if end is not None else min(after, _END - HORIZON) + HORIZON)
        if slot is None or last:
            return
        yield slot
        after = slot


def _left_out_between(rule: Rule, after: datetime, until: datetime) -> Iterator[Removed]:
    if not isinstance(rule, Cron | Daily | Within):
        return
    begin = after if rule.starts_at is None else max(after, rule.starts_at - _TICK)
    end = until if rule.ends_at is None else min(until, rule.ends_at)
    yield from removed(rule, begin, end)


def _note(rule: Rule, slot: datetime) -> str:
    return note_of(rule, slot) if isinstance(rule, Cron | Daily | Within) else ""


def _left_out(one: Removed) -> Previewed:
    return Previewed(one.at, one.wall.isoformat(), "skipped", None, one.note)


def _line(slot: datetime, local: datetime, note: str, verdict: Verdict, delay: timedelta) -> Previewed:
    reason = "; ".join(part for part in (note, _why(verdict)) if part)
    if verdict.effective_at is None:
        return Previewed(slot, local.isoformat(), "skipped", None, reason)
    decision: Literal["fired", "deferred"] = "fired" if verdict.kind is VerdictKind.FREE else "deferred"
    return Previewed(slot, local.isoformat(), decision, verdict.effective_at + delay, reason)


def _why(verdict: Verdict) -> str:
    if verdict.window is None:
        return ""
    window = f"calendar {verdict.calendar}: {describe(verdict.window)}"
    return f"{window}, deferred {HOPS} times without an end" if verdict.exhausted else window
