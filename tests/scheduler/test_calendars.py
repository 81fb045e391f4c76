"""Schedulers and the calendars of what they keep."""

from headway.core.calendar.draft import parse_calendar_draft
from headway.scheduler.cache import Schedules
from headway.scheduler.refresh import Refresh
from headway.store import calendar_edits, calendar_years
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

OFF = {"name": "off", "windows": [{"holiday": "DE-BE:labor-day"}]}


async def test_edits_of_a_calendar_and_added_years_are_seen(scene: Scene) -> None:
    """DEF-05, CAL-02: a scheduler reads again what uses an edited calendar, in its new version, and what uses one that got another year,
    in the version that it has."""
    ledger = Ledger(scene)
    await ledger.set(START)
    cache = Schedules()
    refresh = Refresh(scene.database, cache)
    draft = parse_calendar_draft(OFF)
    await scene.database.transact(lambda tx: calendar_edits.save(tx, [draft], actor="ann"))
    await ledger.save({"cron": "0 12 1 1 *"}, calendars=("off",))
    await refresh.run()
    await ledger.set(START.replace(year=2031))
    async with scene.database.begin() as tx:
        [calendar] = (await calendar_years.wanting(tx)).ids
        assert await calendar_years.add(tx, calendar)
    await refresh.run()
    known = cache.get(ledger.schedule)
    assert known is not None
    assert (known.version, max(known.view.calendars[0].resolved["DE-BE:labor-day"])) == (1, 2041)
    later = parse_calendar_draft({**OFF, "description": "off"})
    await scene.database.transact(lambda tx: calendar_edits.save(tx, [later], actor="ann"))
    await refresh.run()
    known = cache.get(ledger.schedule)
    assert known is not None
    assert (known.version, known.calendar_versions) == (2, "off 2")
