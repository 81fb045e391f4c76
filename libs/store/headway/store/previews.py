"""What previews are made of: the rule and calendars of a schedule that is kept, or of one that somebody drafts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from headway.core.calendar.draft import inline_draft
from headway.core.calendar.window import Calendar, Window
from headway.core.definition import ScheduleDraft
from headway.core.schedule.kinds import AfterCompletion, Once, Rule
from headway.core.schedule.preview import Previewed, preview
from headway.core.schedule.rule import parse_rule
from headway.store import calendars, holidays
from headway.store.tx import Row, Tx


@dataclass(frozen=True, slots=True)
class Period:
    """The slots in (after, until], at most `count` lines of them."""

    after: datetime
    until: datetime | None = None
    count: int = 20


class Subject(NamedTuple):
    """A schedule to preview; with an id its jitter counts, with `chained_at` an after-completion schedule has a slot to show."""

    rule: Rule
    calendars: Sequence[Calendar]
    schedule_id: UUID | None = None
    chained_at: datetime | None = None

    def lines(self, period: Period) -> list[Previewed]:
        """Return what becomes of the slots of a period.  Raises Invalid for a holiday of a year that nobody resolved."""
        rule = self.rule
        if isinstance(rule, AfterCompletion) and self.chained_at is not None:
            rule = Once(at=self.chained_at, zone=rule.zone, jitter=rule.jitter)
        return preview(rule, self.calendars, after=period.after, until=period.until, count=period.count, schedule_id=self.schedule_id)


async def of_row(tx: Tx, row: Row, defaults: Collection[UUID]) -> Subject:
    """Return what a stored schedule does; `defaults` are the calendars of its definition.  Raises Invalid."""
    ids = defaults if row["calendars"] is None else row["calendars"]
    return Subject(parse_rule(row["rule"]), await _loaded(tx, ids), row["id"], row["chained_at"])


async def of_draft(tx: Tx, draft: ScheduleDraft, defaults: Collection[UUID], tenant: str) -> Subject:
    """Return what a draft would do.  Raises Invalid for calendars and holidays that are not known."""
    if draft.calendars is None and not draft.calendar:
        return Subject(draft.rule, await _loaded(tx, defaults))
    named = await _loaded(tx, await calendars.named(tx, draft.calendars or (), tenant))
    inline = [await resolved(draft.calendar, tx.now.year)] if draft.calendar else []
    return Subject(draft.rule, [*named, *inline])


def like(subject: Subject, stored: Subject) -> Subject:
    """Return a draft of a stored schedule with what belongs to the schedule and not to its rule."""
    return subject._replace(schedule_id=stored.schedule_id, chained_at=stored.chained_at)


async def resolved(windows: Sequence[Window], year: int, name: str = "") -> Calendar:
    """Return a calendar of windows with the dates of its holidays, under a name of its own if it has none.  Raises Invalid."""
    draft = inline_draft(windows)
    dates: Mapping[str, Any] = await holidays.resolve(holidays.slugs_of(windows), year, "calendar")
    found = calendars.calendar_of({"name": draft.name, "windows": draft.documents, "version": 1, "resolved": dates})
    return replace(found, name=name) if name else found


async def _loaded(tx: Tx, ids: Collection[UUID]) -> list[Calendar]:
    kept = await calendars.load(tx, ids)
    return [kept[id_].calendar for id_ in ids if id_ in kept]
